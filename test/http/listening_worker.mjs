/** A worker thread with an engine of its own on the port it is given; answers its thread's id. */
import { threadId, workerData, parentPort } from 'node:worker_threads'
import { loadEngine } from '../../src/http/engines/engine.ts'

const engine = loadEngine('uws').create((exchange) =>
  exchange.send('200 OK', Buffer.from(`${threadId} ${exchange.path.length}`)),
)
const port = await engine.listen('127.0.0.1', workerData.port)
parentPort.postMessage({ port })
parentPort.once('message', () => engine.close())
