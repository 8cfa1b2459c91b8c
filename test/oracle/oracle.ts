/**
 * The slow answer to every request: plain objects, plain loops, nothing looked up that can be searched for.
 *
 * Written from the published contract alone, so that a fault in the product and a fault here are unlikely to
 * be the same one. It takes requests whose parameters are well formed.
 */
import { looserRanks } from './spelling.ts'
import {
  COLUMNS,
  type ForecastHour,
  type Measures,
  type World,
  type WorldBuoy,
  type WorldRow,
} from './world.ts'

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export type Operation =
  | 'list'
  | 'detail'
  | 'last_readings'
  | 'search'
  | 'nearest'
  | 'readings'
  | 'readings_search'
  | 'reading'
  | 'chart'
  | 'series'
  | 'countries'
  | 'map'

/** A request that was understood: one decoded text per parameter. Absent and empty are the same. */
export interface Question {
  operation: Operation
  /** The `{buoy_id}` of the path. */
  buoyId?: string
  /** The `{reading_id}` of the path. */
  readingId?: string
  parameters: ReadonlyMap<string, string>
}

export interface Answer {
  status: number
  /** The whole body of a success, with `meta.timestamp` left as `TIMESTAMP`; of an error only `error`. */
  body: JsonObject
  /** For errors: parameters of which the message has to name one; empty when it need not name any. */
  names: string[]
  /**
   * Why the last digit or the edge of this answer cannot be the same in two right programs (a distance
   * within a millimetre of the radius, a rounding tie); null almost always.
   */
  unsure: string | null
  /** Where order or choice may differ between points equally far away: every candidate, nearest first. */
  ranking: Ranked[] | null
  /** Points of series on a rounding tie of a circular mean: `year/bucket_index` → the other right value. */
  either: Map<string, number>
}

export interface Ranked {
  id: number
  km: number
  place: string
  item: JsonObject
}

export const TIMESTAMP = 'TIMESTAMP'
const ACTIVE_WITHIN = 86_400
const DAY = 86_400
/** Below this, in km, two ways to compute a great circle may disagree. */
const SAME_KM = 1e-6

/** A reading: a row that has a significant height. */
interface Reading extends WorldRow {
  significantHeight: number
}

export interface Known {
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

/** How the `source` filter compares: blanks, hyphens and slashes do not count either. */
const sourceWord = (text: string) => fold(text).replaceAll(/[\s\p{Z}\p{Pd}_/]/gu, '')

const byCodeUnits = (a: string, b: string) => (a < b ? -1 : Number(a > b))

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

const isoTime = (epoch: number) => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
const hex = (value: number) => value.toString(16).padStart(12, '0')

function uuidOf(buoy: number, time: number): string {
  const clock = hex(time)
  return `${clock.slice(0, 8)}-${clock.slice(8)}-8000-8000-${hex(buoy)}`
}

const countryNames = new Intl.DisplayNames(['en'], { type: 'region' })

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
    const base = slugOf(record.name)
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
      rows,
      readings,
      newest,
      active: newest !== null && newest.time >= world.asOf - ACTIVE_WITHIN,
      countryName: record.country === null ? null : (countryNames.of(record.country) ?? null),
    }
  })
}

function rowsInOrder(record: WorldBuoy, asOf: number): WorldRow[] {
  const byTime = new Map<number, WorldRow>()
  for (const row of record.rows) {
    if (row.time > asOf) continue
    const turned = { ...row }
    if (turned.direction === 360) turned.direction = 0
    if (turned.swellDirection === 360) turned.swellDirection = 0
    // No wave has a period of 0 s.
    for (const name of ['period', 'peakPeriod', 'swellPeriod', 'windWavePeriod'] as const)
      if (turned[name] === 0) turned[name] = null
    byTime.set(row.time, turned)
  }
  return [...byTime.values()].toSorted((a, b) => a.time - b.time)
}

/** What `include` of the question under way names. */
let included: readonly string[] = []

function extras(row: Reading): JsonObject {
  return {
    ...(included.includes('peak_period') && { peak_period: row.peakPeriod }),
    ...(included.includes('wind') && {
      wind_speed: row.windSpeed,
      wind_direction: row.windDirection === 360 ? 0 : row.windDirection,
      gust_speed: row.gustSpeed,
    }),
    ...(included.includes('swell') &&
      Object.fromEntries(SWELL_FIELDS.map((field) => [field, row[MEASURE_OF[field]]]))),
  }
}

function fullReading(buoy: Known, row: Reading): JsonObject {
  return {
    id: buoy.id * 10 ** 10 + row.time,
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
    ...extras(row),
  }
}

function lastReading(buoy: Known): Json {
  if (buoy.newest === null) return null
  const {
    id: _id,
    direction_compass: _compass,
    energy_per_wave: _energy,
    ...others
  } = fullReading(buoy, buoy.newest)
  return others
}

