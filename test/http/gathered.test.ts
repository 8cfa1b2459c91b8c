/** How often the engine on uWebSockets.js goes to the kernel for requests that come together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOf, ModelledSocket } from './modelled_uws.ts'

/** Calls of the kernel for requests that come together, each answered with `head` and `body` bytes. */
function callsOf(requests: number, head: number, body: number): number {
  const answer = Buffer.alloc(body)
  const get = getOf((exchange) => exchange.send(Buffer.alloc(head, '200 '), answer))
  const socket = new ModelledSocket()
  socket.gather(() => {
    for (let i = 0; i < requests; i++) get([], socket)
  })
  assert.ok(socket.bytes > requests * (head + body))
  return socket.calls
}

test('Answers that together are longer than what the engine gathers take few calls of the kernel.', () => {
  assert.equal(callsOf(15, 700, 200), 1)
  // One call for what was gathered, one for the piece that did not fit, then one for each answer.
  assert.ok(callsOf(16, 700, 2000) <= 18)
  assert.ok(callsOf(100, 700, 290) <= 100)
  // A body longer than that goes out by itself, behind its head.
  assert.equal(callsOf(1, 700, 40_000), 2)
})
