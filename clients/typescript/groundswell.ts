/**
 * Client of the groundswell wave-buoy API. `README.md` says how to use it and how to make `api.d.ts`, the
 * types of your server's answers.
 */
import createClient from 'openapi-fetch'
import type {
  ChangedReading,
  ErrorAnswer,
  ListChangesAnswer,
  ListReadingsAnswer,
  paths,
  Reading,
  ShapedAnswer,
  SnapshotEvent,
  SnapshotGoneAnswer,
} from './api.d.ts'

export type * from './api.d.ts'

export interface Settings {
  /** Address of the operations, with the base path: `http://127.0.0.1:8080/v2`. */
  baseUrl: string
  /** Without a key only the searches for buoys and places and the nearest buoys answer. */
  key?: string
  /** Used instead of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
}

export interface CallOptions {
  /** Ends the call early. */
  signal?: AbortSignal
  /** More headers, for instance `Accept-Language` or `X-Request-Id`. */
  headers?: { [name: string]: string }
}

/** An operation, by its path in the description. */
export type Path = Exclude<keyof paths, '/events'>
/** What an operation answers in JSON, unless `fields` or `layout` shape it. */
export type AnswerOf<P extends Path> = Usual<paths[P]['get']['responses'][200]['content']['application/json']>
type Usual<Answer> = Answer extends unknown ? (ShapedAnswer extends Answer ? never : Answer) : never
/** What an operation takes behind the `?`. */
export type QueryOf<P extends Path> = NonNullable<paths[P]['get']['parameters']['query']>
type InitOf<P extends Path> = CallOptions & Pick<paths[P]['get']['parameters'], 'path' | 'query'>
/** It may be left out where no parameter is required. */
type Rest<P extends Path> = paths[P]['get']['parameters'] extends { path: object } | { query: object }
  ? [init: InitOf<P>]
  : [init?: InitOf<P>]

/** The quota of this hour, as the newest answer gave it. */
export interface Quota {
  /** Calls an hour. */
  limit: number
  /** Calls left in this hour. */
  remaining: number
  /** When the hour ends. */
  resetAt: Date
}

/** Thrown for every answer that is not a success. */
export class GroundswellError extends Error {
  override name = 'GroundswellError'
  /** HTTP status. */
  readonly status: number
  /** The code for programs; `unknown` if something other than groundswell answered. */
  readonly code: ErrorAnswer['error'] | SnapshotGoneAnswer['error'] | 'unknown'
  /** Quote it when you ask for help. */
  readonly requestId: string | null
  /** Name of the wrong parameter, if the error is about one. */
  readonly parameter: string | null
  /** With `snapshot_gone`: the snapshot that is served now. */
  readonly current: string | null
  /** Seconds to wait before a retry, if the answer gives them. */
  readonly retryAfter: number | null

  /** @param body of the answer: text where it is not JSON */
  constructor({ status, headers }: Response, body: unknown) {
    const said: Partial<ErrorAnswer | SnapshotGoneAnswer> | null = typeof body === 'object' ? body : null
    super(said?.message ?? `the answer was ${status}`)
    this.status = status
    this.code = said?.error ?? 'unknown'
    this.requestId = said?.request_id ?? null
    this.parameter = said?.details?.parameter ?? null
    this.current = said?.error === 'snapshot_gone' ? (said.details?.current ?? null) : null
    const retryAfter = headers.get('Retry-After')
    this.retryAfter = retryAfter === null ? null : Number(retryAfter)
  }
}

interface Init extends CallOptions {
  path?: object | undefined
  query?: object | undefined
  parseAs?: 'stream' | 'text'
}
/** `data` are what the answer holds, undefined where it has no bytes. */
type Call = (path: keyof paths, init?: Init) => Promise<{ data?: unknown; response: Response }>

export class Groundswell {
  readonly #call: Call
  /** Null before the first answer that has a quota. */
  quota: Quota | null = null

