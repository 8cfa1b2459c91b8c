/**
 * Requests of every operation over one world, to be asked of the server and of the oracle: well formed, with
 * all parameters and a liking for edges. What is malformed, `test/api/wire.slow.test.ts` asks, parameter by
 * parameter from the description.
 */
import * as fc from 'fast-check'
import {
  knownBuoys,
  MEASURE_OF,
  WEATHER_FIELDS,
  type Known,
  type Operation,
  type Question,
} from './oracle.ts'
import type { Place, World } from './world.ts'

export interface ApiRequest {
  /** Below the base path, with the query, ready to send. */
  url: string
  question: Question
}

/** One parameter as it stands in a URL. */
interface Part {
  /** Name as the contract spells it. */
  name: string
  raw: string
  /** The decoded text; undefined when it counts as absent or is ignored. */
  value: string | undefined
}

type Texts = fc.Arbitrary<string>
type Parts = fc.Arbitrary<Part[]>
type Path = fc.Arbitrary<{ path: string; buoyId?: string; readingId?: string }>
type Write = (text: string) => string

const HOUR = 3600
const DAY = 86_400
const YEAR = 365 * DAY

const utf8 = new TextEncoder()
const everyByte: Write = (text) =>
  [...utf8.encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
/** As URLSearchParams writes it: a blank is a plus. */
const asForm: Write = (text) => new URLSearchParams([['', text]]).toString().slice(1)
const WRITERS = [encodeURIComponent, encodeURIComponent, asForm, everyByte]
/** Of a time, whose `+` may stand raw: it is a plus there, not a blank. */
const TIME_WRITERS: Write[] = [(text) => text, encodeURIComponent, everyByte]

const none: Parts = fc.constant([])
const given = (name: string, text: Texts, writers: readonly Write[] = WRITERS): Parts =>
  fc
    .tuple(text, fc.constantFrom(...writers))
    .map(([value, write]) => [{ name, raw: `${name}=${write(value)}`, value }])
/** There in `share` of ten requests. An empty parameter and one without a value count as absent. */
const maybe = (name: string, text: Texts, share = 5): Parts =>
  fc.oneof(
    { weight: share, arbitrary: given(name, text) },
    {
      weight: 10 - share,
      arbitrary: fc.constantFrom('', '', '', name, `${name}=`).map((raw) => notSaid(name, raw)),
    },
  )
const notSaid = (name: string, raw: string): Part[] => (raw === '' ? [] : [{ name, raw, value: undefined }])
const all = (...parts: readonly Parts[]): Parts => fc.tuple(...parts).map((lists) => lists.flat())
const someOf = (words: readonly string[]): Texts =>
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((some) => some.join())

/** Parameters that no operation knows: they change nothing. */
const unknown: Parts = fc
  .constantFrom(
    '',
    '',
    '',
    '',
    '_=1711526400',
    'foo=bar&foo=baz',
    'Page=x',
    'LIMIT=0',
    'callback=a%281%29',
    '=x',
    '&&',
  )
  .map((raw) => notSaid('', raw))

function requestsOf(
  operation: Operation,
  path: Path | string,
  ...parts: readonly Parts[]
): fc.Arbitrary<ApiRequest> {
  const shuffled = all(...parts, unknown).chain((list) =>
    fc.shuffledSubarray(list, { minLength: list.length }),
  )
  const paths = typeof path === 'string' ? fc.constant({ path }) : path
  return fc.tuple(paths, shuffled).map(([{ path: asked, ...ids }, list]) => {
    const parameters = new Map<string, string>()
    for (const { name, value } of list) {
      if (value !== undefined && value !== '') parameters.set(name, value)
    }
    const query = list.map(({ raw }) => raw).join('&')
    return {
      url: query === '' ? asked : `${asked}?${query}`,
      question: { operation, ...ids, parameters },
    }
  })
}

// --- texts

const integers = (least: number, most: number, ...usual: number[]): Texts =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...[least, most, ...usual].map(String)) },
    { weight: 3, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }).map(String) },
    { weight: 1, arbitrary: fc.integer({ min: least, max: most }).map((value) => `00${value}`) },
  )
