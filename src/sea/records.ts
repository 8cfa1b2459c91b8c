/** The records of the field, as sources give them and builds take them. */
import type { ForecastName } from './columns.ts'
import type { Bounds } from './geo.ts'

/** `national` has waves, temperature and wind, `coastal` waves only. */
export type Network = 'national' | 'coastal' | 'satellite'

export interface SourceInfo {
  /** Network's name, which names a buoy for good with an identifier; `source` on the wire without a label. */
  name: string
  /** Name that clients see in place of `name`. */
  label?: string
  /** Further names for the filter `source`. */
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
  /** ISO 3166-1 alpha-2; by default found from the position. */
  country?: string
  /** IANA zone; by default found from the position. */
  timezone?: string
  /** A fixed sea point fed by satellite passes. */
  virtual?: boolean
  /** The network's word for this kind of station ("buoy", "oilrig"), for filters; reaches no snapshot. */
  type?: string
}

/** Half an orbit of a mission that touched virtual buoys. */
export interface PassRecord {
  /** Slug of one of `MISSIONS`. */
  mission: string
  cycle: number
  /** Counts from 1 within the cycle; odd passes ascend. */
  number: number
  /** First and last point of the track, epoch seconds. */
  startedAt: number
  endedAt: number
  /** Smallest box of the track's points; west greater than east where it crosses the antimeridian. */
  bounds: Bounds
  /** Handles of the virtual buoys with a reading from this pass, and its time, epoch seconds. */
  observations: { buoy: number; time: number }[]
}

/** Parallel arrays over `times`, null where a quantity is missing; units of the contract. */
export interface ForecastRecord {
  lat: number
  lng: number
  /** Epoch seconds. */
  runAt: number
  /** The model, or else the service that gives it, for people. */
  model?: string
  credit?: string
  /** Ascending epoch seconds. */
  times: number[]
  values: { [name in ForecastName]?: (number | null)[] }
}

export interface HarbourRecord {
  /** Stable at its source, unique over all harbours. */
  identifier: string
  name: string
  lat: number
  lng: number
  /** Mean sea level above chart datum, m. */
  datumOffset: number
  /** Text of `tide_source`: where the constituents come from, with the credit that their licence asks for. */
  credit: string
  constituents: { name: string; amplitude: number; phase: number }[]
}

export interface SpotRecord {
  id: number
  name: string
  lat: number
  lng: number
}
