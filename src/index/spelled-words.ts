/**
 * The words of names and queries as `spellings.ts` compares them: plain letters and digits, saint in each of
 * its spellings.
 */
import { fold } from './words.ts'

/** Longer queries find nothing more: names of this length are not typed. */
export const MOST_UNITS = 64
/** Stands for the word saint in each of its spellings; in no text, since it is neither letter nor digit. */
export const SAINT = '\u0001'
export const SAINTS: ReadonlyMap<string, string> = new Map([
  ['st', 'saint'],
  ['saint', 'saint'],
  ['ste', 'sainte'],
  ['sainte', 'sainte'],
])

/** Letters that are not a plain one with a mark, as people write them without a special keyboard. */
const PLAIN: { readonly [letter: string]: string } = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Runs of letters and digits; apostrophes that Unicode counts as letters (ʻ, ʼ) are none. */
const WORDS = /(?:(?![\u02b0-\u02ff])[\p{L}\p{N}])+/gu
const ASCII_WORDS = /[a-z0-9]+/g
// oxlint-disable-next-line no-control-regex -- the separator and SAINT are control characters on purpose
const IS_ASCII = /^[\0-\x7f]*$/

export function wordsIn(text: string): string[] {
  const folded = fold(text)
  if (IS_ASCII.test(folded)) return folded.match(ASCII_WORDS) ?? []
  return folded.replaceAll(/[æœøßłđðþı]/g, (letter) => PLAIN[letter]).match(WORDS) ?? []
}

/** As written; with saint written out; and with it as one sign. */
export function formsOf(words: readonly string[]): string[][] {
  if (!words.some((word) => SAINTS.has(word))) return [[...words]]
  const written = words.map((word) => SAINTS.get(word) ?? word)
  const signs = words.map((word) => (SAINTS.has(word) ? SAINT : word))
  return written.join(' ') === words.join(' ') ? [written, signs] : [[...words], written, signs]
}

/** What a query's words may mean, written together, with saint as a sign. */
export function spellingsWithSaint(words: readonly string[]): string[] {
  const spellings = new Set<string>()
  for (const beginning of SAINTS.keys()) {
    if (!words.some((word) => word.startsWith(beginning))) continue
    const signs = words.map((word) =>
      SAINTS.has(word) ? SAINT : word.startsWith(beginning) ? SAINT + word.slice(beginning.length) : word,
    )
    spellings.add(signs.join(''))
  }
  return [...spellings]
}

/** What is typed, as a search needs it: the units of its words, written together. */
export interface Typed {
  readonly units: Uint16Array
  length: number
  letters: number
  /** Whether a word begins as saint does in one of its spellings. */
  hasSaint: boolean
}

/** Whether `query` can be looked for; `typed` gets its form. It is flat, since most queries come here. */
export function readTyped(query: string, typed: Typed): boolean {
  typed.length = typed.letters = 0
  typed.hasSaint = false
  if (query.length > 2 * MOST_UNITS) return false
  let isInWord = false
  for (let i = 0; i < query.length; i++) {
    let unit = query.charCodeAt(i)
    if (unit >= 0x80) return readWords(wordsIn(query), typed)
    if (unit >= 0x41 && unit <= 0x5a) unit |= 0x20
    const isInLetters = unit >= 0x61 && unit <= 0x7a
    if (!isInLetters && (unit < 0x30 || unit > 0x39)) {
      isInWord = false
      continue
    }
    if (typed.length === MOST_UNITS) return false
    typed.units[typed.length++] = unit
    if (isInLetters) typed.letters++

    if (!isInWord && unit === 0x73) typed.hasSaint ||= beginsSaint(query, i)
    isInWord = true
  }
  return typed.length > 0
}

/** Whether the word at `at` may be saint, written together with what follows. */
function beginsSaint(text: string, at: number): boolean {
  const second = text.charCodeAt(at + 1) | 0x20
  return second === 0x74 || (second === 0x61 && text.slice(at, at + 5).toLowerCase() === 'saint')
}

function readWords(words: readonly string[], typed: Typed): boolean {
  const units = unitsOf(words.join(''))
  if (units.length === 0 || units.length > MOST_UNITS) return false
  typed.units.set(units)
  typed.length = units.length
  typed.letters = lettersIn(units)
  typed.hasSaint = words.some((word) => word.startsWith('s') && beginsSaint(word, 0))
  return true
}

export function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
}

/** Tells digits from letters among the code units that stand in words. */
const NUMBER = /\p{N}/u
export const isLetter = (unit: number): boolean =>
  unit < 0x80 ? unit >= 0x61 && unit <= 0x7a : !NUMBER.test(String.fromCharCode(unit))

export function lettersIn(units: Uint16Array): number {
  return units.reduce((letters, unit) => letters + Number(isLetter(unit)), 0)
}
