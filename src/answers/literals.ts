/**
 * ASCII text ready to be stored eight bytes at a time: as doubles, and as tables of short texts by index.
 *
 * ASCII in a double is never a NaN (its exponent would need a byte above 0x7f), so no bits change on the way.
 */

const COMMA = 0x2c

const ENCODER = new TextEncoder()
const WORD = new Float64Array(1)
const WORD_BYTES = new Uint8Array(WORD.buffer)

/** Up to eight ASCII characters as the double whose little-endian bytes they are. */
export function word(text: string): number {
  ENCODER.encodeInto(text, WORD_BYTES.fill(0))
  return WORD[0]
}

/** ASCII text as doubles of eight bytes each, the last padded with zeros. */
export function wordsOf(text: string): Float64Array {
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8)
  ENCODER.encodeInto(text, padded)
  return new Float64Array(padded.buffer)
}

/** ASCII text of any length, ready to be stored eight bytes at a time. */
export class Literal {
  readonly words: Float64Array
  readonly length: number

  constructor(text: string) {
    this.words = wordsOf(text)
    this.length = text.length
  }
}

/** Short texts by index: one store each, with a comma behind for lists. */
export class TextTable {
  readonly words: Float64Array
  readonly lengths: Uint8Array

  /** @param text at most eight ASCII characters for each index below `size`; seven for lists */
  constructor(size: number, text: (index: number) => string) {
    this.words = new Float64Array(size)
    this.lengths = new Uint8Array(size)
    // Straight into place: an array and a view for each entry made the tables four fifths of a thread's time
    // to import this file.
    const bytes = new Uint8Array(this.words.buffer)
    for (let index = 0; index < size; index++) {
      const entry = text(index)
      for (let i = 0; i < entry.length; i++) bytes[index * 8 + i] = entry.charCodeAt(i)
      if (entry.length < 8) bytes[index * 8 + entry.length] = COMMA
      this.lengths[index] = entry.length
    }
  }
}

/** A whole number with leading zeros. */
export function padded(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
