/** The days of a calendar year on the clock of a zone. */
import { createHash } from 'node:crypto'
import { DAY, daysFromCivil } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'

export interface YearDays {
  /**
   * Day i of the year lies from `edges[i]` to before `edges[i + 1]`, epoch seconds; one the clock skips is
   * empty.
   */
  readonly edges: Float64Array
  /** Days `from` to before `to` lie within the year in UTC. At most one day at either end does not. */
  readonly from: number
  readonly to: number
  /** The same text where all edges are the same: programs differ in the edition of the tz database. */
  readonly rules: string
  /** The same text where the clock shows the same at the beginning and the end of each day. */
  readonly texts: string
}

const FIRST_YEAR = 1970

const RULES_DIGITS = 16

/** Per thread, by year from 1970 on: 3 KB each, of zones and years that a snapshot has aggregates of. */
const kept = new WeakMap<Zone, (YearDays | undefined)[]>()

/** The days of a year from 1970 to 2105. Made in 0.1 ms, then kept as long as the zone is. */
export function yearDays(zone: Zone, year: number): YearDays {
  let years = kept.get(zone)
  if (years === undefined) kept.set(zone, (years = []))
  return (years[year - FIRST_YEAR] ??= makeDays(zone, year))
}

function makeDays(zone: Zone, year: number): YearDays {
  const first = daysFromCivil(year, 1, 1)
  const next = daysFromCivil(year + 1, 1, 1)
  const count = next - first
  const edges = Float64Array.from({ length: count + 1 }, (_, day) => zone.firstInstant((first + day) * DAY))
  const offsets = edges.map((edge) => zone.offsetAt(edge))
  const offsetsBefore = edges.map((edge) => zone.offsetAt(edge - 1))
  return {
    edges,
    from: edges[0] >= first * DAY ? 0 : 1,
    to: edges[count] <= next * DAY ? count : count - 1,
    rules: hashOf(edges),
    texts: hashOf(edges, offsets, offsetsBefore),
  }
}

function hashOf(...columns: Float64Array[]): string {
  const hash = createHash('sha256')
  for (const column of columns) hash.update(column)
  return hash.digest('hex').slice(0, RULES_DIGITS)
}
