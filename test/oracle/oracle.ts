/**
 * The slow answer to every request: plain objects, plain loops, nothing looked up that can be searched for.
 *
 * Written from the published contract alone, so that a fault in the product and a fault here are unlikely to
 * be the same one. It takes requests whose parameters are well formed.
 */
import { chart, conditions, forecast, tides } from './conditions.ts'
import {
  buoySummary,
  byCodeUnits,
  countryNames,
  DAY,
  failure,
  find,
  fold,
  fullReading,
  readingId,
  uuidOf,
  inOrder,
  instant,
  isoTime,
  knownBuoys,
  lastReading,
  lastWeather,
  MEASURE_OF,
  namedPlace,
  nearestItem,
  numberOr,
  onBorder,
  page,
  rank,
  secondsOf,
  success,
  wordsOf,
  type Answer,
  type Check,
  type Expected,
  type ExpectedObject,
  type JsonObject,
  type Known,
  type Parameters,
  type Asked,
  type Ranked,
  type Reading,
  weatherOf,
} from './known.ts'
import { bucketsOf, isTooMany, localInstant, series, zoneTime } from './series.ts'
import { spectra } from './spectra.ts'
import { looserRanks } from './spelling.ts'
import type { Box, Pass, World, WorldBuoy, WorldRow } from './world.ts'

export * from './known.ts'
export { statistic } from './series.ts'

const OPERATIONS = {
  list,
  detail,
  last_readings: lastReadings,
  search,
  nearest,
  readings: readingsList,
  readings_of: readingsOf,
  readings_search: readingsSearch,
  reading: readingById,
  chart,
  series,
  conditions,
  forecast,
  tides,
  spectra,
  countries,
  map,
  satellites,
  satellite_passes: satellitePasses,
}
export type Operation = keyof typeof OPERATIONS

export interface Question extends Asked {
  operation: Operation
}

/** Everything the oracle knows, and the one way to ask it. */
export function makeOracle(world: World): (question: Question) => Answer {
  const buoys = knownBuoys(world)
  return (question) => OPERATIONS[question.operation](buoys, question, world)
}

const includedIn = (parameters: Parameters): string[] => wordsOf(parameters.get('include'))

const lastReadingTime = (buoy: Known) => (buoy.newest === null ? null : isoTime(buoy.newest.time))

function listItem(buoy: Known, included: readonly string[]): JsonObject {
  const { record } = buoy
  return {
    ...namedPlace(buoy),
    source: record.source,
    source_identifier: record.identifier,
    last_reading_time: lastReadingTime(buoy),
    readings_count: record.count ?? buoy.readings.length,
    last_reading: lastReading(buoy, included),
    timezone: record.timezone,
  }
}

/** Slug, name and code of each, in the order of answers; ids of passes begin with the place, from 1. */
const MISSIONS = [
  ['sentinel-3a', 'Sentinel-3A', 'S3A'],
  ['sentinel-3b', 'Sentinel-3B', 'S3B'],
  ['sentinel-6a', 'Sentinel-6A Michael Freilich', 'S6A'],
  ['jason-3', 'Jason-3', 'J3'],
  ['saral', 'SARAL/AltiKa', 'SARAL'],
  ['cryosat-2', 'CryoSat-2', 'C2'],
  ['swot', 'SWOT', 'SWOT'],
  ['cfosat', 'CFOSAT', 'CFO'],
]

function passNames({ mission, cycle, number }: Pass) {
  const place = MISSIONS.findIndex(([slug]) => slug === mission)
  const [, platform, code] = MISSIONS[place]
  const padded = (value: number, digits: number) => String(value).padStart(digits, '0')
  return {
    id: (place + 1) * 1e10 + cycle * 100_000 + number,
    name: `${platform} cycle ${cycle} pass ${number}`,
    external_id: `${code}_C${padded(cycle, 3)}_P${padded(number, 4)}`,
    satellite_pass_id: `${code.toLowerCase()}-${padded(cycle, 3)}-${padded(number, 3)}`,
    platform,
  }
}

const newestFirst = (passes: readonly Pass[]) =>
  passes.toSorted((a, b) => b.started - a.started || passNames(b).id - passNames(a).id)