const MOST = 2_147_483_647
const page = maybe('page', integers(1, MOST, 1, 1, 2, 2, 3))
const perPage = maybe(
  'per_page',
  integers(1, MOST, 1, 2, 7, 19, 20, 50, 99, 100, 101, 499, 500, 501, 1000, 1001),
)
const order = maybe('order', fc.constantFrom('asc', 'desc'))
const booleans = fc.constantFrom('true', 'false', '1', '0', 'False', 'True', 'TRUE', 'fALSE')
const latest = all(
  maybe('has', someOf(Object.keys(MEASURE_OF)), 2),
  maybe(
    'max_age',
    fc.constantFrom('1', '60', '3600s', '45m', '2h', '24h', '86400', '3d', '40d', '999999999d'),
    2,
  ),
)
const extras = maybe('include', someOf(['wind', 'peak_period', 'swell', 'weather']), 2)
const ZONES = [
  ...'UTC Europe/Paris America/St_Johns Asia/Kathmandu Etc/GMT+5 Etc/GMT-14'.split(' '),
  ...'Africa/Casablanca Asia/Beirut America/Havana Australia/Lord_Howe'.split(' '),
  ...'Antarctica/Troll Pacific/Chatham'.split(' '),
]
const timezone = maybe('timezone', fc.constantFrom(...ZONES))
const buckets = fc.oneof(
  { weight: 6, arbitrary: none },
  {
    weight: 4,
    arbitrary: all(
      given('bucket', fc.constantFrom('1h', '3h', '1d', '1mo', 'hour', 'day', 'month')),
      maybe('aggregation', fc.constantFrom('mean', 'avg', 'max', 'min', 'median'), 8),
    ),
  },
)
/** `auto` is a zone of one buoy alone. */
const zoneOfRows = maybe('timezone', fc.constantFrom(...ZONES, 'auto'))

// --- places

function turned(lng: number): number {
  if (lng > 180) return lng - 360
  return lng < -180 ? lng + 360 : lng
}
const round6 = (value: number): number => Number(value.toFixed(6))
const degreeText = fc.constantFrom<((value: number) => string)[]>(
  String,
  String,
  (value) => (Number.isInteger(value) ? `${value}.000` : `${value}00`),
  (value) => (value === 0 ? '-0' : String(value)),
  (value) => (value < 0 ? String(value) : `0${value}`),
)

function placesOf(places: readonly Place[]) {
  const known = fc.constantFrom(...places)
  const off = fc.integer({ min: -900, max: 900 })
  const near = fc.tuple(known, off, off).map(([{ lat, lng }, north, east]) => ({
    lat: round6(Math.max(-90, Math.min(90, lat + north / 1000))),
    lng: round6(turned(lng + east / 1000)),
  }))
  const edges = [
    ...[0, -180].map((lng) => ({ lat: 90, lng })),
    ...[180, -180, 0, -140].map((lng) => ({ lat: 0, lng })),
    ...[179.999, -179.999].map((lng) => ({ lat: -17, lng })),
    { lat: -90, lng: 77 },
  ]
  const anywhere = fc
    .tuple(fc.integer({ min: -90_000, max: 90_000 }), fc.integer({ min: -180_000, max: 180_000 }))
    .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 }))
  const somewhere = fc.oneof(
    { weight: 3, arbitrary: known },
    { weight: 5, arbitrary: near },
    fc.constantFrom(...edges),
    { weight: 2, arbitrary: anywhere },
  )
  const written = fc
    .tuple(somewhere, degreeText, degreeText)
    .map(([{ lat, lng }, write, other]) => ({ lat: write(lat), lng: other(lng) }))
  const position: Parts = fc
    .tuple(written, fc.constantFrom(...WRITERS))
    .map(([place, write]) =>
      Object.entries(place).map(([name, value]) => ({ name, raw: `${name}=${write(value)}`, value })),
    )
  return { known, near, written, position }
}

