/** The banner at the top of the page: what is wrong, and when the page goes on by itself. */
import type { Api, ApiTrouble } from './api.ts'
import { byId, element } from './dom.ts'
import { clockTime, duration, viewerZone } from './format.ts'

/** Clocks differ: the page waits a little longer than the server asks. */
const MARGIN_MS = 1000
/** A clock that is wrong must not make the page ask all the time. */
const LEAST_WAIT_MS = 1000

export class Banner {
  readonly #api: Api
  readonly #clock: () => number
  readonly #onRetry: () => void
  #timer = 0

  /**
   * `clock` gives epoch milliseconds. `onRetry` is called when it is time, or when the visitor asks for it.
   */
  constructor(api: Api, clock: () => number, onRetry: () => void) {
    this.#api = api
    this.#clock = clock
    this.#onRetry = onRetry
  }

  show(trouble: ApiTrouble): void {
    const banner = byId('banner')
    banner.hidden = false
    banner.replaceChildren(
      element('span', {}, this.#textOf(trouble)),
      element('button', { type: 'button', onclick: this.#onRetry }, 'Try now'),
    )
    clearTimeout(this.#timer)
    if (trouble.again !== null) {
      const wait = Math.max(LEAST_WAIT_MS, trouble.again - this.#clock() + MARGIN_MS)
      this.#timer = setTimeout(this.#onRetry, wait)
    }
  }

  hide(): void {
    clearTimeout(this.#timer)
    byId('banner').hidden = true
  }

  #textOf({ kind, again }: ApiTrouble): string {
    if (kind === 'quota' && again !== null) {
      const { quota } = this.#api
      const count = quota === null ? '' : `${quota.limit.toLocaleString('en')} `
      const wait = duration((again - this.#clock()) / 1000)
      const at = clockTime(new Date(again), viewerZone())
      const next = `The page continues by itself at ${at}, in ${wait}.`
      return `This hour’s ${count}requests are used up. ${next}`
    }
    if (kind === 'offline') {
      return 'No connection to the server. What you see may be out of date; the page keeps trying.'
    }
    return 'The server cannot answer right now. The page keeps trying.'
  }
}
