/** The engine on a model of uWebSockets.js that takes all that is written. */
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

const nothing = (): void => {}
const RESPONSE = {
  writeStatus: nothing,
  tryEnd: () => [true, true],
  cork: (handler: () => void) => handler(),
  endWithoutBody: nothing,
  pause: nothing,
  onAborted: nothing,
  onWritable: nothing,
  close: nothing,
} as unknown as UwsResponse

type Headers = readonly (readonly [name: string, value: string])[]

/** Has the engine take a GET with these headers on a connection. */
export function getOf(onRequest: OnRequest): (headers: Headers) => void {
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
  return (headers) => {
    const request = {
      forEach: (visit: (name: string, value: string) => void) => {
        for (const [name, value] of headers) visit(name, value)
      },
      getUrl: () => '/',
      getQuery: () => '',
    }
    get(RESPONSE, request as unknown as UwsRequest)
  }
}
