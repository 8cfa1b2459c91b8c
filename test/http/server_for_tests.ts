/** Small servers on either engine. */
import { connect, type Socket } from 'node:net'
import { after, before, type TestContext } from 'node:test'
import { Connections } from '../../src/http/connections.ts'
import { loadEngine } from '../../src/http/engines/engine.ts'
import { NO_EVENTS, NOT_RECORDED } from '../../src/http/exchange.ts'
import type { Engine, EngineKind, Exchange, HeaderName, EngineNeeds } from '../../src/http/exchange.ts'
import { rounds } from '../rounds.ts'
import { RawClient } from './raw_client.ts'

const X_TEST = 'x-test' as HeaderName
const X_MISSING = 'x-missing' as HeaderName

export const ENGINES = ['uws', 'node'] as const
/** Tests of whole servers try one of these by day, and both at night. */
export const SLOW_ENGINES = ENGINES.slice(0, rounds(1, 2))

/** A reason to skip where the native binary has no build for this machine; false where it loads. */
export function missing(kind: EngineKind): string | false {
  return kind === 'uws' && loadEngine('auto').kind !== 'uws' ? 'no native binary for this machine' : false
}

/** The counts of one thread, which may have so many connections. */
export const connectionsFor = (connections: number): Connections =>
  new Connections(Connections.allocate(1), 0, { connections, streams: 100, streamsOfOne: 100 })

export const needsOf = (some: Partial<EngineNeeds> = {}): EngineNeeds => ({
  connections: connectionsFor(Infinity),
  serving: new Int32Array(1),
  onProgress: () => {},
  onNotBuffered: () => {},
  recorder: { answered() {}, deferred: () => NOT_RECORDED },
  onThrow: (error) => process.emitWarning(String(error)),
  ...some,
})

export const TEXT_HEAD = '200 OK\r\nContent-Type: text/plain\r\nX-Served-By: test'
const BIG_LENGTH = 200_000
/** Bytes that `/body` takes. */
export const MOST_BODY = 1000
/** More than the kernel's buffers of a connection hold. */
export const HUGE_LENGTH = 8_000_000
/** The headers that `/headed` is answered with, so that answers without a body weigh something. */
const MANY_HEADERS = Array.from(
  { length: 10 },
  (_, i) => `\r\nX-${'abcdefghij'[i]}: ${'v'.repeat(180)}`,
).join('')

/** An engine on a port of its own with its clients, which go with it. */
export class EngineServer {
  engine!: Engine
  port = 0
  readonly thrown: unknown[] = []
  /** Paths of all requests that the handler saw. */
  readonly seen: string[] = []
  /** The exchange of the last request, for uses after its time. */
  last: Exchange | null = null
  readonly #create: () => Engine
  readonly #clients: { destroy(): void }[] = []

  constructor(kind: EngineKind, handler: (exchange: Exchange) => void, needs: Partial<EngineNeeds> = {}) {
    const watched = (exchange: Exchange): void => {
      this.last = exchange
      this.seen.push(exchange.path)
      handler(exchange)
    }
    const onThrow = (error: unknown): void => void this.thrown.push(error)
    this.#create = () => loadEngine(kind).create(watched, needsOf({ onThrow, ...needs }))
  }

  /** Serves all tests of the `describe` that it is called in. */
  forSuite(): this {
    before(() => this.#listen())
    after(() => this.close())
    return this
  }

  /** Serves until the test ends. */
  async until(t: TestContext): Promise<this> {
    t.after(() => this.close())
    await this.#listen()
    return this
  }

  open(): RawClient {
    const client = new RawClient(this.port)
    this.#clients.push(client.socket)
    return client
  }

  /** A client that sends `text` and reads nothing until it is told to. */
  unread(text: string): Socket {
    const socket = connect(this.port, '127.0.0.1', () => socket.write(text))
    socket.pause()
    socket.on('error', () => {})
    this.#clients.push(socket)
    return socket
  }

  close(): void {
    for (const client of this.#clients) client.destroy()
    this.engine?.close()
  }

  async #listen(): Promise<void> {
    this.engine = this.#create()
    this.port = await this.engine.listen('127.0.0.1', 0)
  }
}

/** A server with one path for each thing that a handler can do. */
export const pathServer = (kind: EngineKind, needs: Partial<EngineNeeds> = {}): EngineServer =>
  new EngineServer(kind, handlerOfPaths(), needs)

function handlerOfPaths(): (exchange: Exchange) => void {
  const scratch = Buffer.alloc(HUGE_LENGTH)
  const lasting = new Uint8Array(new SharedArrayBuffer(HUGE_LENGTH)).fill(0x61)
  return (exchange) => {
    const { path } = exchange
    if (path === '/204') exchange.send('204 No Content\r\nX-Served-By: test', null)
    else if (path === '/304') exchange.send('304 Not Modified\r\nETag: W/"a"', null)
    else if (path === '/empty') exchange.send(TEXT_HEAD, new Uint8Array(0))
    else if (path === '/throw') throw new Error('a fault')
    else if (path === '/forget') return
    else if (path === '/twice') {
      exchange.send(TEXT_HEAD, Buffer.from('once'))
      exchange.send(TEXT_HEAD, Buffer.from('again'))
    } else if (path === '/big' || path === '/huge') {
      const body = scratch.subarray(0, path === '/big' ? BIG_LENGTH : HUGE_LENGTH)
      body.fill(`<${exchange.query}>`)
      exchange.send(TEXT_HEAD, body)
      body.fill('!')
    } else if (path === '/body') {
      const reply = exchange.laterWithBody(MOST_BODY, NO_EVENTS, (body) =>
        reply.send(TEXT_HEAD, body ?? Buffer.from('too long')),
      )
    } else if (path === '/headed') {
      exchange.send(TEXT_HEAD + MANY_HEADERS, Buffer.from('at /headed'))
    } else if (path === '/stays') {
      exchange.send(TEXT_HEAD, lasting, true)
    } else if (path === '/shared') {
      const shared = new Uint8Array(new SharedArrayBuffer(16), 4, 6)
      shared.set(Buffer.from('shared'))
      exchange.send(TEXT_HEAD, shared)
    } else if (path === '/seen') {
      const seen = {
        method: exchange.method,
        query: exchange.query,
        header: exchange.header(X_TEST),
        values: exchange.headerValues(X_TEST),
        missing: exchange.header(X_MISSING) + exchange.headerValues(X_MISSING),
        address: exchange.address(),
      }
      exchange.send(TEXT_HEAD, Buffer.from(JSON.stringify(seen)))
    } else exchange.send(TEXT_HEAD, Buffer.from(`at ${path}`))
  }
}
