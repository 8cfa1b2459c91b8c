/** A thread that reads parts for `read.ts`: a part in, its summary or what is wrong with it out. */
import { parentPort, workerData } from 'node:worker_threads'
import { SnapshotError } from './format.ts'
import { finish } from '../system/steps.ts'
import { PartReader, type FromReading, type PartToRead } from './read.ts'

const reader = new PartReader(workerData as string)
const main = parentPort!

function answerTo(part: PartToRead): FromReading {
  try {
    return { summary: finish(reader.reading(part)) }
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    return { refusal: error.message }
  }
}

main.on('message', (part: PartToRead) => main.postMessage(answerTo(part)))
