/** The document in the visitor's language. */
import { texts, useLanguage } from './language.ts'

/**
 * Replaces what the HTML says in English: by `data-text` the text of an element, by `data-label` its name.
 */
export async function translateDocument(): Promise<void> {
  const asked = new URLSearchParams(location.search).get('lang')
  document.documentElement.lang = await useLanguage(asked, navigator.languages)
  const own: { readonly [name: string]: string } = texts.page
  for (const element of document.querySelectorAll<HTMLElement>('[data-text], [data-label]')) {
    const { text = '', label = '' } = element.dataset
    if (text !== '') element.textContent = own[text] ?? ''
    if (label !== '') element.setAttribute('aria-label', own[label] ?? '')
  }
}
