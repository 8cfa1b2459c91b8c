/**
 * Shapes that several operations share: the buoy items and the reading, under their names on the wire (contract, "Resources and
 * their fields"). Everything about a buoy that stays the same for a snapshot is rendered once, here; operations copy it.
 *
 * The one place that maps our names to the contract's, its spelling `significient_height` included.
 */
import { MEASURES } from './columns.ts'
import { newestReadingTime, type Dataset } from './dataset.ts'
import { roundKm } from './geo.ts'
import { NO_COUNTRY } from './snapshot/catalog.ts'
import type { MonthRows } from './snapshot/months.ts'
import { LANGUAGES, type Language } from './language.ts'
import { HUNDREDTHS, JsonWriter, Literal, SIGNED_HUNDREDTHS, THOUSANDTHS } from './json.ts'
import { externalPassId, missionOfIndex, MISSIONS, passId, passName, satellitePassId } from './missions.ts'
import type { Steps } from './steps.ts'
import { timestampText } from './time.ts'

/** A reading's id is its buoy's id times this, plus its time in epoch seconds: below 2^53 for ids up to `MAX_BUOY_ID`. */
export const READING_ID_FACTOR = 1e10

/** More than any reading takes in JSON. */
export const READING_BYTES = 384
/** More than any buoy item without its name, slug and other texts takes. */
const ITEM_BYTES = 1024

const ENERGY_FACTOR = ((1 / 8) * 1025 * 9.81 * 9.81) / (2 * Math.PI) / 1000

/**
 * Energy of a wave in kJ per metre of crest, deep water: ⅛ρgH² · gT²/2π with ρ = 1025 kg/m³ and g = 9.81 m/s² (decisions,
 * "Definitions"). Height in m, period in s. Null unless both are above 0.
 */
export function waveEnergy(height: number | null, period: number | null): number | null {
  if (height === null || period === null || height <= 0 || period <= 0) return null
  return Math.round(ENERGY_FACTOR * height * height * period * period)
}

