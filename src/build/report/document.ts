/**
 * The report of a build as a document. Rows, lines and files are counted over the whole build; what is listed
 * one by one is bounded. Times are as on the wire.
 */
import type { CarriedOver } from '../given.ts'

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
  /** As the configuration calls it; "command line" for all sources without a configuration. */
  name: string
  /** Why the source is silent; null when it was read. */
  refused: string | null
  /** When a silent source was read last; null for a source that was read, or never was. */
  last_read: string | null
  /** What is carried over of a silent source; null as above. */
  stays: CarriedOver | null
  files: number
  rows: number
  bad_lines: number
  bad_reasons: { [reason: string]: number }
  /** The first bad lines, with the beginning of the faulty text where that is known. */
  bad: { file: string; line: number; reason: string; text: string | null }[]
  /** Rows or values left out by a rule of the format, by reason. */
  skipped: { [reason: string]: number }
  /** The same by station, where the rule is about a station. */
  skipped_stations: { [reason: string]: { [identifier: string]: number } }
  /** Stations left out for lack of a position. */
  without_position: string[]
  warnings: string[]
  fetch: FetchDocument | null
}

export interface FetchDocument {
  files: number
  /** How long it took, and how long it was allowed to take. */
  seconds: number
  seconds_allowed: number
  fetched: number
  unchanged: number
  not_due: number
  failed: number
  removed: number
  bytes: number
  /** When the file that was confirmed longest ago was confirmed; null while a file has never come. */
  oldest: string | null
  failures: { url: string; reason: string; used_from: string | null }[]
}

export interface NetworkDocument {
  name: string
  buoys: number
  /** Buoys with a reading in this build's input. */
  reporting: number
  newest_reading: string | null
  /** Values taken out, by reason. */
  impossible: { [reason: string]: number }
  /** Suspect readings in the months that were written; they stay as they are. */
  doubtful: { reason: string; readings: number; buoys: number; identifiers: string[] }[]
}
