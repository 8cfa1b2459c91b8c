/** The code of the `.wat` files as modules of TypeScript. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import openWabt from 'wabt'
import { LAYOUT as DAYS } from '../../src/answers/day-writer-layout.ts'
import { LAYOUT as READINGS } from '../../src/answers/reading-writer-layout.ts'

/** Files of `src/`, without their ending. */
export const SOURCES = ['answers/day-writer', 'answers/reading-writer', 'snapshot/scans']
/** What `{NAME}` stands for in a source: addresses that its wrapper has from the same file. */
const LAYOUTS: { readonly [source: string]: { readonly [name: string]: number } } = {
  'answers/day-writer': DAYS,
  'answers/reading-writer': READINGS,
}
const ADDRESS = /(?<=offset=|const )\{([A-Z_]+)(?:\+(\d+))?\}/g
const LINE_CHARACTERS = 96

/** The module that is made of a source. */
export function codeFile(source: string): string {
  return fileOf(`${source}-code.ts`)
}

/** @throws Error where the source cannot be assembled, or names an address that its layout does not have */
export async function codeText(source: string): Promise<string> {
  const wabt = await openWabt()
  const name = `${basename(source)}.wat`
  const module = wabt.parseWat(name, withAddresses(source), { simd: true })
  const code = Buffer.from(module.toBinary({}).buffer).toString('base64')
  module.destroy()
  const lines = code.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? []
  return (
    `/** \`${name}\`, assembled by \`npm run wasm\`, as base64. */\n` +
    `export const CODE =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`
  )
}

function withAddresses(source: string): string {
  return readFileSync(fileOf(`${source}.wat`), 'utf8').replaceAll(ADDRESS, (_, name: string, more = '0') => {
    const at = LAYOUTS[source]?.[name]
    if (at === undefined) throw new Error(`${source}.wat: there is no address ${name} in its layout`)
    return String(at + Number(more))
  })
}

function fileOf(file: string): string {
  return fileURLToPath(new URL(`../../src/${file}`, import.meta.url))
}
