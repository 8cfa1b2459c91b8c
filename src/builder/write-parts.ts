/**
 * Steps 3 and 4 of a build: writes the parts of the snapshot, each file only where its bytes are new, and
 * checks them.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceInfo } from '../sea/records.ts'
import { catalogPart } from '../snapshot/make-catalog.ts'
import { infoOf, type CataloguedBuoy } from '../snapshot/catalog.ts'
import { ForecastSet } from '../snapshot/make-forecast.ts'
import type { Part, PartEntry, PartKind } from '../snapshot/snapshot-format.ts'
import { passesPart } from '../snapshot/make-passes.ts'
import { tidesPart } from '../snapshot/make-tides.ts'
import { writePart } from '../snapshot/write-snapshot.ts'
import { writeAggregates } from './build-aggregates.ts'
import { type Base, type BuildOptions, DEFAULT_ALLOWED_LOSS, type Previous } from './build-base.ts'
import type { TakenBack } from '../sources/source.ts'
import type { Collector, Contribution, Spools } from './collector.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'
import { lossesOf } from './losses.ts'
import type { Spool } from './spool.ts'
import type { MonthRows } from '../index/segments.ts'
import { monthStart, monthText, timestampText } from '../sea/time.ts'
import { hasRows, readMonth } from '../snapshot/part-kinds.ts'
import { monthPart } from './month-tables.ts'
import { readPart, verifyParts } from '../snapshot/read-snapshot.ts'
import { takeDoubts } from '../sources/reading/source-files.ts'
import { BuildError } from '../system/build-error.ts'
import { entryOf } from '../system/entry-of.ts'
import { countSuspect, spikesOf, withoutRows, withoutTakenBack } from './quality.ts'
import { writeSpectra } from './write-spectra.ts'

export interface Written {
  /**
   * In the order of the manifest: catalogue, months and years (oldest first), months of spectra, passes,
   * forecast, tides.
   */
  parts: PartEntry[]
  /** Parts with the passes, forecasts and harbours that one source of the configuration gave now. */
  own: ReadonlyMap<Contribution, PartEntry[]>
}

/** A kind of part without months, made from the contributions that have something for it. */
interface WholeKind {
  has: (contribution: Contribution) => boolean
  make: (contributions: readonly Contribution[]) => { part: Part; rows: number }
}

export async function writeParts(
  options: BuildOptions,
  { previous }: Base,
  gathered: Gathered,
  identified: Identified,
  spools: Spools,
): Promise<Written> {
  const { out } = options
  const { input, wantedAsOf } = gathered
  const { buoys, registry, idOf } = identified
  const months = await writeMonths(options, previous, gathered, identified, spools.rows)
  const spectra = await writeSpectra(options, previous, months, gathered, identified, spools.spectra)
  const zones = new Map(buoys.map(({ id, timezone }) => [id, timezone]))
  const aggregates = await writeAggregates(out, previous?.manifest.parts ?? [], months, zones)
  const whole = writeWholeKinds(out, input.contributions(), wholeKinds(idOf, wantedAsOf))
  const networks = networksOf(buoys, input, previous)
  const catalog = catalogPart(networks, buoys, registry, input.spots())
  const parts = [
    writePart(out, catalog, buoys.length),
    ...months,
    ...aggregates,
    ...spectra,
    ...whole.entries,
  ]
  return { parts, own: whole.own }
}

