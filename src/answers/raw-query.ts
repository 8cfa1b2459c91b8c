/** The text of a query taken apart into names and values, which are still encoded. */
import { isWord } from './value-text.ts'

const AMPERSAND = 0x26
const EQUALS = 0x3d
const PERCENT = 0x25
const PLUS = 0x2b

const SMALL_A = 0x61
const SMALL_F = 0x66
const SMALL_I = 0x69
const SMALL_L = 0x6c
const SMALL_U = 0x75
/** Of `format`, `fields` and `layout`, and of `units`. */
const SHAPES_LENGTH = 6
const UNITS_LENGTH = 5
const INCLUDE_LENGTH = 7

/** Bits of `#encoded`. */
const NAME_ENCODED = 1
const VALUE_ENCODED = 2

/**
 * Where names and values stand in a query, found in one pass. One object serves request after request: it
 * holds numbers alone, since texts cut out of a query would be most of a request's garbage.
 */
export class RawQuery {
  text = ''
  length = 0
  /** Whether a name may be one of `format`, `fields`, `layout`, `units` and `include`. */
  mayShape = false
  readonly #nameFrom: number[] = []
  readonly #nameTo: number[] = []
  readonly #valueTo: number[] = []
  readonly #encoded: number[] = []

  split(query: string): void {
    this.text = query
    this.length = 0
    this.mayShape = false
    let from = 0
    let equals = -1
    let encoded = 0
    for (let at = 0; at < query.length; at++) {
      const unit = query.charCodeAt(at)
      if (unit > EQUALS) continue
      if (unit === AMPERSAND) {
        if (at > from) this.#add(from, equals === -1 ? at : equals, at, encoded)
        from = at + 1
        equals = -1
        encoded = 0
      } else if (unit === EQUALS) {
        if (equals === -1) equals = at
      } else if (unit === PERCENT || unit === PLUS) encoded |= equals === -1 ? NAME_ENCODED : VALUE_ENCODED
    }
    if (query.length > from) this.#add(from, equals === -1 ? query.length : equals, query.length, encoded)
  }

  /** Makes it an empty query. */
  clear(): void {
    this.length = 0
    this.mayShape = false
  }

  #add(from: number, nameTo: number, valueTo: number, encoded: number): void {
    const at = this.length++
    this.#nameFrom[at] = from
    this.#nameTo[at] = nameTo
    this.#valueTo[at] = valueTo
    this.#encoded[at] = encoded
    const length = nameTo - from
    if (length === SHAPES_LENGTH) {
      const first = this.text.charCodeAt(from)
      // Not `locale`, which has as many.
      const isLike = first === SMALL_F || (first === SMALL_L && this.text.charCodeAt(from + 1) === SMALL_A)
      if (isLike) this.mayShape = true
    } else if (length === INCLUDE_LENGTH) {
      if (this.text.charCodeAt(from) === SMALL_I) this.mayShape = true
    } else if (length === UNITS_LENGTH && this.text.charCodeAt(from) === SMALL_U) this.mayShape = true
    if ((encoded & NAME_ENCODED) !== 0) this.mayShape = true
  }

  /** Where value `i` begins in `text`. It is empty when it begins where it ends. */
  valueFrom(i: number): number {
    return Math.min(this.#nameTo[i] + 1, this.#valueTo[i])
  }

  valueTo(i: number): number {
    return this.#valueTo[i]
  }

  /** Name `i` decoded, or null when it cannot be. */
  name(i: number): string | null {
    return decode(this.text.slice(this.#nameFrom[i], this.#nameTo[i]))
  }

  isNamed(i: number, name: string): boolean {
    const from = this.#nameFrom[i]
    const to = this.#nameTo[i]
    if ((this.#encoded[i] & NAME_ENCODED) !== 0) return decode(this.text.slice(from, to)) === name
    return isWord(name, this.text, from, to)
  }

  /** As `isNamed` of a name by its characters: comparing them takes less than `startsWith`. */
  isSpelled(i: number, name: string, codes: Uint16Array): boolean {
    const from = this.#nameFrom[i]
    if ((this.#encoded[i] & NAME_ENCODED) !== 0) return this.isNamed(i, name)
    if (this.#nameTo[i] - from !== codes.length) return false
    const { text } = this
    for (let k = 0; k < codes.length; k++) if (text.charCodeAt(from + k) !== codes[k]) return false
    return true
  }

  /** Whether value `i` must be decoded before it means anything. */
  isEncoded(i: number): boolean {
    return (this.#encoded[i] & VALUE_ENCODED) !== 0
  }

  /** Value `i` decoded, or null when it cannot be. */
  value(i: number): string | null {
    return decode(this.text.slice(this.valueFrom(i), this.valueTo(i)))
  }

  /**
   * The decoded value of a parameter, '' when it is absent, null when it is given more than once or cannot be
   * decoded.
   */
  get(name: string): string | null {
    let found = ''
    for (let i = 0; i < this.length; i++) {
      if (this.valueFrom(i) === this.valueTo(i) || !this.isNamed(i, name)) continue
      if (found !== '') return null
      const value = this.value(i)
      if (value === null) return null
      found = value
    }
    return found
  }
}

/** Percent-decoded text with `+` as a blank, or null when the encoding is broken. */
function decode(encoded: string): string | null {
  const plain = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return null
  }
}
