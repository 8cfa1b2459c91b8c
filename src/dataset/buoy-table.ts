/** Buoys as columns, under their names on the wire, and which of them each item has. */
import { NO_COUNTRY } from '../sea/columns.ts'
import { type Dataset, newestReadingTime } from './dataset.ts'
import {
  allRows,
  type Column,
  elsewhere,
  flag,
  integer,
  type Line,
  number,
  type Place,
  type Table,
  text,
  time,
} from './table.ts'
import { INCLUDES_SPECTRUM } from './reading-json.ts'
import { spectrumColumns } from './spectra-json.ts'
import { readingColumns, type ReadingCursor, readingSubsetColumns } from './reading-table.ts'
import {
  externalPassId,
  type Mission,
  missionOfIndex,
  passId,
  passName,
  satellitePassId,
} from '../sea/missions.ts'

export type OrdinalOf = (row: number) => number

const DEGREE = 'degree'

/** Members of an item in their order. */
export const ITEMS = {
  list: 'id name slug lat lng source source_identifier last_reading_time readings_count last_reading timezone',
  detail:
    'id name slug lat lng source source_identifier last_reading_time readings_count last_reading timezone country dtz',
  search: 'id name slug lat lng source source_identifier country',
  nearest: 'id name lat lng source source_identifier last_reading',
  lastReading: 'id name lat lng source whole_last_reading',
  map: 'id name slug lat lng timezone source virtual last_reading_time last_reading newest_pass',
  /** The buoy of `readings`, of `chart` and `series`, and of one reading. */
  summary: 'name lat lng source dtz',
  identifiedSummary: 'id name lat lng source dtz',
  idAndName: 'id name',
} as const

export type BuoyItem = keyof typeof ITEMS
export const BUOY_ITEMS = Object.keys(ITEMS) as BuoyItem[]

/** Items that `include=spectrum` adds to; others have no such word. */
const WITH_SPECTRUM: ReadonlySet<BuoyItem> = new Set(['detail', 'lastReading'])

/** `included` is what `include` adds to the last reading (see `extraMeasures`). */
export function itemColumns(
  item: BuoyItem,
  dataset: Dataset,
  ordinalOf: OrdinalOf,
  included?: number,
): Column[] {
  const members: { readonly [name: string]: () => Column | Column[] } = {
    ...catalogMembers(dataset.catalog, ordinalOf),
    last_reading_time: () =>
      time('last_reading_time', (row) => {
        const newest = newestReadingTime(dataset.readings, ordinalOf(row))
        return newest < 0 ? NaN : newest
      }),
    readings_count: () => integer('readings_count', (row) => dataset.readings.count(ordinalOf(row))),
    last_reading: () => lastReadingColumns(dataset, ordinalOf, readingSubsetColumns, included),
    whole_last_reading: () => lastReadingColumns(dataset, ordinalOf, readingColumns, included),
    newest_pass: () => newestPassColumns(dataset, ordinalOf),
  }
  const columns = ITEMS[item].split(' ').flatMap((name) => members[name]())
  const hasSpectrum = ((included ?? 0) & INCLUDES_SPECTRUM) !== 0 && WITH_SPECTRUM.has(item)
  return hasSpectrum ? [...columns, ...spectrumColumns(dataset, ordinalOf)] : columns
}

/** The catalogue's facts about a buoy. */
export function catalogMembers(catalog: Dataset['catalog'], ordinalOf: OrdinalOf) {
  const zone = (row: number): string => catalog.timezones[ordinalOf(row)]
  return {
    id: () => integer('id', (row) => catalog.id[ordinalOf(row)]),
    name: () => text('name', (row) => catalog.names[ordinalOf(row)]),
    slug: () => text('slug', (row) => catalog.slugs[ordinalOf(row)]),
    lat: () => number('lat', (row) => catalog.lat[ordinalOf(row)], DEGREE),
    lng: () => number('lng', (row) => catalog.lng[ordinalOf(row)], DEGREE),
    source: () => text('source', (row) => sourceOf(catalog, ordinalOf(row))),
    source_identifier: () => text('source_identifier', (row) => catalog.identifiers[ordinalOf(row)]),
    country: () =>
      text('country', (row) => {
        const country = catalog.country[ordinalOf(row)]
        return country === NO_COUNTRY ? null : catalog.countries[country].name
      }),
    timezone: () => text('timezone', zone),
    dtz: () => text('dtz', zone),
    virtual: () => flag('virtual', (row) => catalog.virtual[ordinalOf(row)] === 1),
  }
}

function sourceOf({ sources, source }: Dataset['catalog'], ordinal: number): string {
  const { name, label } = sources[source[ordinal]]
  return label ?? name
}

/** Tables have the buoy's position and identity by default, so that files of several can be put together. */
export function buoyBeside(dataset: Dataset, ordinalOf: () => number, withId: boolean): Column[] {
  const summary = itemColumns(withId ? 'identifiedSummary' : 'summary', dataset, ordinalOf)
  const [id, name] = itemColumns('idAndName', dataset, ordinalOf)
  return [
    ...summary.map((column): Column => {
      const isPosition = column.name === 'lat' || column.name === 'lng'
      return { ...column, name: `buoy.${column.name}`, added: isPosition ? 'tables' : 'fields' }
    }),
    { ...id, name: 'buoy_id', added: 'tables' },
    { ...name, name: 'buoy_name', added: 'tables' },
  ]
}

