/** The buttons of the page and of the map, the colours that one of them changes, and the legend. */
import { keepText, keptText } from './mine/kept.ts'
import { byId, element, icon } from './dom.ts'
import { classLabels, HEIGHT_COLORS } from './heights.ts'
import type { Look } from './map/map.ts'
import { scaleOf, type Units } from './mine/units.ts'
import type { Theme } from './scene.ts'

const ICONS = {
  ruler: 'M3 15.5L15.5 3 21 8.5 8.5 21zM7 11.5l2 2M10 8.5l3 3M13 5.5l2 2',
  key: 'M8 11a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11.2 12.3L19.5 4M16 7.5l3.5 3.5M13.5 10l2 2',
  book: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  satellite: 'M8 12l4-4 4 4-4 4zM9.5 10.5L5.5 6.5l-2.5 2.5 4 4M14.5 13.5l4 4 2.5-2.5-4-4M13 19a5 5 0 0 0 5-5',
  aim: 'M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM12 2v6M12 16v6M2 12h6M16 12h6',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
} as const

/** The two buttons that take each other's place. */
const SUCCESSORS: { readonly [id: string]: string } = { 'tool-sun': 'tool-moon', 'tool-moon': 'tool-sun' }

export interface ToolEvents {
  onKey: () => void
  onTheme: () => void
  onUnits: () => void
  onZoom: (levels: number) => void
  onGlobe: () => void
  onSatellites: () => void
  onAim: () => void
}

interface ToolState extends Look {
  hasKey: boolean
}

/** Draws all buttons anew; the focus stays on the one that had it. */
export function drawTools(state: ToolState, events: ToolEvents): void {
  const focused = document.activeElement?.id ?? ''
  byId('tools').replaceChildren(...pageTools(state, events))
  byId('map-tools').replaceChildren(...mapTools(state, events))
  if (focused.startsWith('tool-')) document.getElementById(SUCCESSORS[focused] ?? focused)?.focus()
}

function pageTools({ hasKey, theme }: ToolState, { onKey, onTheme, onUnits }: ToolEvents): HTMLElement[] {
  const docs = { class: 'tool', href: 'docs', title: 'API documentation', 'aria-label': 'API documentation' }
  return [
    button('ruler', 'Units', onUnits),
    button('key', hasKey ? 'API key' : 'Enter an API key', onKey),
    theme === 'dark'
      ? button('sun', 'Switch to light colours', onTheme)
      : button('moon', 'Switch to dark colours', onTheme),
    element('a', docs, icon(ICONS.book)),
  ]
}

function mapTools({ globe, satellites }: ToolState, events: ToolEvents): HTMLElement[] {
  return [
    button('plus', 'Zoom in', () => events.onZoom(1)),
    button('minus', 'Zoom out', () => events.onZoom(-1)),
    button('globe', 'Globe', events.onGlobe, globe),
    button('satellite', 'Satellite passes', events.onSatellites, satellites),
    button('aim', 'Conditions at the middle of the map', events.onAim),
  ]
}

/** `isPressed` is null for buttons that do not stay pressed. */
function button(
  name: keyof typeof ICONS,
  label: string,
  onclick: () => void,
  isPressed: boolean | null = null,
): HTMLElement {
  return element(
    'button',
    {
      type: 'button',
      class: 'tool',
      id: `tool-${name}`,
      title: label,
      'aria-label': label,
      'aria-pressed': isPressed === null ? null : String(isPressed),
      onclick,
    },
    icon(ICONS[name]),
  )
}

export function drawLegend(units: Units): void {
  const scale = scaleOf('height', units)
  const labels = classLabels(scale)
  const rows = HEIGHT_COLORS.map((color, i) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' })
    swatch.style.background = color
    const label = labels[i] ?? ''
    // Narrow screens have room for the lower limit alone.
    const from = element('span', { class: 'from', 'aria-hidden': 'true' }, label.replace(/–.*/, ''))
    return element('li', {}, swatch, element('span', { class: 'range' }, label), from)
  })
  byId('legend').replaceChildren(
    element(
      'h2',
      {},
      `Significant wave height, ${scale.unit}`,
      element('span', {}, element('i', { class: 'chip', 'aria-hidden': 'true' }), 'over 3 h old'),
    ),
    element('ol', {}, ...rows),
  )
}

/** Where the browser keeps the choice. */
const STORAGE_KEY = 'groundswell-theme'

const DARK_PREFERRED = matchMedia('(prefers-color-scheme: dark)')

export class PageTheme {
  /** What the page has on the screen. */
  #chosen: Theme
  #painted: Theme
  readonly #onChange: (theme: Theme) => void

  /** Colours the page, and follows the system until the visitor chooses. */
  constructor(onChange: (theme: Theme) => void) {
    this.#onChange = onChange
    this.#chosen = this.#painted = keptTheme() ?? (DARK_PREFERRED.matches ? 'dark' : 'light')
    document.documentElement.dataset.theme = this.#chosen
    DARK_PREFERRED.addEventListener('change', ({ matches }) => {
      if (keptTheme() === null) this.#choose(matches ? 'dark' : 'light')
    })
    // Another page of this browser changed it.
    addEventListener('storage', () => this.#choose(keptTheme() ?? this.#chosen))
    // Paper is white, and the charts have to be drawn for it.
    addEventListener('beforeprint', () => this.#paint('light'))
    addEventListener('afterprint', () => this.#paint(this.#chosen))
  }

  get current(): Theme {
    return this.#painted
  }

  /** The other one, by the visitor's choice. */
  toggle(): void {
    const next = this.#chosen === 'dark' ? 'light' : 'dark'
    keepText(STORAGE_KEY, next)
    this.#choose(next)
  }

  #choose(next: Theme): void {
    this.#chosen = next
    this.#paint(next)
  }

  #paint(next: Theme): void {
    if (next === this.#painted) return
    this.#painted = next
    document.documentElement.dataset.theme = next
    this.#onChange(next)
  }
}

function keptTheme(): Theme | null {
  const kept = keptText(STORAGE_KEY)
  return kept === 'light' || kept === 'dark' ? kept : null
}
