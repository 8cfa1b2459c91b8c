/** Makes the forecast part of a build's forecasts. */
import type { ForecastCodes, ForecastColumns, ForecastModel } from '../index/forecast.ts'
import {
  MEASURES,
  MISSING_U16,
  type Column,
  type Measure,
  FORECAST_MEASURES,
  FORECAST_NAMES,
  type ForecastName,
} from '../sea/columns.ts'
import { codeLimits, codeOf, NO_CODE, OUTSIDE } from '../sea/row-batch.ts'
import { pointKey } from '../sea/geo.ts'
import type { ForecastRecord } from '../sea/records.ts'
import { LAST_SECOND } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import { compareText } from '../system/text.ts'
import { sums } from './part-columns.ts'
import { type Part } from './snapshot-format.ts'

interface PointForecast {
  lat: number
  lng: number
  run: number
  model: ForecastModel
  time: Uint32Array
  codes: ForecastCodes
}

/** One set names a few models, and an index has 16 bits. */
const MAX_MODELS = 1000
const measureOf = (name: ForecastName): Measure => MEASURES[FORECAST_MEASURES[name]]

/** The forecasts of a build: one run a point, kept as codes. */
export class ForecastSet {
  readonly #points = new Map<string, PointForecast>()

  /**
   * The newest run of a point stays, and the first of equal runs. A record without any value (a point on
   * land) is left out.
   * @throws BuildError for a record that breaks the rules of `ForecastRecord`, or the limits of a measure
   */
  add(record: ForecastRecord): void {
    if (!this.#isNewer(record.lat, record.lng, record.runAt)) return
    const point = encode(record)
    if (point !== null) this.#points.set(pointKey(record.lat, record.lng), point)
  }

  /** Takes over points by the rule of `add`. */
  merge(other: ForecastSet): void {
    for (const [key, point] of other.#points) {
      if (this.#isNewer(point.lat, point.lng, point.run)) this.#points.set(key, point)
    }
  }

  /** Takes over the points of a part by the rule of `add`. */
  restore({ lat, lng, run, model, models, start, time, codes }: ForecastColumns): void {
    for (let i = 0; i < lat.length; i++) {
      if (!this.#isNewer(lat[i], lng[i], run[i])) continue
      const rows = (column: Uint16Array): Uint16Array => column.subarray(start[i], start[i + 1])
      this.#points.set(pointKey(lat[i], lng[i]), {
        lat: lat[i],
        lng: lng[i],
        run: run[i],
        model: models[model[i]],
        time: time.subarray(start[i], start[i + 1]),
        codes: Object.fromEntries(FORECAST_NAMES.map((name) => [name, rows(codes[name])])) as ForecastCodes,
      })
    }
  }

  #isNewer(lat: number, lng: number, run: number): boolean {
    const known = this.#points.get(pointKey(lat, lng))
    return known === undefined || known.run < run
  }

  get size(): number {
    return this.#points.size
  }

  /** The part and its number of rows. Points are in the order of latitude, then longitude. */
  part(): { part: Part; rows: number } {
    const points = [...this.#points.values()].sort((a, b) => a.lat - b.lat || a.lng - b.lng)
    const start = sums(points.map(({ time }) => time.length))
    const rows = start[points.length]
    const time = new Uint32Array(rows)
    points.forEach((point, i) => time.set(point.time, start[i]))
    const columns = FORECAST_NAMES.map((name): [string, Column] => {
      const codes = new Uint16Array(rows)
      points.forEach((point, i) => codes.set(point.codes[name], start[i]))
      return [name, codes]
    })
    const { models, model } = modelsOf(points)
    return {
      part: {
        kind: 'forecast',
        meta: { models },
        columns: new Map<string, Column>([
          ['lat', Float64Array.from(points, (point) => point.lat)],
          ['lng', Float64Array.from(points, (point) => point.lng)],
          ['run', Uint32Array.from(points, ({ run }) => run)],
          ['model', model],
          ['start', start],
          ['time', time],
          ...columns,
        ]),
      },
      rows,
    }
  }
}

const modelKey = ({ model, credit }: ForecastModel): string => JSON.stringify([model, credit])

/** The models in an order of their own, and the index of each point's. @throws BuildError for too many */
function modelsOf(points: readonly PointForecast[]): { models: ForecastModel[]; model: Uint16Array } {
  const byKey = new Map(points.map(({ model }) => [modelKey(model), model]))
  const keys = [...byKey.keys()].sort(compareText)
  if (keys.length > MAX_MODELS) throw new BuildError(`the forecasts name more than ${MAX_MODELS} models`)
  const index = new Map(keys.map((key, i) => [key, i]))
  return {
    models: keys.map((key) => byKey.get(key)!),
    model: Uint16Array.from(points, ({ model }) => index.get(modelKey(model))!),
  }
}

/** The record as codes, or null without any value. */
function encode({ lat, lng, runAt, times, values, ...about }: ForecastRecord): PointForecast | null {
  const where = `forecast at ${lat}, ${lng}`
  if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) throw new BuildError(`${where}: is not on the globe`)
  if (!isSecond(runAt))
    throw new BuildError(`${where}: the time of its run is not from 1970 to February 2106`)
  const isKept = times.every((time, i) => isSecond(time) && (i === 0 || time > times[i - 1]))
  if (!isKept)
    throw new BuildError(`${where}: its times do not ascend, or are not from 1970 to February 2106`)
  let isEmpty = true
  const codesOf = (name: ForecastName): Uint16Array => {
    const codes = new Uint16Array(times.length).fill(MISSING_U16)
    const given = values[name]
    if (given === undefined) return codes
    if (given.length !== times.length)
      throw new BuildError(`${where}: ${name} does not have one value for each time`)
    const measure = measureOf(name)
    const limits = codeLimits(measure)
    for (let i = 0; i < given.length; i++) {
      const value = given[i]
      if (value === null) continue
      const code = codeOf(measure.scale, limits, value)
      if (code === OUTSIDE || code === NO_CODE)
        throw new BuildError(`${where}: ${name} is outside ${measure.min} to ${measure.max}`)
      codes[i] = code
      isEmpty = false
    }
    return codes
  }
  const codes = Object.fromEntries(FORECAST_NAMES.map((name) => [name, codesOf(name)])) as ForecastCodes
  const model = { model: about.model ?? null, credit: about.credit ?? null }
  return isEmpty ? null : { lat, lng, run: runAt, model, time: Uint32Array.from(times), codes }
}

function isSecond(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= LAST_SECOND
}
