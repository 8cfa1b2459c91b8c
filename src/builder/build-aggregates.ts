/**
 * Yearly parts of daily aggregates. A year keeps its part while its monthly parts and its buoys' zones are as
 * they were; in another year only the days of changed months are worked out anew.
 */
import { setImmediate } from 'node:timers/promises'
import { NO_ZONE, type AggregateYear, yearDays } from '../index/day-aggregates.ts'
import type { MonthRows } from '../index/segments.ts'
import { aggregatesPart } from '../snapshot/make-aggregates.ts'
import { januaryOf, madeFrom, readAggregates, readMonth, yearOfMonth } from '../snapshot/part-kinds.ts'
import { sha256, SnapshotError, type Part, type PartEntry } from '../snapshot/snapshot-format.ts'
import { encodePart, type PartFiles } from '../snapshot/write-snapshot.ts'
import { readPartHead } from '../snapshot/read-parts.ts'
import { nullIfDamaged, readPart } from '../snapshot/read-snapshot.ts'
import { zone, type Zone } from '../sea/zones.ts'
import { YearOfDays } from './year-of-days.ts'

const MONTHS_OF_YEAR = 12

/**
 * Writes the years of aggregates that are new, oldest first. `months` are the monthly parts of the snapshot
 * under way, `previous` all parts of the one before, `zones` the buoys' zones by id.
 */
export async function writeAggregates(
  out: string,
  previous: readonly PartEntry[],
  months: readonly PartEntry[],
  zones: ReadonlyMap<number, string>,
  files: PartFiles,
): Promise<PartEntry[]> {
  const entries: PartEntry[] = []
  for (const year of new Set(months.map(({ month }) => yearOfMonth(month!)))) {
    const before = previous.find(({ kind, month }) => kind === 'aggregates' && month === januaryOf(year))
    if (before !== undefined && isCurrent(out, before, madeFrom(months, year), zones)) {
      entries.push(before)
      continue
    }
    const known = before === undefined ? null : await readYear(out, before).catch(nullIfDamaged)
    const { part, rows } = await makeYear(out, year, months, { zones, known, previous })
    entries.push(await files.write(part, rows, januaryOf(year)))
    // Timers and signals run in between.
    await setImmediate()
  }
  return entries
}

/** Whether a part is what would be made now, by the beginning of its file. */
function isCurrent(
  out: string,
  entry: PartEntry,
  madeFromNow: string,
  zones: ReadonlyMap<number, string>,
): boolean {
  try {
    const part = readPartHead(out, entry, ['buoy', 'zone'])
    if (part.meta.made_from !== madeFromNow) return false
    const ids = part.columns.get('buoy') as Uint32Array
    const places = part.columns.get('zone') as Uint16Array
    const year = yearOfMonth(entry.month!)
    const known = (part.meta.zones as [string, string][]).map(([name, rules]) => ({ name, rules }))
    return ids.every((id, i) => YearOfDays.isOfZone(known[places[i]] ?? null, zoneOf(zones, id), year))
  } catch (error) {
    if (error instanceof SnapshotError) return false
    throw error
  }
}

function zoneOf(zones: ReadonlyMap<number, string>, id: number): Zone | null {
  const name = zones.get(id)
  return name === undefined ? null : zone(name)
}

const readYear = (dir: string, entry: PartEntry): Promise<AggregateYear> =>
  readPart(dir, entry, (part, file) => readAggregates(part, entry.month!, file))

interface Known {
  zones: ReadonlyMap<number, string>
  /** The year as it was; null where all of it is to be made. */
  known: AggregateYear | null
  previous: readonly PartEntry[]
}

