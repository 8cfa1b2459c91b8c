/** The two charts. Loaded when the first one is needed. Their colours are those of the page's style. */
import UPlot from 'uplot'
import type { ChartData, SeriesYear } from './api.ts'
import { dayAndTime, type Zone } from './format.ts'

/**
 * Longest pause, in seconds, that a line bridges: readings come every half hour or hour, forecast and tide
 * hourly.
 */
const LONGEST_PAUSE = 3 * 3600

const HEIGHT_PIXELS = { tall: 230, short: 130 } as const

/**
 * How far from the pointer a value may be and still be told: series have their places at other times than
 * their neighbours.
 */
const HOVER_PIXELS = 12

/**
 * A cell of a series: `undefined` where another series has a place on the shared axis, null where the line
 * breaks.
 */
type Cell = number | null | undefined

interface Line {
  label: string
  color: string
  values: readonly (number | null)[]
  dash?: number[]
  width?: number
  fill?: string
  /** Of its row in the legend. */
  class?: string
  digits: number
  unit: string
}

/** In the place of the time while the pointer is elsewhere. */
const HINT = 'Drag to zoom, double-click for all'

export interface Drawing {
  destroy(): void
}

const variable = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Pixels; the day stands below the hour where hours are told. */
function timeAxisSize(_plot: UPlot, values: string[] | null): number {
  // Before the first layout there are none.
  return values !== null && values.some((value) => value.includes('\n')) ? 42 : 28
}

function axes(values: (splits: number[]) => string[], unit: string): UPlot.Axis[] {
  const font = `12px ${variable('--font')}`
  const base: UPlot.Axis = {
    stroke: variable('--muted'),
    font,
    grid: { stroke: variable('--line'), width: 1 },
    ticks: { stroke: variable('--line'), width: 1, size: 4 },
  }
  return [
    {
      ...base,
      space: 64,
      size: timeAxisSize,
      values: (_plot, splits) => values(splits),
      grid: { show: false },
    },
    {
      ...base,
      size: 44,
      values: (_plot, splits) =>
        splits.map((split, i) => `${Number(split.toFixed(2))}${i === splits.length - 1 ? ` ${unit}` : ''}`),
    },
  ]
}

/** Draws lines over one x axis into `place`, as wide as it is, now and later. */
function draw(
  place: HTMLElement,
  x: readonly number[],
  lines: readonly Line[],
  options: Partial<UPlot.Options> & { height: number },
  valueAtX: (x: number) => string,
  cells: (line: Line) => Cell[],
): Drawing {
  const plot = new UPlot(
    {
      width: Math.max(200, place.clientWidth),
      padding: [10, 8, 0, 0],
      legend: { live: true },
      ...options,
      series: [
        { label: 'Time', value: (_plot, at) => (at === null ? HINT : valueAtX(at)) },
        ...lines.map(({ label, color, dash, width = 2, fill, class: row, digits, unit }) => ({
          label,
          stroke: color,
          width,
          points: { show: false },
          ...(dash === undefined ? {} : { dash }),
          ...(fill === undefined ? {} : { fill }),
          ...(row === undefined ? {} : { class: row }),
          value: (_plot: UPlot, value: number | null | undefined) =>
            value === null || value === undefined ? '' : `${value.toFixed(digits)} ${unit}`,
        })),
      ],
    },
    [[...x], ...lines.map(cells)] as UPlot.AlignedData,
    place,
  )
  const watch = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
      plot.setSize({ width: place.clientWidth, height: options.height })
    }
  })
  watch.observe(place)
  return {
    destroy() {
      watch.disconnect()
      plot.destroy()
    },
  }
}

/**
 * Heights with the forecast, and below them periods and the tide, where there are any. One cursor runs
 * through all.
 */
