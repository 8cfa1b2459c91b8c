/**
 * Search as people type, for what `words.ts` leaves of the limit: blanks and hyphens as equal or left out,
 * `st`, `ste` and `sainte` for `saint`, a country's name, words in any order, one typing error.
 *
 * Each field of a buoy is kept as its words written together, in each of its forms. A suffix array over the
 * beginnings of those words finds a run of words by halving, and it is walked as a trie for typing errors:
 * each place of an error leaves a range that shrinks with every letter, so that also garbage ends soon.
 *
 * Made when a snapshot is opened, not stored: so these rules may change without another format.
 */
import { partitionPoint } from './bisect.ts'
import type { Ranking } from './ranking.ts'
import type { Steps } from '../system/steps.ts'
import { sameNumbers } from '../system/thread-memory.ts'
import {
  formsOf,
  isLetter,
  lettersIn,
  MOST_UNITS,
  readTyped,
  SAINT,
  SAINTS,
  spellingsWithSaint,
  unitsOf,
  wordsIn,
  type Typed,
} from './spelled-words.ts'

export interface SpellingsInput {
  names: readonly string[]
  slugs: readonly string[]
  identifiers: readonly string[]
  /** The name of each buoy's country, empty without one. */
  countries: readonly string[]
}

/** How well a buoy matches, best first. */
const NAME_PREFIX = 0
const WORD_PREFIX = 1
const COUNTRY = 2
const ANY_ORDER = 3
/** One typing error away from whole words, from the beginning of words, and in one word of any order. */
const ERROR_IN_WHOLE = 4
const ERROR_IN_PREFIX = 5
const ERROR_IN_ANY_ORDER = 6

/** Beyond these, words in any order are not looked for. */
const MOST_WORDS = 8
/** Shorter queries mean too many countries, and have too many words one error away. */
const LEAST_LETTERS = 4

const SEPARATOR = 0

/** What a beginning of a word is the beginning of. */
const OF_NAME = 0
const OF_WORD = 1
const OF_COUNTRY = 2

/**
 * Classes of code units in their order: separator, saint, digits, letters, all others. An array of 6 KB
 * gives, by the classes of the first two units, where halving begins. The class of all others has many units:
 * what begins with one of them is in order by that unit first, so the class of the second unit does not help.
 */
const CLASSES = 39
const OTHERS = CLASSES - 1

function classOf(unit: number): number {
  if (unit >= 0x80) return OTHERS
  if (unit >= 0x61) return unit - 0x61 + 12
  return unit >= 0x30 ? unit - 0x30 + 2 : unit
}

function rangesByClasses(text: Uint16Array, starts: Uint32Array): Uint32Array {
  const ranges = new Uint32Array(CLASSES * CLASSES + 1)
  for (const at of starts) ranges[classOf(text[at]) * CLASSES + classOf(text[at + 1]) + 1]++
  for (let i = 1; i < ranges.length; i++) ranges[i] += ranges[i - 1]
  return ranges
}

/** Buoys laid out in one step: some 0.1 ms. */
const BUOYS_PER_STEP = 32
/** Fewer are ordered by comparing them: some 30 µs. */
const COMPARED = 64

export interface SpellingColumns {
  /** Code units of all forms, each with a separator behind it; and whether a word begins at a position. */
  readonly text: Uint16Array
  readonly isStart: Uint8Array
  /** Positions in the text, in the order of what follows them; of each, its buoy and what it begins. */
  readonly starts: Uint32Array
  readonly owner: Uint32Array
  readonly kind: Uint8Array
  /** Where the beginnings start that have first two units of two classes; see `classOf`. */
  readonly byClasses: Uint32Array
}

/** The order of `before` is that of the same text. */
export function* spellingColumns(
  input: SpellingsInput,
  before: SpellingColumns | null = null,
): Steps<SpellingColumns> {
  const laid = yield* layOut(input)
  const { text, isStart } = laid
  const isKnown = before !== null && sameNumbers(before.text, text) && sameNumbers(before.isStart, isStart)
  const starts = isKnown ? before.starts : yield* ordered(laid)
  return {
    text,
    isStart,
    starts,
    owner: starts.map((at) => laid.owner[at]),
    kind: Uint8Array.from(starts, (at) => laid.kind[at]),
    byClasses: rangesByClasses(text, starts),
  }
}