/** The two ways to ask for a box, which exclude each other. */
function boxesOf({ known, near }: ReturnType<typeof placesOf>) {
  // A map that was dragged round the globe sends longitudes beyond 180.
  const dragged = fc
    .tuple(known, fc.constantFrom(-360, 360, 720))
    .map(([{ lat, lng }, turn]) => ({ lat, lng: round6(lng + turn) }))
  const beyond = fc
    .tuple(fc.integer({ min: -95_000, max: 95_000 }), fc.integer({ min: -400_000, max: 400_000 }))
    .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 }))
  const round = fc
    .tuple(fc.constantFrom(-100, -90, 0, 90, 91), fc.constantFrom(-540, -360, -180, 0, 180, 360, 540))
    .map(([lat, lng]) => ({ lat, lng }))
  const edge = fc.oneof({ weight: 2, arbitrary: known }, dragged, near, beyond, round)
  const corners = fc.tuple(edge, edge, fc.boolean()).map(([one, other, ordered]) => {
    const [south, north] = [one.lat, other.lat].toSorted((a, b) => a - b)
    const [west, east] = ordered && one.lng > other.lng ? [other.lng, one.lng] : [one.lng, other.lng]
    return { south, west, north, east }
  })
  const square = fc.tuple(edge, fc.integer({ min: 0, max: 40_000 })).map(([centre, half]) => ({
    south: round6(centre.lat - half / 1000),
    west: round6(centre.lng - half / 1000),
    north: round6(centre.lat + half / 1000),
    east: round6(centre.lng + half / 1000),
  }))
  const boxes = fc.oneof(corners, square)
  const bbox = boxes.map(({ west, south, east, north }) => [west, south, east, north].join())
  const bounds = fc.tuple(boxes, fc.boolean(), fc.boolean()).map(([box, isTurned, isSpaced]) => {
    const sides = Object.entries(box)
    const text = JSON.stringify(
      Object.fromEntries(isTurned ? sides.toReversed() : sides),
      null,
      isSpaced ? 1 : 0,
    )
    return text.replaceAll('\n', ' ')
  })
  return {
    bounds,
    box: fc.oneof(
      { weight: 4, arbitrary: maybe('bounds', bounds) },
      { weight: 4, arbitrary: maybe('bbox', bbox) },
      all(given('bounds', bounds), given('bbox', bbox)),
    ),
  }
}

// --- times

const iso = (epoch: number): string => new Date(epoch * 1000).toISOString().slice(0, 19)
function offsetIso(epoch: number, minutes: number): string {
  const two = (value: number) => String(Math.trunc(value)).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `${iso(epoch + minutes * 60)}${minutes < 0 ? '-' : '+'}${two(ahead / 60)}:${two(ahead % 60)}`
}
const TIME_TEXTS: ((epoch: number) => string)[] = [
  (epoch) => `${iso(epoch)}Z`,
  (epoch) => `${iso(epoch)}Z`,
  (epoch) => `${iso(epoch)}.500Z`,
  (epoch) => offsetIso(epoch, 120),
  (epoch) => offsetIso(epoch, -210),
  (epoch) => offsetIso(epoch, 0),
  (epoch) => iso(epoch).slice(0, 10),
]
/** Relative to the snapshot's time. */
const MOVING = ['now', 'now-90m', 'now-24h', 'now-7d', 'now-40d', 'now+3d', 'now+72h']

