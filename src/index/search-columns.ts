/**
 * Makes the columns of `name-search.ts`: stored suffix arrays of exact matches, and arrays of looser ones.
 */
import { compareText } from '../system/text.ts'
import { finish, type Steps } from '../system/steps.ts'
import { sameNumbers } from '../system/thread-memory.ts'
import {
  type SearchColumns,
  COUNTRY_START,
  FLAG_BITS,
  NAME_START,
  SEPARATOR,
  WHOLE_START,
  WORD_START,
  type WordColumns,
  type LaidOut,
} from './name-search.ts'
import { fold, formsOf, wordsIn } from './spelled-words.ts'

/** A text of a buoy in pieces; `first` and `others` flag what the pieces begin. */
interface Field {
  readonly ordinal: number
  readonly pieces: readonly string[]
  readonly first: number
  readonly others: number
}

/** Some 0.1 ms of work. */
const FIELDS_PER_STEP = 128

function* layOut(fields: Iterable<Field>): Steps<LaidOut> {
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

/** Orders by text up to the end of the field, then by position. */
function compareSuffixes(text: Uint16Array, a: number, b: number): number {
  for (let i = 0; ; i++) {
    const difference = text[a + i] - text[b + i]
    if (difference !== 0) return difference
    if (text[a + i] === SEPARATOR) return a - b
  }
}

function matchesOf({ owner, flags }: LaidOut, suffixes: Uint32Array): Uint32Array {
  return suffixes.map((at) => (owner[at] << FLAG_BITS) | flags[at])
}

interface WordsInput {
  readonly names: readonly string[]
  readonly slugs: readonly string[]
  readonly identifiers: readonly string[]
}

/** Readers refuse stored columns that differ from these: a change needs a new `FORMAT_VERSION`. */
export function buildWords(input: WordsInput): WordColumns {
  const laid = finish(layOut(wordFields(input)))
  const { text } = laid
  const suffixes = Uint32Array.from(text.keys())
    .filter((at) => text[at] !== SEPARATOR)
    .sort((a, b) => compareSuffixes(text, a, b))
  return { ...laid, suffixes, rank: rankByName(input.names) }
}

/** Some 0.1 ms of work. */
const SUFFIXES_PER_STEP = 4096

/** The fault of stored columns, null where they equal `buildWords`; compares neighbours only. */
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
    // The order has no equals, so no suffix is there twice.
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

/** Cuts a text before each character that does not follow a letter or digit. */
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

interface SearchInput extends WordsInput {
  /** The name of each buoy's country, or an empty text. */
  readonly countries: readonly string[]
}

/** Takes the order of `before` where its text is the same. */
export function* searchColumns(
  words: WordColumns,
  input: SearchInput,
  before: SearchColumns | null = null,
): Steps<SearchColumns> {
  const exact = matchesOf(words, words.suffixes)
  yield
  const laid = yield* layOut(spelledFields(input))
  const { text, flags } = laid
  const known = before?.looser
  const isKnown = known !== undefined && sameNumbers(known.text, text) && sameNumbers(known.flags, flags)
  const suffixes = isKnown ? known.suffixes : yield* wordStarts(laid)
  return { exact, looser: { text, flags, suffixes, matches: matchesOf(laid, suffixes) } }
}

function* spelledFields({ names, slugs, identifiers, countries }: SearchInput): Generator<Field> {
  for (let ordinal = 0; ordinal < names.length; ordinal++) {
    const field = (pieces: readonly string[], first: number, others: number): Field => {
      return { ordinal, pieces, first, others }
    }
    const name = wordsIn(fold(names[ordinal]))
    const slug = wordsIn(fold(slugs[ordinal]))
    for (const form of formsOf(name)) yield field(form, NAME_START, WORD_START)
    if (slug.join(' ') !== name.join(' ')) {
      for (const form of formsOf(slug)) yield field(form, WORD_START, WORD_START)
    }
    yield field(wordsIn(fold(identifiers[ordinal])), WORD_START, WORD_START)
    for (const form of formsOf(wordsIn(fold(countries[ordinal]))))
      yield field(form, COUNTRY_START, COUNTRY_START)
  }
}

/** Positions where words begin, in the order of the text from there. */
function* wordStarts({ text, flags }: LaidOut): Steps<Uint32Array> {
  const starts = Uint32Array.from(flags.keys()).filter((at) => flags[at] !== 0)
  yield
  return starts.sort((a, b) => compareSuffixes(text, a, b))
}
