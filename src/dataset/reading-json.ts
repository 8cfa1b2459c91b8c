/** The Reading: its ids, and its bytes as an answer of its own. */
import { MEASURE_NAMES, type MeasureName, MEASURES, SWELL_NAMES, WEATHER_NAMES } from '../sea/columns.ts'
import {
  codeTexts,
  COMPASS_TEXT,
  compassIndex,
  FOUR_DIGITS,
  fourHex,
  HUNDREDTHS,
  SIGNED_HUNDREDTHS,
  THOUSANDTHS,
  writeTime,
} from './number-text.ts'
import { Literal, wordsOf } from './literals.ts'
import { JsonWriter } from './json-writer.ts'
import type { MonthRow, MonthRows, MonthRun } from '../index/segments.ts'
import { idOf } from '../sea/numerals.ts'

/** Measures under their names on the wire. */
export const WIRE_NAMES: { readonly [name in MeasureName]: string } = {
  significantHeight: 'significient_height',
  maximumHeight: 'maximum_height',
  period: 'period',
  peakPeriod: 'peak_period',
  direction: 'direction',
  waterTemperature: 'water_temperature',
  windSpeed: 'wind_speed',
  windDirection: 'wind_direction',
  gustSpeed: 'gust_speed',
  swellHeight: 'swell_height',
  swellPeriod: 'swell_period',
  swellDirection: 'swell_direction',
  windWaveHeight: 'wind_wave_height',
  windWavePeriod: 'wind_wave_period',
  windWaveDirection: 'wind_wave_direction',
  airTemperature: 'air_temperature',
  dewPoint: 'dew_point',
  pressure: 'pressure',
  humidity: 'humidity',
  visibility: 'visibility',
}

/** Words of `include`, each for measures that it adds to a reading, in the order of `EXTRAS`. */
export const EXTRA_GROUPS = ['wind', 'peak_period', 'swell', 'weather'] as const
/** Another word of `include`, for items with one buoy. */
export const SPECTRUM = 'spectrum'
/** The bit after that of `usual`, which more operations offer. */
export const INCLUDES_SPECTRUM = 1 << (EXTRA_GROUPS.length + 1)
const EXTRAS: readonly [group: (typeof EXTRA_GROUPS)[number], measures: readonly MeasureName[]][] = [
  ['peak_period', ['peakPeriod']],
  ['wind', ['windSpeed', 'windDirection', 'gustSpeed']],
  ['swell', SWELL_NAMES],
  ['weather', WEATHER_NAMES],
]

/** The measures that `included`, bits by `EXTRA_GROUPS`, adds to a reading. */
export function extraMeasures(included: number | undefined): MeasureName[] {
  return EXTRAS.flatMap(([group, measures]) =>
    (((included ?? 0) >> EXTRA_GROUPS.indexOf(group)) & 1) === 1 ? measures : [],
  )
}

/**
 * Energy of a wave of 1 m and 1 s in deep water, kJ per metre of crest: ⅛ρgH² · gT²/2π, ρ 1025 kg/m³, g 9.81
 * m/s².
 */
const ENERGY_FACTOR = ((1 / 8) * 1025 * 9.81 * 9.81) / (2 * Math.PI) / 1000
/** kJ per metre of crest, from a height in m and a period in s. Null unless both are above 0. */
export function waveEnergy(height: number | null, period: number | null): number | null {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  return roundedEnergy(height, period)
}

/** As `waveEnergy` for a height and a period above 0, rounded. */
export function roundedEnergy(height: number, period: number): number {
  return Math.round(ENERGY_FACTOR * height * height * period * period)
}

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

const DASH = 0x2d
const COMMA = 0x2c
const QUOTE = 0x22
const FOUR_ZEROS = 0x30303030
const ID = new Literal('{"id":')
/**
 * The text before the value of each other member, eight bytes each, as constants that V8 writes into its
 * code. Two of them have a part of a value: zeros, a quote.
 */
