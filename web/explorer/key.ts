/** The visitor's key: where it is kept, and how an address brings one, which does not keep it. */

import { attempt } from './mine/kept.ts'

/** The name under which the browser keeps the key. */
const STORAGE_KEY = 'groundswell-key'
export const MOST_CHARACTERS = 200
/** Anything else could not be a header's value. */
const KEY_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${MOST_CHARACTERS}}$`)

export const isKey = (text: string): boolean => KEY_PATTERN.test(text)

/** The key that was kept in this browser, or ''. */
export function keptKey(): string {
  return attempt(() => sessionStorage.getItem(STORAGE_KEY) ?? localStorage.getItem(STORAGE_KEY)) ?? ''
}

/** Keeps a key until the browser is closed, or `forever`; '' forgets the one that was kept. */
export function keepKey(key: string, forever: boolean): void {
  attempt(() => {
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(STORAGE_KEY)
    if (key !== '') (forever ? localStorage : sessionStorage).setItem(STORAGE_KEY, key)
  })
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
  // A link must not overwrite the key that is remembered on this device.
  attempt(() => sessionStorage.setItem(STORAGE_KEY, key))
  return key
}
