/**
 * Stations known from rows that name station and position. Files are read twice, as a buoy is announced with
 * its position before its rows are sent, in batches of one buoy.
 */
import { haversineKm, wrapLongitude } from '../../sea/geo.ts'
import type { FileReport, Sink } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { cleanName } from './fields.ts'
import type { MeasureName } from '../../sea/columns.ts'
import { NO_CODE, RowBatch } from '../../sea/row-batch.ts'
import { entryOf } from '../../system/entry-of.ts'

/** More than all networks of the world have; a damaged column of identifiers must not fill the memory. */
const MAX_STATIONS = 100_000

/** A mooring swings and is laid anew within this distance; a farther position needs another to confirm it. */
const JUMP_KM = 1

export const IDENTIFIER = /^[^"\p{Cc}]{1,64}$/u

interface Fix {
  time: number
  lat: number
  lng: number
}

interface Station {
  name: string
  fixes: Fix[]
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
      this.#stations.set(identifier, (station = { name: '', fixes: [] }))
    }
    if (station.name === '' && name !== '') station.name = cleanName(name)
    if (!(Math.abs(lat) <= 90 && lng >= -180 && lng <= 360)) return
    const { fixes } = station
    const older = fixes.findIndex((fix) => fix.time <= time)
    const at = older < 0 ? fixes.length : older
    // Several rows of one time are one position.
    if (at < 3 && fixes[at]?.time !== time) fixes.splice(at, 0, { time, lat, lng: wrapLongitude(lng) })
    if (fixes.length > 3) fixes.pop()
  }

  /**
   * Announces all stations with a position by identifier, with the record of `known` or their own name and
   * newest steady position. Returns their handles, and the identifiers without a position.
   */
  announce(
    sink: Sink,
    source: string,
    known: ReadonlyMap<string, Partial<BuoyRecord>> = new Map(),
  ): { handles: Map<string, number>; placeless: string[] } {
    const handles = new Map<string, number>()
    const placeless: string[] = []
    for (const identifier of [...this.#stations.keys()].sort()) {
      const { name, fixes } = this.#stations.get(identifier)!
      const listed = known.get(identifier) ?? {}
      const position = fixes.length > 0 ? positionOf(fixes) : null
      const lat = listed.lat ?? position?.lat
      const lng = listed.lng ?? position?.lng
      if (lat === undefined || lng === undefined) placeless.push(identifier)
      else {
        const ownName = name === '' ? `${source} ${identifier}` : name
        handles.set(identifier, sink.buoy({ name: ownName, ...listed, source, identifier, lat, lng }))
      }
    }
    return { handles, placeless }
  }
}

/** A drifter moves on from each position to the next; a steady mooring jumps only by a fault. */
function positionOf([newest, before, first]: readonly Fix[]): Fix {
  if (before === undefined || first === undefined) return newest
  const apart = (a: Fix, b: Fix): boolean => haversineKm(a.lat, a.lng, b.lat, b.lng) > JUMP_KM
  return apart(newest, before) && !apart(before, first) ? before : newest
}

/** The report of a file's first reading, which would otherwise count the file twice. */
export const UNCOUNTED: FileReport = {
  rows: () => undefined,
  skipped: () => undefined,
  bad: () => undefined,
  end: () => undefined,
}

const BATCH_ROWS = 8192

/** Rows over all buoys that wait to be sent: a file may alternate its buoys row by row. */
const MAX_WAITING_ROWS = 262_144

export class WaitingRows {
  readonly #sink: Sink
  readonly #feed: number
  readonly #batches = new Map<number, RowBatch>()
  #length = 0

  constructor(sink: Sink, feed = 0) {
    this.#sink = sink
    this.#feed = feed
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    const batch = entryOf(this.#batches, buoy, () => new RowBatch(64))
    const row = batch.add(time)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) batch.columns[names[i]][row] = codes[i]
    this.#length++
    if (batch.length === BATCH_ROWS) {
      this.#sink.rows(buoy, batch, this.#feed)
      this.#length -= batch.length
      batch.clear()
    } else if (this.#length >= MAX_WAITING_ROWS) this.flush()
  }

  flush(): void {
    for (const [buoy, batch] of this.#batches) if (batch.length > 0) this.#sink.rows(buoy, batch, this.#feed)
    this.#batches.clear()
    this.#length = 0
  }
}
