/** Plots over the same x values that are read together: by mouse, finger and keyboard. */
import type UPlot from 'uplot'
import { texts } from '../language.ts'
import { now } from '../store.ts'
import { nearestIndex } from './geometry.ts'
import { draw, type Plot, type Shared } from './plot.ts'

/** The x value that a finger or a key has chosen, which a chart keeps when it is drawn again. */
export interface Memory {
  at: number | null
}

interface GroupOptions {
  memory: Memory
  /** Name of the cursor's slider. */
  label: string
  /** Index of `x` where the keyboard begins. */
  first: number
}

/** Draws `parts` over the same ascending x values into `place`. Returns what removes them. */
export function drawTogether(
  place: HTMLElement,
  parts: readonly Plot[],
  shared: Shared,
  { memory, label, first }: GroupOptions,
): () => void {
  const { x, textOfX } = shared
  const drawn = parts.map((part, i) =>
    draw(place, part, shared, { isFirst: i === 0, isLast: i === parts.length - 1 }),
  )
  const plots = drawn.map(({ plot }) => plot)
  // An unseen slider over the first plot brings its keys, and its text for screen readers.
  const slider = document.createElement('input')

  /** Shows the values at `at`; null shows none. */
  function read(at: number | null): void {
    memory.at = at
    for (const plot of plots) {
      plot.setCursor({ left: at === null ? -10 : plot.valToPos(at, 'x'), top: 0 }, false)
    }
    if (at === null) return
    // Screen readers hear time and values.
    slider.value = String(nearestIndex(x, at))
    slider.setAttribute('aria-valuetext', [textOfX(at), ...plots.flatMap(textsOf)].join(', '))
  }
  const readIndex = (index: number): void => read(x[index] ?? null)

  /** A finger reads where it is; a swipe up or down scrolls the page, and what was read before stays. */
  function listen(plot: UPlot): void {
    const { over } = plot
    let before: number | null = null
    const on = (name: string, answer: (event: PointerEvent) => void): void =>
      over.addEventListener(name, (event) => {
        if ((event as PointerEvent).pointerType !== 'mouse') answer(event as PointerEvent)
      })
    const readAt = ({ clientX }: PointerEvent): void =>
      readIndex(nearestIndex(x, plot.posToVal(clientX - over.getBoundingClientRect().left, 'x')))
    on('pointerdown', (event) => {
      // This prevents the mouse events that browsers make of a tap.
      event.preventDefault()
      over.setPointerCapture(event.pointerId)
      before = memory.at
      readAt(event)
    })
    on('pointermove', readAt)
    on('pointercancel', () => read(before))
  }

  for (const plot of plots) listen(plot)
  Object.assign(slider, {
    id: 'chart-cursor',
    type: 'range',
    max: String(x.length - 1),
    value: String(first),
  })
  slider.setAttribute('aria-label', label)
  slider.setAttribute('aria-valuetext', texts.chart.keys)
  slider.addEventListener('input', () => readIndex(slider.valueAsNumber))
  slider.addEventListener('focus', () => {
    if (memory.at === null && slider.matches(':focus-visible')) readIndex(first)
  })
  plots[0]?.over.append(slider)
  if (memory.at !== null) readIndex(nearestIndex(x, memory.at))
  // The line of now moves with the ages on the page. All value axes become as wide as the widest: the same
  // time is at the same place in each plot.
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
