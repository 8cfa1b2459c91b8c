/**
 * Search for buoys as people type; `docs/search.md` has the table of what is found. Exact matches come first:
 * what is typed, without case and accents, anywhere in names, slugs and source identifiers. Looser ones fill
 * what is left of the limit: blanks and hyphens as equal or left out, `st`, `ste` and `sainte` for `saint`, a
 * country's name, words in any order, one typing error.
 *
 * For the looser ones each field of a buoy is kept as its words written together, in each of its forms, with
 * a suffix array over the beginnings of those words. A query finds a run of words there by halving; for
 * typing errors the array is walked as a trie: each place of an error leaves a range that shrinks with every
 * letter, so that also garbage ends soon. It is made when a snapshot is opened, not stored, so these rules
 * may change without another format. Not wanted: stemming, scores.
 */
import { partitionPoint } from './bisect.ts'
import { fold, isLetter, lettersIn, meaningsOf, signOf, wordsIn } from './spelled-words.ts'
import {
  COUNTRY_START,
  FLAG_BITS,
  NAME_START,
  rangeOf,
  SEPARATOR,
  WHOLE_START,
  WORD_START,
  type Range,
  type Suffixes,
  type WordColumns,
} from './suffixes.ts'

/** How well a buoy matches, best first. */
const EXACT = 0
const NAME_PREFIX = 1
const WORD_PREFIX = 2
const SUBSTRING = 3
/** The same but for blanks, hyphens and saint. */
const LOOSE_NAME_PREFIX = 4
const LOOSE_WORD_PREFIX = 5
const COUNTRY = 6
const ANY_ORDER = 7
/** One typing error away from whole words, from the beginning of words, and in one word of any order. */
const ERROR_IN_WHOLE = 8
const ERROR_IN_PREFIX = 9
const ERROR_IN_ANY_ORDER = 10
/** Longer queries find exact matches only: names of this length are not typed. */
const MOST_UNITS = 64
/** Beyond these, words in any order are not looked for. */
const MOST_WORDS = 8
/** Shorter queries mean too many countries, and have too many words one error away. */
const LEAST_LETTERS = 4

export interface SpelledColumns extends Suffixes {
  /** What begins at each position of the text. */
  readonly flags: Uint8Array
}

/** What is made for a search when a snapshot is opened. */
export interface SearchColumns {
  /** The matches of the stored suffixes. */
  readonly exact: Uint32Array
  readonly looser: SpelledColumns
}

interface NearRange extends Range {
  /** How many units match. */
  readonly length: number
}

export class Search {
  readonly #words: Suffixes
  readonly #spelled: SpelledColumns
  readonly #ranking: Ranking

  /** `words` as checked, and what `searchColumns` made of them; `active` is 1 for each active buoy. */
  constructor({ text, suffixes, rank }: WordColumns, { exact, looser }: SearchColumns, active: Uint8Array) {
    this.#words = { text, suffixes, matches: exact }
    this.#spelled = looser
    this.#ranking = new Ranking(active, rank)
  }

  /**
   * Ordinals of at most `limit` matching buoys: best match first, then active before inactive, then by name.
   */
  find(query: string, limit: number): number[] {
    this.#addExact(fold(query))
    if (this.#ranking.count < limit && query.length <= 2 * MOST_UNITS) this.#addLooser(wordsIn(query))
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

  /** Buoys with a beginning in one of the ranges of each list. */
  #withAll(lists: readonly (readonly Range[])[]): Iterable<number> {
    const sizeOf = (list: readonly Range[]): number => list.reduce((sum, { from, to }) => sum + to - from, 0)
    // The shortest first: what follows is looked up in it.
    const [shortest, ...others] = lists.toSorted((a, b) => sizeOf(a) - sizeOf(b))
    const ordinalsIn = (list: readonly Range[]): number[] =>
      list.flatMap(({ from, to }) =>
        Array.from(this.#spelled.matches.subarray(from, to), (it) => it >>> FLAG_BITS),
      )
    let found = new Set(ordinalsIn(shortest))
    for (const list of others) found = new Set(ordinalsIn(list).filter((ordinal) => found.has(ordinal)))
    return found
  }

  /**
   * The ranges of beginnings that are `wanted` with one error: a letter missing, extra or wrong, or two
   * neighbours swapped. Digits are never taken for others.
   */
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

/**
 * The buoys that a search has found so far, each with its best match, and the first of them in order. One of
 * these serves query after query.
 */
class Ranking {
  /** The place of each ordinal among all of one match: active ones by name, then the others. */
  readonly #place: Uint32Array
  readonly #atPlace: Uint32Array
  /** In the query under way: the best match of each buoy, one higher; 0 stands for "not found yet". */
  readonly #best: Uint8Array
  #found: number[] = []

  /** For each ordinal, `active` tells whether the buoy is active and `rank` gives its place by name. */
  constructor(active: Uint8Array, rank: Uint32Array) {
    this.#atPlace = new Uint32Array(2 * rank.length)
    this.#place = rank.map((place, ordinal) => place + (1 - active[ordinal]) * rank.length)
    this.#place.forEach((place, ordinal) => (this.#atPlace[place] = ordinal))
    this.#best = new Uint8Array(rank.length)
  }

  /** How many buoys are found so far. */
  get count(): number {
    return this.#found.length
  }

  /** `match` is 0 for the best, below 255. */
  add(ordinal: number, match: number): void {
    const best = this.#best[ordinal]
    if (best === 0) this.#found.push(ordinal)
    else if (best <= match + 1) return
    this.#best[ordinal] = match + 1
  }

  /**
   * The first `limit` of the buoys found, in their order; forgets what was found. Most drop out at one
   * comparison.
   */
  first(limit: number): number[] {
    const places = this.#atPlace.length
    const keys: number[] = []
    for (const ordinal of this.#found) {
      const key = this.#best[ordinal] * places + this.#place[ordinal]
      this.#best[ordinal] = 0
      if (keys.length === limit && key > keys[limit - 1]) continue
      let at = keys.length < limit ? keys.length : limit - 1
      for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1]
      keys[at] = key
    }
    this.#found = []
    return keys.map((key) => this.#atPlace[key % places])
  }
}
