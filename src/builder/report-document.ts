/** The report of a build as a document: complete counts, bounded lists, times as on the wire. */
import type { CarriedOver } from './source-state.ts'

export const REPORT_FORMAT = 'groundswell-report'
export const REPORT_VERSION = 1

export interface ReportDocument {
  format: typeof REPORT_FORMAT
  version: typeof REPORT_VERSION
  snapshot: string
  /** Whether the build published it; false where it only kept it, since a rollback held. */
  announced: boolean
  as_of: string
  built_at: string
  seconds: number
  files: number
  rows: number
  bad_lines: number
  months_written: string[]
  sources: SourceDocument[]
  networks: NetworkDocument[]
  /** Networks that sources mention and that have no buoy in the snapshot. */
  networks_without_buoys: string[]
  duplicates: { left_out: string; stays: string; km: number }[]
  duplicates_count: number
}

export interface SourceDocument {
  /** Name in the configuration; "command line" for all sources without a configuration. */
  name: string
  /** Why the source is stale; null when it was read. */
  refused: string | null
  /** When a stale source was read last; null for a source that was read, or never was. */
  last_read: string | null
  /** What is carried over of a stale source; null where `last_read` is. */
  stays: CarriedOver | null
  files: number
  rows: number
  bad_lines: number
  bad_reasons: { [reason: string]: number }
  /** The first bad lines, with the beginning of the faulty text where that is known. */
  bad: { file: string; line: number; reason: string; text: string | null }[]
  /** Rows or values left out by a rule of the format, by reason. */
  skipped: { [reason: string]: number }
  skipped_stations: { [reason: string]: { [identifier: string]: number } }
  without_position: string[]
  doubts: DoubtDocument[]
  fetch: FetchDocument | null
}

/** What was assumed or left out, how often, the first examples, and what to do about it. */
export interface DoubtDocument {
  what: string
  times: number
  examples: string[]
  remedy: string | null
  /** Values may be wrong, or a station is missing. */
  grave: boolean
}

export interface FetchDocument {
  files: number
  /** How long it took, and how long it was allowed to take. */
  seconds: number
  seconds_allowed: number
  fetched: number
  unchanged: number
  /** Files that were not asked for, since they were confirmed a short time ago. */
  not_due: number
  failed: number
  /** Files that were removed, since the configuration no longer names them. */
  removed: number
  bytes: number
  /** When the file confirmed longest ago was confirmed; null while a file has never come. */
  oldest: string | null
  /** The first failures; `used_from` is when the file still in use was confirmed, null without a file. */
  failures: { url: string; reason: string; used_from: string | null }[]
}

export interface NetworkDocument {
  name: string
  buoys: number
  /** Buoys with a reading in this build's input. */
  reporting: number
  newest_reading: string | null
  impossible: { [reason: string]: number }
  /** Suspect readings in the months that were written; they stay as they are. */
  doubtful: { reason: string; readings: number; buoys: number; identifiers: string[] }[]
}

/** How often a build had a doubt about each of its sources. */
export function doubtCounts(report: ReportDocument | null): DoubtCounts[] {
  // Reports of older versions have none.
  return (report?.sources ?? []).map(({ name, doubts = [] }: Partial<SourceDocument>) => {
    const grave = doubts.filter((doubt) => doubt.grave)
    return { input: name ?? '', grave: timesOf(grave), other: timesOf(doubts) - timesOf(grave) }
  })
}

interface DoubtCounts {
  input: string
  grave: number
  other: number
}

function timesOf(doubts: readonly DoubtDocument[]): number {
  return doubts.reduce((sum, { times }) => sum + times, 0)
}

/** Bad lines of one file that are shown one by one; the others are only counted. */
export const BAD_LINES_SHOWN = 5
const TEXT_SHOWN = 40
/** Characters of one example of a doubt, and examples that a build prints. */
export const EXAMPLE_SHOWN = 200
export const EXAMPLES_PRINTED = 3
export const BAD_LINES_KEPT = 200
/** Duplicates and identifiers in the document, of each kind. */
export const REMARKS_KEPT = 200
export const IDENTIFIERS_KEPT = 20
export const MONTHS_KEPT = 2000
/** Stations in one list or under one reason: ten times what the largest networks have. */
export const STATIONS_KEPT = 20_000
/** Reasons are fixed texts of adapters; a slip there must not fill the memory. */
export const REASONS_KEPT = 500

/** The number of keys of each object of counts, which an addition does not count anew. */
const keysOf = new WeakMap<object, number>()

/** Adds to one of at most `mostKeys` counts; what would be one more is not counted. */
export function addBounded(
  counts: { [key: string]: number },
  key: string,
  amount: number,
  mostKeys: number = REASONS_KEPT,
): void {
  if (Object.hasOwn(counts, key)) {
    counts[key] += amount
    return
  }
  const keys = keysOf.get(counts) ?? 0
  if (keys >= mostKeys) return
  // Defined and not assigned: `__proto__` is a key like any other.
  Object.defineProperty(counts, key, { value: amount, enumerable: true, writable: true, configurable: true })
  keysOf.set(counts, keys + 1)
}

/** The beginning of a text in quotes; nothing in it steers a terminal or changes its direction of reading. */
export function quoted(text: string, most = TEXT_SHOWN): string {
  const cut = text.slice(0, most)
  // Characters that change the direction (Cf) or show nothing (C: surrogates, private, unassigned).
  const visible = JSON.stringify(cut).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
  return text.length > most ? `${visible}…` : visible
}
