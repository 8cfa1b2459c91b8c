/**
 * What every part of the oracle builds on: the buoys with their rows, geometry, times, and the form of an
 * answer.
 */
import {
  COLUMNS,
  type Column,
  type Measures,
  type Place,
  type World,
  type WorldBuoy,
  type WorldRow,
} from './world.ts'
import { emptyRow } from './plans.ts'

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/**
 * What an answer has to be. Where two right programs may differ a function stands, which is given what was
 * answered, and gives that where it is right, else what is right.
 */
export type Expected = Json | Check | readonly Expected[] | { [key: string]: Expected }
export type Check = (got: Json | undefined) => Expected
export type ExpectedObject = { [key: string]: Expected }

export type Parameters = ReadonlyMap<string, string>

/** A request that was understood: one decoded text per parameter. Absent and empty are the same. */
export interface Asked {
  /** The `{buoy_id}` of the path. */
  buoyId?: string
  /** The `{reading_id}` of the path. */
  readingId?: string
  parameters: Parameters
}

export interface Answer {
  status: number
  /** The whole body of a success; of an error only `error`. */
  body: ExpectedObject
  /** For errors: parameters of which the message has to name one; empty when it need not name any. */
  names: string[]
  /**
   * Why this answer cannot be the same in two right programs (a distance within a millimetre of the radius);
   * null almost always.
   */
  unsure: string | null
}

export const DAY = 86_400
export const HOUR = 3600
/** Below this, in km, two ways to compute a great circle may disagree. */
export const SAME_KM = 1e-6

/** A reading: a row that has a significant height. */
export interface Reading extends WorldRow {
  significantHeight: number
}

export interface Known extends Place {
  id: number
  slug: string
  record: WorldBuoy
  /** By time, one row a time. */
  rows: WorldRow[]
  readings: Reading[]
  newest: Reading | null
  active: boolean
  countryName: string | null
}

const OPERATION_WORDS = ['map', 'search', 'nearest', 'satellites', 'last-readings', 'satellite-passes']

/** Lower case, decomposed, without combining marks, everything else one hyphen. */
export function slugOf(name: string): string {
  const plain = name
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  if (plain === '') return 'buoy'
  return /^[0-9]*$/.test(plain) ? `buoy-${plain}` : plain
}

/** What search and the `source` filter compare: without case, without accents. */
export function fold(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}

export const byCodeUnits = (a: string, b: string) => (a < b ? -1 : Number(a > b))

const POINTS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')

/** One of 16 points; a point reaches 11.25 degrees to both sides, its lower border included. */
export function compass(direction: number): string {
  return POINTS[Math.floor((direction + 11.25) / 22.5) % 16]
}

/** kJ per metre of crest in one deep-water wave. */
export function energy(height: number | null, period: number | null): number | null {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  const length = (9.81 * period * period) / (2 * Math.PI)
  return Math.round(((1 / 8) * 1025 * 9.81 * height * height * length) / 1000)
}

/** Great circle in km on a sphere of 6371 km. */
export function kilometres(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const north = Math.sin(radians(lat2 - lat1) / 2)
  const east = Math.sin(radians(lng2 - lng1) / 2)
  const half = north * north + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * east * east
  return 2 * 6371 * Math.asin(Math.min(1, Math.sqrt(half)))
}

export const isoTime = (epoch: number) => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
const hex = (value: number) => value.toString(16).padStart(12, '0')

export const readingId = (buoy: number, time: number): number => buoy * 10 ** 10 + time

export function uuidOf(buoy: number, time: number): string {
  const clock = hex(time)
  return `${clock.slice(0, 8)}-${clock.slice(8)}-8000-8000-${hex(buoy)}`
}

export const countryNames = new Intl.DisplayNames(['en'], { type: 'region' })

/** Numbers the buoys and puts their rows in order, as the builder does it for a first snapshot. */
export function knownBuoys(world: World): Known[] {
  const records = world.buoys.toSorted(
    (a, b) =>
      Number(a.virtual) - Number(b.virtual) ||
      byCodeUnits(a.source, b.source) ||
      byCodeUnits(a.identifier, b.identifier),
  )
  const taken = new Set(OPERATION_WORDS)
  return records.map((record, index) => {
    const own = slugOf(record.name)
    // Nothing Latin in a name leaves the identifier.
    const base = own === 'buoy' && !/buoy/i.test(record.name) ? slugOf(record.identifier) : own
    let slug = base
    for (let number = 2; taken.has(slug); number++) slug = `${base}-${number}`
    taken.add(slug)
    const rows = rowsInOrder(record, world.asOf)
    const readings = rows.filter((row): row is Reading => row.significantHeight !== null)
    const newest = readings.at(-1) ?? null
    return {
      id: index + 1,
      slug,
      record,
      lat: record.lat,
      lng: record.lng,
      rows,
      readings,
      newest,
      active: newest !== null && newest.time >= world.asOf - DAY,
      countryName: record.country === null ? null : (countryNames.of(record.country) ?? null),
    }
  })
}

