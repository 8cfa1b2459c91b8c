/** Says whether what the page shows is current: a dot with a word, and how old it is where nobody knows. */
import { byId, element } from '../dom.ts'
import { duration } from '../format.ts'
import type { LiveState } from './live.ts'

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
    // Up to now it was.
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
