/** The Reading: its ids, and its bytes where it stands alone (contract, "Reading"). */
import { MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import { extraMeasures, WIRE_NAMES } from './wire-measures.ts'
import {
  COMPASS_TEXT,
  compassIndex,
  fourHex,
  HUNDREDTHS,
  SHORT_INTEGERS,
  THOUSANDTHS,
  writeHundredths,
  writeSignedHundredths,
  writeTenDigits,
  writeThousandths,
} from './number-text.ts'
import { roundedEnergy } from './energy.ts'
import { Literal, wordsOf } from './literals.ts'
import { writeTime } from './time-text.ts'
import type { JsonWriter } from './json-writer.ts'
import type { MonthRows } from '../index/segments.ts'
import { idOf } from '../sea/numerals.ts'

/** A reading's id is its buoy's id times this plus epoch seconds: below 2^53 up to `MAX_BUOY_ID`. */
export const READING_ID_FACTOR = 1e10

/** More than any reading takes in JSON. */
export const READING_BYTES = 384

const READING_UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8000-([0-9a-f]{12})$/

/** Epoch seconds of a reading's id or uuid; null when it names none of this buoy. */
export function readingTime(text: string, buoyId: number): number | null {
  const id = idOf(text)
  if (id >= 0) {
    const epoch = id - buoyId * READING_ID_FACTOR
    return epoch >= 0 && epoch < READING_ID_FACTOR ? epoch : null
  }
  const match = READING_UUID.exec(text.toLowerCase())
  return match !== null && Number.parseInt(match[3], 16) === buoyId
    ? Number.parseInt(match[1] + match[2], 16)
    : null
}

const QUOTE = 0x22
const DASH = 0x2d
const COMMA = 0x2c
const LINE_END = 0x0a
const [END] = wordsOf('}')
const [ID] = wordsOf('{"id":')
const [MIDDLE_1, MIDDLE_2] = wordsOf('-8000-8000-')
const [HEIGHT_1, HEIGHT_2, HEIGHT_3] = wordsOf('","significient_height":')
const [UUID_1, UUID_2] = wordsOf(',"uuid":"0000')
const [MAXIMUM_1, MAXIMUM_2, MAXIMUM_3] = wordsOf(',"maximum_height":')
const [PERIOD_1, PERIOD_2] = wordsOf(',"period":')
const [TIME] = wordsOf(',"time":')
const [TEMPERATURE_1, TEMPERATURE_2, TEMPERATURE_3] = wordsOf('","water_temperature":')
const [DIRECTION_1, DIRECTION_2] = wordsOf(',"direction":')
const [COMPASS_1, COMPASS_2, COMPASS_3] = wordsOf(',"direction_compass":')
const [ENERGY_1, ENERGY_2, ENERGY_3, ENERGY_4] = wordsOf(',"unit":"m","energy_per_wave":')

/**
 * Writes `count` full Readings of one buoy from `row` on, `step` (1 or −1) rows apart, each followed by a
 * comma, or by the end of its line. The caller has ensured `READING_BYTES` for each.
 */
export function writeReadings(
  out: JsonWriter,
  buoyId: number,
  { time: times, measures }: MonthRows,
  row: number,
  step: number,
  count: number,
  asLines = false,
): void {
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  const [heights, heightMask] = [significantHeight.codes, significantHeight.mask]
  const [maximums, maximumMask] = [maximumHeight.codes, maximumHeight.mask]
  const [periods, periodMask] = [period.codes, period.mask]
  const [temperatures, temperatureMask] = [waterTemperature.codes, waterTemperature.mask]
  const [directions, directionMask] = [direction.codes, direction.mask]
  const end = asLines ? LINE_END : COMMA
  const { view } = out
  let { at } = out
  // What all rows have in common is put together once, where the first of them goes. Zeros behind the id keep
  // its words from being a NaN.
  view.setFloat64(at, ID, true)
  view.setFloat64(at + 8, 0, true)
  out.at = at + 6
  out.integer(buoyId)
  const idLength = out.at - at
  const id1 = view.getFloat64(at, true)
  const id2 = view.getFloat64(at + 8, true)
  view.setFloat64(at, MIDDLE_1, true)
  view.setFloat64(at + 8, MIDDLE_2, true)
  out.at = at + 11
  out.twelveHex(buoyId, false)
  view.setFloat64(at + 23, HEIGHT_1, true)
  view.setFloat64(at + 31, HEIGHT_2, true)
  view.setFloat64(at + 39, HEIGHT_3, true)
  const uuid1 = view.getFloat64(at, true)
  const uuid2 = view.getFloat64(at + 8, true)
  const uuid3 = view.getFloat64(at + 16, true)
  const uuid4 = view.getFloat64(at + 24, true)
  const uuid5 = view.getFloat64(at + 32, true)
  const uuid6 = view.getFloat64(at + 40, true)
  for (let i = 0; i < count; i++, row += step) {
    // All reads come first, so that their misses overlap.
    const time = times[row]
    const height = heights[row & heightMask]
    const maximum = maximums[row & maximumMask]
    const periodCode = periods[row & periodMask]
    const temperature = temperatures[row & temperatureMask]
    const from = directions[row & directionMask]
    view.setFloat64(at, id1, true)
    view.setFloat64(at + 8, id2, true)
    at += idLength
    writeTenDigits(view, at, time)
    view.setFloat64(at + 10, UUID_1, true)
    view.setFloat64(at + 18, UUID_2, true)
    view.setUint32(at + 23, fourHex(time >>> 16), true)
    view.setUint8(at + 27, DASH)
    view.setUint32(at + 28, fourHex(time & 0xffff), true)
    view.setFloat64(at + 32, uuid1, true)
    view.setFloat64(at + 40, uuid2, true)
    view.setFloat64(at + 48, uuid3, true)
    view.setFloat64(at + 56, uuid4, true)
    view.setFloat64(at + 64, uuid5, true)
    view.setFloat64(at + 72, uuid6, true)
    at = writeThousandths(view, at + 79, height)
    view.setFloat64(at, MAXIMUM_1, true)
    view.setFloat64(at + 8, MAXIMUM_2, true)
    view.setFloat64(at + 16, MAXIMUM_3, true)
    at = writeThousandths(view, at + 18, maximum)
    view.setFloat64(at, PERIOD_1, true)
    view.setFloat64(at + 8, PERIOD_2, true)
    at = writeThousandths(view, at + 10, periodCode)
    view.setFloat64(at, TIME, true)
    view.setUint8(at + 8, QUOTE)
    writeTime(view, at + 9, time)
    view.setFloat64(at + 29, TEMPERATURE_1, true)
    view.setFloat64(at + 37, TEMPERATURE_2, true)
    view.setFloat64(at + 45, TEMPERATURE_3, true)
    at = writeSignedHundredths(view, at + 51, temperature)
    view.setFloat64(at, DIRECTION_1, true)
    view.setFloat64(at + 8, DIRECTION_2, true)
    at = writeHundredths(view, at + 13, from)
    view.setFloat64(at, COMPASS_1, true)
    view.setFloat64(at + 8, COMPASS_2, true)
    view.setFloat64(at + 16, COMPASS_3, true)
    const point = compassIndex(from)
    view.setFloat64(at + 21, COMPASS_TEXT.words[point], true)
    at += 21 + COMPASS_TEXT.lengths[point]
    view.setFloat64(at, ENERGY_1, true)
    view.setFloat64(at + 8, ENERGY_2, true)
    view.setFloat64(at + 16, ENERGY_3, true)
    view.setFloat64(at + 24, ENERGY_4, true)
    at += 30
    const isKnown = height !== 0 && periodCode !== 0 && periodCode !== MEASURES.period.missing
    const energy = isKnown ? roundedEnergy(height / 1000, periodCode / 1000) : -1
    if (energy >= 0 && energy < 1e4) {
      view.setUint32(at, SHORT_INTEGERS.words[energy | 0], true)
      at += SHORT_INTEGERS.lengths[energy | 0]
    } else {
      out.at = at
      if (energy === -1) out.null()
      else out.integer(energy)
      at = out.at
    }
    view.setFloat64(at, END, true)
    view.setUint8(at + 1, end)
    at += 2
  }
  out.at = at
}

/** Writes the full Reading of one row. The caller has ensured `READING_BYTES`. */
export function writeReading(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  writeReadings(out, buoyId, rows, row, 1, 1)
  out.at--
}

const EXTRA_LITERALS = new Map(
  MEASURE_NAMES.map((name) => [name, new Literal(`,"${WIRE_NAMES[name]}":`)] as const),
)

/** More than all that `include` can add to a reading takes. */
const EXTRA_BYTES = 160

/** Adds what `included` (see `extraMeasures`) names to the reading that was written last. */
export function addExtras(out: JsonWriter, { measures }: MonthRows, row: number, included: number): void {
  out.ensure(EXTRA_BYTES)
  out.at--
  for (const name of extraMeasures(included)) {
    const { codes, mask } = measures[name]
    out.literal(EXTRA_LITERALS.get(name)!)
    out.entry(MEASURES[name].scale === 1000 ? THOUSANDTHS : HUNDREDTHS, codes[row & mask])
  }
  out.text('}')
}
