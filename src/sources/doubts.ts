/**
 * A doubt is something in the input that contradicts itself, or can be read in more than one way: a source
 * says what it assumed or left out, and the build's report counts it. Nothing is turned, merged, moved or
 * dropped without a doubt, a skipped value or a bad line.
 */

import { entryOf } from '../system/entry-of.ts'

export interface Doubt {
  /**
   * What was assumed or left out: a fixed text without anything of the input, by which doubts are counted.
   */
  what: string
  /** What an operator can do about it; a fixed text. */
  remedy?: string
  /** Places and pieces of the input, "FILE: TEXT". The first ones are shown, cut and escaped. */
  examples?: readonly string[]
  times?: number
  /** Values may be wrong, or much is missing: the build prints it. Others are only in the report. */
  isGrave?: boolean
}

export interface CountedDoubt extends Doubt {
  times: number
  examples: string[]
}

/** Texts that are counted apart; a slip of an adapter must not fill the memory. */
const MOST = 200
const OTHERS = 'further reasons'
const MOST_EXAMPLES = 50
const EXAMPLE_CHARACTERS = 300

/** The doubts of one source by their text, with the first examples of each. */
export class Doubts {
  readonly #known = new Map<string, CountedDoubt>()

  add({ what, times = 1, examples = [], isGrave = false, ...more }: Doubt): void {
    const text = this.#known.has(what) || this.#known.size < MOST ? what : OTHERS
    const known = entryOf(this.#known, text, () => ({ what: text, times: 0, examples: [], ...more }))
    known.times += times
    known.isGrave ||= isGrave
    for (const example of examples.slice(0, MOST_EXAMPLES - known.examples.length)) {
      const cut = example.slice(0, EXAMPLE_CHARACTERS)
      if (!known.examples.includes(cut)) known.examples.push(cut)
    }
  }

  list(): readonly CountedDoubt[] {
    return [...this.#known.values()]
  }
}