  constructor({ baseUrl, key, fetch }: Settings) {
    const client = createClient<paths>({
      baseUrl,
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
      querySerializer: queryText,
      ...(fetch && { fetch }),
    })
    const get = client.GET as (path: string, init: object) => ReturnType<Call> & Promise<{ error?: unknown }>
    this.#call = async (path, { path: inPath, query, ...init } = {}) => {
      const { data, error, response } = await get(path, { ...init, params: { path: inPath, query } })
      this.#readQuota(response.headers)
      if (!response.ok) throw new GroundswellError(response, error)
      return { data, response }
    }
  }

  /** The whole answer of an operation in JSON. @throws GroundswellError, and what `fetch` throws */
  async get<P extends Path>(path: P, ...[init]: Rest<P>): Promise<AnswerOf<P>> {
    return (await this.#call(path, init)).data as AnswerOf<P>
  }

  /** An answer as text, in the `format` of its query. @throws as `get` */
  async text<P extends Path>(path: P, ...[init]: Rest<P>): Promise<string> {
    return ((await this.#call(path, { ...init, parseAs: 'text' })).data ?? '') as string
  }

  /**
   * The readings of a buoy, one after the other, of the snapshot that is current at the first call. Where the
   * server stops to hold it, the rest comes from its current one, from the last reading on: no time comes
   * twice, and none that both snapshots have is left out. @throws as `get`, also where `patience` is over
   */
  readings(buoyId: string | number, options: ReadingsOptions = {}): AsyncGenerator<Reading, void, undefined> {
    return walkReadings(this.#call, buoyId, options)
  }

  /**
   * What distinguishes the current snapshot from the one of `since`, in pages that compare the same two. Ask
   * next time since their `until`. @throws as `get`. After a `snapshot_gone` undo what has come, and ask once
   * more; where it is the first answer, take the lists.
   */
  changes(since: string, options: ChangesOptions = {}): AsyncGenerator<ChangesPage, void, undefined> {
    return walkChanges(this.#call, since, options)
  }

  /**
   * The snapshots that are published, from the current one on, over as many connections as it takes; after a
   * break the newest one alone. @throws as `get` where the server refuses for good, and what aborts it
   */
  events(options: EventsOptions = {}): AsyncGenerator<SnapshotEvent, void, undefined> {
    return followEvents(this.#call, options)
  }

  #readQuota(headers: Headers): void {
    const limit = headers.get('X-RateLimit-Limit')
    if (limit === null) return
    this.quota = {
      limit: Number(limit),
      remaining: Number(headers.get('X-RateLimit-Remaining')),
      resetAt: new Date(Number(headers.get('X-RateLimit-Reset')) * 1000),
    }
  }
}

type Value = string | number | boolean | readonly (string | number)[] | null | undefined

function queryText(parameters: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters) as [string, Value][]) {
    // The API takes no exponents.
    if (typeof value === 'number' && /e-/.test(String(value))) query.set(name, value.toFixed(12))
    else if (value !== undefined && value !== null) query.set(name, String(value))
  }
  return query.toString()
}

/** How often a call is tried again: after lost connections, 429 and answers from 500 on. */
export interface PatientOptions extends CallOptions {
  /** Seconds until a call that fails again and again throws. Default: 60; 0 tries once. */
  patience?: number
}

export interface ReadingsOptions extends PatientOptions {
  /** First and last moment, both included. Text is as in `start_date` and `end_date` of `listReadings`. */
  since?: Date | string
  until?: Date | string
  /** By time, oldest or newest first. Default: `asc`. */
  order?: 'asc' | 'desc'
  /** Readings a call, at most 100, which is the default. */
  perPage?: number
  /** Of this snapshot alone: throws where it is gone, instead of going on with another one. */
  snapshot?: string
}

export interface ChangesOptions extends PatientOptions {
  /** Readings a call, at most 1000, which is the default. */
  perPage?: number
}

/** A page of `changes`. `buoys` is empty on all but the first. */
export type ChangesPage = ListChangesAnswer['data'] & {
  readings: ChangedReading[]
  /** Readings that differ, over all pages. */
  count: number
}

/** How the connection of `events` is. `waitMs` is the time until the next try. */
export type EventsState =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'waiting'; waitMs: number; error: Error }

export interface EventsOptions extends CallOptions {
  /** Ids or slugs, at most 20: then an event comes where one of these has changed, and first of all. */
  buoys?: readonly (string | number)[]
  /** A snapshot that is known already: the first event counts from it where the server still holds it. */
  lastEventId?: string
  /** Called whenever the connection comes, goes or is tried. */
  onState?: (state: EventsState) => void
  /** A connection that brings nothing for so long counts as lost. Default: 65000, three signs of life. */
  silenceMs?: number
}

const PATIENCE_S = 60
/** Waits double from the first to the longest. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 60_000
/** What a server may ask for with `retry`. */
const LEAST_RETRY_MS = 100
const MOST_RETRY_MS = 300_000
const MOST_DOUBLINGS = 10
const SILENCE_MS = 65_000
/** Characters. An event of twenty buoys has 600. */
const LONGEST_LINE = 65_536
const LONGEST_DATA = 262_144
const TOO_LONG = 'the stream of events has a line or an event that is too long'
const SECOND_MS = 1000
const DAY_MS = 86_400_000

async function* walkReadings(
  call: Call,
  buoyId: string | number,
  { since, until, order = 'asc', perPage = 100, snapshot, patience, ...options }: ReadingsOptions,
): AsyncGenerator<Reading, void, undefined> {
  let [from, to] = [timeText(since), timeText(until)]
  let pin = snapshot ?? null
  let last: string | null = null
  for (let page = 1; ; page++) {
    const query = { start_date: from, end_date: to, order, per_page: perPage, page, snapshot: pin }
    const init = { ...options, path: { buoy_id: buoyId }, query }
    let answer
    try {
      answer = await patiently(() => call('/buoys/{buoy_id}/readings', init), patience, options.signal)
    } catch (error) {
      if (snapshot !== undefined || pin === null || !isSnapshotGone(error)) throw error
      // A buoy has one reading at a time, so the rest of another snapshot begins a second further.
      if (last !== null) {
        const next = Date.parse(last) + (order === 'asc' ? SECOND_MS : -SECOND_MS)
        if (order === 'asc' ? next > endOf(to) : next < startOf(from)) return
        if (order === 'asc') from = timeText(new Date(next))
        else to = timeText(new Date(next))
      }
      pin = null
      page = 0
      continue
    }
    const { data, meta } = answer.data as ListReadingsAnswer
    pin ??= answer.response.headers.get('X-Snapshot-Id')
    if (pin === null && meta.total_pages > 1) {
      throw new Error('the answer has no X-Snapshot-Id: the server is too old for it, or a proxy drops it')
    }
    for (const reading of data.readings) {
      last = reading.time
      yield reading
    }
    if (page >= meta.total_pages) return
  }
}

async function* walkChanges(
  call: Call,
  since: string,
  { perPage = 1000, patience, ...options }: ChangesOptions,
): AsyncGenerator<ChangesPage, void, undefined> {
  let until: string | null = null
  for (let page = 1; ; page++) {
    const query: object = { since, include: 'readings', per_page: perPage, page, snapshot: until }
    const answer = await patiently(() => call('/changes', { ...options, query }), patience, options.signal)
    const { data, meta } = answer.data as ListChangesAnswer
    until = data.until
    yield { ...data, readings: data.readings ?? [], count: data.count ?? 0 }
    if (page >= (meta.total_pages ?? 0)) return
  }
}

/**
 * The snapshots that a server publishes, one after the other, over as many connections as it takes. Ends with
 * its consumer alone. @throws GroundswellError where the server refuses for good
 */
export async function* followEvents(
  call: Call,
  { buoys = [], lastEventId, onState = () => {}, silenceMs = SILENCE_MS, signal, ...options }: EventsOptions,
): AsyncGenerator<SnapshotEvent, void, undefined> {
  const query = { buoy: buoys.length === 0 ? null : buoys }
  const waits = { retryMs: FIRST_WAIT_MS }
  let last = lastEventId
  let shown: string | null = null
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted()
    onState({ state: 'connecting' })
    const headers: { [name: string]: string } = { ...options.headers, Accept: 'text/event-stream' }
    if (last !== undefined) headers['Last-Event-ID'] = last
    let error = new Error('the server ended the connection')
    try {
      for await (const event of connectionEvents(call, { query, headers }, signal, silenceMs, waits)) {
        failures = 0
        last = event.snapshot
        onState({ state: 'live' })
        // A new connection begins with the current snapshot, which mostly is no news.
        if (event.snapshot !== shown) yield event
        shown = event.snapshot
      }
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof GroundswellError && !mayPass(cause)) throw cause
      error = asError(cause)
    }
    const waitMs = waitAfter(error, failures, waits.retryMs)
    onState({ state: 'waiting', waitMs, error })
    await pause(waitMs, signal)
  }
}

