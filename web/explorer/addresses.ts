/** The addresses of all that panels and map show, also for `curl` lines, and of the stations' own pages. */
import type {
  BuoyDetail,
  Chart,
  ListSpectraAnswer,
  MapBuoysAnswer,
  PlaceForecast,
  QueryOf,
  ReadingSeriesAnswer,
  SearchBuoysAnswer,
  SearchPlacesAnswer,
} from '../../clients/typescript/groundswell.ts'
import type { Address, Api } from './api.ts'
import { DAY_MS } from './format.ts'
import type { Rows } from './charts/parts.ts'
import type { Metric, Position, SeasonName, ViewState } from './view.ts'

/** Days of a chart after the newest reading, by those before it: a year has none. */
const DAYS_AHEAD = { 1: 1, 2: 3, 7: 3, 28: 3, 365: 0 } as const satisfies {
  [span in ViewState['span']]: number
}
/** Two weeks, with the days ahead: in a longer chart readings lie closer than lines can be told apart. */
const LONGEST_CHART_MS = 17 * DAY_MS
/** Buckets of longer ranges, with milliseconds: none is narrower than a pixel. */
const BUCKET_MS = { '1d': DAY_MS, '1mo': 31 * DAY_MS } as const
export type Bucket = keyof typeof BUCKET_MS
/** The most rows of an answer. */
const MOST_ROWS = 1000
/** Most buoys that a search finds. */
const MOST_FOUND = 50
const MOST_QUERY_CHARACTERS = 100
/** Seasons that are compared. */
const SEASONS = 10

const SEASON_DATES: {
  readonly [season in SeasonName]: Partial<QueryOf<'/buoys/{buoy_id}/readings/series'>>
} = {
  year: {},
  winter: { start_month: 12, start_day: 1, end_month: 2, end_day: 29 },
  spring: { start_month: 3, start_day: 1, end_month: 5, end_day: 31 },
  summer: { start_month: 6, start_day: 1, end_month: 8, end_day: 31 },
  autumn: { start_month: 9, start_day: 1, end_month: 11, end_day: 30 },
}

/**
 * The address of all active buoys, or of none, for the facts of their networks: at the South Pole there is no
 * sea.
 */
export const mapAddress = (api: Api, isOfNone = false): Address<MapBuoysAnswer['data']> =>
  api.address('/buoys/map', { ...(isOfNone && { bbox: '0,-90,0,-90' }), include: 'usual' })

/** All buoys, also silent ones. */
export const allAddress = (api: Api): Address<MapBuoysAnswer['data']> =>
  api.address('/buoys/map', { active_only: 'false' })

export function buoyAddress(api: Api, slug: string): Address<{ buoy: BuoyDetail }> {
  return api.address(buoyPath(slug), {
    include: 'credit,available,wind,peak_period,swell,weather,spectrum,usual',
  } satisfies QueryOf<'/buoys/{buoy_id}'>)
}

/** First and last moment of a chart. */
export interface ChartRange {
  start: string
  end: string
}

/**
 * The range of a buoy's chart; null for the usual one of the operation. That is a week back and three days
 * ahead of now, which is wrong for a buoy that has been silent for long.
 */
export function chartRange(
  api: Api,
  { last_reading_time: newest }: BuoyDetail,
  { span, range }: Pick<ViewState, 'span' | 'range'>,
): ChartRange | null {
  if (range !== null) return { start: range.from, end: range.to }
  const at = Date.parse(newest ?? '')
  if (newest === null || (span === 7 && api.clock() - at < DAY_MS)) return null
  const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
  return { start: text(at - span * DAY_MS), end: text(at + DAYS_AHEAD[span] * DAY_MS) }
}

/** Milliseconds of a range; the last day is a whole one. */
const lengthOf = ({ start, end }: ChartRange): number =>
  Date.parse(end) - Date.parse(start) + (end.includes('T') ? 0 : DAY_MS)

/** The bucket of a range: null for all readings, else days or months, no more than `pixels`. */
export function bucketOf(range: ChartRange | null, pixels: number): Bucket | null {
  if (range === null || lengthOf(range) <= LONGEST_CHART_MS) return null
  return lengthOf(range) <= (Math.min(pixels, MOST_ROWS) - 2) * DAY_MS ? '1d' : '1mo'
}

/** A part of a chart: the zone of its buckets (IANA), and what they have of their readings. */
interface Bucketed {
  readonly bucket: Bucket | null
  readonly zone: string
  readonly aggregation?: 'mean' | 'min' | 'max'
}

/**
 * The drawn readings of a buoy: all of some days, or those of a longer range in buckets. The first and the
 * last bucket would be cut: the answer begins and ends a bucket sooner and later, and `wholeBuckets` leaves
 * out the excess.
 */
