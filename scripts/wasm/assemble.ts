/** The code of `day-writer.wat` as a module of TypeScript. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openWabt from 'wabt'

const SOURCE_FILE = fileURLToPath(new URL('../../src/answers/day-writer.wat', import.meta.url))
export const CODE_FILE = fileURLToPath(new URL('../../src/answers/day-writer-code.ts', import.meta.url))
const LINE_CHARACTERS = 96

/** @throws Error where the source cannot be assembled */
export async function codeText(): Promise<string> {
  const wabt = await openWabt()
  const module = wabt.parseWat('day-writer.wat', readFileSync(SOURCE_FILE, 'utf8'), { simd: true })
  const code = Buffer.from(module.toBinary({}).buffer).toString('base64')
  module.destroy()
  const lines = code.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? []
  return (
    '/** `day-writer.wat`, assembled by `npm run wasm`, as base64. */\n' +
    `export const CODE =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`
  )
}
