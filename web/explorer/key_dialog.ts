/**
 * The visitor's key: the dialog that asks for it, where it is kept, and whom to ask for one. It never stays in
 * the address for long.
 */
import type { Quota } from '../../clients/typescript/groundswell.ts'
import { byId, element } from './dom.ts'
import { clockTime, UTC } from './format.ts'

interface CurrentKey {
  /** '' where the visitor has none. */
  key: string
  quota: Quota | null
  /** Whether the page needs none. */
  isOpen: boolean
  /** Why the dialog opens; may be ''. */
  message: string
}

const STAYS = 'The key stays in this browser and goes only to this server.'
const PURPOSE = `The explorer calls the API with your key. ${STAYS}`
const PURPOSE_OPEN = `Everything here works without a key. With one, the page uses its quota. ${STAYS}`

/** Opens the dialog. `onKey` gets a new key, or '' when the visitor wants it forgotten. */
export function openKeyDialog(current: CurrentKey, onKey: (key: string) => void): void {
  const dialog = byId('key-dialog') as HTMLDialogElement
  const input = keyInput()
  const forever = element('input', { type: 'checkbox', id: 'key-forever' })
  const error = element('p', { class: 'error', role: 'alert', id: 'key-error' }, current.message)
  const take = (key: string): void => {
    keepKey(key, forever.checked)
    dialog.close()
    onKey(key)
  }
  const onsubmit: EventListener = (event) => {
    event.preventDefault()
    const key = input.value.trim()
    if (isKey(key)) {
      take(key)
      return
    }
    error.textContent = 'Paste the whole key: one word, no spaces.'
    input.focus()
  }
  const form = element(
    'form',
    { method: 'dialog', onsubmit },
    element('h2', { id: 'key-title' }, 'API key'),
    element('p', {}, current.isOpen ? PURPOSE_OPEN : PURPOSE),
    current.key === '' ? whereKeysComeFrom() : null,
    element('label', { for: 'key' }, current.key === '' ? 'Your key' : 'Another key'),
    input,
    error,
    element('label', { class: 'check' }, forever, 'Remember it on this device'),
    quotaNote(current),
    element(
      'div',
      { class: 'buttons' },
      current.key === ''
        ? null
        : element('button', { type: 'button', onclick: () => take('') }, 'Forget the key'),
      element('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
      element('button', { type: 'submit', class: 'primary' }, 'Use this key'),
    ),
  )
  dialog.replaceChildren(form)
  if (!dialog.open) dialog.showModal()
  input.focus()
}

function keyInput(): HTMLInputElement {
  return element('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: MOST_CHARACTERS,
    'aria-describedby': 'key-error',
    placeholder: 'gsw_…',
  })
}

function quotaNote({ key, quota }: CurrentKey): HTMLElement | null {
  if (quota === null || key === '') return null
  const [left, all] = [quota.remaining, quota.limit].map((count) => count.toLocaleString('en'))
  const until = `${clockTime(quota.resetAt, UTC)} UTC`
  return element('p', { class: 'note' }, `${left} of ${all} requests left until ${until}.`)
}

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

/** Where the browser keeps the key. */
const STORAGE_KEY = 'groundswell-key'
export const MOST_CHARACTERS = 200
/** Anything else could not be a header's value. */
const KEY_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${MOST_CHARACTERS}}$`)

const isKey = (text: string): boolean => KEY_PATTERN.test(text)

/** The key that was kept in this browser, or ''. */
export function keptKey(): string {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY) ?? ''
  } catch {
    // A browser may forbid both storages.
    return ''
  }
}

/** Keeps a key until the browser is closed, or `forever`; '' forgets the one that was kept. */
function keepKey(key: string, forever: boolean): void {
  try {
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(STORAGE_KEY)
    if (key !== '') (forever ? localStorage : sessionStorage).setItem(STORAGE_KEY, key)
  } catch {
    // The key lasts as long as the page then.
  }
}

/**
 * Takes a key out of the fragment (`#key=…`, as the server prints it at its first start) and the fragment out
 * of the address and the history. Returns the key, or '' when there is none.
 */
export function takeKeyFromAddress(): string {
  const fields = new URLSearchParams(location.hash.slice(1))
  const key = fields.get('key')
  if (key === null) return ''
  fields.delete('key')
  const rest = decodeURIComponent(fields.toString())
  history.replaceState(null, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`)
  if (!isKey(key)) return ''
  try {
    // A link must not overwrite the key that is remembered on this device.
    sessionStorage.setItem(STORAGE_KEY, key)
  } catch {
    // The key lasts as long as the page then.
  }
  return key
}
