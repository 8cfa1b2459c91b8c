/**
 * The collections of OGC API - Environmental Data Retrieval 1.1 (OGC 19-086r6): their parameters under CF
 * standard names with UCUM units, and the documents that describe them.
 */
import type { Dataset } from '../dataset/dataset.ts'
import { CONTENT_TYPES } from '../operation/shape.ts'
import { timestampText } from '../sea/time.ts'
import { type CollectionId, type EdrQuery, QUERIES_OF } from './paths.ts'

export interface EdrParameter {
  /** The column of the operation's table. */
  readonly column: string
  /** A CF standard name; null for a period, which is each source's own. */
  readonly standardName: string | null
  readonly label: string
  /** UCUM. */
  readonly unit: string
  /** The value is that of the column times this: CF has speeds in m/s. */
  readonly factor?: number
}

const named = (column: string, standardName: string, label: string, unit: string): EdrParameter => {
  const speed = unit === 'm/s' ? { factor: 1 / 3.6 } : {}
  return { column, standardName, label, unit, ...speed }
}

/** Speeds after their conversion have three decimals, all others those of their column. */
export const SPEED_DECIMALS = 1000

const sea = (name: string): string => `sea_surface_${name}`

const WAVES: readonly EdrParameter[] = [
  named('significient_height', sea('wave_significant_height'), 'Significant wave height', 'm'),
  named('maximum_height', sea('wave_maximum_height'), 'Maximum wave height', 'm'),
  { column: 'period', standardName: null, label: 'Wave period as its source defines it', unit: 's' },
  named(
    'peak_period',
    sea('wave_period_at_variance_spectral_density_maximum'),
    'Wave period at the peak of the spectrum',
    's',
  ),
  named('direction', sea('wave_from_direction'), 'Direction that waves come from', 'deg'),
  named('water_temperature', sea('temperature'), 'Water temperature', 'Cel'),
  named('swell_height', sea('swell_wave_significant_height'), 'Height of the swell', 'm'),
  named('swell_period', sea('swell_wave_period'), 'Period of the swell', 's'),
  named('swell_direction', sea('swell_wave_from_direction'), 'Direction that swell comes from', 'deg'),
  named('wind_wave_height', sea('wind_wave_significant_height'), 'Height of the wind sea', 'm'),
  named('wind_wave_period', sea('wind_wave_period'), 'Period of the wind sea', 's'),
  named('wind_wave_direction', sea('wind_wave_from_direction'), 'Direction that wind sea comes from', 'deg'),
]

const WIND = [
  named('wind_speed', 'wind_speed', 'Wind speed', 'm/s'),
  named('wind_direction', 'wind_from_direction', 'Direction that wind comes from', 'deg'),
]

const WEATHER: readonly EdrParameter[] = [
  ...WIND,
  named('gust_speed', 'wind_speed_of_gust', 'Speed of gusts', 'm/s'),
  named('air_temperature', 'air_temperature', 'Air temperature', 'Cel'),
  named('dew_point', 'dew_point_temperature', 'Dew point', 'Cel'),
  named('pressure', 'air_pressure_at_mean_sea_level', 'Air pressure at sea level', 'hPa'),
  named('humidity', 'relative_humidity', 'Relative humidity', '%'),
  named('visibility', 'visibility_in_air', 'Visibility', 'km'),
  named('water_temperature', sea('temperature'), 'Water temperature', 'Cel'),
]

const FORECAST: readonly EdrParameter[] = [
  named('waves_height', sea('wave_significant_height'), 'Significant wave height', 'm'),
  { column: 'waves_period', standardName: null, label: 'Wave period as the model defines it', unit: 's' },
  named('waves_direction', sea('wave_from_direction'), 'Direction that waves come from', 'deg'),
  named('swell_height', sea('swell_wave_significant_height'), 'Height of the swell', 'm'),
  named('swell_period', sea('swell_wave_period'), 'Period of the swell', 's'),
  named('swell_direction', sea('swell_wave_from_direction'), 'Direction that swell comes from', 'deg'),
  ...WIND,
]

const TIDES: readonly EdrParameter[] = [
  named(
    'tide_level',
    'water_surface_height_above_reference_datum',
    "Water level above the harbour's chart datum",
    'm',
  ),
]

export interface Collection {
  readonly id: CollectionId
  readonly title: string
  readonly description: string
  readonly parameters: readonly EdrParameter[]
  /** Word of `include` of the operation with these data; null for `/forecast`. */
  readonly include: string | null
}

const LATELY =
  'Without datetime radius, area and cube answer the 24 hours before the time of the snapshot, locations and position all of a buoy. position is the nearest active buoy within 50 km.'
const PLACE = 'Hours of a position, by default 72 from now; 204 where no point is within reach.'

