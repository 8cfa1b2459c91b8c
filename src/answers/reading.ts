/**
 * The Reading: its two ids, its energy, and its bytes (contract, "Reading"). A page holds up to a hundred of
 * them, so their writer is one flat function: every literal and every number is stored eight bytes at a time,
 * and what overshoots is overwritten by what follows.
 */
import { MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import { extraMeasures, WIRE_NAMES } from './measures.ts'
import {
  COMPASS_TEXT,
  compassIndex,
  FOUR_DIGITS,
  FOUR_HEX,
  fourHex,
  HUNDREDTHS,
  SHORT_INTEGERS,
  SIGNED_HUNDREDTHS,
  THOUSANDTHS,
} from './number-tables.ts'
import { DATE_HEAD, DATE_TAIL, fillDate, MINUTE_TEXT, SECOND_TEXT } from './time-tables.ts'
import { Literal, wordsOf } from './literals.ts'
import { type JsonWriter } from './json.ts'
import type { MonthRows } from '../index/segments.ts'
import { idOf } from '../sea/numerals.ts'
import { DAY, MINUTE } from '../sea/time.ts'

/**
 * A reading's id is its buoy's id times this, plus its time in epoch seconds: below 2^53 for ids up to
 * `MAX_BUOY_ID`.
 */
export const READING_ID_FACTOR = 1e10

/** More than any reading takes in JSON. */
export const READING_BYTES = 384

const ENERGY_FACTOR = ((1 / 8) * 1025 * 9.81 * 9.81) / (2 * Math.PI) / 1000

/**
 * Energy of a wave in kJ per metre of crest, deep water: ⅛ρgH² · gT²/2π with ρ = 1025 kg/m³ and g = 9.81 m/s²
 * (decisions, "Definitions"). Height in m, period in s. Null unless both are above 0.
 */
export function waveEnergy(height: number | null, period: number | null): number | null {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  return roundedEnergy(height, period)
}

/** As `waveEnergy`, of what is above 0. */
export function roundedEnergy(height: number, period: number): number {
  return Math.round(ENERGY_FACTOR * height * height * period * period)
}

const READING_UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8000-([0-9a-f]{12})$/

/** The time that a reading's id or uuid names for this buoy, epoch seconds, or null when it names none. */
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

const DASH = 0x2d
const ID = new Literal('{"id":')
const UUID_MIDDLE = new Literal('-8000-8000-')
const HEIGHT = new Literal('","significient_height":')
/** Times in 64 bytes. */
const VALUES_PER_LINE = 16
const [END] = wordsOf('},')
const [ID_START] = wordsOf('{"id":')
const [MIDDLE_1, MIDDLE_2] = wordsOf('-8000-8000-')
const [HEIGHT_1, HEIGHT_2, HEIGHT_3] = wordsOf('","significient_height":')
const FOUR_ZEROS = 0x30303030
const [LINE_END] = wordsOf('}\n')
const [NULL] = wordsOf('null')
const [UUID_1, UUID_2] = wordsOf(',"uuid":"0000')
const [MAXIMUM_1, MAXIMUM_2, MAXIMUM_3] = wordsOf(',"maximum_height":')
const [PERIOD_1, PERIOD_2] = wordsOf(',"period":')
const [TIME] = wordsOf(',"time":')
const [TEMPERATURE_1, TEMPERATURE_2, TEMPERATURE_3] = wordsOf(',"water_temperature":')
const [DIRECTION_1, DIRECTION_2] = wordsOf(',"direction":')
const [COMPASS_1, COMPASS_2, COMPASS_3] = wordsOf(',"direction_compass":')
const [ENERGY_1, ENERGY_2, ENERGY_3, ENERGY_4] = wordsOf(',"unit":"m","energy_per_wave":')

/**
 * Writes `count` full Readings of one buoy from `row` on, `step` (1 or −1) rows apart, each followed by a
 * comma, or by the end of its line. The caller has ensured `READING_BYTES` for each.
 *
 * Flat on purpose: 20 readings take 1.2 µs; with a method for each value they took 2.9 (V8 stops inlining
 * halfway). Divisions with `>>> 0` are integer divisions; Math.floor would make them divisions of doubles.
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
  const end = asLines ? LINE_END : END
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  const [heights, heightMask] = [significantHeight.codes, significantHeight.mask]
  const [maximums, maximumMask] = [maximumHeight.codes, maximumHeight.mask]
  const [periods, periodMask] = [period.codes, period.mask]
  const [temperatures, temperatureMask] = [waterTemperature.codes, waterTemperature.mask]
  const [directions, directionMask] = [direction.codes, direction.mask]
  const [thousandths, thousandthsLength] = [THOUSANDTHS.words, THOUSANDTHS.lengths]
  const view = out.view
  let at = out.at

  // Reads one value of each cache line first, so that their misses overlap. Row "readings, 100 of 30 days"
  // of `bench/micro.bench.ts`: 15.0 µs with, 18.9 without.
  let touched = 0
  for (let i = 0; i < count; i += VALUES_PER_LINE) {
    const near = row + i * step
    touched +=
      times[near] +
      heights[near & heightMask] +
      maximums[near & maximumMask] +
      periods[near & periodMask] +
      temperatures[near & temperatureMask] +
      directions[near & directionMask]
  }
  // V8 would drop reads without a use. What is written here is overwritten.
  view.setFloat64(at, touched, true)

  // What all readings of a buoy share, `{"id":6` and `-8000-8000-000000000006","significient_height":`, is
  // laid out once where the first will stand.
  view.setFloat64(at + 8, 0, true)
  out.literal(ID)
  out.integer(buoyId)
  const headLength = out.at - at
  const head1 = view.getFloat64(at, true)
  const head2 = view.getFloat64(at + 8, true)
  out.at = at
  view.setFloat64(at + 40, 0, true)
  out.literal(UUID_MIDDLE)
  out.twelveHex(buoyId, false)
  out.literal(HEIGHT)
  const tail1 = view.getFloat64(at, true)
  const tail2 = view.getFloat64(at + 8, true)
  const tail3 = view.getFloat64(at + 16, true)
  const tail4 = view.getFloat64(at + 24, true)
  const tail5 = view.getFloat64(at + 32, true)
  const tail6 = view.getFloat64(at + 40, true)

  for (const behind = row + count * step; row !== behind; row += step) {
    const time = times[row]
    view.setFloat64(at, head1, true)
    view.setFloat64(at + 8, head2, true)
    at += headLength
    // Ten digits of the time.
    const upper = (time / 1e4) >>> 0
    const top = (upper / 1e4) >>> 0
    view.setUint16(at, FOUR_DIGITS[top] >>> 16, true)
    view.setUint32(at + 2, FOUR_DIGITS[upper - top * 1e4], true)
    view.setUint32(at + 6, FOUR_DIGITS[time - upper * 1e4], true)
    view.setFloat64(at + 10, UUID_1, true)
    view.setFloat64(at + 18, UUID_2, true)
    view.setUint32(at + 23, FOUR_HEX[time >>> 16], true)
    view.setUint8(at + 27, DASH)
    view.setUint32(at + 28, FOUR_HEX[time & 0xffff], true)
    view.setFloat64(at + 32, tail1, true)
    view.setFloat64(at + 40, tail2, true)
    view.setFloat64(at + 48, tail3, true)
    view.setFloat64(at + 56, tail4, true)
    view.setFloat64(at + 64, tail5, true)
    view.setFloat64(at + 72, tail6, true)
    const height = heights[row & heightMask]
    view.setFloat64(at + 79, thousandths[height], true)
    at += 79 + thousandthsLength[height]
    view.setFloat64(at, MAXIMUM_1, true)
    view.setFloat64(at + 8, MAXIMUM_2, true)
    view.setFloat64(at + 16, MAXIMUM_3, true)
    const maximum = maximums[row & maximumMask]
    view.setFloat64(at + 18, thousandths[maximum], true)
    at += 18 + thousandthsLength[maximum]
    view.setFloat64(at, PERIOD_1, true)
    view.setFloat64(at + 8, PERIOD_2, true)
    const periodCode = periods[row & periodMask]
    view.setFloat64(at + 10, thousandths[periodCode], true)
    at += 10 + thousandthsLength[periodCode]
    view.setFloat64(at, TIME, true)
    const day = (time / DAY) >>> 0
    if (DATE_HEAD[day] === 0) fillDate(day)
    const second = time - day * DAY
    const minute = (second / MINUTE) >>> 0
    view.setFloat64(at + 8, DATE_HEAD[day], true)
    view.setFloat64(at + 16, DATE_TAIL[day], true)
    view.setFloat64(at + 20, MINUTE_TEXT.words[minute], true)
    view.setFloat64(at + 26, SECOND_TEXT.words[second - minute * MINUTE], true)
    view.setFloat64(at + 30, TEMPERATURE_1, true)
    view.setFloat64(at + 38, TEMPERATURE_2, true)
    view.setFloat64(at + 46, TEMPERATURE_3, true)
    const temperature = temperatures[row & temperatureMask] & 0xffff
    view.setFloat64(at + 51, SIGNED_HUNDREDTHS.words[temperature], true)
    at += 51 + SIGNED_HUNDREDTHS.lengths[temperature]
    view.setFloat64(at, DIRECTION_1, true)
    view.setFloat64(at + 8, DIRECTION_2, true)
    const from = directions[row & directionMask]
    view.setFloat64(at + 13, HUNDREDTHS.words[from], true)
    at += 13 + HUNDREDTHS.lengths[from]
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
    if (height === 0 || periodCode === 0 || periodCode === MEASURES.period.missing) {
      view.setFloat64(at, NULL, true)
      at += 4
    } else {
      let energy = roundedEnergy(height / 1000, periodCode / 1000)
      if (energy >= 1e4) {
        const tenThousands = (energy / 1e4) >>> 0
        view.setUint32(at, SHORT_INTEGERS.words[tenThousands], true)
        at += SHORT_INTEGERS.lengths[tenThousands]
        energy -= tenThousands * 1e4
        view.setUint32(at, FOUR_DIGITS[energy], true)
        at += 4
      } else {
        view.setUint32(at, SHORT_INTEGERS.words[energy], true)
        at += SHORT_INTEGERS.lengths[energy]
      }
    }
    view.setFloat64(at, end, true)
    at += 2
  }
  out.at = at
}

/**
 * Writes the full Reading of one row. The caller has ensured `READING_BYTES`. Without what `writeReadings` prepares for
 * many, and with small tables in place of large ones.
 */
export function writeReading(
  out: JsonWriter,
  buoyId: number,
  { time: times, measures }: MonthRows,
  row: number,
): void {
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  // All reads first, so that their misses overlap.
  const time = times[row]
  const height = significantHeight.codes[row & significantHeight.mask]
  const maximum = maximumHeight.codes[row & maximumHeight.mask]
  const periodCode = period.codes[row & period.mask]
  const temperature = waterTemperature.codes[row & waterTemperature.mask] & 0xffff
  const from = direction.codes[row & direction.mask]
  const view = out.view
  view.setFloat64(out.at, ID_START, true)
  out.at += ID.length
  out.integer(buoyId)
  out.tenDigits(time)
  let at = out.at
  view.setFloat64(at, UUID_1, true)
  view.setFloat64(at + 8, UUID_2, true)
  view.setUint32(at + 13, fourHex(time >>> 16), true)
  view.setUint8(at + 17, DASH)
  view.setUint32(at + 18, fourHex(time & 0xffff), true)
  view.setFloat64(at + 22, MIDDLE_1, true)
  view.setFloat64(at + 30, MIDDLE_2, true)
  // Ids take at most 20 bits.
  view.setUint32(at + 33, FOUR_ZEROS, true)
  view.setUint32(at + 37, fourHex(buoyId >>> 16), true)
  view.setUint32(at + 41, fourHex(buoyId & 0xffff), true)
  view.setFloat64(at + 45, HEIGHT_1, true)
  view.setFloat64(at + 53, HEIGHT_2, true)
  view.setFloat64(at + 61, HEIGHT_3, true)
  view.setFloat64(at + 69, THOUSANDTHS.words[height], true)
  at += 69 + THOUSANDTHS.lengths[height]
  view.setFloat64(at, MAXIMUM_1, true)
  view.setFloat64(at + 8, MAXIMUM_2, true)
  view.setFloat64(at + 16, MAXIMUM_3, true)
  view.setFloat64(at + 18, THOUSANDTHS.words[maximum], true)
  at += 18 + THOUSANDTHS.lengths[maximum]
  view.setFloat64(at, PERIOD_1, true)
  view.setFloat64(at + 8, PERIOD_2, true)
  view.setFloat64(at + 10, THOUSANDTHS.words[periodCode], true)
  at += 10 + THOUSANDTHS.lengths[periodCode]
  view.setFloat64(at, TIME, true)
  out.at = at + 8
  out.timestamp(time)
  at = out.at
  view.setFloat64(at, TEMPERATURE_1, true)
  view.setFloat64(at + 8, TEMPERATURE_2, true)
  view.setFloat64(at + 16, TEMPERATURE_3, true)
  view.setFloat64(at + 21, SIGNED_HUNDREDTHS.words[temperature], true)
  at += 21 + SIGNED_HUNDREDTHS.lengths[temperature]
  view.setFloat64(at, DIRECTION_1, true)
  view.setFloat64(at + 8, DIRECTION_2, true)
  view.setFloat64(at + 13, HUNDREDTHS.words[from], true)
  at += 13 + HUNDREDTHS.lengths[from]
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
  out.at = at + 30
  if (height === 0 || periodCode === 0 || periodCode === MEASURES.period.missing) out.null()
  else out.integer(roundedEnergy(height / 1000, periodCode / 1000))
  view.setFloat64(out.at++, END, true)
}

const EXTRA_LITERALS = new Map(
  MEASURE_NAMES.map((name) => [name, new Literal(`,"${WIRE_NAMES[name]}":`)] as const),
)

/** More than all that `include` can add to a reading takes. */
const EXTRA_BYTES = 160

/** Adds what `included` (see `extraMeasures`) names to the reading that was written last. */
export function addExtras(out: JsonWriter, { measures }: MonthRows, row: number, included: number): void {
  out.ensure(EXTRA_BYTES)
  // Before its closing brace.
  out.at--
  for (const name of extraMeasures(included)) {
    const { codes, mask } = measures[name]
    out.literal(EXTRA_LITERALS.get(name)!)
    out.entry(MEASURES[name].scale === 1000 ? THOUSANDTHS : HUNDREDTHS, codes[row & mask])
  }
  out.text('}')
}

const UUID_ALONE = new Literal('{"uuid":"')
const MAXIMUM_HEIGHT = new Literal(',"maximum_height":')
const PERIOD = new Literal(',"period":')
const TIME_KEY = new Literal(',"time":')
const WATER_TEMPERATURE = new Literal(',"water_temperature":')
const DIRECTION = new Literal(',"direction":')
const UNIT_END = new Literal(',"unit":"m"}')

/** Writes the subset of a Reading that is embedded in buoy lists and details. */
export function writeReadingSubset(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = rows.measures
  const time = rows.time[row]
  out.literal(UUID_ALONE)
  out.twelveHex(time, true)
  out.literal(UUID_MIDDLE)
  out.twelveHex(buoyId, false)
  out.literal(HEIGHT)
  out.entry(THOUSANDTHS, significantHeight.codes[row & significantHeight.mask])
  out.literal(MAXIMUM_HEIGHT)
  out.entry(THOUSANDTHS, maximumHeight.codes[row & maximumHeight.mask])
  out.literal(PERIOD)
  out.entry(THOUSANDTHS, period.codes[row & period.mask])
  out.literal(TIME_KEY)
  out.timestamp(time)
  out.literal(WATER_TEMPERATURE)
  out.entry(SIGNED_HUNDREDTHS, waterTemperature.codes[row & waterTemperature.mask] & 0xffff)
  out.literal(DIRECTION)
  out.entry(HUNDREDTHS, direction.codes[row & direction.mask])
  out.literal(UNIT_END)
}
