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
  group = new PlotGroup(
    drawn.map(({ plot }) => plot),
    shared.x,
    options,
  )
  return () => {
    for (const { remove } of drawn) remove()
  }
}

const TAP_MS = 350
const TAP_PIXELS = 24
/** A zoom by double-tap or key shows this share of the range. */
const ZOOM_SHARE = 1 / 2.5

type Tap = Pick<PointerEvent, 'clientX' | 'clientY' | 'timeStamp'>

class PlotGroup {
  readonly #plots: readonly UPlot[]
  readonly #x: readonly number[]
  readonly #options: GroupOptions
  readonly #whole: Range
  readonly #slider: HTMLElement | undefined
  /** Pixels of the fingers on a plot, by pointer. */
  readonly #fingers = new Map<number, number>()
  #pinch: { range: Range; pixels: [number, number] } | null = null
  #before: number | null = null
  #down: Tap | null = null
  #lastTap: Tap | null = null
  #isZooming = false

  constructor(plots: readonly UPlot[], x: readonly number[], options: GroupOptions) {
    this.#plots = plots
    this.#x = x
    this.#options = options
    this.#whole = wholeOf(x, options.leastWidth)
    for (const { over } of plots) this.#listen(over)
    this.#slider = plots[0]?.over
    if (this.#slider !== undefined) this.#makeSlider(this.#slider)
    const { range, at } = options.memory
    if (range !== null) this.#zoom(range)
    this.#readValue(at)
  }

  /** Shows the values at an index of `x`; −1 shows none. */
  #read(index: number): void {
    const at = this.#x[index] ?? null
    this.#options.memory.at = at
    for (const plot of this.#plots) {
      plot.setCursor({ left: at === null ? -10 : plot.valToPos(at, 'x'), top: 0 }, false)
    }
    if (at === null) return
    // Screen readers hear time and values.
    const texts = [this.#options.textOfX(at), ...this.#plots.flatMap(textsOf)]
    this.#slider?.setAttribute('aria-valuenow', String(index))
    this.#slider?.setAttribute('aria-valuetext', texts.join(', '))
  }

  #readValue(at: number | null): void {
    if (at !== null) this.#read(nearestIndex(this.#x, at))
  }

  #zoom(wish: Range): void {
    const { memory, leastWidth } = this.#options
    const [low, high] = inside(wish, this.#whole, leastWidth)
    memory.range = low <= this.#whole[0] && high >= this.#whole[1] ? null : [low, high]
    this.#isZooming = true
    for (const plot of this.#plots) {
      plot.batch(() => plot.setScale('x', { min: low, max: high }))
      plot.root.dataset.range = `${low}/${high}`
    }
    this.#isZooming = false
    this.#readValue(memory.at)
  }

  /** The visitor has zoomed one plot with the mouse. */
  follow(range: Range): void {
    const [low, high] = this.#range()
    if (!this.#isZooming && (range[0] !== low || range[1] !== high)) this.#zoom(range)
  }

  #range(): Range {
    return this.#options.memory.range ?? this.#whole
  }