export const COLLECTIONS: readonly Collection[] = [
  {
    id: 'waves',
    title: 'Waves measured by buoys',
    description: `Readings of wave buoys. ${LATELY}`,
    parameters: WAVES,
    include: 'peak_period,swell',
  },
  {
    id: 'weather',
    title: 'Weather measured by buoys',
    description: `Wind, air and water at wave buoys. ${LATELY} Of several buoys it has the times of their waves, of one buoy also those between.`,
    parameters: WEATHER,
    include: 'wind,weather',
  },
  {
    id: 'forecast',
    title: 'Forecast of waves and wind',
    description: `The nearest point of the forecast within 50 km. ${PLACE}`,
    parameters: FORECAST,
    include: null,
  },
  {
    id: 'tides',
    title: 'Tides',
    description: `The tide of the nearest harbour within 100 km, from its harmonic constituents. ${PLACE}`,
    parameters: TIDES,
    include: null,
  },
]

export const nameOf = ({ standardName }: EdrParameter): string => standardName ?? 'period'

export const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
export const FORMATS = ['CoverageJSON', 'GeoJSON', 'CSV'] as const
export type FormatName = (typeof FORMATS)[number]

const CONFORMANCE = 'core collections json geojson edr-geojson covjson oas30 queries'
  .split(' ')
  .map((name) => `http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/${name}`)

const link = (href: string, rel: string, type: string, title: string): object => ({ href, rel, type, title })

/** Descriptions of parameters, as CoverageJSON and collections have them. */
export function parametersOf(parameters: readonly EdrParameter[], base: string): { [name: string]: object } {
  const described = parameters.map((parameter): [string, object] => {
    const { standardName, label, unit } = parameter
    const id =
      standardName === null ? `${base}/period` : `http://vocab.nerc.ac.uk/standard_name/${standardName}/`
    return [
      nameOf(parameter),
      {
        type: 'Parameter',
        description: { en: label },
        observedProperty: { id, label: { en: label } },
        unit: {
          label: { en: unit },
          symbol: { value: unit, type: 'http://www.opengis.net/def/uom/UCUM/' },
        },
      },
    ]
  })
  return Object.fromEntries(described)
}

