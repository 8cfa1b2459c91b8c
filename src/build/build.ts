/**
 * Builds a snapshot: sources → rows → parts → check → manifest, upon what the folder holds. Rows that no
 * source gives any more stay, and months that get no new ones keep their parts. A buoy that no source
 * mentions is left out, but not forgotten: its id, its slug and its rows are there when it comes back; it
 * stays where its source mentions only who reported lately, or could not be read. The same input upon the
 * same folder gives the same bytes: no clock, no random and no order of arrival reaches them.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { randomName, type Lock } from '../system/lock.ts'
import { type MonthlySource, type Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, SourceInfo } from '../sea/records.ts'
import { monthStart, monthText, timestampText } from '../sea/time.ts'
import { readBase, type Base, type Previous } from './base.ts'
import {
  cataloguedBuoys,
  catalogPart,
  infoOf,
  spotsInOrder,
  type Catalog,
  type CataloguedBuoy,
} from '../snapshot/catalog.ts'
import { locate, register } from './identify.ts'
import { buoyKey, Collector, type Lot } from './collector.ts'
import { leaveOut, samePlaces } from './duplicates.ts'
import { ForecastSet } from '../snapshot/forecast.ts'
import {
  decodePart,
  encodeManifest,
  sha256,
  type Manifest,
  type Part,
  type PartEntry,
} from '../snapshot/format.ts'
import { writeGiven, type Given } from './given.ts'
import { collectGarbage, DEFAULT_KEPT, listKept, nextKeptFile, removeLeftovers } from './history.ts'
import { holdText } from './hold.ts'
import { refuseLoss } from './losses.ts'
import { Journal, JOURNAL_FILE } from './journal.ts'
import { monthPart, readMonth, type MonthTable } from '../snapshot/months.ts'
import type { MonthRows } from '../index/segments.ts'
import { passesPart } from '../snapshot/passes.ts'
import { doubtfulReadings } from './quality.ts'
import { loadPart, verifyParts } from '../snapshot/read.ts'
import { writeRegistryFile } from './registry.ts'
import type { BuildReport } from './report.ts'
import { givenNow, recallSilent } from './silent.ts'
import { Spool } from './spool.ts'
import { tidesPart } from '../snapshot/tides.ts'
import {
  announce,
  keepManifest,
  lockFolder,
  makeOutput,
  syncFolder,
  TEMPORARY_PREFIX,
  writePart,
} from '../snapshot/write.ts'

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
  /**
   * Names of networks, most preferred first: a buoy that two of them have within `sameWithinKm` is the first
   * one's.
   */
  prefer?: readonly string[]
  sameWithinKm?: number
  /** Readings of a later time are those of a clock gone wrong, epoch seconds; absent: any time can be. */
  latest?: number
}

/** Sources that say nothing of more of the folder's buoys than this are taken for broken. */
export const DEFAULT_ALLOWED_LOSS = 0.5

/** What was built, and whether it was announced: not while a rollback holds. */
export interface BuiltSnapshot extends Manifest {
  announced: boolean
}

/** @throws BuildError for faults in the input or a second builder, SnapshotError for faults in the folder. */
export async function buildSnapshot(options: BuildOptions): Promise<BuiltSnapshot> {
  makeOutput(options.out)
  const lock = lockFolder(options.out)
  try {
    removeLeftovers(options.out, JOURNAL_FILE)
    // Before anything is written: on a full disk the leavings of failed builds would keep every later one
    // from succeeding.
    collectGarbage(
      options.out,
      options.keep ?? DEFAULT_KEPT,
      options.now,
      new Journal(options.out).files(),
      () => lock.isHeld(),
    )
    const base = await readBase(options.out, (message) => options.report.warn(message))
    return await build(options, base, lock)
  } finally {
    lock.release()
  }
}

/** Clears away what a builder that was killed left half-written, unless another one is at work. */
export function clearLeftovers(dir: string): void {
  try {
    const lock = lockFolder(dir)
    try {
      removeLeftovers(dir, JOURNAL_FILE)
    } finally {
      lock.release()
    }
  } catch {
    // The next build does the same.
  }
}