const [UUID_1, UUID_2] = wordsOf(',"uuid":"0000')
const [MIDDLE_1, MIDDLE_2] = wordsOf('-8000-8000-')
const [HEIGHT_1, HEIGHT_2, HEIGHT_3] = wordsOf('","significient_height":')
const [MAXIMUM_1, MAXIMUM_2, MAXIMUM_3] = wordsOf(',"maximum_height":')
const [PERIOD_1, PERIOD_2] = wordsOf(',"period":')
const [TIME] = wordsOf(',"time":')
const [TEMPERATURE_1, TEMPERATURE_2, TEMPERATURE_3] = wordsOf('","water_temperature":')
const [DIRECTION_1, DIRECTION_2] = wordsOf(',"direction":')
const [COMPASS_1, COMPASS_2, COMPASS_3] = wordsOf(',"direction_compass":')
const [ENERGY_1, ENERGY_2, ENERGY_3, ENERGY_4] = wordsOf(',"unit":"m","energy_per_wave":')
const [END_WORD] = wordsOf('}')

const ROWS_AT_ONCE = 128
/**
 * Rows are written here and then copied: V8 knows the place and length of a view that never changes, so that
 * a store takes 6 instructions in place of 15, and a row two thirds of the time.
 */
const rows = new JsonWriter(ROWS_AT_ONCE * READING_BYTES)
const view = rows.view

/** Writes full Readings of one buoy, each followed by a comma. */
export function writeReadings(out: JsonWriter, buoyId: number, run: MonthRun): void {
  const { month, from, step, count } = run
  for (let done = 0; done < count; done += ROWS_AT_ONCE) {
    gatherRows(buoyId, month, from + done * step, step, Math.min(ROWS_AT_ONCE, count - done))
    out.take(rows.answer())
  }
}

