/** Whom a visitor asks for a key, as the operator says it. */
import { element } from './dom.ts'

const WEB = /^(https?:\/\/|mailto:)\S+$/i
const E_MAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** A sentence: where keys come from. An address becomes a link, anything else stays text. */
export function whereKeysComeFrom(): HTMLElement {
  const contact = document.documentElement.dataset.contact ?? ''
  if (contact === '') {
    return element('p', { class: 'note' }, 'Ask the operator of this server for a key.')
  }
  const href = WEB.test(contact) ? contact : E_MAIL.test(contact) ? `mailto:${contact}` : null
  const who = href === null ? contact : element('a', { href, rel: 'noreferrer' }, contact)
  return element('p', { class: 'note' }, 'For a key: ', who)
}