export class Spellings {
  /** As in `SpellingColumns`. */
  readonly #text: Uint16Array
  readonly #isStart: Uint8Array
  readonly #starts: Uint32Array
  readonly #owner: Uint32Array
  readonly #kind: Uint8Array
  readonly #byClasses: Uint32Array
  readonly #ranking: Ranking
  /** For each buoy in the query under way, how many of the query's words it has. */
  readonly #has: Uint8Array
  readonly #typed: Typed = { units: new Uint16Array(MOST_UNITS), length: 0, letters: 0, hasSaint: false }

  /** `ranking` of all buoys holds what a query finds. */
  constructor(columns: SpellingColumns, ranking: Ranking) {
    this.#text = columns.text
    this.#isStart = columns.isStart
    this.#starts = columns.starts
    this.#owner = columns.owner
    this.#kind = columns.kind
    this.#byClasses = columns.byClasses
    this.#ranking = ranking
    this.#has = new Uint8Array(ranking.buoys)
  }

  get bytes(): number {
    const columns = [this.#text, this.#isStart, this.#starts, this.#owner, this.#kind, this.#has]
    return [...columns, this.#byClasses].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /**
   * Adds buoys behind `found`, which match exactly, up to `limit` of all. Words in any order and typing
   * errors count only where there is nothing else.
   */
  extend(found: number[], query: string, limit: number): void {
    const typed = this.#typed
    if (!readTyped(query, typed)) return
    const isLong = typed.length >= LEAST_LETTERS
    this.#addBeginnings(typed.units, typed.length, isLong)
    const withSaint = typed.hasSaint ? spellingsWithSaint(wordsIn(query)).map(unitsOf) : []
    for (const units of withSaint) this.#addBeginnings(units, units.length, isLong)
    const ranking = this.#ranking
    if (found.length === 0 && ranking.count === 0) {
      const words = wordsIn(query)
      const isFew = words.length > 1 && words.length <= MOST_WORDS
      if (isFew) this.#addAnyOrder(words)
      if (ranking.count === 0 && typed.letters >= LEAST_LETTERS) {
        for (const units of [typed.units.slice(0, typed.length), ...withSaint]) this.#addErrors(units)
        if (isFew) this.#addErrorsInAnyOrder(words)
      }
    }
    if (ranking.count === 0) return
    // Buoys that were found exactly come up again.
    const exact = found.length
    for (const ordinal of ranking.first(limit)) {
      if (found.length === limit) return
      if (!includes(found, exact, ordinal)) found.push(ordinal)
    }
  }

  #addBeginnings(units: Uint16Array, length: number, isLong: boolean): void {
    const beginning = classOf(units[0])
    const classes = beginning * CLASSES
    const isBySecond = length > 1 && beginning !== OTHERS
    const first = this.#byClasses[classes + (isBySecond ? classOf(units[1]) : 0)]
    const behind = this.#byClasses[classes + (isBySecond ? classOf(units[1]) + 1 : CLASSES)]
    const from = this.#lower(units, 0, length, 0, first, behind)
    const to = this.#upper(units, 0, length, 0, from, behind)
    for (let i = from; i < to; i++) {
      const kind = this.#kind[i]
      if (kind !== OF_COUNTRY) this.#ranking.add(this.#owner[i], kind === OF_NAME ? NAME_PREFIX : WORD_PREFIX)
      else if (isLong) this.#ranking.add(this.#owner[i], COUNTRY)
    }
  }

  /** Buoys of which each of the words begins a word. */
  #addAnyOrder(words: readonly string[]): void {
    for (const ordinal of this.#withAll(this.#rangesOf(words))) this.#ranking.add(ordinal, ANY_ORDER)
  }

  #addErrorsInAnyOrder(words: readonly string[]): void {
    words.forEach((word, i) => {
      const units = unitsOf(word)
      if (lettersIn(units) < LEAST_LETTERS) return
      const others = this.#rangesOf(words.toSpliced(i, 1))
      if (others.some(({ from, to }) => from === to)) return
      const near: Range[] = []
      this.#walk(units, (from, to) => near.push({ from, to }))
      for (const ordinal of this.#withAll(others, near)) this.#ranking.add(ordinal, ERROR_IN_ANY_ORDER)
    })
  }

  #rangesOf(words: readonly string[]): Range[] {
    return words.map((word) => {
      const units = unitsOf(SAINTS.has(word) ? SAINT : word)
      const from = this.#lower(units, 0, units.length, 0, 0, this.#starts.length)
      return { from, to: this.#upper(units, 0, units.length, 0, from, this.#starts.length) }
    })
  }

  /** Buoys with a beginning in each of the `ranges`, and in one of `near` where it is given. */
  #withAll(ranges: readonly Range[], near?: readonly Range[]): number[] {
    const has = this.#has
    const lists = ranges.map((range) => [range])
    // The shortest first: what follows is looked up in it.
    lists.sort(([a], [b]) => a.to - a.from - (b.to - b.from))
    let owners: number[] = []
    for (const [before, list] of (near === undefined ? lists : [...lists, near]).entries()) {
      const next: number[] = []
      for (const { from, to } of list) {
        for (let i = from; i < to; i++) {
          const ordinal = this.#owner[i]
          if (has[ordinal] !== before) continue
          has[ordinal] = before + 1
          next.push(ordinal)
        }
      }
      for (const ordinal of owners) if (has[ordinal] === before) has[ordinal] = 0
      owners = next
    }
    for (const ordinal of owners) has[ordinal] = 0
    return owners
  }

  #addErrors(units: Uint16Array): void {
    this.#walk(units, (from, to, length) => {
      for (let i = from; i < to; i++) {
        const end = this.#starts[i] + length
        const isWhole = this.#text[end] === SEPARATOR || this.#isStart[end] === 1
        this.#ranking.add(this.#owner[i], isWhole ? ERROR_IN_WHOLE : ERROR_IN_PREFIX)
      }
    })
  }

  /**
   * Calls `visit` with each range of beginnings that is `wanted` with one error, `length` units long: a
   * letter missing, extra or wrong, or two neighbours swapped. Digits are never taken for others.
   */
  #walk(wanted: Uint16Array, visit: (from: number, to: number, length: number) => void): void {
    const swapped = wanted.slice()
    let [from, to] = [0, this.#starts.length]
    /** Finds the beginnings from `low` to `high`, which share `depth` units, that go on as `units` do. */
    const follow = (units: Uint16Array, at: number, depth: number, low: number, high: number): void => {
      const first = this.#lower(units, at, units.length, depth, low, high)
      const behind = this.#upper(units, at, units.length, depth, first, high)
      if (first < behind) visit(first, behind, depth + units.length - at)
    }
    for (let i = 0; i < wanted.length && from < to; i++) {
      const isFree = isLetter(wanted[i])
      for (let low = from; low < to;) {
        const unit = this.#text[this.#starts[low] + i]
        const high = partitionPoint(low, to, (k) => this.#text[this.#starts[k] + i] <= unit)
        if (unit !== wanted[i] && isLetter(unit)) {
          follow(wanted, i, i + 1, low, high)
          if (isFree) follow(wanted, i + 1, i + 1, low, high)
        }
        low = high
      }
      if (isFree) {
        follow(wanted, i + 1, i, from, to)
        if (i + 1 < wanted.length && isLetter(wanted[i + 1]) && wanted[i + 1] !== wanted[i]) {
          swapped[i] = wanted[i + 1]
          swapped[i + 1] = wanted[i]
          follow(swapped, i, i, from, to)
          swapped[i] = wanted[i]
          swapped[i + 1] = wanted[i + 1]
        }
      }
      const first = this.#lower(wanted, i, i + 1, i, from, to)
      to = this.#upper(wanted, i, i + 1, i, first, to)
      from = first
    }
  }

  /**
   * Among the beginnings from `from` to `to`, which share `depth` units, finds the first that does not come
   * before `units[at]` to `units[end - 1]` there.
   */
  #lower(units: Uint16Array, at: number, end: number, depth: number, from: number, to: number): number {
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#order(this.#starts[middle] + depth, units, at, end) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  /** As `#lower`, the first behind those that go on so, of which `from` is the first: mostly a few on. */
  #upper(units: Uint16Array, at: number, end: number, depth: number, from: number, to: number): number {
    let step = 1
    while (from + step <= to && this.#order(this.#starts[from + step - 1] + depth, units, at, end) === 0) {
      from += step
      step *= 2
    }
    to = Math.min(to, from + step - 1)
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#order(this.#starts[middle] + depth, units, at, end) === 0) from = middle + 1
      else to = middle
    }
    return from
  }

  #order(position: number, units: Uint16Array, at: number, end: number): number {
    const text = this.#text
    for (; at < end; at++, position++) {
      const difference = text[position] - units[at]
      if (difference !== 0) return difference
    }
    return 0
  }
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Whether `ordinal` is among the first `length` of `list`. */
function includes(list: readonly number[], length: number, ordinal: number): boolean {
  for (let i = 0; i < length; i++) if (list[i] === ordinal) return true
  return false
}

