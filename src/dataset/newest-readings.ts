/**
 * The newest readings of the buoys as ready bytes, newest first: a page of them is one copy, and not of
 * shared memory, where V8 copies several times slower.
 */
import type { Segments } from '../index/segments.ts'
import { JsonWriter } from './json-writer.ts'
import { READING_BYTES, writeReadings } from './reading-json.ts'

/** Rows of a buoy that reports every half hour, in a day. */
const MOST_ROWS = 48
/** Room for the rows of some 1,300 buoys. Pages that nothing was written to take no memory. */
const ARENA_BYTES = 16 * 1024 * 1024
const MOST_SLOTS = 4096
/** Starts of rows, and the end of the last. */
const STARTS = MOST_ROWS + 1
/** Requests in a row for another snapshot after which its rows replace the kept ones. */
const TAKEOVER_REQUESTS = 256

export class NewestReadings {
  #writer: JsonWriter | null = null
  #serial = -1
  #forOthers = 0
  /** Slots by ordinal: 0 before the first request for newest readings, 1 after it, and the slot from 2 on. */
  #slots = new Uint16Array(0)
  #used = 2
  readonly #rows = new Uint8Array(MOST_SLOTS)
  #starts = new Uint32Array(0)

  /** Writes `count` readings from `position` backwards, each with a comma. @returns whether they are kept */
  write(
    out: JsonWriter,
    readings: Segments,
    ordinal: number,
    id: number,
    position: number,
    count: number,
  ): boolean {
    const skipped = readings.count(ordinal) - 1 - position
    if (skipped + count > MOST_ROWS) return false
    if (readings.serial !== this.#serial && !this.#takesOver(readings)) return false
    this.#forOthers = 0
    let slot = this.#slots[ordinal]
    if (slot < 2) {
      slot = slot === 0 ? 1 : this.#render(readings, ordinal, id)
      this.#slots[ordinal] = slot
      if (slot < 2) return false
    }
    if (skipped + count > this.#rows[slot]) return false
    const at = slot * STARTS + skipped
    out.take(this.#writer!.bytes.subarray(this.#starts[at], this.#starts[at + count]))
    return true
  }

  #takesOver(readings: Segments): boolean {
    if (this.#serial !== -1 && ++this.#forOthers < TAKEOVER_REQUESTS) return false
    this.#serial = readings.serial
    this.#writer ??= new JsonWriter(ARENA_BYTES)
    this.#writer.begin()
    if (this.#starts.length === 0) this.#starts = new Uint32Array(MOST_SLOTS * STARTS)
    this.#slots = new Uint16Array(readings.first.length - 1)
    this.#used = 2
    return true
  }

  /** @returns the slot of the buoy, or 1 where there is no room */
  #render(readings: Segments, ordinal: number, id: number): number {
    const writer = this.#writer!
    const count = readings.count(ordinal)
    const rows = Math.min(count, MOST_ROWS)
    if (this.#used === MOST_SLOTS || writer.at + rows * READING_BYTES > ARENA_BYTES) return 1
    const slot = this.#used++
    for (let row = 0; row < rows; row++) {
      const position = count - 1 - row
      const segment = readings.segmentOf(ordinal, position)
      const month = readings.months[readings.month[segment]]
      this.#starts[slot * STARTS + row] = writer.at
      writeReadings(writer, id, month, readings.from[segment] + position - readings.before[segment], -1, 1)
    }
    this.#starts[slot * STARTS + rows] = writer.at
    this.#rows[slot] = rows
    return slot
  }
}
