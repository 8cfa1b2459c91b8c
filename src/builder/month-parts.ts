/** The monthly parts of the snapshot under way: the previous ones, until a month's rows change. */
import { setImmediate } from 'node:timers/promises'
import type { MonthRows } from '../index/segments.ts'
import { monthStart, monthText } from '../sea/time.ts'
import { sha256, type PartEntry } from '../snapshot/snapshot-format.ts'
import { decodePart } from '../snapshot/part-columns.ts'
import { monthPart, readMonth, type MonthTable } from '../snapshot/months-part.ts'
import { loadPart } from '../snapshot/read-snapshot.ts'
import { writePart } from '../snapshot/write-snapshot.ts'
import type { BuildOptions, Previous } from './build-base.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'
import { countSuspect } from './quality.ts'
import type { Spool } from './spool.ts'

interface WrittenMonths {
  /** Oldest month first. */
  entries: PartEntry[]
  /** What each month that a source makes up was made from, by month. */
  keys: ReadonlyMap<number, string>
}

export async function writeMonths(
  { out, report }: BuildOptions,
  previous: Previous | null,
  { input, asOf, monthly }: Gathered,
  { mentioned, idOf }: Identified,
  spool: Spool,
): Promise<WrittenMonths> {
  const months = new MonthParts(out, previous, asOf)
  const keys = new Map(previous?.catalog.monthKeys)
  const write = async (month: number): Promise<void> => {
    const { readings, weather } = spool.take(month, idOf, asOf, await months.rowsBefore(month))
    countSuspect(readings, (id, reason, count) => {
      const buoy = mentioned.get(id)
      if (buoy !== undefined) report.suspect(buoy.source, buoy.identifier, reason, count)
    })
    const written = [...writeTable(out, 'readings', readings), ...writeTable(out, 'weather', weather)]
    months.replace(month, written)
    report.month(monthText(month))
  }

  if (monthly !== null) {
    const { source, handles } = monthly
    // A part's bytes depend on ids, too, which the folder's registry decides.
    const idsHash = sha256(Uint32Array.from(handles, idOf))
    const all = [...source.months(asOf)]
    report.expectMonths(all.length)
    for (const month of all) {
      const key = sha256(Buffer.from(`${source.monthKey(month, asOf)} ids ${idsHash}`)).slice(0, 32)
      if (keys.get(month) === key && months.has(month)) continue
      keys.set(month, key)
      const file = report.file(monthText(month))
      source.readMonth(month, asOf, input, handles, file)
      file.end()
      await write(month)
      // Lets timers and signals in between.
      await setImmediate()
    }
  }
  const changed = [...spool.months()]
  report.expectMonths(changed.length)
  for (const month of changed) await write(month)
  for (const month of months.beyond()) await write(month)
  return { entries: months.entries(), keys }
}

function writeTable(out: string, kind: 'readings' | 'weather', table: MonthTable): PartEntry[] {
  const rows = table.time.length
  return rows > 0 ? [writePart(out, monthPart(kind, table), rows, table.month)] : []
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

  has(month: number): boolean {
    return this.#parts.has(month)
  }

  async rowsBefore(month: number): Promise<MonthRows[]> {
    const rows: MonthRows[] = []
    for (const entry of this.#previous.get(month) ?? []) {
      const { bytes } = await loadPart(this.#out, entry)
      rows.push(readMonth(decodePart(bytes, entry.file), month, entry.file))
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
