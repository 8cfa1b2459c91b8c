/**
 * Suffix arrays: the texts of all buoys one after the other, and places in them in the order of the text that
 * follows. Halving finds every place from which the text goes on as a query does (`search.ts`).
 *
 * The array over names, slugs and identifiers is stored in the catalogue part: its columns are made and checked
 * here. Rejected: a trie (more memory, no substrings), trigrams (no queries of two characters).
 */
import { fold } from './spelled-words.ts'
import type { Column } from '../sea/columns.ts'
import { compareText } from '../system/compare-text.ts'
import { finish, type Steps } from '../system/steps.ts'
import { sameNumbers } from '../system/thread-memory.ts'

/** Stands behind each field. */
export const SEPARATOR = 0

/** What begins at a position. A slug or an identifier is a whole: it alone may match exactly. */
export const NAME_START = 1
export const WHOLE_START = 2
export const WORD_START = 4
export const COUNTRY_START = 8

/** A text of a buoy in pieces, and what the first of them and the others begin. */
export interface Field {
  readonly ordinal: number
  readonly pieces: readonly string[]
  readonly first: number
  readonly others: number
}

export interface LaidOut {
  /** Code units of all fields. */
  readonly text: Uint16Array
  /** Of each position, the ordinal of its buoy and what begins there. */
  readonly owner: Uint32Array
  readonly flags: Uint8Array
}

/** Fields laid out in one step: some 0.1 ms. */
const FIELDS_PER_STEP = 128

export function* layOut(fields: Iterable<Field>): Steps<LaidOut> {
  const all: Field[] = []
  let length = 0
  for (const field of fields) {
    length += field.pieces.reduce((sum, piece) => sum + piece.length, 1)
    if (all.push(field) % FIELDS_PER_STEP === 0) yield
  }
  const text = new Uint16Array(length)
  const owner = new Uint32Array(length)
  const flags = new Uint8Array(length)
  let at = 0
  for (const [i, { ordinal, pieces, first, others }] of all.entries()) {
    const start = at
    for (const piece of pieces) {
      flags[at] = at === start ? first : others
      for (let unit = 0; unit < piece.length; unit++) text[at++] = piece.charCodeAt(unit)
    }
    // Zero, a separator, is there already.
    owner.fill(ordinal, start, ++at)
    if (i % FIELDS_PER_STEP === 0) yield
  }
  return { text, owner, flags }
}

/** By text up to the end of the field, then by position. */
export function compareSuffixes(text: Uint16Array, a: number, b: number): number {
  for (let i = 0; ; i++) {
    const difference = text[a + i] - text[b + i]
    if (difference !== 0) return difference
    if (text[a + i] === SEPARATOR) return a - b
  }
}

export interface Suffixes {
  readonly text: Uint16Array
  /** Positions in the text, in the order of what follows them. */
  readonly suffixes: Uint32Array
  /** Of each suffix in that order, its owner, with its flags in the lowest bits: a query's suffixes are neighbours. */
  readonly matches: Uint32Array
}

/** Bits of `matches` below the ordinal. */
export const FLAG_BITS = 4

export function matchesOf({ owner, flags }: LaidOut, suffixes: Uint32Array): Uint32Array {
  return suffixes.map((at) => (owner[at] << FLAG_BITS) | flags[at])
}

/** Suffixes from `from` up to `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Among the suffixes from `from` to `to`, which share `depth` units, those that go on with `wanted`. */
export function rangeOf(
  array: Suffixes,
  wanted: string,
  from = 0,
  to = array.suffixes.length,
  depth = 0,
): Range {
  const first = firstNotBelow(array, 0, wanted, from, to, depth)
  return { from: first, to: firstNotBelow(array, 1, wanted, first, to, depth) }
}

/** The first of `order` or more: below 0 is text that comes before `wanted`, 0 what begins with it. */
function firstNotBelow(
  { text, suffixes }: Suffixes,
  order: 0 | 1,
  wanted: string,
  from: number,
  to: number,
  depth: number,
): number {
  while (from < to) {
    const middle = (from + to) >>> 1
    const at = suffixes[middle] + depth
    let [i, difference] = [0, 0]
    for (; i < wanted.length && difference === 0; i++) difference = text[at + i] - wanted.charCodeAt(i)
    if (difference < order) from = middle + 1
    else to = middle
  }
  return from
}