const lastReadingTime = (buoy: Known) => (buoy.newest === null ? null : isoTime(buoy.newest.time))

const namedPlace = ({ id, slug, record: { name, lat, lng } }: Known): JsonObject => ({
  id,
  name,
  slug,
  lat,
  lng,
})

function listItem(buoy: Known): JsonObject {
  const { record } = buoy
  return {
    ...namedPlace(buoy),
    source: record.source,
    source_identifier: record.identifier,
    last_reading_time: lastReadingTime(buoy),
    readings_count: buoy.readings.length,
    last_reading: lastReading(buoy),
    timezone: record.timezone,
  }
}

const NO_PASS = {
  pass_id: null,
  satellite_pass_id: null,
  external_id: null,
  pass_name: null,
  pass_platform: null,
}

function mapItem(buoy: Known): JsonObject {
  const { timezone, source, virtual } = buoy.record
  return {
    ...namedPlace(buoy),
    timezone,
    source,
    virtual,
    last_reading_time: lastReadingTime(buoy),
    last_reading: lastReading(buoy),
    ...(virtual && NO_PASS),
  }
}

/** Degrees as whole ten-millionths, so that borders compare exactly. */
const grid = (degrees: number) => Math.round(degrees * 1e7)
const TURN = 360 * 1e7

interface Box {
  south: number
  west: number
  north: number
  east: number
}

/** Borders belong to the box; one that reaches round the globe holds every longitude. */
export function boxHolds(box: Box, lat: number, lng: number): boolean {
  const clamp = (degrees: number) => Math.min(90, Math.max(-90, degrees))
  if (grid(lat) < grid(clamp(box.south)) || grid(lat) > grid(clamp(box.north))) return false
  const span = grid(box.east) - grid(box.west)
  if (span >= TURN) return true
  const turned = (value: number) => ((value % TURN) + TURN) % TURN
  return turned(grid(lng) - grid(box.west)) <= turned(span)
}

/** Everything the oracle knows, and the one way to ask it. */
export function makeOracle(world: World): (question: Question) => Answer {
  const buoys = knownBuoys(world)
  const networks = new Map(world.sources.map((source) => [source.name, source.network]))
  return (question) => {
    const wanted = (): Known[] => buoys.filter((buoy) => isWanted(buoy, world.asOf, question.parameters))
    included = question.parameters.get('include')?.split(',') ?? []
    // The two ways to ask for a box exclude each other.
    if (['bounds', 'bbox'].every((name) => question.parameters.has(name))) return failure(400, ['bbox'])
    const { parameters } = question
    const answers: { [operation in Operation]: () => Answer } = {
      list: () => list(wanted(), [...networks.keys()], parameters),
      detail: () => detail(buoys, question),
      last_readings: () => lastReadings(buoys, parameters),
      search: () => search(buoys, parameters),
      nearest: () => nearest(wanted(), parameters),
      readings: () => readingsList(buoys, question),
      readings_search: () => readingsSearch(buoys, question),
      reading: () => readingById(buoys, question),
      chart: () => chart(buoys, question, world),
      series: () => series(buoys, question, world.asOf, networks),
      countries: () => countries(buoys),
      map: () => map(wanted(), parameters, buoys),
    }
    return answers[question.operation]()
  }
}

const plainAnswer = { names: [], unsure: null, ranking: null, either: new Map<string, number>() }

function success(data: JsonObject, meta: JsonObject = {}, more: Partial<Answer> = {}): Answer {
  return {
    ...plainAnswer,
    status: 200,
    body: { status: 'success', data, meta: { ...meta, timestamp: TIMESTAMP } },
    ...more,
  }
}

/** An error of the contract's table; `names` are the parameters of which the message names one. */
export function failure(status: number, names: string[] = []): Answer {
  const errors: { [status: number]: string } = {
    400: 'bad_request',
    401: 'unauthorized',
    404: 'resource_not_found',
    405: 'method_not_allowed',
    422: 'validation_failed',
    429: 'rate_limit_exceeded',
  }
  return { ...plainAnswer, status, body: { error: errors[status] }, names }
}

const isTrue = (text: string | undefined, otherwise: boolean) =>
  text === undefined ? otherwise : /^(true|1)$/i.test(text)
const numberOr = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number(text)

function find(buoys: Known[], id: string | undefined): Known | undefined {
  const byId = /^\d+$/.test(id ?? '') ? buoys.find((buoy) => buoy.id === Number(id)) : undefined
  return byId ?? buoys.find((buoy) => buoy.slug === id)
}

function page(length: number, parameters: ReadonlyMap<string, string>, usual: number, most: number) {
  const perPage = Math.min(most, numberOr(parameters.get('per_page'), usual))
  const number = numberOr(parameters.get('page'), 1)
  return {
    from: (number - 1) * perPage,
    to: number * perPage,
    meta: { page: number, per_page: perPage, total_pages: Math.ceil(length / perPage) },
  }
}

