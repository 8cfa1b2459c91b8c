/**
 * Search for buoys as people type (`docs/search.md`): exact matches first, looser ones up to the limit.
 *
 * For looser matches each field is kept as its words written together, in each of its forms, with a suffix
 * array over the beginnings of words. The array is made at opening, so its rules may change without a new
 * format. A typing error walks the array as a trie: each place of an error leaves a range that shrinks with
 * every letter.
 */
import { partitionPoint } from './bisect.ts'
import { fold, isLetter, lettersIn, meaningsOf, signOf, wordsIn } from './spelled-words.ts'

/** Ends each field. */
export const SEPARATOR = 0
/** Flags of texts that begin at a position; only a whole slug or identifier may match exactly. */
export const NAME_START = 1
export const WHOLE_START = 2
export const WORD_START = 4
export const COUNTRY_START = 8
/** Bits of `matches` below the ordinal. */
export const FLAG_BITS = 4

interface Suffixes {
  readonly text: Uint16Array
  /** Positions in the text, in the order of what follows them. */
  readonly suffixes: Uint32Array
  /** Owner of each suffix, in their order, with its flags in the lowest `FLAG_BITS`. */
  readonly matches: Uint32Array
}

export interface Range {
  readonly from: number
  readonly to: number
}

/** Suffixes in [from, to), which share `depth` units, that go on with `wanted`. */
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

/** The first with an `order` or more: below 0 is text before `wanted`, 0 text that begins with it. */
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

export interface LaidOut {
  readonly text: Uint16Array
  /** By position: the ordinal of its buoy, and flags of the beginnings there. */
  readonly owner: Uint32Array
  readonly flags: Uint8Array
}

export interface WordColumns extends LaidOut {
  readonly suffixes: Uint32Array
  /** Place of each ordinal in the order of names. */
  readonly rank: Uint32Array
}

/** Names of the stored columns. */
export const WORD_COLUMNS = {
  words_text: Uint16Array,
  words_owner: Uint32Array,
  words_place: Uint8Array,
  words_suffixes: Uint32Array,
  words_rank: Uint32Array,
} as const

/** How well a buoy matches, best first. */
const EXACT = 0
const NAME_PREFIX = 1
const WORD_PREFIX = 2
const SUBSTRING = 3
/** Matches without regard to blanks, hyphens and spellings of saint. */
const LOOSE_NAME_PREFIX = 4
const LOOSE_WORD_PREFIX = 5
const COUNTRY = 6
const ANY_ORDER = 7
/**
 * Ranks of matches with a typing error: in whole words, in the beginning of words, in one word of any order.
 */
const ERROR_IN_WHOLE = 8
const ERROR_IN_PREFIX = 9
const ERROR_IN_ANY_ORDER = 10
/** Longer queries find exact matches only. */
const MOST_UNITS = 64
/** Queries of more words find no words in any order. */
const MOST_WORDS = 8
/** Shorter queries would match too many countries, and too many words with an error. */
const LEAST_LETTERS = 4

interface SpelledColumns extends Suffixes {
  readonly flags: Uint8Array
}

export interface SearchColumns {
  readonly exact: Uint32Array
  readonly looser: SpelledColumns
}

interface NearRange extends Range {
  readonly length: number
}

export class Search {
  readonly #words: Suffixes
  readonly #spelled: SpelledColumns
  readonly #ranking: Ranking

  /** Columns as checked, and as `searchColumns` made them; `active` is 1 for each active buoy. */
  constructor({ text, suffixes, rank }: WordColumns, { exact, looser }: SearchColumns, active: Uint8Array) {
    this.#words = { text, suffixes, matches: exact }
    this.#spelled = looser
    this.#ranking = new Ranking(active, rank)
  }