function timesOf({ asOf, buoys, forecasts }: World, readings: fc.Arbitrary<number>) {
  const moments = fc.oneof(
    { weight: 3, arbitrary: readings },
    fc.integer({ min: asOf - 70 * DAY, max: asOf + DAY }),
    fc.integer({ min: asOf - 3 * DAY, max: asOf }),
  )
  const written = (some: fc.Arbitrary<number>): Texts =>
    fc.tuple(some, fc.constantFrom(...TIME_TEXTS)).map(([epoch, write]) => write(epoch))
  const near = fc.tuple(moments, fc.constantFrom(-1, 0, 0, 1, 3600)).map(([epoch, shift]) => epoch + shift)
  const text = fc.oneof({ weight: 6, arbitrary: written(near) }, fc.constantFrom(...MOVING))
  const hours = forecasts.flatMap(({ rows }) => rows.map(({ time }) => time))
  // Of the conditions: where a reading becomes stale or too old, and where a forecast has its hours and ends.
  const sea = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(asOf, ...hours),
        readings,
        fc.integer({ min: asOf - 6 * DAY, max: asOf + 9 * DAY }),
      ),
      fc.constantFrom(0, 0, -1, 1, 1800, -DAY, DAY, -DAY - 1, DAY + 1),
    )
    .map(([epoch, shift]) => epoch + shift)
  const ofSpectra = buoys.flatMap(({ spectra = [] }) => spectra.map(({ time }) => time))
  const spectra = fc
    .tuple(ofSpectra.length === 0 ? moments : fc.constantFrom(...ofSpectra), fc.constantFrom(-1, 0, 0, 1))
    .map(([epoch, shift]) => epoch + shift)
  return {
    moments,
    text,
    written,
    spectra,
    sea: written(sea),
    day: moments.map((epoch) => iso(epoch).slice(0, 10)),
  }
}

const asked = (operation: Operation, url: string): ApiRequest => {
  const { pathname, searchParams } = new URL(url, 'http://host')
  const [, buoyId] = /^\/buoys\/([^/]+)/.exec(pathname) ?? []
  return { url, question: { operation, buoyId, parameters: new Map(searchParams) } }
}

/** Asked in every run of a made-up world, since chance finds them too seldom. */
export const ALWAYS: { readonly [operation in Operation]?: readonly ApiRequest[] } = {
  readings: [
    asked('readings', '/buoys/nice/readings?bucket=1mo'),
    asked('readings', '/buoys/half-without-waves/readings?rows=all&include=weather,wind&per_page=100'),
    asked('readings', '/buoys/half-without-waves/readings?rows=all&bucket=1h'),
    asked('readings', '/buoys/wind-only/readings?rows=all&include=wind&order=asc'),
  ],
  detail: ['half-without-waves', 'wind-tail', 'wind-only', 'never-spoke'].map((slug) =>
    asked('detail', `/buoys/${slug}?include=weather`),
  ),
  conditions: [asked('conditions', '/conditions?lat=33.2&lng=-75&include=weather,model&time=now')],
  // The longest text that is searched for in other spellings, and one that is longer.
  search: [62, 63].map((waves) =>
    asked('search', `/buoys/search?query=tw${encodeURIComponent('🌊'.repeat(waves))}in`),
  ),
  chart: [
    asked(
      'chart',
      '/buoys/east-hatteras/readings/chart?start_date=now-31d&end_date=now&include=measures,swell,weather',
    ),
  ],
}