export function pastAddress(
  api: Api,
  { id, slug, available = {} }: Pick<BuoyDetail, 'id' | 'slug' | 'available'>,
  range: ChartRange | null,
  { bucket, zone, aggregation = 'mean' }: Bucketed,
): Address<Chart | Rows> {
  const dates = range && { start_date: range.start, end_date: range.end }
  // Most buoys do not separate swell and wind sea.
  const swell = Object.hasOwn(available, 'swell_height') ? ',swell' : ''
  const isInAir = Object.hasOwn(available, 'air_temperature') || Object.hasOwn(available, 'pressure')
  const weather = isInAir ? ',weather' : ''
  if (bucket === null || range === null) {
    const include = `measures${swell}${weather}`
    return api.address(`${buoyPath(slug)}/readings/chart`, {
      ...dates,
      include,
    } satisfies QueryOf<'/buoys/{buoy_id}/readings/chart'>)
  }
  const moved = (moment: string, buckets: number): string => {
    const text = new Date(Date.parse(moment) + buckets * BUCKET_MS[bucket]).toISOString()
    return moment.includes('T') ? text.replace('.000Z', 'Z') : text.slice(0, 10)
  }
  return api.address('/readings', {
    ids: id,
    start_date: moved(range.start, -1),
    end_date: moved(range.end, 1),
    ...ROWS,
    bucket,
    timezone: zone,
    aggregation,
    // Of the extremes only heights are drawn.
    ...(aggregation === 'mean'
      ? { include: `wind,peak_period${swell}${weather}` }
      : { fields: 'buoy_id,time,significient_height,maximum_height' }),
  })
}

/** The readings by which one sees whether the sea rises: those of the last hours before the newest one. */
export function recentAddress(
  api: Api,
  { slug }: Pick<BuoyDetail, 'slug'>,
  newest: string,
): Address<Chart | Rows> {
  const start = new Date(Date.parse(newest) - RECENT_MS).toISOString().replace('.000Z', 'Z')
  return api.address(`${buoyPath(slug)}/readings/chart`, {
    start_date: start,
    end_date: newest,
    include: 'weather',
  } satisfies QueryOf<'/buoys/{buoy_id}/readings/chart'>)
}
const RECENT_MS = 4 * 3_600_000

/** Rows of many buoys by columns, oldest first. */
const ROWS = { layout: 'columns', order: 'asc', per_page: MOST_ROWS }
const TREND_HOURS = 3

/** Heights of the last 24 hours in buckets of three, of as many buoys as an answer has rows for. */
export const trendAddress = (api: Api, ids: readonly number[]): Address<Rows> =>
  api.address('/readings', {
    ids: ids.slice(0, Math.floor(MOST_ROWS / (24 / TREND_HOURS + 1))).join(),
    ...ROWS,
    bucket: `${TREND_HOURS}h`,
    aggregation: 'mean',
    fields: 'buoy_id,time,significient_height',
  })

/** All readings of a range with all measures; the API gives the range as a whole in other formats. */
export function readingsAddress(api: Api, slug: string, start: string, end: string): Address<unknown> {
  return api.address(`${buoyPath(slug)}/readings`, {
    start_date: start,
    end_date: end,
    order: 'asc',
    include: 'wind,peak_period,swell,weather',
  } satisfies QueryOf<'/buoys/{buoy_id}/readings'>)
}

/** As many buoys as a search can give. The beginning of a name that is too long for a query finds it, too. */
export function searchAddress(
  api: Api,
  query: string,
  limit = MOST_FOUND,
): Address<SearchBuoysAnswer['data']> {
  const beginning = Array.from(query).slice(0, MOST_QUERY_CHARACTERS).join('')
  return api.address('/buoys/search', { query: beginning, limit } satisfies QueryOf<'/buoys/search'>)
}

export function placesAddress(api: Api, query: string, limit: number): Address<SearchPlacesAnswer['data']> {
  return api.address('/places', { query, limit } satisfies QueryOf<'/places'>)
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
    // Means of means, weighted by their samples, are means of all readings; medians make nothing.
    aggregation: 'avg',
    start_year: thisYear - (SEASONS - 1),
    end_year: thisYear,
    ...SEASON_DATES[season],
  } satisfies QueryOf<'/buoys/{buoy_id}/readings/series'>)
}

/** A buoy's newest wave spectrum, also over directions. */
export const spectrumAddress = (api: Api, slug: string): Address<ListSpectraAnswer['data']> =>
  api.address(`${buoyPath(slug)}/spectra`, {
    include: 'directional',
  } satisfies QueryOf<'/buoys/{buoy_id}/spectra'>)

/** How far before that time of the day before a spectrum to compare with may lie. */
const COMPARED_MS = 2 * 3_600_000

/** The wave spectrum of the day before one of `time` (ISO 8601). */
export function dayBeforeAddress(api: Api, slug: string, time: string): Address<ListSpectraAnswer['data']> {
  const end = Date.parse(time) - DAY_MS
  const text = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
  return api.address(`${buoyPath(slug)}/spectra`, {
    start_date: text(end - COMPARED_MS),
    end_date: text(end),
    per_page: 1,
  } satisfies QueryOf<'/buoys/{buoy_id}/spectra'>)
}
/** An address below a buoy's climate: `below` is '', or the rest of the path. */
export const climateAddress = <Data>(
  api: Api,
  slug: string,
  below: string,
  parameters: { readonly [name: string]: string | number } = {},
): Address<Data> => api.address(`${buoyPath(slug)}/climate${below}`, parameters)

/** Forecast and tide of a place from the current hour on. */
export function forecastAddress(api: Api, { lat, lng }: Position): Address<PlaceForecast> {
  const at = { lat: Number(lat.toFixed(4)), lng: Number(lng.toFixed(4)) } satisfies QueryOf<'/forecast'>
  return api.address('/forecast', at)
}

/** A forecast without a start changes with the hour. */
export const isOfNow = (address: string): boolean => address.includes('/forecast?')

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

/** Owners of networks by the name in `source`, if that name does not tell the owner. */
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
