/**
 * Search in names, slugs and source identifiers: a suffix array over their folded text, so that a query finds each place where
 * it occurs by binary search, at the beginning, at a word or anywhere (decisions, operation 4).
 *
 *   text      code units: for each buoy name NUL slug NUL identifier NUL
 *   owner     ordinal of the buoy a text position belongs to
 *   place     what begins or ends at a position, as flags
 *   suffixes  positions ordered by the text that follows them
 *   rank      place of each ordinal in the order of names
 *
 * Not wanted here: typing errors, stemming, scores. Rejected: a trie (more memory, no substrings), trigrams (no queries of
 * two characters).
 */
import type { Column } from '../snapshot/format.ts'

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

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export function buildWords({ names, slugs, identifiers }: WordsInput): Map<string, Column> {
  const text: number[] = []
  const owner: number[] = []
  const place: number[] = []
  const append = (ordinal: number, field: string, start: number): void => {
    let previous = ''
    let first = true
    for (const character of field) {
      const wordStart = !isWordCharacter(previous)
      for (let unit = 0; unit < character.length; unit++) {
        text.push(character.charCodeAt(unit))
        owner.push(ordinal)
        place.push((first ? start : 0) | (wordStart && unit === 0 ? WORD_START : 0))
        first = false
      }
      previous = character
    }
    text.push(SEPARATOR)
    owner.push(ordinal)
    place.push(0)
  }
  names.forEach((name, ordinal) => {
    append(ordinal, fold(name), NAME_START)
    append(ordinal, slugs[ordinal], WHOLE_START)
    append(ordinal, fold(identifiers[ordinal]), WHOLE_START)
  })
  const units = Uint16Array.from(text)
  const starts = text.flatMap((unit, at) => (unit === SEPARATOR ? [] : [at]))
  const suffixes = Uint32Array.from(starts).sort((a, b) => compareSuffixes(units, a, b))
  const folded = names.map((name) => fold(name))
  const byName = Uint32Array.from(names.keys()).sort((a, b) => compareText(folded[a], folded[b]) || a - b)
  const rank = new Uint32Array(names.length)
  byName.forEach((ordinal, place) => (rank[ordinal] = place))
  return new Map<string, Column>([
    ['words_text', units],
    ['words_owner', Uint32Array.from(owner)],
    ['words_place', Uint8Array.from(place)],
    ['words_suffixes', suffixes],
    ['words_rank', rank],
  ])
}

function isWordCharacter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

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
  readonly #place: Uint8Array
  readonly #suffixes: Uint32Array
  readonly #rank: Uint32Array
  readonly #active: Uint8Array
  readonly #byRank: Uint32Array
  /** In the query under way: the best match of each buoy, the buoys found, and the best keys so far. */
  readonly #best: Uint8Array
  readonly #found: Uint32Array
  #keys = new Float64Array(64)

  /** `active` says of each ordinal whether the buoy is active. */
  constructor(columns: (name: string) => Column, active: Uint8Array) {
    this.#text = columns('words_text') as Uint16Array
    this.#owner = columns('words_owner') as Uint32Array
    this.#place = columns('words_place') as Uint8Array
    this.#suffixes = columns('words_suffixes') as Uint32Array
    this.#rank = columns('words_rank') as Uint32Array
    this.#active = active
    this.#byRank = new Uint32Array(this.#rank.length)
    this.#rank.forEach((rank, ordinal) => (this.#byRank[rank] = ordinal))
    this.#best = new Uint8Array(this.#rank.length)
    this.#found = new Uint32Array(this.#rank.length)
  }

  /** Ordinals of at most `limit` matching buoys: best match first, then active before inactive, then by name. */
  search(query: string, limit: number): number[] {
    const wanted = fold(query)
    if (wanted === '') return []
    const [best, found] = [this.#best, this.#found]
    let count = 0
    const start = this.#bound(wanted, 0, this.#suffixes.length, false)
    const end = this.#endOf(wanted, start)
    for (let i = start; i < end; i++) {
      const at = this.#suffixes[i]
      const ordinal = this.#owner[at]
      const match = this.#matchAt(at, wanted.length)
      // 0 stands for "not found yet", so matches are kept one higher.
      if (best[ordinal] === 0) found[count++] = ordinal
      else if (best[ordinal] <= match + 1) continue
      best[ordinal] = match + 1
    }
    return this.#first(count, limit)
  }

  /** The first `limit` of the `count` buoys found, in their order; forgets what was found. Most drop out at one comparison. */
  #first(count: number, limit: number): number[] {
    if (this.#keys.length <= limit) this.#keys = new Float64Array(limit + 1)
    const keys = this.#keys
    const buoys = this.#rank.length
    let kept = 0
    for (let i = 0; i < count; i++) {
      const ordinal = this.#found[i]
      const key = (this.#best[ordinal] * 2 + 1 - this.#active[ordinal]) * buoys + this.#rank[ordinal]
      this.#best[ordinal] = 0
      if (kept === limit && key > keys[limit - 1]) continue
      let at = kept
      for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1]
      keys[at] = key
      if (kept < limit) kept++
    }
    const first: number[] = []
    for (let i = 0; i < kept; i++) first.push(this.#byRank[keys[i] % buoys])
    return first
  }

  #matchAt(at: number, length: number): number {
    const place = this.#place[at]
    if ((place & WHOLE_START) !== 0 && this.#text[at + length] === SEPARATOR) return EXACT
    if ((place & NAME_START) !== 0) return NAME_PREFIX
    return (place & WORD_START) !== 0 ? WORD_PREFIX : SUBSTRING
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
   * Between `low` and `high`, the first suffix that begins with `wanted` or comes after it; with `after`, the first one behind all that begin
   * with it.
   */
  #bound(wanted: string, low: number, high: number, after: boolean): number {
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.#compare(this.#suffixes[middle], wanted)
      if (order < 0 || (after && order === 0)) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(at: number, wanted: string): number {
    for (let i = 0; i < wanted.length; i++) {
      const difference = this.#text[at + i] - wanted.charCodeAt(i)
      if (difference !== 0) return difference
    }
    return 0
  }
}
