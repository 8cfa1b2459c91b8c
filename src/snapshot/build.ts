/**
 * Builds a snapshot: sources → rows → parts → check → manifest, upon what the folder holds. Rows that no source gives any more stay,
 * and months that get no new ones keep their parts. A buoy that no source mentions is left out, but not forgotten: its id, its slug and
 * its rows are there when it comes back. The same input upon the same folder gives the same bytes: no clock, no random and no order of
 * arrival reaches them.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { BuildError, type MonthlySource, type Source } from '../sources/source.ts'
import { monthStart, monthText, timestampText } from '../time.ts'
import {
  cataloguedBuoys,
  catalogPart,
  locate,
  readCatalog,
  register,
  type Catalog,
  type CataloguedBuoy,
} from './catalog.ts'
import { Collector } from './collector.ts'
import {
  decodePart,
  encodeManifest,
  sha256,
  SnapshotError,
  type Manifest,
  type PartEntry,
  type PartKind,
} from './format.ts'
import { collectGarbage, DEFAULT_KEPT, nextKeptFile, removeLeftovers } from './history.ts'
import { Journal, JOURNAL_FILE } from './journal.ts'
import { monthPart, readMonth, type MonthRows, type MonthTable } from './months.ts'
import { passesPart } from './passes.ts'
import { loadPart, readManifest, verifyParts } from './read.ts'
import type { BuildReport } from './report.ts'
import { Spool } from './spool.ts'
import { tidesPart } from './tides.ts'
import { announce, keepManifest, lockFolder, makeFolder, TEMPORARY_PREFIX, writePart } from './write.ts'

export interface BuildOptions {
  sources: Source[]
  out: string
  /** Epoch seconds; null: the newest reading in the input. */
  asOf: number | null
  /** The clock, epoch seconds; no byte of a snapshot depends on it unless a source makes its data up. */
  now: number
  report: BuildReport
  /** Takes only ids and slugs over from the folder's snapshot, not its rows. */
  fresh?: boolean
  /** Share of the folder's buoys or readings that may go, 0…1. */
  allowLoss?: number
  /** Manifests kept to go back to. */
  keep?: number
}

/** Sources that say nothing of more of the folder's buoys than this are taken for broken. */
export const DEFAULT_ALLOWED_LOSS = 0.5

/** The folder's snapshot, where there is one. */
interface Previous {
  manifest: Manifest
  catalog: Catalog
}

/** @throws BuildError for faults in the input or a second builder, SnapshotError for faults in the folder. */
export async function buildSnapshot(options: BuildOptions): Promise<Manifest> {
  makeFolder(options.out)
  const release = lockFolder(options.out)
  try {
    removeLeftovers(options.out, JOURNAL_FILE)
    // Before anything is written: on a full disk the leavings of failed builds would keep every later one from succeeding.
    collectGarbage(options.out, options.keep ?? DEFAULT_KEPT, options.now, new Journal(options.out).files())
    return await build(options, await readPrevious(options.out))
  } finally {
    release()
  }
}

