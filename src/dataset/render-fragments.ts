/** Renders items of buoys and passes as JSON, once, into shared memory, on a thread that serves nothing. */
import type { Dataset } from './dataset.ts'
import type { IndexedFragments, Range } from './fragments.ts'
import { renderTimeAxis } from './time-axis.ts'
import { JsonWriter } from './json-writer.ts'
import { NO_DECIMALS } from '../index/latest.ts'
import { absentOf, BUOY_ITEMS, type BuoyItem, itemColumns, passColumns } from './buoy-table.ts'
import { MEASURE_NAMES } from '../sea/columns.ts'
import { type Language, LANGUAGES } from '../sea/languages.ts'
import { missionPicture, MISSIONS } from '../sea/missions.ts'
import type { Steps } from '../system/steps.ts'
import { toShared } from '../system/thread-memory.ts'
import { WIRE_NAMES } from './reading-json.ts'
import { objectBytes, objectCell } from './row-writers.ts'

/** Bytes of a buoy's items, about; the writer grows where they take more. */
const BUOY_BYTES = 4096
/** Pieces that are rendered in one step of some 50 µs. */
const PIECES_PER_STEP = 16

const sameRow = (row: number): number => row

export function* renderFragments(dataset: Dataset): Steps<IndexedFragments> {
  const { buoyCount, passes, tides } = dataset
  const writer = new JsonWriter(buoyCount * BUOY_BYTES)
  const items = {} as { [item in BuoyItem]: Uint32Array }
  for (const item of BUOY_ITEMS) items[item] = yield* renderItems(writer, item, dataset)
  const columns = Object.values(passColumns(dataset, sameRow))
  const pass = objectCell(columns)
  const bytes = objectBytes(columns)
  const texts = (all: readonly string[] = []): Steps<Uint32Array> =>
    renderPieces(writer, all.length, (i) => writer.string(all[i]))
  const lists = {
    ...items,
    pass: yield* renderPieces(writer, passes.count, (row) => {
      writer.ensure(bytes)
      pass(writer, row, { from: row, step: 1, count: 1 })
    }),
    harbour: yield* texts(tides?.columns.names),
    tideSource: yield* texts(tides?.columns.credits),
  }
  const rangeOf = (value: unknown): Range => {
    const from = writer.at
    writer.text(JSON.stringify(value))
    return { from, to: writer.at }
  }
  const satellites = Object.fromEntries(
    LANGUAGES.map((language) => [language, rangeOf(satellitesIn(language, dataset))]),
  ) as IndexedFragments['satellites']
  const countries = rangeOf(countriesOf(dataset))
  const decimals = rangeOf(decimalsOf(dataset))
  const timeAxis = renderTimeAxis(writer, dataset.asOf)
  const ranges = { satellites, countries, decimals, timeAxis }
  return toShared({ bytes: writer.bytes.subarray(0, writer.at), lists, ...ranges })
}

function renderItems(writer: JsonWriter, item: BuoyItem, dataset: Dataset): Steps<Uint32Array> {
  const columns = itemColumns(item, dataset, sameRow)
  const object = objectCell(columns, absentOf(dataset, sameRow))
  const bytes = objectBytes(columns)
  return renderPieces(writer, dataset.buoyCount, (ordinal) => {
    writer.ensure(bytes)
    object(writer, ordinal, { from: ordinal, step: 1, count: 1 })
    if (item !== 'nearest') return
    // The distance is the last member.
    writer.at--
    writer.text(',"distance_km":')
  })
}

/** Writes `count` pieces, each after a comma. Returns where each begins, and where the last ends. */
function* renderPieces(
  writer: JsonWriter,
  count: number,
  write: (index: number) => void,
): Steps<Uint32Array> {
  const start = new Uint32Array(count + 1)
  for (let i = 0; i < count; i++) {
    start[i] = writer.at
    writer.text(',')
    write(i)
    if (i % PIECES_PER_STEP === 0) yield
  }
  start[count] = writer.at
  return start
}

/** The order of names that people expect: accents and case count last. */
const BY_NAME = new Intl.Collator('en')

/** The data of `GET /buoys/satellites`. */
function satellitesIn(language: Language, { passes }: Dataset) {
  const satellites = MISSIONS.map(({ index, slug, name, agency, instrument, description }) => ({
    slug,
    name,
    agency,
    instrument,
    description: description[language],
    image_url: missionPicture(slug),
    pass_count: passes.ofMission(index).all.length,
  }))
  return { satellites, count: satellites.length }
}

/** Countries with active buoys, by name: the data of `GET /countries`. */
function countriesOf({ catalog, groups }: Dataset) {
  const countries = catalog.countries
    .map(({ code, name }) => ({ code, name, buoy_count: groups.byCountry.get(code)?.active.length ?? 0 }))
    .filter(({ buoy_count: count }) => count > 0)
    .sort((a, b) => BY_NAME.compare(a.name, b.name))
  return { countries, count: countries.length }
}

/**
 * The decimals that each source measures with, by its name and the names of fields: `decimals` of `GET
 * /buoys/map`.
 */
function decimalsOf({ catalog, latest: { decimals } }: Dataset): object {
  const ofSources = catalog.sources.map(({ name }, source) => {
    const fields = MEASURE_NAMES.map((measure, i) => [
      WIRE_NAMES[measure],
      decimals[source * MEASURE_NAMES.length + i],
    ]).filter(([, most]) => most !== NO_DECIMALS)
    return [name, Object.fromEntries(fields)] as const
  })
  return Object.fromEntries(ofSources.filter(([, fields]) => Object.keys(fields).length > 0))
}