export function requestsFor(world: World): { [operation in Operation]: fc.Arbitrary<ApiRequest> } {
  const buoys = knownBuoys(world)
  const buoy = fc.constantFrom(...buoys)
  const spoken = buoys.filter(({ newest }) => newest !== null)
  // Of years, over which clocks change and days leap.
  const long = spoken.filter(({ readings }) => readings[0].time < world.asOf - YEAR)
  const often = long.length === 0 ? spoken : long
  const withSpectra = buoys.filter(({ record }) => record.spectra !== undefined)
  const reading = fc
    .oneof({ weight: 3, arbitrary: fc.constantFrom(...spoken) }, fc.constantFrom(...often))
    .chain((one) => fc.nat(one.readings.length - 1).map((i) => ({ one, time: one.readings[i].time })))
  const places = placesOf(buoys)
  const { bounds, box } = boxesOf(places)
  const times = timesOf(
    world,
    reading.map(({ time }) => time),
  )

  const slugOrId = (among: readonly Known[]): Texts =>
    fc.constantFrom(...among).chain((one) => fc.constantFrom(String(one.id), one.slug))
  const paths = (tail: string, among = buoys): Path =>
    fc
      .oneof({ weight: 9, arbitrary: slugOrId(among) }, fc.constantFrom(...STRANGE_IDS))
      .map((id) => ({ path: `/buoys/${id}${tail}`, buoyId: id }))

  const near = all(
    given(
      'near',
      places.written.map(({ lat, lng }) => `${lat},${lng}`),
    ),
    maybe('radius', integers(1, 20_100, 1, 5, 50, 100, 500, 5000, 10_007, 20_015), 7),
    maybe('bounds', bounds, 2),
  )
  const sources = world.sources.map(({ name }) => name)
  const owners = all(
    maybe('source', fc.constantFrom(...sources, ...sources.flatMap(otherNames), ...FOREIGN_NAMES), 2),
    maybe('country', fc.constantFrom(...COUNTRIES), 2),
  )
  const filters = all(fc.oneof({ weight: 3, arbitrary: box }, near), owners, latest)
  const ids = idsOf(buoys.length)

  const range = fc.oneof(
    { weight: 3, arbitrary: ranges(times.text, world.asOf) },
    given('start_date', times.text, TIME_WRITERS),
    given('end_date', times.text, TIME_WRITERS),
    given('date', times.day),
    none,
    longest(times.moments),
    // At most one of these can be meant.
    all(given('start_date', times.text, TIME_WRITERS), given('date', times.day)),
  )
  const stamp = fc
    .tuple(times.moments, fc.constantFrom(-5400, -5401, 0, 5400, 5401))
    .map(([epoch, shift]) => String(epoch + shift))
  const rangeOfOne = fc.oneof(
    { weight: 6, arbitrary: range },
    given('timestamp', stamp),
    all(given('timestamp', stamp), given('date', times.day)),
  )
  const rows = all(order, page, perPage, extras, buckets, zoneOfRows)
  const closest = fc
    .tuple(times.moments, fc.constantFrom(-1440, -61, 0, 0, 1, 30, 181))
    .map(([epoch, minutes]) => {
      const text = iso(epoch + minutes * 60)
      return [
        { name: 'date', raw: `date=${text.slice(0, 10)}`, value: text.slice(0, 10) },
        { name: 'time', raw: `time=${text.slice(11, 16)}`, value: text.slice(11, 16) },
      ]
    })
  const spotId = fc.constantFrom('4711', ...world.spots.map(({ id }) => String(id)))
  const place = fc.oneof(
    { weight: 6, arbitrary: places.position },
    { weight: 2, arbitrary: given('buoy', fc.oneof(slugOrId(buoys), fc.constant('nowhere'))) },
    given('spot_id', spotId),
    all(places.position, given('spot_id', spotId)),
    places.position.map((list) => list.slice(0, 1)),
  )

  const parts: { readonly [operation in Operation]: readonly [path: Path | string, ...parts: Parts[]] } = {
    list: ['/buoys', filters, maybe('active_only', booleans), extras, page, perPage],
    detail: [paths(''), maybe('include', someOf(['wind', 'peak_period', 'swell', 'weather', 'available']))],
    last_readings: ['/buoys/last_readings', ids, maybe('limit', integers(1, 100, 3, 50, 99))],
    search: [
      '/buoys/search',
      given('query', searchTexts(buoy)),
      maybe('limit', integers(1, 50, 1, 2, 10, 49)),
    ],
    nearest: [
      '/buoys/nearest',
      places.position,
      maybe(
        'max_distance',
        fc.oneof(
          fc.constantFrom(...DISTANCES),
          fc.nat(300_000).map((km) => (km / 100).toFixed(2)),
        ),
      ),
      maybe('limit', integers(1, 20, 1, 2, 3, 5, 20)),
      latest,
      extras,
    ],
    readings: [
      fc.oneof({ weight: 3, arbitrary: paths('/readings') }, paths('/readings', often)),
      rangeOfOne,
      rows,
      maybe('rows', fc.constantFrom('all', 'all', 'readings'), 3),
    ],
    readings_of: ['/readings', filters, fc.oneof(none, none, ids), range, rows],
    readings_search: [
      paths('/readings/search'),
      closest,
      maybe('tolerance_hours', integers(1, 24, 1, 3, 12, 24)),
      extras,
    ],
    reading: [readingPaths(reading, buoy), extras],
    chart: [
      paths('/readings/chart', spoken),
      maybe('optimized', booleans, 2),
      maybe('debug', booleans, 2),
      maybe('include', someOf(['measures', 'swell', 'weather'])),
      fc.oneof(none, { weight: 3, arbitrary: chartRanges(times.text) }),
    ],
    series: seriesParts(paths, buoys),
    conditions: [
      '/conditions',
      places.position,
      given('time', times.sea, TIME_WRITERS),
      maybe('spot_id', spotId, 3),
      maybe('include', someOf(['model', 'weather'])),
    ],
    forecast: [
      '/forecast',
      place,
      given('start', times.sea, TIME_WRITERS),
      maybe('hours', integers(1, 240, 1, 24, 72)),
    ],
    tides: [
      '/tides',
      place,
      given('start', times.sea, TIME_WRITERS),
      maybe('days', integers(1, 400, 1, 7, 30, 31)),
      zoneOfRows,
    ],
    spectra: [
      paths('/spectra', withSpectra.length === 0 ? buoys : withSpectra),
      fc.oneof(range, ranges(times.written(times.spectra), world.asOf), none),
      order,
      page,
      perPage,
    ],
    countries: ['/countries'],
    map: ['/buoys/map', box, latest, maybe('active_only', booleans), extras],
    satellites: ['/buoys/satellites', maybe('locale', fc.constantFrom('fr', 'en'))],
    satellite_passes: [
      '/buoys/satellite_passes',
      maybe('mission', fc.constantFrom(...MISSIONS)),
      maybe('active_only', booleans),
      maybe(
        'since',
        fc.oneof(
          times.text,
          times.written(fc.constantFrom(world.asOf, ...world.passes.map(({ started }) => started))),
        ),
      ),
      maybe('limit', integers(1, 100, 20, 99)),
    ],
  }
  return Object.fromEntries(
    Object.entries(parts).map(([operation, [path, ...others]]) => [
      operation,
      requestsOf(operation as Operation, path, ...others),
    ]),
  ) as { [operation in Operation]: fc.Arbitrary<ApiRequest> }
}

