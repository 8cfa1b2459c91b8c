/** Where all sources of a build put what they read. */
import type { RowBatch } from '../sea/columns.ts'
import { type Sink, type Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../sea/records.ts'
import { ForecastSet } from '../snapshot/forecast.ts'
import { MAX_TEXT_LENGTH } from '../snapshot/format.ts'
import type { Given, GivenParts } from './given.ts'
import { passRecords } from '../snapshot/passes.ts'
import { newestReading, removeImpossible, type IMPOSSIBLE } from './quality.ts'
import type { Spool } from './spool.ts'
import { harbourRecords } from '../snapshot/tides.ts'

/** What one source gave, in this build or, when it could not be read, in the last one in which it was. */
export interface Lot {
  readonly source: Source
  readonly networks: ReadonlyMap<string, SourceInfo>
  readonly passes: readonly PassRecord[]
  readonly forecasts: ForecastSet
  readonly harbours: readonly HarbourRecord[]
  readonly spots: readonly SpotRecord[]
  /** What was known of it; null when it was read. */
  readonly recalled: Given | null
}

class OpenLot implements Lot {
  readonly source: Source
  readonly recalled: Given | null
  readonly networks = new Map<string, SourceInfo>()
  readonly passes: PassRecord[] = []
  readonly forecasts = new ForecastSet()
  readonly harbours: HarbourRecord[] = []
  readonly spots: SpotRecord[] = []
  readonly handles: number[] = []
  /** Handles by buoy. */
  readonly known = new Map<string, number>()
  isTaken = true

  constructor(source: Source, recalled: Given | null) {
    this.source = source
    this.recalled = recalled
  }
}

interface Handle {
  readonly lot: OpenLot
  /** Source and identifier. */
  readonly key: string
  readonly isWanted: boolean
  record: BuoyRecord
  /** Time of the newest reading, −1 before there is one. */
  newest: number
}

/** How a build tells two networks' buoys apart, and that their rows are of one. */
export function buoyKey({ source, identifier }: { source: string; identifier: string }): string {
  return JSON.stringify([source, identifier])
}

/**
 * The sink of all sources, one after another: buoys by handle, rows to the spool. What a source gave can be
 * taken back.
 */
export class Collector implements Sink {
  /** Times of readings after this are no readings' times, epoch seconds. */
  readonly #latest: number
  readonly #spool: Spool
  readonly #tell: (network: string, what: keyof typeof IMPOSSIBLE) => void
  readonly #handles: Handle[] = []
  /** In the order of the sources: of two that tell of one thing the earlier one's word counts. */
  readonly #lots: OpenLot[] = []

  constructor(
    spool: Spool,
    { latest, tell }: { latest: number; tell: (network: string, what: keyof typeof IMPOSSIBLE) => void },
  ) {
    this.#spool = spool
    this.#latest = latest
    this.#tell = tell
  }

  /** From now on `source` speaks. */
  begin(source: Source): void {
    this.#lots.push(new OpenLot(source, null))
  }

  /** Whether the present source gave nothing at all. */
  isSilent(): boolean {
    const { handles, passes, forecasts, harbours, spots } = this.#present()
    return handles.length + passes.length + forecasts.size + harbours.length + spots.length === 0
  }

  /** Takes back what the present source gave. */
  discard(): void {
    this.#present().isTaken = false
  }

  /**
   * Puts what a source gave in an earlier build in its place; one that has not begun comes last. Run when all
   * sources have been read: it gives way to what they said of the same network's kind and the same spots.
   */
  recall(source: Source, given: Given, { passes, forecast, tides }: GivenParts): void {
    const at = this.#lots.findIndex((lot) => lot.source === source)
    const spots = new Set(this.spots().map(({ id }) => id))
    const kinds = new Map([...this.sources].map(([name, { network }]) => [name, network]))
    const lot = new OpenLot(source, given)
    this.#lots.splice(at === -1 ? this.#lots.length : at, at === -1 ? 0 : 1, lot)
    for (const info of given.networks) {
      const told = { ...info, ...source.terms?.info }
      lot.networks.set(info.name, { ...told, network: kinds.get(info.name) ?? told.network })
    }
    const byId = new Map<number, number>()
    for (const { id, ...record } of given.buoys) {
      // A type that is not known was asked for when the buoy came.
      const handle = this.#add(lot, record, source.terms?.accepts(record) ?? true)
      if (id !== null) byId.set(id, handle)
    }
    lot.spots.push(...given.spots.filter(({ id }) => !spots.has(id)))
    if (passes !== null) lot.passes.push(...passRecords(passes, (id) => byId.get(id)))
    if (forecast !== null) lot.forecasts.restore(forecast)
    if (tides !== null) lot.harbours.push(...harbourRecords(tides))
  }

  /** Sources that were read or recalled. */
  lots(): readonly Lot[] {
    return this.#taken()
  }

  /** Networks by name. */
  get sources(): Map<string, SourceInfo> {
    const merged = new Map<string, SourceInfo>()
    for (const lot of this.#taken())
      for (const [name, info] of lot.networks) merged.set(name, { ...info, ...merged.get(name) })
    return merged
  }

  /**
   * Every wanted buoy once, as the sources told of it: a later source only fills what an earlier one left
   * out.
   */
  buoys(): BuoyRecord[] {
    const merged = new Map<string, BuoyRecord>()
    for (const lot of this.#taken()) {
      for (const { key, record } of this.#wanted(lot)) merged.set(key, { ...record, ...merged.get(key) })
    }
    return [...merged.values()]
  }

  /** The wanted buoys of one source. */
  buoysOf(lot: Lot): BuoyRecord[] {
    return this.#wanted(lot as OpenLot).map(({ record }) => record)
  }

  spots(): SpotRecord[] {
    return this.#taken().flatMap(({ spots }) => spots)
  }

  /** The buoy of a handle, null where it is not wanted. */
  keyOf(handle: number): string | null {
    const { lot, key, isWanted } = this.#handles[handle]
    return lot.isTaken && isWanted ? key : null
  }

  /** Time of the newest reading by buoy, epoch seconds; buoys without one are left out. */
  newestReadings(): Map<string, number> {
    const newest = new Map<string, number>()
    this.#handles.forEach((handle, i) => {
      const key = this.keyOf(i)
      if (key !== null && handle.newest > (newest.get(key) ?? -1)) newest.set(key, handle.newest)
    })
    return newest
  }

  source(info: SourceInfo): void {
    const { networks, source } = this.#present()
    const told = { ...info, ...source.terms?.info }
    expectShort(info.name, 'the name of a network')
    for (const text of [told.label, told.credit, told.licence])
      expectShort(text, `a text of network ${info.name}`)
    const known = this.sources.get(info.name)
    if (known !== undefined && known.network !== told.network) {
      throw new BuildError(
        `source ${info.name} is said to be both a ${known.network} and a ${told.network} network`,
      )
    }
    networks.set(info.name, { ...told, ...networks.get(info.name) })
  }

  buoy(record: BuoyRecord): number {
    const lot = this.#present()
    if (!lot.networks.has(record.source))
      throw new BuildError(`buoy ${record.identifier} is of unknown source ${record.source}`)
    const known = lot.known.get(buoyKey(record))
    if (known !== undefined) {
      this.#handles[known].record = { ...record, ...this.#handles[known].record }
      return known
    }
    expectShort(record.identifier, `an identifier of network ${record.source}`)
    const named = { type: '', ...record, name: cleanText(record.name) }
    return this.#add(lot, named, lot.source.terms?.accepts(named) ?? true)
  }

  rows(buoy: number, batch: RowBatch, feed = 0): void {
    const handle = this.#handles[buoy]
    if (!handle.isWanted) return
    if (handle.lot.source.isControlled !== true) {
      removeImpossible(batch, (what) => this.#tell(handle.record.source, what))
    }
    const newest = newestReading(batch, this.#latest)
    if (newest > handle.newest) handle.newest = newest
    this.#spool.add(buoy, feed, batch)
  }

  pass(record: PassRecord): void {
    this.#present().passes.push(record)
  }

  forecast(record: ForecastRecord): void {
    this.#present().forecasts.add(record)
  }

  harbour(record: HarbourRecord): void {
    expectShort(record.identifier, 'the identifier of a harbour')
    expectShort(record.credit, 'the credit of a harbour')
    this.#present().harbours.push({ ...record, name: cleanText(record.name) })
  }

  spot(record: SpotRecord): void {
    this.#present().spots.push({ ...record, name: cleanText(record.name) })
  }

  #present(): OpenLot {
    return this.#lots.at(-1)!
  }

  #taken(): OpenLot[] {
    return this.#lots.filter(({ isTaken }) => isTaken)
  }

  #wanted(lot: OpenLot): Handle[] {
    return lot.handles.map((handle) => this.#handles[handle]).filter(({ isWanted }) => isWanted)
  }

  #add(lot: OpenLot, record: BuoyRecord, isWanted: boolean): number {
    const key = buoyKey(record)
    const handle = this.#handles.push({ lot, key, isWanted, record, newest: -1 }) - 1
    lot.handles.push(handle)
    lot.known.set(key, handle)
    return handle
  }
}

/** Names are shown to people: no control characters, no runs of blanks, and no more than a snapshot holds. */
function cleanText(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT_LENGTH)
}

/**
 * What tells things apart, or says whose they are, is not cut. @throws BuildError for a text that no snapshot
 * may hold
 */
function expectShort(text: string | null | undefined, what: string): void {
  if ((text ?? '').length <= MAX_TEXT_LENGTH) return
  throw new BuildError(`${what} has ${text!.length} characters, at most ${MAX_TEXT_LENGTH} are kept`)
}
