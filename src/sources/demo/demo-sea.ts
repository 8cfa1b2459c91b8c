/**
 * The made-up sea: waves, wind and water of a place at a time. All places of one climate have the same
 * weather, which travels east, so neighbours agree. Hashes are integers, and what goes through `exp` is
 * rounded later, so platforms that differ in the last bit agree.
 */
import { setImmediate } from 'node:timers/promises'
import { COMMON_NAMES, MEASURE_NAMES, MEASURES, type MeasureName } from '../../sea/columns.ts'
import { codeLimits, codeOf, RowBatch } from '../../sea/row-batch.ts'
import { DAY, HOUR, monthOf, monthStart } from '../../sea/time.ts'
import type { FileReport, Sink } from '../source.ts'
import data from './stations.json' with { type: 'json' }

/** Seconds between two readings of a buoy. */
export const STEP = HOUR / 2

/**
 * Medians of the significant height in m and of the peak period in s, in January and in July; the water in °C
 * at the end of February and of August; the median wind in km/h, and its usual direction in degrees.
 */
const CLIMATES: { readonly [name: string]: typeof data.climates.biscay } = data.climates

export interface Place {
  lat: number
  lng: number
  readonly climate: string
  /** Factor on the climate's heights: below 1 in shelter. */
  readonly exposure: number
  /** The usual direction of waves, degrees. */
  readonly direction: number
}

