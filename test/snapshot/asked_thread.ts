/** A thread that opens and asks snapshots as a serving one does, and can be ended whatever they do. */
import { parentPort } from 'node:worker_threads'
import type { IndexedSnapshot } from '../../src/dataset/view.ts'
import { faultsOf } from './asked.ts'

function answerTo(snapshot: IndexedSnapshot): string[] {
  try {
    return faultsOf(snapshot)
  } catch (error) {
    return [`cannot be opened: ${(error as Error).stack ?? String(error)}`]
  }
}

parentPort?.on('message', (snapshot: IndexedSnapshot) => parentPort?.postMessage(answerTo(snapshot)))
