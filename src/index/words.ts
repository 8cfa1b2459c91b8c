/**
 * Search in names, slugs and source identifiers: a suffix array over their folded text, so that a query finds
 * each occurrence by halving, at the beginning, at a word or anywhere (decisions, operation
 * 4).
 *
 *   text      code units: for each buoy name NUL slug NUL identifier NUL
 *   owner     ordinal of the buoy a text position belongs to
 *   flags     what begins or ends at a position
 *   suffixes  positions ordered by the text that follows them
 *   rank      where each ordinal stands in the order of names
 *
 * Looser matches are those of `spellings.ts`. Not wanted: stemming, scores. Rejected: a trie (more memory, no
 * substrings), trigrams (no queries of two characters).
 */
import { partitionPoint } from './bisect.ts'
import type { Ranking } from './ranking.ts'
import type { Column } from '../sea/columns.ts'
import { compareText } from '../system/compare-text.ts'
import { finish, type Steps } from '../system/steps.ts'

export interface WordsInput {
  names: readonly string[]
  slugs: readonly string[]
  identifiers: readonly string[]
}

const SEPARATOR = 0
const NAME_START = 1
/** The first position of a slug or an identifier, which alone may match exactly. */
const WHOLE_START = 2
const WORD_START = 4

/** How well a buoy matches, best first. */
const EXACT = 0
const NAME_PREFIX = 1
const WORD_PREFIX = 2
const SUBSTRING = 3

/** Without case and accents: NFD, combining marks dropped, lower case. */
export function fold(text: string): string {
  // ASCII has no marks: 1 µs saved.
  if (isAscii(text)) return text.toLowerCase()
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** The columns of the catalogue part that the search reads. */
export interface WordColumns {
  readonly text: Uint16Array
  readonly owner: Uint32Array
  readonly flags: Uint8Array
  readonly suffixes: Uint32Array
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
  const { text, owner, flags } = finish(layOut(input))
  const starts: number[] = []
  for (let at = 0; at < text.length; at++) if (text[at] !== SEPARATOR) starts.push(at)
  const suffixes = Uint32Array.from(starts).sort((a, b) => compareSuffixes(text, a, b))
  const folded = input.names.map((name) => fold(name))
  const byName = Uint32Array.from(folded.keys()).sort((a, b) => compareText(folded[a], folded[b]) || a - b)
  const rank = new Uint32Array(folded.length)
  byName.forEach((ordinal, i) => (rank[ordinal] = i))
  return new Map<string, Column>([
    ['words_text', text],
    ['words_owner', owner],
    ['words_place', flags],
    ['words_suffixes', suffixes],
    ['words_rank', rank],
  ])
}

/** Positions looked at in one step: some 0.1 ms. */
const POSITIONS_PER_STEP = 4096

/**
 * What is wrong with stored columns, or null where they are what `buildWords` makes of `input`. Neighbours
 * are compared instead of sorting anew: a twentieth of the time.
 */
export function* checkWords(columns: WordColumns, input: WordsInput): Steps<string | null> {
  const { suffixes, rank } = columns
  const { text, owner, flags } = yield* layOut(input)
  const laid: [Column, Column][] = [
    [columns.text, text],
    [columns.owner, owner],
    [columns.flags, flags],
  ]
  if (laid.some(([stored, right]) => !sameBytes(stored, right)))
    return 'its search text is not that of its names'
  yield
  // Each field ends with a separator, and all other positions are suffixes.
  if (suffixes.length !== text.length - 3 * input.names.length) return 'its search index has another length'
  for (let i = 0; i < suffixes.length; i++) {
    // Ascending in an order without equals, so none is there twice.
    const isSuffix = suffixes[i] < text.length && text[suffixes[i]] !== SEPARATOR
    if (!isSuffix || (i > 0 && compareSuffixes(text, suffixes[i - 1], suffixes[i]) >= 0)) {
      return 'its search index is not in order'
    }
    if (i % POSITIONS_PER_STEP === 0) yield
  }
  const folded = input.names.map((name) => fold(name))
  const byName = new Int32Array(folded.length).fill(-1)
  if (rank.length !== folded.length) return 'its order of names has another length'
  for (let ordinal = 0; ordinal < rank.length; ordinal++) {
    if (rank[ordinal] >= rank.length || byName[rank[ordinal]] !== -1) return 'its order of names is none'
    byName[rank[ordinal]] = ordinal
  }
  for (let i = 1; i < byName.length; i++) {
    const [a, b] = [byName[i - 1], byName[i]]
    if ((compareText(folded[a], folded[b]) || a - b) > 0) return 'its order of names is not that of its names'
  }
  return null
}

function sameBytes(a: Column, b: Column): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Column): Uint8Array =>
    new Uint8Array(buffer, byteOffset, byteLength)
  return Buffer.compare(bytes(a), bytes(b)) === 0
}

