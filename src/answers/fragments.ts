/**
 * JSON bytes that several operations share, made once for a snapshot: the buoy items, under their names on
 * the wire (contract, "Resources and their fields"). Everything about a buoy that stays the same for a
 * snapshot is rendered once, here; operations copy it.
 *
 * No other file maps our names to the contract's, its `significient_height` included.
 */
import { newestReadingTime, type Dataset } from './dataset.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import { LANGUAGES, type Language } from '../sea/languages.ts'
import { JsonWriter } from './json.ts'
import { Literal } from './literals.ts'
import {
  externalPassId,
  missionOfIndex,
  MISSIONS,
  passId,
  passName,
  satellitePassId,
} from '../sea/missions.ts'
import { READING_BYTES, writeReading, writeReadingSubset } from './reading.ts'
import type { Steps } from '../system/steps.ts'
import { timestampText } from '../sea/time.ts'

const END = new Literal('}')

/** More than any buoy item without its name, slug and other texts takes. */
const ITEM_BYTES = 1024

/** Some 20 µs of work. */
const PIECES_PER_STEP = 16

/** Pieces of JSON inside a writer's kept bytes, one per ordinal, each begun by a comma. */
export class Fragments {
  readonly #writer: JsonWriter
  readonly #start: Uint32Array

  private constructor(writer: JsonWriter, count: number) {
    this.#writer = writer
    this.#start = new Uint32Array(count + 1)
  }

  /** Renders `count` pieces with `write`. */
  static *render(writer: JsonWriter, count: number, write: (ordinal: number) => void): Steps<Fragments> {
    const fragments = new Fragments(writer, count)
    for (let ordinal = 0; ordinal < count; ordinal++) {
      fragments.#start[ordinal] = writer.at
      writer.ensure(ITEM_BYTES)
      writer.comma()
      write(ordinal)
      if (ordinal % PIECES_PER_STEP === 0) yield
    }
    fragments.#start[count] = writer.at
    return fragments
  }

  /** One piece, without its comma. */
  write(ordinal: number): void {
    this.#writer.copy(this.#start[ordinal] + 1, this.#start[ordinal + 1])
  }

  /** As `write`, into another writer. */
  writeTo(writer: JsonWriter, ordinal: number): void {
    writer.take(this.#writer.bytes.subarray(this.#start[ordinal] + 1, this.#start[ordinal + 1]))
  }

  /** One piece with its comma: what follows another. */
  writeNext(ordinal: number): void {
    this.#writer.copy(this.#start[ordinal], this.#start[ordinal + 1])
  }

  /**
   * The pieces of `ordinals[from]` to `ordinals[to - 1]`, separated by commas. Neighbouring ordinals lie side
   * by side, so runs of them are copied in one go.
   */
  writeList(ordinals: ArrayLike<number>, from: number, to: number): void {
    for (let i = from; i < to;) {
      const first = ordinals[i]
      let last = first
      for (i++; i < to && ordinals[i] === last + 1; i++) last++
      const start = this.#start[first]
      this.#writer.copy(i - (last - first + 1) === from ? start + 1 : start, this.#start[last + 1])
    }
  }
}

/** What answers of one snapshot share, made once. */
export interface SnapshotFragments {
  readonly writer: JsonWriter
  /** `GET /buoys` items. */
  readonly list: Fragments
  /** `GET /buoys/{buoy_id}` objects. */
  readonly detail: Fragments
  /** `GET /buoys/search` items. */
  readonly search: Fragments
  /**
   * `GET /buoys/nearest` items, up to the number of `distance_km`, which is the last member: so an item is
   * one copy.
   */
  readonly nearest: Fragments
  /** `GET /buoys/last_readings` items. */
  readonly lastReading: Fragments
  /** `GET /buoys/map` items. */
  readonly map: Fragments
  /** The buoy of `readings`, of `chart` and `series`, and of one reading. */
  readonly summary: Fragments
  readonly identifiedSummary: Fragments
  readonly idAndName: Fragments
  /** `GET /buoys/satellite_passes` items, by row. */
  readonly pass: Fragments
  /** The data of `GET /buoys/satellites` by language, by its position in the writer. */
  readonly satellites: { readonly [language in Language]: { from: number; to: number } }
  /** Names of harbours by harbour, credits by credit, as JSON texts; none where the snapshot has no tides. */
  readonly harbour: Fragments
  readonly tideSource: Fragments
  /** The data of `GET /countries`, by its position in the writer. */
  readonly countries: { from: number; to: number }
}

/** Room for answers behind the fragments; longer answers make it grow. */
const ANSWER_BYTES = 256 * 1024

/**
 * Renders a snapshot's items. Each member of a buoy (`"name":"Anglet"`) is made once, and items are put
 * together by copying members: seven times as fast as making each item from texts, and without garbage that
 * would stop a serving thread.
 */
export function* renderFragments(dataset: Dataset): Steps<SnapshotFragments> {
  const { catalog, buoyCount: count } = dataset
  const writer = new JsonWriter(count * 4 * ITEM_BYTES + ANSWER_BYTES)
  const members = yield* renderMembers(dataset, writer)
  const { id, name, slug, position, source, identifier, country, timezone, dtz } = members
  const { lastReadingTime, readingsCount, lastReading, virtual } = members
  const item = (parts: readonly Fragments[], close = true): Steps<Fragments> =>
    Fragments.render(writer, count, (ordinal) => writeObject(writer, parts, ordinal, close))
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
  const fragments: SnapshotFragments = {
    writer,
    list: yield* item(listed),
    detail: yield* item([...listed, country, dtz]),
    search: yield* item([id, name, slug, position, source, identifier, country]),
    nearest: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, [id, name, position, source, identifier, lastReading], ordinal, false)
      writer.text(',"distance_km":')
    }),
    lastReading: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, [id, name, position, source], ordinal, false)
      writer.text(',"last_reading":')
      writeNewest(writer, dataset, ordinal, writeReading)
      writer.text('}')
    }),
    map: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, mapped, ordinal, false)
      writer.text(catalog.virtual[ordinal] === 1 ? `${mapPassText(dataset, ordinal)}}` : '}')
    }),
    summary: yield* item([name, position, source, dtz]),
    identifiedSummary: yield* item([id, name, position, source, dtz]),
    idAndName: yield* item([id, name]),
    pass: yield* Fragments.render(writer, dataset.passes.count, (row) => writer.text(passText(dataset, row))),
    satellites: writeSatellites(writer, dataset),
    harbour: yield* textFragments(writer, dataset.tides?.columns.names ?? []),
    tideSource: yield* textFragments(writer, dataset.tides?.columns.credits ?? []),
    countries: writeCountries(writer, dataset),
  }
  writer.mark()
  return fragments
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
  const member = (key: string, value: (ordinal: number) => unknown): Steps<Fragments> =>
    Fragments.render(writer, count, (ordinal) => writer.text(`"${key}":${JSON.stringify(value(ordinal))}`))
  return {
    id: yield* member('id', (i) => catalog.id[i]),
    name: yield* member('name', (i) => names[i]),
    slug: yield* member('slug', (i) => slugs[i]),
    position: yield* Fragments.render(writer, count, (i) => writer.text(`"lat":${lat[i]},"lng":${lng[i]}`)),
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
    lastReading: yield* Fragments.render(writer, count, (i) => {
      writer.text('"last_reading":')
      writeNewest(writer, dataset, i, writeReadingSubset)
    }),
    virtual: yield* member('virtual', (i) => catalog.virtual[i] === 1),
  }
}

