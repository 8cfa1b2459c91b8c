/** ETags of answers, and whether a client names one. */

/** Twelve hexadecimal digits. */
export function numberText(high: number, low: number): string {
  return high.toString(16).padStart(4, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

/** In `If-None-Match`: any answer that there is. */
export const ANY_TAG = '*'

/** `tag` is without `W/`: weak comparison, any of a list, or `*` alone (RFC 9110, 13.1.2). */
export function namesEtag(condition: string, tag: string): boolean {
  if (condition.trim() === ANY_TAG) return true
  return condition.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
