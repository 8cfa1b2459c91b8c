/**
 * Groups that lists filter by: buoys of a source or country, passes of a mission; each active or not.
 * Ordinals ascend.
 */
import { lowerBound } from './bisect.ts'
import { fold } from './spelled-words.ts'

export interface Group {
  readonly all: Uint32Array
  readonly active: Uint32Array
}

export interface Groups {
  readonly everywhere: Group
  /** Groups by `sourceKey` of any name of their source. */
  readonly bySource: ReadonlyMap<string, Group>
  readonly byCountry: ReadonlyMap<string, Group>
}

export const EMPTY_GROUP: Group = { all: new Uint32Array(0), active: new Uint32Array(0) }

/** A source's name as compared: no case, accents, blanks, hyphens, slashes. */
export function sourceKey(name: string): string {
  return fold(name).replace(/[\p{Z}\p{Pd}\s_/]+/gu, '')
}

/** Whether an ascending list holds `ordinal`. */
export function holds(ordinals: Uint32Array, ordinal: number): boolean {
  return ordinals[lowerBound(ordinals, ordinal)] === ordinal
}
