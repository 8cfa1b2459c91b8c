/**
 * Plots over the same x values that are read and zoomed together: by mouse, finger and keyboard. With the
 * mouse uPlot does it; a finger reads where it is, two fingers zoom, and a swipe up or down scrolls the page.
 */
import type UPlot from 'uplot'
import { draw, type Plot, type Shared } from './plot.ts'
import { inside, nearestIndex, pinched, wholeOf, zoomed, type Range } from './range.ts'

/** What a chart keeps when it is drawn anew. */
export interface Memory {
  /** Null for everything. */
  range: Range | null
  /** The x value that a finger or a key has chosen. */
  at: number | null
}

interface GroupOptions {
  memory: Memory
  /** Least width of a zoomed range, in x. */
  leastWidth: number
  /** Step of Page Up and Page Down, in x. */
  bigStep: number
  /** What the cursor's slider is called. */
  label: string
  textOfX: (x: number) => string
  /** Index of `x` where the keyboard begins. */
  first: number
  /** Indexes of `x` that hold no value of any plot. */
  skip?: ReadonlySet<number>
}

/** Draws `plots` over the same ascending x values into `place`. Returns what removes them. */
export function drawTogether(
  place: HTMLElement,
  plots: readonly Plot[],
  shared: Shared,
  options: GroupOptions,
): () => void {
  let group: PlotGroup | null = null
  const drawn = plots.map((plot) => draw(place, plot, shared, (range) => group?.follow(range)))
  group = new PlotGroup({ ...options, plots: drawn.map(({ plot }) => plot), x: shared.x })
  return () => {
    group.remove()
    for (const { remove } of drawn) remove()
  }
}

const TAP_MS = 350
const TAP_PIXELS = 24
/** A zoom by double-tap or key shows this share of the range. */
const ZOOM_SHARE = 1 / 2.5

interface Tap {
  x: number
  y: number
  time: number
}

class PlotGroup {
  readonly #options: GroupOptions & { plots: readonly UPlot[]; x: readonly number[] }
  readonly #whole: Range
  readonly #slider: HTMLElement | undefined
  readonly #abort = new AbortController()
  /** Pixels of the fingers on a plot, by pointer. */
  readonly #fingers = new Map<number, number>()
  #pinch: { range: Range; pixels: [number, number] } | null = null
  #before: number | null = null
  #down: Tap | null = null
  #lastTap: Tap | null = null
  #isZooming = false

