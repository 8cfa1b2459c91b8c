/** One plot: lines over one x axis, with a legend. Its colours are those of the page's style. */
import UPlot from 'uplot'

export const HEIGHT_PIXELS = { tall: 230, short: 130 } as const
const LEAST_WIDTH_PIXELS = 200
/** Space of the time axis: two rows where the day is below the hour, else one. */
const TIME_AXIS_PIXELS = { two: 42, one: 28 } as const
const VALUE_AXIS_PIXELS = 44
const TICK_PIXELS = 4
/** In the place of the time while the pointer is elsewhere. */
const HINT = 'Drag to zoom, double-click for all'

/**
 * A cell of a series: `undefined` where only another series has a value on the shared axis, null where the
 * line breaks.
 */
export type Cell = number | null | undefined

export interface Line {
  label: string
  color: string
  values: readonly (number | null)[]
  digits: number
  unit: string
  dash?: number[]
  /** Pixels; 2 where it is left out. */
  width?: number
  fill?: string
  /** Of its row in the legend. */
  class?: string
}

export interface Plot {
  height: number
  axes: UPlot.Axis[]
  scales: UPlot.Scales
  cursor: UPlot.Cursor
  tzDate?: (epoch: number) => Date
  /** Text of a value of the x axis. */
  textOfX: (x: number) => string
  /** The cells of a line, as many as `x`. */
  cellsOf: (line: Line) => Cell[]
}

/** A variable of the page's style. */
export function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** Draws lines into `place`, as wide as it is, now and later. Returns what removes them. */
export function draw(
  place: HTMLElement,
  x: readonly number[],
  lines: readonly Line[],
  options: Plot,
): () => void {
  const { textOfX, cellsOf, ...own } = options
  const plot = new UPlot(
    {
      ...own,
      width: Math.max(LEAST_WIDTH_PIXELS, place.clientWidth),
      padding: [10, 8, 0, 0],
      legend: { live: true },
      series: [
        { label: 'Time', value: (_plot, at) => (at === null ? HINT : textOfX(at)) },
        ...lines.map(seriesOf),
      ],
    },
    [[...x], ...lines.map(cellsOf)] as UPlot.AlignedData,
    place,
  )
  const watch = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
      plot.setSize({ width: place.clientWidth, height: options.height })
    }
  })
  watch.observe(place)
  return () => {
    watch.disconnect()
    plot.destroy()
  }
}

function seriesOf({ label, color, width = 2, class: row, digits, unit, dash, fill }: Line): UPlot.Series {
  return {
    label,
    stroke: color,
    width,
    points: { show: false },
    ...(dash === undefined ? {} : { dash }),
    ...(fill === undefined ? {} : { fill }),
    ...(row === undefined ? {} : { class: row }),
    value: (_plot: UPlot, value: Cell) =>
      value === null || value === undefined ? '' : `${value.toFixed(digits)} ${unit}`,
  }
}

/** The axes of a plot: `xAxis` adds what is special about the lower one; `unit` is that of the values. */
export function axes(xAxis: Partial<UPlot.Axis>, unit: string): UPlot.Axis[] {
  const base: UPlot.Axis = {
    stroke: variable('--muted'),
    font: `12px ${variable('--font')}`,
    grid: { stroke: variable('--line'), width: 1 },
    ticks: { stroke: variable('--line'), width: 1, size: TICK_PIXELS },
  }
  const value: UPlot.Axis = {
    ...base,
    size: VALUE_AXIS_PIXELS,
    values: (_plot, splits) =>
      splits.map((split, i) => `${Number(split.toFixed(2))}${i === splits.length - 1 ? ` ${unit}` : ''}`),
  }
  return [{ ...base, space: 64, size: timeAxisSize, grid: { show: false }, ...xAxis }, value]
}

function timeAxisSize(_plot: UPlot, values: string[] | null): number {
  // Before the first layout there are no values.
  const isTwoRows = values !== null && values.some((value) => value.includes('\n'))
  return isTwoRows ? TIME_AXIS_PIXELS.two : TIME_AXIS_PIXELS.one
}
