/**
 * How often the engine goes to the kernel for requests that come together. Its own way is modelled: it
 * gathers 16 KB of what handlers write, hands over what no longer fits, and then each piece by itself.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  UwsApp,
  UwsBinding,
  UwsHandler,
  UwsRequest,
  UwsResponse,
} from '../../src/http/engines/uws-binding.ts'
import { Connections, UNLIMITED } from '../../src/http/connections.ts'
import { NO_RECORDER } from '../../src/http/exchange.ts'
import { UwsEngine } from '../../src/http/engines/uws.ts'

const GATHERED = 16 * 1024

/** One connection of the engine. */
class ModelledSocket {
  calls = 0
  bytes = 0
  #isGathering = false
  #gathered = 0

  write(length: number): void {
    this.bytes += length
    if (this.#isGathering && this.#gathered + length <= GATHERED) {
      this.#gathered += length
      return
    }
    if (this.#isGathering && this.#gathered > 0) this.calls++
    this.#isGathering = false
    this.#gathered = 0
    this.calls++
  }

  gather(handler: () => void): void {
    if (this.#isGathering) {
      handler()
      return
    }
    this.#isGathering = true
    handler()
    if (this.#isGathering && this.#gathered > 0) this.calls++
    this.#isGathering = false
    this.#gathered = 0
  }
}

/** What `head` and `body` bytes take, as the engine writes them. */
function responseOn(socket: ModelledSocket): UwsResponse {
  const writeStatus = (status: string | Uint8Array): void => {
    for (const length of ['HTTP/1.1 '.length, status.length, 2]) socket.write(length)
  }
  const tryEnd = (body: Uint8Array, length: number): [boolean, boolean] => {
    const pieces = [37, 'Content-Length: '.length, String(length).length, 4, body.length]
    for (const piece of pieces) socket.write(piece)
    return [true, true]
  }
  const end = (body: Uint8Array): void => void tryEnd(body, body.length)
  const cork = (handler: () => void): void => socket.gather(handler)
  return { writeStatus, tryEnd, end, cork } as unknown as UwsResponse
}

/** What the engine does with a request, each of which is answered with `head` and `body` bytes. */
function handlerOf(head: number, body: number): UwsHandler {
  let get: UwsHandler = () => assert.fail('no route')
  const app = {
    filter: () => app,
    any: () => app,
    head: () => app,
    get: (_: string, handler: UwsHandler) => ((get = handler), app),
  } as unknown as UwsApp
  const binding = { App: () => app, _cfg: () => {} } as unknown as UwsBinding
  const answer = Buffer.alloc(body)
  const engine = new UwsEngine(binding, (exchange) => exchange.send(Buffer.alloc(head, '200 '), answer), {
    connections: new Connections(Connections.allocate(1), 0, UNLIMITED),
    recorder: NO_RECORDER,
    onProgress: () => {},
    now: () => 0,
    onThrow: (error) => assert.fail(String(error)),
  })
  assert.equal(engine.kind, 'uws')
  return get
}

const REQUEST = { forEach: () => {}, getUrl: () => '/', getQuery: () => '' } as unknown as UwsRequest

/** Calls of the kernel for requests that come together, each answered with `head` and `body` bytes. */
function callsOf(batches: readonly number[], head: number, body: number): number[] {
  const get = handlerOf(head, body)
  return batches.map((requests) => {
    const socket = new ModelledSocket()
    socket.gather(() => {
      for (let i = 0; i < requests; i++) get(responseOn(socket), REQUEST)
    })
    assert.ok(socket.bytes > requests * (head + body))
    return socket.calls
  })
}

test('Answers that together are longer than what the engine gathers take few calls of the kernel.', () => {
  // All gathered, or all but the last; the second batch comes in another turn of the loop.
  assert.deepEqual(callsOf([15, 16], 700, 200), [1, 1])
  assert.deepEqual(callsOf([16, 16], 700, 290), [4, 4])
  // One call for what was gathered with one body, then one for each answer.
  assert.deepEqual(callsOf([16], 700, 2000), [12])
  // A body longer than that goes out by itself, behind its head.
  assert.deepEqual(callsOf([1, 3], 700, 40_000), [2, 6])
})

/** How many of 1,000 answers of `body` bytes the engine ends without asking whether the kernel takes them. */
function unseenOf(body: number): number {
  let unseen = 0
  let isAsked = false
  const nothing = (): void => {}
  const response = {
    writeStatus: nothing,
    end: () => {
      if (!isAsked) unseen++
      isAsked = false
    },
    tryEnd: () => {
      isAsked = true
      return [false, false]
    },
    cork: (handler: () => void) => handler(),
    getWriteOffset: () => 0,
    onAborted: nothing,
    onWritable: nothing,
  } as unknown as UwsResponse
  for (let i = 0; i < 5; i++) {
    // As many as one connection may send in a turn.
    const get = handlerOf(700, body)
    for (let request = 0; request < 200; request++) get(response, REQUEST)
  }
  return unseen
}

test('The kernel is asked whether it takes an answer, however short: a client that does not read is found out.', () => {
  assert.deepEqual([unseenOf(1), unseenOf(374), unseenOf(4097)], [0, 0, 0])
})
