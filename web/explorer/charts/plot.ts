/** One plot: lines, and signs of directions below them, over one x axis, in the colours of the page. */
import UPlot from 'uplot'
import { variable } from '../theme.ts'
import { directionText, tickNames } from '../format.ts'
import { localNumber, texts } from '../language.ts'
import { scaledText, type Scale } from '../mine/units.ts'
import { ARROW, longPauses, type Range } from './geometry.ts'
import { has } from './parts.ts'

/** Heights of what lines are drawn in. On wide panels the tall one grows with the width. */
const HEIGHT_PIXELS = { tall: 190, short: 92 } as const
/** Width over height of a tall plot that is wide enough. */
const TALL_SHAPE = 2.6
const TALLEST_PIXELS = 330
const LEAST_WIDTH_PIXELS = 120
/** Half of the lowest number of the value axis lies below the plot. */
const BELOW_PIXELS = 8
/** The least width of the value axis, and what its texts have beside them. */
const VALUE_AXIS_PIXELS = { least: 44, beside: 16 } as const
/** Names of days and months have room from here on, and hours with the day below them. */
const NAME_PIXELS = 27
const HOUR_PIXELS = 56
const TICK_PIXELS = 4
const MARK_PIXELS = 6
/** How far from the pointer a value may be and still be shown: lines have values at times of their own. */
const HOVER_PIXELS = 12
const LONE_DOT_PIXELS = 6
/** A row of signs, and the least distance between two of them. */
const SIGN_ROW_PIXELS = 22
const SIGN_SPACE_PIXELS = 22
const DAY_S = 86_400

/** A drag with the mouse that is shorter chooses nothing. */
const LEAST_DRAG_PIXELS = 8
/** Texts at the dots of a line. */
const DOT_TEXT = { size: 11, away: 6 } as const

export interface Line {
  label: string
  color: string
  /** Values in the unit of the API; of signs degrees, clockwise from north. */
  values: readonly (number | null)[]
  dash?: number[]
  /** Pixels; 2 where it is left out. */
  width?: number
  fill?: string
  /** Class of its row in the legend. */
  class?: string
  /** Its mark in the legend, if not the line's. */
  mark?: string
  /** Text of a value in the API's unit, where that is not the number with the unit. */
  textOf?: (value: number, index: number) => string
  /** Draws signs in place of a line: the sign for north, about its middle. */
  sign?: (index: number) => Path2D
  /** Dots in place of a line, with this text above those of an upper half, and below the others. */
  dotText?: (index: number) => string
  /** Whether it is left out until the visitor asks for it in the legend. */
  isOff?: boolean
  /** Signs of the same row do not cover each other. */
  row?: string
  /** For signs: the label of the line whose entry in the legend shows them, too. */
  of?: string
}

export interface Plot {
  /** The measure's name. */
  name: string
  scale: Scale
  /** Each line has a value, or nobody would know what its name in the legend stands for. */
  lines: readonly Line[]
  size: keyof typeof HEIGHT_PIXELS
  /** Begin and end of the value axis; the values decide where it is left out. */
  range?: UPlot.Range.Function
  bands?: UPlot.Band[]
}

/** Common to plots over one x axis. */
export interface Shared {
  /** Epoch seconds, ascending, and the range of them that the axis has. */
  x: readonly number[]
  range: Range
  /** Takes the range that the visitor has chosen with the mouse. */
  onSelect?: ((range: Range) => void) | undefined
  /** IANA name of the clock. */
  zone: string
  /** Names of the ticks, and the pixels of the axis below the last plot. */
  times: UPlot.Axis.Values
  timesPixels: number
  /** Epoch seconds of a line through all plots. */
  now?: () => number
  /** Text of a value of the x axis. */
  textOfX: (x: number) => string
  /** Seconds that a line with these values bridges where it has none. */
  longestPauseOf: (values: readonly (number | null)[]) => number
  /** Pixels of the widest value axis so far, which all plots have. */
  axis: { pixels: number }
}

/**
 * Draws a plot at the end of `host`, as wide as its place is, now and later; `remove` takes it away again.
 */
