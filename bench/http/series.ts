/**
 * The points of a daily series of whole years, naively: one walk over the rows, all values of a day in a
 * list, clocks as `Intl` shows them.
 */
import { MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { statistic, type JsonObject } from '../../test/oracle/oracle.ts'
import { AS_OF, type History } from './data.ts'

const DAY = 86_400
/** The metrics that are asked for: both of waves, of which only rows with a significant height count. */
const MEASURE_OF = new Map<string, MeasureName>([
  ['significient_height', 'significantHeight'],
  ['peak_period', 'peakPeriod'],
])
const KNOWN = new Set(['metric', 'start_year', 'end_year'])
/** Longer than any data, and a year more, whose first days end what the data begins. */
const FIRST = AS_OF - 12 * 366 * DAY
const LAST = AS_OF + 366 * DAY

/**
 * Puts the points into the years of an answer, which has none, and counts them. Returns false, having done
 * nothing, where `parameters` ask for another series than medians of days in whole years. @throws Error for
 * rows that are not in the order of their times
 */
export function fillYears(
  body: JsonObject,
  history: History,
  zone: string,
  parameters: ReadonlyMap<string, string>,
): boolean {
  const measure = MEASURE_OF.get(parameters.get('metric') ?? '')
  if (measure === undefined || [...parameters.keys()].some((name) => !KNOWN.has(name))) return false
  const clock = clockOf(zone)
  const all = [...valuesByDay(history, measure, clock)].toSorted(([a], [b]) => a - b)
  const data = body['data'] as JsonObject
  for (const year of data['years'] as JsonObject[]) {
    const [first, next] = [0, 1].map((more) => Date.UTC((year['year'] as number) + more) / 1000 / DAY)
    const days = all.filter(([day]) => day >= first && day < next)
    year['point_count'] = days.length
    year['points'] = days.map(([day, values]) => ({
      ...dayOf(clock, day),
      value: statistic(values, 'median', false).value,
      sample_count: values.length,
    }))
    data['count'] = (data['count'] as number) + days.length
  }
  return true
}

/** All values of the days of a zone, by days since 1970. */
function valuesByDay(history: History, measure: MeasureName, { stretches }: Clock): Map<number, number[]> {
  const { missing, scale } = MEASURES[measure]
  const noReading = MEASURES.significantHeight.missing
  const days = new Map<number, number[]>()
  let [stretch, before] = [0, 0]
  for (const { time: times, columns } of history) {
    const [heights, codes] = [columns.significantHeight, columns[measure]]
    for (let i = 0; i < times.length; i++) {
      const time = times[i]
      if (time <= before) throw new Error('rows are not in the order of their times')
      before = time
      if (time > AS_OF || heights[i] === noReading || codes[i] === missing) continue
      while (stretches[stretch].until <= time) stretch++
      const day = Math.floor((time + stretches[stretch].offset) / DAY)
      const values = days.get(day)
      if (values === undefined) days.set(day, [codes[i] / scale])
      else values.push(codes[i] / scale)
    }
  }
  return days
}

/** Epoch seconds, the end not included, and by how many seconds the zone is ahead of UTC meanwhile. */
interface Stretch {
  from: number
  until: number
  offset: number
}

interface Clock {
  stretches: Stretch[]
  /** What an answer says of a day, by days since 1970. */
  days: Map<number, JsonObject>
}

const clocks = new Map<string, Clock>()

/** A zone's clock from `FIRST` to `LAST`: every change is looked for between two days, to the minute. */
function clockOf(zone: string): Clock {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offsetAt = (epoch: number): number => {
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(epoch * 1000))!
    if (sign === undefined) return 0
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
  }
  const stretches: Stretch[] = [{ from: FIRST, until: LAST, offset: offsetAt(FIRST) }]
  for (let day = FIRST; day < LAST; day += DAY) {
    const last = stretches.at(-1)!
    const offset = offsetAt(day + DAY)
    if (offset === last.offset) continue
    let [before, after] = [day, day + DAY]
    while (after - before > 60) {
      const middle = before + Math.floor((after - before) / 120) * 60
      if (offsetAt(middle) === last.offset) before = middle
      else after = middle
    }
    last.until = after
    stretches.push({ from: after, until: LAST, offset })
  }
  const clock = { stretches, days: new Map<number, JsonObject>() }
  clocks.set(zone, clock)
  return clock
}

/**
 * The first instant of a day and the zone's time of it: where the clock skips midnight, the instant at which
 * it does.
 */
function startOf({ stretches }: Clock, day: number): { instant: number; offset: number } {
  for (const { from, until, offset } of stretches) {
    const instant = Math.max(from, day * DAY - offset)
    if (instant < until) return { instant, offset }
  }
  throw new Error(`day ${day} is beyond the clock`)
}

/** An answer's fields of a day, but for its value. */
function dayOf(clock: Clock, day: number): JsonObject {
  const known = clock.days.get(day)
  if (known !== undefined) return known
  const date = new Date(day * DAY * 1000)
  const [start, next] = [startOf(clock, day), startOf(clock, day + 1)]
  // Where the clock changes at midnight the last second still has the offset before.
  const end = clock.stretches.find(({ until }) => next.instant - 1 < until)!
  const found = {
    // Counted in a year with 29 February.
    bucket_index: (Date.UTC(2000, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2000)) / 1000 / DAY + 1,
    label: `${date.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })} ${String(date.getUTCDate()).padStart(2, '0')}`,
    bucket_start: wallTime(start.instant, start.offset),
    bucket_end: wallTime(next.instant - 1, end.offset),
  }
  clock.days.set(day, found)
  return found
}

function wallTime(epoch: number, offset: number): string {
  const minutes = Math.abs(offset) / 60
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  const wall = new Date((epoch + offset) * 1000).toISOString().slice(0, 19)
  return `${wall}${offset < 0 ? '-' : '+'}${hour}:${minute}`
}
