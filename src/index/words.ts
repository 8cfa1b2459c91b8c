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
 * Looser matches are those of `spellings.ts`. Not wanted: stemming, scores. Rejected: a trie (more memory, no substrings), trigrams
 * (no queries of two characters).
 */
import { partitionPoint } from './bisect.ts'
import { Ranking } from './ranking.ts'
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

export class Words {
  readonly #text: Uint16Array
  readonly #owner: Uint32Array
  readonly #flags: Uint8Array
  readonly #suffixes: Uint32Array
  readonly #ranking: Ranking

  /** `columns` as checked; `active` says of each ordinal whether the buoy is active. */
  constructor({ text, owner, flags, suffixes, rank }: WordColumns, active: Uint8Array) {
    this.#text = text
    this.#owner = owner
    this.#flags = flags
    this.#suffixes = suffixes
    this.#ranking = new Ranking(active, rank)
  }

  /**
   * Ordinals of at most `limit` matching buoys: best match first, then active before inactive, then by name.
   */
  search(query: string, limit: number): number[] {
    const wanted = fold(query)
    if (wanted === '') return []
    const start = this.#bound(wanted, 0, this.#suffixes.length, false)
    const end = this.#endOf(wanted, start)
    for (let i = start; i < end; i++) {
      const at = this.#suffixes[i]
      this.#ranking.add(this.#owner[at], this.#matchAt(at, wanted.length))
    }
    return this.#ranking.first(limit)
  }

  #matchAt(at: number, length: number): number {
    const flags = this.#flags[at]
    if ((flags & WHOLE_START) !== 0 && this.#text[at + length] === SEPARATOR) return EXACT
    if ((flags & NAME_START) !== 0) return NAME_PREFIX
    return (flags & WORD_START) !== 0 ? WORD_PREFIX : SUBSTRING
  }

  /** Behind the last suffix that begins with `wanted`, where `start` is the first: mostly a few steps on. */
  #endOf(wanted: string, start: number): number {
    let low = start
    let step = 8
    while (low + step < this.#suffixes.length && this.#compare(this.#suffixes[low + step], wanted) === 0) {
      low += step
      step *= 2
    }
    return this.#bound(wanted, low, Math.min(low + step, this.#suffixes.length), true)
  }

  /**
   * Between `low` and `high`, the first suffix that begins with `wanted` or comes after it; with `after`, the
   * first one behind all that begin with it.
   */
  #bound(wanted: string, low: number, high: number, after: boolean): number {
    return partitionPoint(low, high, (i) => {
      const order = this.#compare(this.#suffixes[i], wanted)
      return order < 0 || (after && order === 0)
    })
  }

  #compare(at: number, wanted: string): number {
    for (let i = 0; i < wanted.length; i++) {
      const difference = this.#text[at + i] - wanted.charCodeAt(i)
      if (difference !== 0) return difference
    }
    return 0
  }
}