export function draw(
  host: HTMLElement,
  { name, scale, lines, size, range, bands = [] }: Plot,
  shared: Shared,
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): { plot: UPlot; remove: () => void } {
  const { x, zone, times, timesPixels, now, textOfX, longestPauseOf, axis, onSelect } = shared
  const place = document.createElement('div')
  place.className = `plot ${size}`
  Object.assign(place.dataset, { name, unit: scale.unit })
  host.append(place)
  // Shown in place of the time while nothing is pointed at.
  const isTouch = matchMedia('(pointer: coarse)').matches
  const byMouse = onSelect === undefined ? texts.chart.hover : texts.chart.hoverOrDrag
  const hint = isTouch ? texts.chart.tap : byMouse
  // A line breaks at marked cells, and continues over cells without a value.
  const cells = lines.map(({ values, sign }) => {
    const shown = (value: number): number => (sign === undefined ? scale.from(value) : value)
    return values.map((value) => (value === null ? undefined : shown(value)))
  })
  const rows = [...new Set(lines.flatMap(({ sign, row, label }) => (sign ? [row ?? label] : [])))]
  const signPixels = rows.length * SIGN_ROW_PIXELS
  const belowPixels = signPixels + (isLast ? timesPixels : BELOW_PIXELS)
  const sizeNow = (): { width: number; height: number } => {
    const width = Math.max(LEAST_WIDTH_PIXELS, place.clientWidth)
    const tall = Math.min(TALLEST_PIXELS, Math.max(HEIGHT_PIXELS.tall, Math.round(width / TALL_SHAPE)))
    const inner = size === 'tall' ? tall : HEIGHT_PIXELS.short
    return { width, height: inner + belowPixels }
  }
  const base: UPlot.Axis = {
    stroke: variable('--muted'),
    font: `12px ${variable('--font')}`,
    grid: { stroke: variable('--line'), width: 1 },
    ticks: { stroke: variable('--line'), width: 1, size: TICK_PIXELS },
  }
  const timeAxis: UPlot.Axis = {
    ...base,
    space: (_plot, _axis, low, high, pixels) => {
      const day = (pixels * DAY_S) / (high - low)
      // No hours where only those of noon would have room.
      return day >= 2 * HOUR_PIXELS ? HOUR_PIXELS : Math.max(NAME_PIXELS, day * 0.6)
    },
    size: belowPixels,
    gap: signPixels + TICK_PIXELS,
    values: isLast ? times : (_plot, splits) => splits.map(() => ''),
  }
  const valueAxis: UPlot.Axis = {
    ...base,
    size: ({ ctx }, texts) => {
      ctx.save()
      // The canvas and its fonts are in pixels of the screen.
      ctx.font = `12px ${variable('--font')}`
      const widest = Math.max(0, ...(texts ?? []).map((text) => ctx.measureText(text).width))
      ctx.restore()
      axis.pixels = Math.max(
        axis.pixels,
        VALUE_AXIS_PIXELS.least,
        Math.ceil(widest) + VALUE_AXIS_PIXELS.beside,
      )
      return axis.pixels
    },
    values: (_plot, splits) =>
      splits.map((split, i) => {
        // Sums of steps have the faults of binary fractions.
        const text = localNumber(`${Number(split.toFixed(6))}`)
        return i === splits.length - 1 ? `${text} ${scale.unit}` : text
      }),
  }
  const plot = new UPlot(
    {
      bands,
      ...sizeNow(),
      fmtDate: (template) => UPlot.fmtDate(template, tickNames()),
      tzDate: (epoch) => UPlot.tzDate(new Date(epoch * 1000), zone),
      axes: [timeAxis, valueAxis],
      scales: { x: { range: () => [...shared.range] }, y: range ? { range } : {}, turn: { range: [0, 360] } },
      cursor: {
        y: false,
        drag: { x: onSelect !== undefined, y: false, setScale: false, dist: LEAST_DRAG_PIXELS },
        points: { size: MARK_PIXELS },
        sync: { key: 'charts' },
        hover: { prox: HOVER_PIXELS },
      },
      // The last day's name needs some room after it, and the word at the line of now above it.
      padding: [isFirst && now !== undefined ? 18 : 10, 22, 0, 0],
      legend: { live: true, markers: { fill: (_plot, i) => lines[i - 1]?.mark ?? 'transparent' } },
      hooks: {
        setSeries: [(drawn) => markShown(drawn, lines)],
        setSelect: [
          (drawn) => {
            const { left, width } = drawn.select
            if (width > 0) onSelect?.([drawn.posToVal(left, 'x'), drawn.posToVal(left + width, 'x')])
          },
        ],
        draw: [
          (drawn) => drawSigns(drawn, lines, rows),
          (drawn) => drawDotTexts(drawn, lines, now?.() ?? null),
          (drawn) => now && drawNow(drawn, now(), signPixels, isFirst),
        ],
      },
      series: [
        { label: texts.chart.time, value: (_plot, at) => (at === null ? hint : textOfX(at)) },
        ...lines.map((line) => seriesOf(line, lines, scale, x, longestPauseOf)),
      ],
    },
    [[...x], ...cells] as UPlot.AlignedData,
    place,
  )
  makeButtons(plot, lines)
  // Draws now, not in the next microtask: the caller may want to read a value at once.
  plot.batch(() => {})
  const watch = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) plot.setSize(sizeNow())
  })
  watch.observe(place)
  const remove = (): void => {
    watch.disconnect()
    plot.destroy()
    place.remove()
  }
  return { plot, remove }
}

