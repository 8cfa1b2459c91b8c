/** A thread that reads parts for `read.ts`: one message per part in, null or what is wrong with it out. */
import { parentPort, workerData } from 'node:worker_threads'
import { SnapshotError } from './format.ts'
import { finish } from '../steps.ts'
import { PartReader, type PartToRead } from './read.ts'

const reader = new PartReader(workerData as string)
const main = parentPort!

main.on('message', (part: PartToRead) => {
  try {
    finish(reader.reading(part))
    main.postMessage(null)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    main.postMessage(error.message)
  }
})
