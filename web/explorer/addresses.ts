/** The addresses of all that panels and map show, also for `curl` lines, and of the stations' own pages. */
import type {
  BuoyDetail,
  Chart,
  ChartParameters,
  Conditions,
  ConditionsParameters,
  GetBuoyParameters,
  ListReadingsParameters,
  ListSatellitePassesAnswer,
  ListSatellitePassesParameters,
  MapBuoysAnswer,
  ReadingSeriesAnswer,
  ReadingSeriesParameters,
  SearchBuoysAnswer,
  SearchBuoysParameters,
} from '../../clients/typescript/groundswell.ts'
import type { LngLatBounds } from 'maplibre-gl'
import type { Address, Api } from './api.ts'
import type { Metric, SeasonName, Span } from './view.ts'

const DAY_MS = 86_400_000
/** Passes in the list. */
const PASSES = 6
/** Most buoys that a search finds. */
const MOST_FOUND = 50
const MOST_QUERY_CHARACTERS = 100
/** Seasons that are compared. */
const SEASONS = 10

const SEASON_DATES: { readonly [season in SeasonName]: Partial<ReadingSeriesParameters> } = {
  year: {},
  winter: { start_month: 12, start_day: 1, end_month: 2, end_day: 29 },
  spring: { start_month: 3, start_day: 1, end_month: 5, end_day: 31 },
  summer: { start_month: 6, start_day: 1, end_month: 8, end_day: 31 },
  autumn: { start_month: 9, start_day: 1, end_month: 11, end_day: 30 },
}

/** The address of all active buoys, or of those within `bounds`, to three decimals: within 60 m. */
export function mapAddress(api: Api, bounds?: LngLatBounds): Address<MapBuoysAnswer['data']> {
  if (bounds === undefined) return api.address('/buoys/map')
  const [west, south, east, north] = bounds
    .toArray()
    .flat()
    .map((degrees) => Number(degrees.toFixed(3)))
  return api.address('/buoys/map', { bounds: JSON.stringify({ north, south, east, west }) })
}

export function passesAddress(api: Api): Address<ListSatellitePassesAnswer['data']> {
  return api.address('/buoys/satellite_passes', { limit: PASSES } satisfies ListSatellitePassesParameters)
}

export function buoyAddress(api: Api, slug: string): Address<{ buoy: BuoyDetail }> {
  return api.address(buoyPath(slug), {
    include: 'credit,available,wind,peak_period,swell',
  } satisfies GetBuoyParameters)
}

/**
 * The chart of a `span` of days around the newest reading. Without dates the operation gives a week back and three
 * days ahead of now, which is wrong for a buoy that has been silent for long.
 */
export function chartAddress(
  api: Api,
  { slug, last_reading_time: newest, available = {} }: BuoyDetail,
  span: Span,
): Address<Chart> {
  const at = Date.parse(newest ?? '')
  const isUsual = newest === null || (span === 7 && api.clock() - at < DAY_MS)
  const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
  return api.address(`${buoyPath(slug)}/readings/chart`, {
    ...(isUsual
      ? {}
      : { start_date: text(at - span * DAY_MS), end_date: text(at + (span === 2 ? 1 : 3) * DAY_MS) }),
    // Most buoys do not tell swell from wind sea.
    include: Object.hasOwn(available, 'swell_height') ? 'measures,swell' : 'measures',
  } satisfies ChartParameters)
}

/** All readings of a range with all measures; the API gives the range as a whole in other formats. */
export function readingsAddress(api: Api, slug: string, start: string, end: string): Address<unknown> {
  return api.address(`${buoyPath(slug)}/readings`, {
    start_date: start,
    end_date: end,
    order: 'asc',
    include: 'wind,peak_period,swell',
  } satisfies ListReadingsParameters)
}

/** As many buoys as a search can give. The beginning of a name that is too long for a query finds it, too. */
export function searchAddress(
  api: Api,
  query: string,
  limit = MOST_FOUND,
): Address<SearchBuoysAnswer['data']> {
  const beginning = Array.from(query).slice(0, MOST_QUERY_CHARACTERS).join('')
  return api.address('/buoys/search', { query: beginning, limit } satisfies SearchBuoysParameters)
}

/** A season of the last years. */
export function seriesAddress(
  api: Api,
  slug: string,
  { metric, season }: { metric: Metric; season: SeasonName },
): Address<ReadingSeriesAnswer['data']> {
  const thisYear = new Date(api.clock()).getUTCFullYear()
  return api.address(`${buoyPath(slug)}/readings/series`, {
    metric,
    bucket: season === 'year' ? 'week' : 'day',
    start_year: thisYear - (SEASONS - 1),
    end_year: thisYear,
    ...SEASON_DATES[season],
  } satisfies ReadingSeriesParameters)
}

/** Forecast, nearest reading and tide of the current minute. */
export function conditionsAddress(api: Api, { lat, lng }: { lat: number; lng: number }): Address<Conditions> {
  return api.address('/conditions', {
    lat: Number(lat.toFixed(4)),
    lng: Number(lng.toFixed(4)),
    include: 'model',
  } satisfies ConditionsParameters)
}

/** Conditions without a time change with the minute. */
export function isOfNow(address: string): boolean {
  return address.includes('/conditions?')
}

function buoyPath(slug: string): string {
  return `/buoys/${encodeURIComponent(slug)}`
}

/** `address` is whole, `key` may be empty. */
export function curlLine(address: string, key: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  return `curl ${key === '' ? '' : `-H ${quoted(`Authorization: Bearer ${key}`)} `}${quoted(address)}`
}

/** Identifiers become parts of addresses only where they look as the network's own do. */
const IDENTIFIER = /^[A-Za-z0-9]{3,8}$/

/** Who measures in networks, by the name that the API gives as `source`, where that name does not say it. */
const OWNERS = new Map([
  ['NDBC', 'NOAA National Data Buoy Center and its partners'],
  ['Candhis', 'Candhis, Cerema and its partners'],
  ['Marine Institute', 'Marine Institute, Ireland'],
])

export const ownerOf = (source: string): string => OWNERS.get(source) ?? source

/** The address of a station's own page; null where none is known. */
export function stationPage(source: string, identifier: string): string | null {
  if (!IDENTIFIER.test(identifier)) return null
  if (source === 'NDBC') {
    return `https://www.ndbc.noaa.gov/station_page.php?station=${identifier.toLowerCase()}`
  }
  // The page takes `camp=06403` in Base64.
  if (source === 'Candhis')
    return `https://candhis.cerema.fr/_public_/campagne.php?${btoa(`camp=${identifier}`)}`
  return null
}
