/** Snapshots that are built once for all test files of a run: who changes one changes a copy. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EXAMPLES_SOURCE } from '../tools/openapi/examples.ts'
import { folderOfFile, runCliWell } from './live.ts'
import { makeWorld, writeWithSpectra } from './oracle/world.ts'
import { until } from './until.ts'

/** It goes with the run. */
const FOLDER = join(process.env['GROUNDSWELL_COMPILED'] ?? folderOfFile(), 'built')

/** The folder that `make` fills, or that another file has had filled under the same name. */
export async function builtOnce(name: string, make: (out: string) => Promise<unknown>): Promise<string> {
  const folder = join(FOLDER, name)
  mkdirSync(FOLDER, { recursive: true })
  const making = `${folder}.making`
  let isOurs = false
  const begin = (): boolean => {
    // No folder was made where another file is at it.
    isOurs = mkdirSync(making, { recursive: true }) !== undefined
    return isOurs
  }
  await until(() => existsSync(folder) || begin(), `${name} is not made by the file that began it`)
  if (!isOurs) return folder
  try {
    await make(making)
    renameSync(making, folder)
  } finally {
    // Another file tries it anew where this one has failed.
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

/** The tables of data/fixtures/small. */
export const fixtureSnapshots = (): Promise<string> =>
  builtOnce('fixtures', (out) => runCliWell(['build', '--source', 'csv:data/fixtures/small', '--out', out]))

/** The demo that all examples of the documents are answered from. */
export const examplesSnapshots = (): Promise<string> =>
  builtOnce('examples', (out) => runCliWell(['build', ...EXAMPLES_SOURCE, '--out', out]))

/** The oracle's world of this seed. */
export const worldSnapshots = (seed: number): Promise<string> =>
  builtOnce(`world-${seed}`, async (out) => {
    const config = writeWithSpectra(makeWorld(seed), `${out}.tables`)
    await runCliWell(['build', '--config', config, '--out', out])
  })
