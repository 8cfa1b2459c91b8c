/** Suffix arrays: all texts one after the other, and positions in the order of the text from there. */
import type { Column } from '../sea/columns.ts'

/** Ends each field. */
export const SEPARATOR = 0
/** Flags of what begins at a position; only a whole slug or identifier may match exactly. */
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
  /** By position: the ordinal of its buoy, and flags of what begins there. */
  readonly owner: Uint32Array
  readonly flags: Uint8Array
}

export interface WordColumns extends LaidOut {
  readonly suffixes: Uint32Array
  /** Place of each ordinal in the order of names. */
  readonly rank: Uint32Array
}

/** `column` gives a column by name and type, or throws. */
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
