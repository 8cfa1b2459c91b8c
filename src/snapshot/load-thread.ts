/**
 * The thread on which `load.ts` has snapshots loaded: one manifest in, the snapshot or what is wrong with it
 * out.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { SnapshotError } from './format.ts'
import { loadManifest, type LoadedSnapshot, type PublishedManifest } from './read.ts'
import type { Told } from './summary.ts'

export interface ToLoad {
  manifest: PublishedManifest
  previous: LoadedSnapshot | null
}

export type FromLoading = { loaded: LoadedSnapshot } | { refusal: string }

const dir = workerData as string
const main = parentPort!
/** What is kept of the parts of the last snapshot: most of them are those of the next. */
const told = new Map<string, Told>()

async function load({ manifest, previous }: ToLoad): Promise<FromLoading> {
  try {
    return { loaded: await loadManifest(dir, manifest, previous ?? undefined, told) }
  } catch (error) {
    // Another fault is one of the program, which a snapshot must not be able to bring about, and it ends this
    // thread.
    if (!(error instanceof SnapshotError)) throw error
    return { refusal: error.message }
  }
}

main.on('message', (message: ToLoad) => {
  void load(message).then((answer) => main.postMessage(answer))
})