/** What files say of the readings of these buoys: their networks, each once, with credits and licences. */
export function readingsAbout(
  { catalog, demo }: Dataset,
  ordinals: readonly number[],
): { readonly [key: string]: string } {
  const indexes = [...new Set(ordinals.map((ordinal) => catalog.source[ordinal]))]
  const sources = indexes.map((index) => catalog.sources[index])
  const said = {
    source: sources.map(({ name, label }) => label ?? name),
    credit: sources.map(({ credit }) => credit),
    licence: sources.map(({ licence }) => licence),
  }
  const texts = Object.entries(said).map(([key, values]) => {
    return [key, [...new Set(values.filter((value) => value !== null))].join('; ')]
  })
  return Object.fromEntries([
    ...(demo ? [['demo', 'true']] : []),
    ...texts.filter(([, value]) => value !== ''),
  ])
}

function lastReadingColumns(
  { catalog, readings }: Dataset,
  ordinalOf: OrdinalOf,
  columnsOf: typeof readingColumns,
  included?: number,
): Column[] {
  const cursor: ReadingCursor = { id: 0, month: readings.months[0] }
  let sought = -1
  let newest = -1
  // The row in its month, −1 where the buoy has none.
  const seek = (row: number): number => {
    const ordinal = ordinalOf(row)
    if (ordinal === sought) return newest
    sought = ordinal
    const count = readings.count(ordinal)
    if (count === 0) return (newest = -1)
    const segment = readings.segmentOf(ordinal, count - 1)
    cursor.id = catalog.id[ordinal]
    cursor.month = readings.months[readings.month[segment]]
    return (newest = readings.to[segment] - 1)
  }
  return columnsOf(cursor, included).map((column) => elsewhere(column, `last_reading.${column.name}`, seek))
}

function newestPassColumns(dataset: Dataset, ordinalOf: OrdinalOf): Column[] {
  const { catalog, passes } = dataset
  const rowOf = (row: number): number => passes.indexes.newest[ordinalOf(row)]
  const isLeftOut = (row: number): boolean => catalog.virtual[ordinalOf(row)] === 0
  const { id, satellitePassId, externalId, name, platform } = passColumns(dataset, (row) => row)
  return [
    [id, 'pass_id'] as const,
    [satellitePassId, 'satellite_pass_id'] as const,
    [externalId, 'external_id'] as const,
    [name, 'pass_name'] as const,
    [platform, 'pass_platform'] as const,
  ].map(([column, wire]) => ({ ...elsewhere(column, wire, rowOf), isLeftOut }))
}

/** `last_reading` is null for a buoy without readings, `spectrum` for one without spectra. */
export function absentOf({ readings, spectra }: Dataset, ordinalOf: OrdinalOf): NonNullable<Table['absent']> {
  return {
    last_reading: (row) => readings.count(ordinalOf(row)) === 0,
    spectrum: (row) => spectra.rows.count(ordinalOf(row)) === 0,
  }
}

/** A row for each of `ordinals`. */
export function buoyRows(
  item: BuoyItem,
  dataset: Dataset,
  ordinals: Uint32Array,
  included?: number,
): Pick<Table, 'columns' | 'runs' | 'absent' | 'place' | 'id'> {
  const ordinalOf = (row: number): number => ordinals[row]
  return {
    columns: itemColumns(item, dataset, ordinalOf, included),
    runs: allRows(ordinals.length),
    absent: absentOf(dataset, ordinalOf),
    place: buoyPlace(dataset, ordinalOf),
    id: 'id',
  }
}

export function buoyPlace({ catalog }: Pick<Dataset, 'catalog'>, ordinalOf: OrdinalOf): Place {
  return {
    kind: 'point',
    lat: (row) => catalog.lat[ordinalOf(row)],
    lng: (row) => catalog.lng[ordinalOf(row)],
  }
}

// Satellite passes as columns.
export function passColumns({ passes }: Dataset, rowOf: (row: number) => number) {
  const { columns } = passes
  const missionOf = (pass: number): Mission => missionOfIndex(columns.mission[pass])!
  const named = (name: string, of: (mission: Mission, cycle: number, number: number) => string): Column =>
    text(name, (row) => {
      const pass = rowOf(row)
      return of(missionOf(pass), columns.cycle[pass], columns.number[pass])
    })
  const degrees = (name: 'south' | 'west' | 'north' | 'east'): Column =>
    number(`bounds.${name}`, (row) => columns[name][rowOf(row)], 'degree')
  return {
    id: integer('id', (row) => {
      const pass = rowOf(row)
      return passId(missionOf(pass).index, columns.cycle[pass], columns.number[pass])
    }),
    name: named('name', passName),
    externalId: named('external_id', externalPassId),
    satellitePassId: named('satellite_pass_id', satellitePassId),
    platform: named('platform', ({ name }) => name),
    missionSlug: named('mission.slug', ({ slug }) => slug),
    missionName: named('mission.name', ({ name }) => name),
    startedAt: time('started_at', (row) => columns.started[rowOf(row)]),
    endedAt: time('ended_at', (row) => columns.ended[rowOf(row)]),
    buoyCount: integer('buoy_count', (row) => passes.indexes.buoyCount[rowOf(row)]),
    observationCount: integer('observation_count', (row) => passes.observationCount(rowOf(row))),
    south: degrees('south'),
    west: degrees('west'),
    north: degrees('north'),
    east: degrees('east'),
  }
}

/** The virtual buoys that a pass gave readings, in the order of its flight. */
export function passLine(dataset: Dataset, pass: number): Line {
  const { passes, catalog } = dataset
  const { first, buoy, time: times } = passes.columns
  const seen = Array.from({ length: first[pass + 1] - first[pass] }, (_, i) => first[pass] + i)
    .toSorted((a, b) => times[a] - times[b])
    .map((observation) => dataset.ordinalOfId(buoy[observation]))
  const ordinals = [...new Set(seen)].filter((ordinal) => ordinal !== -1)
  return { lat: ordinals.map((i) => catalog.lat[i]), lng: ordinals.map((i) => catalog.lng[i]) }
}
