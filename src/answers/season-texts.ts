/**
 * The days of a season as JSON. All but values and numbers of samples is the same for every buoy on the same
 * clock, so each season's text is made once a thread, with gaps of a usual width; then days whose values have
 * that width are copied together and their gaps filled in.
 */
import { Literal } from './literals.ts'
import { type JsonWriter } from './json.ts'
import { HUNDREDTHS, SHORT_INTEGERS } from './number-tables.ts'
import type { DayValues } from '../index/aggregates.ts'
import { NO_VALUE } from '../index/statistics.ts'

/** What stands of each day beside its two numbers. */
const VALUE = new Literal(',"value":')
const SAMPLE_COUNT = new Literal(',"sample_count":')
const DAY_END = new Literal('}')

/** Samples of most days have two digits: those of half-hourly and of hourly readings. */
const COUNT_DIGITS = 2
/** More than a day takes. */
const DAY_BYTES = 200
/** 57 KB each. Clocks of one offset and one rule have one text: 25 of them over ten years. */
const MOST_TEXTS = 256
/** A store of eight bytes at the last gap stays within the text. */
const SPARE_BYTES = 8
/** Up to here eight bytes at a time take less than making a view for the copy. */
const FEW_BYTES = 1024

/** The text of a season's days, each with a comma before it. */
export interface SeasonText {
  readonly bytes: Uint8Array
  /** Of the same bytes. */
  readonly view: DataView
  /** Where each day begins, and where the last one ends. */
  readonly start: Uint32Array
  /** Where the value of each day begins, counted from the day's first byte. */
  readonly value: Uint8Array
  /** Bytes of the gaps for values. */
  readonly width: number
}

// In the order in which they were made.
const kept = new Map<string, SeasonText>()

/**
 * The text of the `days` days of a season, made by `writeHead` where `key` is new: it writes what stands before
 * a day's value, beginning with a comma.
 */
export function seasonText(
  key: string,
  width: number,
  days: number,
  writer: JsonWriter,
  writeHead: (writer: JsonWriter, day: number) => void,
): SeasonText {
  let text = kept.get(key)
  if (text === undefined) {
    text = makeText(width, days, writer, writeHead)
    if (kept.size >= MOST_TEXTS) kept.delete(kept.keys().next().value!)
    kept.set(key, text)
  }
  return text
}

function makeText(
  width: number,
  days: number,
  writer: JsonWriter,
  writeHead: (writer: JsonWriter, day: number) => void,
): SeasonText {
  const start = new Uint32Array(days + 1)
  const value = new Uint8Array(days)
  // Behind what was written of the answer, which goes on from there.
  writer.ensure(days * DAY_BYTES)
  const from = writer.at
  for (let day = 0; day < days; day++) {
    const begin = writer.at
    start[day] = begin - from
    writeHead(writer, day)
    writer.literal(VALUE)
    value[day] = writer.at - begin
    writer.at += width
    writer.literal(SAMPLE_COUNT)
    writer.at += COUNT_DIGITS
    writer.literal(DAY_END)
  }
  start[days] = writer.at - from
  const bytes = new Uint8Array(start[days] + SPARE_BYTES)
  bytes.set(writer.bytes.subarray(from, writer.at))
  writer.at = from
  return { bytes, view: new DataView(bytes.buffer), start, value, width }
}

/**
 * Writes those of the days `from` to before `to` that have a sample, each with a comma before it; the first of
 * all without. `isWhole`: values are whole units, not hundredths. A day takes `DAY_BYTES` at most.
 * @returns how many it wrote
 */
export function writeDays(
  writer: JsonWriter,
  text: SeasonText,
  { value, count }: DayValues,
  isWhole: boolean,
  { from, to, isFirst }: { from: number; to: number; isFirst: boolean },
): number {
  const { width } = text
  const factor = isWhole ? 100 : 1
  const { lengths } = HUNDREDTHS
  const { lengths: digits } = SHORT_INTEGERS
  writer.ensure((to - from) * DAY_BYTES)
  let written = 0
  for (let day = from; day < to;) {
    if (count[day] === 0) {
      day++
      continue
    }
    if (isFirst && written === 0) {
      writeDay(writer, text, day, value[day], count[day], isWhole, 1)
      written++
      day++
      continue
    }
    let behind = day
    while (
      behind < to &&
      lengths[value[behind] * factor] === width &&
      digits[count[behind]] === COUNT_DIGITS
    ) {
      behind++
    }
    if (behind > day) writeRun(writer, text, day, behind, value, count, factor)
    else {
      writeDay(writer, text, day, value[day], count[day], isWhole, 0)
      behind = day + 1
    }
    written += behind - day
    day = behind
  }
  return written
}

/** Days whose numbers fit into the gaps. */
function writeRun(
  writer: JsonWriter,
  text: SeasonText,
  from: number,
  to: number,
  value: Int32Array,
  count: Int32Array,
  factor: number,
): void {
  const { start, width, value: gap } = text
  const { view, at } = writer
  const begin = start[from]
  const countGap = width + SAMPLE_COUNT.length
  copyText(writer, text, begin, start[to])
  const words = HUNDREDTHS.words
  const counts = SHORT_INTEGERS.words
  // What a store of eight bytes takes with it.
  const behind = SAMPLE_COUNT.words[0]
  for (let day = from; day < to; day++) {
    const place = at + start[day] - begin + gap[day]
    view.setFloat64(place, words[value[day] * factor], true)
    view.setFloat64(place + width, behind, true)
    view.setUint16(place + countGap, counts[count[day]], true)
  }
  writer.at = at + start[to] - begin
}

/** Any day, without the first `skipped` bytes of its text. */
function writeDay(
  writer: JsonWriter,
  text: SeasonText,
  day: number,
  value: number,
  count: number,
  isWhole: boolean,
  skipped: 0 | 1,
): void {
  const begin = text.start[day]
  const behind = begin + text.value[day]
  copyText(writer, text, begin + skipped, behind)
  writer.at += behind - begin - skipped
  if (value === NO_VALUE) writer.null()
  else if (isWhole) writer.integer(value)
  else writer.hundredths(value)
  writer.literal(SAMPLE_COUNT)
  writer.integer(count)
  writer.literal(DAY_END)
}

/** Copies a part of the text to where the writer stands, and up to seven bytes more. */
function copyText(writer: JsonWriter, { bytes, view: source }: SeasonText, from: number, to: number): void {
  const { view, at } = writer
  if (to - from > FEW_BYTES) writer.bytes.set(bytes.subarray(from, to), at)
  else {
    const shift = at - from
    for (let i = from; i < to; i += 8) view.setFloat64(i + shift, source.getFloat64(i, true), true)
  }
}
