/**
 * Plots over the same x values that are read and zoomed together: by mouse, finger and keyboard. With the
 * mouse uPlot does it; a finger reads where it is, two fingers zoom, and a swipe up or down scrolls the page.
 */
import type UPlot from 'uplot'
import { now } from '../store.ts'
import { inside, nearestIndex, pinched, wholeOf, zoomed, type Range } from './geometry.ts'
import { draw, type Plot, type Shared } from './plot.ts'

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
  /** What the cursor's slider is called. */
  label: string
  /** Index of `x` where the keyboard begins. */
  first: number
}

const TAP_MS = 350
const TAP_PIXELS = 24
/** A zoom by double-tap or key shows this share of the range. */
const ZOOM_SHARE = 1 / 2.5

type Tap = Pick<PointerEvent, 'clientX' | 'clientY' | 'timeStamp'>

/** Draws `plots` over the same ascending x values into `place`. Returns what removes them. */
export function drawTogether(
  place: HTMLElement,
  parts: readonly Plot[],
  shared: Shared,
  { memory, leastWidth, label, first }: GroupOptions,
): () => void {
  const { x, textOfX } = shared
  const whole = wholeOf(x, leastWidth)
  const last = x.length - 1
  let isZooming = true
  const drawn = parts.map((part, i) =>
    draw(place, part, shared, { isFirst: i === 0, isLast: i === parts.length - 1 }, (wish) => {
      // The visitor has zoomed one plot with the mouse.
      if (!isZooming) zoom(wish)
    }),
  )
  const plots = drawn.map(({ plot }) => plot)
  // An unseen slider over the first plot brings its keys, and what screen readers tell of it.
  const slider = document.createElement('input')

  const shownRange = (): Range => memory.range ?? whole
  const indexAt = (): number => (memory.at === null ? first : nearestIndex(x, memory.at))

  /** Shows the values at an index of `x`; −1 shows none. */
  function read(index: number): void {
    const at = x[index] ?? null
    memory.at = at
    for (const plot of plots) {
      plot.setCursor({ left: at === null ? -10 : plot.valToPos(at, 'x'), top: 0 }, false)
    }
    if (at === null) return
    // Screen readers hear time and values.
    slider.value = String(index)
    slider.setAttribute('aria-valuetext', [textOfX(at), ...plots.flatMap(textsOf)].join(', '))
  }

  function zoom(wish: Range): void {
    const [min, max] = inside(wish, whole, leastWidth)
    memory.range = min <= whole[0] && max >= whole[1] ? null : [min, max]
    isZooming = true
    for (const plot of plots) {
      plot.batch(() => plot.setScale('x', { min, max }))
      plot.root.dataset.range = `${min}/${max}`
    }
    isZooming = false
    if (memory.at !== null) read(indexAt())
  }

  function listen(over: HTMLElement): void {
    /** Pixels of the fingers on the plot, by pointer. */
    const fingers = new Map<number, number>()
    let pinch: { range: Range; pixels: [number, number] } | null = null
    let before: number | null = null
    let down: Tap | null = null
    let lastTap: Tap | null = null
    const on = (name: string, answer: (event: PointerEvent, pixel: number) => void): void =>
      over.addEventListener(name, (event) => {
        const finger = event as PointerEvent
        if (finger.pointerType === 'mouse') return
        answer(finger, finger.clientX - over.getBoundingClientRect().left)
      })
    const valueAt = (pixel: number): number => {
      const [low, high] = shownRange()
      return Math.min(high, Math.max(low, low + (pixel / over.clientWidth) * (high - low)))
    }
    const release = ({ pointerId }: PointerEvent): void => {
      fingers.delete(pointerId)
      down = null
      if (fingers.size === 0) pinch = null
    }
    on('pointerdown', (event, pixel) => {
      // This prevents the mouse events that browsers make of a tap.
      event.preventDefault()
      over.setPointerCapture(event.pointerId)
      fingers.set(event.pointerId, pixel)
      const [one, other] = fingers.values()
      if (one !== undefined && other !== undefined) {
        down = null
        pinch = { range: shownRange(), pixels: [one, other] }
        return
      }
      before = memory.at
      down = event
      read(nearestIndex(x, valueAt(pixel)))
    })
    on('pointermove', (event, pixel) => {
      if (!fingers.has(event.pointerId)) return
      fingers.set(event.pointerId, pixel)
      const [one, other] = fingers.values()
      if (pinch === null) read(nearestIndex(x, valueAt(pixel)))
      else if (one !== undefined && other !== undefined) {
        zoom(pinched(pinch.range, pinch.pixels, [one, other], over.clientWidth))
      }
    })
    on('pointerup', (event, pixel) => {
      const isTap = isNear(down, event)
      const isSecond = isTap && isNear(lastTap, event)
      release(event)
      lastTap = isTap && !isSecond ? event : null
      if (isSecond) zoom(memory.range === null ? zoomed(whole, valueAt(pixel), ZOOM_SHARE) : whole)
    })
    on('pointercancel', (event) => {
      release(event)
      // The page scrolls instead.
      read(before === null ? -1 : nearestIndex(x, before))
    })
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const at = x[indexAt()] ?? 0
    if (event.key === '+' || event.key === '=') zoom(zoomed(shownRange(), at, ZOOM_SHARE))
    else if (event.key === '-') zoom(zoomed(shownRange(), at, 1 / ZOOM_SHARE))
    else if (event.key === 'Escape') zoom(whole)
    else return
    event.preventDefault()
  }

  /** Reads an index. A zoomed range that does not hold it moves along. */
  function keepInView(index: number): void {
    const at = x[index] ?? 0
    const [low, high] = shownRange()
    if (at < low) zoom([at, at + high - low])
    else if (at > high) zoom([at - (high - low), at])
    read(index)
  }

  for (const { over } of plots) listen(over)
  Object.assign(slider, { id: 'chart-cursor', type: 'range', max: String(last), value: String(first) })
  slider.setAttribute('aria-label', label)
  slider.setAttribute('aria-valuetext', 'Arrow keys read values, plus and minus zoom, Escape shows all')
  slider.addEventListener('keydown', onKey)
  slider.addEventListener('input', () => keepInView(slider.valueAsNumber))
  slider.addEventListener('focus', () => {
    if (memory.at === null && slider.matches(':focus-visible')) read(first)
  })
  plots[0]?.over.append(slider)
  isZooming = false
  // uPlot would make a range of years of a single time.
  if (memory.range !== null || x.length === 1) zoom(shownRange())
  else if (memory.at !== null) read(indexAt())
  // The line of now moves with the ages on the page. All value axes become as wide as the widest: the same time is at
  // the same place in each plot.
  const stop = now.subscribe(() => plots.forEach((plot) => plot.redraw(false, true)))
  return () => {
    stop()
    for (const { remove } of drawn) remove()
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

const isNear = (tap: Tap | null, { clientX, clientY, timeStamp }: Tap): boolean =>
  tap !== null &&
  timeStamp - tap.timeStamp < TAP_MS &&
  Math.hypot(clientX - tap.clientX, clientY - tap.clientY) < TAP_PIXELS