async function build(options: BuildOptions, folder: Previous | null): Promise<Manifest> {
  const { sources, out, report, now } = options
  const previous = options.fresh === true ? null : folder
  const spool = new Spool(join(out, `${TEMPORARY_PREFIX}${process.pid}-spool`))
  const journal = new Journal(out)
  try {
    const input = new Collector(spool)
    const announced = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
    const wanted = options.asOf ?? (announced.length > 0 ? Math.max(...announced) : null)
    const monthly = wanted === null ? null : onlyMonthly(sources)
    const handles = monthly?.announce(input) ?? []
    if (monthly === null) {
      for (const source of sources) await source.read(input, { asOf: wanted, now, report })
    }
    const asOf = wanted ?? Math.max(spool.newestReading, previous?.manifest.asOf ?? -1)
    if (asOf < 0) {
      throw new BuildError('the sources hold no reading, so there is no time to build for: give --as-of')
    }

    const { entries, of } = register(input.buoys, folder?.catalog.registry ?? [])
    const idOf = (handle: number): number => of.get(input.buoys[handle])!.id
    const months = new MonthParts(out, previous, asOf)
    const writeMonth = async (month: number): Promise<PartEntry[]> => {
      const { readings, weather } = spool.take(month, idOf, asOf, await months.base(month))
      const written = [
        ...(readings.time.length > 0 ? [writeTable(out, 'readings', readings)] : []),
        ...(weather.time.length > 0 ? [writeTable(out, 'weather', weather)] : []),
      ]
      months.replace(month, written)
      report.progress(`wrote ${monthText(month)}`)
      return written
    }
    const monthKeys = new Map(previous?.catalog.monthKeys)
    if (monthly !== null) {
      // Ids decide a part's bytes too, and the folder's registry decides ids.
      const ids = sha256(Uint32Array.from(handles, idOf))
      for (const month of monthly.months(asOf)) {
        const key = sha256(Buffer.from(`${monthly.monthKey(month, asOf)} ids ${ids}`)).slice(0, 32)
        if (monthKeys.get(month) === key && months.has(month)) continue
        monthKeys.set(month, key)
        const known = journal.written(key)
        if (known !== null) {
          months.replace(month, known)
          continue
        }
        const file = report.file(monthText(month))
        monthly.readMonth(month, asOf, input, handles, file)
        file.end()
        journal.add(key, await writeMonth(month))
        // Lets timers and signals in between.
        await setImmediate()
      }
    }
    for (const month of spool.months()) await writeMonth(month)
    for (const month of months.beyond()) await writeMonth(month)

    const buoys = locateAll(input, of, previous)
    const others = otherParts(out, input, idOf, wanted, previous)
    const spots = input.spots.length > 0 ? input.spots : (previous?.catalog.spots ?? [])
    const catalog = writePart(
      out,
      catalogPart([...input.sources.values()], buoys, entries, spots, monthKeys),
      buoys.length,
    )
    const manifest = { asOf, parts: [catalog, ...months.entries(), ...others] }
    refuseLoss(folder, buoys, manifest.parts, options.allowLoss ?? DEFAULT_ALLOWED_LOSS)
    try {
      await checkParts(out, manifest.parts, folder)
    } catch (error) {
      // A month that an earlier build left damaged is made anew by the next one, not met again and again.
      journal.remove()
      throw error
    }
    const { id, bytes } = encodeManifest(manifest)
    if (id !== folder?.manifest.id) keepManifest(out, nextKeptFile(out, id), bytes)
    announce(out, bytes)
    journal.remove()
    collectGarbage(out, options.keep ?? DEFAULT_KEPT, now, new Set())
    report.summary()
    report.line(`published snapshot ${id}, data as of ${timestampText(asOf)}`)
    return { id, ...manifest }
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

async function readPrevious(out: string): Promise<Previous | null> {
  const manifest = await readManifest(out).catch((error: unknown) => {
    if (!(error instanceof SnapshotError)) throw error
    // Building on nothing would give known buoys new ids.
    throw new SnapshotError(
      `${error.message}; the newest snapshot that is whole comes back with: groundswell rollback ${out}`,
    )
  })
  const entry = manifest?.parts.find(({ kind }) => kind === 'catalog')
  if (manifest === null || entry === undefined) return null
  const { buffer } = await loadPart(out, entry)
  return { manifest, catalog: readCatalog(decodePart(new Uint8Array(buffer), entry.file), entry.file) }
}

/** The monthly parts of the snapshot under way: the previous ones until they are replaced. */
class MonthParts {
  readonly #out: string
  readonly #asOf: number
  readonly #previous = new Map<number, PartEntry[]>()
  readonly #parts: Map<number, PartEntry[]>

  constructor(out: string, previous: Previous | null, asOf: number) {
    this.#out = out
    this.#asOf = asOf
    for (const entry of previous?.manifest.parts ?? []) {
      if (entry.month !== null)
        this.#previous.set(entry.month, [...(this.#previous.get(entry.month) ?? []), entry])
    }
    this.#parts = new Map(this.#previous)
  }

  has(month: number): boolean {
    return this.#parts.has(month)
  }

  /** The rows a month had before. */
  async base(month: number): Promise<MonthRows[]> {
    const rows: MonthRows[] = []
    for (const entry of this.#previous.get(month) ?? []) {
      const { buffer } = await loadPart(this.#out, entry)
      rows.push(readMonth(decodePart(new Uint8Array(buffer), entry.file), month, entry.file))
    }
    return rows
  }

  replace(month: number, entries: PartEntry[]): void {
    this.#previous.delete(month)
    this.#parts.set(month, entries)
  }

  /** Months not replaced that may hold rows after the data's time. */
  beyond(): number[] {
    return [...this.#previous.keys()].filter((month) => monthStart(month + 1) > this.#asOf + 1)
  }

  /** Oldest month first. */
  entries(): PartEntry[] {
    return [...this.#parts].sort(([a], [b]) => a - b).flatMap(([, entries]) => entries)
  }
}

/** The input's buoys by id, each at its place. */
function locateAll(
  input: Collector,
  of: ReturnType<typeof register>['of'],
  previous: Previous | null,
): CataloguedBuoy[] {
  const known = new Map(
    previous === null ? [] : cataloguedBuoys(previous.catalog).map((buoy) => [buoy.id, buoy]),
  )
  return input.buoys
    .map((buoy) => {
      const entry = of.get(buoy)!
      return locate(buoy, entry, known.get(entry.id))
    })
    .sort((a, b) => a.id - b.id)
}

/** Passes, forecast and tides: what the input brings, else the previous part of that kind. */
function otherParts(
  out: string,
  input: Collector,
  idOf: (handle: number) => number,
  wanted: number | null,
  previous: Previous | null,
): PartEntry[] {
  const kept = (kind: PartKind): PartEntry[] =>
    previous?.manifest.parts.filter((part) => part.kind === kind) ?? []
  const written = ({ part, rows }: { part: Parameters<typeof writePart>[1]; rows: number }): PartEntry[] =>
    rows > 0 ? [writePart(out, part, rows)] : []
  return [
    // Without a time that was asked for there is nothing to cut: passes go on after the newest reading.
    ...(input.passes.length > 0 ? written(passesPart(input.passes, idOf, wanted)) : kept('passes')),
    ...(input.forecasts.size > 0 ? written(input.forecasts.part()) : kept('forecast')),
    ...(input.harbours.length > 0 ? written(tidesPart(input.harbours)) : kept('tides')),
  ]
}

/** @throws BuildError when more than a share of the folder's buoys or readings would be gone. */
function refuseLoss(
  folder: Previous | null,
  buoys: readonly CataloguedBuoy[],
  parts: readonly PartEntry[],
  allowed: number,
): void {
  if (folder === null) return
  const readings = (entries: readonly PartEntry[]): number =>
    entries.reduce((sum, { kind, rows }) => (kind === 'readings' ? sum + rows : sum), 0)
  const ids = new Set(buoys.map(({ id }) => id))
  const before = [...folder.catalog.id]
  const losses = [
    ['buoys', before.length, before.filter((id) => ids.has(id)).length],
    ['readings', readings(folder.manifest.parts), readings(parts)],
  ] as const
  for (const [what, had, left] of losses) {
    if (left >= had * (1 - allowed)) continue
    throw new BuildError(
      `only ${left} of the folder's ${had} ${what} are left in this build: at most ${allowed * 100} % may go (--allow-loss)`,
    )
  }
}

/** What was written is read back and checked before anyone is told of it; what the folder had announced must still be there. */
async function checkParts(out: string, parts: readonly PartEntry[], folder: Previous | null): Promise<void> {
  const announced = new Set(folder?.manifest.parts.map(({ file }) => file))
  for (const { file, bytes } of parts) {
    const size = statSync(join(out, file), { throwIfNoEntry: false })?.size
    if (size !== bytes)
      throw new BuildError(
        `${file}: has ${size ?? 'no'} bytes instead of ${bytes}; run check, then build --fresh`,
      )
  }
  await verifyParts(
    out,
    parts.filter(({ file }) => !announced.has(file)),
  )
}