/** Of the pass that saw a virtual buoy last. */
function passOf({ record }: Known, passes: readonly Pass[]): JsonObject {
  const lastSeen = ({ observations }: Pass) =>
    Math.max(...observations.filter(({ buoy }) => buoy === record).map(({ time }) => time))
  const newest = Math.max(...passes.map(lastSeen))
  const pass = newestFirst(passes).find((one) => newest > 0 && lastSeen(one) === newest)
  const names = pass && passNames(pass)
  return {
    pass_id: names?.id ?? null,
    satellite_pass_id: names?.satellite_pass_id ?? null,
    external_id: names?.external_id ?? null,
    pass_name: names?.name ?? null,
    pass_platform: names?.platform ?? null,
  }
}

function mapItem(buoy: Known, included: readonly string[], passes: readonly Pass[]): JsonObject {
  const { timezone, source, virtual } = buoy.record
  return {
    ...namedPlace(buoy),
    timezone,
    source,
    virtual,
    last_reading_time: lastReadingTime(buoy),
    last_reading: lastReading(buoy, included),
    ...(virtual && passOf(buoy, passes)),
  }
}

/** Degrees as whole ten-millionths, so that borders compare exactly. */
const grid = (degrees: number) => Math.round(degrees * 1e7)
const TURN = 360 * 1e7

/** Borders belong to the box; one that reaches round the globe holds every longitude. */
export function boxHolds(box: Box, lat: number, lng: number): boolean {
  const clamp = (degrees: number) => Math.min(90, Math.max(-90, degrees))
  if (grid(lat) < grid(clamp(box.south)) || grid(lat) > grid(clamp(box.north))) return false
  const span = grid(box.east) - grid(box.west)
  if (span >= TURN) return true
  const turned = (value: number) => ((value % TURN) + TURN) % TURN
  return turned(grid(lng) - grid(box.west)) <= turned(span)
}

const isTrue = (text: string | undefined, otherwise: boolean) =>
  text === undefined ? otherwise : /^(true|1)$/i.test(text)

/** What `has` and `max_age` say of the newest reading. */
function isWanted({ newest }: Known, asOf: number, parameters: Parameters): boolean {
  const [has, age] = [parameters.get('has'), parameters.get('max_age')]
  if (has === undefined && age === undefined) return true
  if (newest === null) return false
  if (wordsOf(has).some((field) => newest[MEASURE_OF[field]] === null)) return false
  return age === undefined || asOf - newest.time <= secondsOf(age)
}

/** How the `source` filter compares: blanks, hyphens and slashes do not count, nor do case and accents. */
const sourceWord = (text: string) => fold(text).replaceAll(/[\s\p{Z}\p{Pd}_/]/gu, '')

function boxOf(parameters: Parameters): Box | null {
  const [bounds, bbox] = [parameters.get('bounds'), parameters.get('bbox')]
  if (bbox === undefined) return bounds === undefined ? null : (JSON.parse(bounds) as Box)
  const [west, south, east, north] = bbox.split(',').map(Number)
  return { west, south, east, north }
}

/** The two ways to ask for a box exclude each other. */
const hasTwoBoxes = (parameters: Parameters): boolean => parameters.has('bounds') && parameters.has('bbox')

interface Filtered {
  /** By id. */
  found: Known[]
  /** With `near`, the same by distance. */
  ranking: Ranked<Known>[] | null
  unsure: string | null
}

/** What the filters of lists take, or the parameter that is wrong. */
function filtered(buoys: Known[], parameters: Parameters, { sources, asOf }: World): Filtered | string {
  if (hasTwoBoxes(parameters)) return 'bbox'
  const box = boxOf(parameters)
  const source = parameters.get('source')
  const country = parameters.get('country')
  const near = parameters.get('near')
  const isSource = ({ record }: Known): boolean =>
    source === undefined || sourceWord(record.source) === sourceWord(source)
  if (source !== undefined && !sources.some(({ name }) => sourceWord(name) === sourceWord(source)))
    return 'source'
  const found = buoys
    .filter((buoy) => isWanted(buoy, asOf, parameters) && isSource(buoy))
    .filter((buoy) => box === null || boxHolds(box, buoy.lat, buoy.lng))
    .filter(({ record }) => country === undefined || record.country === country)
  if (near === undefined) return { found, ranking: null, unsure: null }
  const [lat, lng] = near.split(',').map(Number)
  const radius = numberOr(parameters.get('radius'), 100)
  const all = rank(found, { lat, lng })
  const ranking = all.filter(({ km }) => km <= radius)
  return {
    found: found.filter((buoy) => ranking.some(({ item }) => item === buoy)),
    ranking,
    unsure: onBorder(all, radius),
  }
}