export function drawReadings(
  places: { heights: HTMLElement; periods: HTMLElement; tide: HTMLElement },
  data: ChartData,
  zone: Zone,
): Drawing {
  const x = data.time.map((time) => Date.parse(time) / 1000)
  const isAny = (values: readonly (number | null)[]): boolean => values.some((value) => value !== null)
  const sync: UPlot.Cursor = {
    sync: { key: 'readings' },
    drag: { x: true, y: false },
    points: { size: 6 },
    hover: { prox: HOVER_PIXELS },
  }
  const common = {
    cursor: sync,
    tzDate: (epoch: number) => UPlot.tzDate(new Date(epoch * 1000), zone.name),
    scales: { x: { time: true } },
  }
  const when = (at: number): string => dayAndTime(new Date(at * 1000), zone)
  const withGaps = ({ values }: Line): Cell[] => breakLongPauses(x, values)
  const timeAxis = (unit: string): UPlot.Axis[] => {
    const [time, value] = axes(() => [], unit)
    delete time.values
    return [{ ...time, values: AXIS_TIMES }, value]
  }
  const blue = variable('--chart-1')
  const heightLines: Line[] = [
    {
      label: 'Significant',
      color: blue,
      values: data.significant_height,
      digits: 2,
      unit: 'm',
      fill: variable('--chart-1-fill'),
    },
    {
      label: 'Maximum',
      color: variable('--chart-2'),
      values: data.maximum_height,
      digits: 2,
      unit: 'm',
      width: 1,
    },
    {
      label: 'Forecast',
      color: variable('--chart-3'),
      values: data.forecast_wave_height,
      digits: 2,
      unit: 'm',
      dash: [6, 4],
    },
  ]
  const drawings = [
    draw(
      places.heights,
      x,
      heightLines.filter(({ values }) => isAny(values)),
      {
        ...common,
        height: HEIGHT_PIXELS.tall,
        axes: timeAxis('m'),
        scales: { ...common.scales, y: { range: fromZero } },
      },
      when,
      withGaps,
    ),
  ]
  if (isAny(data.period)) {
    const line: Line = {
      label: 'Period',
      color: variable('--chart-4'),
      values: data.period,
      digits: 1,
      unit: 's',
    }
    drawings.push(
      draw(
        places.periods,
        x,
        [line],
        { ...common, height: HEIGHT_PIXELS.short, axes: timeAxis('s') },
        when,
        withGaps,
      ),
    )
  }
  if (isAny(data.tide_level)) {
    const line: Line = {
      label: 'Tide',
      color: variable('--chart-5'),
      values: data.tide_level,
      digits: 2,
      unit: 'm',
    }
    drawings.push(
      draw(
        places.tide,
        x,
        [line],
        { ...common, height: HEIGHT_PIXELS.short, axes: timeAxis('m') },
        when,
        withGaps,
      ),
    )
  }
  return { destroy: () => drawings.forEach((drawing) => drawing.destroy()) }
}

/** Ticks by length of step: hours and minutes with the day below where it changes, as 24-hour clocks. */
const AXIS_TIMES: UPlot.Axis.Values = [
  [3600 * 24, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{DD} {MMM}', null, '\n{DD} {MMM}', null, null, null, 1],
]

const fromZero = (_plot: UPlot, _low: number, high: number): [number, number] => [0, Math.max(1, high * 1.08)]

/**
 * Where a series has no value because another has a place there the line goes on, but not over a long pause
 * of its own.
 */
function breakLongPauses(x: readonly number[], values: readonly (number | null)[]): Cell[] {
  const cells: Cell[] = values.map((value) => value ?? undefined)
  let last = -1
  for (let i = 0; i < values.length; i++) {
    if (values[i] === null) continue
    if (last !== -1 && x[i] - x[last] > LONGEST_PAUSE && i - last > 1) cells[last + 1] = null
    last = i
  }
  return cells
}

/** One year in front, one beside it, all others behind them. */
export function drawSeason(
  place: HTMLElement,
  years: readonly SeriesYear[],
  highlighted: { year: number; against: number | null },
  { unit, digits }: { unit: string; digits: number },
  nameOf: (year: SeriesYear) => string,
): Drawing {
  const labels = new Map<number, string>()
  for (const { points } of years) for (const { bucket_index: at, label } of points) labels.set(at, label)
  const length = Math.max(1, ...labels.keys())
  const x = Array.from({ length }, (_, i) => i + 1)
  const valuesOf = ({ points }: SeriesYear): (number | null)[] => {
    const values: (number | null)[] = x.map(() => null)
    for (const { bucket_index: at, value } of points) values[at - 1] = value
    return values
  }
  const lines: Line[] = years
    .toSorted((a, b) => rank(a.year) - rank(b.year) || a.year - b.year)
    .map((each) => ({
      label: nameOf(each),
      values: valuesOf(each),
      unit,
      digits,
      ...(rank(each.year) === 0
        ? { color: variable('--chart-faint'), width: 1, class: 'behind' }
        : rank(each.year) === 1
          ? { color: variable('--chart-3'), width: 2, dash: [6, 4] }
          : { color: variable('--chart-1'), width: 2.5, class: 'front' }),
    }))
  function rank(year: number): number {
    return year === highlighted.year ? 2 : year === highlighted.against ? 1 : 0
  }
  const monthStarts = x.filter((at) => month(at) !== month(at - 1))
  function month(at: number): string {
    return (labels.get(at) ?? '').slice(0, 3)
  }
  const [time, value] = axes((splits) => splits.map((at) => month(Math.round(at))), unit)
  return draw(
    place,
    x,
    lines,
    {
      height: HEIGHT_PIXELS.tall,
      scales: { x: { time: false } },
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      axes: [{ ...time, splits: () => monthStarts.filter((at) => month(at) !== ''), space: 34 }, value],
    },
    (at) => labels.get(at) ?? '',
    ({ values }) => [...values],
  )
}
