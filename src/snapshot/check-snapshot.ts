/** What must hold of a part, whoever wrote it: checked before publishing, and again before serving. */
import { buildBoxes } from '../index/boxes.ts'
import { buildPoints, nodeSizeOf } from '../index/near.ts'
import {
  addStream,
  CANCELLED,
  FIRST_STREAM,
  NO_ZONE,
  STREAM_WORDS,
  STREAMS_OF_BUOY,
  streamsOf,
  type AggregateYear,
} from '../index/day-aggregates.ts'
import type { ForecastColumns } from '../index/forecast.ts'
import type { PassColumns } from '../index/passes.ts'
import { checkWords } from '../index/search-columns.ts'
import type { MonthRows } from '../index/segments.ts'
import { isDirection } from '../index/statistics.ts'
import type { TideColumns } from '../index/tides.ts'
import {
  COMMON_NAMES,
  MEASURE_NAMES,
  MEASURES,
  MISSING_U16,
  NO_COUNTRY,
  type Codes,
  type Measure,
  type MeasureName,
} from '../sea/columns.ts'
import { codeLimits } from '../sea/row-batch.ts'
import type { Bounds } from '../sea/geo.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfIndex, passId } from '../sea/missions.ts'
import { FORECAST_MEASURES, FORECAST_NAMES } from '../sea/forecast-names.ts'
import { constituentOf, MAX_AMPLITUDE } from '../sea/tidal-constituents.ts'
import { daysFromCivil, monthStart } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { catalogSummary, forecastSummary, monthSummary, type PartSummary } from './catalog-summary.ts'
import { MAX_BUOY_ID, readCatalog, type Catalog } from './catalog.ts'
import { readAggregates, readForecast, readMonth, readPasses, readTides, saidMadeFrom } from './part-kinds.ts'
import { plainEnd } from './plain-messagepack.ts'
import {
  expect,
  HEADER_BOUNDS,
  SnapshotError,
  type Part,
  type PartEntry,
  type PartKind,
} from './snapshot-format.ts'

/** @returns what is kept of the part @throws SnapshotError naming the file and what does not hold */
export function* checkPart(part: Part, entry: PartEntry): Steps<PartSummary> {
  const { kind, file, month } = entry
  if (part.kind !== kind)
    throw new SnapshotError(`${file}: is a ${part.kind} part, the manifest says ${kind}`)
  switch (part.kind) {
    case 'catalog': {
      const catalog = readCatalog(part, file)
      yield* checkCatalog(catalog, entry)
      return catalogSummary(catalog)
    }
    case 'readings':
    case 'weather': {
      if (month === null) throw new SnapshotError(`${file}: has no month in the manifest`)
      const rows = readMonth(part, month, file)
      yield* checkMonth(rows, entry)
      return monthSummary(kind, rows)
    }
    case 'aggregates': {
      if (month === null) throw new SnapshotError(`${file}: has no month in the manifest`)
      yield* checkAggregates(readAggregates(part, month, file), entry)
      return { threadBytes: 0, madeFrom: saidMadeFrom(part, file) }
    }
    case 'forecast': {
      const forecast = readForecast(part, file)
      checkForecast(forecast, entry)
      return forecastSummary(forecast)
    }
    case 'passes':
      checkPasses(readPasses(part, file), entry)
      return { threadBytes: 0 }
    case 'tides':
      checkTides(readTides(part, file), entry)
      return { threadBytes: 0 }
  }
}

/**
 * A header may have `least` values and `perRow` more for each row, since serving threads unpack headers
 * between requests. A column is described in five values, a buoy in four texts, a harbour in three.
 */
const HEADER_VALUES: { readonly [kind in PartKind]: { least: number; perRow: number } } = {
  catalog: { least: 200_000, perRow: 8 },
  readings: { least: 2000, perRow: 0 },
  weather: { least: 2000, perRow: 0 },
  // 600 zones have three values each.
  aggregates: { least: 4000, perRow: 0 },
  passes: { least: 2000, perRow: 0 },
  forecast: { least: 2000, perRow: 0 },
  tides: { least: 4000, perRow: 8 },
}

