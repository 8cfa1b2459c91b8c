/** On a narrow screen the panel is a sheet over the map, with one of three heights. */
import { byId } from './dom.ts'

const HEIGHTS = ['peek', 'half', 'full'] as const
type SheetHeight = (typeof HEIGHTS)[number]
/** A drag as long as this means the next height. */
const DRAG_PIXELS = 36
/** A sheet that covers more leaves the map no room to bring a buoy into view. */
const COVERED_SHARE = 0.6

const NARROW = matchMedia('(max-width: 760px)')

export function isSheet(): boolean {
  return NARROW.matches
}

/** What the panel covers of the map, in pixels from its left and from its bottom. */
export function coveredByPanel(): { left: number; bottom: number } {
  // On a wide screen the panel is beside the map.
  if (!isSheet()) return { left: 0, bottom: 0 }
  const height = byId('panel').getBoundingClientRect().height
  return { left: 0, bottom: Math.min(height, innerHeight * COVERED_SHARE) }
}

export function setSheet(height: SheetHeight): void {
  document.body.dataset.sheet = height
  const handle = byId('handle')
  handle.setAttribute('aria-expanded', String(height !== 'peek'))
  const hint = handle.querySelector('span')
  if (hint !== null)
    hint.textContent = height === 'full' ? 'Show less of the panel' : 'Show more of the panel'
}

export function startSheet(): void {
  const handle = byId('handle')
  setSheet('peek')
  let startY = 0
  let dragged = false
  const at = (): number => HEIGHTS.indexOf((document.body.dataset.sheet ?? 'peek') as SheetHeight)
  const step = (by: number): void => setSheet(HEIGHTS[Math.min(2, Math.max(0, at() + by))] ?? 'peek')
  handle.addEventListener('click', () => {
    if (!dragged) setSheet(HEIGHTS[(at() + 1) % HEIGHTS.length] ?? 'peek')
  })
  handle.addEventListener('pointerdown', (event) => {
    startY = event.clientY
    dragged = false
    handle.setPointerCapture(event.pointerId)
  })
  handle.addEventListener('pointerup', (event) => {
    const by = startY - event.clientY
    dragged = Math.abs(by) >= DRAG_PIXELS
    if (dragged) step(by > 0 ? 1 : -1)
  })
}
