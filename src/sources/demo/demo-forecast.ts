/** The demonstration's forecast: the made-up sea to come on a model's grid, less exact the farther ahead. */
import { type MeasureName, FORECAST_MEASURES, FORECAST_NAMES } from '../../sea/columns.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { DAY, HOUR } from '../../sea/time.ts'
import { timesBetween } from './demo-rows.ts'
import { keyOf, seaAt, smoothNoise, type Place } from './demo-sea.ts'

/** Degrees: a grid point is at most 20 km from its buoy. */
const GRID = 0.25
const RUN_EVERY = 6 * HOUR

/** Hourly forecasts from a day before `asOf` (epoch seconds) to seven days ahead, one for each grid point. */
export function forecastsAround(places: readonly Place[], asOf: number, seed: number): ForecastRecord[] {
  const runAt = Math.floor(asOf / RUN_EVERY) * RUN_EVERY
  const times = timesBetween(runAt - DAY, runAt + 7 * DAY + 1, HOUR)
  const onGrid = (degrees: number): number => Math.round(degrees / GRID) * GRID
  const points = places.map((place) => ({ ...place, lat: onGrid(place.lat), lng: onGrid(place.lng) }))
  const byName = new Map(points.map((point) => [`${point.lat} ${point.lng}`, point]))
  return Array.from(byName, ([name, point]) => {
    const key = keyOf(runAt, name)
    const states = times.map(seaAt(point, seed))
    const errors = times.map((time) => {
      // Of the logarithm of the height: at the run, and more with each day ahead.
      const spread = 0.03 + (0.02 * Math.max(time - runAt, 0)) / DAY
      return Math.exp(spread * smoothNoise(key, time / (DAY / 2)))
    })
    const lists = FORECAST_NAMES.map((name) => {
      const quantity = name in states[0] ? (name as MeasureName) : FORECAST_MEASURES[name]
      const exact = states.map((state, i) => state[quantity] * (name.endsWith('Height') ? errors[i] : 1))
      return [name, exact.map((value) => Math.round(value * 100) / 100)]
    })
    const { lat, lng } = point
    return { lat, lng, runAt, model: 'Demo model', times, values: Object.fromEntries(lists) }
  })
}
