/**
 * Requests of every operation: well formed ones with a liking for edges, and ones with exactly one thing
 * wrong with them.
 *
 * A request knows what is wrong with it, so the oracle needs no parser of its own.
 */
import * as fc from 'fast-check'
import { failure, knownBuoys } from './oracle.ts'
import type { Answer, Operation, Question } from './oracle.ts'
import type { World } from './world.ts'

export interface ApiRequest {
  /** Below the base path, with the query, ready to send. */
  url: string
  question: Question
  /** What is wrong with it; null for a request that the oracle answers. */
  fault: { status: number; names: string[] } | null
}

/** The answer to a request: the documented error of a faulty one, else what the oracle says. */
export function expected(oracle: (question: Question) => Answer, request: ApiRequest): Answer {
  return request.fault === null
    ? oracle(request.question)
    : failure(request.fault.status, request.fault.names)
}

/** One parameter as it stands in a URL. */
interface Part {
  /** Name as the contract spells it. */
  name: string
  raw: string
  /** The decoded text; undefined when it counts as absent or is ignored. */
  value: string | undefined
}

interface ParameterKind {
  name: string
  valid: fc.Arbitrary<string>
  /** Decoded texts that are malformed or out of range. */
  invalid: fc.Arbitrary<string>
  required?: boolean
  /** Leave it out more often than not. */
  rare?: boolean
  /** Any number of digits is a number to it. */
  unbounded?: boolean
}

// --- how a text is written into a URL

const utf8 = new TextEncoder()
const everyByte = (text: string) =>
  [...utf8.encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
/** As URLSearchParams writes it: a blank is a plus. */
const asForm = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)

const writers = [encodeURIComponent, encodeURIComponent, asForm, everyByte]
const writer = fc.constantFrom(...writers)

const part = (name: string, text: fc.Arbitrary<string>): fc.Arbitrary<Part> =>
  fc.tuple(text, writer).map(([value, write]) => ({ name, raw: `${name}=${write(value)}`, value }))

/** Raw texts that no decoder can accept, for any parameter. */
const broken = fc.constantFrom(
  '%',
  '%4',
  '%ZZ',
  'a%',
  '%C3%28',
  '%FF',
  '%E2%82',
  '%00',
  '1%00',
  '%0A',
  '1%7F',
)

const huge = fc.constantFrom('x'.repeat(10_000), '9'.repeat(10_000), '%31'.repeat(3_300))

function faultyPart(kind: ParameterKind): fc.Arbitrary<Part[]> {
  const { name } = kind
  const raw = (text: string): Part[] => [{ name, raw: `${name}=${text}`, value: undefined }]
  return fc.oneof(
    { weight: 6, arbitrary: part(name, kind.invalid).map((one) => [one]) },
    { weight: 2, arbitrary: broken.map(raw) },
    { weight: 1, arbitrary: (kind.unbounded === true ? fc.constant('x'.repeat(10_000)) : huge).map(raw) },
    {
      weight: 1,
      arbitrary: fc.tuple(part(name, kind.valid), part(name, kind.valid)).map(([one, other]) => [one, other]),
    },
    ...(kind.required === true
      ? [
          {
            weight: 2,
            arbitrary: fc.constantFrom<Part[]>([], raw(''), [{ name, raw: name, value: undefined }]),
          },
        ]
      : []),
  )
}

const validPart = (kind: ParameterKind): fc.Arbitrary<Part[]> => {
  const present = part(kind.name, kind.valid).map((one) => [one])
  if (kind.required === true) return present
  const nothing = fc.constantFrom<Part[]>(
    [],
    [],
    [],
    [{ name: kind.name, raw: `${kind.name}=`, value: undefined }],
    [{ name: kind.name, raw: kind.name, value: undefined }],
  )
  return fc.oneof(
    { weight: kind.rare === true ? 1 : 3, arbitrary: present },
    { weight: kind.rare === true ? 5 : 2, arbitrary: nothing },
  )
}

/** Parameters that no operation knows: they change nothing. */
const unknown: fc.Arbitrary<Part[]> = fc.constantFrom(
  ...[
    '',
    '',
    '',
    '',
    '',
    '_=1711526400',
    'foo=bar&foo=baz',
    'Page=x',
    'LIMIT=0',
    'callback=alert%281%29',
    '=x',
    '&&',
  ].map((raw) => (raw === '' ? [] : [{ name: '', raw, value: undefined }])),
)

interface Fault {
  names: string[]
  status: number
}

function assemble(
  operation: Operation,
  path: string,
  parts: Part[],
  ids: { buoyId?: string; readingId?: string },
  fault: Fault | null,
): ApiRequest {
  const parameters = new Map<string, string>()
  for (const { name, value } of parts) if (value !== undefined && value !== '') parameters.set(name, value)
  const query = parts.map((one) => one.raw).join('&')
  return {
    url: query === '' ? path : `${path}?${query}`,
    question: { operation, ...ids, parameters },
    fault,
  }
}