function collectionOf(collection: Collection, dataset: Dataset, base: string): object {
  const { id, title, description, parameters } = collection
  const queries: readonly EdrQuery[] = QUERIES_OF[id]
  const { catalog, asOf, readings } = dataset
  const { lat, lng } = catalog
  const address = `${base}/collections/${id}`
  const isOfBuoys = collection.include !== null
  const oldest = Math.min(
    asOf,
    ...readings.months.map(({ time }) => time.reduce((a, b) => Math.min(a, b), asOf)),
  )
  const interval = [isOfBuoys ? timestampText(oldest) : null, isOfBuoys ? timestampText(asOf) : null]
  const spatial =
    isOfBuoys && lat.length > 0
      ? [
          lng.reduce((a, b) => Math.min(a, b)),
          lat.reduce((a, b) => Math.min(a, b)),
          lng.reduce((a, b) => Math.max(a, b)),
          lat.reduce((a, b) => Math.max(a, b)),
        ]
      : [-180, -90, 180, 90]
  const queryOf = (query: EdrQuery): object => ({
    link: {
      href: query === 'locations' ? `${address}/locations` : `${address}/${query}`,
      rel: 'data',
      type: query === 'locations' ? CONTENT_TYPES.geojson : CONTENT_TYPES.covjson,
      variables: {
        title: `${title}: ${query}`,
        description: PARAMETERS_OF_QUERIES[query],
        query_type: query,
        ...(query === 'cube' && { height_units: [] }),
        ...(query === 'radius' && { within_units: ['km', 'm', 'mi', 'nmi'] }),
        output_formats: FORMATS,
        default_output_format: FORMATS[0],
        crs_details: [{ crs: 'CRS84', wkt: CRS84_WKT }],
      },
    },
  })
  return {
    id,
    title,
    description,
    keywords: ['waves', 'buoys', 'ocean'],
    links: [
      link(address, 'self', 'application/json', title),
      ...queries.map((query) => link(`${address}/${query}`, 'data', CONTENT_TYPES.covjson, query)),
    ],
    extent: {
      spatial: { bbox: [spatial], crs: CRS84 },
      temporal: { interval: [interval], trs: 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian' },
    },
    data_queries: Object.fromEntries(queries.map((query) => [query, queryOf(query)])),
    crs: [CRS84],
    output_formats: FORMATS,
    parameter_names: parametersOf(parameters, base),
  }
}

const PARAMETERS_OF_QUERIES: { readonly [query in EdrQuery]: string } = {
  locations: 'Id or slug of a buoy after it; without one all buoys as GeoJSON.',
  position: 'coords: POINT(longitude latitude).',
  radius: 'coords: POINT(longitude latitude); within, within-units.',
  area: 'coords: POLYGON((longitude latitude, …)).',
  cube: 'bbox: west,south,east,north.',
}

const CRS84_WKT =
  'GEOGCS["WGS 84 (CRS84)",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'

/** The document at a path below `/edr` (`isDocument`). @param base absolute address of `/edr` */
export function documentAt(path: string, dataset: Dataset, base: string): object | string {
  if (path === '/period') return PERIOD
  if (path === '') return landing(base)
  if (path === '/conformance') return { conformsTo: CONFORMANCE }
  if (path === '/api') return openApi(base)
  const found = COLLECTIONS.find(({ id }) => path === `/collections/${id}`)
  if (found !== undefined) return collectionOf(found, dataset, base)
  const collections = COLLECTIONS.map((collection) => collectionOf(collection, dataset, base))
  const links = [link(`${base}/collections`, 'self', 'application/json', 'Collections')]
  return { links, collections }
}

/** The meaning of `period`: CF has no name for it. */
const PERIOD = `period: wave period as its source defines it, in seconds

Of buoys it is the significant period (Candhis: TH13D). Where a network has no other, it is the dominant or the peak period;
in the forecast it is what the model calls its wave period. So compare values of one network only.

The peak period of the spectrum is a parameter of its own: sea_surface_wave_period_at_variance_spectral_density_maximum.
`

function landing(base: string): object {
  return {
    title: 'groundswell: waves, weather, forecast and tides',
    description: 'OGC API - Environmental Data Retrieval 1.1 of the data of wave buoys.',
    links: [
      link(base, 'self', 'application/json', 'This document'),
      link(`${base}/api`, 'service-desc', CONTENT_TYPES.openapi, 'OpenAPI 3.0 of this API'),
      link(`${base.slice(0, -'/edr'.length)}/docs`, 'service-doc', 'text/html', 'Documentation'),
      link(`${base}/conformance`, 'conformance', 'application/json', 'Conformance classes'),
      link(`${base}/collections`, 'data', 'application/json', 'Collections'),
    ],
  }
}

const PARAMETERS: { readonly [name: string]: string } = {
  coords: 'WKT in CRS84, longitude first: POINT of position and radius, POLYGON of area.',
  bbox: 'west,south,east,north in degrees.',
  within: 'Distance from the point.',
  'within-units': 'km, m, mi or nmi.',
  datetime: 'An RFC 3339 instant, or an interval such as 2026-03-01T00:00:00Z/.. with one open end.',
  'parameter-name': 'Names of parameters, separated by commas; default all.',
  crs: 'CRS84, the only one.',
  f: `One of ${FORMATS.join(', ')}; default ${FORMATS[0]}.`,
}
/** The parameters of each query beside those of all. */
const OWN_PARAMETERS: { readonly [query in EdrQuery]: readonly string[] } = {
  locations: [],
  position: ['coords'],
  radius: ['coords', 'within', 'within-units'],
  area: ['coords'],
  cube: ['bbox'],
}
const OF_ALL = ['datetime', 'parameter-name', 'crs', 'f']

function openApi(base: string): object {
  const response = (description: string): object => ({ description })
  const others = {
    304: 'The client has it already',
    400: 'A parameter is wrong',
    401: 'A key is missing',
    404: 'No such resource',
    413: 'Too many values',
    410: 'The snapshot is not held any more',
    429: 'Quota used up',
    500: 'A fault of the server',
    503: 'Not now: Retry-After says when',
  }
  const operation = (
    id: string,
    summary: string,
    names: readonly string[],
    required: readonly string[],
    path: readonly string[] = [],
  ) => ({
    get: {
      operationId: id,
      summary,
      parameters: [
        ...path.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
        ...names.map((name) => ({
          name,
          in: 'query',
          required: required.includes(name),
          description: PARAMETERS[name],
          schema: { type: name === 'within' ? 'number' : 'string' },
        })),
      ],
      responses: {
        200: response('The answer'),
        204: response('No data'),
        ...Object.fromEntries(Object.entries(others).map(([status, text]) => [status, response(text)])),
      },
    },
  })
  const documents = [
    '',
    '/conformance',
    '/api',
    '/period',
    '/collections',
    ...COLLECTIONS.map(({ id }) => `/collections/${id}`),
  ]
  const paths = documents.map((path) => [
    path || '/',
    operation(`get${path.replaceAll('/', '_')}`, 'A document', [], []),
  ])
  for (const { id, title } of COLLECTIONS) {
    for (const query of QUERIES_OF[id]) {
      const own = OWN_PARAMETERS[query]
      const address = `/collections/${id}/${query}`
      if (query === 'locations') {
        paths.push([address, operation(`${id}_locations`, `${title}: all buoys as GeoJSON`, ['bbox'], [])])
        paths.push([
          `${address}/{locationId}`,
          operation(`${id}_location`, `${title}: of a buoy`, OF_ALL, [], ['locationId']),
        ])
      } else
        paths.push([address, operation(`${id}_${query}`, `${title}: ${query}`, [...own, ...OF_ALL], own)])
    }
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'groundswell EDR',
      version: '1.1',
      description: 'Data need a key: Authorization: Bearer KEY.',
    },
    servers: [{ url: base }],
    paths: Object.fromEntries(paths) as object,
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }, {}],
  }
}