/** The rows of lines in the legend, without that of the time. */
const rowsOf = (plot: UPlot): HTMLElement[] =>
  [...plot.root.querySelectorAll<HTMLElement>('.u-legend .u-series')].slice(1)

/**
 * Makes each name in the legend a button, with its line as it is drawn; uPlot listens to clicks on its row.
 */
function makeButtons(plot: UPlot, lines: readonly Line[]): void {
  for (const [i, row] of rowsOf(plot).entries()) {
    const { color, width = 2, dash = [], mark, sign } = lines[i] as Line
    const button = document.createElement('button')
    button.type = 'button'
    const sample = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
    sample.setAttribute('viewBox', '-11 -8 22 16')
    sample.setAttribute('aria-hidden', 'true')
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
    path.setAttribute('d', sign === undefined ? 'M-11 0H11' : ARROW)
    Object.assign(path.style, {
      stroke: mark ?? color,
      strokeWidth: String(mark === undefined ? width : 10),
      strokeDasharray: dash.join(' '),
    })
    sample.append(path)
    const head = row.querySelector('th')!
    button.append(sample, ...head.childNodes)
    head.append(button)
  }
  markShown(plot, lines)
}

/** Says of each line whether it is shown; the signs of a line come and go with it. */
function markShown(plot: UPlot, lines: readonly Line[]): void {
  for (const [i, row] of rowsOf(plot).entries()) {
    const isShown = plot.series[i + 1]?.show !== false
    row.querySelector('button')?.setAttribute('aria-pressed', String(isShown))
    for (const [k, { of }] of lines.entries()) {
      const isOther = plot.series[k + 1]?.show !== isShown
      if (of !== undefined && of === lines[i]?.label && isOther) plot.setSeries(k + 1, { show: isShown })
    }
  }
}

function seriesOf(
  { label, color, width = 2, values, sign, dotText, textOf, of, isOff = false, ...more }: Line,
  lines: readonly Line[],
  scale: Scale,
  x: readonly number[],
  longestPauseOf: Shared['longestPauseOf'],
): UPlot.Series {
  const from = lines.find((line) => line.of === label)?.values
  const fromText = (index: number): string => {
    const degrees = from?.[index] ?? null
    return degrees === null ? '' : ` ${texts.buoy.from(directionText(degrees))}`
  }
  const text = textOf ?? ((value: number, index: number) => `${scaledText(scale, value)}${fromText(index)}`)
  const pauses = longPauses(x, values, longestPauseOf(values))
  // Begin and end of each part of the line. Without a dot, a part of one value would not be seen.
  const ends = [values.findIndex(has), ...pauses.flat(), values.findLastIndex(has)]
  const lone =
    dotText === undefined
      ? ends.filter((end, i) => i % 2 === 0 && end >= 0 && end === ends[i + 1] && sign === undefined)
      : [...values.keys()].filter((i) => values[i] !== null)
  return {
    ...more,
    show: !isOff,
    label,
    stroke: color,
    width,
    gaps: (plot) =>
      pauses.map(([from, to]) => [
        plot.valToPos(x[from] ?? 0, 'x', true),
        plot.valToPos(x[to] ?? 0, 'x', true),
      ]),
    points: { show: lone.length > 0, filter: () => lone, size: LONE_DOT_PIXELS, width: 0, fill: color },
    ...(dotText && { paths: () => null }),
    ...(sign === undefined
      ? {}
      : { scale: 'turn', class: of === undefined ? 'sign' : 'behind', paths: () => null }),
    value: (_plot: UPlot, _shown: number | null, _series: number, index: number | null) => {
      const value = index === null ? null : values[index]
      const isRead = value !== null && value !== undefined && index !== null && of === undefined
      return isRead ? text(value, index) : ''
    },
  }
}

