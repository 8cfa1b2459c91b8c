/**
 * The thread on which `load.ts` loads snapshots: a manifest in, the snapshot or what is wrong with it out.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { SnapshotError } from './format.ts'
import { loadManifest, type LoadedSnapshot, type PartsInMemory, type PublishedManifest } from './read.ts'
import type { PartSummary } from './summary.ts'

export interface ToLoad {
  manifest: PublishedManifest
  previous: PartsInMemory | null
}

export type FromLoading = { loaded: LoadedSnapshot } | { refusal: string }

const dir = workerData as string
const main = parentPort!
/** Of the parts of the last snapshot: most of them are parts of the next one. */
const summaries = new Map<string, PartSummary>()

async function load({ manifest, previous }: ToLoad): Promise<FromLoading> {
  try {
    return { loaded: await loadManifest(dir, manifest, previous ?? undefined, summaries) }
  } catch (error) {
    // Any other fault is one of the program, which no snapshot may bring about; it ends this thread.
    if (!(error instanceof SnapshotError)) throw error
    return { refusal: error.message }
  }
}

main.on('message', (message: ToLoad) => {
  void load(message).then((answer) => main.postMessage(answer))
})
