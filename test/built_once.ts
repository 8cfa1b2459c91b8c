/** Snapshots that are built once for all test files of a run: who changes one changes a copy. */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { EXAMPLES_SOURCE } from '../tools/openapi/examples.ts'
import { folderOfFile, runCliWell } from './live.ts'

/** It goes with the run. */
const FOLDER = join(process.env['GROUNDSWELL_COMPILED'] ?? folderOfFile(), 'built')

/** The folder that `make` fills, or that another file has had filled under the same name. */
export async function builtOnce(name: string, make: (out: string) => Promise<unknown>): Promise<string> {
  const folder = join(FOLDER, name)
  if (existsSync(folder)) return folder
  mkdirSync(FOLDER, { recursive: true })
  const own = `${folder}.${process.pid}`
  await make(own)
  try {
    renameSync(own, folder)
  } catch (error) {
    // Another file has been faster, and may be reading its own by now.
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** The tables of data/fixtures/small. */
export const fixtureSnapshots = (): Promise<string> =>
  builtOnce('fixtures', (out) => runCliWell(['build', '--source', 'csv:data/fixtures/small', '--out', out]))

/** The demo that all examples of the documents are answered from. */
export const examplesSnapshots = (): Promise<string> =>
  builtOnce('examples', (out) => runCliWell(['build', ...EXAMPLES_SOURCE, '--out', out]))
