/** Collects the rows and records that the sources of a build read. */
import type { RowBatch } from '../sea/row-batch.ts'
import type { Doubt } from '../sources/doubts.ts'
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
import { ForecastSet } from '../snapshot/make-forecast.ts'
import { MAX_TEXT_LENGTH } from '../snapshot/snapshot-format.ts'
import type { SourceState, StateParts } from './source-state.ts'
import type { Spectra } from '../sea/spectra.ts'
import { passRecords } from '../snapshot/make-passes.ts'
import type { BuildReport } from './build-report.ts'
import { askData, MOST_SAMPLED, Sample } from './data-checks.ts'
import { askPositions } from './position-check.ts'
import { newestReading, removeImpossible } from './quality.ts'
import type { SpectraSpool } from './spectra-spool.ts'
import type { Spool } from './spool.ts'
import { harbourRecords } from '../snapshot/make-tides.ts'

/** What one source gives: in this build, or, while it is stale, in the last one that could read it. */
export class Contribution {
  readonly source: Source
  /** The state that a stale source is carried over from; null for a source that was read. */
  readonly carriedOver: SourceState | null
  readonly networks = new Map<string, SourceInfo>()
  readonly passes: PassRecord[] = []
  readonly forecasts = new ForecastSet()
  readonly harbours: HarbourRecord[] = []
  readonly spots: SpotRecord[] = []
  readonly handles: number[] = []
  readonly known = new Map<string, number>()
  /** Keys of the buoys that its lists name. */
  readonly listed = new Set<string>()
  isDiscarded = false

  constructor(source: Source, carriedOver: SourceState | null) {
    this.source = source
    this.carriedOver = carriedOver
  }
}

/** Rows and spectra until all sources are read. */
export interface Spools {
  readonly rows: Spool
  readonly spectra: SpectraSpool
}

interface Handle {
  readonly contribution: Contribution
  readonly key: string
  readonly isWanted: boolean
  record: BuoyRecord
  /** Rows to ask about; null before there are any, and once the source is done. */
  sample: Sample | null
  /** Time of the newest reading, −1 before there is one. */
  newest: number
}

export function buoyKey({ source, identifier }: { source: string; identifier: string }): string {
  return JSON.stringify([source, identifier])
}

/** The sink of all sources in turn: buoys by handle, rows to the spool. A source's rows can be discarded. */
export class Collector implements Sink {
  /** A reading later than this comes from a clock gone wrong, epoch seconds. */
  readonly #latest: number
  readonly #spool: Spool
  readonly #spectra: SpectraSpool
  readonly #report: Pick<BuildReport, 'doubt' | 'impossible'>
  readonly #handles: Handle[] = []
  /** Rows of the present source that wait to be asked about. */
  #sampled = 0
  /** Contributions in the order of the sources: if two have the same thing, the earlier one counts. */
  readonly #contributions: Contribution[] = []

  constructor({ rows, spectra }: Spools, latest: number, report: Pick<BuildReport, 'doubt' | 'impossible'>) {
    this.#spool = rows
    this.#spectra = spectra
    this.#latest = latest
    this.#report = report
  }

  begin(source: Source): void {
    this.#contributions.push(new Contribution(source, null))
  }

  isEmpty(): boolean {
    const { handles, passes, forecasts, harbours, spots } = this.#present()
    return handles.length + passes.length + forecasts.size + harbours.length + spots.length === 0
  }

  discard(): void {
    this.#present().isDiscarded = true
  }

  /**
   * Takes a stale source's data of an earlier build, last in order if it has not begun. Run when all
   * sources have been read, as their data for the same networks and spots count more.
   */
  carryOver(source: Source, state: SourceState, { passes, forecast, tides }: StateParts): void {
    const at = this.#contributions.findIndex((contribution) => contribution.source === source)
    const spots = new Set(this.spots().map(({ id }) => id))
    const kinds = new Map([...this.networks()].map(([name, { network }]) => [name, network]))
    const contribution = new Contribution(source, state)
    if (at === -1) this.#contributions.push(contribution)
    else this.#contributions[at] = contribution
    for (const info of state.networks) {
      const named = { ...info, ...source.terms?.info }
      contribution.networks.set(info.name, { ...named, network: kinds.get(info.name) ?? named.network })
    }
    const byId = new Map<number, number>()
    for (const { id, ...record } of state.buoys) {
      // A state does not hold types: the buoy was accepted by its type when it came.
      const handle = this.#add(contribution, record, source.terms?.accepts(record) ?? true)
      if (id !== null) byId.set(id, handle)
    }
    contribution.spots.push(...state.spots.filter(({ id }) => !spots.has(id)))
    if (passes !== null) contribution.passes.push(...passRecords(passes, (id) => byId.get(id)))
    if (forecast !== null) contribution.forecasts.restore(forecast)
    if (tides !== null) contribution.harbours.push(...harbourRecords(tides))
  }

  contributions(): readonly Contribution[] {
    return this.#kept()
  }

  networks(): Map<string, SourceInfo> {
    const merged = new Map<string, SourceInfo>()
    for (const { networks } of this.#kept()) {
      for (const [name, info] of networks) merged.set(name, { ...info, ...merged.get(name) })
    }
    return merged
  }