interface Laid {
  readonly text: Uint16Array
  readonly isStart: Uint8Array
  /** By position: the buoy, and what begins there. */
  readonly owner: Uint32Array
  readonly kind: Uint8Array
  /** Where words begin. */
  readonly starts: Uint32Array
}

function* layOut({ names, slugs, identifiers, countries }: SpellingsInput): Steps<Laid> {
  const pieces: string[] = []
  const owners: number[] = []
  const kinds: number[] = []
  const starts: number[] = []
  let at = 0
  const append = (ordinal: number, form: readonly string[], kind: number): void => {
    form.forEach((word, i) => {
      starts.push(at)
      owners.push(ordinal)
      kinds.push(i > 0 && kind === OF_NAME ? OF_WORD : kind)
      at += word.length
    })
    pieces.push(form.join(''))
    // A separator.
    at++
  }
  for (let ordinal = 0; ordinal < names.length; ordinal++) {
    const name = wordsIn(names[ordinal])
    const slug = wordsIn(slugs[ordinal])
    for (const form of formsOf(name)) append(ordinal, form, OF_NAME)
    if (slug.join(' ') !== name.join(' ')) for (const form of formsOf(slug)) append(ordinal, form, OF_WORD)
    append(ordinal, wordsIn(identifiers[ordinal]), OF_WORD)
    for (const form of formsOf(wordsIn(countries[ordinal]))) append(ordinal, form, OF_COUNTRY)
    if (ordinal % BUOYS_PER_STEP === 0) yield
  }
  yield
  const text = new Uint16Array(at)
  const [isStart, owner, kind] = [new Uint8Array(at), new Uint32Array(at), new Uint8Array(at)]
  let to = 0
  for (let piece = 0; piece < pieces.length; piece++) {
    const units = pieces[piece]
    for (let i = 0; i < units.length; i++) text[to++] = units.charCodeAt(i)
    to++
    if (piece % (4 * BUOYS_PER_STEP) === 0) yield
  }
  starts.forEach((position, i) => {
    isStart[position] = 1
    owner[position] = owners[i]
    kind[position] = kinds[i]
  })
  return { text, isStart, owner, kind, starts: Uint32Array.from(starts) }
}

