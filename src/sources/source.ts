/**
 * What every source adapter looks like: bytes of somebody's format in, sources, buoys and rows out, one direction.
 *
 * An adapter knows its format and nothing of snapshots: ids, slugs, countries, time zones, merging and the cut at
 * `--as-of` are the builder's.
 */
import type { MeasureName, RowBatch } from '../columns.ts'
import type { Bounds } from '../geo.ts'

/**
 * Decides which metrics the seasonal series offers (contract, operation 10): `national` has waves, water temperature and
 * wind, `coastal` waves only; `satellite` is the network of the virtual buoys.
 */
export type Network = 'national' | 'coastal' | 'satellite'

export interface SourceInfo {
  /** Name of the data source network: with an identifier it names a buoy for good. On the wire (`source`) unless there is a label. */
  name: string
  /** The name that clients see in place of `name`. */
  label?: string
  /** Further names by which the filter `source` finds it. */
  aliases?: readonly string[]
  network: Network
  /** The line that the data's owner wants to see. */
  credit?: string
  licence?: string
}

export interface BuoyRecord {
  /** `SourceInfo.name`. */
  source: string
  /** Identifier at the source, always text ("02B04"). */
  identifier: string
  name: string
  /** Decimal degrees, WGS 84; latitude −90…90, longitude −180…180. */
  lat: number
  lng: number
  /** ISO 3166-1 alpha-2, where the source says it; else found from the position. */
  country?: string
  /** IANA zone, where the source says it; else found from the position. */
  timezone?: string
  /** A fixed sea point fed by satellite passes (decisions, "Virtual buoy"). */
  virtual?: boolean
  /** What the network calls this kind of station ("buoy", "fixed", "oilrig"), for filters; it reaches no snapshot. */
  type?: string
}

/** Where an adapter puts what it read. */
export interface Sink {
  source(info: SourceInfo): void
  /**
   * Makes a buoy known and returns its handle. The same (source, identifier) gives the same handle; a later record only fills
   * what an earlier one left out.
   */
  buoy(record: BuoyRecord): number
  /**
   * Takes over the rows of one buoy (copied at once, the batch may be cleared and used again). Any order of time is
   * accepted, ascending is fastest. `feed` ranks feeds of the same buoy: at an equal time the lower one wins, and the
   * higher one only fills measures that are missing there. Within one feed the row that came later wins.
   *
   * A row replaces the one of its time in the folder's previous snapshot; a row without any value takes it back.
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

/** Half an orbit of a mission that touched virtual buoys (contract, "Satellite pass"). */
export interface PassRecord {
  /** Slug of one of `MISSIONS`. */
  mission: string
  cycle: number
  /** Number within the cycle, from 1; odd passes ascend. */
  number: number
  /** First and last point of the track, epoch seconds. */
  startedAt: number
  endedAt: number
  /** Smallest box of the track's points; west greater than east where it crosses the antimeridian. */
  bounds: Bounds
  /** Handles of the virtual buoys that got a reading from this pass, with that reading's time in epoch seconds. */
  observations: { buoy: number; time: number }[]
}

/** Forecast at one point; parallel arrays over `times`, null where a quantity is missing. Units of the contract. */
export interface ForecastRecord {
  lat: number
  lng: number
  /** When the model run was made, epoch seconds. */
  runAt: number
  /** Ascending epoch seconds. */
  times: number[]
  values: { [name in ForecastName]?: (number | null)[] }
}

export const FORECAST_NAMES = [
  'waveHeight',
  'wavePeriod',
  'waveDirection',
  'swellHeight',
  'swellPeriod',
  'swellDirection',
  'windSpeed',
  'windDirection',
] as const

export type ForecastName = (typeof FORECAST_NAMES)[number]

/** The measure whose unit, scale and limits a forecast quantity shares. */
export const FORECAST_MEASURES: { readonly [name in ForecastName]: MeasureName } = {
  waveHeight: 'significantHeight',
  wavePeriod: 'period',
  waveDirection: 'direction',
  swellHeight: 'significantHeight',
  swellPeriod: 'period',
  swellDirection: 'direction',
  windSpeed: 'windSpeed',
  windDirection: 'windDirection',
}

/** A tide station with harmonic constituents. */
export interface HarbourRecord {
  /** Stable identifier at its source, unique over all harbours. */
  identifier: string
  name: string
  lat: number
  lng: number
  /** Mean sea level above chart datum, m: the constant term of the prediction. */
  datumOffset: number
  /** What `tide_source` says: where the constituents come from, with the credit its licence asks for. */
  credit: string
  constituents: { name: string; amplitude: number; phase: number }[]
}

export interface SpotRecord {
  id: number
  name: string
  lat: number
  lng: number
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
   * `false`: the source mentions only who reported lately, so a buoy that it leaves out is still there. Those that its networks have in
   * the folder's snapshot stay.
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
  /** Whether a buoy is wanted. One that the snapshot has is without a type: it was asked for that when it came. */
  accepts(buoy: BuoyRecord): boolean
}

/**
 * A source that can give its rows month by month, oldest first, any month on its own. The builder then writes a month before it
 * asks for the next, and a build that was interrupted goes on where it stopped.
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
 * `argument` is what stands behind the colon of `--source KIND:ARGUMENT` ('' when there is none); `options` are those of the
 * configuration, which fit the schema that stands beside the kind in `kinds.ts`.
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
  /** A file is looked at without being counted, or long before it is: tells where a reader was that had to be ended. */
  reads?(path: string): void
  /** A remark about the source as a whole. */
  warn(message: string): void
  /** Stations of a source of this kind that are left out because nothing says where they lie; none is no remark. */
  withoutPosition(kind: string, identifiers: readonly string[]): void
}

export interface FileReport {
  /** Counts rows (or lines) understood. */
  rows(count: number): void
  /**
   * Counts a row or value that was understood but left out by a rule of the format, with a short fixed reason, and with the station's
   * identifier where the rule says something about the station. `times` counts several at once.
   */
  skipped(reason: string, station?: string, times?: number): void
  /**
   * A line that could not be understood: 1-based line number, what is wrong, in fixed words without the line's text, and the text that
   * is to blame, which is shown cut and escaped. `times` counts further lines with the same fault.
   */
  bad(line: number, reason: string, text?: string, times?: number): void
  /** @throws BuildError when more than the allowed share of the file was bad. */
  end(): void
}

/** A fault in the input or in the command that ends a build; its message is shown to the operator as it is. */
export class BuildError extends Error {
  override name = 'BuildError'
}
