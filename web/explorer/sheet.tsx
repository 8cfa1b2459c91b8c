/** On a narrow screen the panel is a sheet over the map, with one of three heights, and a handle. */
import { effect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { byId } from './store.ts'
import { sheet, SHEET_HEIGHTS } from './store.ts'

/** A drag as long as this means the next height. */
const DRAG_PIXELS = 36
/** A sheet that covers more leaves the map no room to bring a buoy into view. */
const COVERED_SHARE = 0.6

const narrow = matchMedia('(max-width: 760px)')

/** What the panel covers of the map, in pixels from its left and from its bottom. */
export function coveredByPanel(): { left: number; bottom: number } {
  // On a wide screen the panel is beside the map.
  if (!narrow.matches) return { left: 0, bottom: 0 }
  const { height } = byId('panel').getBoundingClientRect()
  return { left: 0, bottom: Math.min(height, innerHeight * COVERED_SHARE) }
}

effect(() => {
  document.body.dataset.sheet = sheet.value
})

export function Handle() {
  const drag = useRef({ startY: 0, isDrag: false })
  const at = SHEET_HEIGHTS.indexOf(sheet.value)
  const show = (height: number): void => {
    sheet.value = SHEET_HEIGHTS[height] ?? sheet.peek()
  }
  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    drag.current = { startY: event.clientY, isDrag: false }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerUp = (event: PointerEvent): void => {
    const by = drag.current.startY - event.clientY
    drag.current.isDrag = Math.abs(by) >= DRAG_PIXELS
    if (drag.current.isDrag) show(at + Math.sign(by))
  }
  return (
    <button
      id="handle"
      type="button"
      aria-expanded={sheet.value !== 'peek'}
      aria-controls="content"
      onClick={() => drag.current.isDrag || show((at + 1) % SHEET_HEIGHTS.length)}
      onPointerDown={onPointerDown}
      onPointerUp={onPointerUp}
    >
      <span class="hidden">Show {sheet.value === 'full' ? 'less' : 'more'} of the panel</span>
    </button>
  )
}
