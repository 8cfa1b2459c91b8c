/** The days of a calendar year on the clock of a zone. */
import { createHash } from 'node:crypto'
import { DAY, daysFromCivil } from '../sea/time.ts'
import { partitionPoint } from './bisect.ts'
import type { Zone } from '../sea/zones.ts'

/** Hexadecimal digits of a hash. */
const HASH_DIGITS = 16
const FIRST_YEAR = 1970

export class YearDays {
  /**
   * Day i of the year lies from `edges[i]` to before `edges[i + 1]`, epoch seconds; one the clock skips is
   * empty.
   */
  readonly edges: Float64Array
  /** Days `from` to before `to` lie within the year in UTC. At most one day at either end does not. */
  readonly from: number
  readonly to: number
  readonly #rules: string

  constructor(zone: Zone, year: number) {
    const first = daysFromCivil(year, 1, 1)
    const next = daysFromCivil(year + 1, 1, 1)
    const count = next - first
    const edges = Float64Array.from({ length: count + 1 }, (_, day) => zone.firstInstant((first + day) * DAY))
    this.edges = edges
    this.from = edges[0] >= first * DAY ? 0 : 1
    this.to = edges[count] <= next * DAY ? count : count - 1
    this.#rules = hashOf(edges)
  }

  /**
   * The rules of the days that begin at `time` or before, epoch seconds: the same text where all their edges
   * are the same. Programs differ in the edition of the tz database, most of all in what it expects of the
   * months to come.
   */
  rulesUntil(time: number): string {
    return this.#rulesOf(partitionPoint(0, this.edges.length, (i) => this.edges[i] <= time))
  }

  #rulesOf(days: number): string {
    return days < this.edges.length - 1 ? `${hashOf(this.edges.subarray(0, days + 1))}/${days}` : this.#rules
  }

  /** Whether the days that `rules` is the text of are the same here. */
  hasRules(rules: string): boolean {
    if (rules === this.#rules) return true
    const days = /^[0-9a-f]+\/([0-9]{1,3})$/.exec(rules)
    return days !== null && this.#rulesOf(Number(days[1])) === rules
  }
}

/** Per thread, by year from 1970 on: 3 KB each, of zones and years that a snapshot has aggregates of. */
const kept = new WeakMap<Zone, (YearDays | undefined)[]>()

/** The days of a year from 1970 to 2105. Made in 0.1 ms, then kept as long as the zone is. */
export function yearDays(zone: Zone, year: number): YearDays {
  let years = kept.get(zone)
  if (years === undefined) kept.set(zone, (years = []))
  return (years[year - FIRST_YEAR] ??= new YearDays(zone, year))
}

function hashOf(column: Float64Array): string {
  return createHash('sha256').update(column).digest('hex').slice(0, HASH_DIGITS)
}
