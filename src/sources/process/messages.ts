/** The messages of a reader process to its builder: MessagePack, in which rows are typed arrays. */
import type { Codes, MeasureName } from '../../sea/columns.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../sea/records.ts'
import type { Spectra } from '../../sea/spectra.ts'
import type { Doubt } from '../doubts.ts'

/** A call of a file's report. */
export type Remark =
  | [call: 'skipped', reason: string, station: string | undefined, times: number]
  | [call: 'bad', line: number, reason: string, text: string | undefined, times: number]

/** Handles and file numbers are the reader process's own, counted from 0. */
export type Message =
  | ['source', SourceInfo]
  | ['buoy', BuoyRecord]
  | ['listed', source: string, identifiers: readonly string[]]
  | ['rows', buoy: number, feed: number, time: Uint32Array, columns: { [name in MeasureName]?: Codes }]
  | ['spectra', buoy: number, feed: number, Spectra]
  | ['pass', PassRecord]
  | ['forecast', ForecastRecord]
  | ['harbour', HarbourRecord]
  | ['spot', SpotRecord]
  | ['doubt', Doubt]
  | ['withoutPosition', readonly string[]]
  /** A file is read without being counted, or before it is counted. */
  | ['reads', string]
  | ['file', string]
  | ['counts', file: number, rows: number, remarks: Remark[]]
  | ['end', file: number]
  | LastMessage

/** Everything was read, the source is refused, or its reader is at fault. */
export type LastMessage = ['done'] | ['refused', string] | ['fault', string]

/** Columns of rows must stay typed arrays. */
export const PACKED = { useRecords: false, moreTypes: true }
export const MESSAGES_DESCRIPTOR = 3
/** The signal by which a reader ends itself when it takes too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'
