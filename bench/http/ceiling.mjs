/**
 * The ceiling: uWebSockets.js with nothing to do. The process has the product's shape, one serving thread of
 * a main thread, and answers every request with one head and one body, which the bench names for each case.
 */
import { createRequire } from 'node:module'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url))
  worker.on('message', (message) => {
    if (message.port === undefined) process.send(message)
    else console.log(`listening on ${message.port}`)
  })
  process.on('message', (message) => worker.postMessage(message))
  // The bench is gone: nobody would stop this process.
  process.on('disconnect', () => process.exit(0))
} else {
  const require = createRequire(import.meta.url)
  const uws = require(`@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.', 1)[0]}`)
  let head = '200 OK'
  let body = new Uint8Array(0)
  uws._cfg('silent')
  uws
    .App()
    .any('/*', (response) => {
      response.writeStatus(head)
      const [, done] = response.tryEnd(body, body.length)
      if (done) return
      const start = response.getWriteOffset()
      const rest = body.subarray(start)
      response.onAborted(() => {})
      response.onWritable((offset) => response.tryEnd(rest.subarray(offset - start), rest.length + start)[0])
    })
    .listen('127.0.0.1', 0, (token) => parentPort.postMessage({ port: uws.us_socket_local_port(token) }))
  parentPort.on('message', (message) => {
    head = message.head
    body = new Uint8Array(message.length).fill(0x20)
    parentPort.postMessage({ ready: true })
  })
}
