/**
 * Suffix arrays: the texts of all buoys one after the other, and places in them in the order of the text that
 * follows. Halving finds every place from which the text goes on as a query does (`search.ts`).
 * `search-columns.ts` makes them. Rejected: a trie (more memory, no substrings), trigrams (no queries of two
 * characters).
 */
import type { Column } from '../sea/columns.ts'

/** Stands behind each field. */
export const SEPARATOR = 0
/** What begins at a position. A slug or an identifier is a whole: it alone may match exactly. */
export const NAME_START = 1
export const WHOLE_START = 2
export const WORD_START = 4
export const COUNTRY_START = 8
/** Bits of `matches` below the ordinal. */
export const FLAG_BITS = 4

export interface Suffixes {
  readonly text: Uint16Array
  /** Positions in the text, in the order of what follows them. */
  readonly suffixes: Uint32Array
  /**
   * Of each suffix in that order, its owner, with its flags in the lowest bits: a query's suffixes are
   * neighbours.
   */
  readonly matches: Uint32Array
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

export interface LaidOut {
  /** Code units of all fields. */
  readonly text: Uint16Array
  /** Of each position, the ordinal of its buoy and what begins there. */
  readonly owner: Uint32Array
  readonly flags: Uint8Array
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
