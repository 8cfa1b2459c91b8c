/** What an attack is: the words that all families of attacks share. */

/** What is attacked, as an attacker on the same machine sees it. */
export interface Target {
  port: number
  adminPort: number
  engine: 'uws' | 'node'
  /** The attackers' own key, with all the quota there is. */
  key: string
  /** Slugs of buoys with half-hourly rows of 13 years. */
  buoys: readonly string[]
  /** Path of the largest file that is served to anybody. */
  download: string
  /** The folder that is served. */
  snapshots: string
  keysFile: string
  /** The compiled command line. */
  cli: string
  /** What is drawn is drawn from it. */
  seed: number
}

/** What an attacker saw. */
export interface Finding {
  /** What was done and how it was answered, in a few words. */
  did: string
  /** What must not be. */
  faults: string[]
}

export interface Attack {
  name: string
  /** What it does at scale 1. */
  about: string
  /** It attacks what both engines have, so it is made once. */
  anyEngine?: true
  /** The share of it that is done where nobody asks for the long form; all where it is left out. */
  usualShare?: number
  /** Amounts go with `scale`; ends by itself and leaves no connection behind. */
  run: (target: Target, scale: number) => Promise<Finding>
}

/** `whole` at scale 1, and at least 1. */
export function amount(whole: number, scale: number): number {
  return Math.max(1, Math.round(whole * scale))
}

/** How often each word came, the most frequent first: `200 × 180, 503 × 20`. */
export class Tally {
  readonly #counts = new Map<string | number, number>()

  add(word: string | number, count = 1): void {
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + count)
  }

  of(word: string | number): number {
    return this.#counts.get(word) ?? 0
  }

  get words(): (string | number)[] {
    return [...this.#counts.keys()]
  }

  toString(): string {
    if (this.#counts.size === 0) return 'nothing'
    return [...this.#counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([word, count]) => `${word} × ${count.toLocaleString('en')}`)
      .join(', ')
  }
}