/** @throws SnapshotError when a header is not plain MessagePack, or too large for its kind and rows */
export function expectHeader(bytes: Uint8Array, { kind, file, rows }: PartEntry): void {
  const { least, perRow } = HEADER_VALUES[kind]
  const values = Math.min(HEADER_BOUNDS.values, least + perRow * rows)
  const end = plainEnd(bytes, { ...HEADER_BOUNDS, values })
  if (typeof end === 'string') throw new SnapshotError(`${file}: is not MessagePack of a snapshot: ${end}`)
}

/** Some 0.1 ms of work. */
const CATALOGUED_A_SLICE = 50
/** Lists that serving threads go through in one slice. */
const MAX_SPOTS = 100_000
const MAX_SOURCES = 4096
const MAX_ALIASES = 64
const COUNTRY_CODE = /^[A-Z]{2}$/
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

function* checkCatalog(catalog: Catalog, { file, rows }: PartEntry): Steps<void> {
  const { id, lat, lng, source, country, names, slugs, identifiers, timezones } = catalog
  catalog.registry()
  yield
  const count = id.length
  const lengths = [lat, lng, source, country, catalog.virtual, names, slugs, identifiers, timezones]
  expect(
    count === rows && lengths.every(({ length }) => length === count),
    file,
    'its columns differ in length',
  )
  for (let i = 0; i < count; i++) {
    expect(id[i] >= 1 && id[i] <= MAX_BUOY_ID && (i === 0 || id[i] > id[i - 1]), file, 'ids do not ascend')
    expect(Math.abs(lat[i]) <= 90 && Math.abs(lng[i]) <= 180, file, 'a position is not on the globe')
    expect(source[i] < catalog.sources.length, file, 'a buoy has no source')
    expect(
      country[i] === NO_COUNTRY || country[i] < catalog.countries.length,
      file,
      'a buoy has an unknown country',
    )
    expect(catalog.virtual[i] <= 1, file, 'a buoy is neither physical nor virtual')
    expect(ZONE_NAME.test(timezones[i]), file, 'a buoy has no time zone')
    if (i % CATALOGUED_A_SLICE === 0) yield
  }
  expect(new Set(slugs).size === count, file, 'a slug occurs twice')
  const codes = catalog.countries.map(({ code }) => code)
  expect(
    codes.every((code) => COUNTRY_CODE.test(code)) && new Set(codes).size === codes.length,
    file,
    'codes of countries are not two capitals, each once',
  )
  const { sources, spots } = catalog
  expect(
    sources.length <= MAX_SOURCES && sources.every(({ aliases }) => aliases.length <= MAX_ALIASES),
    file,
    `it has more than ${MAX_SOURCES} sources, or more than ${MAX_ALIASES} names of one`,
  )
  expect(new Set(sources.map(({ name }) => name)).size === sources.length, file, 'a source occurs twice')
  expect(spots.length <= MAX_SPOTS, file, `it has ${spots.length} spots, at most ${MAX_SPOTS} are read`)
  spots.forEach(({ id, lat, lng }, i) => {
    expect(id >= 1 && (i === 0 || id > spots[i - 1].id), file, 'the ids of spots do not ascend')
    expect(Math.abs(lat) <= 90 && Math.abs(lng) <= 180, file, 'a spot is not on the globe')
  })
  yield
  yield* checkIndexes(catalog, file)
}

/** Servers do not check where the indexes point, so the indexes have to be those of the buoys. */
function* checkIndexes({ lat, lng, points, boxes, words, ...texts }: Catalog, file: string): Steps<void> {
  expect(
    Buffer.compare(points, buildPoints(lat, lng, nodeSizeOf(points))) === 0,
    file,
    'its tree of points is not that of its buoys',
  )
  yield
  expect(
    Buffer.compare(boxes, buildBoxes(lat, lng)) === 0,
    file,
    'its tree of boxes is not that of its buoys',
  )
  yield
  const fault = yield* checkWords(words, texts)
  if (fault !== null) throw new SnapshotError(`${file}: ${fault}`)
}

/** Some 0.1 ms of work. */
const BUOYS_A_SLICE = 50
const isRequired = (name: MeasureName, kind: PartEntry['kind']): boolean =>
  name === 'significantHeight' && kind === 'readings'

