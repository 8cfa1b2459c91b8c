/** Requests of the seasonal series. */
import * as fc from 'fast-check'
import { assemble, METRIC_WORDS, unknown, type ApiRequest, type Part } from './request_parts.ts'

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function seriesRequests(
  slugOrId: fc.Arbitrary<string>,
  unknownPath: fc.Arbitrary<string>,
): fc.Arbitrary<ApiRequest> {
  const written = (name: string, value: string): Part => ({
    name,
    raw: `${name}=${encodeURIComponent(value)}`,
    value,
  })
  const dayOfYear = fc.oneof(
    fc
      .integer({ min: 1, max: 12 })
      .chain((month) =>
        fc.integer({ min: 1, max: DAYS_OF_MONTH[month - 1] }).map((dayNumber) => ({ month, day: dayNumber })),
      ),
    fc.constantFrom(
      { month: 2, day: 28 },
      { month: 2, day: 29 },
      { month: 3, day: 1 },
      { month: 1, day: 1 },
      { month: 12, day: 31 },
    ),
  )
  const season = fc
    .tuple(dayOfYear, dayOfYear, fc.constantFrom('', 'season_'))
    // A season from 29 February to itself is one day in leap years and none in others.
    .filter(([start, end]) => !(start.month === 2 && start.day === 29 && end.month === 2 && end.day === 29))
    .map(([start, end, prefix]) => [
      written(`${prefix}start_month`, String(start.month)),
      written(`${prefix}start_day`, String(start.day)),
      written(`${prefix}end_month`, String(end.month)),
      written(`${prefix}end_day`, String(end.day)),
    ])
  const years = fc.oneof(
    fc.constant<Part[]>([]),
    fc
      .tuple(fc.integer({ min: 2012, max: 2027 }), fc.integer({ min: -1, max: 14 }))
      .map(([from, more]) => [written('start_year', String(from)), written('end_year', String(from + more))]),
    fc.integer({ min: 2012, max: 2027 }).map((year) => [written('end_year', String(year))]),
    fc.integer({ min: 2012, max: 2026 }).map((year) => [written('start_year', String(year))]),
  )
  const metric = fc.constantFrom(...METRIC_WORDS).map((word) => [written('metric', word)])
  const chosen = fc.tuple(
    metric,
    fc
      .constantFrom('', 'day', 'day', 'week', 'hour')
      .map((word) => (word === '' ? [] : [written('bucket', word)])),
    fc
      .constantFrom('', 'median', 'avg', 'min', 'max')
      .map((word) => (word === '' ? [] : [written('aggregation', word)])),
    fc.oneof(fc.constant<Part[]>([]), season),
    years,
    fc
      .constantFrom(
        '',
        '',
        'UTC',
        'Europe/Paris',
        'America/St_Johns',
        'Asia/Kolkata',
        'Etc/GMT+5',
        'Africa/Casablanca',
        'Asia/Beirut',
        'America/Havana',
        'Australia/Lord_Howe',
      )
      .map((zone) => (zone === '' ? [] : [written('timezone', zone)])),
    unknown,
  )
  const path = fc.oneof(
    { weight: 9, arbitrary: slugOrId },
    {
      weight: 9,
      arbitrary: fc.constantFrom(
        'nice',
        'cabrillo-point',
        'riviere-des-galets',
        'nickerson-bank',
        'compass-rose',
        'half-without-waves',
      ),
    },
    { weight: 1, arbitrary: unknownPath },
  )
  const impossible = fc
    .constantFrom('2/30', '4/31', '6/31', '11/31')
    .map((text) => text.split('/'))
    .map(([month, day]) => [
      written('metric', 'period'),
      written('start_month', month),
      written('start_day', day),
    ])
  return fc
    .oneof(
      {
        weight: 9,
        arbitrary: fc.tuple(
          path,
          chosen.map((lists) => lists.flat()),
        ),
      },
      { weight: 1, arbitrary: fc.tuple(slugOrId, impossible) },
    )
    .map(([id, parts]) => assemble('series', `/buoys/${id}/readings/series`, parts, { buoyId: id }))
}
