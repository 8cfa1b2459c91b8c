/** Step 3 of a build: writes the parts of the snapshot, each file only where its bytes are new. */
import type { SourceInfo } from '../sea/records.ts'
import { catalogPart } from '../snapshot/make-catalog.ts'
import { infoOf, type CataloguedBuoy } from '../snapshot/catalog.ts'
import { ForecastSet } from '../snapshot/make-forecast.ts'
import type { Part, PartEntry } from '../snapshot/snapshot-format.ts'
import { passesPart } from '../snapshot/make-passes.ts'
import { tidesPart } from '../snapshot/make-tides.ts'
import type { PartFiles } from '../snapshot/write-snapshot.ts'
import { writeAggregates } from './build-aggregates.ts'
import type { Base, BuildOptions, Previous } from './build-base.ts'
import type { Collector, Contribution } from './collector.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'
import type { Spool } from './spool.ts'
import type { MonthRows } from '../index/segments.ts'
import { monthStart, monthText, timestampText } from '../sea/time.ts'
import { monthPart, type MonthTable, readMonth } from '../snapshot/part-kinds.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import { takeDoubts } from '../sources/reading/source-files.ts'
import { countSuspect } from './quality.ts'

export interface Written {
  /** In the order of the manifest: catalogue, months and years (oldest first), passes, forecast, tides. */
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
  spool: Spool,
  files: PartFiles,
): Promise<Written> {
  const { out } = options
  const { input, wantedAsOf } = gathered
  const { buoys, registry, idOf } = identified
  const months = await writeMonths(options, previous, gathered, identified, spool, files)
  const zones = new Map(buoys.map(({ id, timezone }) => [id, timezone]))
  const aggregates = await writeAggregates(out, previous?.manifest.parts ?? [], months, zones, files)
  const whole = await writeWholeKinds(files, input.contributions(), wholeKinds(idOf, wantedAsOf))
  const networks = networksOf(buoys, input, previous)
  const catalog = catalogPart(networks, buoys, registry, input.spots())
  const parts = [await files.write(catalog, buoys.length), ...months, ...aggregates, ...whole.entries]
  await files.written()
  return { parts, own: whole.own }
}

function wholeKinds(idOf: (handle: number) => number, wantedAsOf: number | null): WholeKind[] {
  return [
    {
      has: ({ passes }) => passes.length > 0,
      // Passes go on after the newest reading, so only a time that was asked for cuts them.
      make: (contributions) => {
        const passes = contributions.flatMap((contribution) => contribution.passes)
        return passesPart(passes, idOf, wantedAsOf)
      },
    },
    {
      has: ({ forecasts }) => forecasts.size > 0,
      make: (contributions) => {
        const all = new ForecastSet()
        for (const { forecasts } of contributions) all.merge(forecasts)
        return all.part()
      },
    },
    {
      has: ({ harbours }) => harbours.length > 0,
      make: (contributions) => tidesPart(contributions.flatMap(({ harbours }) => harbours)),
    },
  ]
}

async function writeWholeKinds(
  files: PartFiles,
  contributions: readonly Contribution[],
  kinds: readonly WholeKind[],
): Promise<{ entries: PartEntry[]; own: Map<Contribution, PartEntry[]> }> {
  const own = new Map<Contribution, PartEntry[]>()
  const entries: PartEntry[] = []
  for (const { has, make } of kinds) {
    const write = async (of: readonly Contribution[]): Promise<PartEntry[]> => {
      const { part, rows } = make(of)
      return rows > 0 ? [await files.write(part, rows)] : []
    }
    const having = contributions.filter((contribution) => has(contribution))
    if (having.length === 0) continue
    const all = await write(having)
    for (const contribution of having) {
      if (contribution.source.terms === undefined || contribution.carriedOver !== null) continue
      // Where only one source gives such a part, the snapshot's own file is its file.
      const parts = having.length === 1 ? all : await write([contribution])
      own.set(contribution, [...(own.get(contribution) ?? []), ...parts])
    }
    entries.push(...all)
  }
  return { entries, own }
}

/** The networks that sources mention, and those of buoys that stay without being mentioned. */
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
export async function writeMonths(
  { out, report }: BuildOptions,
  previous: Previous | null,
  { asOf }: Gathered,
  { mentioned, idOf }: Identified,
  spool: Spool,
  files: PartFiles,
): Promise<PartEntry[]> {
  const months = new MonthParts(out, previous, asOf)
  const doubt = takeDoubts(report)
  const write = async (month: number): Promise<void> => {
    const { readings, weather, later, twice } = spool.take(month, idOf, asOf, await months.rowsBefore(month))
    doubt('later', monthText(month), later)
    for (const [id, { rows, time }] of twice)
      doubt('twice', `${mentioned.get(id)?.identifier ?? ''} at ${timestampText(time)}`, rows)
    countSuspect(readings, (id, reason, count) => {
      const buoy = mentioned.get(id)
      if (buoy !== undefined) report.suspect(buoy.source, buoy.identifier, reason, count)
    })
    const written = [
      ...(await writeTable(files, 'readings', readings)),
      ...(await writeTable(files, 'weather', weather)),
    ]
    months.replace(month, written)
    report.month(monthText(month))
  }

  const changed = [...spool.months()]
  report.expectMonths(changed.length)
  for (const month of changed) await write(month)
  for (const month of months.beyond()) await write(month)
  await files.written()
  return months.entries()
}

async function writeTable(
  files: PartFiles,
  kind: 'readings' | 'weather',
  table: MonthTable,
): Promise<PartEntry[]> {
  const rows = table.time.length
  return rows > 0 ? [await files.write(monthPart(kind, table), rows, table.month)] : []
}

class MonthParts {
  readonly #out: string
  readonly #asOf: number
  readonly #previous = new Map<number, PartEntry[]>()
  readonly #parts: Map<number, PartEntry[]>

  constructor(out: string, previous: Previous | null, asOf: number) {
    this.#out = out
    this.#asOf = asOf
    for (const entry of previous?.manifest.parts ?? []) {
      if (entry.month !== null && entry.kind !== 'aggregates')
        this.#previous.set(entry.month, [...(this.#previous.get(entry.month) ?? []), entry])
    }
    this.#parts = new Map(this.#previous)
  }

  async rowsBefore(month: number): Promise<MonthRows[]> {
    const rows: MonthRows[] = []
    for (const entry of this.#previous.get(month) ?? []) {
      rows.push(await readPart(this.#out, entry, (part, file) => readMonth(part, month, file)))
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

  entries(): PartEntry[] {
    return [...this.#parts].sort(([a], [b]) => a - b).flatMap(([, entries]) => entries)
  }
}
