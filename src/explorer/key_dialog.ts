/** The dialog that asks for the visitor's key. */
import type { Quota } from '../../clients/typescript/groundswell.ts'
import { whereKeysComeFrom } from './contact.ts'
import { byId, element } from './dom.ts'
import { clockTime, UTC } from './format.ts'
import { isKey, keepKey, MOST_CHARACTERS } from './key.ts'

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
