/**
 * The one place that knows words of headers: names of measures and of other columns, CF standard names, and
 * the qualifiers beside a name. `vocabulary.json` lists them without blanks, signs and accents.
 */
import vocabulary from './vocabulary.json' with { type: 'json' }
import type { MeasureName } from '../../sea/columns.ts'

/** The meaning of a column: a measure, or the mean period that may stand in for one. */
export type Quantity = MeasureName | 'meanPeriod'

/** Columns of the station, place and time of a row. `clock` is the time of day beside a date. */
export type Role = keyof typeof vocabulary.roles

/** Words beside a name. */
export type Qualifier = keyof typeof vocabulary.words

export interface Meaning {
  readonly name: Quantity
  /** The lowest is preferred among names with the same meaning. */
  readonly rank: number
}

/** The meaning of a word, or of several words as one. */
export interface Known {
  meaning?: Meaning & { readonly word: string }
  /** Meanings of an ambiguous word: measures, and quantities that are not read. */
  can?: readonly string[]
  roles: Role[]
  /** Kind of a quantity that is not read: `air` or `wave`. */
  family?: string
  qualifiers: Qualifier[]
}

/** Lists of words. A long list has several lines. */
type Words = string | readonly string[]

const wordsOf = (words: Words): string[] => [words].flat().join(' ').split(' ')

/** Letters that are not another letter with an accent. */
const LETTERS: { readonly [letter: string]: string } = {
  ø: 'o',
  æ: 'ae',
  ß: 'ss',
  ł: 'l',
  ı: 'i',
  đ: 'd',
  ς: 'σ',
}

/** "Significant Wave-Height" and "Våghöjd" without case, blanks, signs and accents. */
export const plainName = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[^\p{L}\p{N}$]/gu, '')
    .replaceAll(/[øæßłıđς]/g, (letter) => LETTERS[letter])

function meaningsOf(words: { readonly [name in Quantity]: Words }): Map<string, Meaning> {
  const quantities = Object.keys(words) as Quantity[]
  return new Map(
    quantities.flatMap((name) =>
      wordsOf(words[name]).map((word, rank): [string, Meaning] => [word, { name, rank }]),
    ),
  )
}

/** CF standard names by preference; `to_direction` stands for where waves and wind go. */
export const STANDARD_NAMES: ReadonlyMap<string, Meaning> = meaningsOf(vocabulary.standardNames)

/** A name with capitals is compared as it is: in small letters it means something else. */
const isAsWritten = (word: string): boolean => /^[A-Z]+[A-Z0-9_$]*$/.test(word)

function knownWords(): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>()
  const knownOf = (word: string): Known => {
    const key = isAsWritten(word) ? word : plainName(word)
    const found = known.get(key) ?? { roles: [], qualifiers: [] }
    known.set(key, found)
    return found
  }
  for (const [word, meaning] of meaningsOf(vocabulary.labels)) knownOf(word).meaning = { ...meaning, word }
  const each = (
    lists: { readonly [name: string]: Words },
    take: (word: Known, name: string, text: string) => void,
  ): void => {
    for (const [name, words] of Object.entries(lists))
      wordsOf(words).forEach((word) => take(knownOf(word), name, word))
  }
  for (const names of Object.values(vocabulary.languages)) {
    each(names, (word, name, text) => {
      word.meaning ??= { name: name as Quantity, rank: FOREIGN_RANK, word: plainName(text) }
    })
  }
  for (const [word, can] of Object.entries(vocabulary.ambiguous)) knownOf(word).can = wordsOf(can)
  each(vocabulary.roles, (word, role) => void word.roles.push(role as Role))
  each(vocabulary.others, (word, family) => void (word.family = family))
  each(vocabulary.words, (word, qualifier) => void word.qualifiers.push(qualifier as Qualifier))
  return known
}

/** After the English names, which most tables have. */
const FOREIGN_RANK = 50

const KNOWN = knownWords()

/** The meaning of a text without further words. */
export const knownAs = (text: string): Known | undefined => KNOWN.get(text) ?? KNOWN.get(plainName(text))

export const FILLERS: ReadonlySet<string> = new Set(wordsOf(vocabulary.words.filler))

const isIn = (names: Words, word: string): boolean => wordsOf(names).includes(word)

/** Whether many use the name for something else too: a standard name counts more. */
export const isGeneric = (word: string): boolean => isIn(vocabulary.generic, word)

/** Whether values under this name are by definition where waves and wind come from. */
export const isFrom = (word: string): boolean => isIn(vocabulary.from, word)

/** The place of a name among those of a role: the first is preferred. */
export const rankOfRole = (role: Role, word: string): number =>
  wordsOf(vocabulary.roles[role]).findIndex((name) => name === word || plainName(name) === plainName(word))

export type BandQuantity = keyof typeof vocabulary.bands

/** The quantity that columns `NAME_0`, `NAME_1`, … have. */
export function bandName(name: string): BandQuantity | undefined {
  const plain = name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase()
  const known = Object.entries(vocabulary.bands) as [BandQuantity, Words][]
  return known.find(([, names]) => wordsOf(names).includes(plain))?.[0]
}

/** `significant_height` of `significantHeight`. */
export const labelOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const ZONES: { readonly [word: string]: string } = vocabulary.zones
const LEAD = /^(?:(?:utc|gmt|ut|z) ?)?([+-]|\u2212) ?(\d{1,2})(?::?(\d\d)|[.,](5))?$/i

/** The lead over UTC that a word such as `GMT`, `AEST` or `UTC+9` names, "+09:00", or null. */
export function leadOf(text: string): string | null {
  const word = text.trim().toLowerCase()
  const [, sign, hours, minutes = '00', half] = LEAD.exec(word) ?? []
  if (sign === undefined) return Object.hasOwn(ZONES, word) ? ZONES[word] : null
  // "-3" alone is a number.
  if (!/^[a-z]/.test(word) && !word.includes(':')) return null
  const lead = `${sign === '+' ? '+' : '-'}${hours.padStart(2, '0')}:${half === undefined ? minutes : '30'}`
  return Number(hours) <= 14 && Number(minutes) < 60 ? lead : null
}

/** A network's format, known by its columns, with its own ways to count. Its times are UTC. */
export interface Format {
  readonly of: string
  /** Longitudes count to the west. */
  readonly isWestward: boolean
  /** Numbers that mark what is missing. */
  readonly missing: readonly number[]
}

/** The format whose columns a table has; null for any other. */
export const formatOf = (labels: readonly string[]): Format | null =>
  vocabulary.formats.find(({ columns }) => columns.split(' ').every((label) => labels.includes(label))) ??
  null

/** Good values of flags by the convention of their column's name; null for any other name. */
export function conventionOf(label: string): readonly string[] | null {
  const known = vocabulary.flags.find(({ label: pattern, isCapital }) =>
    new RegExp(pattern, isCapital === true ? '' : 'i').test(label),
  )
  return known?.good ?? null
}