function wholeKinds(idOf: (handle: number) => number, wantedAsOf: number | null): WholeKind[] {
  return [
    {
      has: ({ passes }) => passes.length > 0,
      // Passes go on after the newest reading, so only a requested time cuts them.
      make: (of) =>
        passesPart(
          of.flatMap(({ passes }) => passes),
          idOf,
          wantedAsOf,
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
}

function writeWholeKinds(
  out: string,
  contributions: readonly Contribution[],
  kinds: readonly WholeKind[],
): { entries: PartEntry[]; own: Map<Contribution, PartEntry[]> } {
  const own = new Map<Contribution, PartEntry[]>()
  const entries: PartEntry[] = []
  for (const { has, make } of kinds) {
    const write = (of: readonly Contribution[]): PartEntry[] => {
      const { part, rows } = make(of)
      return rows > 0 ? [writePart(out, part, rows)] : []
    }
    const having = contributions.filter((contribution) => has(contribution))
    if (having.length === 0) continue
    const all = write(having)
    for (const contribution of having) {
      if (contribution.source.terms === undefined || contribution.carriedOver !== null) continue
      // If only one source gives such a part, the snapshot's file is the source's, too.
      const parts = having.length === 1 ? all : write([contribution])
      own.set(contribution, [...(own.get(contribution) ?? []), ...parts])
    }
    entries.push(...all)
  }
  return { entries, own }
}

/** The networks that sources mention, and networks of buoys that stay without being mentioned. */
function networksOf(
  buoys: readonly CataloguedBuoy[],
  input: Collector,
  previous: Previous | null,
): SourceInfo[] {
  const networks = input.networks()
  const needed = new Set(buoys.map(({ source }) => source))
  for (const source of previous?.catalog.sources ?? []) {
    if (!networks.has(source.name) && needed.has(source.name)) networks.set(source.name, infoOf(source))
  }
  return [...networks.values()]
}

/** @returns the months' parts, oldest month first */
async function writeMonths(
  { out, report }: BuildOptions,
  previous: Previous | null,
  { asOf, input }: Gathered,
  { buoys, mentioned, idOf }: Identified,
  spool: Spool,
): Promise<PartEntry[]> {
  const dropping = new Set(
    input
      .contributions()
      .filter(({ source }) => source.terms?.dropsSpikes === true)
      .flatMap(({ networks }) => [...networks.keys()]),
  )
  const known = new Map(buoys.map((buoy) => [buoy.id, buoy]))
  const takenBack = takenBackOf(input.contributions(), buoys, report)
  const months = new Map<number, PartEntry[]>()
  for (const entry of previous?.manifest.parts ?? []) {
    if (hasRows(entry)) entryOf(months, entry.month!, () => []).push(entry)
  }
  const doubt = takeDoubts(report)
  const changed = new Set(spool.months())
  // Months that may hold rows after the data's time.
  for (const month of months.keys()) {
    if (monthStart(month + 1) > asOf + 1) changed.add(month)
    const isIn = ({ from, until }: TakenBack): boolean =>
      from < monthStart(month + 1) && until > monthStart(month)
    if ([...takenBack.values()].flat().some(isIn)) changed.add(month)
  }
  for (const month of changed) {
    const before: MonthRows[] = []
    for (const entry of months.get(month) ?? [])
      before.push(await readPart(out, entry, (part, file) => readMonth(part, month, file)))
    const { readings: taken, weather: allWeather, later, twice } = spool.take(month, idOf, asOf, before)
    const [all, weather] = [taken, allWeather].map((table) =>
      withoutTakenBack(table, takenBack, (id, rows, text) => report.takenBack(known.get(id)!, rows, text)),
    )
    doubt('later', monthText(month), later)
    for (const [id, { rows, time }] of twice)
      doubt('twice', `${mentioned.get(id)?.identifier ?? ''} at ${timestampText(time)}`, rows)
    const dropped = new Set<number>()
    for (const { row, buoy: id, text } of spikesOf(all)) {
      const buoy = mentioned.get(id)
      if (buoy === undefined) continue
      const isDropped = dropping.has(buoy.source)
      report.spike(buoy, text, isDropped)
      if (isDropped) dropped.add(row)
    }
    const readings = withoutRows(all, dropped)
    for (const table of [readings, weather]) {
      countSuspect(table, (id, reason, count) => {
        const buoy = mentioned.get(id)
        // Spikes are named one by one.
        if (buoy !== undefined && reason !== 'spike')
          report.suspect(buoy.source, buoy.identifier, reason, count)
      })
    }
    const written: PartEntry[] = []
    for (const [kind, table] of [
      ['readings', readings],
      ['weather', weather],
    ] as const) {
      const rows = table.time.length
      if (rows > 0) written.push(writePart(out, monthPart(kind, table), rows, month))
    }
    months.set(month, written)
    report.month(monthText(month), changed.size)
  }
  return [...months].sort(([a], [b]) => a - b).flatMap(([, entries]) => entries)
}

/**
 * What sources of the configuration take back, by buoy id: also of buoys of their networks that no source
 * mentions.
 */
function takenBackOf(
  contributions: readonly Contribution[],
  buoys: readonly CataloguedBuoy[],
  report: BuildOptions['report'],
): Map<number, TakenBack[]> {
  const found = new Map<number, TakenBack[]>()
  for (const { source, networks } of contributions) {
    for (const one of source.terms?.drop ?? []) {
      const named = buoys.filter(
        (buoy) => networks.has(buoy.source) && buoy.identifier.toLowerCase() === one.station,
      )
      if (named.length === 0)
        report.warn(
          `${source.terms!.name}: "drop" names the station "${one.station}", of which it has nothing; correct or remove it`,
        )
      for (const { id } of named) entryOf(found, id, () => []).push(one)
    }
  }
  return found
}

/** Kinds of parts with the names of their rows in messages. */
const COUNTED: readonly [PartKind, string][] = [
  ['readings', 'readings'],
  ['weather', 'rows of weather'],
  ['passes', 'passes'],
  ['forecast', 'rows of forecast'],
  ['tides', 'harbours'],
]

/**
 * Step 4 of a build: names what is lost, and refuses a snapshot that loses much (its sources are broken) or
 * is damaged on disk.
 * @throws BuildError when too much is lost or a part's size is wrong, SnapshotError for a damaged part
 */
export async function checkBuild(
  { out, report, allowLoss = DEFAULT_ALLOWED_LOSS }: BuildOptions,
  { folder }: Base,
  { input }: Gathered,
  { buoys }: Identified,
  parts: readonly PartEntry[],
): Promise<void> {
  const left = { ids: new Set(buoys.map(({ id }) => id)), spots: input.spots().length }
  if (folder !== null) {
    report.lost(await lossesOf(out, folder, parts, buoys))
    refuseLoss(folder, parts, left, allowLoss)
  }
  // New parts are read back whole; published parts must still be there, of their size.
  for (const { file, bytes } of parts) {
    const size = statSync(join(out, file), { throwIfNoEntry: false })?.size
    if (size !== bytes)
      throw new BuildError(
        `${file}: has ${size ?? 'no'} bytes instead of ${bytes}; run check, then build --fresh`,
      )
  }
  const published = new Set(folder?.manifest.parts.map(({ file }) => file))
  await verifyParts(
    out,
    parts.filter(({ file }) => !published.has(file)),
  )
}

/**
 * @param left buoys and spots that stay; a new buoy does not replace a lost one, so they count by id
 * @throws BuildError when more than the share `allowed` of anything that the folder has is missing
 */
function refuseLoss(
  { manifest, catalog }: Previous,
  now: readonly PartEntry[],
  left: { ids: ReadonlySet<number>; spots: number },
  allowed: number,
): void {
  const rows = (kind: PartKind, parts: readonly PartEntry[]): number =>
    parts.reduce((sum, entry) => (entry.kind === kind ? sum + entry.rows : sum), 0)
  const losses: [what: string, had: number, left: number][] = [
    ['buoys', catalog.id.length, catalog.id.filter((id) => left.ids.has(id)).length],
    ['spots', catalog.spots.length, left.spots],
    ...COUNTED.map(([kind, what]): [string, number, number] => [
      what,
      rows(kind, manifest.parts),
      rows(kind, now),
    ]),
  ]
  for (const [what, count, rest] of losses) {
    if (rest >= count * (1 - allowed)) continue
    throw new BuildError(
      `only ${rest} of the folder's ${count} ${what} are left in this build: at most ${allowed * 100} % may go (--allow-loss)`,
    )
  }
}
