/** Requests of the operations that answer with buoys. */
import * as fc from 'fast-check'
import type { Known } from './oracle.ts'
import { boxKinds, type Positions } from './positions.ts'
import {
  assemble,
  at,
  booleans,
  decimal,
  extras,
  has,
  include,
  integers,
  maxAge,
  page,
  part,
  perPage,
  requestsOf,
  unknown,
  validPart,
  type ApiRequest,
  type ParameterKind,
  type Part,
} from './request_parts.ts'
import type { Paths } from './paths.ts'
import type { World } from './world.ts'

export function listRequests(world: World, positions: Positions): fc.Arbitrary<ApiRequest> {
  const { near, radius } = nearKinds(positions)
  const { bounds, bbox } = boxKinds(positions)
  const { source, country } = ownerKinds(world)
  const activeOnly: ParameterKind = { name: 'active_only', ...booleans }
  const others = [source, country, activeOnly, has, maxAge, extras, page, perPage]
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

  const asking = (box: ParameterKind) =>
    requestsOf({ operation: 'list', path: at('/buoys'), kinds: [box, ...others], special })
  return fc.oneof(asking(bounds), asking(bbox))
}

function nearKinds({ somewhere, degreeText }: Positions): { near: ParameterKind; radius: ParameterKind } {
  const near: ParameterKind = {
    name: 'near',
    valid: fc
      .tuple(somewhere, degreeText, degreeText)
      .map(([place, lat, lng]) => `${lat(place.lat)},${lng(place.lng)}`),
  }
  const radius: ParameterKind = {
    name: 'radius',
    ...integers(1, 20_100, [1, 5, 50, 100, 500, 5000, 10_007, 20_015]),
  }
  return { near, radius }
}

function ownerKinds(world: World): { source: ParameterKind; country: ParameterKind } {
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
    rare: true,
  }
  return { source, country }
}

export function detailRequests({ buoyPath }: Paths): fc.Arbitrary<ApiRequest> {
  return requestsOf({
    operation: 'detail',
    path: buoyPath(''),
    kinds: [{ ...include('wind', 'peak_period', 'swell', 'available'), rare: false }],
  })
}

export function mapRequests(positions: Positions): fc.Arbitrary<ApiRequest> {
  const { bounds, bbox } = boxKinds(positions)
  const special = fc.tuple(part('bounds', bounds.valid), part('bbox', bbox.valid))
  const asking = (box: ParameterKind) =>
    requestsOf({
      operation: 'map',
      path: at('/buoys/map'),
      kinds: [{ ...box, rare: false }, has, maxAge, extras],
      special,
    })
  return fc.oneof(asking(bounds), asking(bbox))
}

export function searchRequests(buoy: fc.Arbitrary<Known>): fc.Arbitrary<ApiRequest> {
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
  }

  return requestsOf({
    operation: 'search',
    path: at('/buoys/search'),
    kinds: [query, { name: 'limit', ...integers(1, 50, [1, 2, 10, 49]) }],
  })
}

export function nearestRequests(positions: Positions): fc.Arbitrary<ApiRequest> {
  const { somewhere, degreeText, latitude } = positions
  return fc.oneof(
    requestsOf({
      operation: 'nearest',
      path: at('/buoys/nearest'),
      kinds: [
        { name: 'lat', required: true, valid: latitude },
        {
          name: 'lng',
          required: true,
          valid: fc.tuple(somewhere, degreeText).map(([place, text]) => text(place.lng)),
        },
        {
          name: 'max_distance',
          valid: fc.oneof(
            fc.constantFrom('0', '0.0', '-0', '1', '150', '150.5', '5000', '20015.1', '20037.6', '100000'),
            decimal(0, 3000, 2),
          ),
        },
        { name: 'limit', ...integers(1, 20, [1, 2, 5, 20]) },
        has,
        maxAge,
      ],
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
    }).filter((request) => request.question.parameters.has('lat')),
  )
}

/** `ids` has spellings of its own. @param count of the buoys */
export function lastReadingsRequests(count: number): fc.Arbitrary<ApiRequest> {
  const idText = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: count + 5 }).map(String) },
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
    ...integers(1, 100, [3, 50, 99]),
  }
  const goodIds = fc.array(idGroup, { minLength: 1, maxLength: 3 }).map(idsOf)
  return fc
    .tuple(goodIds, validPart(limitThree), unknown)
    .map((lists) => assemble('last_readings', '/buoys/last_readings', lists.flat(), {}))
}
