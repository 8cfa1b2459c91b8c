/** The colours of the page: those that the visitor chose, else those of the system. */
import { computed, effect, signal } from '@preact/signals'
import { accentOf } from './accent.ts'
import { keepText, keptText } from './mine/kept.ts'

export type Theme = 'light' | 'dark'

/** The name under which the browser keeps the choice. */
const STORAGE_KEY = 'groundswell-theme'

function keptTheme(): Theme | null {
  const kept = keptText(STORAGE_KEY)
  return kept === 'light' || kept === 'dark' ? kept : null
}

const darkPreferred = matchMedia('(prefers-color-scheme: dark)')
const isDarkPreferred = signal(darkPreferred.matches)
const chosen = signal(keptTheme())
const isPrinted = signal(false)

/** Paper is white, and the charts have to be drawn for it. */
export const theme = computed<Theme>(() =>
  isPrinted.value ? 'light' : (chosen.value ?? (isDarkPreferred.value ? 'dark' : 'light')),
)

/** The other one, by the visitor's choice. */
export function toggleTheme(): void {
  const next = theme.peek() === 'dark' ? 'light' : 'dark'
  keepText(STORAGE_KEY, next)
  chosen.value = next
}

/** A variable of the page's style. */
export const variable = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

effect(() => {
  document.documentElement.dataset.theme = theme.value
  const { accent = '' } = document.documentElement.dataset
  if (accent !== '') document.documentElement.style.setProperty('--accent', accentOf(accent, theme.value))
  // Colours that the browser draws around the page follow the visitor's choice, not the system's.
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    meta.content = variable('--surface')
  }
})
darkPreferred.addEventListener('change', ({ matches }) => (isDarkPreferred.value = matches))
// Another page of this browser changed the theme.
addEventListener('storage', () => (chosen.value = keptTheme() ?? chosen.peek()))
addEventListener('beforeprint', () => (isPrinted.value = true))
addEventListener('afterprint', () => (isPrinted.value = false))
