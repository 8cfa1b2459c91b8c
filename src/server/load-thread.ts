/** The thread on which `load.ts` loads snapshots: a manifest in, a snapshot or its fault out. */
import { parentPort, workerData } from 'node:worker_threads'
import type { IndexedSnapshot } from '../dataset/view.ts'
import { indexSnapshot, type TakenOver } from './index-snapshot.ts'
import { Counters } from '../http/counters.ts'
import { collectSoon, yieldToServing } from '../system/thread.ts'
import { finish, finishInSlices } from '../system/steps.ts'
import type { Catalog } from '../snapshot/catalog.ts'
import { changesBetween, decodedCatalog, type ComparedSnapshot } from '../snapshot/compare-snapshots.ts'
import { type Changes } from '../snapshot/row-changes.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import {
  loadManifest,
  type LoadedPart,
  type LoadedParts,
  type PublishedManifest,
} from '../snapshot/read-snapshot.ts'
import type { PartSummary } from '../snapshot/catalog-summary.ts'

export interface LoadStart {
  dir: string
  /** Seconds before a snapshot's time: the window of active buoys. */
  activeWithin: number
  /** Request counts of the workers; null where nobody serves. */
  counters: SharedArrayBuffer | null
}

export interface ToLoad {
  type: 'load'
  manifest: PublishedManifest
  previous: LoadedParts | null
}

export interface ToCompare {
  type: 'compare'
  before: ComparedSnapshot
  after: ComparedSnapshot
}

/** Frees the parts that are no longer held; there is no answer. */
export interface ToCollect {
  type: 'collect'
}

export type FromLoading = { indexed: IndexedSnapshot } | { changes: Changes } | { refusal: string }

/** As in `read-parts.ts`: serving threads may share this one's core. */
const SLICE_MS = 0.2

/** Without a request in this time the thread never pauses: fewer than 20 a second find it on their core. */
const QUIET_MS = 50

const { dir, counters, activeWithin } = workerData as LoadStart
const counted = counters === null ? null : new Counters(counters, 0)
let requests = -1
let askedAt = -Infinity
/** Whether no request came in the quiet time: the work need not pause while nobody asks. */
const isQuiet = (): boolean => {
  if (counted === null) return false
  const [count, now] = [counted.sumOf('requests'), performance.now()]
  if (count !== requests) askedAt = now
  requests = count
  return now - askedAt >= QUIET_MS
}
const main = parentPort!
/** Summaries of the parts of the last snapshot: most of them are parts of the next one. */
const summaries = new Map<string, PartSummary>()
let takenOver: TakenOver | null = null
/** Catalogues of held snapshots, by file: decoding takes milliseconds, and comparing needs four a swap. */
const catalogs = new Map<string, Catalog>()

async function load({ manifest, previous }: ToLoad): Promise<FromLoading> {
  if (previous !== null) yieldToServing()
  const loaded = await loadManifest(dir, manifest, previous ?? undefined, summaries, isQuiet)
  const steps = indexSnapshot(loaded, activeWithin, takenOver)
  const done = previous === null ? finish(steps) : await finishInSlices(steps, SLICE_MS, isQuiet)
  takenOver = done.forNext
  const held = new Set([...(previous?.parts ?? []), ...loaded.parts].map(({ entry }) => entry.file))
  for (const file of catalogs.keys()) {
    if (!held.has(file)) catalogs.delete(file)
  }
  for (const [file, part] of takenOver.parts) {
    if (part.kind === 'catalog') catalogs.set(file, part.catalog)
  }
  return { indexed: done.indexed }
}

function catalogOf(part: LoadedPart): Catalog {
  const { file } = part.entry
  const catalog = catalogs.get(file) ?? decodedCatalog(part)
  catalogs.set(file, catalog)
  return catalog
}

async function compare({ before, after }: ToCompare): Promise<FromLoading> {
  const steps = changesBetween(before, after, activeWithin, catalogOf)
  return { changes: await finishInSlices(steps, SLICE_MS, isQuiet) }
}

/** A fault of the program ends this thread. */
function refusalOf(error: unknown): FromLoading {
  if (!(error instanceof SnapshotError)) throw error
  return { refusal: error.message }
}

main.on('message', (message: ToLoad | ToCompare | ToCollect) => {
  if (message.type === 'collect') {
    collectSoon()
    return
  }
  const answer = message.type === 'load' ? load(message) : compare(message)
  void answer.catch(refusalOf).then((each) => {
    main.postMessage(each)
    // Nobody else has a refused snapshot's parts. Most garbage is that of the first snapshot.
    const isFirst = message.type === 'load' && message.previous === null
    if (isFirst || 'refusal' in each) setImmediate(collectSoon)
  })
})