interface OperationKind {
  operation: Operation
  path: fc.Arbitrary<{ path: string; ids: { buoyId?: string; readingId?: string } }>
  kinds: ParameterKind[]
  /** Whole parameter lists that are valid but rarely come about by chance. */
  special?: fc.Arbitrary<Part[]>
  /** Lists that are wrong as a whole: each part alone is well formed. */
  wrong?: fc.Arbitrary<{ parts: Part[]; fault: Fault }>
  malformed: 400 | 422
}

function requestsOf(kind: OperationKind): fc.Arbitrary<ApiRequest> {
  const { operation, kinds, malformed } = kind
  const shuffled = (parts: fc.Arbitrary<Part[]>) =>
    parts.chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
  const parts = (arbitraries: fc.Arbitrary<Part[]>[]) =>
    shuffled(fc.tuple(...arbitraries, unknown).map((lists) => lists.flat()))
  const valid = fc
    .tuple(kind.path, parts(kinds.map(validPart)))
    .map(([{ path, ids }, list]) => assemble(operation, path, list, ids, null))
  const more: fc.WeightedArbitrary<ApiRequest>[] = []
  if (kinds.length > 0) {
    const faulty = fc
      .constantFrom(...kinds)
      .chain((bad) =>
        fc
          .tuple(kind.path, parts(kinds.map((one) => (one === bad ? faultyPart(one) : validPart(one)))))
          .map(([{ path, ids }, list]) =>
            assemble(operation, path, list, ids, { names: [bad.name], status: malformed }),
          ),
      )
    more.push({ weight: 3, arbitrary: faulty })
  }
  if (kind.special !== undefined) {
    const special = fc
      .tuple(kind.path, shuffled(kind.special))
      .map(([{ path, ids }, list]) => assemble(operation, path, list, ids, null))
    more.push({ weight: 3, arbitrary: special })
  }
  if (kind.wrong !== undefined) {
    const wrong = fc
      .tuple(kind.path, kind.wrong)
      .map(([{ path, ids }, { parts, fault }]) => assemble(operation, path, parts, ids, fault))
    more.push({ weight: 1, arbitrary: wrong })
  }
  return fc.oneof({ weight: 9, arbitrary: valid }, ...more)
}

// --- texts of the kinds of parameter

const notNumbers = [
  ' 5',
  '5 ',
  '+5',
  '1e2',
  '0x10',
  '5.',
  '.5',
  'NaN',
  'Infinity',
  '1,5',
  '--5',
  '-',
  '٣',
  '１',
  'null',
  'abc',
]

/** More than any number type holds exactly. */
const MANY_DIGITS = '9'.repeat(23)

function integers(
  least: number,
  most: number,
  usual: number[],
  outside: (number | string)[],
): {
  valid: fc.Arbitrary<string>
  invalid: fc.Arbitrary<string>
} {
  return {
    valid: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...[least, most, ...usual].map(String)) },
      { weight: 3, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }).map(String) },
      { weight: 1, arbitrary: fc.integer({ min: least, max: most }).map((value) => `00${value}`) },
    ),
    invalid: fc.constantFrom(...notNumbers, '1.0', '2.5', ...outside.map(String), '-1'),
  }
}

const booleans = {
  valid: fc.constantFrom('true', 'false', '1', '0', 'False', 'True', 'TRUE', 'fALSE'),
  invalid: fc.constantFrom('yes', 'no', '2', '-1', 'truee', ' true', 'on', 'null'),
}

const page: ParameterKind = {
  name: 'page',
  ...integers(1, 2_147_483_647, [1, 1, 2, 2, 3], [0, 2_147_483_648, MANY_DIGITS]),
}

const decimal = (least: number, most: number, digits: number) =>
  fc
    .integer({ min: Math.ceil(least * 10 ** digits), max: Math.floor(most * 10 ** digits) })
    .map((value) => (value / 10 ** digits).toFixed(digits))

/** A control character, somewhere in the text. */
const withControl = fc
  .tuple(
    fc.constantFrom('ab', 'Nice', ''),
    fc.constantFrom('\0', '\n', '\r', '\t', '\u001F', '\u007F'),
    fc.constant('cd'),
  )
  .map((pieces) => pieces.join(''))

const turnLongitude = (lng: number) => (lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng)
const round6 = (value: number) => Number(value.toFixed(6))

