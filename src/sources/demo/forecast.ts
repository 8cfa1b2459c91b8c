/**
 * The forecast of the demonstration: the sea to come, which follows from the law of `sea.ts`, as a model
 * would see it. It lies on a grid, is smoother than measurements, and is more wrong the farther ahead.
 */
import { DAY } from '../../sea/time.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { fillSea, SEA, type Place, type SeaState } from './sea.ts'
import { STEP, wholeDegrees } from './waves.ts'
import { gaussian, siteKey } from './chance.ts'

/** Degrees: a grid point is at most 20 km from its buoy. */
const GRID = 0.25
const HOUR = 3600
const STEPS_AN_HOUR = HOUR / STEP
/** A run every six hours, as the large centres make them. */
const RUN_EVERY = 6 * HOUR
const HOURS_BEFORE = 24
const HOURS_AHEAD = 7 * 24
/** Hours on each side that a value averages. */
const SMOOTHING = 3
/**
 * Spread of the logarithm of the forecast height around the true one: at the run, and what a day ahead adds.
 */
const ERROR = 0.03
const ERROR_A_DAY = 0.03
/** m; the law makes no higher sea either. */
const HIGHEST_SEA = 20
/** A metre per second in km/h. */
const KMH = 3.6
const RADIANS = Math.PI / 180

/**
 * Hourly forecasts of the newest run at `asOf` (epoch seconds) from a day before it to seven days ahead, one
 * for each grid point next to one of `places`: that of the first.
 */
export function forecastsAround(places: readonly Place[], asOf: number): ForecastRecord[] {
  const runAt = Math.floor(asOf / RUN_EVERY) * RUN_EVERY
  const records = new Map<string, ForecastRecord>()
  for (const place of places) {
    const [lat, lng] = [Math.round(place.lat / GRID) * GRID, Math.round(place.lng / GRID) * GRID]
    const key = `${lat},${lng}`
    if (!records.has(key)) records.set(key, forecastAt(lat, lng, place, runAt))
  }
  return [...records.values()]
}

function forecastAt(lat: number, lng: number, place: Place, runAt: number): ForecastRecord {
  const from = runAt - HOURS_BEFORE * HOUR
  const count = HOURS_BEFORE + HOURS_AHEAD + 1
  const sea = seaOf(place, from - SMOOTHING * HOUR, count + 2 * SMOOTHING)
  const [height, period, wind] = [sea.height, sea.period, sea.windSpeed].map(smoothed)
  const [share, swellPeriod] = [sea.swellShare, sea.swellPeriod].map(smoothed)
  const [direction, swellDirection, windDirection] = [
    sea.direction,
    sea.swellDirection,
    sea.windDirection,
  ].map(smoothedDirection)

  const times = height.map((_, i) => from + i * HOUR)
  // Each run has errors of its own; the swell is the sea's own.
  const errorKey = siteKey(runAt, `${lat} ${lng}`)
  const values: Required<ForecastRecord['values']> = {
    waveHeight: [],
    wavePeriod: [],
    waveDirection: [],
    swellHeight: [],
    swellPeriod: [],
    swellDirection: [],
    windSpeed: [],
    windDirection: [],
  }
  times.forEach((time, i) => {
    const spread = ERROR + (ERROR_A_DAY * Math.max(time - runAt, 0)) / DAY
    const error = Math.exp(spread * wave(errorKey, time))
    const waves = Math.min(height[i] * error, HIGHEST_SEA)
    values.waveHeight.push(rounded(waves, 100))
    values.wavePeriod.push(rounded(period[i], 10))
    values.waveDirection.push(wholeDegrees(direction[i]))
    // The height is the root of the energy.
    values.swellHeight.push(rounded(waves * Math.sqrt(share[i]), 100))
    values.swellPeriod.push(rounded(swellPeriod[i], 10))
    values.swellDirection.push(wholeDegrees(swellDirection[i]))
    values.windSpeed.push(rounded(wind[i] * KMH * error, 10))
    values.windDirection.push(wholeDegrees(windDirection[i]))
  })
  return { lat, lng, runAt, model: 'Demo model', times, values }
}

/** The law's values hour by hour. */
function seaOf(place: Place, from: number, hours: number): { [name in keyof SeaState]: number[] } {
  const names = Object.keys(SEA) as (keyof SeaState)[]
  const sea = Object.fromEntries(names.map((name) => [name, [] as number[]])) as {
    [name in keyof SeaState]: number[]
  }
  const last = from + hours * HOUR
  for (let at = from; at < last;) {
    const date = new Date(at * 1000)
    const end = Math.min(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000, last)
    fillSea(place, at / STEP, end / STEP, STEPS_AN_HOUR)
    for (let i = 0; i < (end - at) / STEP; i += STEPS_AN_HOUR) {
      for (const name of names) sea[name].push(SEA[name][i])
    }
    at = end
  }
  return sea
}

/** Running means; shorter than `values` by the hours on both sides. */
function smoothed(values: readonly number[]): number[] {
  const means: number[] = []
  for (let i = SMOOTHING; i < values.length - SMOOTHING; i++) {
    let sum = 0
    for (let k = i - SMOOTHING; k <= i + SMOOTHING; k++) sum += values[k]
    means.push(sum / (2 * SMOOTHING + 1))
  }
  return means
}

/** Running means on the circle, degrees from −180 to 180. */
function smoothedDirection(degrees: readonly number[]): number[] {
  const east = smoothed(degrees.map((angle) => Math.sin(angle * RADIANS)))
  const north = smoothed(degrees.map((angle) => Math.cos(angle * RADIANS)))
  return east.map((sine, i) => Math.atan2(sine, north[i]) / RADIANS)
}

/** A slow wave of (key, time) of about unit variance: random at noon and midnight, straight lines between. */
function wave(key: number, time: number): number {
  const half = Math.floor(time / (DAY / 2))
  const share = time / (DAY / 2) - half
  return gaussian(key, half) * (1 - share) + gaussian(key, half + 1) * share
}

function rounded(value: number, perUnit: number): number {
  return Math.round(value * perUnit) / perUnit
}
