/**
 * Follows what the server publishes, over one connection while the page is seen. Where the server has no
 * events, or refuses them, whoever uses this asks every minute instead. The dot that shows this and the badge
 * of a demo are here, too.
 */
import {
  type EventsState,
  followEvents,
  GroundswellError,
  type SnapshotEvent,
} from '../../../clients/typescript/groundswell.ts'
import type { Api } from '../api.ts'
import { byId, element } from '../dom.ts'
import { duration } from '../format.ts'

/**
 * `off`: nothing is followed, as for a guest. `live`: the page knows of each snapshot at once. `lost`: the
 * connection is made anew. `refused`: the server gives no events now.
 */
type LiveState = 'off' | 'connecting' | 'live' | 'lost' | 'refused'

interface LiveOptions {
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

  /** The browser reports that it is offline: a connection that is there may take minutes to notice. */
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

/** A connection that is lost for less is not worth a word to those who hear the page. */
const ANNOUNCE_MS = 4000
const MINUTE_MS = 60_000

const WORDS: { readonly [state in LiveState]: string } = {
  off: '',
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Reconnecting',
  refused: 'Every minute',
}

const TITLES: { readonly [state in LiveState]: string } = {
  off: '',
  connecting: 'Connecting to the server',
  live: 'New readings appear as they are published',
  lost: 'The server cannot be reached; the page keeps trying',
  refused: 'Checking for new readings every minute',
}

export class LiveDot {
  readonly #node = byId('live')
  readonly #elapsed: () => number
  readonly #announce: (text: string) => void
  #state: LiveState = 'off'
  /** When the page was known to be current, by `elapsed`. */
  #currentAt: number
  #wasLost = false
  #timer = 0

  /** `elapsed` gives milliseconds of a clock that nobody sets: the one of the system may be wrong. */
  constructor(elapsed: () => number, announce: (text: string) => void) {
    this.#elapsed = elapsed
    this.#announce = announce
    this.#currentAt = elapsed()
  }

  show(state: LiveState): void {
    // The page was current up to now.
    if (this.#state === 'live') this.confirm()
    this.#state = state
    clearTimeout(this.#timer)
    if (state === 'lost') {
      this.#timer = setTimeout(() => {
        this.#wasLost = true
        this.#announce('The connection to the server is lost. The page keeps trying.')
      }, ANNOUNCE_MS)
    } else if (state === 'live' && this.#wasLost) {
      this.#wasLost = false
      this.#announce('The server is back.')
    }
    this.tick()
  }

  /** The server has just said that what is shown is current, or has given what is. */
  confirm(): void {
    this.#currentAt = this.#elapsed()
    this.tick()
  }

  /** Brings the age up to now. */
  tick(): void {
    const state = this.#state
    const age = this.#elapsed() - this.#currentAt
    const isOld = (state === 'lost' || state === 'refused') && age >= MINUTE_MS
    const old = `${duration(age / 1000)} old`
    const text = !isOld ? WORDS[state] : state === 'lost' ? `${WORDS[state]} · ${old}` : old
    this.#node.hidden = state === 'off'
    if (this.#node.dataset.state === state && this.#node.textContent === text) return
    this.#node.dataset.state = state
    this.#node.title = TITLES[state]
    this.#node.replaceChildren(element('span', { class: 'dot', 'aria-hidden': 'true' }), text)
  }
}

const LOOK_MS = 5000

/** Calls `onNew` once for each snapshot that the page's answers are not of. Looks while `isNeeded` holds. */
export function watchSnapshot(api: Api, isNeeded: () => boolean, onNew: () => void): void {
  let seen: string | null = null
  const how: RequestInit & { cache: 'no-store' } = { method: 'HEAD', cache: 'no-store' }
  const look = async (): Promise<void> => {
    // Before the first answer there is nothing that could be old.
    if (document.visibilityState !== 'visible' || api.snapshot === null || !isNeeded()) return
    const answer = await fetch(api.address('/openapi.json'), how)
    const served = answer.headers.get('X-Snapshot-Id')
    if (served === null || served === api.snapshot || served === seen) return
    // One of several servers may be behind: then the page's own refresh comes back to it.
    seen = served
    onNew()
  }
  // A server that cannot be reached is reported by the page's own calls.
  setInterval(() => void look().catch(() => {}), LOOK_MS)
}

/** Shows the badge while the newest answer is of a demo. */
export function followDemo(api: Api): void {
  let isKnown = false
  api.onMark = (isDemo) => {
    isKnown = true
    byId('demo').hidden = !isDemo
  }
  // A visitor without a key may get no answer; the head of the description needs none.
  if (api.key !== '') return
  const how: RequestInit & { cache: 'no-store' } = { method: 'HEAD', cache: 'no-store' }
  void fetch(api.address('/openapi.json'), how).then(
    ({ headers }) => {
      if (!isKnown) byId('demo').hidden = !headers.has('X-Demo')
    },
    () => {},
  )
}