/** Every operation's requests over one world. */
export function requestsFor(world: World): { [operation in Operation]: fc.Arbitrary<ApiRequest> } {
  const buoys = knownBuoys(world)
  const places = buoys.map(({ record }) => ({ lat: record.lat, lng: record.lng }))
  const buoy = fc.constantFrom(...buoys)

  const nearBuoy = fc
    .tuple(
      fc.constantFrom(...places),
      fc.integer({ min: -900, max: 900 }),
      fc.integer({ min: -900, max: 900 }),
    )
    .map(([place, north, east]) => ({
      lat: round6(Math.max(-90, Math.min(90, place.lat + north / 1000))),
      lng: round6(turnLongitude(place.lng + east / 1000)),
    }))
  const somewhere = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...places) },
    { weight: 5, arbitrary: nearBuoy },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { lat: 90, lng: 0 },
        { lat: 90, lng: -180 },
        { lat: -90, lng: 77 },
        { lat: 0, lng: 180 },
        { lat: 0, lng: -180 },
        { lat: -17, lng: -179.999 },
        { lat: -17, lng: 179.999 },
        { lat: 0, lng: 0 },
        { lat: 0, lng: -140 },
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: -90_000, max: 90_000 }), fc.integer({ min: -180_000, max: 180_000 }))
        .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 })),
    },
  )
  const degreeText = fc.constantFrom(
    (value: number) => String(value),
    (value: number) => String(value),
    (value: number) => (Number.isInteger(value) ? `${value}.000` : `${value}00`),
    (value: number) => (value === 0 ? '-0' : String(value)),
    (value: number) => (value < 0 ? String(value) : `0${value}`),
  )
  const latitude = fc.tuple(somewhere, degreeText).map(([place, text]) => text(place.lat))
  const badLatitude = fc.constantFrom(...notNumbers, '90.0000001', '-90.5', '91', '1000', '43,4')
  const badLongitude = fc.constantFrom(...notNumbers, '180.0000001', '-181', '360', '1000')

  // --- bounds

  const boxText = (box: { [side: string]: unknown }) => JSON.stringify(box)
  const anyOrder = fc.constantFrom(
    ['south', 'west', 'north', 'east'],
    ['north', 'south', 'east', 'west'],
    ['east', 'north', 'west', 'south'],
  )
  const edge = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...places) },
    // A map that was dragged round the globe sends longitudes beyond 180.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...places), fc.constantFrom(-360, 360, 720))
        .map(([place, turn]) => ({ lat: place.lat, lng: round6(place.lng + turn) })),
    },
    { weight: 2, arbitrary: nearBuoy },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: -95_000, max: 95_000 }), fc.integer({ min: -400_000, max: 400_000 }))
        .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(-100, -90, 0, 90, 91), fc.constantFrom(-540, -360, -180, 0, 180, 360, 540))
        .map(([lat, lng]) => ({ lat, lng })),
    },
  )
  const corners = fc.tuple(edge, edge, fc.boolean()).map(([one, other, ordered]) => {
    const [south, north] = one.lat <= other.lat ? [one.lat, other.lat] : [other.lat, one.lat]
    const [west, east] = ordered && one.lng > other.lng ? [other.lng, one.lng] : [one.lng, other.lng]
    return { south, west, north, east }
  })
  const square = fc.tuple(edge, fc.integer({ min: 0, max: 40_000 })).map(([centre, half]) => ({
    south: round6(centre.lat - half / 1000),
    west: round6(centre.lng - half / 1000),
    north: round6(centre.lat + half / 1000),
    east: round6(centre.lng + half / 1000),
  }))
  const bounds: ParameterKind = {
    name: 'bounds',
    valid: fc.tuple(fc.oneof(corners, square), anyOrder, fc.boolean()).map(([box, order, spaced]) => {
      const sorted = Object.fromEntries(order.map((side) => [side, box[side]]))
      return spaced ? JSON.stringify(sorted, null, 1).replaceAll('\n', ' ') : boxText(sorted)
    }),
    invalid: fc.oneof(
      fc.constantFrom(
        '[]',
        'null',
        '5',
        '""',
        'true',
        '{}',
        '{',
        'north=1',
        '43,-2,44,-1',
        '{"north":1,"south":0,"east":1}',
        '{"north":"1","south":0,"east":1,"west":0}',
        '{"north":null,"south":0,"east":1,"west":0}',
        '{"north":[1],"south":0,"east":1,"west":0}',
        '{"north":NaN,"south":0,"east":1,"west":0}',
        '{"north":1,"south":0,"east":1,"west":0}}',
        "{'north':1,'south':0,'east':1,'west':0}",
        '{"north":1e999,"south":0,"east":1,"west":0}',
        '[[1,0],[1,0]]',
        '{"NORTH":1,"SOUTH":0,"EAST":1,"WEST":0}',
        '{"north":1,"south":2,"east":1,"west":0}',
      ),
      corners
        .filter((box) => box.south < box.north && box.south < 90 && box.north > -90)
        .map((box) => boxText({ ...box, south: box.north, north: box.south })),
    ),
    rare: true,
  }

  // --- lists

  const near: ParameterKind = {
    name: 'near',
    valid: fc
      .tuple(somewhere, degreeText, degreeText)
      .map(([place, lat, lng]) => `${lat(place.lat)},${lng(place.lng)}`),
    invalid: fc.constantFrom(
      '43.4',
      '43.4,',
      ',',
      '43.4,-1.6,5',
      '43.4, -1.6',
      '91,0',
      '0,181',
      '-90.1,0',
      'a,b',
      '43.4;-1.6',
      '1e1,0',
    ),
  }
  const radius: ParameterKind = {
    name: 'radius',
    ...integers(1, 20_100, [1, 5, 50, 100, 500, 5000, 10_007, 20_015], [0, 20_101, 100_000, MANY_DIGITS]),
  }
  const sourceNames = world.sources.map((source) => source.name)
  const source: ParameterKind = {
    name: 'source',
    valid: fc.oneof(
      fc.constantFrom(...sourceNames),
      fc.constantFrom(...sourceNames.map((name) => name.toUpperCase())),
      fc.constantFrom(...sourceNames.map((name) => name.normalize('NFD').toLowerCase())),
      fc.constantFrom(
        'ndbc',
        'meteo-france',
        'METEO-FRANCE',
        'Meteo France',
        'meteofrance',
        'ALTIMETRY',
        'ND',
        'NDBCX',
        'No such network',
        'x'.repeat(100),
        '🌊'.repeat(50),
      ),
    ),
    invalid: fc.oneof(withControl, fc.constantFrom('x'.repeat(101), 'é'.repeat(101))),
    rare: true,
  }
  const country: ParameterKind = {
    name: 'country',
    valid: fc.constantFrom(
      'FR',
      'FR',
      'US',
      'US',
      'FJ',
      'TR',
      'GR',
      'AX',
      'AQ',
      'RE',
      'AU',
      'ZZ',
      'XX',
      'MC',
    ),
    invalid: fc.constantFrom('fr', 'Fr', 'FRA', 'F', 'F1', 'FR,US', ' FR', 'ФР', 'France'),
    rare: true,
  }
  const activeOnly: ParameterKind = { name: 'active_only', ...booleans }
  const perPage: ParameterKind = {
    name: 'per_page',
    ...integers(1, 2_147_483_647, [1, 2, 7, 50, 100, 101, 499, 500, 501, 1000], [0, -5]),
    unbounded: true,
  }
  const nothing = fc.constant({ path: '', ids: {} })
  const at = (path: string) => nothing.map((one) => Object.assign(one, { path }))

  const has: ParameterKind = {
    name: 'has',
    valid: fc
      .array(fc.constantFrom(...METRIC_WORDS), { minLength: 1, maxLength: 3 })
      .map((words) => words.join()),
    invalid: fc.constantFrom(
      'wind',
      'Period',
      'period,',
      ',period',
      'period,,period',
      'period, direction',
      '1',
      'water_temperature,foo',
      Array(100).fill('period').join(),
    ),
    rare: true,
  }
  const noAges = '0|-1|1e99|NaN|1.5h|2 h|h|2H|2w|01|+1|0h|PT2H|9999999999|1000000000s'
  const maxAge: ParameterKind = {
    name: 'max_age',
    valid: fc.constantFrom('1', '60', '3600s', '45m', '2h', '24h', '86400', '3d', '40d', '999999999d'),
    invalid: fc.constantFrom(...noAges.split('|')),
    rare: true,
  }
  const include = (...words: string[]): ParameterKind => ({
    name: 'include',
    valid: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((some) => some.join()),
    invalid: fc.constantFrom('readings', 'Wind', 'wind,', 'wind_speed', 'wind, peak_period', 'all', 'true'),
    rare: true,
  })
  const extras = include('wind', 'peak_period')
  const listKinds = [bounds, source, country, activeOnly, has, maxAge, extras, page, perPage]
  const special = fc
    .tuple(
      part('near', near.valid),
      fc.option(part('radius', radius.valid), { nil: null }),
      validPart(bounds),
      validPart(source),
      validPart(activeOnly),
      validPart({ ...page, rare: true }),
      validPart({ ...perPage, rare: true }),
    )
    .map(([first, second, ...rest]) => [first].concat(second ?? [], rest.flat()))

  // `near` belongs to valid lists only by `special`; here it is made wrong, with or without a radius.
  const wrongNear = fc.oneof(
    faultyPart(near).map((parts) => ({ parts, fault: { names: ['near'], status: 400 } })),
    fc
      .tuple(part('near', near.valid), faultyPart(radius))
      .map(([first, rest]) => ({ parts: [first, ...rest], fault: { names: ['radius'], status: 400 } })),
  )

  // --- paths

  const slugOrId = buoy.chain((one) => fc.constantFrom(String(one.id), one.slug))
  const strangeIds = [
    '0',
    '-1',
    '99999',
    '9007199254740993',
    '99999999999999999999999999',
    '1.0',
    '1e0',
    'no-such-buoy',
    'buoy',
    'buoy-9',
    'Twin',
    'NORTH-POLE',
    '%20',
    '%00',
    '%ZZ',
    '%FF',
    '..%2F1',
    "1'--",
    '%3Cscript%3E',
    '$',
    'a'.repeat(5000),
    'undefined',
    'null',
    'NaN',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '%F0%9F%8C%8A',
  ]
  const unknownPath = fc.constantFrom(...strangeIds)
  // No buoy has a broken or foreign id; where the contract's oracle can look for it, it does.
  const buoyPath = (tail: string) =>
    fc.oneof(
      { weight: 9, arbitrary: slugOrId.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } })) },
      {
        weight: 1,
        arbitrary: unknownPath.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } })),
      },
    )
  const knownPath = (tail: string) =>
    slugOrId.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } }))

  // --- search

  const cut = fc
    .tuple(
      buoy.chain((one) => fc.constantFrom(one.record.name, one.slug, one.record.identifier)),
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: 2, max: 12 }),
      fc.constantFrom(
        (text: string) => text,
        (text: string) => text.toUpperCase(),
        (text: string) => text.toLowerCase(),
        (text: string) => text.normalize('NFD'),
        (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, ''),
        (text: string) => `  ${text} `,
      ),
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
  const query: ParameterKind = {
    name: 'query',
    required: true,
    valid: fc.oneof(
      { weight: 6, arbitrary: cut },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(
            'twin',
            'sea',
            'bank',
            'zz',
            'x'.repeat(100),
            '🌊🌊',
            '  île  ',
            '"q',
            '\\n',
            '%%',
            '<s',
            '&&',
            '-2',
            '41001',
            '06403',
            'İS',
            'ß',
            'ss',
          )
          .filter((text) => Array.from(text.trim()).length >= 2),
      },
    ),
    invalid: fc.oneof(
      withControl.map((text) => `a${text}`),
      fc.constantFrom('a', ' a ', '  ', '🌊', 'é', 'x'.repeat(101), '🌊'.repeat(101)),
    ),
  }

  // --- last_readings: `ids` has spellings of its own

  const idText = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: buoys.length + 5 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom('9007199254740991', '99999', '4294967297', '10000000001') },
  )
  const idGroup = fc.tuple(
    fc.constantFrom('ids', 'ids', 'ids[]', 'ids%5B%5D', 'ids%5b%5d'),
    fc.array(idText, { minLength: 1, maxLength: 12 }),
    fc.constantFrom(',', ',', '%2C'),
  )
  const idsOf = (groups: [string, string[], string][]): Part[] => [
    {
      name: 'ids',
      raw: groups.map(([name, list, comma]) => `${name}=${list.join(comma)}`).join('&'),
      value: groups.flatMap(([, list]) => list).join(','),
    },
  ]
  const limitThree: ParameterKind = {
    name: 'limit',
    ...integers(1, 100, [3, 50, 99], [0, 101, 1000, MANY_DIGITS]),
  }
  const goodIds = fc.array(idGroup, { minLength: 1, maxLength: 3 }).map(idsOf)
  const badIds = fc.oneof(
    fc
      .constantFrom('', 'ids', 'ids=', 'ids[]=', 'id=1')
      .map((raw) => [{ name: 'ids', raw, value: undefined }]),
    fc
      .tuple(
        fc.constantFrom('ids', 'ids[]', 'ids%5B%5D'),
        fc.constantFrom(
          'abc',
          '0',
          '-1',
          '1.0',
          '1.5',
          '1e3',
          '+1',
          '%2B1',
          ' 1',
          '1 ',
          '1,,2',
          ',',
          '1,',
          ',1',
          '1;2',
          '9007199254740992',
          '9007199254740993',
          '1'.repeat(40),
          '0x1',
          'NaN',
          '[1,2]',
          '%31%00',
          '%',
          '%ZZ',
          '41001-east',
          '١',
        ),
      )
      .map(([name, text]) => [
        {
          name: 'ids',
          raw: `${name}=${text.replaceAll(' ', '%20').replaceAll('١', '%D9%A1')}`,
          value: undefined,
        },
      ]),
    fc
      .tuple(fc.constantFrom('abc', '0', '-7', ''), fc.boolean())
      .map(([text, first]) => [
        { name: 'ids', raw: first ? `ids[]=1,${text}&ids[]=2` : `ids=1&ids[]=2,${text}`, value: undefined },
      ]),
    huge.map((text) => [{ name: 'ids', raw: `ids=${text}`, value: undefined }]),
  )
  const faultOf = (name: string) => ({ names: [name], status: 400 })
  const lastReadings: fc.Arbitrary<ApiRequest> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(goodIds, validPart(limitThree), unknown)
        .map((lists) => assemble('last_readings', '/buoys/last_readings', lists.flat(), {}, null)),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(badIds, fc.constantFrom('&limit=100', '&limit=50'))
        .map(([parts, tail]) =>
          assemble(
            'last_readings',
            '/buoys/last_readings',
            [...parts, { name: 'limit', raw: tail.slice(1), value: undefined }],
            {},
            faultOf('ids'),
          ),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(goodIds, faultyPart(limitThree))
        .map((lists) =>
          assemble('last_readings', '/buoys/last_readings', lists.flat(), {}, faultOf('limit')),
        ),
    },
  )

  // --- times

  const iso = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 19)
  const offsetIso = (epoch: number, minutes: number) => {
    const two = (value: number) => String(value).padStart(2, '0')
    const ahead = Math.abs(minutes)
    return `${iso(epoch + minutes * 60)}${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
  }
  const timeTexts: ((epoch: number) => string)[] = [
    (epoch) => `${iso(epoch)}Z`,
    (epoch) => `${iso(epoch)}Z`,
    (epoch) => `${iso(epoch)}.000Z`,
    (epoch) => offsetIso(epoch, 120),
    (epoch) => offsetIso(epoch, -210),
    (epoch) => offsetIso(epoch, 0),
    (epoch) => iso(epoch).slice(0, 10),
  ]
  const readingTimes = fc.oneof(
    buoy
      .filter((one) => one.readings.length > 0)
      .chain((one) => fc.constantFrom(...one.readings))
      .map((row) => row.time),
    fc.integer({ min: world.asOf - 70 * 86_400, max: world.asOf + 86_400 }),
  )
  const timeText = fc
    .tuple(readingTimes, fc.constantFrom(-1, 0, 0, 1, 3600), fc.constantFrom(...timeTexts))
    .map(([epoch, shift, write]) => write(epoch + shift))
  const badTime = fc.constantFrom(
    'yesterday',
    '2026-02-30',
    '2026-13-01T00:00:00Z',
    '2026-00-10',
    '2026-3-1',
    '2026-03-27T25:00:00Z',
    '2026-03-27T10:61:00Z',
    '2026-03-27T10:00:00+25:00',
    '1774602000',
    '27/03/2026',
    '2026-03-27T',
    'T10:00:00Z',
    ' 2026-03-27',
    '2023-02-29T00:00:00Z',
  )
  /** A time whose `+` may stand raw: it is a plus there, not a blank. */
  const timePart = (name: string) =>
    fc
      .tuple(
        timeText,
        fc.constantFrom((text: string) => text, encodeURIComponent, everyByte),
      )
      .map(([value, write]) => ({
        name,
        raw: `${name}=${write(value)}`,
        value,
      }))

  // --- readings of one buoy

  const times = (name: string): ParameterKind => ({ name, valid: timeText, invalid: badTime })
  const dayText = readingTimes.map((epoch) => iso(epoch).slice(0, 10))
  const badDay = fc.constantFrom(
    '2026-02-30',
    '2026-3-1',
    '20260301',
    'today',
    '2026-03-01T00:00:00Z',
    '2026-13-01',
    '0000-00-00',
    ' 2026-03-01',
  )
  const day: ParameterKind = { name: 'date', valid: dayText, invalid: badDay }
  const stamp: ParameterKind = {
    name: 'timestamp',
    valid: fc
      .tuple(readingTimes, fc.constantFrom(-5400, -5401, 0, 5400, 5401))
      .map(([epoch, shift]) => String(epoch + shift)),
    invalid: fc.constantFrom(...notNumbers, '1774602000.5', '2026-03-27T00:00:00Z', '99999999999999999999'),
  }
  const order: ParameterKind = {
    name: 'order',
    valid: fc.constantFrom('asc', 'desc'),
    invalid: fc.constantFrom('ASC', 'up', 'ascending', '1', ' asc'),
  }
  const readingPage: ParameterKind = {
    ...perPage,
    valid: fc.constantFrom('1', '2', '19', '20', '99', '100', '101', '1000'),
  }
  const readingsCommon = [order, page, readingPage]
  const rangeParts = fc.oneof(
    fc.tuple(timePart('start_date'), timePart('end_date')).map((list): Part[] => {
      const [start, end] = list.map(({ value }) => Date.parse(value)) as [number, number]
      if (start <= end) return list
      // Turned round, so that most ranges are ranges.
      const [first, second] = list
      return [
        { ...second, name: 'start_date', raw: second.raw.replace('end_date', 'start_date') },
        { ...first, name: 'end_date', raw: first.raw.replace('start_date', 'end_date') },
      ]
    }),
    fc.tuple(timePart('start_date'), timePart('end_date')).map((list): Part[] => list),
    timePart('start_date').map((one) => [one]),
    timePart('end_date').map((one) => [one]),
    part('date', dayText).map((one) => [one]),
    part('timestamp', stamp.valid).map((one) => [one]),
  )
  const hasReadings = new Set(buoys.flatMap((one) => (one.newest !== null ? [String(one.id), one.slug] : [])))

  const readings: fc.Arbitrary<ApiRequest> = requestsOf({
    operation: 'readings',
    path: knownPath('/readings').filter(({ ids }) => hasReadings.has(ids.buoyId)),
    kinds: [order, page, readingPage, extras],
    special: fc.tuple(rangeParts, ...readingsCommon.map(validPart)).map((lists) => lists.flat()),
    wrong: fc.oneof(
      faultyPart(times('start_date')).map((parts) => ({
        parts,
        fault: { names: ['start_date'], status: 422 },
      })),
      faultyPart(times('end_date')).map((parts) => ({ parts, fault: { names: ['end_date'], status: 422 } })),
      faultyPart(day).map((parts) => ({ parts, fault: { names: ['date'], status: 422 } })),
      faultyPart(stamp).map((parts) => ({ parts, fault: { names: ['timestamp'], status: 422 } })),
      fc.tuple(part('date', dayText), part('timestamp', stamp.valid)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['date', 'timestamp'], status: 422 },
      })),
      fc.tuple(timePart('start_date'), part('date', dayText)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['start_date', 'date'], status: 422 },
      })),
      fc.tuple(timePart('end_date'), part('timestamp', stamp.valid)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['end_date', 'timestamp'], status: 422 },
      })),
    ),
    malformed: 422,
  })
  const silentReadings = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...buoys.filter((one) => one.newest === null).map((one) => one.slug)),
        unknownPath,
      ),
      fc.oneof(
        fc.constant<Part[]>([]),
        part('date', dayText).map((one) => [one]),
        part('timestamp', stamp.valid).map((one) => [one]),
      ),
    )
    .map(([id, parts]) => assemble('readings', `/buoys/${id}/readings`, parts, { buoyId: id }, null))

  const clock: ParameterKind = {
    name: 'time',
    required: true,
    valid: readingTimes.map((epoch) => iso(epoch).slice(11, 16)),
    invalid: fc.constantFrom(
      '24:00',
      '12:60',
      '9:00',
      '09:00:00',
      '0900',
      '-1:00',
      'noon',
      ' 09:00',
      '09:00Z',
    ),
  }
  const tolerance: ParameterKind = {
    name: 'tolerance_hours',
    ...integers(1, 24, [1, 3, 12, 24], [0, 25, 100]),
    invalid: fc.constantFrom(...notNumbers, '0', '25', '-1', '1000'),
  }

  const readingPath = fc
    .tuple(
      buoy
        .filter((one) => one.readings.length > 0)
        .chain((one) => fc.constantFrom(...one.readings.map((row) => ({ one, time: row.time })))),
      buoy,
      fc.constantFrom('id', 'id', 'uuid', 'uuid', 'other buoy', 'no time', 'no id', 'strange'),
      unknownPath,
    )
    .map(([{ one, time }, other, way, strange]) => {
      const uuid = (id: number, epoch: number) => {
        const clockHex = epoch.toString(16).padStart(12, '0')
        return `${clockHex.slice(0, 8)}-${clockHex.slice(8)}-8000-8000-${id.toString(16).padStart(12, '0')}`
      }
      const readingId = {
        id: String(one.id * 10 ** 10 + time),
        uuid: uuid(one.id, time),
        'other buoy': uuid(other.id, time),
        'no time': String(one.id * 10 ** 10 + time + 1),
        'no id': String(time),
        strange,
      }[way]
      const buoyId = time % 2 === 0 ? String(one.id) : one.slug
      return { path: `/buoys/${buoyId}/readings/${readingId}`, ids: { buoyId, readingId } }
    })

  const chart: fc.Arbitrary<ApiRequest> = fc.oneof(
    {
      weight: 2,
      arbitrary: requestsOf({
        operation: 'chart',
        path: buoyPath('/readings/chart'),
        kinds: [],
        malformed: 422,
      }),
    },
    {
      weight: 5,
      arbitrary: requestsOf({
        operation: 'chart',
        path: knownPath('/readings/chart'),
        kinds: [
          { name: 'optimized', ...booleans },
          { name: 'debug', ...booleans, rare: true },
          {
            name: 'include',
            valid: fc.constant('measures'),
            invalid: fc.constantFrom('Measures', 'all', 'wind'),
          },
        ],
        special: fc
          .tuple(
            timePart('start_date'),
            fc.integer({ min: 0, max: 32 * 86_400 }),
            fc.constantFrom(0, 1, 86_400),
          )
          .map(([start, length, step]) => {
            const from = Date.parse(start.value) / 1000
            const until = `${iso(from + (step === 0 ? length : 31 * 86_400 + step - 1))}Z`
            return [start, { name: 'end_date', raw: `end_date=${until}`, value: until }]
          }),
        wrong: fc.oneof(
          faultyPart(times('start_date')).map((parts) => ({
            parts,
            fault: { names: ['start_date'], status: 422 },
          })),
          faultyPart(times('end_date')).map((parts) => ({
            parts,
            fault: { names: ['end_date'], status: 422 },
          })),
        ),
        malformed: 422,
      }),
    },
  )

  return {
    list: requestsOf({
      operation: 'list',
      path: at('/buoys'),
      kinds: listKinds,
      special,
      wrong: wrongNear,
      malformed: 400,
    }),
    detail: requestsOf({
      operation: 'detail',
      path: buoyPath(''),
      kinds: [{ ...include('wind', 'peak_period', 'available'), rare: false }],
      malformed: 400,
    }),
    last_readings: lastReadings,
    search: requestsOf({
      operation: 'search',
      path: at('/buoys/search'),
      kinds: [query, { name: 'limit', ...integers(1, 50, [1, 2, 10, 49], [0, 51, 1000, MANY_DIGITS]) }],
      malformed: 400,
    }),
    nearest: fc.oneof(
      requestsOf({
        operation: 'nearest',
        path: at('/buoys/nearest'),
        kinds: [
          { name: 'lat', required: true, valid: latitude, invalid: badLatitude },
          {
            name: 'lng',
            required: true,
            valid: fc.tuple(somewhere, degreeText).map(([place, text]) => text(place.lng)),
            invalid: badLongitude,
          },
          {
            name: 'max_distance',
            unbounded: true,
            valid: fc.oneof(
              fc.constantFrom('0', '0.0', '-0', '1', '150', '150.5', '5000', '20015.1', '20037.6', '100000'),
              decimal(0, 3000, 2),
            ),
            invalid: fc.constantFrom(...notNumbers, '-1', '-0.01'),
          },
          { name: 'limit', ...integers(1, 20, [1, 2, 5, 20], [0, 21, 1000, MANY_DIGITS]) },
          has,
          maxAge,
        ],
        malformed: 400,
      }),
      // Latitude and longitude of one place, so that something is near.
      requestsOf({
        operation: 'nearest',
        path: at('/buoys/nearest'),
        kinds: [has, maxAge, extras],
        special: fc
          .tuple(
            somewhere,
            degreeText,
            fc.constantFrom('', '', '0', '1', '25.5', '150', '1000', '20100'),
            fc.constantFrom('', '', '1', '2', '3', '10', '20'),
          )
          .map(([place, text, distance, limit]) =>
            [
              ['lat', text(place.lat)],
              ['lng', text(place.lng)],
              ['max_distance', distance],
              ['limit', limit],
            ].map(([name, value]) => ({ name: name, raw: `${name}=${value}`, value })),
          ),
        malformed: 400,
      }).filter((request) => request.question.parameters.has('lat')),
    ),
    readings: fc.oneof({ weight: 6, arbitrary: readings }, { weight: 1, arbitrary: silentReadings }),
    readings_search: fc.oneof(
      requestsOf({
        operation: 'readings_search',
        path: knownPath('/readings/search'),
        kinds: [{ ...day, required: true }, clock, tolerance, extras],
        malformed: 400,
      }),
      requestsOf({
        operation: 'readings_search',
        path: buoyPath('/readings/search'),
        kinds: [],
        special: fc
          .tuple(readingTimes, fc.constantFrom(-1440, -61, 0, 0, 1, 30, 181), validPart(tolerance))
          .map(([epoch, minutes, more]) => {
            const text = iso(epoch + minutes * 60)
            return more.concat(
              { name: 'date', raw: `date=${text.slice(0, 10)}`, value: text.slice(0, 10) },
              { name: 'time', raw: `time=${text.slice(11, 16)}`, value: text.slice(11, 16) },
            )
          }),
        malformed: 400,
      }).filter((request) => request.question.parameters.has('date')),
    ),
    reading: requestsOf({ operation: 'reading', path: readingPath, kinds: [extras], malformed: 422 }),
    chart,
    series: seriesRequests(slugOrId, unknownPath),
    countries: requestsOf({ operation: 'countries', path: at('/countries'), kinds: [], malformed: 400 }),
    map: requestsOf({
      operation: 'map',
      path: at('/buoys/map'),
      kinds: [{ ...bounds, rare: false }, has, maxAge, extras],
      malformed: 400,
    }),
  }
}

const METRIC_WORDS = [
  'significient_height',
  'maximum_height',
  'period',
  'peak_period',
  'direction',
  'water_temperature',
  'wind_speed',
  'wind_direction',
  'gust_speed',
]
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function seriesRequests(
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
