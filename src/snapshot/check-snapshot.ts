/** Checks parts, whoever wrote them: before publishing, and again before serving. */
import { buildPoints } from '../index/near.ts'
import { buildBoxes } from '../index/boxes.ts'
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
  NO_COUNTRY,
  type Codes,
  type Measure,
  FORECAST_MEASURES,
  FORECAST_NAMES,
} from '../sea/columns.ts'
import { codeLimits } from '../sea/row-batch.ts'
import type { Bounds } from '../sea/geo.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfIndex, passId } from '../sea/missions.ts'
import { type BandName, bandsKey, DIRECTION_SCALE, PEAK_CODE, R_SCALE } from '../sea/spectra.ts'
import { bandsOf, MOST_DENSITY } from '../sea/spectra-batch.ts'
import { constituentOf, MAX_AMPLITUDE } from '../sea/tidal-constituents.ts'
import { daysFromCivil, monthStart } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { BYTES_A_FORECAST_POINT, catalogSummary, monthSummary, type PartSummary } from './catalog-summary.ts'
import { MAX_BUOY_ID, readCatalog, type Catalog } from './catalog.ts'
import { expectLength } from './part-columns.ts'
import { readAggregates, readForecast, readMonth, readPasses, readTides } from './part-kinds.ts'
import { ABSENT, readSpectra, type SpectraMonth } from './spectra.ts'
import { expect, HEADER_BOUNDS, SnapshotError, text, type Part, type PartEntry } from './snapshot-format.ts'

/** `expect` for one file. */
const expecting =
  (file: string) =>
  (holds: boolean, otherwise: string): void =>
    expect(holds, file, otherwise)

