/** The explorer's view, as a fragment of the address that visitors bookmark and share. Holds no key. */

import { formatUnits, namesOf, parseUnits, type Quantity, type SomeUnits } from './mine/units.ts'

export const ZONES = ['utc', 'buoy', 'viewer'] as const
/** The clock that times are given by. */
type ZoneChoice = (typeof ZONES)[number]

/** Days of readings in the chart. */
export const SPANS = [1, 2, 7, 28, 365] as const
/** A UTC day, or a minute of one. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\dZ)?$/

/** The measures of the seasons, and how they are written; `texts.metrics` has their names. */
export const METRICS = {
  significient_height: 'height',
  maximum_height: 'height',
  period: 'period',
  peak_period: 'period',
  water_temperature: 'temperature',
  wind_speed: 'speed',
  gust_speed: 'speed',
  air_temperature: 'temperature',
  pressure: 'pressure',
} as const satisfies { [metric: string]: Quantity }
export type Metric = keyof typeof METRICS

export const SEASONS = ['year', 'winter', 'spring', 'summer', 'autumn'] as const
export type SeasonName = (typeof SEASONS)[number]

/** Degrees. */
export interface Position {
  lat: number
  lng: number
}

/** A flat map ends at this latitude. */
export const MAP_END = 85

export interface Camera extends Position {
  zoom: number
}

const TABS = ['now', 'seasons', 'spectrum', 'climate', 'card'] as const

/** Defaults of members that the address leaves out. */
export const FIRST_VIEW = {
  /** Null until the visitor moves the map. */
  camera: null as Camera | null,
  /** Slug of the buoy in the panel. */
  buoy: null as string | null,
  /** The point of the sea in the panel. */
  point: null as Position | null,
  /** The card is for pages of others alone. */
  tab: 'now' as (typeof TABS)[number],
  zone: 'buoy' as ZoneChoice,
  satellites: false,
  /** Null for a globe where buoys lie beyond the edge of a flat map. */
  globe: null as boolean | null,
  span: 7 as (typeof SPANS)[number],
  /** Days or minutes of the chart in place of a span, both included. */
  range: null as { from: string; to: string } | null,
  /** Slug of a second buoy in the chart. */
  beside: null as string | null,
  metric: 'significient_height' as Metric,
  season: 'year' as SeasonName,
  /** The highlighted year and the one it is compared with; null for the newest two. */
  year: null as number | null,
  against: null as number | null,
  /** The units that the address asks for; it leaves the others to the visitor. */
  units: {} as SomeUnits,
}
export type ViewState = typeof FIRST_VIEW

/** The form of a buoy's slug. */
export const SLUG = /^[a-z0-9-]{1,250}$/

/** The key of a favourite place, in place of a buoy's id: its position, to four decimals. */
const POINT = /^(-?\d{1,2}(?:\.\d{1,4})?) (-?\d{1,3}(?:\.\d{1,4})?)$/

/** The position in `LAT LNG`; null in any other text. */
export function pointOf(text: string): Position | null {
  const [lat, lng] = (POINT.exec(text) ?? []).slice(1).map(Number)
  return lat !== undefined && lng !== undefined && Math.abs(lat) <= 90 && Math.abs(lng) <= 180
    ? { lat, lng }
    : null
}

/** The view of a fragment, given without its `#`. What is missing or invalid is as in the first view. */
export function parseView(fragment: string): ViewState {
  const fields = new URLSearchParams(fragment)
  const number = (name: string, low: number, high: number): number | null => {
    const text = fields.get(name) ?? ''
    const value = Number(text)
    return text !== '' && value >= low && value <= high ? value : null
  }
  const oneOf = <T extends string | number>(name: string, values: readonly T[], otherwise: T): T =>
    values.find((value) => String(value) === fields.get(name)) ?? otherwise
  const slug = (name: string): string | null => SLUG.exec(fields.get(name) ?? '')?.[0] ?? null
  const buoy = slug('buoy')
  const [lat, lng] = [number('lat', -90, 90), number('lng', -180, 180)]
  return {
    camera: parseCamera(fields.get('map') ?? ''),
    buoy,
    point: buoy === null && lat !== null && lng !== null ? { lat, lng } : null,
    tab: oneOf('tab', TABS, FIRST_VIEW.tab),
    zone: oneOf('zone', ZONES, FIRST_VIEW.zone),
    satellites: fields.get('satellites') === '1',
    globe: fields.has('globe') ? fields.get('globe') === '1' : null,
    span: oneOf('days', SPANS, FIRST_VIEW.span),
    range: parseRange(fields.get('from') ?? '', fields.get('to') ?? ''),
    beside: slug('beside'),
    metric: oneOf('metric', namesOf(METRICS), FIRST_VIEW.metric),
    season: oneOf('season', SEASONS, FIRST_VIEW.season),
    year: number('year', 1900, 2200),
    against: number('against', 1900, 2200),
    units: parseUnits(fields.get('units') ?? ''),
  }
}

/** Null unless both are moments of the calendar, the first one not after the last. */
export function parseRange(from: string, to: string): ViewState['range'] {
  const isMoment = (text: string): boolean => MOMENT.test(text) && !Number.isNaN(Date.parse(text))
  return isMoment(from) && isMoment(to) && from <= to ? { from, to } : null
}

/** `ZOOM/LAT/LNG`, as most maps write it. */
function parseCamera(text: string): Camera | null {
  const [zoom = NaN, lat = NaN, lng = NaN] = text.split('/').map((part) => Number(part || NaN))
  return zoom >= -2 && zoom <= 22 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { zoom, lat, lng } : null
}

/** The fragment of a view, without its `#`. It leaves out what is as in the first view. */
export function formatView(view: ViewState): string {
  const usual = new Map(fieldsOf(FIRST_VIEW))
  return fieldsOf(view)
    .filter(([name, value]) => value !== null && value !== usual.get(name))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function fieldsOf({ camera, buoy, point, ...view }: ViewState): [string, string | number | null][] {
  const rounded = (value: number | undefined, digits: number): number | null =>
    value === undefined ? null : Number(value.toFixed(digits))
  const at = buoy === null ? point : null
  // About a pixel.
  const digits = (camera?.zoom ?? 0) < 9 ? 3 : 5
  const map =
    camera && [rounded(camera.zoom, 2), rounded(camera.lat, digits), rounded(camera.lng, digits)].join('/')
  return [
    ['map', map],
    ['buoy', buoy],
    ['lat', rounded(at?.lat, 4)],
    ['lng', rounded(at?.lng, 4)],
    ['tab', view.tab],
    ['zone', view.zone],
    ['satellites', Number(view.satellites)],
    ['globe', view.globe === null ? null : Number(view.globe)],
    ['days', view.span],
    ['from', view.range?.from ?? null],
    ['to', view.range?.to ?? null],
    ['beside', view.beside],
    ['metric', view.metric],
    ['season', view.season],
    ['year', view.year],
    ['against', view.against],
    ['units', formatUnits(view.units)],
  ]
}
