/**
 * What a query asks for, in one form however it was written: a text that the answer cache keeps answers
 * under, and numbers and texts that go into the digest of an ETag.
 */
import type { Digest } from './digest.ts'
import type { Bounds } from '../sea/geo.ts'
import type { ParsedTime } from '../sea/time.ts'
import type { LatLng } from './value-text.ts'

/** Between members: no parameter takes control characters. */
export const SEPARATOR = '\u0001'

/** The values of `names` in their order; empty for one that was not given. */
export function canonicalText(
  names: readonly string[],
  values: { readonly [name: string]: unknown },
): string {
  let key = ''
  for (const name of names) {
    const value = values[name]
    if (value !== undefined) key += JSON.stringify(value)
    key += SEPARATOR
  }
  return key
}

export function feedNumber(value: number, digest: Digest): void {
  digest.number(value)
}

export function feedBoolean(value: boolean, digest: Digest): void {
  digest.number(value ? 1 : 0)
}

export function feedText(value: string, digest: Digest): void {
  digest.text(value)
}

export function feedTime({ epoch, wholeDay }: ParsedTime, digest: Digest): void {
  digest.number(epoch).number(wholeDay ? 1 : 0)
}

export function feedPoint({ lat, lng }: LatLng, digest: Digest): void {
  digest.number(lat).number(lng)
}

export function feedBounds({ north, south, east, west }: Bounds, digest: Digest): void {
  digest.number(north).number(south).number(east).number(west)
}

export function feedNumbers(values: number[], digest: Digest): void {
  digest.number(values.length)
  for (let i = 0; i < values.length; i++) digest.number(values[i])
}

export function feedTexts(values: string[], digest: Digest): void {
  digest.number(values.length)
  for (const value of values) digest.text(value)
}