/** With and without passes, and some that are none. */
const MISSIONS = 'swot swot sentinel-3a sentinel-3b cryosat-2 jason-3 saral Swot s3a hy-2b 1 __proto__'.split(
  ' ',
)

/** Near misses; what is stranger, `test/api/wire.slow.test.ts` asks of every operation. */
const STRANGE_IDS = [
  ...'0 99999 9007199254740993 1.0 no-such-buoy buoy buoy-9 Twin NORTH-POLE %20 ..%2F1'.split(' '),
  ...'__proto__ constructor'.split(' '),
]
const otherNames = (name: string): string[] => [name.toUpperCase(), name.normalize('NFD').toLowerCase()]
const FOREIGN_NAMES = [
  'meteo-france',
  'Meteo France',
  'meteofrance',
  'ALTIMETRY',
  'ND',
  'NDBCX',
  'No such network',
  'x'.repeat(100),
  '🌊'.repeat(50),
]
const COUNTRIES = ['FR', 'FR', 'US', 'US', 'FJ', 'TR', 'GR', 'AX', 'AQ', 'RE', 'AU', 'ZZ', 'XX', 'MC']
const DISTANCES = ['0', '0.0', '-0', '1', '25.5', '150', '150.5', '5000', '20015.1', '20037.6', '100000']