function rank(
  found: Known[],
  lat: number,
  lng: number,
  item: (buoy: Known, km: number) => JsonObject,
): Ranked[] {
  return found
    .map((buoy) => {
      const km = kilometres(lat, lng, buoy.record.lat, buoy.record.lng)
      return { id: buoy.id, km, place: `${buoy.record.lat} ${buoy.record.lng}`, item: item(buoy, km) }
    })
    .toSorted((a, b) => a.km - b.km || a.id - b.id)
}

/** Two right programs may put a point this close to the border on either side of it. */
const onBorder = (ranking: Ranked[], km: number) =>
  ranking.some((entry) => entry.km !== km && Math.abs(entry.km - km) < SAME_KM)
    ? 'a buoy lies on the border of the radius'
    : null

/** The measures by their names on the wire. */
export const MEASURE_OF: { [field: string]: keyof Measures } = Object.fromEntries(
  Object.entries(COLUMNS).map(([column, measure]) => [
    column.replace('significant', 'significient'),
    measure,
  ]),
)
const SWELL_FIELDS = Object.keys(MEASURE_OF).slice(-6)

/** What `has` and `max_age` say of the newest reading. */
function isWanted({ newest }: Known, asOf: number, parameters: ReadonlyMap<string, string>): boolean {
  const [has, age] = [parameters.get('has'), parameters.get('max_age')]
  if (has === undefined && age === undefined) return true
  if (newest === null) return false
  if (has !== undefined && has.split(',').some((field) => newest[MEASURE_OF[field]] === null)) return false
  if (age === undefined) return true
  const unit = { m: 60, h: 3600, d: 86_400 }[age.slice(-1)] ?? 1
  return asOf - newest.time <= Number.parseInt(age) * unit
}

function boxOf(parameters: ReadonlyMap<string, string>): Box | null {
  const [bounds, bbox] = [parameters.get('bounds'), parameters.get('bbox')]
  if (bbox === undefined) return bounds === undefined ? null : (JSON.parse(bounds) as Box)
  const [west, south, east, north] = bbox.split(',').map(Number)
  return { west, south, east, north }
}

// Operation 1.
function list(buoys: Known[], networks: readonly string[], parameters: ReadonlyMap<string, string>): Answer {
  const box = boxOf(parameters)
  const source = parameters.get('source')
  const country = parameters.get('country')
  const near = parameters.get('near')
  const isUnknown = source !== undefined && !networks.some((name) => sourceWord(name) === sourceWord(source))
  if (isUnknown && networks.length > 0) return failure(400, ['source'])
  let found = buoys.filter((buoy) => !isTrue(parameters.get('active_only'), true) || buoy.active)
  if (box !== null) {
    found = found.filter((buoy) => boxHolds(box, buoy.record.lat, buoy.record.lng))
  }
  if (source !== undefined)
    found = found.filter((buoy) => sourceWord(buoy.record.source) === sourceWord(source))
  if (country !== undefined) found = found.filter((buoy) => buoy.record.country === country)
  const usual = country === undefined ? 50 : 500
  if (near === undefined) {
    const { from, to, meta } = page(found.length, parameters, usual, 500)
    return success({ buoys: found.slice(from, to).map(listItem), count: found.length }, meta)
  }
  const [lat, lng] = near.split(',').map(Number) as [number, number]
  const radius = numberOr(parameters.get('radius'), 100)
  const all = rank(found, lat, lng, listItem)
  const within = all.filter((entry) => entry.km <= radius)
  const { from, to, meta } = page(within.length, parameters, usual, 500)
  return success({ buoys: within.slice(from, to).map((entry) => entry.item), count: within.length }, meta, {
    unsure: onBorder(all, radius),
    ranking: within.slice(from),
  })
}

function availableOf({ rows, readings }: Known): JsonObject {
  return Object.fromEntries(
    Object.entries(MEASURE_OF).flatMap(([field, measure]) => {
      const those: WorldRow[] = /^(wind_(speed|direction)|gust|water)/.test(field) ? rows : readings
      const times = those.filter((row) => row[measure] !== null).map(({ time }) => time)
      if (times.length === 0) return []
      return [[field, { first: isoTime(Math.min(...times)), last: isoTime(Math.max(...times)) }]]
    }),
  )
}

// Operation 2.
function detail(buoys: Known[], question: Question): Answer {
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  return success({
    buoy: {
      ...listItem(buoy),
      country: buoy.countryName,
      dtz: buoy.record.timezone,
      ...(included.includes('available') && { available: availableOf(buoy) }),
    },
  })
}

