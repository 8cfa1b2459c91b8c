/**
 * The frame of the panel: puts new nodes in place while focus, open details and scrolling stay as they were, and
 * not while the visitor holds on to the old ones. On a narrow screen it is a sheet with one of three heights.
 */
import { byId } from '../dom.ts'
import type { Drawn } from './pieces.ts'

/** Instead of an id: the heading gets the focus. */
const HEADING = 'heading'

export class PanelFrame {
  readonly #content = byId('content')
  #title = ''
  /** What the nodes in the page are about. */
  #about = ''
  #focusNext: string | null = null
  #removeCharts: () => void = () => {}

  /**
   * The panel is about something new: from its top, and with the focus on `id` as soon as that is drawn.
   * Without an id the heading gets the focus.
   */
  turnTo(id: string | null): void {
    this.#focusNext = id ?? HEADING
    this.#content.scrollTop = 0
  }

  isAbout(about: string): boolean {
    return this.#about === about
  }

  /**
   * `about` is the same for drawings of the same thing. With `isNews` what the visitor reads keeps its place
   * on the screen, also where rows come above it.
   */
  show({ title, nodes, afterwards }: Drawn, about: string, isNews = false): void {
    const isSame = this.#about === about
    const anchor = isSame && isNews ? this.#anchor() : null
    const inner = isSame ? this.#innerScrolls() : []
    const focused = this.#focusedSelector()
    const open = isSame ? this.#openDetails() : []
    const { scrollTop } = this.#content
    this.#removeCharts()
    this.#removeCharts = () => {}
    this.#content.replaceChildren(...nodes.filter((node) => node !== null))
    for (const id of open) document.getElementById(id)?.setAttribute('open', '')
    if (afterwards !== undefined) this.#removeCharts = afterwards()
    this.#content.scrollTop = isSame ? scrollTop : 0
    for (const [i, node] of [...this.#content.querySelectorAll('.scroll')].entries()) {
      node.scrollTop = inner[i] ?? 0
    }
    const kept = anchor === null ? null : document.getElementById(anchor.id)
    if (anchor !== null && kept !== null) {
      this.#content.scrollTop += kept.getBoundingClientRect().top - anchor.top
    }
    this.#about = about
    this.#name(title)
    this.#focus(focused)
  }

  /**
   * The control with the focus, else the first one in sight, and where it is; null at the top of the panel.
   */
  #anchor(): { id: string; top: number } | null {
    const frame = this.#content.getBoundingClientRect()
    const topOf = (node: Element): number => node.getBoundingClientRect().top
    const inSight = (node: Element): boolean => topOf(node) >= frame.top && topOf(node) < frame.bottom
    if (this.#content.scrollTop === 0) return null
    const named = [...this.#content.querySelectorAll('[id]')]
    const focused = named.find((node) => node === document.activeElement && inSight(node))
    const found = focused ?? named.find((node) => inSight(node))
    return found === undefined ? null : { id: found.id, top: topOf(found) }
  }

  #innerScrolls(): number[] {
    return [...this.#content.querySelectorAll('.scroll')].map((node) => node.scrollTop)
  }

  #openDetails(): string[] {
    return [...this.#content.querySelectorAll('details[open]')].map((details) => details.id)
  }

  #name(title: string): void {
    if (title === this.#title) return
    this.#title = title
    byId('panel').setAttribute('aria-label', title)
  }

  /** The focus goes where it is due, else to the control that had it. */
  #focus(before: string | null): void {
    if (this.#focusNext === null) {
      if (before !== null) this.#content.querySelector<HTMLElement>(before)?.focus({ preventScroll: true })
    } else if (this.#focusNext === HEADING) {
      this.#content.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true })
      this.#focusNext = null
    } else {
      const due = document.getElementById(this.#focusNext)
      // The list may still be on its way.
      if (due === null) return
      this.#focusNext = null
      due.focus()
    }
  }

  /** What finds the control with the focus again among new nodes. */
  #focusedSelector(): string | null {
    const control = document.activeElement
    if (control === null || !this.#content.contains(control)) return null
    if (control instanceof HTMLInputElement) return `input[name="${control.name}"][value="${control.value}"]`
    if (control instanceof HTMLSelectElement) {
      const ordinal = [...this.#content.querySelectorAll('select')].indexOf(control)
      return `label.select:nth-of-type(${ordinal + 1}) select`
    }
    if (control.id !== '') return `#${CSS.escape(control.id)}`
    return control.tagName === 'H2' ? 'h2' : null
  }
}

/** News wait at most this long for the visitor to let go. */
const PATIENCE_MS = 20_000

export class Calm {
  readonly #place: HTMLElement
  #isPressed = false
  #waiting: (() => void) | null = null
  #timer = 0

  constructor(place: HTMLElement) {
    this.#place = place
    place.addEventListener('pointerdown', () => (this.#isPressed = true))
    for (const name of ['pointerup', 'pointercancel']) {
      addEventListener(name, () => {
        this.#isPressed = false
        this.#look()
      })
    }
    document.addEventListener('selectionchange', () => this.#look())
  }

  /** Calls `act` now, or when the visitor has let go; of several that wait the last one is called. */
  whenLetGo(act: () => void): void {
    this.#waiting = act
    if (this.#isBusy()) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#act(), PATIENCE_MS)
    } else this.#act()
  }

  #isBusy(): boolean {
    if (this.#isPressed) return true
    const selection = getSelection()
    return (
      selection !== null &&
      selection.type === 'Range' &&
      selection.anchorNode !== null &&
      this.#place.contains(selection.anchorNode)
    )
  }

  #look(): void {
    // This comes after the click that the end of a press becomes.
    if (this.#waiting !== null) setTimeout(() => this.#waiting === null || this.#isBusy() || this.#act())
  }

  #act(): void {
    clearTimeout(this.#timer)
    const act = this.#waiting
    this.#waiting = null
    act?.()
  }
}

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
