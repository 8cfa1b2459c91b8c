/**
 * Places in a JSON document: JSON pointers (RFC 6901) from a row, `/wave_height`, or from the document,
 * `^/data/spotterId`. In a list, `/results/identifier=Hm0/value` leads to the element whose `identifier` is
 * `Hm0`, and `/@Hm0 (m)/0` to the one at the index that `Hm0 (m)` has in the header.
 */
import { numberOf } from '../reading/units.ts'

/** A place in a row or, after `^`, in the document. */
export type Place = string

export interface Path {
  fromDocument: boolean
  steps: readonly Step[]
}

interface Step {
  key: string
  /** For lists: the element with this index, … */
  index: number
  /** … the one whose `key` is `value`, … */
  pick: { key: string; value: string } | null
  /** … or the one under this name of the header. */
  column: string | null
}

export function pathOf(place: Place): Path {
  const steps = place
    .replace(/^\^/, '')
    .split('/')
    .slice(1)
    .map((written): Step => {
      const key = written.replaceAll('~1', '/').replaceAll('~0', '~')
      const equals = key.indexOf('=')
      return {
        key,
        index: /^\d{1,9}$/.test(key) ? Number(key) : -1,
        pick: equals > 0 ? { key: key.slice(0, equals), value: key.slice(equals + 1) } : null,
        column: key.startsWith('@') ? key.slice(1) : null,
      }
    })
  return { fromDocument: place.startsWith('^'), steps }
}

/** The value at the end of a path, or undefined. */
export function follow(
  { fromDocument, steps }: Path,
  row: unknown,
  document: unknown,
  header: ReadonlyMap<string, number>,
): unknown {
  let value = fromDocument ? document : row
  for (const { key, index, pick, column } of steps) {
    if (Array.isArray(value)) {
      const list: unknown[] = value
      if (column !== null) value = list[header.get(column) ?? -1]
      else if (index >= 0) value = list[index]
      else if (pick === null) return undefined
      else value = list.find((entry) => isObject(entry) && plain(ownOf(entry, pick.key)) === pick.value)
    } else if (isObject(value)) value = ownOf(value, key)
    else return undefined
  }
  return value
}

type Json = { [key: string]: unknown }

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ownOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

/** A number, text or truth value as text that is the same for "1.0", "1" and 1; '' for anything else. */
export function plain(value: unknown): string {
  if (typeof value === 'string') {
    const number = numberOf(value.trim())
    return number === null || Number.isNaN(number) ? value.trim() : String(number)
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}