/** A UUID of version 8 (RFC 9562) laid out from the same two numbers as the id, so that it is found without a search. */
export function readingUuid(buoyId: number, epoch: number): string {
  const time = epoch.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-8000-8000-${buoyId.toString(16).padStart(12, '0')}`
}

const READING_UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8000-([0-9a-f]{12})$/

/** The time that a reading's id or uuid names for this buoy, epoch seconds, or null when it names none. */
export function readingTime(text: string, buoyId: number): number | null {
  if (/^[0-9]{1,16}$/.test(text)) {
    const epoch = Number(text) - buoyId * READING_ID_FACTOR
    return epoch >= 0 && epoch < READING_ID_FACTOR ? epoch : null
  }
  const match = READING_UUID.exec(text.toLowerCase())
  return match !== null && Number.parseInt(match[3], 16) === buoyId
    ? Number.parseInt(match[1] + match[2], 16)
    : null
}

const ID = new Literal('{"id":')
const UUID = new Literal(',"uuid":"')
const UUID_ALONE = new Literal('{"uuid":"')
const UUID_MIDDLE = new Literal('-8000-8000-')
const HEIGHT = new Literal('","significient_height":')
const MAXIMUM_HEIGHT = new Literal(',"maximum_height":')
const PERIOD = new Literal(',"period":')
const TIME = new Literal(',"time":')
const WATER_TEMPERATURE = new Literal(',"water_temperature":')
const DIRECTION = new Literal(',"direction":')
const DIRECTION_COMPASS = new Literal(',"direction_compass":')
const UNIT_END = new Literal(',"unit":"m"}')
const UNIT_ENERGY = new Literal(',"unit":"m","energy_per_wave":')
const END = new Literal('}')

/** Writes the full Reading of one row, without its closing brace. The caller has ensured `READING_BYTES`. */
export function writeOpenReading(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  const { significantHeight, period, direction } = rows.measures
  const height = significantHeight.codes[row & significantHeight.mask]
  const periodCode = period.codes[row & period.mask]
  const directionCode = direction.codes[row & direction.mask]
  const time = rows.time[row]
  out.literal(ID)
  out.integer(buoyId)
  out.tenDigits(time)
  out.literal(UUID)
  writeMeasured(out, buoyId, rows, row)
  out.literal(DIRECTION)
  out.entry(HUNDREDTHS, directionCode)
  out.literal(DIRECTION_COMPASS)
  out.compass(directionCode)
  out.literal(UNIT_ENERGY)
  if (height === 0 || periodCode === 0 || periodCode === MEASURES.period.missing) out.null()
  else out.integer(waveEnergy(height / 1000, periodCode / 1000)!)
}

export function writeReading(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  writeOpenReading(out, buoyId, rows, row)
  out.literal(END)
}

/** Writes the subset of a Reading that is embedded in buoy lists and details. */
export function writeReadingSubset(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  const { direction } = rows.measures
  out.literal(UUID_ALONE)
  writeMeasured(out, buoyId, rows, row)
  out.literal(DIRECTION)
  out.entry(HUNDREDTHS, direction.codes[row & direction.mask])
  out.literal(UNIT_END)
}

function writeMeasured(out: JsonWriter, buoyId: number, rows: MonthRows, row: number): void {
  const { significantHeight, maximumHeight, period, waterTemperature } = rows.measures
  const time = rows.time[row]
  out.twelveHex(time, true)
  out.literal(UUID_MIDDLE)
  out.twelveHex(buoyId, false)
  out.literal(HEIGHT)
  out.entry(THOUSANDTHS, significantHeight.codes[row & significantHeight.mask])
  out.literal(MAXIMUM_HEIGHT)
  out.entry(THOUSANDTHS, maximumHeight.codes[row & maximumHeight.mask])
  out.literal(PERIOD)
  out.entry(THOUSANDTHS, period.codes[row & period.mask])
  out.literal(TIME)
  out.timestamp(time)
  out.literal(WATER_TEMPERATURE)
  out.entry(SIGNED_HUNDREDTHS, waterTemperature.codes[row & waterTemperature.mask] & 0xffff)
}

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

  /** One piece with its comma: what follows another. */
  writeNext(ordinal: number): void {
    this.#writer.copy(this.#start[ordinal], this.#start[ordinal + 1])
  }

  /**
   * The pieces of `ordinals[from]` to `ordinals[to - 1]`, separated by commas. Neighbouring ordinals lie side by side, so runs of them
   * are copied in one go.
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

export interface Shapes {
  readonly writer: JsonWriter
  /** `GET /buoys` items. */
  readonly list: Fragments
  /** `GET /buoys/{buoy_id}` objects. */
  readonly detail: Fragments
  /** `GET /buoys/search` items. */
  readonly search: Fragments
  /** `GET /buoys/nearest` items, before and after the number of `distance_km`. */
  readonly nearestHead: Fragments
  readonly nearestTail: Fragments
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
  /** The data of `GET /buoys/satellites` by language, by its place in the writer. */
  readonly satellites: { readonly [language in Language]: { from: number; to: number } }
  /** Names of harbours by harbour, credits by credit, as JSON texts; none where the snapshot has no tides. */
  readonly harbour: Fragments
  readonly tideSource: Fragments
  /** The data of `GET /countries`, by its place in the writer. */
  readonly countries: { from: number; to: number }
}

/** Room for answers behind the fragments; longer answers make it grow. */
const ANSWER_BYTES = 256 * 1024

/**
 * Renders a snapshot's items. Each member of a buoy (`"name":"Anglet"`) is made once, and items are put together by copying
 * members: seven times as fast as making each item from texts, and without garbage that would stop a serving thread.
 */
export function* renderShapes(dataset: Dataset): Steps<Shapes> {
  const { catalog, buoyCount: count } = dataset
  const writer = new JsonWriter(count * 4 * ITEM_BYTES + ANSWER_BYTES)
  const members = yield* renderMembers(dataset, writer)
  const { id, name, slug, place, source, identifier, country, timezone, dtz } = members
  const { lastReadingTime, readingsCount, lastReading, virtual } = members
  const item = (parts: readonly Fragments[], close = true): Steps<Fragments> =>
    Fragments.render(writer, count, (ordinal) => writeObject(writer, parts, ordinal, close))
  const listed = [
    id,
    name,
    slug,
    place,
    source,
    identifier,
    lastReadingTime,
    readingsCount,
    lastReading,
    timezone,
  ]
  const mapped = [id, name, slug, place, timezone, source, virtual, lastReadingTime, lastReading]
  const shapes: Shapes = {
    writer,
    list: yield* item(listed),
    detail: yield* item([...listed, country, dtz]),
    search: yield* item([id, name, slug, place, source, identifier, country]),
    nearestHead: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, [id, name, place, source, identifier], ordinal, false)
      writer.text(',"distance_km":')
    }),
    nearestTail: yield* Fragments.render(writer, count, (ordinal) => {
      // The comma that every fragment begins with stands between the distance and this.
      lastReading.write(ordinal)
      writer.text('}')
    }),
    lastReading: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, [id, name, place, source], ordinal, false)
      writer.text(',"last_reading":')
      writeNewest(writer, dataset, ordinal, writeReading)
      writer.text('}')
    }),
    map: yield* Fragments.render(writer, count, (ordinal) => {
      writeObject(writer, mapped, ordinal, false)
      writer.text(catalog.virtual[ordinal] === 1 ? `${mapPassText(dataset, ordinal)}}` : '}')
    }),
    summary: yield* item([name, place, source, dtz]),
    identifiedSummary: yield* item([id, name, place, source, dtz]),
    idAndName: yield* item([id, name]),
    pass: yield* Fragments.render(writer, dataset.passes.count, (row) => writer.text(passText(dataset, row))),
    satellites: writeSatellites(writer, dataset),
    harbour: yield* textFragments(writer, dataset.tides?.columns.names ?? []),
    tideSource: yield* textFragments(writer, dataset.tides?.columns.credits ?? []),
    countries: writeCountries(writer, dataset),
  }
  writer.mark()
  return shapes
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
    place: yield* Fragments.render(writer, count, (i) => writer.text(`"lat":${lat[i]},"lng":${lng[i]}`)),
    source: yield* member('source', (i) => catalog.sources[catalog.source[i]].name),
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

/** A nearest-buoy item; `km` unrounded. */
export function writeNearest(
  { writer, nearestHead, nearestTail }: Shapes,
  ordinal: number,
  km: number,
): void {
  nearestHead.write(ordinal)
  writer.number(roundKm(km))
  writer.comma()
  nearestTail.write(ordinal)
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

function writeSatellites(writer: JsonWriter, { passes }: Dataset): Shapes['satellites'] {
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
  return Object.fromEntries(LANGUAGES.map((language) => [language, write(language)])) as Shapes['satellites']
}

/** Countries with active buoys, by name. */
function writeCountries(writer: JsonWriter, { catalog, groups }: Dataset): Shapes['countries'] {
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
