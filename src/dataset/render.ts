/**
 * The fragments of a snapshot: the buoy items, under their names on the wire (contract, "Resources and their
 * fields"). They are rendered once, on a thread that serves nothing, into shared memory.
 *
 * No other file maps our names to the contract's, its `significient_height` included.
 */
import { newestReadingTime, type Dataset } from './dataset.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import { LANGUAGES, type Language } from '../sea/languages.ts'
import { Fragments, type Range, type RenderedFragments } from './fragments.ts'
import { JsonWriter } from './json-writer.ts'
import {
  externalPassId,
  missionOfIndex,
  MISSIONS,
  passId,
  passName,
  satellitePassId,
  missionPicture,
} from '../sea/missions.ts'
import { READING_BYTES, writeReading, writeReadingSubset } from './reading-json.ts'
import { renderTimeAxis } from './time-axis.ts'
import { toShared } from '../system/thread-memory.ts'
import type { Steps } from '../system/steps.ts'
import { timestampText } from '../sea/time.ts'

/** Bytes: more than any buoy item without its name, slug and other texts takes. */
const ITEM_BYTES = 1024

/** Pieces that are rendered in one step of some 20 µs. */
const PIECES_PER_STEP = 16

/**
 * Renders a snapshot's fragments. Each member of a buoy (`"name":"Anglet"`) is made once, and items are put
 * together by copying members, which is several times as fast as making each item from texts.
 */
export function* renderFragments(dataset: Dataset, pictures?: string): Steps<RenderedFragments> {
  const { catalog, buoyCount: count } = dataset
  const writer = new JsonWriter(count * 4 * ITEM_BYTES)
  const members = yield* renderMembers(dataset, writer)
  const { id, name, slug, position, source, identifier, country, timezone, dtz } = members
  const { lastReadingTime, readingsCount, lastReading, virtual } = members
  // Members alone are not a part of any answer.
  const origin = writer.at
  const render = (pieces: number, write: (ordinal: number) => void): Steps<Uint32Array> =>
    renderPieces(writer, origin, pieces, write)
  const item = (parts: readonly Fragments[], close = true): Steps<Uint32Array> =>
    render(count, (ordinal) => writeObject(writer, parts, ordinal, close))
  const listed = [
    id,
    name,
    slug,
    position,
    source,
    identifier,
    lastReadingTime,
    readingsCount,
    lastReading,
    timezone,
  ]
  const mapped = [id, name, slug, position, timezone, source, virtual, lastReadingTime, lastReading]
  const lists = {
    list: yield* item(listed),
    detail: yield* item([...listed, country, dtz]),
    search: yield* item([id, name, slug, position, source, identifier, country]),
    nearest: yield* render(count, (ordinal) => {
      writeObject(writer, [id, name, position, source, identifier, lastReading], ordinal, false)
      writer.text(',"distance_km":')
    }),
    lastReading: yield* render(count, (ordinal) => {
      writeObject(writer, [id, name, position, source], ordinal, false)
      writer.text(',"last_reading":')
      writeNewest(writer, dataset, ordinal, writeReading)
      writer.text('}')
    }),
    map: yield* render(count, (ordinal) => {
      writeObject(writer, mapped, ordinal, false)
      writer.text(catalog.virtual[ordinal] === 1 ? `${mapPassText(dataset, ordinal)}}` : '}')
    }),
    summary: yield* item([name, position, source, dtz]),
    identifiedSummary: yield* item([id, name, position, source, dtz]),
    idAndName: yield* item([id, name]),
    pass: yield* render(dataset.passes.count, (row) => writer.text(passText(dataset, row))),
    harbour: yield* renderTexts(writer, origin, dataset.tides?.columns.names ?? []),
    tideSource: yield* renderTexts(writer, origin, dataset.tides?.columns.credits ?? []),
  }
  const rangeOf = (value: unknown): Range => {
    const from = writer.at - origin
    writer.text(JSON.stringify(value))
    return { from, to: writer.at - origin }
  }
  const satellites = Object.fromEntries(
    LANGUAGES.map((language) => [language, rangeOf(satellitesIn(language, dataset, pictures))]),
  ) as RenderedFragments['satellites']
  const countries = rangeOf(countriesOf(dataset))
  const timeAxis = renderTimeAxis(writer, dataset.asOf, origin)
  return toShared({ bytes: writer.bytes.subarray(origin, writer.at), lists, satellites, countries, timeAxis })
}

/**
 * Writes `count` pieces with `write`; returns where they begin, and behind the last where it ends, counted
 * from `origin`.
 */
function* renderPieces(
  writer: JsonWriter,
  origin: number,
  count: number,
  write: (ordinal: number) => void,
): Steps<Uint32Array> {
  const start = new Uint32Array(count + 1)
  for (let ordinal = 0; ordinal < count; ordinal++) {
    start[ordinal] = writer.at - origin
    writer.ensure(ITEM_BYTES)
    writer.comma()
    write(ordinal)
    if (ordinal % PIECES_PER_STEP === 0) yield
  }
  start[count] = writer.at - origin
  return start
}

function renderTexts(writer: JsonWriter, origin: number, texts: readonly string[]): Steps<Uint32Array> {
  return renderPieces(writer, origin, texts.length, (i) => writer.string(texts[i]))
}