// Operation 3. `ids` holds all pieces, from every spelling of the parameter, in the order sent.
function lastReadings(buoys: Known[], parameters: ReadonlyMap<string, string>): Answer {
  const ids = parameters.get('ids')!.split(',').map(Number)
  const taken = [...new Set(ids.slice(0, numberOr(parameters.get('limit'), 3)))]
  const found = taken.flatMap((id) => buoys.find((buoy) => buoy.id === id) ?? [])
  return success({
    buoys: found.map((buoy) => ({
      id: buoy.id,
      name: buoy.record.name,
      lat: buoy.record.lat,
      lng: buoy.record.lng,
      source: buoy.record.source,
      last_reading: buoy.newest === null ? null : fullReading(buoy, buoy.newest),
    })),
    missing_ids: taken.filter((id) => !buoys.some((buoy) => buoy.id === id)),
  })
}

/**
 * Exact slug or identifier, then beginning of the name, of a word, then anywhere (decisions, operation 4): 0 the
 * best. A word starts where no letter or digit stands before.
 */
export function searchRank(
  buoy: { slug: string; record: Pick<WorldBuoy, 'name' | 'identifier'> },
  query: string,
): number | null {
  const name = fold(buoy.record.name)
  const identifier = fold(buoy.record.identifier)
  const texts = [name, buoy.slug, identifier]
  if (buoy.slug === query || identifier === query) return 0
  if (name.startsWith(query)) return 1
  const starts = (text: string) => {
    for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]$/u.test(text.slice(0, at))) return true
    }
    return false
  }
  if (texts.some((text) => starts(text))) return 2
  return texts.some((text) => text.includes(query)) ? 3 : null
}

// Operation 4.
function search(buoys: Known[], parameters: ReadonlyMap<string, string>): Answer {
  const asked = parameters.get('query')!.trim()
  const query = fold(asked)
  const exact = buoys.map((buoy) => searchRank(buoy, query))
  const isAny = exact.some((place) => place !== null)
  const spelled = buoys.map(({ record, slug, countryName }) => ({
    name: record.name,
    slug,
    identifier: record.identifier,
    country: countryName ?? '',
  }))
  const looser = looserRanks(spelled, asked, isAny)
  const ranked = buoys
    .flatMap((buoy, i) => {
      const place = exact[i] ?? (looser.has(i) ? 10 + looser.get(i)! : null)
      return place === null ? [] : [{ buoy, place }]
    })
    .toSorted(
      (a, b) =>
        a.place - b.place ||
        Number(b.buoy.active) - Number(a.buoy.active) ||
        byCodeUnits(fold(a.buoy.record.name), fold(b.buoy.record.name)) ||
        a.buoy.id - b.buoy.id,
    )
    .slice(0, numberOr(parameters.get('limit'), 10))
  return success({
    buoys: ranked.map(({ buoy }) => ({
      ...namedPlace(buoy),
      source: buoy.record.source,
      source_identifier: buoy.record.identifier,
      country: buoy.countryName,
    })),
    count: ranked.length,
  })
}

// Operation 5.
function nearest(buoys: Known[], parameters: ReadonlyMap<string, string>): Answer {
  const lat = Number(parameters.get('lat'))
  const lng = Number(parameters.get('lng'))
  const radius = numberOr(parameters.get('max_distance'), 150)
  const limit = numberOr(parameters.get('limit'), 1)
  const all = rank(
    buoys.filter((buoy) => buoy.active && !buoy.record.virtual),
    lat,
    lng,
    (buoy, km) => ({
      id: buoy.id,
      name: buoy.record.name,
      lat: buoy.record.lat,
      lng: buoy.record.lng,
      source: buoy.record.source,
      source_identifier: buoy.record.identifier,
      last_reading: lastReading(buoy),
      distance_km: Math.round(km * 100) / 100,
    }),
  )
  const within = all.filter((entry) => entry.km <= radius)
  const chosen = within.slice(0, limit)
  const tie = chosen.some((entry) => Math.abs(((entry.km * 100) % 1) - 0.5) < 1e-5)
  const more = {
    unsure: onBorder(all, radius) ?? (tie ? 'a distance lies on a rounding tie' : null),
    ranking: within,
  }
  if (chosen.length === 0) return { ...failure(404), unsure: more.unsure }
  if (limit === 1) return success({ buoy: chosen[0].item }, {}, more)
  return success({ buoys: chosen.map((entry) => entry.item), count: chosen.length }, {}, more)
}

/** Whether a text is a calendar date alone. */
const isDate = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text)
const dayStart = (text: string) => Date.parse(`${text}T00:00:00Z`) / 1000
const instant = (text: string, end: boolean) =>
  isDate(text) ? dayStart(text) + (end ? DAY - 1 : 0) : Date.parse(text) / 1000

const buoySummary = ({ record }: Known): JsonObject => ({
  name: record.name,
  lat: record.lat,
  lng: record.lng,
  source: record.source,
  dtz: record.timezone,
})

