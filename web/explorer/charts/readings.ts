/**
 * The readings of a buoy over some days: heights with the forecast, and below them all else that it measures.
 */
import UPlot from 'uplot'
import type { Chart } from '../../../clients/typescript/groundswell.ts'
import { compass, dayAndTime, type Zone } from '../format.ts'
import { scaleOf, type Units } from '../mine/units.ts'
import { variable } from '../theme.ts'
import { drawTogether, type Memory } from './group.ts'
import { axes, type Line, type Plot } from './plot.ts'
import { breakLongPauses, wholeOf } from './range.ts'

/** Longest pause that a line bridges: readings come every half hour or hour, forecast and tide hourly. */
const LONGEST_PAUSE_S = 3 * 3600
/**
 * How far from the pointer a value may be and still be shown: the times of one series lie between those of
 * another.
 */
const HOVER_PIXELS = 12
/** A zoom goes no further. */
const LEAST_RANGE_S = 3 * 3600
const DAY_S = 86_400

/** Ticks by length of step: hours and minutes with the day below where it changes, as 24-hour clocks. */
const AXIS_TIMES: UPlot.Axis.Values = [
  [3600 * 24, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{DD} {MMM}', null, '\n{DD} {MMM}', null, null, null, 1],
]

const QUARTERS = [0, 90, 180, 270, 360]
const QUARTER_NAMES = ['N', 'E', 'S', 'W', 'N']

/** Draws a plot for each quantity that has values into `place`. One cursor runs through all. */
export function drawReadings(
  place: HTMLElement,
  data: Chart,
  zone: Zone,
  units: Units,
  memory: Memory,
): () => void {
  const { x, from, pauses } = withPauses(data.time.map((time) => Date.parse(time) / 1000))
  const onAxis = (line: Line): Line => ({ ...line, values: from.map((i) => line.values[i] ?? null) })
  const textOfX = (at: number): string => dayAndTime(new Date(at * 1000), zone)
  // uPlot would make a range of years of a single time.
  const range = (_plot: UPlot, low: number, high: number): [number, number] =>
    x.length === 1 ? [...wholeOf(x, LEAST_RANGE_S)] : [low, high]
  const plots = partsOf(data, units)
    .map(({ size = 'short', y = {}, yAxis = {}, ...part }) => ({
      ...part,
      size,
      lines: part.lines.filter(hasValues).map(onAxis),
      axes: axes({ values: AXIS_TIMES }, part.scale, yAxis),
      scales: { y, x: { time: true, range } },
    }))
    .filter(({ lines }) => lines.length > 0)
  const shared = {
    x,
    textOfX,
    cursor: { sync: { key: 'readings' }, hover: { prox: HOVER_PIXELS } },
    tzDate: (epoch: number) => UPlot.tzDate(new Date(epoch * 1000), zone.name),
    cellsOf: ({ values }: Line) => breakLongPauses(x, values, LONGEST_PAUSE_S),
  }
  const newest = from.findLastIndex((i) => (data.significant_height[i] ?? null) !== null)
  return drawTogether(place, plots, shared, {
    memory,
    leastWidth: LEAST_RANGE_S,
    bigStep: DAY_S,
    label: 'Time in the chart',
    textOfX: (at) => `${textOfX(at)} ${zone.label}`,
    skip: pauses,
    first: Math.max(0, newest),
  })
}

const hasValues = ({ values }: Line): boolean => values.some((value) => value !== null)

interface Part extends Pick<Plot, 'name' | 'scale' | 'lines'> {
  size?: Plot['size']
  /** What is special about the value axis. */
  y?: UPlot.Scale
  yAxis?: Partial<UPlot.Axis>
}

/** The plots from top to bottom, with lines that may have no values. */
function partsOf(data: Chart, units: Units): Part[] {
  const line = (
    label: string,
    values: readonly (number | null)[] | undefined,
    color: number,
    more: Partial<Line> = {},
  ): Line => ({ label, values: values ?? [], color: variable(`--chart-${color}`), ...more })
  const thin = { width: 1 }
  const forecast = { dash: [6, 4] }
  const dots = { dots: true, textOf: (degrees: number) => `${compass(degrees)} ${degrees}°` }
  const [height, speed] = [scaleOf('height', units), scaleOf('speed', units)]
  const fromZero = (least: number): UPlot.Scale => ({
    range: (_plot, _low, high: number | null) => [0, Math.max(least, (high ?? 0) * 1.08)],
  })
  return [
    {
      name: 'Heights',
      scale: height,
      size: 'tall',
      y: fromZero(height.from(1)),
      lines: [
        line('Significant', data.significant_height, 1, { fill: variable('--chart-1-fill') }),
        line('Maximum', data.maximum_height, 2, thin),
        line('Forecast', data.forecast_wave_height, 3, forecast),
      ],
    },
    {
      name: 'Periods',
      scale: scaleOf('period', units),
      lines: [line('Period', data.period, 4), line('Peak', data.peak_period, 2, thin)],
    },
    {
      name: 'Directions',
      scale: scaleOf('direction', units),
      y: { range: [0, 360] },
      yAxis: { splits: () => QUARTERS, values: () => QUARTER_NAMES },
      // Where waves and wind come from.
      lines: [line('Waves from', data.direction, 1, dots), line('Wind from', data.wind_direction, 3, dots)],
    },
    {
      name: 'Wind',
      scale: speed,
      y: fromZero(speed.from(1)),
      lines: [
        line('Wind', data.wind_speed, 1),
        line('Gusts', data.gust_speed, 2, thin),
        line('Forecast', data.forecast_wind_speed, 3, forecast),
      ],
    },
    {
      name: 'Water',
      scale: scaleOf('temperature', units),
      lines: [line('Water', data.water_temperature, 6)],
    },
    { name: 'Tide', scale: height, lines: [line('Tide', data.tide_level, 5)] },
  ]
}

/**
 * A time axis on which every line can break: where nothing at all comes for long, a slot follows the last
 * value. `times` in seconds; `from` gives each slot's place in them, −1 for those of `pauses`.
 */
function withPauses(times: readonly number[]): { x: number[]; from: number[]; pauses: Set<number> } {
  const [x, from, pauses]: [number[], number[], Set<number>] = [[], [], new Set()]
  for (const [i, time] of times.entries()) {
    const before = times[i - 1]
    if (before !== undefined && time - before > LONGEST_PAUSE_S) {
      pauses.add(x.length)
      x.push(before + 1)
      from.push(-1)
    }
    x.push(time)
    from.push(i)
  }
  return { x, from, pauses }
}

/** Loaded with the readings, when the first chart is needed. */
export { drawSeason } from './season.ts'