/** 32-bit mixing by two rounds of multiply and shift, with the constants published as "lowbias32". */
function mix(value: number): number {
  let x = value ^ (value >>> 16)
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

export function keyOf(seed: number, name: string): number {
  let key = mix(seed)
  for (let i = 0; i < name.length; i++) key = mix(key ^ name.charCodeAt(i))
  return key
}

/** A uniform number in [−1, 1) of (key, index). */
export function draw(key: number, index: number): number {
  return mix(key ^ Math.imul(index, 0x9e3779b1)) / 0x80000000 - 1
}

/** Noise from −√3 to √3 with a variance of about one: drawn at whole numbers, smooth between. */
export function smoothNoise(key: number, at: number): number {
  const cell = Math.floor(at)
  const share = at - cell
  const begin = draw(key, cell)
  return Math.sqrt(3) * (begin + (draw(key, cell + 1) - begin) * share * share * (3 - 2 * share))
}

/** Between the usual seas at both ends of the year, most like the first `day` days after New Year. */
function seasonal([first, second]: number[], time: number, day: number): number {
  const share = Math.cos((2 * Math.PI * (time / DAY - day)) / 365.2425)
  return (first + second + (first - second) * share) / 2
}

const wholeDegrees = (degrees: number): number => (Math.round(degrees) + 360) % 360

/**
 * Every measure, in its unit, of the sea at a place as a function of epoch seconds; another `seed` is another
 * sea.
 */
export function seaAt(place: Place, seed: number): (time: number) => { [name in MeasureName]: number } {
  const climate = CLIMATES[place.climate]
  const key = keyOf(seed, place.climate)
  return (time) => {
    // Weather takes two hours for a degree to the east, at some 40 km/h.
    const local = time - place.lng * 2 * HOUR
    const spell = smoothNoise(key, local / (10 * DAY))
    const weather = 0.8 * spell + 0.6 * smoothNoise(key + 1, local / (40 * HOUR))
    const breeze = smoothNoise(key + 2, local / (30 * HOUR))
    const gusts = smoothNoise(key + 3, local / HOUR)
    // The highest sea is 3.8 times the median, below 20 m everywhere.
    const height = seasonal(climate.height, time, 15) * place.exposure * Math.exp(0.55 * weather)
    const period = seasonal(climate.period, time, 15) * Math.exp(0.12 * weather)
    const direction = wholeDegrees(place.direction + 25 * smoothNoise(key + 4, local / (60 * HOUR)))
    // The height is the root of the energy, of which this share is swell.
    const swellShare = 0.65 - 0.12 * weather
    const windWaveHeight = height * Math.sqrt(1 - swellShare)
    const windSpeed = climate.wind * Math.exp(0.3 * weather + 0.2 * breeze)
    const windDirection = wholeDegrees(climate.windFrom + 50 * breeze)
    const waterTemperature = seasonal(climate.water, time, 58) - 0.7 * spell
    // The sun stands highest at noon, and the air is warmest three hours later.
    const afternoon = Math.cos(2 * Math.PI * (time / DAY + place.lng / 360 - 15 / 24))
    const airTemperature = waterTemperature - 1 + 2 * breeze + 0.8 * afternoon
    // Degrees by which the air would have to cool down for dew: each is some five per cent of humidity.
    const dryness = 3 - 1.2 * weather
    return {
      significantHeight: height,
      maximumHeight: height * (1.6 + 0.15 * gusts),
      // Peak over significant period: the median of measurements is 1.11.
      period: period / 1.11,
      peakPeriod: period,
      direction,
      waterTemperature,
      windSpeed,
      windDirection,
      gustSpeed: windSpeed * (1.27 + 0.06 * gusts),
      swellHeight: height * Math.sqrt(swellShare),
      swellPeriod: period,
      swellDirection: direction,
      windWaveHeight,
      // A steepness 2πH/(gT²) of 0.04.
      windWavePeriod: Math.max(4 * Math.sqrt(windWaveHeight), 2),
      windWaveDirection: windDirection,
      airTemperature,
      dewPoint: airTemperature - dryness,
      // High seas come with low pressure.
      pressure: 1015 - 9 * weather - 2 * breeze,
      humidity: 100 - 5 * dryness,
      visibility: 2 + 4 * dryness,
    }
  }
}

/** The resolution of each measure that an instrument has, in its unit. */
const INSTRUMENTS: { readonly [name: string]: { readonly [name in MeasureName]?: number } } = data.instruments

export interface Mooring extends Place {
  /** The handle of the sink. */
  readonly buoy: number
  /** Key of the gaps and of the noise of readings. */
  readonly key: number
  readonly instrument: string
  /** The buoy always reports: documents and pictures show it. */
  readonly isGapless?: boolean
  /** Its times from `from` on and before `to`, epoch seconds. */
  times(from: number, to: number): number[]
}

export interface Fleet {
  readonly moorings: readonly Mooring[]
  readonly seed: number
  /** The first rows, and the first ones with swell and wind sea apart and with weather, epoch seconds. */
  readonly from: number
  readonly swellFrom: number
}

/** Readings are lost for two hours at a time, this share of them; below a day, so a buoy stays active. */
const LOST = 0.03
const LOSS = 2 * HOUR

/** The multiples of `every` from `from` on and before `to`, all in epoch seconds. */
export function timesBetween(from: number, to: number, every: number): number[] {
  const first = Math.ceil(from / every)
  return Array.from({ length: Math.max(Math.ceil(to / every) - first, 0) }, (_, i) => (first + i) * every)
}

/** Sends rows month by month, all buoys of a month together, as the builder spools them best. */
export async function sendRows(sink: Sink, file: FileReport, fleet: Fleet, asOf: number): Promise<void> {
  const { moorings, seed, from, swellFrom } = fleet
  const batch = new RowBatch()
  for (let month = monthOf(from); month <= monthOf(asOf); month++) {
    const [begin, end] = [Math.max(monthStart(month), from), Math.min(monthStart(month + 1), asOf + 1)]
    const names = begin >= swellFrom ? MEASURE_NAMES : COMMON_NAMES
    for (const mooring of moorings) {
      fillRows(batch, mooring, seed, mooring.times(begin, end), names)
      if (batch.length > 0) sink.rows(mooring.buoy, batch)
      file.rows(batch.length)
    }
    // A month of 5,000 buoys takes a few seconds: timers and signals run in between.
    await setImmediate()
  }
}

/** Whether a mooring's message of a time came through. */
export const isThere = ({ key, isGapless }: Mooring, time: number): boolean =>
  isGapless === true || draw(key + 1, Math.floor(time / LOSS)) >= 2 * LOST - 1

export const measures = ({ instrument }: Mooring, name: MeasureName): boolean =>
  INSTRUMENTS[instrument][name] !== undefined

function fillRows(
  batch: RowBatch,
  mooring: Mooring,
  seed: number,
  times: readonly number[],
  names: readonly MeasureName[],
): void {
  const { key, instrument } = mooring
  batch.clear()
  const there = times.filter((time) => isThere(mooring, time))
  for (const time of there) batch.add(time)
  const states = there.map(seaAt(mooring, seed))
  // A sample of twenty minutes is within five per cent of the sea's heights.
  const sampled = there.map((time) => 1 + 0.05 * draw(key, time))
  for (const name of names) {
    const resolution = INSTRUMENTS[instrument][name]
    if (resolution === undefined) continue
    const { unit, scale } = MEASURES[name]
    const column = batch.columns[name]
    const limits = codeLimits(MEASURES[name])
    states.forEach((state, row) => {
      const value = unit === 'm' ? state[name] * sampled[row] : state[name]
      column[row] = codeOf(scale, limits, Math.round(value / resolution) * resolution)
    })
  }
}
