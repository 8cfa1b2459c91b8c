/**
 * What every source adapter looks like: bytes of somebody's format in, sources, buoys and rows out, one
 * direction.
 *
 * An adapter knows its format and nothing of snapshots: ids, slugs, countries, time zones, merging and the
 * cut at `--as-of` are the builder's.
 */
import type { RowBatch } from '../sea/columns.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../sea/records.ts'

/** Where an adapter puts what it read. */
export interface Sink {
  source(info: SourceInfo): void
  /**
   * Makes a buoy known and returns its handle. The same (source, identifier) gives the same handle; a later
   * record only fills what an earlier one left out.
   */
  buoy(record: BuoyRecord): number
  /**
   * Takes over the rows of one buoy (copied at once, the batch may be cleared and used again). Any order of
   * time is accepted, ascending is fastest. `feed` ranks feeds of the same buoy: at an equal time the lower
   * one wins, and the higher one only fills measures that are missing there. Within one feed the row that
   * came later wins.
   *
   * A row replaces the one of its time in the folder's previous snapshot; a row without any value takes it
   * back.
   */
  rows(buoy: number, batch: RowBatch, feed?: number): void
  /** A satellite pass; the readings it gives virtual buoys come as rows, like any other. */
  pass(record: PassRecord): void
  /** A forecast for one point; of several for the same point the one with the newest run stays. */
  forecast(record: ForecastRecord): void
  harbour(record: HarbourRecord): void
  /** A named place for the combined conditions; ids are the source's own and unique. */
  spot(record: SpotRecord): void
}

export interface SourceContext {
  /** `--as-of` in epoch seconds, or null: "the newest reading in the input". */
  asOf: number | null
  /** The clock, in epoch seconds; only sources that make their data up look at it. */
  now: number
  report: Report
}

export interface Source {
  /**
   * `false`: the source mentions only who reported lately, so a buoy that it leaves out is still there. Those
   * that its networks have in the folder's snapshot stay.
   */
  readonly complete?: boolean
  /** Where its files lie; absent for sources that read none. */
  readonly folder?: string
  /** The operator's own rows, which quality control does not touch. */
  readonly isControlled?: boolean
  /** What the operator's configuration says of this source, beyond its format. */
  readonly terms?: SourceTerms
  /** What this source takes as the data's time when `--as-of` is not given; absent: the newest reading. */
  defaultAsOf?(now: number): number
  read(sink: Sink, context: SourceContext): Promise<void>
}

/** How a source is named, filtered and credited; where it fails, the others of the build go on without it. */
export interface SourceTerms {
  /** What messages and the report call it. */
  name: string
  /** What stands in place of the adapter's own words about its network. */
  info: Partial<Omit<SourceInfo, 'name'>>
  /**
   * Whether a buoy is wanted. One that the snapshot has is without a type: it was asked for that when it
   * came.
   */
  accepts(buoy: BuoyRecord): boolean
}

/**
 * A source that can give its rows month by month, oldest first, any month on its own. The builder then writes
 * a month before it asks for the next, and a build that was interrupted goes on where it stopped.
 */
export interface MonthlySource extends Source {
  /** Months with rows up to `asOf`, oldest first, counted from January 1970 (`time.ts`). */
  months(asOf: number): number[]
  /** What the rows of a month depend on: equal keys mean equal rows. */
  monthKey(month: number, asOf: number): string
  /** Makes the sources and all buoys known; the handles go to `readMonth`. */
  announce(sink: Sink): number[]
  /** Hands over all rows of one month up to `asOf`, buoy by buoy. Any month may be left out or come again. */
  readMonth(month: number, asOf: number, sink: Sink, handles: readonly number[], file: FileReport): void
}

/**
 * `argument` is what stands behind the colon of `--source KIND:ARGUMENT` ('' when there is none); `options`
 * are those of the configuration, which fit the schema that stands beside the kind in `kinds.ts`.
 */
export type OpenSource = (argument: string, options?: SourceOptions) => Source

export type SourceOptions = { readonly [name: string]: unknown }

/** What reading a source may take before it is given up. */
export interface SourceLimits {
  seconds?: number
  /** Memory of the process that reads, 2^20 bytes each. */
  megabytes?: number
}

/** Counts what was read and what was refused, file by file. */
export interface Report {
  /** Begins a file; call `end` on it when it is read. */
  file(path: string): FileReport
  /**
   * A file is looked at without being counted, or long before it is: tells where a reader was that had to be
   * ended.
   */
  reads?(path: string): void
  /** A remark about the source as a whole. */
  warn(message: string): void
  /**
   * Stations of a source of this kind that are left out because nothing says where they lie; none is no
   * remark.
   */
  withoutPosition(kind: string, identifiers: readonly string[]): void
}

export interface FileReport {
  /** Counts rows (or lines) understood. */
  rows(count: number): void
  /**
   * Counts a row or value that was understood but left out by a rule of the format, with a short fixed
   * reason, and with the station's identifier where the rule says something about the station. `times` counts
   * several at once.
   */
  skipped(reason: string, station?: string, times?: number): void
  /**
   * A line that could not be understood: 1-based line number, what is wrong, in fixed words without the
   * line's text, and the text that is to blame, which is shown cut and escaped. `times` counts further lines
   * with the same fault.
   */
  bad(line: number, reason: string, text?: string, times?: number): void
  /** @throws BuildError when more than the allowed share of the file was bad. */
  end(): void
}