// Operation 1.
function list(buoys: Known[], { parameters }: Asked, world: World): Answer {
  const active = buoys.filter((buoy) => !isTrue(parameters.get('active_only'), true) || buoy.active)
  const those = filtered(active, parameters, world)
  if (typeof those === 'string') return failure(400, [those])
  const { found, ranking, unsure } = those
  const { from, to, meta } = page(found.length, parameters, parameters.has('country') ? 500 : 50, 500)
  const item = (buoy: Known): JsonObject => listItem(buoy, includedIn(parameters))
  const items = ranking === null ? found.slice(from, to).map(item) : inOrder(ranking, [from, to], item)
  return success({ buoys: items, count: found.length }, meta, unsure)
}

function availableOf({ rows, readings }: Known): JsonObject {
  return Object.fromEntries(
    Object.entries(MEASURE_OF).flatMap(([field, measure]) => {
      const those: WorldRow[] =
        /^(wind_(speed|direction)|gust|water|air|dew|pressure|humidity|visibility)/.test(field)
          ? rows
          : readings
      const times = those.filter((row) => row[measure] !== null).map(({ time }) => time)
      if (times.length === 0) return []
      return [[field, { first: isoTime(Math.min(...times)), last: isoTime(Math.max(...times)) }]]
    }),
  )
}

// Operation 2.
function detail(buoys: Known[], { buoyId, parameters }: Asked): Answer {
  const buoy = find(buoys, buoyId)
  if (buoy === undefined) return failure(404)
  const included = includedIn(parameters)
  return success({
    buoy: {
      ...listItem(buoy, included),
      country: buoy.countryName,
      dtz: buoy.record.timezone,
      ...(included.includes('weather') && { last_weather: lastWeather(buoy) }),
      ...(included.includes('available') && { available: availableOf(buoy) }),
    },
  })
}

// Operation 3. `ids` holds all pieces, from every spelling of the parameter, in the order sent.
function lastReadings(buoys: Known[], { parameters }: Asked): Answer {
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
      last_reading: buoy.newest === null ? null : fullReading(buoy, buoy.newest, includedIn(parameters)),
    })),
    missing_ids: taken.filter((id) => !buoys.some((buoy) => buoy.id === id)),
  })
}

/**
 * Exact slug or identifier, then beginning of the name, of a word, then anywhere (decisions, operation 4): 0
 * the best. A word starts where no letter or digit stands before.
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
function search(buoys: Known[], { parameters }: Asked): Answer {
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
function nearest(buoys: Known[], { parameters }: Asked, { asOf }: World): Answer {
  const [lat, lng] = ['lat', 'lng'].map((name) => Number(parameters.get(name)))
  const radius = numberOr(parameters.get('max_distance'), 150)
  const limit = numberOr(parameters.get('limit'), 1)
  const candidates = buoys.filter(
    (buoy) => buoy.active && !buoy.record.virtual && isWanted(buoy, asOf, parameters),
  )
  const all = rank(candidates, { lat, lng })
  const unsure = onBorder(all, radius)
  const within = all.filter(({ km }) => km <= radius)
  const count = Math.min(limit, within.length)
  if (count === 0) return failure(404, [], unsure)
  const items = inOrder(within, [0, limit], nearestItem(includedIn(parameters)))
  if (limit > 1) return success({ buoys: items, count }, {}, unsure)
  return success({ buoy: (got) => (items([got!]) as Expected[])[0] }, {}, unsure)
}

// Operation 6.
function readingsList(buoys: Known[], question: Asked, { asOf }: World): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const isAll = parameters.get('rows') === 'all'
  if (isAll && parameters.has('bucket')) return failure(422, ['rows'])
  const date = parameters.get('date')
  const timestamp = parameters.get('timestamp')
  const startText = parameters.get('start_date')
  const endText = parameters.get('end_date')
  const ranges = [date, timestamp, startText ?? endText].filter((text) => text !== undefined)
  if (ranges.length > 1) return failure(422, ['date', 'timestamp', 'start_date', 'end_date'])
  const all: WorldRow[] = isAll
    ? [...buoy.readings, ...weatherOf(buoy)].toSorted((a, b) => a.time - b.time)
    : buoy.readings
  const asked = parameters.get('timezone') ?? null
  const zone = asked === 'auto' ? buoy.record.timezone : asked
  const at = (text: string, isEnd: boolean) => localInstant(text, isEnd, asOf, zone)
  let start = all[0]?.time ?? null
  let end = all.at(-1)?.time ?? null
  if (date !== undefined) [start, end] = [at(date, false), at(date, true)]
  if (timestamp !== undefined) [start, end] = [Number(timestamp) - 5400, Number(timestamp) + 5400]
  if (startText !== undefined) start = at(startText, false)
  if (endText !== undefined) end = at(endText, true)
  if (startText !== undefined && endText !== undefined && start > end!) {
    return failure(422, ['start_date', 'end_date'])
  }
  const found = all.filter(({ time }) => time >= start && time <= end!)
  if (
    parameters.has('bucket') &&
    isTooMany(parameters.get('bucket')!, end! - start, Math.min(1, found.length))
  )
    return failure(422, ['bucket'])
  const isNamed = (date ?? timestamp) !== undefined
  const cut = {
    start: isNamed || startText !== undefined ? start : -Infinity,
    end: isNamed || endText !== undefined ? end! : Infinity,
  }
  const rows = rowsOf(buoy, found, parameters, zone, cut)
  const { from, to, meta } = page(rows.length, parameters, 20, 100)
  return success(
    {
      buoy: buoySummary(buoy),
      ...zoneOf(zone),
      ...listOf(made(rows.slice(from, to)), parameters),
      count: rows.length,
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

/** Readings of a buoy, or their buckets, in the order asked for; each is made where a page has it. */
function rowsOf(
  buoy: Known,
  found: readonly WorldRow[],
  parameters: Parameters,
  zone: string | null,
  cut: { start: number; end: number },
): (() => ExpectedObject)[] {
  const rows = parameters.has('bucket')
    ? bucketsOf(found, parameters, zone, cut).map((row) => () => row)
    : found.map((row) => () => ({
        ...fullReading(buoy, row, includedIn(parameters)),
        time: zoneTime(zone, row.time),
      }))
  return parameters.get('order') === 'asc' ? rows : rows.toReversed()
}