  #listen(over: HTMLElement): void {
    const on = (name: string, answer: (event: PointerEvent, pixel: number) => void): void =>
      over.addEventListener(name, (event) => {
        const finger = event as PointerEvent
        if (finger.pointerType === 'mouse') return
        answer(finger, finger.clientX - over.getBoundingClientRect().left)
      })
    const readPixel = (pixel: number): void => {
      const [low, high] = this.#range()
      this.#readValue(Math.min(high, Math.max(low, this.#valueAt(pixel, over))))
    }
    on('pointerdown', (event, pixel) => {
      // This prevents the mouse events that browsers make of a tap.
      event.preventDefault()
      over.setPointerCapture(event.pointerId)
      this.#fingers.set(event.pointerId, pixel)
      const [first, second] = this.#fingers.values()
      if (first !== undefined && second !== undefined) {
        this.#down = null
        this.#pinch = { range: this.#range(), pixels: [first, second] }
        return
      }
      this.#before = this.#options.memory.at
      this.#down = event
      readPixel(pixel)
    })
    on('pointermove', (event, pixel) => {
      if (!this.#fingers.has(event.pointerId)) return
      this.#fingers.set(event.pointerId, pixel)
      const [first, second] = this.#fingers.values()
      if (this.#pinch === null) readPixel(pixel)
      else if (first !== undefined && second !== undefined) {
        this.#zoom(pinched(this.#pinch.range, this.#pinch.pixels, [first, second], over.clientWidth))
      }
    })
    on('pointerup', (event, pixel) => {
      const isTap = this.#down !== null && isNear(this.#down, event)
      const isSecond = isTap && this.#lastTap !== null && isNear(this.#lastTap, event)
      this.#release(event)
      this.#lastTap = isTap && !isSecond ? event : null
      if (!isSecond) return
      const isWhole = this.#options.memory.range === null
      this.#zoom(isWhole ? zoomed(this.#whole, this.#valueAt(pixel, over), ZOOM_SHARE) : this.#whole)
    })
    on('pointercancel', (event) => {
      this.#release(event)
      // The page scrolls instead.
      this.#read(this.#before === null ? -1 : nearestIndex(this.#x, this.#before))
    })
  }

  #release({ pointerId }: PointerEvent): void {
    this.#fingers.delete(pointerId)
    this.#down = null
    if (this.#fingers.size === 0) this.#pinch = null
  }

  #valueAt(pixel: number, { clientWidth }: HTMLElement): number {
    const [low, high] = this.#range()
    return low + (pixel / clientWidth) * (high - low)
  }

  #makeSlider(slider: HTMLElement): void {
    const { label, first, memory } = this.#options
    const attributes = {
      role: 'slider',
      'aria-label': label,
      'aria-valuemin': '0',
      'aria-valuemax': String(Math.max(0, this.#x.length - 1)),
      'aria-valuenow': String(first),
      'aria-valuetext': 'Arrow keys read values, plus and minus zoom, Escape shows all',
    }
    for (const [name, value] of Object.entries(attributes)) slider.setAttribute(name, value)
    slider.id = 'chart-cursor'
    slider.tabIndex = 0
    slider.addEventListener('keydown', (event) => this.#onKey(event))
    slider.addEventListener('focus', () => {
      if (memory.at === null && slider.matches(':focus-visible')) this.#read(first)
    })
  }

  #onKey(event: KeyboardEvent): void {
    const { memory, first, bigStep, skip } = this.#options
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const index = memory.at === null ? first : nearestIndex(this.#x, memory.at)
    const at = this.#x[index] ?? 0
    const last = this.#x.length - 1
    const next = (by: 1 | -1) => () => (skip?.has(index + by) === true ? index + 2 * by : index + by)
    const moves: { readonly [key: string]: (() => number) | undefined } = {
      ArrowLeft: next(-1),
      ArrowDown: next(-1),
      ArrowRight: next(1),
      ArrowUp: next(1),
      PageDown: () => nearestIndex(this.#x, at - bigStep),
      PageUp: () => nearestIndex(this.#x, at + bigStep),
      Home: () => 0,
      End: () => last,
    }
    const move = moves[event.key]
    if (move !== undefined) this.#keepInView(Math.min(last, Math.max(0, move())))
    else if (event.key === '+' || event.key === '=') this.#zoom(zoomed(this.#range(), at, ZOOM_SHARE))
    else if (event.key === '-') this.#zoom(zoomed(this.#range(), at, 1 / ZOOM_SHARE))
    else if (event.key === 'Escape') this.#zoom(this.#whole)
    else return
    event.preventDefault()
  }

  /** Reads an index. A zoomed range that does not hold it moves along. */
  #keepInView(index: number): void {
    const at = this.#x[index] ?? 0
    const [low, high] = this.#range()
    if (at < low) this.#zoom([at, at + high - low])
    else if (at > high) this.#zoom([at - (high - low), at])
    this.#read(index)
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

function isNear(tap: Tap, { clientX, clientY, timeStamp }: Tap): boolean {
  const apart = Math.hypot(clientX - tap.clientX, clientY - tap.clientY)
  return timeStamp - tap.timeStamp < TAP_MS && apart < TAP_PIXELS
}
