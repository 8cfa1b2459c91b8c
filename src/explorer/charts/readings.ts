/** The readings of a buoy over some days: heights with the forecast, and below them periods and the tide. */
import UPlot from 'uplot'
import type { Chart } from '../../../clients/typescript/groundswell.ts'
import { dayAndTime, type Zone } from '../format.ts'
import { axes, draw, HEIGHT_PIXELS, variable, type Cell, type Line, type Plot } from './plot.ts'

/** Longest pause that a line bridges: readings come every half hour or hour, forecast and tide hourly. */
const LONGEST_PAUSE_S = 3 * 3600
/**
 * How far from the pointer a value may be and still be shown: the times of one series lie between those of
 * another.
 */
const HOVER_PIXELS = 12
const MARK_PIXELS = 6

/** Ticks by length of step: hours and minutes with the day below where it changes, as 24-hour clocks. */
const AXIS_TIMES: UPlot.Axis.Values = [
  [3600 * 24, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{DD} {MMM}', null, '\n{DD} {MMM}', null, null, null, 1],
]

/** Draws the plots that have values. One cursor runs through all. Returns what removes them. */
export function drawReadings(
  places: { heights: HTMLElement; periods: HTMLElement; tide: HTMLElement },
  data: Chart,
  zone: Zone,
): () => void {
  const x = data.time.map((time) => Date.parse(time) / 1000)
  const plotOf = (unit: string, special: Partial<Plot>): Plot => ({
    height: HEIGHT_PIXELS.short,
    axes: axes({ values: AXIS_TIMES }, unit),
    scales: { x: { time: true } },
    cursor: {
      sync: { key: 'readings' },
      drag: { x: true, y: false },
      points: { size: MARK_PIXELS },
      hover: { prox: HOVER_PIXELS },
    },
    tzDate: (epoch) => UPlot.tzDate(new Date(epoch * 1000), zone.name),
    textOfX: (at) => dayAndTime(new Date(at * 1000), zone),
    cellsOf: ({ values }) => breakLongPauses(x, values),
    ...special,
  })
  const heights = plotOf('m', {
    height: HEIGHT_PIXELS.tall,
    scales: { x: { time: true }, y: { range: fromZero } },
  })
  const removers = [draw(places.heights, x, heightLines(data).filter(hasValues), heights)]
  const below = [
    { place: places.periods, line: periodLine(data) },
    { place: places.tide, line: tideLine(data) },
  ]
  for (const { place, line } of below) {
    if (hasValues(line)) removers.push(draw(place, x, [line], plotOf(line.unit, {})))
  }
  return () => removers.forEach((remove) => remove())
}

const hasValues = ({ values }: Line): boolean => values.some((value) => value !== null)

function heightLines(data: Chart): Line[] {
  const height = { digits: 2, unit: 'm' }
  return [
    {
      ...height,
      label: 'Significant',
      values: data.significant_height,
      color: variable('--chart-1'),
      fill: variable('--chart-1-fill'),
    },
    { ...height, label: 'Maximum', values: data.maximum_height, color: variable('--chart-2'), width: 1 },
    {
      ...height,
      label: 'Forecast',
      values: data.forecast_wave_height,
      color: variable('--chart-3'),
      dash: [6, 4],
    },
  ]
}

function periodLine({ period }: Chart): Line {
  return { label: 'Period', values: period, color: variable('--chart-4'), digits: 1, unit: 's' }
}

function tideLine({ tide_level: level }: Chart): Line {
  return { label: 'Tide', values: level, color: variable('--chart-5'), digits: 2, unit: 'm' }
}

const fromZero = (_plot: UPlot, _low: number, high: number): [number, number] => [0, Math.max(1, high * 1.08)]

/**
 * The line goes on where only another series has a value, but not over a long pause of its own. `x` in
 * seconds.
 */
function breakLongPauses(x: readonly number[], values: readonly (number | null)[]): Cell[] {
  const cells: Cell[] = values.map((value) => value ?? undefined)
  let last = -1
  for (let i = 0; i < values.length; i++) {
    if (values[i] === null) continue
    const pause = (x[i] ?? NaN) - (x[last] ?? NaN)
    if (pause > LONGEST_PAUSE_S && i - last > 1) cells[last + 1] = null
    last = i
  }
  return cells
}
