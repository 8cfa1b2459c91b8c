/** Where all sources of a build put what they read. */
import type { RowBatch } from '../columns.ts'
import {
  BuildError,
  type BuoyRecord,
  type ForecastRecord,
  type HarbourRecord,
  type PassRecord,
  type Sink,
  type SourceInfo,
  type SpotRecord,
} from '../sources/source.ts'
import { ForecastSet } from './forecast.ts'
import type { Spool } from './spool.ts'

/** The sink of all sources: buoys by handle, rows to the spool. */
export class Collector implements Sink {
  readonly sources = new Map<string, SourceInfo>()
  readonly buoys: BuoyRecord[] = []
  readonly passes: PassRecord[] = []
  readonly forecasts = new ForecastSet()
  readonly harbours: HarbourRecord[] = []
  readonly spots: SpotRecord[] = []
  readonly #handles = new Map<string, number>()
  readonly #spool: Spool

  constructor(spool: Spool) {
    this.#spool = spool
  }

  source(info: SourceInfo): void {
    const known = this.sources.get(info.name)
    if (known !== undefined && known.network !== info.network) {
      throw new BuildError(
        `source ${info.name} is said to be both a ${known.network} and a ${info.network} network`,
      )
    }
    this.sources.set(info.name, { ...info, ...known })
  }

  buoy(record: BuoyRecord): number {
    if (!this.sources.has(record.source))
      throw new BuildError(`buoy ${record.identifier} is of unknown source ${record.source}`)
    const key = JSON.stringify([record.source, record.identifier])
    const known = this.#handles.get(key)
    if (known === undefined) {
      const handle = this.buoys.push({ ...record, name: cleanText(record.name) }) - 1
      this.#handles.set(key, handle)
      return handle
    }
    this.buoys[known] = { ...record, ...this.buoys[known] }
    return known
  }

  rows(buoy: number, batch: RowBatch, feed = 0): void {
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