/** @throws SnapshotError */
export function* checkMonth(rows: MonthRows, { file, month, kind, rows: count }: PartEntry): Steps<void> {
  const { buoys, start, time } = rows
  expect(time.length === count, file, `it has ${time.length} rows, the manifest says ${count}`)
  expect(
    start.length === buoys.length + 1 && start[0] === 0 && start[buoys.length] === count,
    file,
    'rows and buoys disagree',
  )
  const [begin, end] = [monthStart(month!), monthStart(month! + 1)]
  for (let i = 0; i < buoys.length; i++) {
    const [from, to] = [start[i], start[i + 1]]
    const isNext = i === 0 ? buoys[i] >= 1 : buoys[i] > buoys[i - 1]
    expect(to > from && isNext, file, 'buoys do not ascend')
    expect(time[from] >= begin && time[to - 1] < end, file, 'a row lies outside the month')
    for (let row = from + 1; row < to; row++) {
      if (time[row] <= time[row - 1]) throw new SnapshotError(`${file}: the times of a buoy do not ascend`)
    }
    if (i % BUOYS_A_SLICE === 0) yield
  }
  for (const name of MEASURE_NAMES) {
    const { codes, mask } = rows.measures[name]
    const required = isRequired(name, kind)
    expect(!required || mask !== 0 || count === 0, file, 'there are no significant heights')
    if (mask === 0) continue
    yield* checkCodes(codes, MEASURES[name], required, file)
  }
}

/** Some 50 µs of work. */
const CODES_A_SLICE = 65_536

function* checkCodes(codes: Codes, measure: Measure, required: boolean, file: string): Steps<void> {
  const { min, max } = codeLimits(measure)
  // Where each row must have a value, the missing code is a code outside the limits.
  const missing = required ? min : measure.missing
  for (let from = 0; from < codes.length; from += CODES_A_SLICE) {
    const to = Math.min(codes.length, from + CODES_A_SLICE)
    for (let row = from; row < to; row++) {
      const code = codes[row]
      if ((code < min || code > max) && code !== missing) {
        throw new SnapshotError(`${file}: ${measure.name} has a value outside its limits`)
      }
    }
    yield
  }
}

/** A day has 86,400 seconds and rows of two kinds; a day that a clock shows twice is longer. */
const MOST_SAMPLES = 1_000_000
/** Some 0.1 ms of work. */
const AGGREGATED_A_SLICE = 4

function* checkAggregates(year: AggregateYear, { file, rows }: PartEntry): Steps<void> {
  const { buoys, zone, zones, first, days, streams } = year
  const daysOfYear = daysFromCivil(year.year + 1, 1, 1) - daysFromCivil(year.year, 1, 1)
  let counted = 0
  for (let i = 0; i < buoys.length; i++) {
    expect(i === 0 ? buoys[i] >= 1 : buoys[i] > buoys[i - 1], file, 'buoys do not ascend')
    expect(zone[i] < zones.length || (zone[i] === NO_ZONE && days[i] === 0), file, 'a buoy has no zone')
    expect(first[i] + days[i] <= daysOfYear, file, 'a day lies outside the year')
    const streamsOfBuoy = i * STREAMS_OF_BUOY * STREAM_WORDS
    for (let stream = 0; stream < STREAMS_OF_BUOY; stream++) {
      expectStream(year, streamsOfBuoy + stream * STREAM_WORDS, days[i])
    }
    for (const name of COMMON_NAMES) {
      const streamsOfMeasure = streamsOfBuoy + FIRST_STREAM[name] * STREAM_WORDS
      counted += checkMeasure(year, streamsOfMeasure, MEASURES[name], days[i])
    }
    if (i % AGGREGATED_A_SLICE === 0) yield
  }
  expect(counted === rows, file, `it has ${counted} aggregates, the manifest says ${rows}`)
  expect(streams.length > 0 || rows === 0, file, 'it has no streams')
}

/** Expects a stream within its column, and steps that keep every value within 32 bits. */
function expectStream(
  { file, streams, bytes, words, doubles }: AggregateYear,
  at: number,
  days: number,
): void {
  const [base, step, width, from] = [streams[at], streams[at + 1], streams[at + 2], streams[at + 3]]
  const column = width === 1 ? bytes : width === 2 ? words : width === 4 ? doubles : null
  expect(
    width === 0 || (column !== null && from >= 0 && from + days <= column.length),
    file,
    'a stream lies outside its column',
  )
  expect(
    Math.abs(base) <= MOST_SAMPLES && step >= 0 && step <= MOST_SAMPLES,
    file,
    'a stream has an impossible step',
  )
  if (width !== 4) return
  for (let day = 0; day < days; day++) {
    if (doubles[from + day] > MOST_SAMPLES)
      throw new SnapshotError(`${file}: a stream has an impossible step`)
  }
}

