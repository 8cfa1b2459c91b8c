/** A worker thread with an engine of its own on the port it is given; answers its thread's id. */
import { threadId, workerData, parentPort } from 'node:worker_threads'
import { Connections } from '../../src/http/connections.ts'
import { loadEngine } from '../../src/http/engines/engine.ts'

const limits = { connections: Infinity, streams: 1, streamsOfOne: 1 }
const engine = loadEngine('uws').create(
  (exchange) => exchange.send('200 OK', Buffer.from(`${threadId} ${exchange.path.length}`)),
  {
    connections: new Connections(Connections.allocate(1), 0, limits),
    serving: new Int32Array(1),
    recorder: { answered() {} },
    onProgress() {},
    onThrow: (error) => process.emitWarning(error),
  },
)
const port = await engine.listen('127.0.0.1', workerData.port)
parentPort.postMessage({ port })
parentPort.once('message', () => engine.close())
