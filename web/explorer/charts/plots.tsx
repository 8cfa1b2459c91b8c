/**
 * The place of a chart. Its code is loaded when the first one is needed: the first view of the page has none.
 * A chart that is drawn again keeps the chosen value, and the focus.
 */
import { signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { Waiting } from '../pieces.tsx'
import { theme } from '../theme.ts'
import type { Memory } from './group.ts'
import type * as Charts from './readings.ts'

/** The code of the charts; null before it has come. */
const charts = signal<typeof Charts | null>(null)
let isAsked = false

/** A load that failed is tried at the next call. */
function load(): void {
  if (isAsked) return
  isAsked = true
  import('./readings.ts').then(
    (loaded) => (charts.value = loaded),
    () => (isAsked = false),
  )
}

/** Draws into a place of the page; returns what removes it. */
type Draw = (code: typeof Charts, place: HTMLElement, memory: Memory) => () => void

/**
 * `draw` is called whenever a value of `on`, or the theme, has changed. In the chart of another `about`
 * nothing is read yet; null draws nothing. `label` describes the chart for screen readers.
 */
export function Plots({
  about,
  label,
  draw,
  on,
}: {
  about: string
  label: string
  draw: Draw | null
  on: unknown[]
}) {
  const place = useRef<HTMLDivElement>(null)
  const hadFocus = useRef(false)
  const memory = useMemo((): Memory => ({ at: null }), [about])
  const code = charts.value
  if (code === null) load()
  useLayoutEffect(() => {
    const host = place.current
    if (host === null || code === null || draw === null) return
    const remove = draw(code, host, memory)
    host.style.minHeight = ''
    if (hadFocus.current) host.querySelector<HTMLElement>('#chart-cursor')?.focus({ preventScroll: true })
    return () => {
      hadFocus.current = host.contains(document.activeElement)
      // The panel would scroll up while it is shorter.
      host.style.minHeight = `${host.clientHeight}px`
      remove()
      host.replaceChildren()
    }
  }, [code, memory, theme.value, draw === null, ...on])
  return (
    <>
      {code === null ? <Waiting what="chart" /> : null}
      <figure role="group" aria-label={label}>
        <div class="plots" ref={place} />
      </figure>
    </>
  )
}