function rowsInOrder(record: WorldBuoy, asOf: number): WorldRow[] {
  const byTime = new Map<number, WorldRow>()
  for (const row of record.rows) {
    if (row.time > asOf) continue
    const turned = { ...row }
    // North is 0.
    for (const name of ['direction', 'windDirection', 'swellDirection', 'windWaveDirection'] as const) {
      if (turned[name] === 360) turned[name] = 0
    }
    // No wave has a period of 0 s.
    for (const name of ['period', 'peakPeriod', 'swellPeriod', 'windWavePeriod'] as const) {
      if (turned[name] === 0) turned[name] = null
    }
    byTime.set(row.time, turned)
  }
  return [...byTime.values()].toSorted((a, b) => a.time - b.time)
}

/** Whether a text is a calendar date alone. */
export const isDate = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text)
export const dayStart = (text: string) => Date.parse(`${text}T00:00:00Z`) / 1000

export function secondsOf(duration: string): number {
  const unit = { m: 60, h: 3600, d: 86_400 }[duration.slice(-1)] ?? 1
  return Number.parseInt(duration) * unit
}

/** @param end whether a date alone is its last second @param now what a time that moves is relative to */
export function instant(text: string, end: boolean, now: number): number {
  if (text.startsWith('now')) return now + (text === 'now' ? 0 : secondsOf(text.slice('now'.length)))
  return isDate(text) ? dayStart(text) + (end ? DAY - 1 : 0) : Date.parse(text) / 1000
}

export const numberOr = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number(text)
export function page(length: number, parameters: Parameters, usual: number, most: number) {
  const perPage = Math.min(most, numberOr(parameters.get('per_page'), usual))
  const number = numberOr(parameters.get('page'), 1)
  return {
    from: (number - 1) * perPage,
    to: number * perPage,
    meta: { page: number, per_page: perPage, total_pages: Math.ceil(length / perPage) },
  }
}

export const wordsOf = (text: string | undefined): string[] => text?.split(',') ?? []

export function find(buoys: Known[], id: string | undefined): Known | undefined {
  const byId = /^\d+$/.test(id ?? '') ? buoys.find((buoy) => buoy.id === Number(id)) : undefined
  return byId ?? buoys.find((buoy) => buoy.slug === id)
}

const isNow: Check = (got) =>
  typeof got === 'string' && Math.abs(Date.now() - Date.parse(got)) < 30_000 ? got : 'the time of the answer'

export function success(data: Expected, meta: ExpectedObject = {}, unsure: string | null = null): Answer {
  const body = { status: 'success', data, meta: { ...meta, timestamp: isNow } }
  return { status: 200, body, names: [], unsure }
}

/** An error of the contract's table; `names` are the parameters of which the message names one. */
export function failure(status: number, names: string[] = [], unsure: string | null = null): Answer {
  const errors: { [status: number]: string } = {
    400: 'bad_request',
    404: 'resource_not_found',
    422: 'validation_failed',
  }
  return { status, body: { error: errors[status] }, names, unsure }
}

/**
 * A number with so many decimals, either of two that are equally near; `more`: how far two right programs may
 * be apart.
 */
export const about = (value: number | null, decimals: number, more = 1e-6): Expected =>
  value === null
    ? null
    : (got) =>
        typeof got === 'number' &&
        got === Number(got.toFixed(decimals)) &&
        Math.abs(got - value) <= 0.5 * 10 ** -decimals + more
          ? got
          : value

export interface Ranked<T> {
  item: T
  id: number
  km: number
  place: string
}

/** All by distance. */
export function rank<T extends Place>(items: readonly T[], { lat, lng }: Place): Ranked<T>[] {
  return items
    .map((item, id) => {
      const km = kilometres(lat, lng, item.lat, item.lng)
      return { item, id, km, place: `${item.lat} ${item.lng}` }
    })
    .toSorted((a, b) => a.km - b.km || a.id - b.id)
}

/** Two right programs may put a point this close to the border on either side of it. */
export const onBorder = (ranking: readonly Ranked<unknown>[], km: number): string | null =>
  ranking.some((entry) => entry.km !== km && Math.abs(entry.km - km) < SAME_KM)
    ? 'something lies on the border of the radius'
    : null

/** The nearest of what is within reach; `unsure` where rounding decides that. */
export function nearestOf<T extends Place>(
  items: readonly T[],
  at: Place,
  reach: number,
): { item: T | null; km: number; unsure: string | null } {
  const ranking = rank(items, at)
  const [first, second] = ranking.filter(({ km }) => km <= reach)
  const isTie = second !== undefined && second.km - first.km < SAME_KM
  const unsure = onBorder(ranking, reach) ?? (isTie ? 'two things are equally near' : null)
  return { item: first?.item ?? null, km: first?.km ?? 0, unsure }
}

/**
 * The places `from` to before `to` of a ranking of buoys. Those equally far away may stand in either order,
 * unless they are at one point: then the lower id comes first.
 */
