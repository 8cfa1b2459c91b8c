/**
 * Builds a snapshot: sources → rows → parts → check → manifest. The same input gives the same bytes: no clock, no random and no
 * order of arrival reaches them.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { BuildError, type MonthlySource, type Source } from '../sources/source.ts'
import { monthText, timestampText } from '../time.ts'
import { catalogPart, locate, readCatalog, register, type RegistryEntry } from './catalog.ts'
import { Collector } from './collector.ts'
import { decodePart, sha256, type Manifest, type PartEntry } from './format.ts'
import { Journal } from './journal.ts'
import { monthPart } from './months.ts'
import { passesPart } from './passes.ts'
import { loadPart, readManifest, verifyParts } from './read.ts'
import type { BuildReport } from './report.ts'
import { Spool, type MonthTable } from './spool.ts'
import { tidesPart } from './tides.ts'
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
  const journal = new Journal(out)
  try {
    const input = new Collector(spool)
    const announced = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
    const wanted = options.asOf ?? (announced.length > 0 ? Math.max(...announced) : null)
    const monthly = wanted === null ? null : onlyMonthly(sources)
    const handles = monthly?.announce(input) ?? []
    if (monthly === null) for (const source of sources) await source.read(input, { asOf: wanted, now, report })
    const asOf = wanted ?? spool.newestReading
    if (asOf < 0) {
      throw new BuildError('the sources hold no reading, so there is no time to build for: give --as-of')
    }

    const { entries, of } = register(input.buoys, await previousRegistry(out))
    const idOf = (handle: number): number => of.get(input.buoys[handle])!.id
    const parts: PartEntry[] = []
    const writeMonth = (month: number): PartEntry[] => {
      const { readings, weather } = spool.take(month, idOf, asOf)
      const written = [
        ...(readings.time.length > 0 ? [writeTable(out, 'readings', readings)] : []),
        ...(weather.time.length > 0 ? [writeTable(out, 'weather', weather)] : []),
      ]
      parts.push(...written)
      report.progress(`wrote ${parts.length} monthly parts`)
      return written
    }
    if (monthly === null) {
      for (const month of spool.months()) writeMonth(month)
    } else {
      // Ids decide a part's bytes too, and the folder's registry decides ids.
      const ids = sha256(Uint32Array.from(handles, idOf))
      for (const month of monthly.months(asOf)) {
        const key = `${monthly.monthKey(month, asOf)} ids ${ids}`
        const known = journal.written(key)
        if (known !== null) {
          parts.push(...known)
          continue
        }
        const file = report.file(monthText(month))
        monthly.readMonth(month, asOf, input, handles, file)
        file.end()
        journal.add(key, writeMonth(month))
        // Lets timers and signals in between.
        await setImmediate()
      }
    }
    if (input.passes.length > 0) {
      // Without a time that was asked for there is nothing to cut: passes go on after the newest reading.
      const { part, rows } = passesPart(input.passes, idOf, wanted)
      if (rows > 0) parts.push(writePart(out, part, rows))
    }
    if (input.forecasts.size > 0) {
      const { part, rows } = input.forecasts.part()
      parts.push(writePart(out, part, rows))
    }
    if (input.harbours.length > 0) {
      const { part, rows } = tidesPart(input.harbours)
      parts.push(writePart(out, part, rows))
    }
    const buoys = input.buoys.map((buoy) => locate(buoy, of.get(buoy)!)).sort((a, b) => a.id - b.id)
    const catalog = writePart(out, catalogPart([...input.sources.values()], buoys, entries, input.spots), buoys.length)
    const manifest = { asOf, parts: [catalog, ...parts] }
    // What was written is read back and checked before anyone is told of it.
    await verifyParts(out, manifest.parts)
    const announcedManifest = writeManifest(out, manifest)
    journal.remove()
    report.summary()
    report.line(`published snapshot ${announcedManifest.id}, data as of ${timestampText(asOf)}`)
    return announcedManifest
  } finally {
    spool.close()
  }
}

/** A single source that gives its rows month by month. */
function onlyMonthly(sources: Source[]): MonthlySource | null {
  const [only] = sources
  return sources.length === 1 && 'readMonth' in only ? (only as MonthlySource) : null
}

function writeTable(out: string, kind: 'readings' | 'weather', table: MonthTable): PartEntry {
  return writePart(out, monthPart(kind, table), table.time.length, table.month)
}

/** Ids that were given in this folder before; none when it holds no snapshot yet. */
async function previousRegistry(out: string): Promise<RegistryEntry[]> {
  const previous = await readManifest(out)
  const entry = previous?.parts.find(({ kind }) => kind === 'catalog')
  if (entry === undefined) return []
  const { buffer } = await loadPart(out, entry)
  return readCatalog(decodePart(new Uint8Array(buffer), entry.file), entry.file).registry
}