// Operation 6.
function readingsList(buoys: Known[], question: Question): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const date = parameters.get('date')
  const timestamp = parameters.get('timestamp')
  const startText = parameters.get('start_date')
  const endText = parameters.get('end_date')
  const ranges = [date, timestamp, startText ?? endText].filter((text) => text !== undefined)
  if (ranges.length > 1) return failure(422, ['date', 'timestamp', 'start_date', 'end_date'])
  let start = buoy.readings[0]?.time ?? null
  let end = buoy.newest?.time ?? null
  if (date !== undefined) [start, end] = [dayStart(date), dayStart(date) + DAY - 1]
  if (timestamp !== undefined) [start, end] = [Number(timestamp) - 5400, Number(timestamp) + 5400]
  if (startText !== undefined) start = instant(startText, false)
  if (endText !== undefined) end = instant(endText, true)
  if (startText !== undefined && endText !== undefined && start > end!) {
    return failure(422, ['start_date', 'end_date'])
  }
  const found = buoy.readings.filter(({ time }) => time >= start && time <= end!)
  if (parameters.get('order') !== 'asc') found.reverse()
  const { from, to, meta } = page(found.length, parameters, 20, 100)
  return success(
    {
      buoy: buoySummary(buoy),
      readings: found.slice(from, to).map((row) => fullReading(buoy, row)),
      count: found.length,
    },
    {
      ...meta,
      date_range: {
        start: start === null ? null : isoTime(start),
        end: end === null ? null : isoTime(end),
      },
    },
  )
}

// Operation 7.
function readingsSearch(buoys: Known[], question: Question): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const target = Date.parse(`${parameters.get('date')}T${parameters.get('time')}:00Z`) / 1000
  const tolerance = numberOr(parameters.get('tolerance_hours'), 3)
  const away = (row: Reading) => Math.abs(row.time - target)
  const closest = buoy.readings
    .filter((row) => away(row) <= tolerance * 3600)
    .toSorted((a, b) => away(a) - away(b) || a.time - b.time)[0]
  if (closest === undefined) return failure(404)
  return success({
    closest_reading: { ...fullReading(buoy, closest), time_diff_minutes: Math.round(away(closest) / 60) },
    search_parameters: {
      target_datetime: isoTime(target),
      tolerance_hours: tolerance,
      search_range: { start: isoTime(target - tolerance * 3600), end: isoTime(target + tolerance * 3600) },
    },
  })
}

// Operation 8.
function readingById(buoys: Known[], question: Question): Answer {
  const buoy = find(buoys, question.buoyId)
  const reading = buoy?.readings
    .map((row) => fullReading(buoy, row))
    .find((one) => JSON.stringify(one['id']) === question.readingId || one['uuid'] === question.readingId)
  if (buoy === undefined || reading === undefined) return failure(404)
  return success({ reading, buoy: { id: buoy.id, name: buoy.record.name } })
}

const FORECAST_KM = 50

/** The hours of the nearest forecast point; null where two points are equally near, or one is at the border. */
function forecastAt({ forecasts }: World, lat: number, lng: number): ForecastHour[] | null {
  const near = forecasts
    .map((point) => ({ point, km: kilometres(lat, lng, point.lat, point.lng) }))
    .toSorted((a, b) => a.km - b.km)
  const [first, second] = near
  if (first === undefined || first.km > FORECAST_KM + SAME_KM) return []
  const isTie = second !== undefined && second.km - first.km < SAME_KM
  return isTie || Math.abs(first.km - FORECAST_KM) < SAME_KM ? null : first.point.hours
}

