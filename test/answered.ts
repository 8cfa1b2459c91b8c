/** Requests put straight to the request path of one thread, over a real snapshot and without a socket. */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { TrustedProxies } from '../src/access/trusted-proxies.ts'
import {
  headText,
  type Exchange,
  type HeaderName,
  type LaterEvents,
  NO_KEY,
  NO_ROUTE,
} from '../src/http/exchange.ts'
import { KeyRing } from '../src/access/key-ring.ts'
import { QuotaCounters } from '../src/access/quota.ts'
import type { RequestPathOptions } from '../src/http/request.ts'
import { OPERATIONS } from '../src/routes.ts'
import { openView, type View } from '../src/dataset/view.ts'
import { indexSnapshot } from '../src/server/index-snapshot.ts'
import { loadSnapshot, type LoadedSnapshot } from '../src/snapshot/read-snapshot.ts'
import { finish } from '../src/system/steps.ts'
import { Counters } from '../src/http/counters.ts'
import { Reader } from './http/reader.ts'
import { PathHere } from './long_here.ts'

/** Pieces that a reader takes at a time. */
const ROOM = 3

/** A key, and what a request with it says. */
export const KEY = `gsw_${'A'.repeat(49)}`
export const KEYED = { authorization: `Bearer ${KEY}` }

/** A snapshot of a folder as a worker serves it. */
export async function viewOf(snapshots: string): Promise<View> {
  return openedOf(await loadSnapshot(snapshots), 86_400)
}

/** A loaded snapshot as a worker serves it; `activeWithin` in seconds. */
export function openedOf(loaded: LoadedSnapshot, activeWithin: number): View {
  return finish(openView(finish(indexSnapshot(loaded, activeWithin)).indexed))
}

export interface Answered {
  status: number
  /** Lower-case names. */
  headers: { [name: string]: string }
  text: string
  bytes: Buffer
}

/** By names in lower case; a list is as many lines. */
export interface AskedHeaders {
  [name: string]: string | string[]
}

/** One request, and what was answered to it at once. */
class Asked implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #headers: AskedHeaders
  route = NO_ROUTE
  readonly mayWait = false
  keyRow = NO_KEY
  requestId = ''
  cameWithBody = false
  answer: Answered | null = null
  /** Who takes a reply that came later, piece by piece. */
  reader: Reader | null = null

  constructor(url: string, headers: AskedHeaders, method: string) {
    const mark = url.indexOf('?')
    this.method = method
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
    this.#headers = headers
  }

  header(name: HeaderName): string {
    return [this.#headers[name] ?? ''].flat()[0]
  }

  headerValues(name: HeaderName): string {
    return [this.#headers[name] ?? ''].flat().join(', ')
  }

  address(): string {
    return '192.0.2.1'
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    this.take(head, Buffer.from(body ?? []), body?.length ?? null)
  }

  /** `length`: of the body, as the head says; null where it says none. */
  take(head: string | Uint8Array, body: Buffer, length: number | null): void {
    const [status, ...lines] = headText(head).split('\r\n')
    if (length !== null) lines.push(`Content-Length: ${length}`)
    const bytes = this.method === 'HEAD' ? Buffer.alloc(0) : body
    this.answer = {
      status: Number(status.slice(0, 3)),
      headers: Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
        }),
      ),
      text: bytes.toString(),
      bytes,
    }
  }

  later(events: LaterEvents): Reader {
    return (this.reader = new Reader(events, ROOM, this.method === 'HEAD'))
  }

  laterWithBody(): never {
    throw new Error('requests put straight to the path have no body')
  }
}

/** What a request path needs, with the base path `/v2`. `keys`: how many there are. */
export function optionsOf(keys: number): Omit<RequestPathOptions, 'long'> {
  return {
    operations: OPERATIONS,
    basePath: '/v2',
    quota: new QuotaCounters(QuotaCounters.allocate(Math.max(1, keys))),
    addresses: null,
    proxies: new TrustedProxies([]),
    anonymousQuota: 0,
    anonymousAccess: 'keyed',
    explorerQuota: 1,
    answerCache: 2 ** 20,
    settingsTag: '',
    refreshEvery: 1800,
    counters: new Counters(Counters.allocate(1), 0),
    clock: () => Date.now() / 1000,
    onWarning: () => {},
    onFault: (fault) => {
      throw new Error(fault)
    },
  }
}

/** These keys alone, each with a quota of a million. */
export function keysOf(keys: readonly (string | Uint8Array)[]): KeyRing {
  const entries = keys.map((key, slot) => ({
    id: `k_${slot}`,
    hash: createHash('sha256').update(key).digest('hex'),
    quota: 1_000_000,
    slot,
  }))
  return new KeyRing(KeyRing.build(entries))
}

/** A request path and what it answers. */
export class AskedPath {
  readonly path: PathHere

  /**
   * `keys`: texts of good keys, each with a quota of a million. `soon`: when long answers are made, by
   * default at once.
   */
  constructor(
    view: View,
    options: Partial<Omit<RequestPathOptions, 'long'>> = {},
    keys: readonly (string | Uint8Array)[] = [KEY],
    soon?: (work: () => void) => void,
  ) {
    this.path = new PathHere({ ...optionsOf(keys.length), ...options }, keysOf(keys), soon)
    this.path.hold([view], 1)
  }

  get(url: string, headers: AskedHeaders = {}, method = 'GET'): Answered {
    const asked = new Asked(url, headers, method)
    this.path.handle(asked)
    const { reader } = asked
    if (reader !== null) while (!reader.isOver && reader.room <= 0) reader.take(ROOM)
    return answerOf(asked, url)
  }

  /** An answer that may come later. `isLater`: whether it did. */
  async getLater(
    url: string,
    headers: { [name: string]: string } = {},
    method = 'GET',
  ): Promise<Answered & { isLater: boolean }> {
    const asked = new Asked(url, headers, method)
    this.path.handle(asked)
    const { reader } = asked
    if (reader !== null) {
      for (; !reader.isOver; await turn()) {
        if (reader.room <= 0) reader.take(ROOM)
      }
    }
    return { ...answerOf(asked, url), isLater: reader !== null }
  }

  getWithBody(url: string, headers: { [name: string]: string }): Answered {
    const asked = new Asked(url, headers, 'GET')
    asked.cameWithBody = true
    this.path.handle(asked)
    return asked.answer!
  }
}

function answerOf(asked: Asked, url: string): Answered {
  const { reader } = asked
  if (reader !== null) {
    if (!reader.isOver) throw new Error(`the answer to ${url} is not over`)
    if (reader.ending === 'cut') throw new Error(`the answer to ${url} was cut`)
    asked.take(reader.head, Buffer.concat(reader.pieces), reader.length)
  }
  if (asked.answer === null) throw new Error(`no answer to ${url}`)
  return asked.answer
}