async function build(options: BuildOptions, base: Base, lock: Lock): Promise<BuiltSnapshot> {
  const { previous: folder, registry, hold } = base
  const { sources, out, report, now } = options
  const previous = options.fresh === true ? null : folder
  const spool = new Spool(join(out, `${TEMPORARY_PREFIX}${randomName()}-spool`))
  const journal = new Journal(out)
  try {
    const input = new Collector(spool, {
      latest: options.latest ?? Infinity,
      tell: (network, what) => report.impossible(network, what),
    })
    const announced = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
    const wanted = options.asOf ?? (announced.length > 0 ? Math.max(...announced) : null)
    const monthly = wanted === null ? null : onlyMonthly(sources)
    if (monthly !== null) {
      input.begin(monthly)
      report.begin(null)
    }
    const handles = monthly?.announce(input) ?? []
    const refused =
      monthly === null
        ? await readSources(sources, input, { asOf: wanted, now, report, given: base.given })
        : new Map()
    for (const silent of await recallSilent(refused, input, base, options)) report.silent(...silent)
    const newest = input.newestReadings()
    const latestReading = [...newest.values()].reduce((latest, time) => Math.max(latest, time), -1)
    const asOf = wanted ?? Math.max(latestReading, previous?.manifest.asOf ?? -1)
    if (asOf < 0) {
      throw new BuildError('the sources hold no reading, so there is no time to build for: give --as-of')
    }

    const known = previous === null ? [] : cataloguedBuoys(previous.catalog)
    const kept = stayingBuoys(known, input)
    const staying = [...kept.keys()]
    const mentioned = await withoutDuplicates(options, previous, input.buoys(), staying, newest)
    const { entries, of } = register(mentioned, registry.entries, registry.former)
    const ids = new Map([...of].map(([buoy, { id }]) => [buoyKey(buoy), id]))
    const idOf = (handle: number): number => ids.get(input.keyOf(handle) ?? '') ?? 0
    const networkOf = new Map([...of].map(([buoy, { id }]) => [id, buoy]))
    const months = new MonthParts(out, previous, asOf)
    const writeMonth = async (month: number): Promise<PartEntry[]> => {
      const { readings, weather } = spool.take(month, idOf, asOf, await months.base(month))
      doubtfulReadings(readings, (id, doubt, count) => {
        const buoy = networkOf.get(id)
        if (buoy !== undefined) report.doubtful(buoy.source, buoy.identifier, doubt, count)
      })
      const written = [
        ...(readings.time.length > 0 ? [writeTable(out, 'readings', readings)] : []),
        ...(weather.time.length > 0 ? [writeTable(out, 'weather', weather)] : []),
      ]
      months.replace(month, written)
      report.month(monthText(month))
      return written
    }
    const monthKeys = new Map(previous?.catalog.monthKeys)
    if (monthly !== null) {
      // Ids decide a part's bytes too, and the folder's registry decides ids.
      const idsHash = sha256(Uint32Array.from(handles, idOf))
      const all = [...monthly.months(asOf)]
      report.expectMonths(all.length)
      for (const month of all) {
        const key = sha256(Buffer.from(`${monthly.monthKey(month, asOf)} ids ${idsHash}`)).slice(0, 32)
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
    const changed = [...spool.months()]
    report.expectMonths(changed.length)
    for (const month of changed) await writeMonth(month)
    for (const month of months.beyond()) await writeMonth(month)

    const buoys = [...locateAll(mentioned, of, known), ...staying].sort((a, b) => a.id - b.id)
    const others = otherParts(out, input.lots(), idOf, wanted)
    const catalog = writePart(
      out,
      catalogPart(sourcesOf(buoys, input, previous), buoys, entries, input.spots(), monthKeys),
      buoys.length,
    )
    const manifest = { asOf, parts: [catalog, ...months.entries(), ...others.entries] }
    if (folder !== null) {
      await refuseLoss(out, folder.manifest.parts, manifest.parts, options.allowLoss ?? DEFAULT_ALLOWED_LOSS)
    }
    try {
      await checkParts(out, manifest.parts, folder)
    } catch (error) {
      // A month that an earlier build left damaged is made anew by the next one, not met again and again.
      journal.remove()
      throw error
    }
    const { id, bytes } = encodeManifest(manifest)
    if (sources.some(({ terms }) => terms !== undefined)) {
      writeGiven(
        out,
        id,
        givenNow(input, {
          ids,
          kept,
          parts: others.of,
          refused,
          before: previous === null ? null : base.given,
          now,
        }),
        lock,
      )
    }
    writeRegistryFile(out, { entries, former: registry.former }, lock)
    if (id !== listKept(out).at(-1)?.id) keepManifest(out, nextKeptFile(out, id), bytes, lock)
    if (hold === null) announce(out, bytes, lock)
    else syncFolder(out)
    journal.remove()
    collectGarbage(out, options.keep ?? DEFAULT_KEPT, now, new Set(), () => lock.isHeld())
    tellNetworks(report, buoys, input)
    report.summary()
    report.built(id, asOf, hold === null)
    const about = `snapshot ${id}, data as of ${timestampText(asOf)}`
    if (hold === null) report.line(`published ${about}`)
    else report.line(`kept ${about}, and did not announce it: ${holdText(hold, out)}`)
    return { id, ...manifest, announced: hold === null }
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

/**
 * Reads all sources. One of the operator's configuration that cannot be read, or that gives nothing and did
 * before, is reported, and the others are read without it.
 * @returns the silent ones, with what was wrong
 * @throws BuildError when none could be read, or one of the command line could not
 */
async function readSources(
  sources: readonly Source[],
  input: Collector,
  context: { asOf: number | null; now: number; report: BuildReport; given: readonly Given[] | null },
): Promise<Map<Source, string>> {
  const { report } = context
  const refused = new Map<Source, string>()
  for (const source of sources) {
    input.begin(source)
    report.begin(source.terms?.name ?? null, source.folder)
    try {
      await source.read(input, context)
      if (input.isSilent() && hasGiven(context.given, source))
        throw new BuildError('it gives nothing, and did before')
      checkLot(input.lots())
    } catch (error) {
      if (source.terms === undefined || !(error instanceof BuildError)) throw error
      input.discard()
      refused.set(source, error.message)
      report.refused(error.message)
    }
  }
  report.begin(null)
  if (sources.length > 0 && input.lots().length === 0)
    throw new BuildError('none of the sources could be read')
  return refused
}

/** Whether a source gave anything when it was read last. */
function hasGiven(given: readonly Given[] | null, { terms }: Source): boolean {
  const last = given?.find(({ name }) => name === terms?.name)
  return last !== undefined && last.buoys.length + last.spots.length + last.parts.length > 0
}

/** What the newest of the lots gave has to be fit for parts. @throws BuildError saying what is not */
function checkLot(lots: readonly Lot[]): void {
  const { passes, harbours } = lots.at(-1)!
  passesPart(passes, (handle) => handle + 1, null)
  tidesPart(harbours)
  spotsInOrder(lots.flatMap(({ spots }) => spots))
}

/**
 * Buoys of the folder that no source mentions and that stay: those of networks of a source that mentions only
 * who reported lately, with the sources that they stay for.
 */
function stayingBuoys(known: readonly CataloguedBuoy[], input: Collector): Map<CataloguedBuoy, Lot[]> {
  const lots = input.lots().filter(({ source, recalled }) => source.complete === false && recalled === null)
  const mentioned = new Set(input.buoys().map((buoy) => buoyKey(buoy)))
  const staying = new Map<CataloguedBuoy, Lot[]>()
  for (const buoy of known) {
    if (mentioned.has(buoyKey(buoy))) continue
    const speakers = lots.filter(
      ({ source, networks }) => networks.has(buoy.source) && (source.terms?.accepts(buoy) ?? true),
    )
    if (speakers.length > 0) staying.set(buoy, speakers)
  }
  return staying
}

/**
 * The mentioned buoys without those that a preferred network has too. Such buoys are taken out of `staying`
 * in place.
 */
async function withoutDuplicates(
  { out, prefer = [], sameWithinKm = 1, report }: BuildOptions,
  previous: Previous | null,
  mentioned: readonly BuoyRecord[],
  staying: CataloguedBuoy[],
  newest: ReadonlyMap<string, number>,
): Promise<BuoyRecord[]> {
  const pairs = samePlaces([...mentioned, ...staying], prefer, sameWithinKm)
  if (pairs.length === 0) return [...mentioned]
  // A network may mention a buoy today without a word of its waves.
  const before =
    previous === null
      ? new Map<string, number>()
      : await newestBefore(out, previous.manifest, previous.catalog)
  const newestOf = (buoy: BuoyRecord): number =>
    Math.max(newest.get(buoyKey(buoy)) ?? -1, before.get(buoyKey(buoy)) ?? -1)
  const gone = new Set<BuoyRecord>()
  for (const { leftOut, stays, km } of leaveOut(pairs, newestOf)) {
    gone.add(leftOut)
    report.duplicate(leftOut, stays, km)
  }
  for (let i = staying.length - 1; i >= 0; i--) if (gone.has(staying[i])) staying.splice(i, 1)
  return mentioned.filter((buoy) => !gone.has(buoy))
}

/** Months of a snapshot that are looked through for newest readings: beyond, a feed is silent in any case. */
const MONTHS_BACK = 2

/** Time of the newest reading by buoy, as the folder's snapshot has it in its last months. */
async function newestBefore(
  out: string,
  { parts }: Manifest,
  { id, source, sources, identifiers, registry }: Catalog,
): Promise<Map<string, number>> {
  // A buoy that was left out has rows, too.
  const keys = new Map(registry().map((entry) => [entry.id, buoyKey(entry)]))
  id.forEach((buoy, i) =>
    keys.set(buoy, buoyKey({ source: sources[source[i]].name, identifier: identifiers[i] })),
  )
  const newest = new Map<string, number>()
  const last = parts.filter(({ kind }) => kind === 'readings').slice(-MONTHS_BACK)
  for (const entry of last) {
    const { buffer } = await loadPart(out, entry)
    const { buoys, start, time } = readMonth(
      decodePart(new Uint8Array(buffer), entry.file),
      entry.month!,
      entry.file,
    )
    buoys.forEach((buoy, i) => newest.set(keys.get(buoy) ?? '', time[start[i + 1] - 1]))
  }
  return newest
}

/** The networks that were told of, and those of buoys that stay without having been told of. */
function sourcesOf(
  buoys: readonly CataloguedBuoy[],
  input: Collector,
  previous: Previous | null,
): SourceInfo[] {
  const sources = input.sources
  const needed = new Set(buoys.map(({ source }) => source))
  for (const source of previous?.catalog.sources ?? []) {
    if (!sources.has(source.name) && needed.has(source.name)) sources.set(source.name, infoOf(source))
  }
  return [...sources.values()]
}

/**
 * What the input holds of each network, for the report; one that was told of and has no buoys is named too.
 */
function tellNetworks(report: BuildReport, buoys: readonly CataloguedBuoy[], input: Collector): void {
  const newest = input.newestReadings()
  const networks = new Map<string, { buoys: number; reporting: number; newest: number }>()
  for (const name of input.sources.keys()) networks.set(name, { buoys: 0, reporting: 0, newest: -1 })
  for (const buoy of buoys) {
    const known = networks.get(buoy.source) ?? { buoys: 0, reporting: 0, newest: -1 }
    const time = newest.get(buoyKey(buoy)) ?? -1
    networks.set(buoy.source, {
      buoys: known.buoys + 1,
      reporting: known.reporting + Number(time >= 0),
      newest: Math.max(known.newest, time),
    })
  }
  for (const [name, network] of networks) report.network(name, network)
}

/** Buoys each at its place; those of `known` that did not move are not looked for again. */
function locateAll(
  buoys: readonly BuoyRecord[],
  of: ReturnType<typeof register>['of'],
  known: readonly CataloguedBuoy[],
): CataloguedBuoy[] {
  const places = new Map(known.map((buoy) => [buoy.id, buoy]))
  return buoys.map((buoy) => {
    const entry = of.get(buoy)!
    return locate(buoy, entry, places.get(entry.id))
  })
}

/**
 * Passes, forecast and tides as they are served, and which parts hold what each source of the configuration
 * gave now.
 */
function otherParts(
  out: string,
  lots: readonly Lot[],
  idOf: (handle: number) => number,
  wanted: number | null,
): { entries: PartEntry[]; of: (lot: Lot) => PartEntry[] } {
  const kinds: { has: (lot: Lot) => boolean; make: (of: readonly Lot[]) => { part: Part; rows: number } }[] =
    [
      {
        has: ({ passes }) => passes.length > 0,
        // Without a time that was asked for there is nothing to cut: passes go on after the newest reading.
        make: (of) =>
          passesPart(
            of.flatMap(({ passes }) => passes),
            idOf,
            wanted,
          ),
      },
      {
        has: ({ forecasts }) => forecasts.size > 0,
        make: (of) => {
          const all = new ForecastSet()
          for (const { forecasts } of of) all.merge(forecasts)
          return all.part()
        },
      },
      {
        has: ({ harbours }) => harbours.length > 0,
        make: (of) => tidesPart(of.flatMap(({ harbours }) => harbours)),
      },
    ]
  const own = new Map<Lot, PartEntry[]>()
  const entries = kinds.flatMap(({ has, make }) => {
    const written = (of: readonly Lot[]): PartEntry[] => {
      const { part, rows } = make(of)
      return rows > 0 ? [writePart(out, part, rows)] : []
    }
    const givers = lots.filter((lot) => has(lot))
    if (givers.length === 0) return []
    const all = written(givers)
    for (const lot of givers) {
      if (lot.source.terms === undefined || lot.recalled !== null) continue
      own.set(lot, [...(own.get(lot) ?? []), ...(givers.length === 1 ? all : written([lot]))])
    }
    return all
  })
  return { entries, of: (lot) => own.get(lot) ?? [] }
}

/**
 * What was written is read back and checked before anyone is told of it; what the folder had announced must
 * still be there.
 */
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