export function inOrder(
  ranking: readonly Ranked<Known>[],
  [from, to]: readonly [number, number],
  write: (buoy: Known, km: number) => ExpectedObject,
): Check {
  const rest = ranking.slice(from)
  const right = rest.slice(0, to - from).map(({ item, km }) => write(item, km))
  return (got) => {
    if (!Array.isArray(got) || got.length !== right.length) return right
    const seen = new Set<Known>()
    const chosen: ExpectedObject[] = []
    for (const [i, one] of (got as JsonObject[]).entries()) {
      const mine = rest.find(({ item }) => item.id === one?.['id'])
      if (mine === undefined || Math.abs(rest[i].km - mine.km) > SAME_KM) return right
      if (rest.find(({ place, item }) => place === mine.place && !seen.has(item)) !== mine) return right
      seen.add(mine.item)
      chosen.push(write(mine.item, mine.km))
    }
    return chosen
  }
}

/** The measures by their names on the wire. */
export const MEASURE_OF: { [field: string]: keyof Measures } = Object.fromEntries(
  Object.entries(COLUMNS).map(([column, measure]) => [
    column.replace('significant', 'significient'),
    measure,
  ]),
)
const COLUMN_NAMES = Object.keys(COLUMNS) as Column[]
export const WEATHER_FIELDS = COLUMN_NAMES.slice(-5)
export const SWELL_FIELDS = COLUMN_NAMES.slice(-11, -5)

/** What `include` adds, of any values. */
export function extras<T extends Expected>(
  included: readonly string[],
  of: (field: string) => T,
): { [field: string]: T } {
  const fields = [
    ...(included.includes('peak_period') ? ['peak_period'] : []),
    ...(included.includes('wind') ? ['wind_speed', 'wind_direction', 'gust_speed'] : []),
    ...(included.includes('swell') ? SWELL_FIELDS : []),
    ...(included.includes('weather') ? WEATHER_FIELDS : []),
  ]
  return Object.fromEntries(fields.map((field) => [field, of(field)]))
}

/** The measures of a row without a significant height. */
const OF_WEATHER = [
  'waterTemperature',
  'windSpeed',
  'windDirection',
  'gustSpeed',
  ...WEATHER_FIELDS.map((field) => COLUMNS[field]),
] as const

/**
 * The rows without waves that have anything, without what describes waves; of a buoy that has ever measured
 * waves.
 */
export function weatherOf({ rows, readings }: Known): WorldRow[] {
  if (readings.length === 0) return []
  return rows
    .filter((row) => row.significantHeight === null && OF_WEATHER.some((measure) => row[measure] !== null))
    .map((row) => {
      const kept = OF_WEATHER.map((measure) => [measure, row[measure]])
      return { ...emptyRow(row.time), ...Object.fromEntries(kept) } as WorldRow
    })
}

/** The newest row of weather, unless the last reading is newer and has all that it has. */
export function lastWeather(buoy: Known): JsonObject | null {
  const { newest: reading } = buoy
  const newest = weatherOf(buoy).at(-1)
  if (newest === undefined) return null
  const isKnown = OF_WEATHER.every((measure) => newest[measure] === null || reading?.[measure] != null)
  if (reading !== null && newest.time < reading.time && isKnown) return null
  const fields = Object.entries(MEASURE_OF).filter(([, measure]) => OF_WEATHER.some((one) => one === measure))
  const values = fields.map(([field, measure]): [string, Json] => [field, newest[measure]])
  return { time: isoTime(newest.time), ...Object.fromEntries(values) }
}

export function fullReading(buoy: Known, row: WorldRow, included: readonly string[]): JsonObject {
  return {
    id: readingId(buoy.id, row.time),
    uuid: uuidOf(buoy.id, row.time),
    significient_height: row.significantHeight,
    maximum_height: row.maximumHeight,
    period: row.period,
    time: isoTime(row.time),
    water_temperature: row.waterTemperature,
    direction: row.direction,
    direction_compass: row.direction === null ? null : compass(row.direction),
    unit: 'm',
    energy_per_wave: energy(row.significantHeight, row.period),
    ...extras(included, (field) => row[MEASURE_OF[field]]),
  }
}

export function lastReading(buoy: Known, included: readonly string[]): Json {
  if (buoy.newest === null) return null
  const {
    id: _id,
    direction_compass: _compass,
    energy_per_wave: _energy,
    ...others
  } = fullReading(buoy, buoy.newest, included)
  return others
}

export const namedPlace = ({ id, slug, record: { name, lat, lng } }: Known): JsonObject => ({
  id,
  name,
  slug,
  lat,
  lng,
})

export const buoySummary = ({ record }: Known): JsonObject => ({
  name: record.name,
  lat: record.lat,
  lng: record.lng,
  source: record.source,
  dtz: record.timezone,
})

export const nearestItem =
  (included: readonly string[]) =>
  (buoy: Known, km: number): ExpectedObject => ({
    id: buoy.id,
    name: buoy.record.name,
    lat: buoy.record.lat,
    lng: buoy.record.lng,
    source: buoy.record.source,
    source_identifier: buoy.record.identifier,
    last_reading: lastReading(buoy, included),
    distance_km: about(km, 2),
  })
