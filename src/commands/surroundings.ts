/** What a command has of the process around it: output, environment, clock, chance, and its package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Writes one line to standard output: what the operator asked for. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Writes one line to standard error: what happens meanwhile, warnings and faults. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`)

export const environment: { readonly [name: string]: string | undefined } = process.env

/** Epoch seconds. */
export const clock = (): number => Date.now() / 1000

/** The folder of the package or clone that this program runs from, without a slash at its end. */
export const packageFolder: string = folderAbove(fileURLToPath(import.meta.url))

function folderAbove(path: string): string {
  const folder = dirname(path)
  return folder === path || existsSync(join(folder, 'package.json')) ? folder : folderAbove(folder)
}

/** The version in its package.json. */
export function programVersion(): string {
  const file = join(packageFolder, 'package.json')
  if (!existsSync(file)) return 'of an unknown version'
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** A number in [0, 1). */
export const random: () => number = Math.random