  /** Ordinals of at most `limit` buoys: best match first, then active before inactive, then by name. */
  find(query: string, limit: number): number[] {
    const folded = fold(query)
    this.#addExact(folded)
    if (this.#ranking.count < limit && query.length <= 2 * MOST_UNITS) this.#addLooser(wordsIn(folded))
    return this.#ranking.first(limit)
  }

  #addExact(wanted: string): void {
    if (wanted === '') return
    const { text, suffixes, matches } = this.#words
    const { from, to } = rangeOf(this.#words, wanted)
    for (let i = from; i < to; i++) {
      const flags = matches[i]
      let match = SUBSTRING
      if ((flags & WHOLE_START) !== 0 && text[suffixes[i] + wanted.length] === SEPARATOR) match = EXACT
      else if ((flags & NAME_START) !== 0) match = NAME_PREFIX
      else if ((flags & WORD_START) !== 0) match = WORD_PREFIX
      this.#ranking.add(flags >>> FLAG_BITS, match)
    }
  }

  /** Words in any order and typing errors count only where there is nothing else. */
  #addLooser(words: readonly string[]): void {
    const meanings = meaningsOf(words)
    const [typed] = meanings
    if (typed === '' || typed.length > MOST_UNITS) return
    for (const meaning of meanings) this.#addBeginnings(meaning, typed.length >= LEAST_LETTERS)
    const ranking = this.#ranking
    if (ranking.count > 0) return
    const isSome = words.length > 1 && words.length <= MOST_WORDS
    if (isSome) {
      const ranges = words.map((word) => [rangeOf(this.#spelled, signOf(word))])
      for (const ordinal of this.#withAll(ranges)) ranking.add(ordinal, ANY_ORDER)
    }
    if (ranking.count > 0 || lettersIn(typed) < LEAST_LETTERS) return
    for (const meaning of meanings) this.#addErrors(meaning)
    if (isSome) this.#addErrorsInAnyOrder(words)
  }

  #addBeginnings(wanted: string, withCountries: boolean): void {
    const { matches } = this.#spelled
    const { from, to } = rangeOf(this.#spelled, wanted)
    for (let i = from; i < to; i++) {
      const flags = matches[i]
      if ((flags & COUNTRY_START) === 0) {
        this.#ranking.add(
          flags >>> FLAG_BITS,
          (flags & NAME_START) === 0 ? LOOSE_WORD_PREFIX : LOOSE_NAME_PREFIX,
        )
      } else if (withCountries) this.#ranking.add(flags >>> FLAG_BITS, COUNTRY)
    }
  }

  #addErrors(wanted: string): void {
    const { text, flags, suffixes, matches } = this.#spelled
    for (const { from, to, length } of this.#near(wanted)) {
      for (let i = from; i < to; i++) {
        const end = suffixes[i] + length
        const isWhole = text[end] === SEPARATOR || flags[end] !== 0
        this.#ranking.add(matches[i] >>> FLAG_BITS, isWhole ? ERROR_IN_WHOLE : ERROR_IN_PREFIX)
      }
    }
  }

  #addErrorsInAnyOrder(words: readonly string[]): void {
    words.forEach((word, i) => {
      if (lettersIn(word) < LEAST_LETTERS) return
      const others = words.toSpliced(i, 1).map((other) => [rangeOf(this.#spelled, signOf(other))])
      if (others.some(([{ from, to }]) => from === to)) return
      for (const ordinal of this.#withAll([...others, this.#near(word)])) {
        this.#ranking.add(ordinal, ERROR_IN_ANY_ORDER)
      }
    })
  }

  /** Buoys with a beginning in some range of every list. */
  #withAll(lists: readonly (readonly Range[])[]): Iterable<number> {
    const sizeOf = (list: readonly Range[]): number => list.reduce((sum, { from, to }) => sum + to - from, 0)
    const [shortest, ...others] = lists.toSorted((a, b) => sizeOf(a) - sizeOf(b))
    const ordinalsIn = (list: readonly Range[]): number[] =>
      list.flatMap(({ from, to }) =>
        Array.from(this.#spelled.matches.subarray(from, to), (it) => it >>> FLAG_BITS),
      )
    let found = new Set(ordinalsIn(shortest))
    for (const list of others) found = new Set(ordinalsIn(list).filter((ordinal) => found.has(ordinal)))
    return found
  }

  /** Ranges of word prefixes one typing error away: a letter (no digit) missing, extra, wrong or swapped. */
  #near(wanted: string): NearRange[] {
    const { text, suffixes } = this.#spelled
    const near: NearRange[] = []
    let [from, to] = [0, suffixes.length]
    /** Takes the beginnings from `low` to `high`, which share `depth` units, that go on with `rest`. */
    const take = (rest: string, low: number, high: number, depth: number): void => {
      const range = rangeOf(this.#spelled, rest, low, high, depth)
      if (range.from < range.to) near.push({ ...range, length: depth + rest.length })
    }
    for (let i = 0; i < wanted.length && from < to; i++) {
      const unit = wanted.charCodeAt(i)
      const rest = wanted.slice(i + 1)
      for (let low = from; low < to;) {
        const other = text[suffixes[low] + i]
        const high = partitionPoint(low, to, (k) => text[suffixes[k] + i] <= other)
        if (other !== unit && isLetter(other)) {
          take(wanted.slice(i), low, high, i + 1)
          if (isLetter(unit)) take(rest, low, high, i + 1)
        }
        low = high
      }
      if (isLetter(unit)) {
        take(rest, from, to, i)
        const isSwap = rest !== '' && rest[0] !== wanted[i] && isLetter(rest.charCodeAt(0))
        if (isSwap) take(rest[0] + wanted[i] + rest.slice(1), from, to, i)
      }
      const range = rangeOf(this.#spelled, wanted[i], from, to, i)
      from = range.from
      to = range.to
    }
    return near
  }
}

/** The buoys found by one query, each with its best match; serves query after query. */
class Ranking {
  /** Place of each ordinal among all of one match: active ones by name, then the others. */
  readonly #place: Uint32Array
  readonly #atPlace: Uint32Array
  /** Best match of each buoy, plus one; 0 means not found. */
  readonly #best: Uint8Array
  readonly #found: Uint32Array
  count = 0

  /** By ordinal: `active` is 1 for each active buoy, `rank` is its place by name. */
  constructor(active: Uint8Array, rank: Uint32Array) {
    this.#atPlace = new Uint32Array(2 * rank.length)
    this.#place = rank.map((place, ordinal) => place + (1 - active[ordinal]) * rank.length)
    this.#place.forEach((place, ordinal) => (this.#atPlace[place] = ordinal))
    this.#best = new Uint8Array(rank.length)
    this.#found = new Uint32Array(rank.length)
  }

  /** `match` is 0 for the best, and below 255. */
  add(ordinal: number, match: number): void {
    const best = this.#best[ordinal]
    if (best === 0) this.#found[this.count++] = ordinal
    else if (best <= match + 1) return
    this.#best[ordinal] = match + 1
  }

  /** The first `limit` buoys found, in order; forgets everything found. */
  first(limit: number): number[] {
    const places = this.#atPlace.length
    const keys: number[] = []
    for (let i = 0; i < this.count; i++) {
      const ordinal = this.#found[i]
      const key = this.#best[ordinal] * places + this.#place[ordinal]
      this.#best[ordinal] = 0
      if (keys.length === limit && key > keys[limit - 1]) continue
      let at = keys.length < limit ? keys.length : limit - 1
      for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1]
      keys[at] = key
    }
    this.count = 0
    return keys.map((key) => this.#atPlace[key % places])
  }
}
