/**
 * What an adapter and the builder know of each other. An adapter turns bytes of one format into sources,
 * buoys and rows.
 *
 * It knows its format and nothing of snapshots: ids, slugs, countries, time zones, merging and the cut at
 * `--as-of` are the builder's work.
 */
import type { RowBatch } from '../sea/row-batch.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../sea/records.ts'

/** Takes what an adapter reads. */
export interface Sink {
  source(info: SourceInfo): void
  /**
   * Announces a buoy and returns its handle. The same (source, identifier) always gives the same handle; a
   * later record only fills what an earlier one left out.
   */
  buoy(record: BuoyRecord): number
  /**
   * Takes rows of one buoy. They are copied at once, so the batch may be reused. Any order of time is
   * accepted; ascending is fastest. `feed` ranks feeds of the same buoy: at an equal time the lower one wins,
   * and a higher one only fills measures that are missing there. Within one feed the later row wins.
   *
   * A row replaces the one of its time in the folder's previous snapshot; a row without any value takes it
   * back.
   */
  rows(buoy: number, batch: RowBatch, feed?: number): void
  /** A satellite pass. The readings that it gives virtual buoys come as rows, like any other. */
  pass(record: PassRecord): void
  /** A forecast for one point; of several for the same point the one with the newest run counts. */
  forecast(record: ForecastRecord): void
  harbour(record: HarbourRecord): void
  /** A named place for the combined conditions; ids are the source's own and unique. */
  spot(record: SpotRecord): void
}

export interface SourceContext {
  /** `--as-of` in epoch seconds, or null: "the newest reading in the input". */
  asOf: number | null
  /** The clock, in epoch seconds; only made-up sources look at it. */
  now: number
  report: Report
}

export interface Source {
  /**
   * `false`: the source mentions only who reported lately. Buoys of its networks that it leaves out stay in
   * the folder's snapshot.
   */
  readonly complete?: boolean
  /** The operator's own rows, which quality control does not touch. */
  readonly isControlled?: boolean
  /** The source gives made-up data: the snapshot is marked for good. */
  readonly isMadeUp?: boolean
  /** The configuration's terms for this source, beyond its format. */
  readonly terms?: SourceTerms
  /** The data's time when `--as-of` is not given; absent: the newest reading. */
  defaultAsOf?(now: number): number
  read(sink: Sink, context: SourceContext): Promise<void>
}

/**
 * How a source of a configuration is named, filtered and credited. If it fails, the build goes on without it.
 */
export interface SourceTerms {
  /** What messages and the report call it. */
  name: string
  /** Replaces the adapter's own words about its network. */
  info: Partial<Omit<SourceInfo, 'name'>>
  /**
   * Whether a buoy is wanted. A buoy that comes from the snapshot has no type: its type was checked when it
   * first came.
   */
  accepts(buoy: BuoyRecord): boolean
}

/**
 * `argument` is what follows the colon of `--source KIND:ARGUMENT`, '' if nothing does. `options` come from
 * the configuration and fit the kind's schema in `kinds.ts`.
 */
export type OpenSource = (argument: string, options?: SourceOptions) => Source

export type SourceOptions = { readonly [name: string]: unknown }

/** What reading a source may take; past it the source is refused. */
export interface SourceLimits {
  seconds?: number
  /** Memory of the reader process, MiB. */
  megabytes?: number
}

/** Counts what was read and refused, file by file. */
export interface Report {
  /** Begins a file; call `end` on it when it is read. */
  file(path: string): FileReport
  /**
   * A file is read without being counted, or before it is counted. If the reader process has to be ended, the
   * report names the last such file.
   */
  reads?(path: string): void
  /** A remark about the source as a whole. */
  warn(message: string): void
  /** Stations that are left out because nothing gives their position. An empty list makes no remark. */
  withoutPosition(kind: string, identifiers: readonly string[]): void
}

export interface FileReport {
  /** Counts rows (or lines) understood. */
  rows(count: number): void
  /**
   * Counts a row or value that was understood but is left out by a rule of the format. The reason is a short
   * fixed text. A station's identifier is given where the rule is about the station. `times` counts several
   * at once.
   */
  skipped(reason: string, station?: string, times?: number): void
  /**
   * Counts a line that could not be understood: its number from 1, a fixed reason, and the text to show,
   * which the report cuts and escapes. `times` counts further lines with the same fault.
   */
  bad(line: number, reason: string, text?: string, times?: number): void
  /** @throws BuildError when more than the allowed share of the file was bad. */
  end(): void
}
