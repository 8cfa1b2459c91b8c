/** Where all sources of a build put what they read. */
import type { RowBatch } from '../columns.ts'
import {
  BuildError,
  type BuoyRecord,
  type ForecastRecord,
  type HarbourRecord,
  type PassRecord,
  type Sink,
  type Source,
  type SourceInfo,
  type SpotRecord,
} from '../sources/source.ts'
import { ForecastSet } from './forecast.ts'
import { newestReading, removeImpossible, type IMPOSSIBLE } from './quality.ts'
import type { Spool } from './spool.ts'

/** What one source gave. */
interface Lot {
  readonly source: Source
  readonly networks: Map<string, SourceInfo>
  /** Handles begin here. */
  readonly firstHandle: number
  /** Lengths of the lists before it. */
  readonly passes: number
  readonly harbours: number
  readonly spots: number
  isTaken: boolean
}

interface Handle {
  readonly lot: Lot
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

/** The sink of all sources, one after another: buoys by handle, rows to the spool. What a source gave can be taken back. */
export class Collector implements Sink {
  readonly passes: PassRecord[] = []
  readonly forecasts = new ForecastSet()
  readonly harbours: HarbourRecord[] = []
  readonly spots: SpotRecord[] = []
  /** Times of readings after this are no readings' times, epoch seconds. */
  readonly #latest: number
  readonly #spool: Spool
  readonly #tell: (network: string, what: keyof typeof IMPOSSIBLE) => void
  readonly #handles: Handle[] = []
  readonly #lots: Lot[] = []
  /** Handles of the present lot. */
  #known = new Map<string, number>()

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
    this.#known = new Map()
    this.#lots.push({
      source,
      networks: new Map(),
      firstHandle: this.#handles.length,
      passes: this.passes.length,
      harbours: this.harbours.length,
      spots: this.spots.length,
      isTaken: true,
    })
  }

  /** Takes back what the present source gave, but for forecasts: each of them is whole. */
  discard(): void {
    const lot = this.#lots.at(-1)!
    lot.isTaken = false
    this.passes.length = lot.passes
    this.harbours.length = lot.harbours
    this.spots.length = lot.spots
  }

  /** Sources that were read, with the networks they told of. */
  lots(): { source: Source; networks: Set<string> }[] {
    return this.#lots
      .filter(({ isTaken }) => isTaken)
      .map(({ source, networks }) => ({ source, networks: new Set(networks.keys()) }))
  }

  /** Networks by name. */
  get sources(): Map<string, SourceInfo> {
    const merged = new Map<string, SourceInfo>()
    for (const lot of this.#lots) {
      if (!lot.isTaken) continue
      for (const [name, info] of lot.networks) merged.set(name, { ...info, ...merged.get(name) })
    }
    return merged
  }

  /** Every wanted buoy once, as the sources told of it: a later source only fills what an earlier one left out. */
  buoys(): BuoyRecord[] {
    const merged = new Map<string, BuoyRecord>()
    for (const { lot, key, isWanted, record } of this.#handles) {
      if (lot.isTaken && isWanted) merged.set(key, { ...record, ...merged.get(key) })
    }
    return [...merged.values()]
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
    const { networks, source } = this.#lots.at(-1)!
    const told = { ...info, ...source.terms?.info }
    const known = this.sources.get(info.name)
    if (known !== undefined && known.network !== told.network) {
      throw new BuildError(
        `source ${info.name} is said to be both a ${known.network} and a ${told.network} network`,
      )
    }
    networks.set(info.name, { ...told, ...networks.get(info.name) })
  }

  buoy(record: BuoyRecord): number {
    const lot = this.#lots.at(-1)!
    if (!lot.networks.has(record.source))
      throw new BuildError(`buoy ${record.identifier} is of unknown source ${record.source}`)
    const key = buoyKey(record)
    const known = this.#known.get(key)
    if (known !== undefined) {
      this.#handles[known].record = { ...record, ...this.#handles[known].record }
      return known
    }
    const named = { ...record, name: cleanText(record.name) }
    const isWanted = lot.source.terms?.accepts({ type: '', ...named }) ?? true
    const handle = this.#handles.push({ lot, key, isWanted, record: named, newest: -1 }) - 1
    this.#known.set(key, handle)
    return handle
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
    this.passes.push(record)
  }

  forecast(record: ForecastRecord): void {
    this.forecasts.add(record)
  }

  harbour(record: HarbourRecord): void {
    this.harbours.push(record)
  }

  spot(record: SpotRecord): void {
    this.spots.push(record)
  }
}

/** Names are shown to people: no control characters, no runs of blanks. */
function cleanText(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}
