/** Light or dark: as the visitor chose, else as the system prefers. */

import type { Theme } from './scene.ts'

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
    try {
      localStorage.setItem(STORAGE_KEY, next)
    } catch {
      // A browser may forbid that; then the choice lasts as long as the page.
    }
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
  try {
    const kept = localStorage.getItem(STORAGE_KEY)
    return kept === 'light' || kept === 'dark' ? kept : null
  } catch {
    return null
  }
}
