/**
 * The days of a season as JSON. All but values and numbers of samples is the same for every buoy on the same
 * clock, so what stands before the values of a season is made once a thread.
 */
import { daysText, keepText, MOST_TEXTS, type SeasonText } from './day-writer.ts'
import { type JsonWriter } from './json.ts'
import { Literal } from './literals.ts'

/** What stands before a day's value behind its times. */
const VALUE = new Literal(',"value":')
/** More than what stands before a day's value takes. */
const HEAD_BYTES = 200

interface Kept {
  readonly text: SeasonText
  readonly slot: number
}

// In the order in which they were made.
const kept = new Map<string, Kept>()

/**
 * The text of the `days` days of a season, made by `writeHead` where `key` is new: it writes what stands
 * before a day's value, beginning with a comma. Valid until the next text is made.
 */
export function seasonText(
  key: string,
  days: number,
  writer: JsonWriter,
  writeHead: (writer: JsonWriter, day: number) => void,
): SeasonText {
  const found = kept.get(key)
  if (found !== undefined) return found.text
  let slot = kept.size
  if (slot === MOST_TEXTS) {
    const [oldest, { slot: freed }] = kept.entries().next().value!
    kept.delete(oldest)
    slot = freed
  }
  const text = makeText(slot, days, writer, writeHead)
  kept.set(key, { text, slot })
  return text
}

function makeText(
  slot: number,
  days: number,
  writer: JsonWriter,
  writeHead: (writer: JsonWriter, day: number) => void,
): SeasonText {
  const start = new Uint32Array(days + 1)
  // Behind what was written of the answer, which goes on from there.
  writer.ensure(days * HEAD_BYTES)
  const from = writer.at
  for (let day = 0; day < days; day++) {
    start[day] = writer.at - from
    writeHead(writer, day)
    writer.literal(VALUE)
  }
  start[days] = writer.at - from
  const text = keepText(slot, writer.bytes.subarray(from, writer.at), start)
  writer.at = from
  return text
}

/**
 * Writes those of the days `from` to before `to` of `SEASON_DAYS`, `MOST_DAYS` at most, that have a sample,
 * each with a comma before it; the first of all without. `isWhole`: values are whole units, not hundredths.
 * @returns whether it wrote any
 */
export function writeDays(
  writer: JsonWriter,
  text: SeasonText,
  isWhole: boolean,
  { from, to, isFirst }: { from: number; to: number; isFirst: boolean },
): boolean {
  const days = daysText(text, isWhole ? 100 : 1, from, to)
  if (days.length === 0) return false
  writer.take(isFirst ? days.subarray(1) : days)
  return true
}
