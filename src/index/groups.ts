/**
 * Buoys by what lists filter on: all, by source, by country; each active or not. Names in, ascending ordinals
 * out.
 */
import { lowerBound } from './bisect.ts'
import { fold } from './spelled-words.ts'

export interface Group {
  readonly all: Uint32Array
  readonly active: Uint32Array
}

export interface Groups {
  readonly everywhere: Group
  /** By `sourceKey` of any of a source's names. */
  readonly bySource: ReadonlyMap<string, Group>
  /** By ISO 3166-1 alpha-2 code. */
  readonly byCountry: ReadonlyMap<string, Group>
}

export const EMPTY_GROUP: Group = { all: new Uint32Array(0), active: new Uint32Array(0) }

/**
 * A source's name as it is compared: without case, accents, blanks, hyphens and slashes (decisions, operation
 * 1).
 */
export function sourceKey(name: string): string {
  return fold(name).replace(/[\p{Z}\p{Pd}\s_/]+/gu, '')
}

/** Whether an ascending list holds `ordinal`. */
export function holds(ordinals: Uint32Array, ordinal: number): boolean {
  return ordinals[lowerBound(ordinals, ordinal)] === ordinal
}
