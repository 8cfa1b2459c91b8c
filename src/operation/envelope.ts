/**
 * The envelope of every answer, `{"status":"success","data":…,"meta":{…,"timestamp":"…"}}`. Its tail with the
 * time, and how long an answer may be kept, are made once a second.
 */
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { META, PRELUDE_BYTES } from './operation.ts'
import type { Paging, Pieces } from '../dataset/table.ts'
import type { View } from '../dataset/view.ts'
import { timestampText } from '../sea/time.ts'

const ENVELOPE_START = new Literal('{"status":"success","data":')
const SNAPSHOT = new Literal('"snapshot":"')
const SNAPSHOT_END = new Literal('",')
const TIMESTAMP = new Literal('"timestamp":')
const ENVELOPE_END = new Literal('}}')

/** More than the bytes after the data and the members of `meta`. */
const ENVELOPE_END_BYTES = 128

/** `2026-03-27T09:00:00Z"}}` ends every answer: the bytes of a kept one that change. */
export const TAIL_BYTES = 23

const ENCODER = new TextEncoder()

/** `second`: epoch seconds. */
function tailAt(second: number): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(`${timestampText(second)}"}}`)
}

/** Begins an answer, whose data an operation is to write into the view's writer. */
export function beginAnswer({ fragments: { writer } }: View): void {
  writer.begin()
  writer.ensure(PRELUDE_BYTES)
  writer.literal(ENVELOPE_START)
}

/** `second`: epoch seconds. `pin`: id of the pinned snapshot, which a list names. */
export function endAnswer(writer: JsonWriter, begun: Paging | void, second: number, pin = ''): void {
  writer.ensure(ENVELOPE_END_BYTES)
  if (begun === undefined) writer.literal(META)
  else if (pin !== '') {
    writer.literal(SNAPSHOT)
    writer.text(pin)
    writer.literal(SNAPSHOT_END)
  }
  writer.literal(TIMESTAMP)
  writer.timestamp(second)
  writer.literal(ENVELOPE_END)
}

/** A whole answer around the pieces of its `data`. With a `paging` the pieces begin `meta`, too. */
export function enveloped(data: Pieces, paging: Paging | undefined, second: number, pin: string): Pieces {
  let hasBegun = false
  return {
    next(writer) {
      if (!hasBegun) {
        writer.ensure(PRELUDE_BYTES)
        writer.literal(ENVELOPE_START)
      }
      hasBegun = true
      const isLast = data.next(writer)
      if (isLast) endAnswer(writer, paging, second, pin)
      return isLast
    },
  }
}

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

  /**
   * `refreshEvery`: seconds between scheduled builds, which begin at multiples of it; 0 without a schedule.
   */
  constructor(refreshEvery: number) {
    this.#refreshEvery = refreshEvery
  }

  /** `now`: epoch seconds with a fraction. */
  momentAt(now: number): Moment {
    const second = Math.floor(now)
    if (second !== this.#last.second) {
      const lifetime = Math.min(LONGEST_LIFETIME_SECONDS, this.#untilRefresh(second))
      this.#last = { second, tail: tailAt(second), lifetime }
    }
    return this.#last
  }

  /**
   * Seconds that an answer may be kept. `until`: the epoch second until which it holds, 0 for ever.
   * `swapsLeft`: how many swaps a pinned snapshot will at least be held, 1 until the next; 0 where none is
   * pinned.
   */
  lifetimeOf({ second, lifetime }: Moment, until: number, swapsLeft: number): number {
    const refreshEvery = this.#refreshEvery
    const isPinned = swapsLeft > 0 && refreshEvery > 0
    const held = isPinned ? this.#untilRefresh(second) + (swapsLeft - 1) * refreshEvery : lifetime
    return until === 0 ? held : Math.min(held, until - second)
  }

  #untilRefresh(second: number): number {
    const refreshEvery = this.#refreshEvery
    return refreshEvery === 0 ? Infinity : refreshEvery - (second % refreshEvery)
  }
}