/**
 * The starts in the order of the text that follows, up to its separator, then by position. By one unit after
 * the other, so that no step is long: many names begin alike.
 */
function* ordered({ text, starts }: Laid): Steps<Uint32Array> {
  const compare = (a: number, b: number): number => {
    for (let i = 0; ; i++) {
      const difference = text[a + i] - text[b + i]
      if (difference !== 0) return difference
      if (text[a + i] === SEPARATOR) return a - b
    }
  }
  const result = starts.slice()
  const ranges: [from: number, to: number, depth: number][] = [[0, result.length, 0]]
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const [from, to, depth] = range
    if (to - from <= COMPARED) {
      result.subarray(from, to).sort(compare)
    } else {
      const byUnit = new Map<number, number[]>()
      for (const at of result.subarray(from, to)) {
        const unit = text[at + depth]
        const same = byUnit.get(unit)
        if (same === undefined) byUnit.set(unit, [at])
        else same.push(at)
      }
      let next = from
      for (const unit of [...byUnit.keys()].sort((a, b) => a - b)) {
        const same = byUnit.get(unit)!
        result.set(same, next)
        // Texts that end here are in the order of their positions already.
        if (unit !== SEPARATOR) ranges.push([next, next + same.length, depth + 1])
        next += same.length
      }
    }
    yield
  }
  return result
}