/** The text of all fields, and what is known of each of its positions. */
function* layOut({
  names,
  slugs,
  identifiers,
}: WordsInput): Steps<Pick<WordColumns, 'text' | 'owner' | 'flags'>> {
  let text = new Uint16Array(64 * names.length)
  let owner = new Uint32Array(text.length)
  let flags = new Uint8Array(text.length)
  let at = 0
  const append = (ordinal: number, field: string, start: number): void => {
    if (at + field.length + 1 > text.length) {
      const length = 2 * (at + field.length + 1)
      text = grown(text, new Uint16Array(length))
      owner = grown(owner, new Uint32Array(length))
      flags = grown(flags, new Uint8Array(length))
    }
    let isInWord = false
    for (let i = 0; i < field.length;) {
      const [isWord, units] = characterAt(field, i)
      flags[at] = (i === 0 ? start : 0) | (isInWord ? 0 : WORD_START)
      for (const end = i + units; i < end; i++) {
        text[at] = field.charCodeAt(i)
        owner[at++] = ordinal
      }
      isInWord = isWord
    }
    // A separator.
    owner[at++] = ordinal
  }
  for (let ordinal = 0; ordinal < names.length; ordinal++) {
    append(ordinal, fold(names[ordinal]), NAME_START)
    append(ordinal, slugs[ordinal], WHOLE_START)
    append(ordinal, fold(identifiers[ordinal]), WHOLE_START)
    if (ordinal % BUOYS_PER_STEP === 0) yield
  }
  return { text: text.slice(0, at), owner: owner.slice(0, at), flags: flags.slice(0, at) }
}

/** Buoys laid out in one step: some 0.1 ms. */
const BUOYS_PER_STEP = 64

function grown<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** Whether the character at `at` belongs to a word, and how many code units it has. */
function characterAt(field: string, at: number): [isWord: boolean, units: number] {
  const unit = field.charCodeAt(at)
  if (unit < 0x80) return ASCII_WORD[unit]
  const character = String.fromCodePoint(field.codePointAt(at)!)
  return [/[\p{L}\p{N}]/u.test(character), character.length]
}

const ASCII_WORD = Array.from({ length: 0x80 }, (_, unit): [boolean, number] => [
  /[a-z0-9]/i.test(String.fromCharCode(unit)),
  1,
])

/** By text up to the end of the field, then by position. */
function compareSuffixes(units: Uint16Array, a: number, b: number): number {
  for (let i = 0; ; i++) {
    const difference = units[a + i] - units[b + i]
    if (difference !== 0) return difference
    if (units[a + i] === SEPARATOR) return a - b
  }
}

/** Units of ASCII in their order, and all others behind them. */
const CLASSES = 0x81
const OTHERS = CLASSES - 1
const classOf = (unit: number): number => (unit < OTHERS ? unit : OTHERS)

/** Bits of `matches` below the ordinal. */
const FLAG_BITS = 3

/** What is made of the columns when a snapshot is opened. */
export interface WordIndex {
  /**
   * Where the suffixes begin that have first two units of two classes: 67 KB, of which a query reads two
   * numbers. Each step of halving misses the cache twice: these two numbers leave six steps of 16 among
   * 60,000 suffixes.
   */
  readonly byUnits: Uint32Array
  /**
   * For each suffix in order, its owner, with its flags in the lowest bits: a query's suffixes are adjacent.
   */
  readonly matches: Uint32Array
}