/** An object of the members `parts`; without `close` more may follow. */
function writeObject(writer: JsonWriter, parts: readonly Fragments[], ordinal: number, close: boolean): void {
  writer.text('{')
  parts[0].write(ordinal)
  for (let i = 1; i < parts.length; i++) parts[i].writeNext(ordinal)
  if (close) writer.text('}')
}

/** The members that buoys' items are made of. */
function* renderMembers(dataset: Dataset, writer: JsonWriter) {
  const { catalog, readings, buoyCount: count } = dataset
  const { names, slugs, lat, lng, identifiers, timezones } = catalog
  const render = function* (write: (ordinal: number) => void): Steps<Fragments> {
    return new Fragments(writer, yield* renderPieces(writer, 0, count, write))
  }
  const member = (key: string, value: (ordinal: number) => unknown): Steps<Fragments> =>
    render((ordinal) => writer.text(`"${key}":${JSON.stringify(value(ordinal))}`))
  return {
    id: yield* member('id', (i) => catalog.id[i]),
    name: yield* member('name', (i) => names[i]),
    slug: yield* member('slug', (i) => slugs[i]),
    position: yield* render((i) => writer.text(`"lat":${lat[i]},"lng":${lng[i]}`)),
    source: yield* member('source', (i) => {
      const { name, label } = catalog.sources[catalog.source[i]]
      return label ?? name
    }),
    identifier: yield* member('source_identifier', (i) => identifiers[i]),
    country: yield* member('country', (i) =>
      catalog.country[i] === NO_COUNTRY ? null : catalog.countries[catalog.country[i]].name,
    ),
    timezone: yield* member('timezone', (i) => timezones[i]),
    dtz: yield* member('dtz', (i) => timezones[i]),
    lastReadingTime: yield* member('last_reading_time', (i) => {
      const newest = newestReadingTime(readings, i)
      return newest < 0 ? null : timestampText(newest)
    }),
    readingsCount: yield* member('readings_count', (i) => readings.count(i)),
    lastReading: yield* render((i) => {
      writer.text('"last_reading":')
      writeNewest(writer, dataset, i, writeReadingSubset)
    }),
    virtual: yield* member('virtual', (i) => catalog.virtual[i] === 1),
  }
}

/** The order of names that people expect: accents and case count last. */
const BY_NAME = new Intl.Collator('en')

/** The texts of a pass, each as JSON. */
function passTexts({ passes }: Dataset, row: number) {
  const { mission: index, cycle, number } = passes.columns
  const mission = missionOfIndex(index[row])!
  const [c, n] = [cycle[row], number[row]]
  return {
    mission,
    id: String(passId(mission.index, c, n)),
    name: JSON.stringify(passName(mission, c, n)),
    externalId: JSON.stringify(externalPassId(mission, c, n)),
    satellitePassId: JSON.stringify(satellitePassId(mission, c, n)),
    platform: JSON.stringify(mission.name),
  }
}

function passText(dataset: Dataset, row: number): string {
  const { passes } = dataset
  const { started, ended, south, west, north, east } = passes.columns
  const { mission, id, name, externalId, satellitePassId, platform } = passTexts(dataset, row)
  return (
    `{"id":${id},"name":${name},"external_id":${externalId},"satellite_pass_id":${satellitePassId},"platform":${platform},` +
    `"mission":${JSON.stringify({ slug: mission.slug, name: mission.name })},` +
    `"started_at":"${timestampText(started[row])}","ended_at":"${timestampText(ended[row])}",` +
    `"buoy_count":${passes.buoyCount[row]},"observation_count":${passes.observationCount(row)},` +
    `"bounds":{"south":${south[row]},"west":${west[row]},"north":${north[row]},"east":${east[row]}}}`
  )
}

/** Members of a virtual buoy's map item: the pass that gave it its newest reading. */
function mapPassText(dataset: Dataset, ordinal: number): string {
  const row = dataset.passes.newestOf(ordinal)
  if (row === -1) {
    return ',"pass_id":null,"satellite_pass_id":null,"external_id":null,"pass_name":null,"pass_platform":null'
  }
  const { id, name, externalId, satellitePassId, platform } = passTexts(dataset, row)
  return (
    `,"pass_id":${id},"satellite_pass_id":${satellitePassId},"external_id":${externalId},` +
    `"pass_name":${name},"pass_platform":${platform}`
  )
}

/** The data of `GET /buoys/satellites`. */
function satellitesIn(language: Language, { passes }: Dataset, pictures?: string) {
  const satellites = MISSIONS.map(({ index, slug, name, agency, instrument, description }) => ({
    slug,
    name,
    agency,
    instrument,
    description: description[language],
    image_url: missionPicture(slug, pictures),
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

function writeNewest(
  writer: JsonWriter,
  { catalog, readings }: Dataset,
  ordinal: number,
  write: typeof writeReading,
): void {
  const count = readings.count(ordinal)
  if (count === 0) {
    writer.text('null')
    return
  }
  writer.ensure(READING_BYTES)
  const segment = readings.segmentOf(ordinal, count - 1)
  write(writer, catalog.id[ordinal], readings.months[readings.month[segment]], readings.to[segment] - 1)
}