/** Checks a measure's values. @returns its days with a sample */
function checkMeasure(year: AggregateYear, at: number, measure: Measure, days: number): number {
  const { streams } = year
  const samples = at + (streamsOf(measure) - 1) * STREAM_WORDS
  // No day of a measure that the buoy lacks has a sample.
  if (streams[samples] === 0 && streams[samples + 2] === 0) return 0
  const circular = isDirection(measure)
  const { min, max } = codeLimits(measure)
  const [low, high] = circular ? [0, CANCELLED] : [(min * 100) / measure.scale, (max * 100) / measure.scale]
  const stream = (number: number): Int32Array => {
    const values = new Int32Array(days)
    addStream(year, at + number * STREAM_WORDS, 0, days, 1, values, 0)
    return values
  }
  const [count, median] = [stream(streamsOf(measure) - 1), stream(0)]
  // The mean less the median, the median less the least, and the greatest less the median.
  const [mean, less, more] = circular ? [null, null, null] : [stream(1), stream(2), stream(3)]
  let counted = 0
  for (let day = 0; day < days; day++) {
    if (count[day] === 0) continue
    counted++
    let isWithin = count[day] > 0 && count[day] <= MOST_SAMPLES && median[day] >= low && median[day] <= high
    if (mean !== null) {
      isWithin &&= less[day] >= 0 && less[day] <= median[day] - low
      isWithin &&= more[day] >= 0 && more[day] <= high - median[day]
      isWithin &&= mean[day] >= -less[day] && mean[day] <= more[day]
    }
    if (!isWithin) throw new SnapshotError(`${year.file}: ${measure.name} has a value outside its limits`)
  }
  return counted
}

/** @throws SnapshotError */
export function checkForecast(columns: ForecastColumns, { file, rows }: PartEntry): void {
  const { lat, lng, start, time } = columns
  const count = lat.length
  expect(time.length === rows, file, `it has ${time.length} rows, the manifest says ${rows}`)
  expect(start[0] === 0 && start[count] === rows, file, 'rows and points disagree')
  for (let i = 0; i < count; i++) {
    expect(Math.abs(lat[i]) <= 90 && Math.abs(lng[i]) <= 180, file, 'a point is not on the globe')
    expect(
      i === 0 || lat[i] > lat[i - 1] || (lat[i] === lat[i - 1] && lng[i] > lng[i - 1]),
      file,
      'its points are not in order',
    )
    expect(start[i + 1] > start[i] && start[i + 1] <= rows, file, 'a point has no rows')
    for (let row = start[i] + 1; row < start[i + 1]; row++) {
      if (time[row] <= time[row - 1]) throw new SnapshotError(`${file}: the times of a point do not ascend`)
    }
  }
  for (const model of columns.model ?? []) {
    expect(model < columns.models.length, file, 'a point is of no model that the part names')
  }
  for (const name of FORECAST_NAMES) {
    const { min, max } = codeLimits(MEASURES[FORECAST_MEASURES[name]])
    for (const code of columns.codes[name]) {
      if ((code < min || code > max) && code !== MISSING_U16) {
        throw new SnapshotError(`${file}: ${name} has a value outside its limits`)
      }
    }
  }
}

/** @throws SnapshotError */
export function checkPasses(passes: PassColumns, { file, rows }: PartEntry): void {
  const { mission, cycle, number, started, ended, south, west, north, east, first, buoy, time } = passes
  expect(mission.length === rows, file, `it has ${mission.length} rows, the manifest says ${rows}`)
  const ids = new Set<number>()
  let previous = Infinity
  for (let i = 0; i < rows; i++) {
    expect(
      missionOfIndex(mission[i]) !== undefined,
      file,
      'a pass is of a mission that this program does not know',
    )
    expect(numberFault(cycle[i], number[i]) === null, file, 'a pass has impossible numbers')
    const id = passId(mission[i], cycle[i], number[i])
    ids.add(id)
    expect(
      i === 0 || started[i] < started[i - 1] || (started[i] === started[i - 1] && id < previous),
      file,
      'its passes are not newest first',
    )
    previous = id
    const box = { south: south[i], west: west[i], north: north[i], east: east[i] }
    expect(
      started[i] <= ended[i] && boundsFault(box) === null,
      file,
      'a pass has an impossible time or position',
    )
    expect(first[i] <= first[i + 1] && first[i + 1] <= buoy.length, file, 'passes and observations disagree')
    for (let o = first[i]; o < first[i + 1]; o++) {
      const ascends =
        o === first[i] || buoy[o] > buoy[o - 1] || (buoy[o] === buoy[o - 1] && time[o] > time[o - 1])
      expect(ascends && buoy[o] >= 1, file, 'the observations of a pass do not ascend')
      expect(time[o] >= started[i] && time[o] <= ended[i], file, 'an observation lies outside its pass')
    }
  }
  expect(ids.size === rows, file, 'a pass occurs twice')
}

