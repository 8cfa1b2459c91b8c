/** The readings of a buoy over some days: heights with the forecast, and all else that it measures below. */
import type UPlot from 'uplot'
import type { Chart } from '../../../clients/typescript/groundswell.ts'
import { dayTimeAndZone, directionText, type Zone } from '../format.ts'
import { KM_PER_NAUTICAL_MILE, type Scales } from '../mine/units.ts'
import { now } from '../store.ts'
import { variable } from '../theme.ts'
import { ARROW, fromZero, intervalOf, windBarb } from './geometry.ts'
import { drawTogether, type Memory } from './group.ts'
import { isValue, type Line, type Plot, type Shared } from './plot.ts'

/** Longest pause that a line bridges, at least, and in intervals of its own values: some come once a day. */
const LONGEST_PAUSE = { seconds: 3 * 3600, intervals: 2.5 } as const
/** The chart of a buoy that has been silent for so many times its days does not go on to now. */
const MOST_SILENCE = 10
/** A zoom goes no further. */
const LEAST_RANGE_S = 3 * 3600
const DAY_S = 86_400

/** Ticks by length of step: days of the week, with the month where it changes, and 24-hour clocks. */
const TIMES: UPlot.Axis.Values = [
  [DAY_S, '{WWW}\n{D}', '\n{MMM}', '\n{MMM}', null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{WWW} {D}\n{MMM}', '\n{WWW} {D}\n{MMM}', '\n{WWW} {D}', null, null, null, 1],
]

type Values = readonly (number | null)[]
type Range = (plot: UPlot, low: number | null, high: number | null) => [number, number]
/** The arrays of a chart, without its times. */
export type Column = Exclude<keyof Chart, 'buoy' | 'fields' | 'time'>

/** Draws a plot for each quantity that has values into `place`. One cursor runs through all. */
export function drawReadings(
  place: HTMLElement,
  data: Chart,
  zone: Zone,
  scaleOf: Scales,
  memory: Memory,
): () => void {
  const x = data.time.map((time) => Date.parse(time) / 1000)
  const [oldest = 0, last = 0] = [x[0], x.at(-1)]
  // The chart of a silent buoy goes on to the line of now, which moves.
  const end = Math.ceil(now.peek() / 3_600_000) * 3600
  if (end > last && end - last <= MOST_SILENCE * Math.max(DAY_S, last - oldest)) x.push(end)
  const column = (name: Column): Values => x.map((_, i) => data[name]?.[i] ?? null)
  const plots = plotsOf(column, scaleOf, data.buoy.lat < 0)
    .map((plot) => ({ ...plot, lines: plot.lines.filter(hasValues).map(withoutLost) }))
    .filter(({ lines }) => lines.length > 0)
  const shared: Shared = {
    x,
    zone: zone.name,
    times: TIMES,
    timesPixels: 56,
    now: () => now.peek() / 1000,
    textOfX: (at) => dayTimeAndZone(new Date(at * 1000), zone, now.peek()),
    longestPauseOf: (values) =>
      Math.max(LONGEST_PAUSE.seconds, LONGEST_PAUSE.intervals * intervalOf(x, values)),
    axis: { pixels: 0 },
  }
  const newest = column('significant_height').findLastIndex((value) => value !== null)
  return drawTogether(place, plots, shared, {
    memory,
    leastWidth: LEAST_RANGE_S,
    label: 'Time in the chart',
    first: Math.max(0, newest),
  })
}

const hasValues = ({ values }: Line): boolean => values.some(isValue)

/** Directions without the line that they are of have an entry of their own. */
function withoutLost(line: Line, _i: number, lines: readonly Line[]): Line {
  const { of, ...alone } = line
  return of === undefined || lines.some(({ label }) => label === of) ? line : alone
}

/** The plots from top to bottom, with lines that may have no values. */
function plotsOf(column: (name: Column) => Values, scaleOf: Scales, isSouth: boolean): Plot[] {
  const line = (label: string, name: Column, color: number, more: Partial<Line> = {}): Line => ({
    label,
    values: column(name),
    color: variable(`--chart-${color}`),
    ...more,
  })
  const thin = { width: 1 }
  const forecast = { dash: [6, 4] }
  // Without colours dots and dashes tell the parts of the sea apart.
  const [swell, windSea] = [
    { width: 1.5, dash: [2, 3] },
    { width: 1.5, dash: [8, 3, 2, 3] },
  ]
  const signs = { width: 1.5, textOf: directionText }
  const arrows = { ...signs, sign: () => new Path2D(ARROW) }
  const barbs = (speeds: Values): Partial<Line> => ({
    ...signs,
    row: 'wind',
    sign: (i) => new Path2D(windBarb((speeds[i] ?? 0) / KM_PER_NAUTICAL_MILE, isSouth)),
  })
  // A tenth up and down is not an event.
  const atLeast =
    (span: number): Range =>
    (_plot, low, high) => {
      const missing = Math.max(0, span - ((high ?? 0) - (low ?? 0))) / 2
      return [(low ?? 0) - missing, (high ?? 0) + missing]
    }
  const [height, speed] = [scaleOf('height'), scaleOf('speed')]
  const [wind, forecastWind] = [column('wind_speed'), column('forecast_wind_speed')]
  // A barb needs both.
  const where = (speeds: Values, name: Column): Values =>
    column(name).map((value, i) => (speeds[i] === null ? null : value))
  const windFrom = where(wind, 'wind_direction')
  // Where something was measured, the forecast is left out.
  const after = (measured: Values, ahead: Values): Values => {
    const last = measured.findLastIndex(isValue)
    return ahead.map((value, i) => (i > last ? value : null))
  }
  return [
    {
      name: 'Heights',
      scale: height,
      size: 'tall',
      range: fromZero(height.from(0.1)),
      lines: [
        line('Significant', 'significant_height', 1, { fill: variable('--chart-band') }),
        line('Maximum', 'maximum_height', 2, thin),
        line('Forecast', 'forecast_wave_height', 3, forecast),
        line('Swell', 'swell_height', 4, swell),
        line('Wind sea', 'wind_wave_height', 5, windSea),
        line('Waves from', 'direction', 1, { ...arrows, of: 'Significant' }),
        line('Forecast from', 'forecast_wave_direction', 3, {
          ...arrows,
          of: 'Forecast',
          row: 'Waves from',
          values: after(column('direction'), column('forecast_wave_direction')),
        }),
        line('Swell from', 'swell_direction', 4, { ...arrows, of: 'Swell' }),
        line('Wind sea from', 'wind_wave_direction', 5, { ...arrows, of: 'Wind sea' }),
      ],
    },
    {
      name: 'Periods',
      scale: scaleOf('period'),
      size: 'short',
      range: fromZero(6),
      lines: [
        line('Period', 'period', 1),
        line('Peak', 'peak_period', 2, thin),
        line('Forecast', 'forecast_wave_period', 3, forecast),
        line('Swell', 'swell_period', 4, swell),
        line('Wind sea', 'wind_wave_period', 5, windSea),
      ],
    },
    {
      name: 'Wind',
      scale: speed,
      size: 'short',
      range: fromZero(speed.from(1)),
      lines: [
        line('Wind', 'wind_speed', 1),
        line('Gusts', 'gust_speed', 2, thin),
        line('Forecast', 'forecast_wind_speed', 3, forecast),
        line('Wind from', 'wind_direction', 1, { ...barbs(wind), of: 'Wind', values: windFrom }),
        line('Forecast from', 'forecast_wind_direction', 3, {
          ...barbs(forecastWind),
          of: 'Forecast',
          values: after(windFrom, where(forecastWind, 'forecast_wind_direction')),
        }),
      ],
    },
    {
      name: 'Water',
      scale: scaleOf('temperature'),
      size: 'short',
      range: atLeast(4),
      lines: [line('Water', 'water_temperature', 6)],
    },
    { name: 'Tide', scale: height, size: 'short', range: atLeast(1), lines: [line('Tide', 'tide_level', 5)] },
  ]
}

/** Loaded with the readings, when the first chart is needed. */
export { drawSeason } from './season.ts'
