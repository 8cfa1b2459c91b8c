/**
 * The language of the page: that of `?lang=`, else the first of the visitor's that the page has, else
 * English. `texts` and `locale` are English until `useLanguage` is done, which is before anything is drawn:
 * no module keeps a text.
 */
import { EN, type Texts } from './texts/en.ts'

/** Each but English is a file of its own, which only its readers load. */
const OTHERS = {
  fr: async () => (await import('./texts/fr.ts')).FR,
  es: async () => (await import('./texts/es.ts')).ES,
  pt: async () => (await import('./texts/pt.ts')).PT,
} as const satisfies { [language: string]: () => Promise<Texts> }

export const LANGUAGES = ['en', ...Object.keys(OTHERS)]

/** Days before months, as at sea, where English is asked for without a country. */
const ENGLISH = 'en-GB'

export let texts: Texts = EN
/** How numbers and dates are written (BCP 47). */
export let locale = ENGLISH
let point = '.'

/**
 * The language and the locale to write in, by the address's `lang` and by the visitor's languages, the first
 * one first.
 */
export function chosenLanguage(asked: string | null, preferred: readonly string[]): [string, string] {
  const tags = [asked ?? '', ...preferred].filter((tag) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(tag))
  const languageOf = (tag: string): string => tag.toLowerCase().split('-')[0] ?? ''
  const language = languageOf(tags.find((tag) => LANGUAGES.includes(languageOf(tag))) ?? 'en')
  const own = tags.find((tag) => languageOf(tag) === language && tag.includes('-'))
  const isKnown = own !== undefined && Intl.DateTimeFormat.supportedLocalesOf(own).length > 0
  const usual = language === 'en' ? ENGLISH : language
  return [language, isKnown ? own : usual]
}

/** Brings the texts of a language. Where they cannot be loaded, the page is in English. */
export async function useLanguage(asked: string | null, preferred: readonly string[]): Promise<string> {
  const [language, wanted] = chosenLanguage(asked, preferred)
  const load = Object.hasOwn(OTHERS, language) ? OTHERS[language as keyof typeof OTHERS] : null
  try {
    texts = load === null ? EN : await load()
  } catch {
    return 'en'
  }
  locale = wanted
  point =
    new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'
  return language
}

/**
 * A number that is written with a point, as the language writes it, with a minus sign that is as wide as a
 * plus.
 */
export const localNumber = (written: string): string => written.replace('.', point).replace('-', '−')

/** A name within a line: whatever its script, what stands around it stays in its order (Unicode UAX 9). */
export const isolated = (name: string): string => `\u2068${name}\u2069`

/** A whole number with the groups of the language. */
export const countText = (count: number): string => count.toLocaleString(locale)
