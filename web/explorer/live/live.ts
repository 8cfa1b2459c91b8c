/**
 * Follows what the server publishes, over one connection while the page is seen. Where the server has no
 * events, or refuses them, whoever uses this asks every minute instead.
 */
import { signal } from '@preact/signals'
import {
  type CallOptions,
  type EventsState,
  followEvents,
  GroundswellError,
  type SnapshotEvent,
} from '../../../clients/typescript/groundswell.ts'
import type { Api } from '../api.ts'

/**
 * `off`: nothing is followed, as for a guest. `live`: the page knows of each snapshot at once. `lost`: the
 * connection is made again. `refused`: the server gives no events now.
 */
type LiveState = 'off' | 'connecting' | 'live' | 'lost' | 'refused'

/** A page that was out of sight for less keeps its connection: a connection costs a call of the quota. */
const HIDDEN_MS = 10_000
/**
 * Servers ask clients to come back after five seconds or so. A connection that is back by then was not lost:
 * some proxies end every one after a while.
 */
const GRACE_MS = 8000

export class Live {
  readonly state = signal<LiveState>('off')
  readonly #api: Api
  readonly #onSnapshot: (event: SnapshotEvent) => void
  #connection: AbortController | null = null
  /** The newest snapshot that the server has named. */
  last: string | undefined
  #grace = 0
  #pausing = 0

  /** `onSnapshot` gets each snapshot that is served, and the current one at each connection. */
  constructor(api: Api, onSnapshot: (event: SnapshotEvent) => void) {
    this.#api = api
    this.#onSnapshot = onSnapshot
  }

  /** Connects again, as after a change of the key. */
  start(): void {
    this.#end()
    if (this.#api.isGuest) {
      this.state.value = 'off'
      return
    }
    if (this.state.peek() === 'off') this.state.value = 'connecting'
    const connection = new AbortController()
    this.#connection = connection
    void this.#follow(connection.signal)
  }

  /** Connects now instead of a while later, where the connection is lost. */
  hurry(): void {
    if (this.#connection !== null && this.state.peek() === 'lost') this.start()
  }

  /** The browser reports that it is offline: a connection that is there may take minutes to notice. */
  suspect(): void {
    if (this.state.peek() !== 'live') return
    this.state.value = 'lost'
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

  async #follow(signal: AbortSignal): Promise<void> {
    const onState = (state: EventsState): void => {
      if (!signal.aborted) this.#take(state)
    }
    const known = this.last === undefined ? {} : { lastEventId: this.last }
    try {
      for await (const event of followEvents(this.#call, { signal, onState, ...known })) {
        this.last = event.snapshot
        this.#onSnapshot(event)
      }
    } catch {
      // A wrong key, or a server without events; the page asks every minute.
      if (!signal.aborted) this.state.value = 'refused'
    }
  }

  #take(state: EventsState): void {
    if (state.state === 'live') {
      clearTimeout(this.#grace)
      this.#grace = 0
      this.state.value = 'live'
    } else if (state.state === 'waiting') {
      if (state.error instanceof GroundswellError) this.state.value = 'refused'
      else if (this.state.peek() === 'live' && this.#grace === 0) {
        this.#grace = setTimeout(() => (this.state.value = 'lost'), GRACE_MS)
      } else if (this.state.peek() !== 'live') this.state.value = 'lost'
    }
  }

  readonly #call = async (
    path: string,
    { headers, signal }: CallOptions = {},
  ): Promise<{ response: Response }> => {
    const how: RequestInit & { cache: 'no-store' } = {
      headers: { ...headers, ...this.#api.authorization },
      cache: 'no-store',
      signal: signal ?? null,
    }
    const response = await fetch(this.#api.address(path), how)
    if (response.ok) return { response }
    void response.body?.cancel()
    throw new GroundswellError(response, null)
  }
}
