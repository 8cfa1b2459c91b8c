/** Finds the path of ours that an unknown one probably means, for the text of a 404. */

import { stepsBetween } from '../system/text.ts'

/** Characters and segments of a path that is looked for. Ours are shorter. */
const LONGEST_PATH = 100
/** Letters that a mistyped word may differ in. */
const MOST_CHANGES = 2

/** Words before the operations of other versions and services: `/api/v2/buoys`, `/v1/buoys`. */
const PREFIX = /^\/(?:api|v[0-9]+)(?=\/)/

export class KnownPaths {
  readonly #base: string
  readonly #paths: readonly (readonly string[])[]

  /** @param base as in `/v2` @param paths of operations, as in `/buoys/{buoy_id}` */
  constructor(base: string, paths: readonly string[]) {
    this.#base = base
    this.#paths = paths.map((path) => path.split('/').slice(1))
  }

  /** The path with words as in `{buoy_id}`, never text of the request; null where none is near. */
  near(path: string): string | null {
    if (path.length > LONGEST_PATH) return null
    const plain = path.startsWith(`${this.#base}/`) ? path.slice(this.#base.length) : withoutPrefixes(path)
    const segments = plain.toLowerCase().split('/').slice(1)
    if (segments.at(-1) === '') segments.pop()
    let nearest: readonly string[] | null = null
    let least = Infinity
    for (const known of this.#paths) {
      const changes = changesBetween(segments, known)
      if (changes < least) [nearest, least] = [known, changes]
    }
    return nearest === null ? null : [this.#base, ...nearest].join('/')
  }
}

function withoutPrefixes(path: string): string {
  let rest = path
  while (PREFIX.test(rest)) rest = rest.replace(PREFIX, '')
  return rest
}

/** Letters to change from one path to a known one, Infinity for too many. */
function changesBetween(segments: readonly string[], known: readonly string[]): number {
  if (segments.length !== known.length) return Infinity
  let sum = 0
  for (const [i, word] of known.entries()) {
    // A word is nearer than an argument, which takes anything.
    sum += word.startsWith('{') ? MOST_CHANGES : wordChanges(segments[i], word)
  }
  return sum
}

/** Letters to change, Infinity for more than `MOST_CHANGES`. */
function wordChanges(given: string, word: string): number {
  if (Math.abs(given.length - word.length) > MOST_CHANGES) return Infinity
  const changes = stepsBetween(given, word)
  return changes <= MOST_CHANGES && changes < word.length / 2 ? changes : Infinity
}
