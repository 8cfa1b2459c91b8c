/** Questions that only the operator of a table can answer. */

/** A missing or ambiguous fact about a table. It is not guessed: a map has to say it. */
export interface Question {
  readonly about: 'time' | 'timeFormat' | 'zone' | 'station' | 'measure' | 'flags' | 'encoding'
  /** Its column as the header writes it; empty for a question about the whole table. */
  readonly column: string
  /** The reason in words. */
  readonly why: string
  /** Possible answers: measures, or formats of times; empty for anything. */
  readonly can: readonly string[]
}

export type Ask = (question: Question) => void
