/**
 * The visitor's key: where it comes from, where it is kept, and the dialog that asks for it. It never stands
 * in the address for long.
 */
import type { Quota } from './api.ts'
import { byId, element } from './dom.ts'
import { clockTime, UTC } from './format.ts'

const PLACE = 'groundswell-key'
/** Anything else could not be a header's value. */
const KEY = /^[\x21-\x7e]{1,200}$/

/** The key that was kept in this browser, or ''. */
export function keptKey(): string {
  try {
    return sessionStorage.getItem(PLACE) ?? localStorage.getItem(PLACE) ?? ''
  } catch {
    // A browser may forbid both.
    return ''
  }
}

function keep(key: string, forever: boolean): void {
  try {
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(PLACE)
    if (key !== '') (forever ? localStorage : sessionStorage).setItem(PLACE, key)
  } catch {
    // Then it lasts as long as the page.
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
  if (!KEY.test(key)) return ''
  try {
    // A link must not overwrite the key that is remembered on this device.
    sessionStorage.setItem(PLACE, key)
  } catch {
    // Then it lasts as long as the page.
  }
  return key
}

/** Opens the dialog. `onKey` gets a new key, or '' when it is to be forgotten. */
export function openKeyDialog(
  current: { key: string; quota: Quota | null; message: string },
  onKey: (key: string) => void,
): void {
  const dialog = byId('key-dialog') as HTMLDialogElement
  const error = element('p', { class: 'error', role: 'alert', id: 'key-error' }, current.message)
  const input = element('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 200,
    'aria-describedby': 'key-error',
    placeholder: 'gsw_…',
  })
  const forever = element('input', { type: 'checkbox', id: 'key-forever' })
  const { quota } = current
  const form = element(
    'form',
    {
      method: 'dialog',
      onsubmit: (event) => {
        event.preventDefault()
        const key = input.value.trim()
        if (!KEY.test(key)) {
          error.textContent = 'Paste the whole key: one word, without blanks.'
          input.focus()
          return
        }
        keep(key, forever.checked)
        dialog.close()
        onKey(key)
      },
    },
    element('h2', { id: 'key-title' }, 'API key'),
    element(
      'p',
      {},
      'The explorer reads the public API with your key. The key stays in this browser and goes to this server alone.',
    ),
    element('label', { for: 'key' }, current.key === '' ? 'Your key' : 'Another key'),
    input,
    error,
    element('label', { class: 'check' }, forever, 'Remember it on this device'),
    quota === null || current.key === ''
      ? null
      : element(
          'p',
          { class: 'note' },
          `${quota.remaining.toLocaleString('en')} of ${quota.limit.toLocaleString('en')} requests are left until ${clockTime(new Date(quota.reset), UTC)} UTC.`,
        ),
    element(
      'div',
      { class: 'buttons' },
      current.key === ''
        ? null
        : element(
            'button',
            {
              type: 'button',
              onclick: () => {
                keep('', false)
                dialog.close()
                onKey('')
              },
            },
            'Forget the key',
          ),
      element('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
      element('button', { type: 'submit', class: 'primary' }, 'Use this key'),
    ),
  )
  dialog.replaceChildren(form)
  if (!dialog.open) dialog.showModal()
  input.focus()
}