/** The events of one connection; its end is theirs. What the server says of waiting goes into `waits`. */
async function* connectionEvents(
  call: Call,
  init: Init,
  signal: AbortSignal | undefined,
  silenceMs: number,
  waits: { retryMs: number },
): AsyncGenerator<SnapshotEvent, void, undefined> {
  const connection = new AbortController()
  const stop = (): void => connection.abort(signal?.reason)
  signal?.addEventListener('abort', stop)
  let silence: ReturnType<typeof setTimeout> | undefined
  const hear = (): void => {
    clearTimeout(silence)
    silence = setTimeout(() => connection.abort(new Error('the connection was silent')), silenceMs)
  }
  try {
    hear()
    const { response } = await call('/events', { ...init, signal: connection.signal, parseAs: 'stream' })
    const { body, headers } = response
    if (!/^text\/event-stream\b/i.test(headers.get('Content-Type') ?? '') || body === null) {
      throw new Error('the answer is no stream of events')
    }
    const parser = new EventParser()
    for await (const chunk of chunksOf(body)) {
      hear()
      for (const { event, data } of parser.push(chunk)) {
        waits.retryMs = parser.retryMs ?? waits.retryMs
        if (event === 'snapshot') yield snapshotEventOf(data)
      }
    }
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', stop)
    connection.abort()
  }
}