/** @returns what is kept of the part @throws SnapshotError naming the file and the broken rule */
export function* checkPart(part: Part, entry: PartEntry): Steps<PartSummary> {
  const { kind, file, month } = entry
  expect(part.kind === kind, file, `is a ${part.kind} part, the manifest says ${kind}`)
  switch (part.kind) {
    case 'catalog': {
      const catalog = readCatalog(part, file)
      yield* checkCatalog(catalog, entry)
      return catalogSummary(catalog)
    }
    case 'readings':
    case 'weather': {
      const rows = readMonth(part, month!, file)
      yield* checkMonth(rows, entry)
      return monthSummary(kind, rows)
    }
    case 'spectra': {
      const spectra = readSpectra(part, month!, file)
      yield* checkMonth(spectra, entry)
      yield* checkBands(spectra)
      return monthSummary(kind, spectra)
    }
    case 'aggregates':
      yield* checkAggregates(readAggregates(part, month!, file), entry)
      return { threadBytes: 0, madeFrom: text(part.meta.made_from, `${file}: made_from`) }
    case 'forecast': {
      const forecast = readForecast(part, file)
      yield* checkForecast(forecast, entry)
      return { threadBytes: forecast.lat.length * BYTES_A_FORECAST_POINT }
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
 * Values that a header may have, since serving threads unpack headers between requests: a column is described
 * in five, a zone in three, a buoy in four texts, a harbour in three.
 */
export function headerValues({ kind, rows }: PartEntry): number {
  const least = kind === 'catalog' ? 200_000 : 4000
  const perRow = kind === 'catalog' || kind === 'tides' ? 8 : 0
  return Math.min(HEADER_BOUNDS.values, least + perRow * rows)
}

function expectRows(found: number, { file, rows }: PartEntry): void {
  expect(found === rows, file, `it has ${found} rows, the manifest says ${rows}`)
}

/** Expects all rows in runs from `start[i]` to `start[i + 1]`, none of them empty. */
function expectRuns(start: Uint32Array, rows: number, what: string, file: string): void {
  let isWhole = start[0] === 0 && start.at(-1) === rows
  for (let i = 1; i < start.length; i++) isWhole &&= start[i] > start[i - 1]
  expect(isWhole, file, `rows and ${what} disagree`)
}

function expectAscending(time: Uint32Array, from: number, to: number, what: string, file: string): void {
  for (let row = from + 1; row < to; row++) {
    if (time[row] <= time[row - 1]) throw new SnapshotError(`${file}: the times of a ${what} do not ascend`)
  }
}

const isOnGlobe = (lat: number, lng: number): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180

/** Some 0.1 ms of work. */
const CATALOGUED_A_SLICE = 50
/** Lists that serving threads go through in one slice. */
const MAX_SPOTS = 100_000
const MAX_SOURCES = 4096
const MAX_ALIASES = 64
const COUNTRY_CODE = /^[A-Z]{2}$/
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

function* checkCatalog(catalog: Catalog, { file, rows }: PartEntry): Steps<void> {
  const must = expecting(file)
  const { id, lat, lng, source, country, names, slugs, identifiers, timezones } = catalog
  catalog.registry()
  yield
  expectLength(rows, [id, lat, lng, source, country, catalog.virtual], file)
  expectLength(rows, [names, slugs, identifiers, timezones], file)
  for (let i = 0; i < rows; i++) {
    must(id[i] >= 1 && id[i] <= MAX_BUOY_ID && (i === 0 || id[i] > id[i - 1]), 'ids do not ascend')
    must(isOnGlobe(lat[i], lng[i]), 'a position is not on the globe')
    must(source[i] < catalog.sources.length, 'a buoy has no source')
    must(country[i] === NO_COUNTRY || country[i] < catalog.countries.length, 'a buoy has an unknown country')
    must(catalog.virtual[i] <= 1, 'a buoy is neither physical nor virtual')
    must(ZONE_NAME.test(timezones[i]), 'a buoy has no time zone')
    if (i % CATALOGUED_A_SLICE === 0) yield
  }
  must(new Set(slugs).size === rows, 'a slug occurs twice')
  const codes = catalog.countries.map(({ code }) => code)
  must(
    codes.every((code) => COUNTRY_CODE.test(code)) && new Set(codes).size === codes.length,
    'codes of countries are not two capitals, each once',
  )
  const { sources, spots } = catalog
  must(
    sources.length <= MAX_SOURCES && sources.every(({ aliases }) => aliases.length <= MAX_ALIASES),
    `it has more than ${MAX_SOURCES} sources, or more than ${MAX_ALIASES} names of one`,
  )
  must(new Set(sources.map(({ name }) => name)).size === sources.length, 'a source occurs twice')
  must(spots.length <= MAX_SPOTS, `it has ${spots.length} spots, at most ${MAX_SPOTS} are read`)
  spots.forEach(({ id, lat, lng }, i) => {
    must(id >= 1 && (i === 0 || id > spots[i - 1].id), 'the ids of spots do not ascend')
    must(isOnGlobe(lat, lng), 'a spot is not on the globe')
  })
  yield
  yield* checkIndexes(catalog, file)
}

/** Servers do not check where the indexes point, so the indexes have to fit the buoys. */
function* checkIndexes({ lat, lng, points, boxes, words, ...texts }: Catalog, file: string): Steps<void> {
  const must = expecting(file)
  must(Buffer.compare(points, buildPoints(lat, lng)) === 0, 'its tree of points is not that of its buoys')
  yield
  must(Buffer.compare(boxes, buildBoxes(lat, lng)) === 0, 'its tree of boxes is not that of its buoys')
  yield
  const fault = yield* checkWords(words, texts)
  if (fault !== null) throw new SnapshotError(`${file}: ${fault}`)
}

/** Some 0.1 ms of work. */
const BUOYS_A_SLICE = 50

/** @throws SnapshotError */
export function* checkMonth(rows: MonthRows, entry: PartEntry): Steps<void> {
  const { buoys, start, time } = rows
  const { file, month, kind, rows: count } = entry
  const must = expecting(file)
  expectRows(time.length, entry)
  expectLength(buoys.length, [start.subarray(1)], file)
  expectRuns(start, count, 'buoys', file)
  const [begin, end] = [monthStart(month!), monthStart(month! + 1)]
  for (let i = 0; i < buoys.length; i++) {
    const [from, to] = [start[i], start[i + 1]]
    must(i === 0 ? buoys[i] >= 1 : buoys[i] > buoys[i - 1], 'buoys do not ascend')
    must(time[from] >= begin && time[to - 1] < end, 'a row lies outside the month')
    expectAscending(time, from, to, 'buoy', file)
    if (i % BUOYS_A_SLICE === 0) yield
  }
  for (const name of MEASURE_NAMES) {
    const { codes, mask } = rows.measures[name]
    const isRequired = name === 'significantHeight' && kind === 'readings'
    must(!isRequired || mask !== 0 || count === 0, 'there are no significant heights')
    if (mask !== 0) yield* checkCodes(codes, MEASURES[name], isRequired, `${file}: ${name}`)
  }
}

/** Some 50 µs of work. */
const CODES_A_SLICE = 65_536

function* checkCodes(codes: Codes, measure: Measure, required: boolean, column: string): Steps<void> {
  const { min, max } = codeLimits(measure)
  // Where each row must have a value, the missing code is a code outside the limits.
  const missing = required ? min : measure.missing
  for (let from = 0; from < codes.length; from += CODES_A_SLICE) {
    const to = Math.min(codes.length, from + CODES_A_SLICE)
    for (let row = from; row < to; row++) {
      const code = codes[row]
      if ((code < min || code > max) && code !== missing) {
        throw new SnapshotError(`${column} has a value outside its limits`)
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
  const must = expecting(file)
  const daysOfYear = daysFromCivil(year.year + 1, 1, 1) - daysFromCivil(year.year, 1, 1)
  let counted = 0
  for (let i = 0; i < buoys.length; i++) {
    must(i === 0 ? buoys[i] >= 1 : buoys[i] > buoys[i - 1], 'buoys do not ascend')
    must(zone[i] < zones.length || (zone[i] === NO_ZONE && days[i] === 0), 'a buoy has no zone')
    must(first[i] + days[i] <= daysOfYear, 'a day lies outside the year')
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
  must(counted === rows, `it has ${counted} aggregates, the manifest says ${rows}`)
  must(streams.length > 0 || rows === 0, 'it has no streams')
}

/** Expects a stream within its column, and steps that keep every value within 32 bits. */
function expectStream(
  { file, streams, bytes, words, doubles }: AggregateYear,
  at: number,
  days: number,
): void {
  const [base, step, width, from] = [streams[at], streams[at + 1], streams[at + 2], streams[at + 3]]
  const must = expecting(file)
  const column = new Map<number, { length: number }>([
    [1, bytes],
    [2, words],
    [4, doubles],
  ]).get(width)
  must(
    width === 0 || (column !== undefined && from >= 0 && from + days <= column.length),
    'a stream lies outside its column',
  )
  must(Math.abs(base) <= MOST_SAMPLES && step >= 0 && step <= MOST_SAMPLES, 'a stream has an impossible step')
  for (let day = 0, end = width === 4 ? days : 0; day < end; day++)
    must(doubles[from + day] <= MOST_SAMPLES, 'a stream has an impossible step')
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
export function* checkForecast(columns: ForecastColumns, entry: PartEntry): Steps<void> {
  const { lat, lng, model, models, start, time } = columns
  const { file } = entry
  const must = expecting(file)
  expectRows(time.length, entry)
  expectRuns(start, time.length, 'points', file)
  for (let i = 0; i < lat.length; i++) {
    must(isOnGlobe(lat[i], lng[i]), 'a point is not on the globe')
    const isNext = i === 0 || lat[i] > lat[i - 1] || (lat[i] === lat[i - 1] && lng[i] > lng[i - 1])
    must(isNext, 'its points are not in order')
    must(model[i] < models.length, 'a point is of no model that the part names')
    expectAscending(time, start[i], start[i + 1], 'point', file)
    if (i % BUOYS_A_SLICE === 0) yield
  }
  for (const name of FORECAST_NAMES) {
    const measure = MEASURES[FORECAST_MEASURES[name]]
    yield* checkCodes(columns.codes[name], measure, false, `${file}: ${name}`)
  }
}

/** @throws SnapshotError */
export function checkPasses(passes: PassColumns, entry: PartEntry): void {
  const { file, rows } = entry
  const must = expecting(file)
  const { mission, cycle, number, started, ended, south, west, north, east, first, buoy, time } = passes
  expectRows(mission.length, entry)
  const ids = new Set<number>()
  let previous = Infinity
  for (let i = 0; i < rows; i++) {
    must(missionOfIndex(mission[i]) !== undefined, 'a pass is of a mission that this program does not know')
    must(numberFault(cycle[i], number[i]) === null, 'a pass has impossible numbers')
    const id = passId(mission[i], cycle[i], number[i])
    ids.add(id)
    must(
      i === 0 || started[i] < started[i - 1] || (started[i] === started[i - 1] && id < previous),
      'its passes are not newest first',
    )
    previous = id
    const box = { south: south[i], west: west[i], north: north[i], east: east[i] }
    must(started[i] <= ended[i] && boundsFault(box) === null, 'a pass has an impossible time or position')
    must(first[i] <= first[i + 1] && first[i + 1] <= buoy.length, 'passes and observations disagree')
    for (let o = first[i]; o < first[i + 1]; o++) {
      const ascends =
        o === first[i] || buoy[o] > buoy[o - 1] || (buoy[o] === buoy[o - 1] && time[o] > time[o - 1])
      must(ascends && buoy[o] >= 1, 'the observations of a pass do not ascend')
      must(time[o] >= started[i] && time[o] <= ended[i], 'an observation lies outside its pass')
    }
  }
  must(ids.size === rows, 'a pass occurs twice')
}

export function numberFault(cycle: number, number: number): string | null {
  if (!Number.isInteger(cycle) || cycle < 0 || cycle > MAX_CYCLE)
    return `cycle is not a whole number from 0 to ${MAX_CYCLE}`
  if (!Number.isInteger(number) || number < 1 || number > MAX_PASS_NUMBER)
    return `number is not a whole number from 1 to ${MAX_PASS_NUMBER}`
  return null
}

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
export function checkTides(tides: TideColumns, entry: PartEntry): void {
  const { file, rows } = entry
  const must = expecting(file)
  const { identifiers, start, constituent, amplitude, phase } = tides
  const count = constituent.length
  expectRows(identifiers.length, entry)
  expectRuns(start, count, 'harbours', file)
  must(rows <= MAX_HARBOURS, `it has ${rows} harbours, at most ${MAX_HARBOURS} are read`)
  must(
    tides.constituents.length <= MAX_CONSTITUENTS,
    `it names ${tides.constituents.length} constituents, at most ${MAX_CONSTITUENTS} are read`,
  )
  tides.constituents.forEach((name, i) => {
    // The name may be any text, so it is cut.
    must(constituentOf(name)?.name === name, `constituent ${JSON.stringify(name.slice(0, 16))} is not known`)
    must(i === 0 || name > tides.constituents[i - 1], 'the names of constituents do not ascend')
  })
  for (let i = 0; i < rows; i++) {
    const own = start[i + 1] - start[i]
    must(own <= MAX_CONSTITUENTS, `a harbour has ${own} constituents, at most ${MAX_CONSTITUENTS} are read`)
    must(i === 0 || identifiers[i] > identifiers[i - 1], 'identifiers do not ascend')
    must(isOnGlobe(tides.lat[i], tides.lng[i]), 'a position is not on the globe')
    must(Math.abs(tides.datumOffset[i]) <= MAX_DATUM_OFFSET_M, 'a harbour has an impossible datum')
    must(tides.credit[i] < tides.credits.length, 'a harbour has no credit')
  }
  for (let i = 0; i < count; i++) {
    const isWithin = amplitude[i] >= 0 && amplitude[i] <= MAX_AMPLITUDE && phase[i] >= 0 && phase[i] <= 360
    must(isWithin, 'a constituent has a value outside its limits')
    must(constituent[i] < tides.constituents.length, 'a constituent has no name')
  }
}

/** The greatest code of each column of bands; above it there is only the missing code. */
const MOST: { readonly [name in Exclude<BandName, 'density'>]: number } = {
  direction: 360 * DIRECTION_SCALE - 1,
  principal: 360 * DIRECTION_SCALE - 1,
  r1: R_SCALE,
  r2: R_SCALE,
}

/** Checks a month of spectra beyond the rules of any month. @throws SnapshotError */
function* checkBands(month: SpectraMonth): Steps<void> {
  const { file, sets, set, first, peak, codes, time } = month
  const { density } = codes
  const keys = new Set<string>()
  for (const { frequency, bandwidth } of sets) {
    const bands = bandsOf([...frequency], [...bandwidth])
    if (typeof bands === 'string') throw new SnapshotError(`${file}: ${bands}`)
    keys.add(bandsKey(bands))
  }
  expect(keys.size === sets.length, file, 'it has a set of bands twice')
  yield
  const isWhole = first[0] === 0 && first.at(-1) === density.codes.length
  expect(isWhole, file, 'spectra and bands disagree')
  let checked = 0
  for (let row = 0; row < time.length; row++) {
    const [from, to] = [first[row], first[row + 1]]
    expect(to - from === sets[set[row]]?.frequency.length, file, 'spectra and bands disagree')
    expect(peak[row] > 0 && peak[row] <= MOST_DENSITY, file, 'a greatest density is outside its limits')
    let greatest = 0
    for (let at = from; at < to; at++) greatest = Math.max(greatest, density.codes[at])
    expect(greatest === PEAK_CODE, file, 'a spectrum has no greatest density')
    checked += to - from
    if (checked < CODES_A_SLICE) continue
    checked = 0
    yield
  }
  for (const name of ['direction', 'principal', 'r1', 'r2'] as const) yield* checkBandCodes(month, name)
}

function* checkBandCodes({ file, codes }: SpectraMonth, name: keyof typeof MOST): Steps<void> {
  const { codes: values, mask } = codes[name]
  const most = MOST[name]
  const missing = ABSENT[name].codes[0]
  if (mask === 0) return
  for (let from = 0; from < values.length; from += CODES_A_SLICE) {
    const to = Math.min(values.length, from + CODES_A_SLICE)
    for (let at = from; at < to; at++) {
      if (values[at] > most && values[at] !== missing) {
        throw new SnapshotError(`${file}: ${name} has a value outside its limits`)
      }
    }
    yield
  }
}
