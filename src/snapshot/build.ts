/**
 * Builds a snapshot: sources → rows → parts → check → manifest. The same input gives the same bytes: no clock, no random and no
 * order of arrival reaches them.
 */
import { join } from 'node:path'
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
import { timestampText } from '../time.ts'
import { catalogPart, locate, readCatalog, register, type RegistryEntry } from './catalog.ts'
import { decodePart, type Manifest, type PartEntry } from './format.ts'
import { monthPart } from './months.ts'
import { loadPart, readManifest, verifyParts } from './read.ts'
import type { BuildReport } from './report.ts'
import { Spool } from './spool.ts'
import { makeFolder, TEMPORARY_PREFIX, writeManifest, writePart } from './write.ts'

export interface BuildOptions {
  sources: Source[]
  out: string
  /** Epoch seconds; null: the newest reading in the input. */
  asOf: number | null
  /** The clock, epoch seconds; only sources that make their data up look at it. */
  now: number
  report: BuildReport
}

/** @throws BuildError for faults in the input, SnapshotError for faults in the folder. */
export async function buildSnapshot(options: BuildOptions): Promise<Manifest> {
  const { sources, out, report, now } = options
  makeFolder(out)
  const spool = new Spool(join(out, `${TEMPORARY_PREFIX}${process.pid}-spool`))
  try {
    const input = new Collector(spool)
    const announced = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
    const wanted = options.asOf ?? (announced.length > 0 ? Math.max(...announced) : null)
    for (const source of sources) await source.read(input, { asOf: wanted, now, report })
    const asOf = wanted ?? spool.newestReading
    if (asOf < 0)
      throw new BuildError('the sources hold no reading, so there is no time to build for: give --as-of')

    const { entries, of } = register(input.buoys, await previousRegistry(out))
    const idOf = (handle: number): number => of.get(input.buoys[handle])!.id
    const parts: PartEntry[] = []
    for (const month of spool.months()) {
      const { readings, weather } = spool.take(month, idOf, asOf)
      for (const [kind, table] of [
        ['readings', readings],
        ['weather', weather],
      ] as const) {
        if (table.time.length > 0)
          parts.push(writePart(out, monthPart(kind, table), table.time.length, month))
      }
      report.progress(`wrote ${parts.length} monthly parts`)
    }
    const buoys = input.buoys.map((buoy) => locate(buoy, of.get(buoy)!)).sort((a, b) => a.id - b.id)
    const catalog = writePart(out, catalogPart([...input.sources.values()], buoys, entries), buoys.length)
    const manifest = { asOf, parts: [catalog, ...parts] }
    // What was written is read back and checked before anyone is told of it.
    await verifyParts(out, manifest.parts)
    const announcedManifest = writeManifest(out, manifest)
    report.summary()
    report.line(`published snapshot ${announcedManifest.id}, data as of ${timestampText(asOf)}`)
    return announcedManifest
  } finally {
    spool.close()
  }
}

/** Ids that were given in this folder before; none when it holds no snapshot yet. */
async function previousRegistry(out: string): Promise<RegistryEntry[]> {
  const previous = await readManifest(out)
  const entry = previous?.parts.find(({ kind }) => kind === 'catalog')
  if (entry === undefined) return []
  const { buffer } = await loadPart(out, entry)
  return readCatalog(decodePart(new Uint8Array(buffer), entry.file), entry.file).registry
}

/** The sink of all sources: buoys by handle, rows to the spool. */
class Collector implements Sink {
  readonly sources = new Map<string, SourceInfo>()
  readonly buoys: BuoyRecord[] = []
  readonly passes: PassRecord[] = []
  readonly forecasts: ForecastRecord[] = []
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
    this.forecasts.push(record)
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
