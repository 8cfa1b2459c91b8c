/**
 * The data that benches run on: built once by the scale generator, kept in `bench/data/`, always the same for
 * a name.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openView, type View } from '../src/dataset/view.ts'
import { indexSnapshot } from '../src/server/index-snapshot.ts'
import { buildSnapshot } from '../src/builder/run-build.ts'
import { loadSnapshot, readManifest } from '../src/snapshot/read-snapshot.ts'
import { BuildReport } from '../src/builder/build-report.ts'
import { openSource } from '../src/sources/kinds.ts'
import { finish } from '../src/system/steps.ts'

export { seededRandom } from './http/statistics.ts'

const DATA = fileURLToPath(new URL('data', import.meta.url))

/** A fixed end of the data, so that a corpus never depends on the day it was built. */
const AS_OF = Date.UTC(2026, 10, 1) / 1000

const CORPORA = {
  /** The size of the real world's networks: 5.1 million readings. */
  world: 'scale,buoys=1200,days=90',
  /** Few buoys over a long time: 8.4 million readings. */
  history: 'scale,buoys=50,years=10',
  /** Two buoys over ten years: 336,000 readings. */
  pair: 'scale,buoys=2,years=10',
  /** Both: 84 million readings, 1.9 GB. */
  large: 'scale,buoys=500,years=10',
} as const

export type CorpusName = keyof typeof CORPORA

/** The folder of a corpus's snapshot, built when it is not there. */
export async function corpusFolder(name: CorpusName): Promise<string> {
  const out = join(DATA, name)
  if ((await readManifest(out)) !== null) return out
  await buildSnapshot({
    sources: [openSource('demo', CORPORA[name])],
    out,
    asOf: AS_OF,
    now: AS_OF,
    report: new BuildReport({
      maxBadShare: 0,
      write: (text) => void process.stderr.write(`${text}\n`),
      terminal: false,
      clock: Date.now,
    }),
  })
  return out
}

/** A corpus as a worker serves it. */
export async function corpusView(name: CorpusName): Promise<View> {
  const loaded = await loadSnapshot(await corpusFolder(name))
  return finish(openView(finish(indexSnapshot(loaded, 86_400)).indexed))
}