/** `ids` has spellings of its own. */
function idsOf(count: number): Parts {
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: count + 5 }).map(String) },
    fc.constantFrom('9007199254740991', '99999', '4294967297', '10000000001'),
  )
  const group = fc.tuple(
    fc.constantFrom('ids', 'ids', 'ids[]', 'ids%5B%5D', 'ids%5b%5d'),
    fc.array(id, { minLength: 1, maxLength: 12 }),
    fc.constantFrom(',', ',', '%2C'),
  )
  return fc.array(group, { minLength: 1, maxLength: 3 }).map((groups) => [
    {
      name: 'ids',
      raw: groups.map(([name, list, comma]) => `${name}=${list.join(comma)}`).join('&'),
      value: groups.flatMap(([, list]) => list).join(),
    },
  ])
}

/** Two times, mostly turned round where the later one comes first, so that most ranges are ranges. */
function ranges(text: Texts, asOf: number): Parts {
  const epochOf = (one: string): number =>
    one.startsWith('now') ? asOf + DAY * (Number.parseFloat(one.slice(3)) || 0) : Date.parse(one) / 1000
  return fc.tuple(text, text, fc.integer({ min: 0, max: 9 })).chain(([one, other, dice]) => {
    const isTurned = dice > 0 && epochOf(one) > epochOf(other)
    const [from, to] = isTurned ? [other, one] : [one, other]
    return all(
      given('start_date', fc.constant(from), TIME_WRITERS),
      given('end_date', fc.constant(to), TIME_WRITERS),
    )
  })
}

/** Ranges of as many buckets as there may be, and of a second more. */
const longest = (moments: fc.Arbitrary<number>): Parts =>
  fc.tuple(moments, fc.constantFrom(1, 3, 24, 24 * 28), fc.constantFrom(-1, 0, 1)).map(([end, hours, more]) =>
    [end - 3660 * hours * HOUR - more, end].map((epoch, i) => {
      const [name, value] = [['start_date', 'end_date'][i], `${iso(epoch)}Z`]
      return { name, raw: `${name}=${value}`, value }
    }),
  )

/** Ranges of up to 32 days; 31 are the most. */
function chartRanges(text: Texts): Parts {
  const length = fc.oneof(
    fc.integer({ min: 0, max: 32 * DAY }),
    fc.constantFrom(31 * DAY, 31 * DAY + 1, 31 * DAY - 1, 0),
  )
  return fc
    .tuple(
      text.filter((one) => !one.startsWith('now')),
      length,
    )
    .chain(([start, seconds]) =>
      all(
        given('start_date', fc.constant(start), TIME_WRITERS),
        given('end_date', fc.constant(`${iso(Date.parse(start) / 1000 + seconds)}Z`)),
      ),
    )
}

/** Pieces of names, slugs and identifiers as people type them. */
function searchTexts(buoy: fc.Arbitrary<Known>): Texts {
  const changes: Write[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
    (text) => text.normalize('NFD'),
    (text) => text.normalize('NFD').replaceAll(/\p{M}/gu, ''),
    (text) => `  ${text} `,
  ]
  const piece = fc
    .tuple(
      buoy.chain((one) => fc.constantFrom(one.record.name, one.slug, one.record.identifier)),
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: 2, max: 12 }),
      fc.constantFrom(...changes),
    )
    .map(([text, from, length, change]) =>
      change(
        Array.from(text)
          .slice(from, from + length)
          .join(''),
      ),
    )
    // Marks without their letter fold to nothing, and what nothing matches is not defined.
    .filter((text) => {
      const trimmed = text.trim()
      const bare = trimmed.normalize('NFD').replaceAll(/\p{M}/gu, '')
      return Array.from(trimmed).length >= 2 && bare.trim().length === bare.length && bare.length > 0
    })
  const words = 'twin sea bank zz 🌊🌊 "q \\n %% <s && -2 41001 06403 İS ss'.split(' ')
  return fc.oneof({ weight: 6, arbitrary: piece }, fc.constantFrom(...words, '  île  ', 'x'.repeat(100)))
}

