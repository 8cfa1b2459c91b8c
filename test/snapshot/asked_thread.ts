/**
 * A thread that opens and asks snapshots as a serving one does, so that whatever they do to it, it can be
 * ended.
 */
import { parentPort } from 'node:worker_threads'
import type { LoadedSnapshot } from '../../src/snapshot/read.ts'
import { faultsOf } from './asked.ts'

function answerTo(snapshot: LoadedSnapshot): string[] {
  try {
    return faultsOf(snapshot)
  } catch (error) {
    return [`cannot be opened: ${(error as Error).stack ?? String(error)}`]
  }
}

parentPort?.on('message', (snapshot: LoadedSnapshot) => parentPort?.postMessage(answerTo(snapshot)))
