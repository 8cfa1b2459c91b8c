/** The answers that a chart is made of, put together over one time axis. */
import type { Chart, PlaceForecast } from '../../../clients/typescript/groundswell.ts'

export type Values = readonly (number | null)[]

export const has = (value: number | null | undefined): value is number =>
  value !== null && value !== undefined

/** Values by name, each list as long as `time` (ISO 8601). */
export interface Part {
  readonly time: readonly string[]
  readonly values: { readonly [name: string]: Values }
}

/** Readings of several buoys in buckets, by columns. */
export interface Rows {
  readonly buckets: {
    readonly time: readonly string[]
    readonly buoy_id: readonly number[]
    readonly significient_height: Values
    readonly [column: string]: readonly unknown[]
  }
}

/** A chart has its arrays under their names. */
export function partOfChart({ time, buoy: _buoy, fields: _fields, ...values }: Chart): Part {
  return { time, values }
}

/** The rows of one buoy, with the names that charts have. */
export function partOfRows({ buckets: { time, ...columns } }: Rows, id: number): Part {
  const own = [...time.keys()].filter((i) => columns.buoy_id[i] === id)
  const values = Object.entries(columns).map(([name, all]) => [
    name.replace('significient', 'significant'),
    own.map((i) => (all[i] ?? null) as number | null),
  ])
  return { time: own.map((i) => time[i]!), values: Object.fromEntries(values) as Part['values'] }
}

/** The hours of a place's forecast and tide, and its high and low waters. */
export function partsOfForecast(answer: PlaceForecast): Part[] {
  const values = {
    forecast_wave_height: answer.waves_height,
    forecast_wave_period: answer.waves_period,
    forecast_wave_direction: answer.waves_direction,
    forecast_swell_height: answer.swell_height,
    forecast_swell_period: answer.swell_period,
    forecast_swell_direction: answer.swell_direction,
    forecast_wind_speed: answer.wind_speed,
    forecast_wind_direction: answer.wind_direction,
    tide_level: answer.tide_level,
  }
  const { tides } = answer
  const extremes = {
    time: tides.map(({ time }) => time),
    values: { tide_turn: tides.map(({ height }) => height) },
  }
  return [{ time: answer.time, values }, extremes]
}

/** A part under names of its own, as that of a second buoy. */
export const renamed = ({ time, values }: Part, start: string): Part => ({
  time,
  values: Object.fromEntries(Object.entries(values).map(([name, list]) => [`${start}${name}`, list])),
})

/** All parts over one ascending axis of epoch seconds. Of two values in one place the first part's counts. */
export function joined(parts: readonly Part[]): { x: number[]; column: (name: string) => Values } {
  const seconds = parts.map(({ time }) => time.map((each) => Date.parse(each) / 1000))
  const x = [...new Set(seconds.flat())].toSorted((a, b) => a - b)
  const at = new Map(x.map((second, i) => [second, i]))
  const column = (name: string): Values => {
    const all = x.map((): number | null => null)
    for (const [i, { values }] of parts.entries()) {
      for (const [k, second] of (seconds[i] ?? []).entries())
        all[at.get(second)!] ??= values[name]?.[k] ?? null
    }
    return all
  }
  return { x, column }
}