export interface WordsInput {
  readonly names: readonly string[]
  readonly slugs: readonly string[]
  readonly identifiers: readonly string[]
}

/** The columns of the catalogue part that the search reads. */
export interface WordColumns extends LaidOut {
  readonly suffixes: Uint32Array
  /** Where each ordinal stands in the order of names. */
  readonly rank: Uint32Array
}

/** Finds the columns by `column`, which gives one of a name and type or throws. */
export function readWords(
  column: <C extends Column>(name: string, type: abstract new (...args: never[]) => C) => C,
): WordColumns {
  return {
    text: column('words_text', Uint16Array),
    owner: column('words_owner', Uint32Array),
    flags: column('words_place', Uint8Array),
    suffixes: column('words_suffixes', Uint32Array),
    rank: column('words_rank', Uint32Array),
  }
}

/**
 * Readers refuse stored columns that are not what this makes of the names: with other ones comes another
 * `FORMAT_VERSION`.
 */
export function buildWords(input: WordsInput): Map<string, Column> {
  const { text, owner, flags } = finish(layOut(wordFields(input)))
  const suffixes = Uint32Array.from(text.keys())
    .filter((at) => text[at] !== SEPARATOR)
    .sort((a, b) => compareSuffixes(text, a, b))
  return new Map<string, Column>([
    ['words_text', text],
    ['words_owner', owner],
    ['words_place', flags],
    ['words_suffixes', suffixes],
    ['words_rank', rankByName(input.names)],
  ])
}

/** Suffixes looked at in one step: some 0.1 ms. */
const SUFFIXES_PER_STEP = 4096

/**
 * What is wrong with stored columns, or null where they are what `buildWords` makes of `input`. Neighbours
 * are compared instead of sorting anew: a tenth of the time.
 */
export function* checkWords(columns: WordColumns, input: WordsInput): Steps<string | null> {
  const { text, owner, flags } = yield* layOut(wordFields(input))
  const isLaidOut =
    sameNumbers(columns.text, text) && sameNumbers(columns.owner, owner) && sameNumbers(columns.flags, flags)
  if (!isLaidOut) return 'its search text is not that of its names'
  yield
  const { suffixes } = columns
  // Each field ends with a separator, and all other positions are suffixes.
  if (suffixes.length !== text.length - 3 * input.names.length) return 'its search index has another length'
  for (let i = 0; i < suffixes.length; i++) {
    // Ascending in an order without equals, so none is there twice.
    const isSuffix = suffixes[i] < text.length && text[suffixes[i]] !== SEPARATOR
    if (!isSuffix || (i > 0 && compareSuffixes(text, suffixes[i - 1], suffixes[i]) >= 0)) {
      return 'its search index is not in order'
    }
    if (i % SUFFIXES_PER_STEP === 0) yield
  }
  return sameNumbers(columns.rank, rankByName(input.names))
    ? null
    : 'its order of names is not that of its names'
}

/** Cuts a text before each character that no letter or digit stands in front of. */
const WORD_STARTS = /(?<![\p{L}\p{N}])/u

function* wordFields({ names, slugs, identifiers }: WordsInput): Generator<Field> {
  const field = (ordinal: number, text: string, start: number): Field => {
    return { ordinal, pieces: text.split(WORD_STARTS), first: start | WORD_START, others: WORD_START }
  }
  for (let ordinal = 0; ordinal < names.length; ordinal++) {
    yield field(ordinal, fold(names[ordinal]), NAME_START)
    yield field(ordinal, slugs[ordinal], WHOLE_START)
    yield field(ordinal, fold(identifiers[ordinal]), WHOLE_START)
  }
}

function rankByName(names: readonly string[]): Uint32Array {
  const folded = names.map((name) => fold(name))
  const byName = Uint32Array.from(folded.keys()).sort((a, b) => compareText(folded[a], folded[b]) || a - b)
  const rank = new Uint32Array(folded.length)
  byName.forEach((ordinal, i) => (rank[ordinal] = i))
  return rank
}
