/** What a table says of its columns, and what only its operator can say. */
import type { HeaderCell } from '../reading/header.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import type { Sample } from './sample.ts'

/** A missing or ambiguous fact about a table. It is not guessed: a map has to say it. */
export interface Question {
  readonly about: 'time' | 'timeFormat' | 'zone' | 'station' | 'measure' | 'unit' | 'flags' | 'encoding'
  /** Its column as the header writes it; empty for a question about the whole table. */
  readonly column: string
  /** The reason in words. */
  readonly why: string
  /** Possible answers: measures, or formats of times; empty for anything. */
  readonly can: readonly string[]
}

export type Ask = (question: Question) => void

/** What a table says of its columns, before they are chosen. */
export interface Columns {
  readonly cells: readonly HeaderCell[]
  /** Null for answers of servers, whose times are UTC unless they say otherwise. */
  readonly sample: Sample | null
  readonly ask: Ask
  readonly doubt: TakeDoubt
}