// Operation 9. Readings stand at their times and forecasts at full hours; the world has no tides.
function chart(buoys: Known[], question: Question, world: World): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const start = instant(parameters.get('start_date') ?? isoTime(world.asOf - 7 * DAY), false)
  const end = instant(parameters.get('end_date') ?? isoTime(world.asOf + 3 * DAY), true)
  if (start > end || end - start > 31 * DAY) return failure(422, ['start_date', 'end_date'])
  const parts = (parameters.get('include') ?? '').split(',')
  const isWithin = ({ time }: { time: number }): boolean => time >= start && time <= end
  const readings = new Map(buoy.readings.filter(isWithin).map((row) => [row.time, row]))
  const forecast = forecastAt(world, buoy.record.lat, buoy.record.lng)
  const hours = new Map((forecast ?? []).filter(isWithin).map((hour) => [hour.time, hour]))
  const shown = (hour: ForecastHour): boolean => parts.includes('measures') || hour.wave_height !== null
  const times = new Set([...readings.keys(), ...[...hours.values()].filter(shown).map(({ time }) => time)])
  const axis = [...times].toSorted((a, b) => a - b)
  const columnsOf = (names: readonly string[]): JsonObject =>
    Object.fromEntries(
      names.map((name) => [name, axis.map((time) => readings.get(time)?.[COLUMNS[name]] ?? null)]),
    )
  const ofForecast = (name: keyof ForecastHour): Json => axis.map((time) => hours.get(time)?.[name] ?? null)
  const answer = success({
    buoy: { id: buoy.id, ...buoySummary(buoy) },
    fields: {},
    time: axis.map(isoTime),
    ...columnsOf(['significant_height', 'maximum_height', 'period']),
    forecast_wave_height: ofForecast('wave_height'),
    tide_level: axis.map(() => null),
    ...(parts.includes('measures') && {
      ...columnsOf(['direction', 'peak_period', 'water_temperature', 'wind_speed']),
      // North is 0, as in a reading.
      wind_direction: axis.map((time) => {
        const direction = readings.get(time)?.windDirection ?? null
        return direction === 360 ? 0 : direction
      }),
      ...columnsOf(['gust_speed']),
      forecast_wind_speed: ofForecast('wind_speed'),
      forecast_wind_direction: ofForecast('wind_direction'),
      forecast_wave_period: ofForecast('wave_period'),
      forecast_wave_direction: ofForecast('wave_direction'),
    }),
    ...(parts.includes('swell') && columnsOf(SWELL_FIELDS)),
  })
  return forecast === null ? { ...answer, unsure: 'two forecast points are equally near' } : answer
}

