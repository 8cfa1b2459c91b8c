/**
 * Makes a long answer in slices of half a millisecond: first to count its length, without which uws breaks if
 * the reader goes, then to be sent. A kept answer is made once, and sent from what is kept while it is.
 */
import type { JsonWriter } from '../dataset/json-writer.ts'
import { MOST_WRITE_BYTES } from './exchange.ts'
import type { Steps } from '../system/steps.ts'
import type { Piece, Producer } from './later-answers.ts'

/** Time of one slice, for which other requests wait in each round of the event loop. */
const SLICE_MS = 0.5
/** Most bytes of one step. */
const STEP_BYTES = 16 * 1024
/** A slice ends at this many bytes; one more step fits behind them. */
const FULL_BYTES = MOST_WRITE_BYTES - STEP_BYTES

const NOTHING = new Uint8Array(0)

/** Gives the same bytes each time; null when they are kept no longer. */
export type Kept = () => Uint8Array | null

export interface Slices {
  /** Empty, or used by nobody between two slices. */
  readonly writer: JsonWriter
  /** A step takes some 50 µs and writes 16 KB at most, into a writer that may begin anew. */
  steps(writer: JsonWriter): Steps<unknown>
  /** Gets the whole answer; null if it is not to be kept. @returns null if it could not be kept */
  readonly keep: ((answer: Uint8Array) => Kept | null) | null
}

export class SlicedAnswer implements Producer {
  length: number | undefined
  readonly #slices: Slices
  #steps: Steps<unknown> | null = null
  #counted = 0
  #sent = 0
  /** Bytes made once more that were sent before. */
  #skipped = 0
  /** All that was made before the length is known, if it is to be kept; then what is kept. */
  #pieces: Uint8Array[] | null
  #kept: Kept | null = null

  constructor(slices: Slices) {
    this.#slices = slices
    this.#pieces = slices.keep === null ? null : []
  }

  next(): Piece {
    if (this.#sent === this.length) return this.#end()
    const kept = this.#kept?.() ?? null
    if (kept !== null) return this.#took(kept.subarray(this.#sent, this.#sent + MOST_WRITE_BYTES))
    if (this.#kept !== null) {
      this.#kept = null
      this.#skipped = this.#sent
    }
    const { writer } = this.#slices
    writer.begin()
    const steps = (this.#steps ??= this.#slices.steps(writer))
    const end = performance.now() + SLICE_MS
    let isDone = false
    do isDone = steps.next().done === true
    while (!isDone && writer.length < FULL_BYTES && performance.now() < end)
    const made = writer.answer()
    if (this.length === undefined) return this.#count(made, isDone)
    const bytes = made.subarray(Math.min(this.#skipped, made.length))
    this.#skipped -= made.length - bytes.length
    if (isDone && this.#sent + bytes.length !== this.length)
      throw new Error('made again, an answer has another length')
    return bytes.length === 0 && !isDone ? 'going' : this.#took(bytes)
  }

  close(): void {
    this.#steps?.return(undefined)
    this.#steps = null
  }

  #count(made: Uint8Array, isDone: boolean): Piece {
    this.#counted += made.length
    this.#pieces?.push(made.slice())
    if (!isDone) return 'going'
    this.#steps = null
    this.length = this.#counted
    if (this.#pieces !== null) this.#kept = this.#slices.keep!(Buffer.concat(this.#pieces))
    this.#pieces = null
    return NOTHING
  }

  #took(bytes: Uint8Array): Uint8Array {
    this.#sent += bytes.length
    if (this.#sent > this.length!) throw new Error('made again, an answer is longer')
    return bytes
  }

  #end(): 'over' {
    // The last step may come after the last byte.
    this.close()
    return 'over'
  }
}
