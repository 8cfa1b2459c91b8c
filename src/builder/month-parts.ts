/** The monthly parts of the snapshot under way: the previous ones, until a month's rows change. */
import type { MonthRows } from '../index/segments.ts'
import { monthStart, monthText, timestampText } from '../sea/time.ts'
import type { PartEntry } from '../snapshot/snapshot-format.ts'
import { monthPart, type MonthTable } from '../snapshot/make-month.ts'
import { readMonth } from '../snapshot/part-kinds.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import type { PartFiles } from '../snapshot/write-snapshot.ts'
import type { BuildOptions, Previous } from './build-base.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'
import { takeDoubts } from '../sources/reading/source-files.ts'
import { countSuspect } from './quality.ts'
import type { Spool } from './spool.ts'

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
