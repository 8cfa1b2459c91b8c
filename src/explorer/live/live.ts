/**
 * Follows what the server publishes, over one connection while the page is seen. Where the server has no
 * events, or refuses them, whoever uses this asks every minute instead.
 */
import {
  followEvents,
  GroundswellError,
  type EventsState,
  type SnapshotEvent,
} from '../../../clients/typescript/groundswell.ts'
import type { Api } from '../api.ts'

/**
 * `off`: nothing is followed, as for a guest. `live`: the page knows of each snapshot at once. `lost`: the
 * connection is made anew. `refused`: the server gives no events now.
 */
export type LiveState = 'off' | 'connecting' | 'live' | 'lost' | 'refused'

export interface LiveOptions {
  /** A snapshot that is served now; called for the current one at each connection. */
  onSnapshot: (event: SnapshotEvent) => void
  onState: (state: LiveState) => void
}

/** A page that was out of sight for less keeps its connection: a connection costs a call of the quota. */
const HIDDEN_MS = 10_000
/**
 * Servers ask clients to come back after five seconds or so. A connection that is back by then was not lost:
 * some proxies end every one after a while.
 */
const GRACE_MS = 8000

export class Live {
  state: LiveState = 'off'
  readonly #api: Api
  readonly #options: LiveOptions
  #connection: AbortController | null = null
  /** The newest snapshot that the server has named. */
  last: string | undefined
  #grace = 0
  #pausing = 0

  constructor(api: Api, options: LiveOptions) {
    this.#api = api
    this.#options = options
  }

  /** Connects anew, as after a change of the key. */
  start(): void {
    this.#end()
    if (this.#api.isGuest) return this.#say('off')
    if (this.state === 'off') this.#say('connecting')
    const connection = new AbortController()
    this.#connection = connection
    void this.#follow(connection.signal)
  }

  /** Connects now instead of a while later, where the connection is lost. */
  hurry(): void {
    if (this.#connection !== null && this.state === 'lost') this.start()
  }

  /** The browser says that it is offline: a connection that is there may take minutes to notice. */
  doubt(): void {
    if (this.state !== 'live') return
    this.#say('lost')
    this.start()
  }

  /** The page has come into sight, or has left it. */
  see(isSeen: boolean): void {
    clearTimeout(this.#pausing)
    if (!isSeen) this.#pausing = setTimeout(() => this.#end(), HIDDEN_MS)
    else if (this.#connection === null) this.start()
    else this.hurry()
  }

  #end(): void {
    clearTimeout(this.#grace)
    this.#grace = 0
    this.#connection?.abort()
    this.#connection = null
  }

  #say(state: LiveState): void {
    if (state === this.state) return
    this.state = state
    this.#options.onState(state)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onState = (state: EventsState): void => {
      if (!signal.aborted) this.#take(state)
    }
    const known = this.last === undefined ? {} : { lastEventId: this.last }
    try {
      for await (const event of followEvents(this.#open, { signal, onState, ...known })) {
        this.last = event.snapshot
        this.#options.onSnapshot(event)
      }
    } catch {
      // A wrong key, or a server without events; the page asks every minute.
      if (!signal.aborted) this.#say('refused')
    }
  }

  #take(state: EventsState): void {
    if (state.state === 'live') {
      clearTimeout(this.#grace)
      this.#grace = 0
      this.#say('live')
    } else if (state.state === 'waiting') {
      if (state.error instanceof GroundswellError) this.#say('refused')
      else if (this.state === 'live' && this.#grace === 0) {
        this.#grace = setTimeout(() => this.#say('lost'), GRACE_MS)
      } else if (this.state !== 'live') this.#say('lost')
    }
  }

  readonly #open = async (
    path: string,
    _parameters: object,
    { headers, signal }: { headers?: { [name: string]: string }; signal?: AbortSignal },
  ): Promise<Response> => {
    const { key } = this.#api
    const how: RequestInit & { cache: 'no-store' } = {
      headers: { ...headers, ...(key === '' ? {} : { Authorization: `Bearer ${key}` }) },
      cache: 'no-store',
      signal: signal ?? null,
    }
    const answer = await fetch(this.#api.address(path), how)
    if (answer.ok) return answer
    void answer.body?.cancel()
    const wait = answer.headers.get('Retry-After')
    throw new GroundswellError(answer.status, {}, wait === null ? null : Number(wait))
  }
}
