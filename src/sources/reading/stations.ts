/**
 * Stations known from rows that name station and position. Files are read twice, as a buoy is announced with
 * its position before its rows are sent, in batches of one buoy.
 */
import { Positions } from './positions.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { cleanName } from './fields.ts'
import { takeDoubts } from './source-files.ts'
import type { MeasureName } from '../../sea/columns.ts'
import { NO_CODE, RowBatch } from '../../sea/row-batch.ts'
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
   * position. Returns their handles. A station without a position, and one whose fixes are those of several
   * stations, is left out with a doubt; `hint` names what else could be the identifier.
   */
  announce(
    sink: Sink,
    source: string,
    report: Pick<Report, 'doubt' | 'withoutPosition'>,
    known: ReadonlyMap<string, Partial<BuoyRecord>> = new Map(),
    hint = '',
  ): Map<string, number> {
    const handles = new Map<string, number>()
    const placeless: string[] = []
    const doubt = takeDoubts(report)
    for (const identifier of [...this.#stations.keys()].sort()) {
      const { name, positions } = this.#stations.get(identifier)!
      const listed = known.get(identifier) ?? {}
      const { at, strays, several, places } = positions.settle()
      doubt('zero', identifier, positions.zeros)
      if (several) doubt('several', `${identifier}: ${places}${hint}`)
      else doubt('strays', `${identifier}: ${places}`, strays)
      const { lat, lng } = { ...(several ? null : at), ...listed }
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