  /** Every wanted buoy once: a later source only fills what an earlier one left out. */
  buoys(): BuoyRecord[] {
    const merged = new Map<string, BuoyRecord>()
    for (const contribution of this.#kept()) {
      for (const { key, record } of this.#wanted(contribution))
        merged.set(key, { ...record, ...merged.get(key) })
    }
    return [...merged.values()]
  }

  buoysOf(contribution: Contribution): BuoyRecord[] {
    return this.#wanted(contribution).map(({ record }) => record)
  }

  spots(): SpotRecord[] {
    return this.#kept().flatMap(({ spots }) => spots)
  }

  /** The key of a handle's buoy; null for an unwanted one. */
  keyOf(handle: number): string | null {
    const { contribution, key, isWanted } = this.#handles[handle]
    return !contribution.isDiscarded && isWanted ? key : null
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
    const named = { ...info, ...source.terms?.info }
    expectShort(info.name, 'the name of a network')
    for (const text of [named.label, named.credit, named.licence])
      expectShort(text, `a text of network ${info.name}`)
    const known = this.networks().get(info.name)
    if (known !== undefined && known.network !== named.network) {
      throw new BuildError(
        `source ${info.name} is said to be both a ${known.network} and a ${named.network} network`,
      )
    }
    networks.set(info.name, { ...named, ...networks.get(info.name) })
  }

  buoy(record: BuoyRecord): number {
    const contribution = this.#present()
    if (!contribution.networks.has(record.source))
      throw new BuildError(`buoy ${record.identifier} names the unknown network ${record.source}`)
    const known = contribution.known.get(buoyKey(record))
    if (known !== undefined) {
      this.#handles[known].record = { ...record, ...this.#handles[known].record }
      return known
    }
    expectShort(record.identifier, `an identifier of network ${record.source}`)
    if (record.lat === 0 && record.lng === 0)
      this.#report.doubt({
        what: 'a buoy lies at 0 0, which often stands for no position',
        examples: [record.identifier],
      })
    const named = { type: '', ...record, name: cleanText(record.name) }
    return this.#add(contribution, named, contribution.source.terms?.accepts(named) ?? true)
  }

  listed(source: string, identifiers: readonly string[]): void {
    const { listed } = this.#present()
    for (const identifier of identifiers) listed.add(buoyKey({ source, identifier }))
  }

  rows(buoy: number, batch: RowBatch, feed = 0): void {
    const handle = this.#handles[buoy]
    if (!handle.isWanted) return
    const { isControlled = false } = handle.contribution.source
    this.#sample(handle, batch)
    removeImpossible(batch, isControlled, (what) => this.#report.impossible(handle.record.source, what))
    const newest = newestReading(batch, this.#latest)
    if (newest > handle.newest) handle.newest = newest
    this.#spool.add(buoy, feed, batch)
  }

  spectra(buoy: number, spectra: Spectra, feed = 0): void {
    if (this.#handles[buoy].isWanted) this.#spectra.add(buoy, feed, spectra)
  }

  #sample(handle: Handle, batch: RowBatch): void {
    handle.sample ??= new Sample()
    const before = handle.sample.rows.length
    handle.sample.add(batch, MOST_SAMPLED - this.#sampled)
    this.#sampled += handle.sample.rows.length - before
  }

  /** Doubts about positions and values of the source read last, whose samples are dropped. */
  *doubtful(): Generator<Doubt> {
    const buoys = this.#wanted(this.#present())
    // Stations that never measured waves may be anywhere, and are not served.
    const measuring = buoys.filter(({ newest }) => newest >= 0)
    yield* askPositions(measuring.map(({ record }) => record))
    const sampled = buoys.flatMap(({ record, sample }) =>
      sample === null ? [] : [{ record, rows: sample.rows }],
    )
    for (const network of this.#present().networks.keys()) {
      yield* askData(sampled.filter(({ record }) => record.source === network))
    }
    for (const handle of buoys) handle.sample = null
    this.#sampled = 0
  }

  pass(record: PassRecord): void {
    this.#present().passes.push(record)
  }

  forecast(record: ForecastRecord): void {
    const { forecasts, source } = this.#present()
    const credit = source.terms?.info.credit ?? record.credit
    expectShort(record.model, 'the model of a forecast')
    expectShort(credit, 'the credit of a forecast')
    forecasts.add({ ...record, ...(credit !== undefined && { credit }) })
  }

  harbour(record: HarbourRecord): void {
    expectShort(record.identifier, 'the identifier of a harbour')
    expectShort(record.credit, 'the credit of a harbour')
    this.#present().harbours.push({ ...record, name: cleanText(record.name) })
  }

  spot(record: SpotRecord): void {
    this.#present().spots.push({ ...record, name: cleanText(record.name) })
  }

  #present(): Contribution {
    return this.#contributions.at(-1)!
  }

  #kept(): Contribution[] {
    return this.#contributions.filter(({ isDiscarded }) => !isDiscarded)
  }

  #wanted({ handles }: Contribution): Handle[] {
    return handles.map((handle) => this.#handles[handle]).filter(({ isWanted }) => isWanted)
  }

  #add(contribution: Contribution, record: BuoyRecord, isWanted: boolean): number {
    const key = buoyKey(record)
    const handle = this.#handles.push({ contribution, key, isWanted, record, sample: null, newest: -1 }) - 1
    contribution.handles.push(handle)
    contribution.known.set(key, handle)
    return handle
  }
}

/** Names for people: no control characters, no runs of blanks, no more than a snapshot holds. */
function cleanText(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT_LENGTH)
}

/** Checks an identifier or a credit, which is never cut. @throws BuildError where no snapshot may hold it */
function expectShort(text: string | null | undefined, what: string): void {
  if ((text ?? '').length <= MAX_TEXT_LENGTH) return
  throw new BuildError(`${what} has ${text!.length} characters, at most ${MAX_TEXT_LENGTH} are kept`)
}
