/** Quantities of many answers, gathered into one forecast for each point of the sea. */
import {
  FORECAST_MEASURES,
  FORECAST_NAMES,
  type ForecastName,
  type ForecastRecord,
} from '../../sea/records.ts'
import { directionBetween, LONGEST_STEP } from '../../index/forecast.ts'
import { MEASURES } from '../../sea/columns.ts'
import { buildPoints, Points } from '../../index/points.ts'
import type { Quantity } from './quantities.ts'
import type { Series, Values } from './answers.ts'
import { pointKey } from '../../sea/geo.ts'

/**
 * Weather and wave models have different grids. A point with waves but no wind takes the wind of the nearest
 * point within this distance, a little more than half the diagonal of a quarter-degree cell.
 */
const WIND_REACH_KM = 25

/** Everything that the files say of one position. */
export interface Place {
  lat: number
  lng: number
  quantities: { [name in ForecastName]?: Quantity }
}

/**
 * Of each quantity the newest run counts. Files of the same run complete each other; the first one counts
 * where they overlap.
 */
export function gather(
  places: Map<string, Place>,
  { lat, lng }: Series,
  quantities: ReadonlyMap<ForecastName, Quantity>,
): void {
  const key = pointKey(lat, lng)
  let place = places.get(key)
  if (place === undefined) {
    place = { lat, lng, quantities: {} }
    places.set(key, place)
  }
  for (const [name, quantity] of quantities) {
    if (quantity.values.every((value) => value === null)) continue
    const known = place.quantities[name]
    if (known === undefined || known.runAt < quantity.runAt) place.quantities[name] = quantity
    else if (known.runAt === quantity.runAt) place.quantities[name] = joined(known, quantity)
  }
}

function joined(first: Quantity, second: Quantity): Quantity {
  const byTime = new Map<number, number | null>()
  for (const { times, values } of [second, first]) {
    times.forEach((time, i) => {
      if (values[i] !== null || !byTime.has(time)) byTime.set(time, values[i])
    })
  }
  const times = [...byTime.keys()].sort((a, b) => a - b)
  return { ...first, times, values: times.map((time) => byTime.get(time)!) }
}

const WAVE_NAMES = FORECAST_NAMES.filter((name) => !name.startsWith('wind'))
const WIND_NAMES = FORECAST_NAMES.filter((name) => name.startsWith('wind'))

/**
 * One record for each position, south to north. A position with wind alone that lent its wind to one with
 * waves has no record of its own.
 */
export function recordsOf(places: ReadonlyMap<string, Place>): ForecastRecord[] {
  const inOrder = [...places.values()]
    .filter(({ quantities }) => Object.keys(quantities).length > 0)
    .sort((a, b) => a.lat - b.lat || a.lng - b.lng)
  const has = ({ quantities }: Place, names: readonly ForecastName[]): boolean =>
    names.some((name) => quantities[name] !== undefined)
  const windOnly = inOrder.filter((place) => !has(place, WAVE_NAMES))
  const windless = inOrder.filter((place) => !has(place, WIND_NAMES))
  const lent = new Set<Place>()
  if (windOnly.length > 0) {
    const lat = Float64Array.from(windOnly, (place) => place.lat)
    const lng = Float64Array.from(windOnly, (place) => place.lng)
    const points = new Points(buildPoints(lat, lng), lat, lng)
    for (const place of windless) {
      const [nearest] = points.nearest(place.lat, place.lng, 1, WIND_REACH_KM, () => true).ordinals
      if (nearest === undefined) continue
      for (const name of WIND_NAMES) {
        const quantity = windOnly[nearest].quantities[name]
        if (quantity !== undefined) place.quantities[name] = quantity
      }
      lent.add(windOnly[nearest])
    }
  }
  return inOrder.filter((place) => !lent.has(place)).map(recordOf)
}

/**
 * All quantities on one axis of time. The run is the oldest one of the waves, if there are any, and so are
 * the models theirs.
 */
function recordOf({ lat, lng, quantities }: Place): ForecastRecord {
  const given = FORECAST_NAMES.flatMap((name) => {
    const quantity = quantities[name]
    return quantity === undefined ? [] : [{ name, quantity }]
  })
  const waves = given.filter(({ name }) => WAVE_NAMES.includes(name))
  const leading = (waves.length > 0 ? waves : given).map(({ quantity }) => quantity)
  const models = new Set(leading.flatMap(({ model }) => model ?? []))
  const times = [...new Set(given.flatMap(({ quantity }) => quantity.times))].sort((a, b) => a - b)
  return {
    lat,
    lng,
    runAt: Math.min(...leading.map(({ runAt }) => runAt)),
    ...(models.size > 0 && { model: [...models].join(', ') }),
    times,
    values: Object.fromEntries(given.map(({ name, quantity }) => [name, laidOn(times, name, quantity)])),
  }
}

/**
 * The values of a quantity at `times`, which include all of its own. A model with steps of three hours is put
 * on the hours of another one by the interpolation that the server would use between its times; its own gaps
 * stay.
 */
function laidOn(times: readonly number[], name: ForecastName, quantity: Quantity): Values {
  const { times: own, values } = quantity
  const isDirection = MEASURES[FORECAST_MEASURES[name]].unit === 'degree'
  let next = 0
  return times.map((time) => {
    while (next < own.length && own[next] < time) next++
    if (own[next] === time) return values[next]
    if (next === 0 || next === own.length || own[next] - own[next - 1] > LONGEST_STEP) return null
    const [before, after] = [values[next - 1], values[next]]
    if (before === null || after === null) return null
    const share = (time - own[next - 1]) / (own[next] - own[next - 1])
    return isDirection ? directionMean(before, after, share) : before + (after - before) * share
  })
}

function directionMean(before: number, after: number, share: number): number | null {
  const opposite = Math.abs(after - before) === 180
  return opposite ? null : directionBetween(before * 100, after * 100, share) / 100
}
