/**
 * The readings of a buoy over some days: heights with the forecast, and below them all else that it measures.
 */
import UPlot from 'uplot'
import type { Chart } from '../../../clients/typescript/groundswell.ts'
import { compass, dayAndTime, type Zone } from '../format.ts'
import { scaleOf, type Scale, type Units } from '../mine/units.ts'
import { variable } from '../dom.ts'
import { PlotGroup, type Memory } from './group.ts'
import { axes, draw, type Line, type Plot } from './plot.ts'
import { breakLongPauses, wholeOf } from './range.ts'

/** Longest pause that a line bridges: readings come every half hour or hour, forecast and tide hourly. */
const LONGEST_PAUSE_S = 3 * 3600
/**
 * How far from the pointer a value may be and still be shown: the times of one series lie between those of
 * another.
 */
const HOVER_PIXELS = 12
const MARK_PIXELS = 6
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

/** The lines that one plot shows. */
interface Part {
  /** A heading for screen readers. */
  name: string
  lines: Line[]
  scale: Scale
  plot: Partial<Plot>
}

/** Draws a plot for each quantity that has values into `place`. One cursor runs through all. */
export function drawReadings(
  place: HTMLElement,
  data: Chart,
  zone: Zone,
  units: Units,
  memory: Memory,
): () => void {
  const times = data.time.map((time) => Date.parse(time) / 1000)
  const { x, from, pauses } = withPauses(times)
  let group: PlotGroup | null = null
  // uPlot would make a range of years of a single time.
  const range = (_plot: UPlot, low: number, high: number): [number, number] =>
    x.length === 1 ? [...wholeOf(x, LEAST_RANGE_S)] : [low, high]
  const textOfX = (at: number): string => dayAndTime(new Date(at * 1000), zone)
  const plotOf = ({ scale, plot: special }: Part): Plot => ({
    size: 'short',
    axes: axes({ values: AXIS_TIMES }, scale),
    cursor: {
      y: false,
      sync: { key: 'readings' },
      drag: { x: true, y: false },
      points: { size: MARK_PIXELS },
      hover: { prox: HOVER_PIXELS },
    },
    tzDate: (epoch) => UPlot.tzDate(new Date(epoch * 1000), zone.name),
    textOfX,
    cellsOf: ({ values }) => breakLongPauses(x, values, LONGEST_PAUSE_S),
    onRange: (shown) => group?.follow(shown),
    ...special,
    scales: { ...special.scales, x: { time: true, range } },
  })
  const onAxis = (each: Line): Line => ({ ...each, values: from.map((i) => each.values[i] ?? null) })
  const parts = partsOf(data, units)
    .map((part) => ({ ...part, lines: part.lines.filter(hasValues).map(onAxis) }))
    .filter(({ lines }) => lines.length > 0)
  const drawn = parts.map((part) => {
    const own = document.createElement('div')
    own.className = `plot ${part.plot.size ?? 'short'}`
    own.dataset.name = part.name
    own.dataset.unit = part.scale.unit
    place.append(own)
    return draw(own, x, part.lines, plotOf(part))
  })
  group = new PlotGroup({
    plots: drawn.map(({ plot }) => plot),
    x,
    memory,
    leastWidth: LEAST_RANGE_S,
    bigStep: DAY_S,
    label: 'Time in the chart',
    textOfX: (at) => `${textOfX(at)} ${zone.label}`,
    skip: pauses,
    first: Math.max(
      0,
      from.findLastIndex((i) => (data.significant_height[i] ?? null) !== null),
    ),
  })
  return () => {
    group.remove()
    for (const { remove } of drawn) remove()
  }
}

const hasValues = ({ values }: Line): boolean => values.some((value) => value !== null)

function partsOf(data: Chart, units: Units): Part[] {
  const [height, period, direction] = [
    scaleOf('height', units),
    scaleOf('period', units),
    scaleOf('direction', units),
  ]
  const [speed, temperature] = [scaleOf('speed', units), scaleOf('temperature', units)]
  const fromZero = (least: number) => (_plot: UPlot, _low: number, high: number | null) =>
    [0, Math.max(least, (high ?? 0) * 1.08)] as [number, number]
  return [
    {
      name: 'Heights',
      lines: heightLines(data, height),
      scale: height,
      plot: { size: 'tall', scales: { y: { range: fromZero(height.from(1)) } } },
    },
    { name: 'Periods', lines: periodLines(data, period), scale: period, plot: {} },
    {
      name: 'Directions',
      lines: directionLines(data, direction),
      scale: direction,
      plot: {
        axes: axes({ values: AXIS_TIMES }, direction, {
          splits: () => QUARTERS,
          values: () => QUARTER_NAMES,
        }),
        scales: { y: { range: [0, 360] } },
      },
    },
    {
      name: 'Wind',
      lines: windLines(data, speed),
      scale: speed,
      plot: { scales: { y: { range: fromZero(speed.from(1)) } } },
    },
    {
      name: 'Water',
      lines: [line('Water', data.water_temperature, '--chart-6', temperature)],
      scale: temperature,
      plot: {},
    },
    {
      name: 'Tide',
      lines: [line('Tide', data.tide_level, '--chart-5', height)],
      scale: height,
      plot: {},
    },
  ]
}

function line(
  label: string,
  values: readonly (number | null)[] | undefined,
  color: string,
  scale: Scale,
  more: Partial<Line> = {},
): Line {
  return { label, values: values ?? [], color: variable(color), scale, ...more }
}

function heightLines(data: Chart, scale: Scale): Line[] {
  return [
    line('Significant', data.significant_height, '--chart-1', scale, { fill: variable('--chart-1-fill') }),
    line('Maximum', data.maximum_height, '--chart-2', scale, { width: 1 }),
    line('Forecast', data.forecast_wave_height, '--chart-3', scale, { dash: [6, 4] }),
  ]
}

function periodLines(data: Chart, scale: Scale): Line[] {
  return [
    line('Period', data.period, '--chart-4', scale),
    line('Peak', data.peak_period, '--chart-2', scale, { width: 1 }),
  ]
}

/** Where waves and wind come from. */
function directionLines(data: Chart, scale: Scale): Line[] {
  const dots = { dots: true, textOf: (degrees: number) => `${compass(degrees)} ${degrees}°` }
  return [
    line('Waves from', data.direction, '--chart-1', scale, dots),
    line('Wind from', data.wind_direction, '--chart-3', scale, dots),
  ]
}

function windLines(data: Chart, scale: Scale): Line[] {
  return [
    line('Wind', data.wind_speed, '--chart-1', scale),
    line('Gusts', data.gust_speed, '--chart-2', scale, { width: 1 }),
    line('Forecast', data.forecast_wind_speed, '--chart-3', scale, { dash: [6, 4] }),
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