function readingPaths(reading: fc.Arbitrary<{ one: Known; time: number }>, buoy: fc.Arbitrary<Known>): Path {
  const hex = (value: number): string => value.toString(16).padStart(12, '0')
  const uuid = (id: number, time: number): string =>
    `${hex(time).slice(0, 8)}-${hex(time).slice(8)}-8000-8000-${hex(id)}`
  return fc
    .tuple(reading, buoy, fc.nat(7), fc.constantFrom(...STRANGE_IDS))
    .map(([{ one, time }, other, way, strange]) => {
      const id = one.id * 10 ** 10 + time
      const ways = [
        id,
        id,
        uuid(one.id, time),
        uuid(one.id, time),
        uuid(other.id, time),
        id + 1,
        time,
        strange,
      ]
      const buoyId = time % 2 === 0 ? String(one.id) : one.slug
      const readingId = String(ways[way])
      return { path: `/buoys/${buoyId}/readings/${readingId}`, buoyId, readingId }
    })
}

/** Slugs of the world's buoys with long histories, odd values and rows without waves. */
const OF_SERIES = 'nice cabrillo-point riviere-des-galets nickerson-bank compass-rose half-without-waves'
const IMPOSSIBLE_DAYS = ['2/30', '4/31', '6/31', '11/31']
const EDGES_OF_SEASONS = [
  { month: 2, day: 28 },
  { month: 2, day: 29 },
  { month: 3, day: 1 },
  { month: 1, day: 1 },
  { month: 12, day: 31 },
]

function seriesParts(
  paths: (tail: string, among?: Known[]) => Path,
  buoys: readonly Known[],
): [Path, ...Parts[]] {
  const written = (values: { [name: string]: number | string }): Part[] =>
    Object.entries(values).map(([name, value]) => ({ name, raw: `${name}=${value}`, value: String(value) }))
  const day = fc.oneof(
    fc.record({ month: fc.integer({ min: 1, max: 12 }), day: fc.integer({ min: 1, max: 29 }) }),
    fc.record({ month: fc.constantFrom(1, 3, 5, 7, 8, 10, 12), day: fc.constantFrom(30, 31) }),
    fc.constantFrom(...EDGES_OF_SEASONS),
  )
  const season: Parts = fc
    .tuple(day, day, fc.constantFrom('', 'season_'))
    // A season from 29 February to itself is one day in leap years and none in others.
    .filter(([start, end]) => ![start, end].every(({ month, day: one }) => month === 2 && one === 29))
    .map(([start, end, prefix]) =>
      written({
        [`${prefix}start_month`]: start.month,
        [`${prefix}start_day`]: start.day,
        [`${prefix}end_month`]: end.month,
        [`${prefix}end_day`]: end.day,
      }),
    )
  const impossible = fc.constantFrom(...IMPOSSIBLE_DAYS).map((text) => {
    const [month, one] = text.split('/')
    return written({ start_month: month, start_day: one })
  })
  const year = fc.integer({ min: 2012, max: 2027 })
  const years = fc.oneof(
    none,
    fc
      .tuple(year, fc.integer({ min: -1, max: 14 }))
      .map(([from, more]) => written({ start_year: from, end_year: from + more })),
    year.map((end) => written({ end_year: end })),
    fc.integer({ min: 2012, max: 2026 }).map((start) => written({ start_year: start })),
  )
  const long = buoys.filter(({ slug }) => OF_SERIES.split(' ').includes(slug))
  const tail = '/readings/series'
  return [
    long.length === 0 ? paths(tail) : fc.oneof(paths(tail), paths(tail, long)),
    given('metric', fc.constantFrom(...Object.keys(MEASURE_OF).slice(0, -11), ...WEATHER_FIELDS)),
    maybe('bucket', fc.constantFrom('day', '1d', 'week', 'hour', '1h'), 8),
    maybe('aggregation', fc.constantFrom('median', 'avg', 'mean', 'min', 'max'), 8),
    fc.oneof({ weight: 5, arbitrary: none }, { weight: 5, arbitrary: season }, impossible),
    years,
    timezone,
  ]
}