/** Draws as many signs into the rows below a plot as have room next to each other. */
function drawSigns(plot: UPlot, lines: readonly Line[], rows: readonly string[]): void {
  const { ctx, bbox, series, data } = plot
  const ratio = devicePixelRatio
  const [first = 0, last = -1] = series[0]?.idxs ?? []
  const free = rows.map(() => -Infinity)
  for (const [at, { sign, values, color, row: name, label }] of lines.entries()) {
    if (sign === undefined || series[at + 1]?.show === false) continue
    const row = rows.indexOf(name ?? label)
    for (let i = first; i <= last; i++) {
      const degrees = values[i] ?? null
      const left = plot.valToPos(data[0][i] ?? 0, 'x', true)
      if (degrees === null || left < (free[row] ?? 0)) continue
      free[row] = left + SIGN_SPACE_PIXELS * ratio
      ctx.save()
      ctx.translate(left, bbox.top + bbox.height + (row + 0.5) * SIGN_ROW_PIXELS * ratio)
      ctx.rotate((degrees * Math.PI) / 180)
      ctx.scale(ratio, ratio)
      Object.assign(ctx, { strokeStyle: color, fillStyle: color, lineWidth: 1.5, lineJoin: 'round' })
      const path = sign(i)
      ctx.stroke(path)
      ctx.fill(path)
      ctx.restore()
    }
  }
}

/** Writes the texts of dots that have room beside each other. */
function drawDotTexts(plot: UPlot, lines: readonly Line[], now: number | null): void {
  const { ctx, data, scales } = plot
  const ratio = devicePixelRatio
  const middle = ((scales.y?.min ?? 0) + (scales.y?.max ?? 0)) / 2
  ctx.save()
  Object.assign(ctx, { font: `${DOT_TEXT.size * ratio}px ${variable('--font')}`, textAlign: 'center' })
  ctx.fillStyle = variable('--text')
  for (const [at, { values, dotText }] of lines.entries()) {
    if (dotText === undefined || plot.series[at + 1]?.show === false) continue
    const free = { above: -Infinity, below: -Infinity }
    for (const [i, value] of values.entries()) {
      const level = data[at + 1]?.[i]
      if (value === null || typeof level !== 'number') continue
      const side = level > middle ? 'above' : 'below'
      const text = dotText(i)
      const [left, top] = [plot.valToPos(data[0][i] ?? 0, 'x', true), plot.valToPos(level, 'y', true)]
      const half = ctx.measureText(text).width / 2
      // The line of now, and its word, stay free.
      const isOverNow =
        now !== null && Math.abs(left - plot.valToPos(now, 'x', true)) < half + DOT_TEXT.away * ratio
      if (left - half < free[side] || isOverNow) continue
      free[side] = left + half + DOT_TEXT.away * ratio
      const away = side === 'above' ? -DOT_TEXT.away : DOT_TEXT.away + DOT_TEXT.size * 0.8
      ctx.fillText(text, left, top + away * ratio)
    }
  }
  ctx.restore()
}

/** Draws a line through a plot and its signs; the first plot has the word for it. */
function drawNow(plot: UPlot, now: number, below: number, isNamed: boolean): void {
  const { ctx, bbox, scales } = plot
  if (now < (scales.x?.min ?? Infinity) || now > (scales.x?.max ?? -Infinity)) return
  const ratio = devicePixelRatio
  const color = variable('--text')
  const left = Math.round(plot.valToPos(now, 'x', true))
  ctx.save()
  Object.assign(ctx, { strokeStyle: color, fillStyle: color, lineWidth: ratio, textAlign: 'center' })
  ctx.setLineDash([3 * ratio, 3 * ratio])
  ctx.beginPath()
  ctx.moveTo(left, bbox.top)
  ctx.lineTo(left, bbox.top + bbox.height + below * ratio)
  ctx.stroke()
  ctx.font = `600 ${12 * ratio}px ${variable('--font')}`
  if (isNamed) ctx.fillText(texts.chart.now, left, bbox.top - 5 * ratio)
  ctx.restore()
}
