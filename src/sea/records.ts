/**
 * The records of the field, as sources give them and builds take them: networks, buoys, passes, forecasts,
 * harbours and spots.
 */
import type { ForecastName } from './forecast-names.ts'
import type { Bounds } from './geo.ts'

/**
 * Decides which metrics the seasonal series offers (contract, operation 10): `national` has waves, water
 * temperature and wind, `coastal` waves only; `satellite` is the network of the virtual buoys.
 */
export type Network = 'national' | 'coastal' | 'satellite'

export interface SourceInfo {
  /**
   * Name of the data source network: with an identifier it names a buoy for good. On the wire (`source`)
   * unless there is a label.
   */
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
  /** ISO 3166-1 alpha-2, if the source gives it; else found from the position. */
  country?: string
  /** IANA zone, if the source gives it; else found from the position. */
  timezone?: string
  /** A fixed sea point fed by satellite passes (decisions, "Virtual buoy"). */
  virtual?: boolean
  /**
   * What the network calls this kind of station ("buoy", "fixed", "oilrig"), for filters; it reaches no
   * snapshot.
   */
  type?: string
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
  /**
   * Handles of the virtual buoys that got a reading from this pass, with that reading's time in epoch
   * seconds.
   */
  observations: { buoy: number; time: number }[]
}

/**
 * Forecast at one point; parallel arrays over `times`, null where a quantity is missing. Units of the
 * contract.
 */
export interface ForecastRecord {
  lat: number
  lng: number
  /** When the model run was made, epoch seconds. */
  runAt: number
  /** The model, or else the service that gives it, for people. */
  model?: string
  /** The line that the forecast's owner wants to see. */
  credit?: string
  /** Ascending epoch seconds. */
  times: number[]
  values: { [name in ForecastName]?: (number | null)[] }
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
  /** The text of `tide_source`: where the constituents come from, with the credit its licence asks for. */
  credit: string
  constituents: { name: string; amplitude: number; phase: number }[]
}

export interface SpotRecord {
  id: number
  name: string
  lat: number
  lng: number
}
