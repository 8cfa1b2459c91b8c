/**
 * What must hold of a part, whoever wrote it: run before a snapshot is announced and again before it is
 * served.
 */
import { codeLimits, MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import { buildBoxes } from '../index/boxes.ts'
import { buildPoints } from '../index/points.ts'
import { checkWords } from '../index/words.ts'
import type { Steps } from '../system/steps.ts'
import { monthStart } from '../sea/time.ts'
import { MAX_BUOY_ID, readCatalog, type Catalog } from './catalog.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import { checkForecast, readForecast } from './forecast.ts'
import { SnapshotError, type Part, type PartEntry } from './format.ts'
import { readMonth } from './months.ts'
import type { MonthRows } from '../index/segments.ts'
import { checkPasses, readPasses } from './passes.ts'
import { toldOfCatalog, toldOfForecast, toldOfMonth, type Told } from './summary.ts'
import { checkTides, readTides } from './tides.ts'

/** Buoys whose rows are looked at in one step: some 0.1 ms. */
const BUOYS_A_STEP = 50
/** Lists of a catalogue that serving threads go through in one step; any source of ours has a hundredth. */
const MAX_SPOTS = 100_000
const MAX_SOURCES = 4096
const MAX_ALIASES = 64

/** What is to be kept of the part. @throws SnapshotError saying what does not hold in which file. */
export function* checkPart(part: Part, entry: PartEntry): Steps<Told> {
  const { kind, file, month } = entry
  if (part.kind !== kind)
    throw new SnapshotError(`${file}: is a ${part.kind} part, the manifest says ${kind}`)
  switch (part.kind) {
    case 'catalog': {
      const catalog = readCatalog(part, file)
      yield* checkCatalog(catalog, entry)
      return toldOfCatalog(catalog)
    }
    case 'readings':
    case 'weather': {
      if (month === null) throw new SnapshotError(`${file}: has no month in the manifest`)
      const rows = readMonth(part, month, file)
      yield* checkMonth(rows, entry)
      return toldOfMonth(kind, rows)
    }
    case 'forecast': {
      const forecast = readForecast(part, file)
      checkForecast(forecast, entry)
      return toldOfForecast(forecast)
    }
    case 'passes':
      checkPasses(readPasses(part, file), entry)
      return { threadBytes: 0 }
    case 'tides':
      checkTides(readTides(part, file), entry)
      return { threadBytes: 0 }
  }
}

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
    if (i % BUOYS_A_STEP === 0) yield
  }
  expect(new Set(slugs).size === count, file, 'a slug is there twice')
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
  expect(new Set(sources.map(({ name }) => name)).size === sources.length, file, 'a source is there twice')
  expect(spots.length <= MAX_SPOTS, file, `it has ${spots.length} spots, at most ${MAX_SPOTS} are read`)
  spots.forEach(({ id, lat, lng }, i) => {
    expect(id >= 1 && (i === 0 || id > spots[i - 1].id), file, 'the ids of spots do not ascend')
    expect(Math.abs(lat) <= 90 && Math.abs(lng) <= 180, file, 'a spot is not on the globe')
  })
  yield
  yield* checkIndexes(catalog, file)
}

/**
 * Indexes are read without a look at where they point, so they have to be those of the buoys. Building trees
 * anew takes 0.3 ms for 1,200 buoys, 3 ms for 10,000, on a thread that serves nothing; looking through a tree
 * for what a search relies on takes as long.
 */
function* checkIndexes({ lat, lng, points, boxes, words, ...texts }: Catalog, file: string): Steps<void> {
  expect(
    Buffer.compare(points, buildPoints(lat, lng)) === 0,
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

function* checkMonth(rows: MonthRows, { file, month, kind, rows: count }: PartEntry): Steps<void> {
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
    if (i % BUOYS_A_STEP === 0) yield
  }
  for (const name of MEASURE_NAMES) {
    const { codes, mask } = rows.measures[name]
    const { missing } = MEASURES[name]
    const { min, max } = codeLimits(MEASURES[name])
    const required = name === 'significantHeight' && kind === 'readings'
    expect(!required || mask !== 0 || count === 0, file, 'there are no significant heights')
    if (mask === 0) continue
    const within =
      codes instanceof Uint16Array
        ? allWithin(codes, max, required)
        : allWithinSigned(codes, min, max, missing)
    expect(within, file, `${name} has a value outside its limits`)
    yield
  }
}

/**
 * Whether all codes are at most `high`, or 65535 where it may be missing. One loop per type of column and no
 * branch but the maximum's: with 84 million rows every nanosecond here is a second of start-up.
 */
function allWithin(codes: Uint16Array, high: number, required: boolean): boolean {
  let highest = 0
  if (required) {
    for (let row = 0; row < codes.length; row++) if (codes[row] > highest) highest = codes[row]
    return highest <= high
  }
  for (let row = 0; row < codes.length; row++) {
    // The missing code becomes 0, every other one more than it was.
    const shifted = (codes[row] + 1) & 0xffff
    if (shifted > highest) highest = shifted
  }
  return highest <= high + 1
}

function allWithinSigned(codes: Int16Array, low: number, high: number, missing: number): boolean {
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]
    if ((code < low || code > high) && code !== missing) return false
  }
  return true
}

function expect(holds: boolean, file: string, otherwise: string): void {
  if (!holds) throw new SnapshotError(`${file}: ${otherwise}`)
}
