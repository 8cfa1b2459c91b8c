/**
 * The interface between adapters and the builder. An adapter turns bytes of one format into sources, buoys
 * and rows. Ids, slugs, countries, time zones, merging and the cut at `--as-of` are the builder's work.
 */
import type { MeasureName } from '../sea/columns.ts'
import type { RowBatch } from '../sea/row-batch.ts'
import type { Spectra } from '../sea/spectra.ts'
import type { Doubt } from './doubts.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../sea/records.ts'

export interface Sink {
  source(info: SourceInfo): void
  /**
   * Announces a buoy and returns its handle, always the same for one (source, identifier). A later record
   * only fills what an earlier one left out.
   */
  buoy(record: BuoyRecord): number
  /**
   * Stations of a network that a list or the map names, with or without rows: a buoy of the snapshot before
   * stays with its history, though it has no row now.
   */
  listed(source: string, identifiers: readonly string[]): void
  /**
   * Takes rows of one buoy, in any order of time; ascending is fastest. They are copied, so the batch may be
   * reused. `feed` ranks feeds of the buoy: at an equal time the lower one wins, and a higher one only fills
   * missing measures; within a feed the later row wins. A row replaces the previous snapshot's row of its
   * time, and a row without any value takes it back.
   */
  rows(buoy: number, batch: RowBatch, feed?: number): void
  /**
   * Takes wave spectra of one buoy, in any order of time. They are not copied, so the batch must not be used
   * again. At an equal time the lower `feed` wins, and within a feed the later spectrum.
   */
  spectra(buoy: number, spectra: Spectra, feed?: number): void
  /** A satellite pass. The readings that it gives virtual buoys come as rows. */
  pass(record: PassRecord): void
  /** A forecast for one point; if a point has several, the one with the newest run counts. */
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
  /** `false`: the source mentions only who reported lately. The other buoys of its networks stay. */
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

/** How a configuration names, filters and credits a source. If it fails, the build goes on without it. */
export interface SourceTerms {
  /** Its name in messages and the report. */
  name: string
  /** Replaces the adapter's own words about its network. */
  info: Partial<Omit<SourceInfo, 'name'>>
  /** Whether readings that are spikes between their neighbours are left out. */
  dropsSpikes?: boolean
  /** Rows, or values of them, that the operator takes back. */
  drop?: readonly TakenBack[]
  /** Whether a buoy is wanted. A buoy of the previous snapshot has no type: it was checked before. */
  accepts(buoy: BuoyRecord): boolean
}

/** Rows of a station that are left out whatever source or snapshot has them. */
export interface TakenBack {
  /** Identifier, in lower case. */
  station: string
  /** Epoch seconds; `until` is the first second that stays. */
  from: number
  until: number
  /** Measures whose values are taken back; null for whole rows. */
  measures: readonly MeasureName[] | null
}

/** `argument` follows the colon of `--source KIND:ARGUMENT`, or is ''; `options` fit the kind's schema. */
export type OpenSource = (argument: string, options?: SourceOptions) => Source

export type SourceOptions = { readonly [name: string]: unknown }

/** Limits of reading a source; past them it is refused. */
export interface SourceLimits {
  seconds?: number
  /** Memory of the reader process, MiB. */
  megabytes?: number
}

/** Counts what was read and refused, file by file. */
export interface Report {
  /** Share of a file's lines that may be bad, 0…1. */
  readonly maxBadShare: number
  /** Begins a file; call `end` on it when it is read. */
  file(path: string): FileReport
  /** A file is read without or before being counted: a report names the last such file of a killed reader. */
  reads?(path: string): void
  /** Counts an assumption about the source, or something that was left out. */
  doubt(doubt: Doubt): void
  /** Stations that are left out because nothing gives their position; none makes no doubt. */
  withoutPosition(identifiers: readonly string[]): void
}

export interface FileReport {
  /** Counts rows (or lines) understood. */
  rows(count: number): void
  /**
   * Counts rows or values that a rule of the format leaves out. The reason is a short fixed text; `station`
   * is the identifier where the rule is about the station.
   */
  skipped(reason: string, station?: string, times?: number): void
  /**
   * Counts a line that could not be understood: its number from 1, a fixed reason, and the text to show,
   * which the report cuts and escapes. `times` counts further lines with the same fault.
   */
  bad(line: number, reason: string, text?: string, times?: number): void
  /** False if too many of its lines are bad: the file is left out, and nothing of it may be sent. */
  end(): boolean
}

/** The report of a file's first reading, which would otherwise count the file twice. */
export const UNCOUNTED: FileReport = {
  rows: () => undefined,
  skipped: () => undefined,
  bad: () => undefined,
  end: () => true,
}