/** Tries a call until it succeeds, its failure is final, or `patience` (seconds) is over. */
async function patiently<T>(call: () => Promise<T>, patience = PATIENCE_S, signal?: AbortSignal): Promise<T> {
  const end = performance.now() + patience * SECOND_MS
  for (let failures = 0; ; failures++) {
    try {
      return await call()
    } catch (error) {
      signal?.throwIfAborted()
      // What fetch throws for a lost connection is a TypeError.
      const isPassing = error instanceof GroundswellError ? mayPass(error) : error instanceof TypeError
      const waitMs = waitAfter(error, failures, FIRST_WAIT_MS)
      if (!isPassing || performance.now() + waitMs > end) throw error
      await pause(waitMs, signal)
    }
  }
}

const mayPass = ({ status }: GroundswellError): boolean => status === 429 || status >= 500

const isSnapshotGone = (error: unknown): boolean =>
  error instanceof GroundswellError && error.code === 'snapshot_gone'

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** Half to one and a half of the doubled wait, so that clients do not come back all at once. */
function waitAfter(error: unknown, failures: number, firstMs: number): number {
  const doubled = Math.min(
    Math.max(LONGEST_WAIT_MS, firstMs),
    firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS),
  )
  const askedFor = error instanceof GroundswellError ? (error.retryAfter ?? 0) * SECOND_MS : 0
  return Math.max(askedFor, doubled / 2) + Math.random() * doubled
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(asError(signal?.reason))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted === true) end()
  })
}

function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString().replace(/\.\d+Z$/, 'Z') : time
}

/** Milliseconds of the first moment that a text names; a date alone names a day. */
const startOf = (text: string | undefined): number => (text === undefined ? -Infinity : Date.parse(text))

function endOf(text: string | undefined): number {
  if (text === undefined) return Infinity
  return Date.parse(text) + (/^\d{4}-\d\d-\d\d$/.test(text) ? DAY_MS - SECOND_MS : 0)
}

/** The chunks of a body as text. Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    // The connection may be gone already.
    reader.cancel().catch(() => {})
  }
}

interface ServerSentEvent {
  event: string
  data: string
}

/** Reads a stream of Server-Sent Events, in pieces as they come. `id` repeats what is in the data. */
class EventParser {
  /** What the server asks clients to wait before they come again; null where it does not. */
  retryMs: number | null = null
  #text = ''
  /** Characters of the text that hold no end of a line. */
  #searched = 0
  /** The last piece ended with a carriage return, which ended its line. */
  #isHalf = false
  #event = ''
  #data: string[] = []
  #size = 0

  /** The events that the next piece completes. @throws Error for a line or an event beyond all measure */
  push(piece: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    // The second half of an end that came in two pieces.
    const rest = this.#isHalf && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#isHalf = piece.endsWith('\r')
    this.#text += rest
    let start = 0
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = this.#searched
    for (let end = ends.exec(this.#text); end !== null; end = ends.exec(this.#text)) {
      const line = this.#text.slice(start, end.index)
      start = ends.lastIndex
      if (line === '') this.#complete(events)
      else this.#take(line)
    }
    this.#text = this.#text.slice(start)
    this.#searched = this.#text.length
    if (this.#text.length > LONGEST_LINE) throw new Error(TOO_LONG)
    return events
  }

  #take(line: string): void {
    if (line.length > LONGEST_LINE) throw new Error(TOO_LONG)
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#event = value
    else if (name === 'data') {
      this.#size += value.length
      if (this.#size > LONGEST_DATA) throw new Error(TOO_LONG)
      this.#data.push(value)
    } else if (name === 'retry' && /^\d{1,9}$/.test(value)) {
      this.retryMs = Math.min(MOST_RETRY_MS, Math.max(LEAST_RETRY_MS, Number(value)))
    }
  }

  #complete(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') })
    this.#event = ''
    this.#data = []
    this.#size = 0
  }
}

/** @throws Error for what is no event of a snapshot; the connection is then reopened */
function snapshotEventOf(data: string): SnapshotEvent {
  const event = JSON.parse(data) as Partial<SnapshotEvent> | null
  if (typeof event?.snapshot !== 'string' || typeof event.as_of !== 'string') {
    throw new Error('an event of the server cannot be understood')
  }
  return { ...event, since: event.since ?? null, changes: event.changes ?? null } as SnapshotEvent
}
