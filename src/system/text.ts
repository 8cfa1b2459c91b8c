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

/** The known word that a mistyped one is most like; undefined where more than a third of it is different. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase().slice(0, LONGEST_WORD)
  const ranked = known.map((word) => ({ word, steps: stepsBetween(wanted, word.toLowerCase()) }))
  const [nearest] = ranked.sort((a, b) => a.steps - b.steps)
  return nearest !== undefined && nearest.steps * 3 <= Math.max(wanted.length, 3) ? nearest.word : undefined
}

/** A word in quotes that is not among the known ones, with the one that may have been meant. */
export function unknownWord(typed: string, known: readonly string[]): string {
  const meant = nearestWord(typed, known)
  const guess = meant === undefined ? '' : `: did you mean "${meant}"?`
  return `${JSON.stringify(typed.slice(0, LONGEST_WORD))}${guess} (known are ${known.join(', ')})`
}

/** Mistyped words are compared up to this length. */
const LONGEST_WORD = 100

/** Characters to put in, take out, replace or exchange with the next one, on the way to another text. */
function stepsBetween(one: string, other: string): number {
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

/** Control characters but the end of a line. */
const CONTROLS = /(?!\n)\p{Cc}(?:(?!\n)\p{Cc})*/gu

/**
 * A text that may hold any part of what came from outside, as messages have it: of a long one its beginning
 * and its end, which may say what to do, some `most` characters in all. Control characters in a row count as
 * one.
 */
export function cutText(text: string, most: number): string {
  const { length } = text
  const end = Math.floor(most / 3)
  const shown =
    length <= most
      ? text
      : `${text.slice(0, most - end)}… (${length - most} characters more) …${text.slice(-end)}`
  return shown.replaceAll(CONTROLS, (run) => run[0])
}

const MOST_FRAMES = 6

/** What may be said of a fault: where it happened. Its message may quote a request. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}
