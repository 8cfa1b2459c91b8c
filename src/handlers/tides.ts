/**
 * Operation 19, `GET /tides`: the high and low waters of a place, by days of its clock, as tide tables have
 * them. They are those of the forecast (`forecast.ts`), at the same instants.
 */
import tzLookup from '@photostructure/tz-lookup'
import { haversineKm } from '../sea/geo.ts'
import { civilFromDays, DAY, dateText } from '../sea/time.ts'
import { localText, UTC, zone, type Zone } from '../sea/zones.ts'
import { type Extreme, NO_TURNS } from '../index/tides.ts'
import type { View } from '../dataset/view.ts'
import { refused } from '../operation/errors.ts'
import { operation, untilNextMinute } from '../operation/operation.ts'
import { integer, type QueryOf, timestamp, zoneOrAuto } from '../operation/parameters.ts'
import { placeParameters, type Position, positionOf } from '../operation/place.ts'

const MAX_DAYS = 400
/** More take milliseconds: the thread of long answers makes them. */
const MOST_DAYS_AT_ONCE = 30
const [FIRST_YEAR, LAST_YEAR] = [1970, 2104]

export const parameters = {
  ...placeParameters,
  start: timestamp({ description: 'First day, or a time in it; default today on the clock of `timezone`.' }),
  days: integer({ minimum: 1, maximum: MAX_DAYS, default: 7, description: 'Days to answer.' }),
  timezone: zoneOrAuto({
    description: "The clock of days and times; default the place's own, as with `auto`.",
  }),
}

type Query = QueryOf<typeof parameters>

interface TideTable {
  readonly position: Position
  /** The clock of days and times, and that of the place. */
  readonly clock: Zone
  readonly own: string
  /** The first day, epoch seconds of its midnight in UTC. */
  readonly first: number
  /** Ordinal, −1 for none within reach. */
  readonly harbour: number
  readonly extremes: readonly Extreme[]
  readonly leftOut: number
}

function clockOf({ timezone = 'auto' }: Query, { lat, lng }: Position): Zone {
  // A zone may be newer than the time zones of this Node.
  return timezone === 'auto' ? (zone(tzLookup(lat, lng)) ?? UTC) : timezone
}

const dayOf = (epoch: number, clock: Zone): number => Math.floor((epoch + clock.offsetAt(epoch)) / DAY)

/** The first day of the table, days since 1970. @throws ApiError 400 */
function firstDay({ start }: Query, clock: Zone, now: number): number {
  if (start === undefined) return dayOf(now, clock)
  const day = start.wholeDay ? start.epoch / DAY : dayOf(start.epoch, clock)
  const { year } = civilFromDays(day)
  if (year >= FIRST_YEAR && year <= LAST_YEAR) return day
  throw refused('start', `is out of range. Allowed: a day of the years ${FIRST_YEAR} to ${LAST_YEAR}`)
}

/** @param now epoch seconds @throws ApiError 400 for a place or day that cannot be, 404 for an unknown one */
export function tideTable(view: View, query: Query, now: number): TideTable {
  const position = positionOf(view, query)
  const clock = clockOf(query, position)
  const first = firstDay(query, clock, now) * DAY
  const { tides } = view.dataset
  const harbour = tides?.nearest(position.lat, position.lng) ?? -1
  const [start, end] = [first, first + query.days * DAY].map((midnight) => clock.firstInstant(midnight))
  const { extremes, leftOut } = tides?.between(harbour, start, end - 1) ?? NO_TURNS
  const own = tzLookup(position.lat, position.lng)
  return { position, clock, own, first, harbour, extremes, leftOut }
}

/** Metres above chart datum, to two decimals. */
export const heightOf = ({ height }: Extreme): number => Math.round(height * 100) / 100
export const typeOf = ({ high }: Extreme): string => (high ? 'high' : 'low')

/** The value of `data`. */
export function tidesJson(view: View, query: Query, now: number): string {
  const { position, clock, own, first, harbour, extremes, leftOut } = tideTable(view, query, now)
  const { tides } = view.dataset
  const columns = harbour === -1 ? null : tides!.columns
  const km = columns && haversineKm(position.lat, position.lng, columns.lat[harbour], columns.lng[harbour])
  return JSON.stringify({
    location: { ...position, timezone: own },
    timezone: clock.name,
    start: dateText(first),
    days: query.days,
    tides: extremes.map((extreme) => {
      return { time: localText(extreme.time, clock), type: typeOf(extreme), height: heightOf(extreme) }
    }),
    count: extremes.length,
    left_out: leftOut,
    harbor: columns && { name: columns.names[harbour], distance_km: Math.round(km! * 100) / 100 },
    source: columns && columns.credits[columns.credit[harbour]],
    datum: columns && 'chart datum',
  })
}

export const tides = operation({
  name: 'tides',
  path: '/tides',
  access: 'keyed',
  summary: 'High and low waters of a place',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  holdsUntil(view, query, now) {
    if (query.start !== undefined) return untilNextMinute(query.start, now)
    const clock = clockOf(query, positionOf(view, query))
    return clock.firstInstant((dayOf(now, clock) + 1) * DAY)
  },
  answer(view, query, _path, now) {
    if (query.days > MOST_DAYS_AT_ONCE) return 'long'
    view.fragments.writer.text(tidesJson(view, query, now))
    return undefined
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: false },
})
