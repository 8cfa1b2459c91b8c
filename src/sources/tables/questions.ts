/** What only the operator of a table can say. */

/** What a table does not say, or says in more ways than one. Nothing is read by it until a map says it. */
export interface Question {
  readonly about: 'time' | 'timeFormat' | 'zone' | 'station' | 'measure' | 'flags' | 'encoding'
  /** Its column as the header writes it; empty for a question about the whole table. */
  readonly column: string
  /** In words. */
  readonly why: string
  /** What it can be: measures, or formats of times; empty for anything. */
  readonly can: readonly string[]
}

export type Ask = (question: Question) => void