export function* wordIndex({ text, owner, flags, suffixes }: WordColumns): Steps<WordIndex> {
  const byUnits = new Uint32Array(CLASSES * CLASSES + 1)
  const matches = new Uint32Array(suffixes.length)
  for (let i = 0; i < suffixes.length; i++) {
    const at = suffixes[i]
    byUnits[classOf(text[at]) * CLASSES + classOf(text[at + 1]) + 1]++
    matches[i] = (owner[at] << FLAG_BITS) | flags[at]
    if (i % POSITIONS_PER_STEP === 0) yield
  }
  for (let i = 1; i < byUnits.length; i++) byUnits[i] += byUnits[i - 1]
  return { byUnits, matches }
}

export class Words {
  readonly #text: Uint16Array
  readonly #suffixes: Uint32Array
  /** As in `WordIndex`. */
  readonly #byUnits: Uint32Array
  readonly #matches: Uint32Array
  readonly #ranking: Ranking
  /** Code units of what is looked for. */
  #wanted = new Uint16Array(64)

  /**
   * `columns` as checked, and what `wordIndex` made of them; `ranking` of all buoys holds what a query finds.
   */
  constructor({ text, suffixes }: WordColumns, { byUnits, matches }: WordIndex, ranking: Ranking) {
    this.#text = text
    this.#suffixes = suffixes
    this.#byUnits = byUnits
    this.#matches = matches
    this.#ranking = ranking
  }

  /**
   * Ordinals of at most `limit` matching buoys: best match first, then active before inactive, then by name.
   */
  search(query: string, limit: number): number[] {
    const length = this.#read(query)
    if (length === 0) return []
    const wanted = this.#wanted
    const beginning = classOf(wanted[0])
    const classes = beginning * CLASSES
    // Others are in order by the first unit before the second.
    const isBySecond = length > 1 && beginning !== OTHERS
    const second = isBySecond ? classOf(wanted[1]) : 0
    const behind = this.#byUnits[classes + (isBySecond ? second + 1 : CLASSES)]
    const start = this.#lower(length, this.#byUnits[classes + second], behind)
    const end = this.#upper(length, start, behind)
    for (let i = start; i < end; i++) {
      this.#ranking.add(this.#matches[i] >>> FLAG_BITS, this.#matchAt(i, length))
    }
    return this.#ranking.first(limit)
  }

  /** Folds a query into `#wanted`. Without a text between, as most queries can be: 0.1 µs saved. */
  #read(query: string): number {
    if (this.#wanted.length < query.length) this.#wanted = new Uint16Array(query.length)
    const wanted = this.#wanted
    for (let i = 0; i < query.length; i++) {
      const unit = query.charCodeAt(i)
      if (unit > 0x7f) return this.#readFolded(fold(query))
      wanted[i] = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit
    }
    return query.length
  }

  #readFolded(folded: string): number {
    if (this.#wanted.length < folded.length) this.#wanted = new Uint16Array(folded.length)
    for (let i = 0; i < folded.length; i++) this.#wanted[i] = folded.charCodeAt(i)
    return folded.length
  }

  /** How well suffix `i` matches `length` units. */
  #matchAt(i: number, length: number): number {
    const flags = this.#matches[i]
    if ((flags & WHOLE_START) !== 0 && this.#text[this.#suffixes[i] + length] === SEPARATOR) return EXACT
    if ((flags & NAME_START) !== 0) return NAME_PREFIX
    return (flags & WORD_START) !== 0 ? WORD_PREFIX : SUBSTRING
  }

  /** Between `from` and `to`, the first suffix that begins with what is wanted or comes after it. */
  #lower(length: number, from: number, to: number): number {
    return partitionPoint(from, to, (i) => this.#order(this.#suffixes[i], length) < 0)
  }

  /** The first behind those that begin with what is wanted, of which `from` is the first: mostly a few on. */
  #upper(length: number, from: number, to: number): number {
    let step = 1
    while (from + step <= to && this.#order(this.#suffixes[from + step - 1], length) === 0) {
      from += step
      step *= 2
    }
    const behind = Math.min(to, from + step - 1)
    return partitionPoint(from, behind, (i) => this.#order(this.#suffixes[i], length) === 0)
  }

  #order(at: number, length: number): number {
    const text = this.#text
    const wanted = this.#wanted
    for (let i = 0; i < length; i++) {
      const difference = text[at + i] - wanted[i]
      if (difference !== 0) return difference
    }
    return 0
  }
}