/** The order of names that people expect: accents and case count last. */
const BY_NAME = new Intl.Collator('en')

function textFragments(writer: JsonWriter, texts: readonly string[]): Steps<Fragments> {
  return Fragments.render(writer, texts.length, (i) => writer.string(texts[i]))
}

/** More than the distance of an item takes. */
const DISTANCE_BYTES = 24

/** Nearest first: ordinals, and distances in hundredths of a km, rounded. */
export interface NearestFound {
  ordinals: Uint32Array
  hundredths: Uint32Array
}

/** The nearest buoys found by `find`, `count` of them, separated by commas. */
export function writeNearest(
  { writer, nearest }: SnapshotFragments,
  { ordinals, hundredths }: NearestFound,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    if (i === 0) nearest.write(ordinals[i])
    else nearest.writeNext(ordinals[i])
    writer.ensure(DISTANCE_BYTES)
    writer.hundredths(hundredths[i])
    writer.literal(END)
  }
}

/** What passes say of themselves, each as JSON text. */
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

function writeSatellites(writer: JsonWriter, { passes }: Dataset): SnapshotFragments['satellites'] {
  const write = (language: Language): { from: number; to: number } => {
    const from = writer.at
    const satellites = MISSIONS.map(({ index, slug, name, agency, instrument, description }) => ({
      slug,
      name,
      agency,
      instrument,
      description: description[language],
      image_url: null,
      pass_count: passes.ofMission(index).all.length,
    }))
    writer.text(JSON.stringify({ satellites, count: satellites.length }))
    return { from, to: writer.at }
  }
  return Object.fromEntries(
    LANGUAGES.map((language) => [language, write(language)]),
  ) as SnapshotFragments['satellites']
}

/** Countries with active buoys, by name. */
function writeCountries(writer: JsonWriter, { catalog, groups }: Dataset): SnapshotFragments['countries'] {
  const from = writer.at
  const countries = catalog.countries
    .map(({ code, name }) => ({ code, name, buoy_count: groups.byCountry.get(code)?.active.length ?? 0 }))
    .filter(({ buoy_count: count }) => count > 0)
    .sort((a, b) => BY_NAME.compare(a.name, b.name))
  writer.text(JSON.stringify({ countries, count: countries.length }))
  return { from, to: writer.at }
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