const made = (rows: (() => ExpectedObject)[]): ExpectedObject[] => rows.map((make) => make())
const zoneOf = (zone: string | null): ExpectedObject => (zone === null ? {} : { timezone: zone })
function listOf(rows: ExpectedObject[], parameters: Parameters): ExpectedObject {
  if (parameters.has('bucket')) return { readings: [], buckets: rows }
  return parameters.get('rows') === 'all' ? { readings: [], rows } : { readings: rows }
}

// Operation 17.
function readingsOf(buoys: Known[], { parameters }: Asked, world: World): Answer {
  const zone = parameters.get('timezone') ?? null
  if (zone === 'auto') return failure(400, ['timezone'])
  const [day, from, to] = ['date', 'start_date', 'end_date'].map((name) => parameters.get(name))
  if (day !== undefined && (from ?? to) !== undefined) return failure(400, ['date'])
  const at = (text: string, isEnd: boolean) => localInstant(text, isEnd, world.asOf, zone)
  const end = at(day ?? to ?? 'now', true)
  const start = (day ?? from) === undefined ? end - DAY : at((day ?? from)!, false)
  if (start > end) return failure(422, ['start_date', 'end_date'])
  const those = filtered(buoys, parameters, world)
  if (typeof those === 'string') return failure(400, [those])
  const ids = parameters.has('ids') ? [...new Set(wordsOf(parameters.get('ids')).map(Number))] : null
  const inRange = those.found
    .filter(({ id }) => ids === null || ids.includes(id))
    .map((buoy) => ({ buoy, found: buoy.readings.filter(({ time }) => time >= start && time <= end) }))
    .filter(({ found }) => found.length > 0)
  if (parameters.has('bucket') && isTooMany(parameters.get('bucket')!, end - start, inRange.length))
    return failure(422, ['bucket'], those.unsure)
  const all = inRange.flatMap(({ buoy, found }) =>
    rowsOf(buoy, found, parameters, zone, { start, end }).map((make) => ({
      buoy,
      make: () => ({ ...make(), buoy_id: buoy.id }),
    })),
  )
  const paging = page(all.length, parameters, 100, 1000)
  const shown = all.slice(paging.from, paging.to)
  return success(
    {
      buoys: [...new Set(shown.map(({ buoy }) => buoy))].map((buoy) => ({
        ...namedPlace(buoy),
        source: buoy.record.source,
      })),
      ...zoneOf(zone),
      ...listOf(
        shown.map(({ make }) => make()),
        parameters,
      ),
      count: all.length,
      missing_ids: (ids ?? []).filter((id) => buoys.every((buoy) => buoy.id !== id)),
    },
    { ...paging.meta, date_range: { start: isoTime(start), end: isoTime(end) } },
    those.unsure,
  )
}

