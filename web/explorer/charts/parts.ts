/** The answers that a chart is made of, put together over one time axis. */
import type {
  Chart,
  ClimatePeriod,
  PlaceForecast,
  ReadingSummary,
} from '../../../clients/typescript/groundswell.ts'

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

const HOUR_MS = 3_600_000
/** Buckets are drawn at their middle, to the hour that a change of clocks moves it by. */
const HALF_MS = { '1d': 12 * HOUR_MS, '1mo': 15 * 24 * HOUR_MS } as const

export const middleOfBucket = (time: string, bucket: keyof typeof HALF_MS): string =>
  new Date(Date.parse(time) + HALF_MS[bucket]).toISOString()

/**
 * Buckets with their means, their least and greatest heights, and the greatest of their maxima: a mean of
 * maxima would be no maximum. Only those that `isWhole` says are.
 */
export function bucketsOf(
  mean: Part,
  extremes: { readonly least: Part; readonly greatest: Part },
  isWhole: (time: string) => boolean,
): Part {
  const own = [...mean.time.keys()].filter((i) => isWhole(mean.time[i]!))
  const of = ({ time, values }: Part, name: string): Values => {
    const at = new Map(time.map((each, i) => [each, i]))
    return own.map((i) => values[name]?.[at.get(mean.time[i]!) ?? -1] ?? null)
  }
  const values = Object.keys(mean.values).map((name) => [name, of(mean, name)] as const)
  return {
    time: own.map((i) => mean.time[i]!),
    values: {
      ...Object.fromEntries(values),
      least_height: of(extremes.least, 'significant_height'),
      greatest_height: of(extremes.greatest, 'significant_height'),
      maximum_height: of(extremes.greatest, 'maximum_height'),
    },
  }
}

/**
 * The change of a height over three hours: the newest one less that of about three hours before it, and both;
 * null where nothing was measured then.
 */
export function changeOf({ time, values }: Part): readonly [before: number, newest: number] | null {
  const heights = values.significant_height ?? []
  const last = heights.findLastIndex(has)
  const at = (i: number): number => Date.parse(time[i] ?? '')
  const wanted = at(last) - CHANGE_MS
  const near = [...heights.keys()]
    .filter((i) => has(heights[i]) && Math.abs(at(i) - wanted) <= CHANGE_TOLERANCE_MS)
    .toSorted((a, b) => Math.abs(at(a) - wanted) - Math.abs(at(b) - wanted))[0]
  return near === undefined ? null : [heights[near]!, heights[last]!]
}
const CHANGE_MS = 3 * HOUR_MS
/** Networks that report every hour are late by half of one. */
const CHANGE_TOLERANCE_MS = 0.5 * HOUR_MS

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

/**
 * Usual heights at some times, between the middles of months: one, five and nine of ten readings are below
 * them.
 */
export function usualPart(time: readonly string[], periods: readonly ClimatePeriod[]): Part {
  const of = (quantile: 'p10' | 'p50' | 'p90'): Values =>
    time.map((each) => {
      const at = new Date(each)
      const middle = at.getUTCMonth() + (at.getUTCDate() - 1 + at.getUTCHours() / 24) / 30.5 - 0.5
      const from = Math.floor(middle)
      const [left, right] = [from, from + 1].map((month) => periods[(month + 12) % 12]?.[quantile])
      return has(left) && has(right) ? left + (right - left) * (middle - from) : null
    })
  return { time, values: { usual_low: of('p10'), usual_median: of('p50'), usual_high: of('p90') } }
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

/**
 * Seconds of a trend of pressure, as in reports of weather, and how far its beginning may be away from that.
 */
const TREND_SECONDS = 3 * 3600
const TREND_REACH_SECONDS = 600

/** The change of pressure in three hours, hPa; null unless both ends were measured. */
export function pressureTrend(
  { time, values }: Part,
  reading: Pick<ReadingSummary, 'time' | 'pressure'> | null,
): number | null {
  const at = Date.parse(reading?.time ?? '') / 1000
  const away = (text: string): number => Math.abs(Date.parse(text) / 1000 - (at - TREND_SECONDS))
  const before = (values.pressure ?? [])
    .map((pressure, i) => ({ pressure, away: away(time[i] ?? '') }))
    .filter(({ pressure, away: seconds }) => has(pressure) && seconds <= TREND_REACH_SECONDS)
    .sort((a, b) => a.away - b.away)[0]?.pressure
  return has(reading?.pressure) && has(before) ? reading.pressure - before : null
}