/** Puts at most `ROWS_AT_ONCE` Readings into `rows`. */
function gatherRows(
  buoyId: number,
  { time: times, measures }: MonthRows,
  row: number,
  step: number,
  count: number,
): void {
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  const [heights, heightMask] = [significantHeight.codes, significantHeight.mask]
  const [maximums, maximumMask] = [maximumHeight.codes, maximumHeight.mask]
  const [periods, periodMask] = [period.codes, period.mask]
  const [temperatures, temperatureMask] = [waterTemperature.codes, waterTemperature.mask]
  const [directions, directionMask] = [direction.codes, direction.mask]
  const { words: thousandths, lengths: thousandthsLength } = THOUSANDTHS
  const { words: hundredths, lengths: hundredthsLength } = HUNDREDTHS
  const { words: signed, lengths: signedLength } = SIGNED_HUNDREDTHS
  const { words: compass, lengths: compassLength } = COMPASS_TEXT
  const [buoyHigh, buoyLow] = [fourHex(buoyId >>> 16), fourHex(buoyId & 0xffff)]
  rows.begin()
  rows.literal(ID)
  rows.integer(buoyId)
  const idLength = rows.at
  const [id1, id2] = [view.getFloat64(0, true), view.getFloat64(8, true)]
  let at = 0
  for (let i = 0; i < count; i++, row += step) {
    // All reads come first, so that their misses overlap.
    const time = times[row]
    const height = heights[row & heightMask]
    const maximum = maximums[row & maximumMask]
    const periodCode = periods[row & periodMask]
    const temperature = temperatures[row & temperatureMask] & 0xffff
    const from = directions[row & directionMask]
    view.setFloat64(at, id1, true)
    view.setFloat64(at + 8, id2, true)
    at += idLength
    // Ten digits.
    const upper = (time / 1e4) >>> 0
    const top = (upper / 1e4) >>> 0
    view.setUint16(at, FOUR_DIGITS[top] >>> 16, true)
    view.setUint32(at + 2, FOUR_DIGITS[upper - top * 1e4], true)
    view.setUint32(at + 6, FOUR_DIGITS[time - upper * 1e4], true)
    view.setFloat64(at + 10, UUID_1, true)
    view.setFloat64(at + 18, UUID_2, true)
    view.setUint32(at + 23, fourHex(time >>> 16), true)
    view.setUint8(at + 27, DASH)
    view.setUint32(at + 28, fourHex(time & 0xffff), true)
    view.setFloat64(at + 32, MIDDLE_1, true)
    view.setFloat64(at + 40, MIDDLE_2, true)
    // Ids take at most 20 bits.
    view.setUint32(at + 43, FOUR_ZEROS, true)
    view.setUint32(at + 47, buoyHigh, true)
    view.setUint32(at + 51, buoyLow, true)
    view.setFloat64(at + 55, HEIGHT_1, true)
    view.setFloat64(at + 63, HEIGHT_2, true)
    view.setFloat64(at + 71, HEIGHT_3, true)
    view.setFloat64(at + 79, thousandths[height], true)
    at += 79 + thousandthsLength[height]
    view.setFloat64(at, MAXIMUM_1, true)
    view.setFloat64(at + 8, MAXIMUM_2, true)
    view.setFloat64(at + 16, MAXIMUM_3, true)
    view.setFloat64(at + 18, thousandths[maximum], true)
    at += 18 + thousandthsLength[maximum]
    view.setFloat64(at, PERIOD_1, true)
    view.setFloat64(at + 8, PERIOD_2, true)
    view.setFloat64(at + 10, thousandths[periodCode], true)
    at += 10 + thousandthsLength[periodCode]
    view.setFloat64(at, TIME, true)
    view.setUint8(at + 8, QUOTE)
    writeTime(view, at + 9, time)
    view.setFloat64(at + 29, TEMPERATURE_1, true)
    view.setFloat64(at + 37, TEMPERATURE_2, true)
    view.setFloat64(at + 45, TEMPERATURE_3, true)
    view.setFloat64(at + 51, signed[temperature], true)
    at += 51 + signedLength[temperature]
    view.setFloat64(at, DIRECTION_1, true)
    view.setFloat64(at + 8, DIRECTION_2, true)
    view.setFloat64(at + 13, hundredths[from], true)
    at += 13 + hundredthsLength[from]
    view.setFloat64(at, COMPASS_1, true)
    view.setFloat64(at + 8, COMPASS_2, true)
    view.setFloat64(at + 16, COMPASS_3, true)
    const point = compassIndex(from)
    view.setFloat64(at + 21, compass[point], true)
    at += 21 + compassLength[point]
    view.setFloat64(at, ENERGY_1, true)
    view.setFloat64(at + 8, ENERGY_2, true)
    view.setFloat64(at + 16, ENERGY_3, true)
    view.setFloat64(at + 24, ENERGY_4, true)
    rows.at = at + 30
    if (height === 0 || periodCode === 0 || periodCode === MEASURES.period.missing) rows.null()
    else rows.integer(roundedEnergy(height / 1000, periodCode / 1000))
    at = rows.at
    view.setFloat64(at, END_WORD, true)
    view.setUint8(at + 1, COMMA)
    at += 2
  }
  rows.at = at
}

export function writeReading(out: JsonWriter, buoyId: number, { month, row }: MonthRow): void {
  gatherRows(buoyId, month, row, 1, 1)
  // Without the comma.
  rows.at--
  out.take(rows.answer())
}

const EXTRA_LITERALS = new Map(
  MEASURE_NAMES.map((name) => [name, new Literal(`,"${WIRE_NAMES[name]}":`)] as const),
)

/** Bytes: more than `include` can add to a reading. */
const EXTRA_BYTES = 480

/** Adds the measures of `included` (see `extraMeasures`) to the reading that was written last. */
export function addExtras(out: JsonWriter, { month, row }: MonthRow, included: number): void {
  out.ensure(EXTRA_BYTES)
  out.at--
  for (const name of extraMeasures(included)) {
    const { codes, mask } = month.measures[name]
    out.literal(EXTRA_LITERALS.get(name)!)
    out.entry(codeTexts(MEASURES[name]), codes[row & mask] & 0xffff)
  }
  out.text('}')
}
