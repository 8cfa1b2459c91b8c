/** A thread that reads parts for `read-parts.ts`: their summaries out, or what is wrong with one of them. */
import { parentPort, workerData } from 'node:worker_threads'
import { SnapshotError } from './snapshot-format.ts'
import { finish } from '../system/steps.ts'
import { readingShare, type FromReading, type SharedParts } from './read-parts.ts'

function answer(): FromReading {
  try {
    return { summaries: finish(readingShare(workerData as SharedParts)) }
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    return { refusal: error.message }
  }
}

parentPort!.postMessage(answer())
