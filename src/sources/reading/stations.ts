/**
 * Stations known from rows that name station and position. Files are read twice, as a buoy is announced with
 * its position before its rows are sent, in batches of one buoy.
 */
import { haversineKm } from '../../sea/geo.ts'
import { APART_KM, Positions } from './positions.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { cleanName } from './fields.ts'
import { type TakeDoubt, takeDoubts } from './source-files.ts'
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import { RowBatch } from '../../sea/row-batch.ts'
import { timestampText } from '../../sea/time.ts'
import { entryOf } from '../../system/entry-of.ts'

/** More than all networks of the world have; a damaged column of identifiers must not fill the memory. */
const MAX_STATIONS = 100_000

export const IDENTIFIER = /^[^"\p{Cc}]{1,64}$/u

interface Station {
  name: string
  positions: Positions
}

/** Where and when a row was measured. */
export interface RowHead {
  identifier: string
  /** Epoch seconds. */
  time: number
  lat: number
  lng: number
}

export class Stations {
  readonly #stations = new Map<string, Station>()

  /**
   * Notes a row of a station; the first name that is not empty counts. Longitudes may be 0…360, and an
   * impossible position is ignored. @throws BuildError for more stations than there can be
   */
  see(identifier: string, time: number, lat: number, lng: number, name: string): void {
    let station = this.#stations.get(identifier)
    if (station === undefined) {
      if (this.#stations.size === MAX_STATIONS) throw new BuildError(`more than ${MAX_STATIONS} stations`)
      this.#stations.set(identifier, (station = { name: '', positions: new Positions() }))
    }
    if (station.name === '' && name !== '') station.name = cleanName(name)
    station.positions.add(time, lat, lng)
  }

  /**
   * Announces all stations with a position by identifier, with the record of `known` or their own name and
   * position. Returns their handles. A station without a position, and one with fixes of several
   * stations, is left out with a doubt; `hint` names what else could be the identifier;
   * with `comparesPlaces` a listed place that is far from the rows makes a doubt.
   */
  announce(
    sink: Sink,
    source: string,
    report: Pick<Report, 'doubt' | 'withoutPosition'>,
    known: ReadonlyMap<string, Partial<BuoyRecord>> = new Map(),
    { hint = '', comparesPlaces = false }: { hint?: string; comparesPlaces?: boolean } = {},
  ): Map<string, number> {
    const handles = new Map<string, number>()
    const placeless: string[] = []
    const doubt = takeDoubts(report)
    for (const identifier of [...this.#stations.keys()].sort()) {
      const { name, positions } = this.#stations.get(identifier)!
      const listed = known.get(identifier) ?? {}
      const { at, strays, several, places } = positions.settle()
      doubt('zero', identifier, positions.zeros)
      doubt('offGlobe', identifier, positions.impossible)
      if (several) doubt('several', `${identifier}: ${places}${hint}`)
      else doubt('strays', `${identifier}: ${places}`, strays)
      const { lat, lng } = { ...(several ? null : at), ...listed }
      const isElsewhere =
        comparesPlaces && at !== null && listed.lat !== undefined && listed.lng !== undefined
      const km = isElsewhere ? haversineKm(at.lat, at.lng, listed.lat!, listed.lng!) : 0
      if (km > APART_KM) doubt('elsewhere', `${identifier}: ${Math.round(km)} km from ${at!.lat} ${at!.lng}`)
      if (several && lat === undefined) continue
      if (lat === undefined || lng === undefined) placeless.push(identifier)
      else {
        const ownName = name === '' ? `${source} ${identifier}` : name
        handles.set(identifier, sink.buoy({ name: ownName, ...listed, source, identifier, lat, lng }))
      }
    }
    report.withoutPosition(placeless)
    return handles
  }
}

/** The report of a file's first reading, which would otherwise count the file twice. */
export const UNCOUNTED: FileReport = {
  rows: () => undefined,
  skipped: () => undefined,
  bad: () => undefined,
  end: () => true,
}

/** Rows over all buoys that wait: 40 years of ten-minute rows. Beyond, a file is not held back as a whole. */
const MAX_WAITING_ROWS = 2 ** 21

/** Times with two wave heights that a station may have: corrections, and a clock that is set back. */
const FEW_TWICE = 2
const TWICE_SHARE = 0.1

/**
 * The rows of a file, which wait until it is known whether the file counts. It may alternate its buoys row by
 * row.
 */
export class WaitingRows {
  readonly #sink: Pick<Sink, 'rows'>
  readonly #doubt: TakeDoubt
  readonly #feed: number
  readonly #look: (batches: ReadonlyMap<number, RowBatch>) => void
  readonly #batches = new Map<number, RowBatch>()
  #length = 0
  #isPartlySent = false

  /** @param doubt names the file */
  /** @param look looks at all rows that wait, by buoy, before they are sent */
  constructor(
    sink: Pick<Sink, 'rows'>,
    doubt: TakeDoubt,
    feed = 0,
    look: (batches: ReadonlyMap<number, RowBatch>) => void = () => undefined,
  ) {
    this.#sink = sink
    this.#doubt = doubt
    this.#feed = feed
    this.#look = look
  }

  /** The number of the buoy's next row among those that wait. */
  next(buoy: number): number {
    return this.#batches.get(buoy)?.length ?? 0
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    entryOf(this.#batches, buoy, () => new RowBatch(64)).addCodes(time, names, codes)
    if (++this.#length === MAX_WAITING_ROWS) {
      this.#isPartlySent = true
      this.#send('')
    }
  }

  /**
   * Sends the rows of a file that counts. Those of a station with two wave heights at many times are rows of
   * several stations and are left out; `hint` names what else could be the identifier.
   * @throws BuildError for a file that does not count, and is so long that some of its rows are sent
   */
  end(counts: boolean, hint = ''): void {
    if (counts) this.#send(hint)
    else if (this.#isPartlySent)
      throw new BuildError(`a file of more than ${MAX_WAITING_ROWS} rows has too many bad lines (--max-bad)`)
  }

  #send(hint: string): void {
    this.#look(this.#batches)
    for (const [buoy, batch] of this.#batches) {
      const { times, twice, example } = timesWithTwoHeights(batch)
      const isMixed = twice > Math.max(FEW_TWICE, times * TWICE_SHARE) || twice * 2 > times
      if (isMixed) this.#doubt('mixed', `${example}${hint}`, batch.length)
      else this.#sink.rows(buoy, batch, this.#feed)
    }
    this.#batches.clear()
    this.#length = 0
  }
}

const { significantHeight: HEIGHT } = MEASURES

/** 1 where each time is later than the one before, -1 where each is earlier, else 0. */
export function directionOf(time: ArrayLike<number>, length: number): number {
  const direction = length > 1 ? Math.sign(time[1] - time[0]) : 1
  for (let i = 2; i < length; i++) {
    if (Math.sign(time[i] - time[i - 1]) !== direction) return 0
  }
  return direction
}

/** The numbers of rows by time, and in their own order within one time. */
export function orderOf({ length, time }: RowBatch): Uint32Array {
  const order = new Uint32Array(length).map((_, i) => i)
  return directionOf(time, length) === 1 ? order : order.sort((a, b) => time[a] - time[b])
}

/** How many of a buoy's times have two wave heights, and the first of these. */
function timesWithTwoHeights(rows: RowBatch): {
  times: number
  twice: number
  example: string
} {
  const { length, time, columns } = rows
  const heights = columns.significantHeight
  const found = { times: length, twice: 0, example: '' }
  if (directionOf(time, length) !== 0) return found
  orderOf(rows).forEach((row, i, order) => {
    const before = order[i - 1]
    if (i === 0 || time[before] !== time[row]) return
    found.times--
    const [one, other] = [heights[before], heights[row]]
    if (one === other || one === HEIGHT.missing || other === HEIGHT.missing) return
    found.twice++
    found.example ||= `at ${timestampText(time[row])} ${one / HEIGHT.scale} and ${other / HEIGHT.scale} m`
  })
  return found
}