/** Makes a year's part, with at most two months of rows in memory. */
async function makeYear(
  out: string,
  year: number,
  parts: readonly PartEntry[],
  { zones, known, previous }: Known,
): Promise<{ part: Part; rows: number }> {
  const monthly = parts.filter(
    ({ kind, month }) => kind !== 'aggregates' && month !== null && yearOfMonth(month) === year,
  )
  const days = new YearOfDays(year, newestTime(out, monthly), (id) => zoneOf(zones, id), known)
  for (const entry of monthly) {
    const { columns } = readPartHead(out, entry, ['buoy'])
    days.addBuoys(columns.get('buoy') as Uint32Array)
  }
  const files = new Set(previous.map(({ file }) => file))
  const isChanged = (month: number): boolean =>
    known === null ||
    monthly.some((entry) => entry.month === month && !files.has(entry.file)) ||
    previous.some(
      (entry) =>
        entry.month === month &&
        entry.kind !== 'aggregates' &&
        !monthly.some(({ file }) => file === entry.file),
    )
  const months = new MonthWindow(out, monthly)
  const first = januaryOf(year)
  for (let month = first; month < first + MONTHS_OF_YEAR; month++) {
    const wanted = isChanged(month)
      ? 'all'
      : isChanged(month + 1) && month + 1 < first + MONTHS_OF_YEAR
        ? 'last'
        : 'none'
    if (wanted === 'none' && !days.hasNewBuoys) continue
    days.workOut(month, await months.at(month), await months.at(month + 1), wanted)
    await setImmediate()
  }
  return aggregatesPart(year, madeFrom(parts, year), days.buoys())
}

/** Time of the newest row of monthly parts, epoch seconds. */
function newestTime(out: string, monthly: readonly PartEntry[]): number {
  const lastMonth = Math.max(...monthly.map(({ month }) => month!))
  let newest = 0
  for (const entry of monthly.filter(({ month }) => month === lastMonth)) {
    for (const time of readPartHead(out, entry, ['time']).columns.get('time') as Uint32Array) {
      if (time > newest) newest = time
    }
  }
  return newest
}

/** Rows of the last two months that were asked for. */
class MonthWindow {
  readonly #out: string
  readonly #parts: readonly PartEntry[]
  readonly #loaded = new Map<number, MonthRows[]>()

  constructor(out: string, parts: readonly PartEntry[]) {
    this.#out = out
    this.#parts = parts
  }

  async at(month: number): Promise<readonly MonthRows[]> {
    const loaded = this.#loaded.get(month)
    if (loaded !== undefined) return loaded
    for (const other of this.#loaded.keys()) if (other < month - 1) this.#loaded.delete(other)
    const rows: MonthRows[] = []
    for (const entry of this.#parts.filter((part) => part.month === month)) {
      rows.push(await readPart(this.#out, entry, (part, file) => readMonth(part, month, file)))
    }
    this.#loaded.set(month, rows)
    return rows
  }
}

/**
 * What is wrong with a stored year, by a new one from the monthly parts in `parts`; null where nothing is.
 * @throws SnapshotError for a part that cannot be read
 */
export async function faultOfYear(
  dir: string,
  entry: PartEntry,
  parts: readonly PartEntry[],
): Promise<string | null> {
  const { file, sha256: hash } = entry
  const said = await readYear(dir, entry)
  for (const { name, rules } of said.zones) {
    const found = zone(name)
    if (found !== null && yearDays(found, said.year).hasRules(rules)) continue
    return `${file}: the days of ${name} differ in this program's edition of the tz database; they are served from the readings, and the next build makes the part anew`
  }
  const zones = new Map<number, string>()
  said.buoys.forEach((id, i) => {
    if (said.zone[i] !== NO_ZONE) zones.set(id, said.zones[said.zone[i]].name)
  })
  const { part, rows } = await makeYear(dir, said.year, parts, { zones, known: null, previous: [] })
  // The rules of all days were checked above; an older builder took the rules of more days.
  const rules = said.zones.map(({ name, rules }) => [name, rules])
  const made = { ...part, meta: { ...part.meta, zones: rules } }
  if (rows === entry.rows && sha256(encodePart(made)) === hash) return null
  return `${file}: its aggregates are not those of the readings; the next build with --fresh makes them anew`
}
