/** Requests of the seasonal series. */
import * as fc from 'fast-check'
import {
  assemble,
  METRIC_WORDS,
  notNumbers,
  unknown,
  type ApiRequest,
  type Fault,
  type Part,
} from './request_parts.ts'

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
  const ask = (id: string, parts: Part[], fault: Fault | null) =>
    assemble('series', `/buoys/${id}/readings/series`, parts, { buoyId: id }, fault)

  const malformed = fc
    .constantFrom<[string, string[]]>(
      [
        'metric',
        ['', 'height', 'significant_height', 'SIGNIFICIENT_HEIGHT', 'constructor', 'period,direction', '\0'],
      ],
      ['bucket', ['month', 'DAY', '1', 'days', 'x'.repeat(9000)]],
      ['aggregation', ['mean', 'sum', 'MEDIAN', '0']],
      [
        'timezone',
        [
          'Mars/Phobos',
          'Europe',
          '+02:00',
          'x'.repeat(5000),
          '../../etc/passwd',
          '__proto__',
          'Europe/Paris\0',
        ],
      ],
      ['start_year', [...notNumbers, '2020.5']],
      ['end_year', [...notNumbers, '2020.5']],
      ['start_month', [...notNumbers, '0', '13', '-1']],
      ['end_day', [...notNumbers, '0', '32', '-1']],
      ['season_end_month', ['0', '13', 'May']],
    )
    .chain(([name, texts]) => fc.tuple(fc.constant(name), fc.constantFrom(...texts)))
    .map(([name, text]): { parts: Part[]; fault: Fault } => ({
      parts: [...(name === 'metric' ? [] : [written('metric', 'period')]), written(name, text)],
      fault: { names: [name, name.replace('season_', '')], status: 400 },
    }))
  const twice = fc
    .constantFrom('metric=period&metric=period', 'metric=period&bucket=day&bucket=day')
    .map((raw) => ({
      parts: [{ name: '', raw, value: undefined }],
      fault: { names: [raw.includes('bucket') ? 'bucket' : 'metric'], status: 400 },
    }))
  const impossible = fc.constantFrom('2/30', '4/31', '6/31', '11/31').map((text) => {
    const [month, dayNumber] = text.split('/') as [string, string]
    return {
      parts: [written('metric', 'period'), written('start_month', month), written('start_day', dayNumber)],
      fault: { names: ['start_day', 'start_month'], status: 422 },
    }
  })
  return fc.oneof(
    { weight: 9, arbitrary: fc.tuple(path, chosen).map(([id, lists]) => ask(id, lists.flat(), null)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(slugOrId, fc.oneof(malformed, malformed, twice, impossible))
        .map(([id, { parts, fault }]) => ask(id, parts, fault)),
    },
  )
}
