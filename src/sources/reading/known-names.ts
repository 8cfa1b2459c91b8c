/** The one place that knows well-known names of columns: by their own names and by CF standard names. */
import vocabulary from './vocabulary.json' with { type: 'json' }
import type { MeasureName } from '../../sea/columns.ts'

/** The meaning of a column: a measure, or the mean period that may stand in for one. */
export type Quantity = MeasureName | 'meanPeriod'

/** Columns of the station, place and time of a row. `clock` is the time of day beside a date. */
export type Role = 'time' | 'clock' | 'station' | 'name' | 'lat' | 'lng' | 'depth'

export interface Meaning {
  readonly name: Quantity
  /** Of names with the same meaning the first is preferred. */
  readonly rank: number
}

/**
 * "significant_wave_height_3" and "Significant Wave Height (m)" without case, blanks, signs and a sensor's
 * number.
 */
export const normal = (label: string): string =>
  label
    .replace(/_\d{1,2}$/, '')
    .replaceAll(/\([^)]*\)|\[[^\]]*\]/g, '')
    .replaceAll(/[^\p{L}\p{N}$]/gu, '')
    .toLowerCase()

function meaningsOf(words: { readonly [name in Quantity]: readonly string[] }): ReadonlyMap<string, Meaning> {
  const quantities = Object.keys(words) as Quantity[]
  return new Map(
    quantities.flatMap((name) => words[name].map((word, rank): [string, Meaning] => [word, { name, rank }])),
  )
}

/** CF standard names by preference; `to_direction` stands for where waves and wind go. */
export const STANDARD_NAMES = meaningsOf(vocabulary.standardNames)

/** A name with capitals is compared as it is: in small letters it means something else. */
const OWN_NAMES = meaningsOf(vocabulary.labels)

export const ownMeaning = (label: string): Meaning | undefined =>
  OWN_NAMES.get(label) ?? OWN_NAMES.get(normal(label))

const isIn = (names: readonly string[], label: string): boolean =>
  names.includes(label) || names.includes(normal(label))

/** Whether many use this name for something else too: a standard name counts more. */
export const isGeneric = (label: string): boolean => isIn(vocabulary.generic, label)

/** Whether values under this name are by definition where waves and wind come from. */
export const isFrom = (label: string): boolean => isIn(vocabulary.from, label)

/** The column with a role, the one listed first if there are several; −1 for none. */
export function fieldOf(role: Role, labels: readonly string[]): number {
  const plain = labels.map(normal)
  const found = vocabulary[role].find((name) => plain.includes(name))
  return found === undefined ? -1 : plain.indexOf(found)
}

/** `significant_height` of `significantHeight`. */
export const labelOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The offset that a word such as `GMT` or `AEST` names, "+10:00", or null. */
export function offsetWord(text: string): string | null {
  const zones: { readonly [word: string]: string } = vocabulary.zones
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return words.map((word) => zones[word]).find((zone) => zone !== undefined) ?? null
}

/** Good values of flags by the convention of their column's name; null for any other name. */
export function conventionOf(label: string): readonly string[] | null {
  const known = vocabulary.flags.find(({ label: pattern, isCapital }) =>
    new RegExp(pattern, isCapital === true ? '' : 'i').test(label),
  )
  return known?.good ?? null
}
