/**
 * Days of seasons as JSON, by code of WebAssembly that copies 16 bytes at a time (`day-writer.wat`): half a
 * megabyte takes 18 µs, where stores of eight bytes from JavaScript take 70. What lies where in its memory,
 * `day-writer-layout.ts` says.
 */
import { CODE } from './day-writer-code.ts'
import { LAYOUT } from './day-writer-layout.ts'
import type { DayValues } from '../index/aggregates.ts'
import { HUNDREDTH_TEXT, SHORT_INTEGERS } from './number-tables.ts'
import { WASM } from '../system/wasm.ts'

/** Days that are written in a call. */
export const MOST_DAYS = 96
/** More than a day takes, with its sixteen bytes that are written over. */
const DAY_BYTES = 200
/** Of what stands before a day's value. */
const MOST_HEAD_BYTES = 144
const DAYS_OF_YEAR = 366
/**
 * Texts of so many seasons are kept. Clocks of one offset and one rule have one: 25 of them over ten years.
 */
export const MOST_TEXTS = 256
const OUTPUT_AT = LAYOUT.OUTPUT
const TEXTS_AT = OUTPUT_AT + MOST_DAYS * DAY_BYTES + MOST_HEAD_BYTES
const TEXT_BYTES = DAYS_OF_YEAR * (MOST_HEAD_BYTES + 1)
const PAGE_BYTES = 65_536
/** The system gives a page when it is first written: 51 KB a text. */
const PAGES = Math.ceil((TEXTS_AT + MOST_TEXTS * TEXT_BYTES + MOST_HEAD_BYTES) / PAGE_BYTES)

type Write = (head: number, length: number, from: number, to: number, factor: number) => number

const memory = new WASM.Memory({ initial: PAGES, maximum: PAGES })
const bytes = new Uint8Array(memory.buffer)
/** The days of the season that is written, by day from its first. They are all writers' of the thread. */
export const SEASON_DAYS: DayValues = {
  value: new Int32Array(memory.buffer, LAYOUT.VALUES, DAYS_OF_YEAR),
  count: new Int32Array(memory.buffer, LAYOUT.COUNTS, DAYS_OF_YEAR),
}
bytes.set(new Uint8Array(SHORT_INTEGERS.words.buffer), LAYOUT.WHOLE_NUMBERS)
bytes.set(SHORT_INTEGERS.lengths, LAYOUT.WHOLE_NUMBERS_LENGTHS)
bytes.set(new Uint8Array(HUNDREDTH_TEXT.words.buffer), LAYOUT.HUNDREDTHS)
bytes.set(HUNDREDTH_TEXT.lengths, LAYOUT.HUNDREDTHS_LENGTHS)
const { write } = new WASM.Instance(new WASM.Module(Buffer.from(CODE, 'base64')), { days: { memory } })
  .exports as {
  write: Write
}

/** The text before each day's value, of a season. */
export interface SeasonText {
  /** Where it stands in the memory, and where the bytes of each day. */
  readonly at: number
  readonly lengthsAt: number
  /** Where each day begins, counted from the first. */
  readonly start: Uint32Array
}

/**
 * Keeps the text of a season in the place `slot`, below `MOST_TEXTS`, and forgets the one that was there.
 * `start`: where each day begins in `heads`, and where the last one ends.
 * @throws RangeError where a day has more than 144 bytes
 */
export function keepText(slot: number, heads: Uint8Array, start: Uint32Array): SeasonText {
  const at = TEXTS_AT + slot * TEXT_BYTES
  const lengthsAt = at + DAYS_OF_YEAR * MOST_HEAD_BYTES
  for (let day = 0; day + 1 < start.length; day++) {
    const length = start[day + 1] - start[day]
    if (length > MOST_HEAD_BYTES) throw new RangeError(`a day with ${length} bytes before its value`)
    bytes[lengthsAt + day] = length
  }
  bytes.set(heads, at)
  return { at, lengthsAt, start }
}

/**
 * Writes those of the days `from` to before `to` of `SEASON_DAYS`, `MOST_DAYS` at most, that have a sample.
 * @param factor hundredths that 1 of a value is
 * @returns a view on the text, which the next call overwrites
 */
export function daysText(
  { at, lengthsAt, start }: SeasonText,
  factor: number,
  from: number,
  to: number,
): Uint8Array {
  return bytes.subarray(OUTPUT_AT, write(at + start[from], lengthsAt, from, to, factor))
}