  constructor(options: GroupOptions & { plots: readonly UPlot[]; x: readonly number[] }) {
    this.#options = options
    const { plots, x, memory, leastWidth } = options
    this.#whole = wholeOf(x, leastWidth)
    for (const plot of plots) this.#listen(plot)
    this.#slider = plots[0]?.over
    if (this.#slider !== undefined) this.#makeSlider(this.#slider)
    if (memory.range !== null) this.zoom(memory.range)
    if (memory.at !== null) this.read(nearestIndex(x, memory.at))
  }

  remove(): void {
    this.#abort.abort()
  }

  /** Shows the values at an index of `x`; −1 shows none. */
  read(index: number): void {
    const { plots, x, memory } = this.#options
    const at = x[index] ?? null
    memory.at = at
    for (const plot of plots) {
      plot.setCursor({ left: at === null ? -10 : plot.valToPos(at, 'x'), top: 0 }, false)
    }
    this.#name(index)
  }

  zoom(wish: Range): void {
    const { plots, memory, leastWidth } = this.#options
    const range = inside(wish, this.#whole, leastWidth)
    const isAll = range[0] <= this.#whole[0] && range[1] >= this.#whole[1]
    memory.range = isAll ? null : range
    this.#isZooming = true
    for (const plot of plots) {
      plot.batch(() => plot.setScale('x', { min: range[0], max: range[1] }))
      plot.root.dataset.range = range.join('/')
    }
    this.#isZooming = false
    if (memory.at !== null) this.read(nearestIndex(this.#options.x, memory.at))
  }

  /** The visitor has zoomed one plot with the mouse. */
  follow(range: Range): void {
    const current = this.#range()
    if (this.#isZooming || (range[0] === current[0] && range[1] === current[1])) return
    this.zoom(range)
  }

  #range(): Range {
    return this.#options.memory.range ?? this.#whole
  }

  #listen({ over }: UPlot): void {
    const { signal } = this.#abort
    const on = (name: string, listener: (event: PointerEvent) => void): void =>
      over.addEventListener(name, (event) => this.#onFinger(event as PointerEvent, listener), { signal })
    const pixelOf = (event: PointerEvent): number => event.clientX - over.getBoundingClientRect().left
    on('pointerdown', (event) => {
      // This prevents the mouse events that browsers make of a tap.
      event.preventDefault()
      over.setPointerCapture(event.pointerId)
      this.#putDown(event, pixelOf(event), over.clientWidth)
    })
    on('pointermove', (event) => this.#move(event, pixelOf(event), over.clientWidth))
    on('pointerup', (event) => this.#lift(event, over.clientWidth))
    on('pointercancel', (event) => {
      this.#release(event)
      // The page scrolls instead.
      this.read(this.#before === null ? -1 : nearestIndex(this.#options.x, this.#before))
    })
  }

  #onFinger(event: PointerEvent, listener: (event: PointerEvent) => void): void {
    if (event.pointerType !== 'mouse') listener(event)
  }

  #putDown(event: PointerEvent, pixel: number, width: number): void {
    this.#fingers.set(event.pointerId, pixel)
    const [first, second] = this.#fingers.values()
    if (first !== undefined && second !== undefined) {
      this.#down = null
      this.#pinch = { range: this.#range(), pixels: [first, second] }
      return
    }
    this.#before = this.#options.memory.at
    this.#down = { x: event.clientX, y: event.clientY, time: event.timeStamp }
    this.#readPixel(pixel, width)
  }

  #move(event: PointerEvent, pixel: number, width: number): void {
    if (!this.#fingers.has(event.pointerId)) return
    this.#fingers.set(event.pointerId, pixel)
    const [first, second] = this.#fingers.values()
    if (this.#pinch === null) this.#readPixel(pixel, width)
    else if (first !== undefined && second !== undefined) {
      this.zoom(pinched(this.#pinch.range, this.#pinch.pixels, [first, second], width))
    }
  }

  #lift(event: PointerEvent, width: number): void {
    const pixel = this.#fingers.get(event.pointerId)
    const down = this.#down
    this.#release(event)
    if (pixel === undefined || down === null || !isNear(down, event)) {
      this.#lastTap = null
    } else if (this.#lastTap !== null && isNear(this.#lastTap, event)) {
      this.#lastTap = null
      this.#doubleTap(this.#valueAt(pixel, width))
    } else this.#lastTap = { x: event.clientX, y: event.clientY, time: event.timeStamp }
  }

  #release({ pointerId }: PointerEvent): void {
    this.#fingers.delete(pointerId)
    this.#down = null
    if (this.#fingers.size === 0) this.#pinch = null
  }

  #doubleTap(at: number): void {
    this.zoom(this.#options.memory.range === null ? zoomed(this.#whole, at, ZOOM_SHARE) : this.#whole)
  }

  #valueAt(pixel: number, width: number): number {
    const [low, high] = this.#range()
    return low + (pixel / width) * (high - low)
  }

  #readPixel(pixel: number, width: number): void {
    const [low, high] = this.#range()
    const at = Math.min(high, Math.max(low, this.#valueAt(pixel, width)))
    this.read(nearestIndex(this.#options.x, at))
  }

  #makeSlider(slider: HTMLElement): void {
    const { x, label, first, memory } = this.#options
    const { signal } = this.#abort
    slider.id = 'chart-cursor'
    slider.tabIndex = 0
    for (const [name, value] of [
      ['role', 'slider'],
      ['aria-label', label],
      ['aria-valuemin', '0'],
      ['aria-valuemax', String(Math.max(0, x.length - 1))],
      ['aria-valuenow', String(first)],
      ['aria-valuetext', 'Arrow keys read values, plus and minus zoom, Escape shows all'],
    ] as const) {
      slider.setAttribute(name, value)
    }
    slider.addEventListener('keydown', (event) => this.#onKey(event), { signal })
    slider.addEventListener(
      'focus',
      () => {
        if (memory.at === null && slider.matches(':focus-visible')) this.read(first)
      },
      { signal },
    )
  }

  #onKey(event: KeyboardEvent): void {
    const { x, memory, first, bigStep, skip } = this.#options
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const index = memory.at === null ? first : nearestIndex(x, memory.at)
    const at = x[index] ?? 0
    const next = (by: 1 | -1): number => (skip?.has(index + by) === true ? index + 2 * by : index + by)
    const moves: { readonly [key: string]: (() => number) | undefined } = {
      ArrowLeft: () => next(-1),
      ArrowDown: () => next(-1),
      ArrowRight: () => next(1),
      ArrowUp: () => next(1),
      PageDown: () => nearestIndex(x, at - bigStep),
      PageUp: () => nearestIndex(x, at + bigStep),
      Home: () => 0,
      End: () => x.length - 1,
    }
    const move = moves[event.key]
    if (move !== undefined) this.#keepInView(Math.min(x.length - 1, Math.max(0, move())))
    else if (event.key === '+' || event.key === '=') this.zoom(zoomed(this.#range(), at, ZOOM_SHARE))
    else if (event.key === '-') this.zoom(zoomed(this.#range(), at, 1 / ZOOM_SHARE))
    else if (event.key === 'Escape') this.zoom(this.#whole)
    else return
    event.preventDefault()
  }

  /** Reads an index. A zoomed range that does not hold it moves along. */
  #keepInView(index: number): void {
    const at = this.#options.x[index] ?? 0
    const [low, high] = this.#range()
    if (at < low) this.zoom([at, at + high - low])
    else if (at > high) this.zoom([at - (high - low), at])
    this.read(index)
  }

  /** Announces time and values to screen readers. */
  #name(index: number): void {
    const { plots, x, textOfX } = this.#options
    const at = x[index]
    if (this.#slider === undefined || at === undefined) return
    const values = plots.flatMap((plot) => textsOf(plot))
    this.#slider.setAttribute('aria-valuenow', String(index))
    this.#slider.setAttribute('aria-valuetext', [textOfX(at), ...values].join(', '))
  }
}

/** The texts of the legend at the cursor, such as `Maximum 2.40 m`. */
function textsOf(plot: UPlot): string[] {
  return plot.series.flatMap(({ label, value }, i) => {
    const index = plot.cursor.idxs?.[i]
    if (i === 0 || index === null || index === undefined || typeof value !== 'function') return []
    const text = value(plot, plot.data[i]?.[index] ?? 0, i, index)
    return text === '' || typeof label !== 'string' ? [] : [`${label} ${text}`]
  })
}

function isNear(tap: Tap, { clientX, clientY, timeStamp }: PointerEvent): boolean {
  return timeStamp - tap.time < TAP_MS && Math.hypot(clientX - tap.x, clientY - tap.y) < TAP_PIXELS
}