/** What is wrong with a pass's numbers, or null. */
export function numberFault(cycle: number, number: number): string | null {
  if (!Number.isInteger(cycle) || cycle < 0 || cycle > MAX_CYCLE)
    return `cycle is not a whole number from 0 to ${MAX_CYCLE}`
  if (!Number.isInteger(number) || number < 1 || number > MAX_PASS_NUMBER)
    return `number is not a whole number from 1 to ${MAX_PASS_NUMBER}`
  return null
}

/** What is wrong with a box, or null. */
export function boundsFault({ south, west, north, east }: Bounds): string | null {
  const onGlobe =
    south >= -90 && south <= north && north <= 90 && Math.abs(west) <= 180 && Math.abs(east) <= 180
  return onGlobe ? null : 'its bounds are not a box of the globe'
}

/** National levels lie within some metres of the sea, and a tide within 16 m. */
const MAX_DATUM_OFFSET_M = 200
/** All databases together name some 160 constituents; a level of the sea costs a cosine for each. */
const MAX_CONSTITUENTS = 512
/** The world has some ten thousand tide stations. */
const MAX_HARBOURS = 100_000

/** @throws SnapshotError */
export function checkTides(tides: TideColumns, { file, rows }: PartEntry): void {
  const { identifiers, start, constituent, amplitude, phase } = tides
  const perHarbour = [tides.names, identifiers, tides.lat, tides.lng, tides.datumOffset, tides.credit]
  expect(
    perHarbour.every(({ length }) => length === rows) && start.length === rows + 1,
    file,
    'its columns differ in length',
  )
  const count = constituent.length
  expect(amplitude.length === count && phase.length === count, file, 'its constituents differ in length')
  expect(start[0] === 0 && start[rows] === count, file, 'harbours and constituents disagree')
  expect(rows <= MAX_HARBOURS, file, `it has ${rows} harbours, at most ${MAX_HARBOURS} are read`)
  expect(
    tides.constituents.length <= MAX_CONSTITUENTS,
    file,
    `it names ${tides.constituents.length} constituents, at most ${MAX_CONSTITUENTS} are read`,
  )
  tides.constituents.forEach((name, i) => {
    // The name may be any text, so it is cut.
    expect(
      constituentOf(name)?.name === name,
      file,
      `constituent ${JSON.stringify(name.slice(0, 16))} is not known`,
    )
    expect(i === 0 || name > tides.constituents[i - 1], file, 'the names of constituents do not ascend')
  })
  for (let i = 0; i < rows; i++) {
    expect(start[i + 1] > start[i] && start[i + 1] <= count, file, 'a harbour has no constituents')
    const own = start[i + 1] - start[i]
    expect(
      own <= MAX_CONSTITUENTS,
      file,
      `a harbour has ${own} constituents, at most ${MAX_CONSTITUENTS} are read`,
    )
    expect(i === 0 || identifiers[i] > identifiers[i - 1], file, 'identifiers do not ascend')
    expect(
      Math.abs(tides.lat[i]) <= 90 && Math.abs(tides.lng[i]) <= 180,
      file,
      'a position is not on the globe',
    )
    expect(Math.abs(tides.datumOffset[i]) <= MAX_DATUM_OFFSET_M, file, 'a harbour has an impossible datum')
    expect(tides.credit[i] < tides.credits.length, file, 'a harbour has no credit')
  }
  for (let i = 0; i < count; i++) {
    if (!(amplitude[i] >= 0 && amplitude[i] <= MAX_AMPLITUDE && phase[i] >= 0 && phase[i] <= 360))
      throw new SnapshotError(`${file}: a constituent has a value outside its limits`)
    if (constituent[i] >= tides.constituents.length)
      throw new SnapshotError(`${file}: a constituent has no name`)
  }
}