// Operation 14.
function countries(buoys: Known[]): Answer {
  const counts = new Map<string, number>()
  for (const buoy of buoys) {
    const code = buoy.record.country
    if (buoy.active && code !== null) counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  const found = [...counts]
    .map(([code, buoy_count]) => ({ code, name: countryNames.of(code) ?? code, buoy_count }))
    .toSorted((a, b) => byCodeUnits(fold(a.name), fold(b.name)) || byCodeUnits(a.code, b.code))
  return success({ countries: found, count: found.length })
}

// Operation 15.
function map(buoys: Known[], parameters: ReadonlyMap<string, string>, all: Known[]): Answer {
  const box = boxOf(parameters)
  const found = buoys.filter(
    (buoy) => buoy.active && (box === null || boxHolds(box, buoy.record.lat, buoy.record.lng)),
  )
  const virtual = found.filter((buoy) => buoy.record.virtual).length
  return success({
    buoys: found.map(mapItem),
    count: found.length,
    real_count: found.length - virtual,
    virtual_count: virtual,
    decimals: decimals(all),
  })
}

/** Of each source, by field: the most decimals of the newest 48 readings of its buoys, as JSON writes them. */
function decimals(buoys: Known[]): JsonObject {
  const sources = [...new Set(buoys.map(({ record }) => record.source))].toSorted(byCodeUnits)
  const ofSource = (source: string): JsonObject => {
    const newest = buoys
      .filter(({ record }) => record.source === source)
      .flatMap(({ readings }) => readings.slice(-48))
    const fields = Object.entries(MEASURE_OF).map(([field, measure]): [string, string[]] => [
      field,
      newest.map((reading) => JSON.stringify(reading[measure])).filter((text) => text !== 'null'),
    ])
    return Object.fromEntries(
      fields
        .filter(([, texts]) => texts.length > 0)
        .map(([field, texts]) => [
          field,
          Math.max(...texts.map((text) => (text.split('.')[1] ?? '').length)),
        ]),
    )
  }
  return Object.fromEntries(
    sources
      .map((source) => [source, ofSource(source)])
      .filter(([, fields]) => JSON.stringify(fields) !== '{}'),
  ) as JsonObject
}

// Operation 10, from here on.

interface LocalDate {
  year: number
  month: number
  day: number
}

interface Local {
  /** Days since 1970. */
  serial: number
  hour: number
}

interface Clock {
  format: Intl.DateTimeFormat
  /** Offsets that were asked for before, by minute: the same hours come up in every request. */
  offsets: Map<number, number>
}

const clocks = new Map<string, Clock>()

function clockOf(zone: string): Clock {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const clock = { format, offsets: new Map<number, number>() }
  clocks.set(zone, clock)
  return clock
}

/** Seconds that the zone is ahead of UTC, to the minute. */
function offsetAt(zone: string, epoch: number): number {
  const { format, offsets } = clockOf(zone)
  const whole = Math.floor(epoch / 60) * 60
  const known = offsets.get(whole)
  if (known !== undefined) return known
  const [month, day, year, hour, minute] = format
    .format(whole * 1000)
    .match(/\d+/g)!
    .map(Number)
  const offset = Date.UTC(year, month - 1, day, hour, minute) / 1000 - whole
  offsets.set(whole, offset)
  return offset
}

/** Wall clock of a zone at an instant. */
function localAt(zone: string, epoch: number): Local {
  const wall = epoch + offsetAt(zone, epoch)
  return { serial: Math.floor(wall / DAY), hour: Math.floor(wall / 3600) % 24 }
}

/**
 * The first instant at which a zone's clock shows the given day and hour; where the clock skips them, the
 * instant after the gap; where it shows them twice, the first time.
 */
function firstInstant(zone: string, serial: number, hour = 0): number {
  const wall = serial * DAY + hour * 3600
  const offsets = [wall - DAY, wall, wall + DAY].map((epoch) => offsetAt(zone, epoch))
  const candidates = offsets
    .map((offset) => wall - offset)
    .filter((epoch) => epoch + offsetAt(zone, epoch) === wall)
    .toSorted((a, b) => a - b)
  if (candidates[0] !== undefined) return candidates[0]
  let [before, after] = [wall - DAY, wall + DAY]
  while (after - before > 60) {
    const middle = Math.floor((before + after) / 120) * 60
    if (offsetAt(zone, middle) === offsetAt(zone, wall - DAY)) before = middle
    else after = middle
  }
  return after
}

function offsetTime(zone: string, epoch: number): string {
  const offset = offsetAt(zone, epoch)
  const minutes = Math.abs(offset) / 60
  const two = (value: number) => String(value).padStart(2, '0')
  const sign = offset < 0 ? '-' : '+'
  return `${isoTime(epoch + offset).slice(0, 19)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** Days since 1970 of a date. */
const serialOf = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / 1000 / DAY
const isLeap = (year: number) => new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29
const dateOf = (serial: number): LocalDate => {
  const date = new Date(serial * DAY * 1000)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}
/** Place of a date in a year that has 29 February. */
const leapPlace = (month: number, day: number) => serialOf(2000, month, day) - serialOf(2000, 1, 1)

interface SeasonDates {
  start: { month: number; day: number }
  end: { month: number; day: number }
}

/** First and last day of the season that belongs to a year. */
function seasonDays({ start, end }: SeasonDates, year: number): { first: number; last: number } {
  const wraps = leapPlace(end.month, end.day) < leapPlace(start.month, start.day)
  const endYear = wraps ? year + 1 : year
  const startLost = start.month === 2 && start.day === 29 && !isLeap(year)
  const endLost = end.month === 2 && end.day === 29 && !isLeap(endYear)
  return {
    first: startLost ? serialOf(year, 3, 1) : serialOf(year, start.month, start.day),
    last: endLost ? serialOf(endYear, 2, 28) : serialOf(endYear, end.month, end.day),
  }
}

const OF_WAVES = new Set(['significient_height', 'maximum_height', 'period', 'peak_period', 'direction'])

/** Thousandths, exactly: no measured value has more digits. */
const thousandths = (value: number) => Math.round(value * 1000)

/** `sum` thousandths over `count`, to two decimals, halves away from zero. */
function twoDecimals(sum: number, count: number): number {
  const sign = sum < 0 ? -1 : 1
  return (sign * Math.floor((2 * Math.abs(sum) + 10 * count) / (20 * count))) / 100
}

interface Statistic {
  value: number | null
  other: number | null
}

/**
 * The statistic of one bucket, and the other right value where the first lies on a rounding tie of a circular
 * mean.
 */
export function statistic(values: number[], aggregation: string, circular: boolean): Statistic {
  if (circular) {
    const radians = values.map((value) => (value * Math.PI) / 180)
    const east = radians.reduce((sum, angle) => sum + Math.sin(angle), 0) / values.length
    const north = radians.reduce((sum, angle) => sum + Math.cos(angle), 0) / values.length
    if (Math.hypot(east, north) < 1e-6) return { value: null, other: null }
    const degrees = ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
    const tie = Math.abs((degrees % 1) - 0.5) < 1e-6
    return {
      value: Math.round(degrees) % 360,
      other: tie
        ? (Math.round(degrees) === Math.floor(degrees) ? Math.ceil(degrees) : Math.floor(degrees)) % 360
        : null,
    }
  }
  const ordered = values.map(thousandths).toSorted((a, b) => a - b)
  const middle = ordered.length / 2
  let value: number
  if (aggregation === 'min') value = twoDecimals(ordered[0], 1)
  else if (aggregation === 'max') value = twoDecimals(ordered.at(-1)!, 1)
  else if (aggregation === 'avg') {
    value = twoDecimals(
      ordered.reduce((sum, one) => sum + one, 0),
      ordered.length,
    )
  } else if (ordered.length % 2 === 1) value = twoDecimals(ordered[Math.floor(middle)], 1)
  else value = twoDecimals(ordered[middle - 1] + ordered[middle], 2)
  return { value: value === 0 ? 0 : value, other: null }
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

interface Bucket {
  index: number
  start: number
  end: number
  label: string
  values: number[]
}

function series(
  buoys: Known[],
  question: Question,
  asOf: number,
  networks: ReadonlyMap<string, string>,
): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const metric = parameters.get('metric')!
  const measure = MEASURE_OF[metric]
  const [wave, circular] = [OF_WAVES.has(metric), metric.endsWith('direction')]
  const isMeasured = buoy.rows.some((row) => row[measure] !== null)
  if (!wave && networks.get(buoy.record.source) !== 'national' && !isMeasured) return failure(422, ['metric'])
  const bucket = parameters.get('bucket') ?? 'day'
  const aggregation = parameters.get('aggregation') ?? 'median'
  if (circular && (aggregation === 'min' || aggregation === 'max')) return failure(422, ['aggregation'])
  const zone = parameters.get('timezone') ?? buoy.record.timezone
  const dayName = (name: string, otherwise: number) =>
    numberOr(parameters.get(name) ?? parameters.get(`season_${name}`), otherwise)
  const season: SeasonDates = {
    start: { month: dayName('start_month', 1), day: dayName('start_day', 1) },
    end: { month: dayName('end_month', 12), day: dayName('end_day', 31) },
  }
  const dateNames = ['start_month', 'start_day', 'end_month', 'end_day']
  for (const { month, day } of [season.start, season.end]) {
    if (new Date(Date.UTC(2000, month - 1, day)).getUTCMonth() !== month - 1) return failure(422, dateNames)
  }

  const isComplete = (year: number) => firstInstant(zone, seasonDays(season, year).last + 1) <= asOf
  let lastComplete = dateOf(Math.floor(asOf / DAY)).year + 1
  while (!isComplete(lastComplete)) lastComplete--
  const endYear = numberOr(parameters.get('end_year'), lastComplete)
  const startYear = numberOr(parameters.get('start_year'), endYear - 9)
  if (startYear > endYear || endYear - startYear + 1 > 13) return failure(422, ['start_year', 'end_year'])

  const rows: WorldRow[] = wave ? buoy.readings : buoy.rows
  const samples = rows
    .filter((row) => row[measure] !== null)
    .map((row) => ({ value: row[measure]!, ...localAt(zone, row.time) }))
  const either = new Map<string, number>()
  const years = []
  for (let year = startYear; year <= endYear; year++) {
    const { first, last } = seasonDays(season, year)
    const buckets = new Map<number, Bucket>()
    for (const { value, serial, hour } of samples) {
      if (serial < first || serial > last) continue
      const place = bucketPlace(bucket, { zone, first, last, serial, hour, season })
      const known = buckets.get(place.index)
      if (known === undefined) buckets.set(place.index, { ...place, values: [value] })
      else known.values.push(value)
    }
    const points = [...buckets.values()]
      .toSorted((a, b) => a.index - b.index)
      .map(({ index, label, start, end, values }) => {
        const { value, other } = statistic(values, aggregation, circular)
        if (other !== null) either.set(`${year}/${index}`, other)
        return {
          bucket_index: index,
          label,
          bucket_start: offsetTime(zone, start),
          bucket_end: offsetTime(zone, end),
          value,
          sample_count: values.length,
        }
      })
    years.push({ year, complete: isComplete(year), point_count: points.length, points })
  }
  return success(
    {
      buoy: { id: buoy.id, ...buoySummary(buoy) },
      metric,
      bucket,
      aggregation,
      timezone: zone,
      season: { start: season.start, end: season.end },
      years,
      count: years.reduce((sum, one) => sum + one.point_count, 0),
    },
    {},
    { either },
  )
}

interface Moment {
  zone: string
  first: number
  last: number
  serial: number
  hour: number
  season: SeasonDates
}

function bucketPlace(bucket: string, moment: Moment): Omit<Bucket, 'values'> {
  const { zone, first, last, serial, hour, season } = moment
  const label = (day: number) => {
    const date = dateOf(day)
    return `${MONTHS[date.month - 1]} ${String(date.day).padStart(2, '0')}`
  }
  if (bucket === 'week') {
    const week = Math.floor((serial - first) / 7)
    const from = first + week * 7
    const until = Math.min(from + 7, last + 1)
    return {
      index: week + 1,
      start: firstInstant(zone, from),
      end: firstInstant(zone, until) - 1,
      label: label(from),
    }
  }
  const { month, day } = dateOf(serial)
  const place = (leapPlace(month, day) - leapPlace(season.start.month, season.start.day) + 366) % 366
  if (bucket === 'hour') {
    // Hours of the wall clock, 24 places to a day: one that the clock shows twice is one bucket.
    return {
      index: place * 24 + hour + 1,
      start: firstInstant(zone, serial, hour),
      end: firstInstant(zone, serial, hour + 1) - 1,
      label: `${label(serial)} ${String(hour).padStart(2, '0')}:00`,
    }
  }
  return {
    index: place + 1,
    start: firstInstant(zone, serial),
    end: firstInstant(zone, serial + 1) - 1,
    label: label(serial),
  }
}
