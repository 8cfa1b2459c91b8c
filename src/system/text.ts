/** Texts: their order, and small pieces of messages. */

/** An address of IPv6 in brackets, as URLs have it. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Orders texts by their UTF-16 code units: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/**
 * Characters to put in, take out, replace or exchange with the next one, on the way to another text
 * (Damerau 1964, Levenshtein 1966).
 */
export function stepsBetween(one: string, other: string): number {
  let [before, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const least = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(!isSame))
      const isTurned = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(isTurned ? Math.min(least, before[j - 2] + 1) : least)
    }
    before = row
    row = next
  }
  return row[other.length]
}

const MOST_FRAMES = 6

/** The place of a fault, for the log: its message may quote a request. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}

/** One JSON object and the end of its line. @param now epoch seconds */
export function jsonLine(now: number, level: string, fields: { [name: string]: unknown }): string {
  return `${JSON.stringify({ time: new Date(now * 1000).toISOString(), level, ...fields })}\n`
}
