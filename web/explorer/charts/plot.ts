/** One plot: lines over one x axis, with a legend. Its colours are those of the page's style. */
import UPlot from 'uplot'
import { variable } from '../theme.ts'
import { decimalText, type Scale } from '../mine/units.ts'
import type { Range } from './range.ts'

/** Heights of plots. On wide panels the tall one grows with the width. */
const HEIGHT_PIXELS = { tall: 230, short: 130 } as const
/** Width over height of a tall plot that is wide enough. */
const TALL_SHAPE = 2.2
const TALLEST_PIXELS = 380
const LEAST_WIDTH_PIXELS = 120
/** Space of the time axis: two rows where the day is below the hour, else one. */
const TIME_AXIS_PIXELS = { two: 42, one: 28 } as const
const VALUE_AXIS_PIXELS = 44
const TICK_PIXELS = 4
const DOT_PIXELS = 4
const MARK_PIXELS = 6
const LONE_DOT_PIXELS = 6

/** Shown in the place of the time while nothing is pointed at. */
const HINTS = {
  touch: 'Tap or drag to read, pinch or double-tap to zoom',
  mouse: 'Hover to read, drag to zoom, double-click to reset',
} as const

/**
 * A cell of a series: `undefined` where only another series has a value on the shared axis, null where the
 * line breaks.
 */
export type Cell = number | null | undefined

export interface Line {
  label: string
  color: string
  /** Values in the unit of the API; a line without any is left out. */
  values: readonly (number | null)[]
  dash?: number[]
  /** Pixels; 2 where it is left out. */
  width?: number
  fill?: string
  /** Class of its row in the legend. */
  class?: string
  /** Draws dots, without a line between them: a direction goes from 359° to 0° by one degree. */
  dots?: boolean
  /** Its mark in the legend, where that is not the line's. */
  mark?: string
  /** Text of a value in the API's unit, where that is not the number with the unit. */
  textOf?: (value: number, index: number) => string
}

export interface Plot {
  /** What is measured. */
  name: string
  scale: Scale
  lines: readonly Line[]
  size: keyof typeof HEIGHT_PIXELS
  axes: UPlot.Axis[]
  scales: UPlot.Scales
  bands?: UPlot.Band[]
}

/** What plots over one x axis have in common. */
export interface Shared {
  x: readonly number[]
  cursor?: UPlot.Cursor
  tzDate?: (epoch: number) => Date
  /** Text of a value of the x axis. */
  textOfX: (x: number) => string
  /** The cells of a line, as many as `x`. */
  cellsOf: (line: Line) => Cell[]
}

function sizeOf(place: HTMLElement, size: Plot['size']): { width: number; height: number } {
  const width = Math.max(LEAST_WIDTH_PIXELS, place.clientWidth)
  const tall = Math.min(TALLEST_PIXELS, Math.max(HEIGHT_PIXELS.tall, Math.round(width / TALL_SHAPE)))
  return { width, height: size === 'tall' ? tall : HEIGHT_PIXELS.short }
}

/**
 * Draws a plot at the end of `host`, as wide as its place is, now and later. `onRange` is called when the visitor
 * has zoomed with the mouse; `remove` takes everything away again.
 */
export function draw(
  host: HTMLElement,
  { name, scale, lines, size, ...own }: Plot,
  { x, textOfX, cellsOf, cursor, ...shared }: Shared,
  onRange: (range: Range) => void,
): { plot: UPlot; remove: () => void } {
  const place = document.createElement('div')
  place.className = `plot ${size}`
  Object.assign(place.dataset, { name, unit: scale.unit })
  host.append(place)
  const hint = matchMedia('(pointer: coarse)').matches ? HINTS.touch : HINTS.mouse
  let pointer = 'mouse'
  const cells = lines.map((line) =>
    cellsOf(line).map((value) => (typeof value === 'number' ? scale.from(value) : value)),
  )
  const plot = new UPlot(
    {
      ...shared,
      ...own,
      ...sizeOf(place, size),
      cursor: {
        y: false,
        drag: { x: true, y: false },
        points: { size: MARK_PIXELS },
        ...cursor,
        bind: {
          // Browsers make a double-click of a double-tap, which has its own meaning.
          dblclick: (_plot, _target, showAll) => (event) => {
            if (pointer === 'mouse') showAll(event)
            return null
          },
        },
      },
      // The last day's name needs some room behind it.
      padding: [10, 22, 0, 0],
      legend: { live: true, markers: { fill: (_plot, i) => lines[i - 1]?.mark ?? 'transparent' } },
      hooks: {
        setScale: [({ scales }, key) => key === 'x' && onRange([scales.x?.min ?? 0, scales.x?.max ?? 0])],
      },
      series: [
        { label: 'Time', value: (_plot, at) => (at === null ? hint : textOfX(at)) },
        ...lines.map((line, i) => seriesOf(line, scale, cells[i] ?? [])),
      ],
    },
    [[...x], ...cells] as UPlot.AlignedData,
    place,
  )
  plot.over.addEventListener('pointerdown', ({ pointerType }) => {
    pointer = pointerType
  })
  // Draws now, not in the next microtask: the caller may want to read a value at once.
  plot.batch(() => {})
  const watch = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) plot.setSize(sizeOf(place, size))
  })
  watch.observe(place)
  const remove = (): void => {
    watch.disconnect()
    plot.destroy()
    place.remove()
  }
  return { plot, remove }
}

function seriesOf(
  { label, color, width = 2, values, dots = false, textOf, ...more }: Line,
  scale: Scale,
  cells: readonly Cell[],
): UPlot.Series {
  const text = textOf ?? ((value: number) => `${decimalText(scale.from(value), scale.digits)} ${scale.unit}`)
  const lone = lonely(cells)
  return {
    ...more,
    label,
    stroke: color,
    width,
    points: dots
      ? { show: true, size: DOT_PIXELS, width: 0, fill: color }
      : { show: lone.length > 0, filter: () => lone, size: LONE_DOT_PIXELS, width: 0, fill: color },
    ...(dots ? { paths: () => null } : {}),
    value: (_plot: UPlot, _shown: Cell, _series: number, index: number | null) => {
      const value = index === null ? null : values[index]
      return value === null || value === undefined || index === null ? '' : text(value, index)
    },
  }
}

/** Indexes of values that no line leads to: a plot without dots would not show them. */
function lonely(cells: readonly Cell[]): number[] {
  const found: number[] = []
  let [isOpen, last] = [false, -1]
  const end = (): void => {
    if (last !== -1 && !isOpen) found.push(last)
    isOpen = false
    last = -1
  }
  for (const [i, cell] of cells.entries()) {
    if (cell === null) end()
    if (typeof cell !== 'number') continue
    if (last !== -1) isOpen = true
    last = i
  }
  end()
  return found
}

/** The axes of a plot: `xAxis` adds what is special about the lower one, `yAxis` about the left one. */
export function axes(
  xAxis: Partial<UPlot.Axis>,
  { unit }: Scale,
  yAxis: Partial<UPlot.Axis> = {},
): UPlot.Axis[] {
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
    ...yAxis,
  }
  return [{ ...base, space: 64, size: timeAxisSize, grid: { show: false }, ...xAxis }, value]
}

function timeAxisSize(_plot: UPlot, values: string[] | null): number {
  // Before the first layout there are no values.
  const isTwoRows = values !== null && values.some((value) => value.includes('\n'))
  return isTwoRows ? TIME_AXIS_PIXELS.two : TIME_AXIS_PIXELS.one
}
