/** The days of a calendar year on the clock of a zone. */
import { createHash } from 'node:crypto'
import { DAY, daysFromCivil } from '../sea/time.ts'
import { partitionPoint } from './bisect.ts'
import type { Zone } from '../sea/zones.ts'

const HASH_DIGITS = 16
const FIRST_YEAR = 1970

export class YearDays {
  /** Day i of the year is [edges[i], edges[i + 1]), epoch seconds; a day that the clock skips is empty. */
  readonly edges: Float64Array
  /** Days [from, to) lie within the year in UTC; at most one day at either end does not. */
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

  /** Text of the edges of days that begin by `time`, epoch seconds: editions of the tz database differ. */
  rulesUntil(time: number): string {
    return this.#rulesOf(partitionPoint(0, this.edges.length, (i) => this.edges[i] <= time))
  }

  #rulesOf(days: number): string {
    return days < this.edges.length - 1 ? `${hashOf(this.edges.subarray(0, days + 1))}/${days}` : this.#rules
  }

  /** Whether `rules`, from another program, describe the same days here. */
  hasRules(rules: string): boolean {
    if (rules === this.#rules) return true
    const days = /^[0-9a-f]+\/([0-9]{1,3})$/.exec(rules)
    return days !== null && this.#rulesOf(Number(days[1])) === rules
  }
}

/** Per thread, by year from 1970 on: 3 KB for each zone and year in a snapshot's aggregates. */
const kept = new WeakMap<Zone, (YearDays | undefined)[]>()

/** The days of a year from 1970 to 2105, kept as long as the zone is. */
export function yearDays(zone: Zone, year: number): YearDays {
  let years = kept.get(zone)
  if (years === undefined) kept.set(zone, (years = []))
  return (years[year - FIRST_YEAR] ??= new YearDays(zone, year))
}

function hashOf(column: Float64Array): string {
  return createHash('sha256').update(column).digest('hex').slice(0, HASH_DIGITS)
}
