/**
 * The engine on a model of uWebSockets.js, which gathers 16 KB of what handlers write, hands over what no
 * longer fits, and then each piece by itself.
 */
import assert from 'node:assert/strict'
import type {
  UwsApp,
  UwsBinding,
  UwsHandler,
  UwsRequest,
  UwsResponse,
} from '../../src/http/engines/uws-binding.ts'
import { UwsEngine } from '../../src/http/engines/uws.ts'
import type { OnRequest } from '../../src/http/exchange.ts'
import { surroundingsOf } from './server_for_tests.ts'

const GATHERED = 16 * 1024

/** One connection of the engine. */
export class ModelledSocket {
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
  const cork = (handler: () => void): void => socket.gather(handler)
  const nothing = (): void => {}
  return {
    writeStatus,
    tryEnd,
    cork,
    endWithoutBody: nothing,
    pause: nothing,
    onAborted: nothing,
    onWritable: nothing,
    close: nothing,
  } as unknown as UwsResponse
}

type Headers = readonly (readonly [name: string, value: string])[]

/** Has the engine take a GET with these headers on a connection. */
export function getOf(onRequest: OnRequest): (headers: Headers, socket?: ModelledSocket) => void {
  let get: UwsHandler = () => assert.fail('no route')
  const app = {
    filter: () => app,
    any: () => app,
    head: () => app,
    get: (_: string, handler: UwsHandler) => ((get = handler), app),
  } as unknown as UwsApp
  const binding = { App: () => app, _cfg: () => {} } as unknown as UwsBinding
  const onThrow = (error: unknown): never => assert.fail(String(error))
  const engine = new UwsEngine(binding, onRequest, surroundingsOf({ onThrow }))
  assert.equal(engine.kind, 'uws')
  return (headers, socket = new ModelledSocket()) => {
    const request = {
      forEach: (visit: (name: string, value: string) => void) => {
        for (const [name, value] of headers) visit(name, value)
      },
      getUrl: () => '/',
      getQuery: () => '',
    }
    get(responseOn(socket), request as unknown as UwsRequest)
  }
}
