/** The headers of one request after the other, read all at once: one by one, six of them cost as much. */
import {
  CONNECTION,
  CONTENT_LENGTH,
  framingOf,
  MOST_NAMES,
  NAMES_BY_LENGTH,
  TRANSFER_ENCODING,
} from './exchange.ts'
import type { Framing, HeaderName } from './exchange.ts'

const ASKS_TO_CLOSE = /(^|,)[ \t]*close[ \t]*(,|$)/i
const FRAMES = (1 << CONTENT_LENGTH.ordinal) | (1 << TRANSFER_ENCODING.ordinal)

/**
 * Holds the values of headers that have a `HeaderName`, each at its ordinal. To store a text that is new in
 * an object that is old costs V8 some 10 ns, so names are not held, and neither are headers that nobody asks
 * for.
 */
export class RequestHeaders {
  /** Bits by ordinal. */
  #given = 0
  /** First values by ordinal, some of requests before. */
  readonly #values = Array.from({ length: MOST_NAMES }, () => '')
  /** Headers that came before, in order. */
  readonly #repeatedOrdinals: number[] = []
  readonly #repeatedValues: string[] = []

  begin(): void {
    this.#given = 0
    if (this.#repeatedOrdinals.length === 0) return
    this.#repeatedOrdinals.length = 0
    this.#repeatedValues.length = 0
  }

  /** Takes one header; the name is in lower case. */
  readonly take = (name: string, value: string): void => {
    if (name.length >= NAMES_BY_LENGTH.length) return
    const candidates = NAMES_BY_LENGTH[name.length]
    for (let i = 0; i < candidates.length; i++) {
      const { text, ordinal } = candidates[i]
      if (text !== name) continue
      const bit = 1 << ordinal
      if ((this.#given & bit) === 0) {
        this.#given |= bit
        this.#values[ordinal] = value
      } else {
        this.#repeatedOrdinals.push(ordinal)
        this.#repeatedValues.push(value)
      }
      return
    }
  }

  /** The first value; '' where there is none. */
  first({ ordinal }: HeaderName): string {
    return (this.#given & (1 << ordinal)) === 0 ? '' : this.#values[ordinal]
  }

  /** All values in order, joined by commas; '' where there is none. */
  all(name: HeaderName): string {
    let all = this.first(name)
    for (let i = 0; i < this.#repeatedOrdinals.length; i++) {
      if (this.#repeatedOrdinals[i] === name.ordinal) all += `, ${this.#repeatedValues[i]}`
    }
    return all
  }

  get framing(): Framing {
    if ((this.#given & FRAMES) === 0) return 'no body'
    return framingOf(
      this.#times(CONTENT_LENGTH),
      this.first(CONTENT_LENGTH),
      this.#times(TRANSFER_ENCODING),
      this.first(TRANSFER_ENCODING),
    )
  }

  get asksToClose(): boolean {
    if ((this.#given & (1 << CONNECTION.ordinal)) === 0) return false
    const connection = this.all(CONNECTION)
    // What most clients say who say anything.
    return connection !== 'keep-alive' && ASKS_TO_CLOSE.test(connection)
  }

  /** How often a header came. */
  #times({ ordinal }: HeaderName): number {
    if ((this.#given & (1 << ordinal)) === 0) return 0
    return 1 + this.#repeatedOrdinals.filter((repeated) => repeated === ordinal).length
  }
}
