/** The code of the `.wat` files as modules of TypeScript. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import openWabt from 'wabt'

/** Files of `src/`, without their ending. */
export const SOURCES = ['answers/day-writer', 'answers/reading-writer', 'snapshot/scans']
const LINE_CHARACTERS = 96

/** The module that is made of a source. */
export function codeFile(source: string): string {
  return fileOf(`${source}-code.ts`)
}

/** @throws Error where the source cannot be assembled */
export async function codeText(source: string): Promise<string> {
  const wabt = await openWabt()
  const name = `${basename(source)}.wat`
  const module = wabt.parseWat(name, readFileSync(fileOf(`${source}.wat`), 'utf8'), { simd: true })
  const code = Buffer.from(module.toBinary({}).buffer).toString('base64')
  module.destroy()
  const lines = code.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? []
  return (
    `/** \`${name}\`, assembled by \`npm run wasm\`, as base64. */\n` +
    `export const CODE =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`
  )
}

function fileOf(file: string): string {
  return fileURLToPath(new URL(`../../src/${file}`, import.meta.url))
}
