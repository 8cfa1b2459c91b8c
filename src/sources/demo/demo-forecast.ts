/** The demonstration's forecast: the made-up sea to come on a model's grid, less exact the farther ahead. */
import type { ForecastRecord } from '../../sea/records.ts'
import { DAY, HOUR } from '../../sea/time.ts'
import { wholeDegrees } from './demo-rows.ts'
import { gaussian, keyOf, Sea, STEP, type Place } from './demo-sea.ts'

/** Degrees: a grid point is at most 20 km from its buoy. */
const GRID = 0.25
const RUN_EVERY = 6 * HOUR
const HOURS_BEFORE = 24
const HOURS_AHEAD = 7 * 24
/** Spread of the logarithm of the height around the true one: at the run, and what a day ahead adds. */
const ERROR = 0.03
const ERROR_A_DAY = 0.03
/** The highest forecast, m; the sea's own bound. */
const HIGHEST_SEA = 20
/** A metre per second in km/h. */
const KMH = 3.6

/** Hourly forecasts from a day before `asOf` (epoch seconds) to seven days ahead, one for each grid point. */
export function forecastsAround(places: readonly Place[], asOf: number, seed: number): ForecastRecord[] {
  const runAt = Math.floor(asOf / RUN_EVERY) * RUN_EVERY
  const records = new Map<string, ForecastRecord>()
  for (const place of places) {
    const [lat, lng] = [Math.round(place.lat / GRID) * GRID, Math.round(place.lng / GRID) * GRID]
    const key = `${lat} ${lng}`
    if (!records.has(key))
      records.set(key, { lat, lng, ...forecastOf(new Sea(place, seed), keyOf(runAt, key), runAt) })
  }
  return [...records.values()]
}

function forecastOf(sea: Sea, key: number, runAt: number): Omit<ForecastRecord, 'lat' | 'lng'> {
  const times = Array.from(
    { length: HOURS_BEFORE + HOURS_AHEAD + 1 },
    (_, i) => runAt + (i - HOURS_BEFORE) * HOUR,
  )
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
  for (const time of times) {
    const state = sea.at(time / STEP)
    const spread = ERROR + (ERROR_A_DAY * Math.max(time - runAt, 0)) / DAY
    const error = Math.exp(spread * slowNoise(key, time))
    const height = Math.min(state.height * error, HIGHEST_SEA)
    values.waveHeight.push(rounded(height, 100))
    values.wavePeriod.push(rounded(state.period, 10))
    values.waveDirection.push(wholeDegrees(state.direction))
    // The height is the root of the energy.
    values.swellHeight.push(rounded(height * Math.sqrt(state.swellShare), 100))
    values.swellPeriod.push(rounded(state.swellPeriod, 10))
    values.swellDirection.push(wholeDegrees(state.swellDirection))
    values.windSpeed.push(rounded(state.windSpeed * KMH * error, 10))
    values.windDirection.push(wholeDegrees(state.windDirection))
  }
  return { runAt, model: 'Demo model', times, values }
}

/** Noise with a variance of about one: random at noon and midnight, straight lines between. */
function slowNoise(key: number, time: number): number {
  const half = Math.floor(time / (DAY / 2))
  const share = time / (DAY / 2) - half
  return gaussian(key, half) * (1 - share) + gaussian(key, half + 1) * share
}

function rounded(value: number, perUnit: number): number {
  return Math.round(value * perUnit) / perUnit
}
