/**
 * The ceiling: what uWebSockets.js can do when there is nothing to do. The process has the product's shape,
 * one serving thread of a main thread, and answers every request with the same head and a constant body; both
 * come from the bench for each case. On a second port the constant bodies lie in many places: what memory
 * alone costs answers that do not stay in the processor's cache. It may think before it answers, to show what a
 * slower server pays beyond its own work (`thinking.ts`).
 */
import { createRequire } from 'node:module'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url))
  worker.on('message', (message) => process.send(message))
  process.on('message', (message) => worker.postMessage(message))
  // The bench is gone: nobody would stop this process.
  process.on('disconnect', () => process.exit(0))
} else {
  const require = createRequire(import.meta.url)
  const uws = require(`@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.', 1)[0]}`)
  let head = '200 OK'
  let body = new Uint8Array(0)
  let bodies = [body]
  /** Of each of the bodies; empty where they share one. */
  let heads = []
  let order = [0]
  let next = 0
  /** On the first port, before each answer. */
  let thinkMs = 0
  let thoughtMs = 0
  let thoughts = 0
  const think = () => {
    const began = performance.now()
    let took = 0
    while (took < thinkMs) took = performance.now() - began
    thoughtMs += took
    thoughts++
  }
  const answer = (response, bytes, ownHead = head) => {
    response.writeStatus(ownHead)
    const [, done] = response.tryEnd(bytes, bytes.length)
    if (done) return
    const start = response.getWriteOffset()
    const rest = bytes.subarray(start)
    response.onAborted(() => {})
    response.onWritable((offset) => response.tryEnd(rest.subarray(offset - start), rest.length + start)[0])
  }
  uws._cfg('silent')
  const app = uws.App().any('/*', (response) => {
    if (thinkMs > 0) think()
    answer(response, body)
  })
  const spread = uws.App().any('/*', (response, request) => {
    // The engine closes such a connection by itself, but does not say so.
    if (heads.length > 0 && request.getHeader('connection') === 'close') {
      response.writeStatus(heads[order[next]]).writeHeader('Connection', 'close')
    }
    answer(response, bodies[order[next]], heads[order[next]])
    next = next + 1 === order.length ? 0 : next + 1
  })
  app.listen('127.0.0.1', 0, (token) => {
    spread.listen('127.0.0.1', 0, (spreadToken) => {
      const [port, spreadPort] = [token, spreadToken].map((socket) => uws.us_socket_local_port(socket))
      parentPort.postMessage({ port, spreadPort })
    })
  })
  parentPort.on('message', (message) => {
    if (message === 'stop') {
      app.close()
      spread.close()
      process.exit(0)
    }
    if (message.thinkMicros !== undefined) {
      parentPort.postMessage({ thoughtMicros: thoughts === 0 ? 0 : (1000 * thoughtMs) / thoughts })
      thinkMs = message.thinkMicros / 1000
      thoughtMs = 0
      thoughts = 0
      return
    }
    order = message.order
    next = 0
    heads = []
    if (message.answers === undefined) {
      head = message.head
      body = new Uint8Array(message.length).fill(0x20)
      bodies = Array.from({ length: 1 + order.reduce((a, b) => Math.max(a, b)) }, () => body.slice())
    } else {
      heads = message.answers.map((one) => one.head)
      const longest = message.answers.reduce((most, { length }) => Math.max(most, length), 0)
      const all = new Uint8Array(longest).fill(0x20)
      bodies = message.answers.map(({ length }) => all.subarray(0, length))
    }
    parentPort.postMessage({ ready: true })
  })
}
