/** The time by the server: the clock of a visitor's machine may be hours or days wrong. */

/** Answers may have been on their way, or in a shared cache, for as long as they are fresh. */
const TOLERANCE_MS = 90_000

export class ServerClock {
  readonly #own: () => number
  #aheadMs = 0

  /** `own` gives epoch milliseconds by the visitor's machine. */
  constructor(own: () => number) {
    this.#own = own
  }

  /** Epoch milliseconds by the server, as far as it is known. */
  readonly now = (): number => this.#own() + this.#aheadMs

  /** Takes the `Date` of an answer that has just come. A small difference is none. */
  learn(date: string): void {
    const ahead = Date.parse(date) - this.#own()
    if (Number.isFinite(ahead)) this.#aheadMs = Math.abs(ahead) < TOLERANCE_MS ? 0 : ahead
  }
}
