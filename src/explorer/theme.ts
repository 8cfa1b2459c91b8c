/** Light or dark: as the visitor chose, else as the system prefers. */

export type Theme = 'light' | 'dark'

/** Where the browser keeps the choice. */
const STORAGE_KEY = 'groundswell-theme'

const DARK_PREFERRED = matchMedia('(prefers-color-scheme: dark)')

export class PageTheme {
  #current: Theme
  readonly #onChange: (theme: Theme) => void

  /** Colours the page, and follows the system until the visitor chooses. */
  constructor(onChange: (theme: Theme) => void) {
    this.#onChange = onChange
    this.#current = keptTheme() ?? (DARK_PREFERRED.matches ? 'dark' : 'light')
    document.documentElement.dataset.theme = this.#current
    DARK_PREFERRED.addEventListener('change', ({ matches }) => {
      if (keptTheme() === null) this.#set(matches ? 'dark' : 'light')
    })
  }

  get current(): Theme {
    return this.#current
  }

  /** The other one, by the visitor's choice. */
  toggle(): void {
    const next = this.#current === 'dark' ? 'light' : 'dark'
    try {
      localStorage.setItem(STORAGE_KEY, next)
    } catch {
      // A browser may forbid that; then the choice lasts as long as the page.
    }
    this.#set(next)
  }

  #set(next: Theme): void {
    this.#current = next
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