// Operation 7.
function readingsSearch(buoys: Known[], question: Asked): Answer {
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
    closest_reading: {
      ...fullReading(buoy, closest, includedIn(parameters)),
      time_diff_minutes: Math.round(away(closest) / 60),
    },
    search_parameters: {
      target_datetime: isoTime(target),
      tolerance_hours: tolerance,
      search_range: { start: isoTime(target - tolerance * 3600), end: isoTime(target + tolerance * 3600) },
    },
  })
}

// Operation 8.
function readingById(buoys: Known[], question: Asked): Answer {
  const buoy = find(buoys, question.buoyId)
  const row = buoy?.readings.find(({ time }) =>
    [String(readingId(buoy.id, time)), uuidOf(buoy.id, time)].includes(question.readingId!),
  )
  if (buoy === undefined || row === undefined) return failure(404)
  const reading = fullReading(buoy, row, includedIn(question.parameters))
  return success({ reading, buoy: { id: buoy.id, name: buoy.record.name } })
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
function map(all: Known[], { parameters }: Asked, { asOf, passes }: World): Answer {
  if (hasTwoBoxes(parameters)) return failure(400, ['bbox'])
  const box = boxOf(parameters)
  const found = all.filter(
    (buoy) =>
      (buoy.active || !isTrue(parameters.get('active_only'), true)) &&
      isWanted(buoy, asOf, parameters) &&
      (box === null || boxHolds(box, buoy.lat, buoy.lng)),
  )
  const virtual = found.filter((buoy) => buoy.record.virtual).length
  return success({
    buoys: found.map((buoy) => mapItem(buoy, includedIn(parameters), passes)),
    count: found.length,
    real_count: found.length - virtual,
    virtual_count: virtual,
    decimals: decimalsOnce(all),
  })
}

const DECIMALS = new WeakMap<Known[], JsonObject>()
function decimalsOnce(buoys: Known[]): JsonObject {
  const known = DECIMALS.get(buoys) ?? decimals(buoys)
  DECIMALS.set(buoys, known)
  return known
}

/**
 * Of each source, by field: the most decimals of the newest 48 readings of its buoys, as JSON writes them.
 */
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

const aText: Check = (got) => (typeof got === 'string' && got.length > 1 ? got : 'a text')

// Operation 11.
function satellites(_buoys: Known[], _asked: Asked, { passes }: World): Answer {
  const list = MISSIONS.map(([slug, name]) => ({
    slug,
    name,
    agency: aText,
    instrument: aText,
    description: aText,
    image_url: `/missions/${slug}.svg`,
    pass_count: passes.filter(({ mission }) => mission === slug).length,
  }))
  return success({ satellites: list, count: list.length })
}

// Operation 12.
function satellitePasses(_buoys: Known[], { parameters }: Asked, { asOf, passes }: World): Answer {
  const mission = parameters.get('mission')
  const since = parameters.get('since')
  if (mission !== undefined && MISSIONS.every(([slug]) => slug !== mission)) return failure(404)
  const isFresh = ({ observations }: Pass) => observations.some(({ time }) => time >= asOf - DAY)
  const found = newestFirst(passes)
    .filter((pass) => mission === undefined || pass.mission === mission)
    .filter((pass) => !isTrue(parameters.get('active_only'), true) || isFresh(pass))
    .filter(({ started }) => since === undefined || started >= instant(since, false, asOf))
    .slice(0, numberOr(parameters.get('limit'), 20))
  return success({ satellite_passes: found.map(passItem), count: found.length })
}

function passItem(pass: Pass): JsonObject {
  const { mission, started, ended, south, west, north, east } = pass
  const names = passNames(pass)
  return {
    ...names,
    mission: { slug: mission, name: names.platform },
    started_at: isoTime(started),
    ended_at: isoTime(ended),
    buoy_count: new Set(pass.observations.map(({ buoy }) => buoy)).size,
    // Once each, however often it was reported.
    observation_count: new Set(pass.observations.map(({ buoy, time }) => `${buoy.identifier} ${time}`)).size,
    bounds: { south, west, north, east },
  }
}
