/** What answers say of their time, made once a second: the tail that tells it, and how long they may be kept. */
import { MINUTE } from '../sea/time.ts'
import { tailAt } from './envelope.ts'

/** A snapshot may be published at any time; nobody is to see an old one for longer. */
const LONGEST_LIFETIME_SECONDS = 60

export interface Moment {
  /** Epoch seconds. */
  readonly second: number
  readonly tail: Uint8Array
  /** Seconds until the next snapshot is expected, at most a minute. */
  readonly lifetime: number
}

export class Moments {
  readonly #refreshEvery: number
  #last: Moment = { second: -1, tail: new Uint8Array(0), lifetime: 0 }

  /** `refreshEvery`: seconds between scheduled builds, which begin at multiples of it; 0 without a schedule. */
  constructor(refreshEvery: number) {
    this.#refreshEvery = refreshEvery
  }

  /** `now`: epoch seconds with a fraction. */
  at(now: number): Moment {
    const second = Math.floor(now)
    if (second !== this.#last.second) {
      const lifetime = Math.min(LONGEST_LIFETIME_SECONDS, this.#untilRefresh(second))
      this.#last = { second, tail: tailAt(second), lifetime }
    }
    return this.#last
  }

  /**
   * Seconds that an answer may be kept. `minute`: the one that it is about, as it is wrong in the next; 0 for any.
   * `swapsLeft`: how many swaps a pinned snapshot will at least be held, 1 until the next; 0 where none is pinned.
   */
  lifetimeOf({ second, lifetime }: Moment, minute: number, swapsLeft: number): number {
    const refreshEvery = this.#refreshEvery
    const isPinned = swapsLeft > 0 && refreshEvery > 0
    const held = isPinned ? this.#untilRefresh(second) + (swapsLeft - 1) * refreshEvery : lifetime
    return minute === 0 ? held : Math.min(held, MINUTE - (second % MINUTE))
  }

  #untilRefresh(second: number): number {
    const refreshEvery = this.#refreshEvery
    return refreshEvery === 0 ? Infinity : refreshEvery - (second % refreshEvery)
  }
}
