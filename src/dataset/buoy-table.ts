/** Buoys as columns under their names on the wire, and the columns of each kind of item. */
import type { Run } from '../index/segments.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import type { Dataset } from './dataset.ts'
import {
  allRows,
  type Column,
  elsewhere,
  flag,
  type FlagOf,
  integer,
  type Line,
  number,
  type NumberOf,
  type Place,
  type RunOf,
  type Table,
  text,
  type TextColumn,
  time,
} from './table.ts'
import { INCLUDES_SPECTRUM } from './reading-json.ts'
import { PARAMETERS, rounded, spectrumAt, type TimedSpectrum } from './spectra-json.ts'
import { type WaveParameters, waveParameters } from '../sea/wave-parameters.ts'
import { readingColumns, type ReadingRun, readingSubsetColumns } from './reading-table.ts'
import { includesUsual, isUsualKnown, MEMBERS, type Member } from './usual.ts'
import {
  externalPassId,
  type Mission,
  missionOfIndex,
  passId,
  passName,
  satellitePassId,
} from '../sea/missions.ts'

/** The buoy of a row. */
type OrdinalOf = NumberOf

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

/** Items that `include=spectrum` adds to. */
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
      time('last_reading_time', (row, run) => {
        const newest = dataset.readings.newestTime(ordinalOf(row, run))
        return newest < 0 ? NaN : newest
      }),
    readings_count: () =>
      integer('readings_count', (row, run) => dataset.readings.count(ordinalOf(row, run))),
    last_reading: () => lastReadingColumns(dataset, ordinalOf, readingSubsetColumns, included),
    whole_last_reading: () => lastReadingColumns(dataset, ordinalOf, readingColumns, included),
    newest_pass: () => newestPassColumns(dataset, ordinalOf),
  }
  const columns = ITEMS[item].split(' ').flatMap((name) => members[name]())
  const hasSpectrum = ((included ?? 0) & INCLUDES_SPECTRUM) !== 0 && WITH_SPECTRUM.has(item)
  return [
    ...columns,
    ...(hasSpectrum ? spectrumColumns(dataset, ordinalOf) : []),
    ...(includesUsual(included) ? usualColumns(dataset, ordinalOf) : []),
  ]
}

/** The catalogue's facts about a buoy. */
export function catalogMembers(catalog: Dataset['catalog'], ordinalOf: OrdinalOf) {
  const zone: TextColumn['value'] = (row, run) => catalog.timezones[ordinalOf(row, run)]
  return {
    id: () => integer('id', (row, run) => catalog.id[ordinalOf(row, run)]),
    name: () => text('name', (row, run) => catalog.names[ordinalOf(row, run)]),
    slug: () => text('slug', (row, run) => catalog.slugs[ordinalOf(row, run)]),
    lat: () => number('lat', (row, run) => catalog.lat[ordinalOf(row, run)], DEGREE),
    lng: () => number('lng', (row, run) => catalog.lng[ordinalOf(row, run)], DEGREE),
    source: () => text('source', (row, run) => sourceOf(catalog, ordinalOf(row, run))),
    source_identifier: () =>
      text('source_identifier', (row, run) => catalog.identifiers[ordinalOf(row, run)]),
    country: () =>
      text('country', (row, run) => {
        const country = catalog.country[ordinalOf(row, run)]
        return country === NO_COUNTRY ? null : catalog.countries[country].name
      }),
    timezone: () => text('timezone', zone),
    dtz: () => text('dtz', zone),
    virtual: () => flag('virtual', (row, run) => catalog.virtual[ordinalOf(row, run)] === 1),
  }
}

function sourceOf({ sources, source }: Dataset['catalog'], ordinal: number): string {
  const { name, label } = sources[source[ordinal]]
  return label ?? name
}

/** Tables have the buoy's position and identity by default, so that files of several can be put together. */
export function buoyBeside(dataset: Dataset, ordinalOf: OrdinalOf, withId: boolean): Column[] {
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

/** Metadata of files with readings of these buoys: each network once, with credit and licence. */
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
  let sought = -1
  let newest: ReadingRun | null = null
  const seek: RunOf = (row, run) => {
    const ordinal = ordinalOf(row, run)
    if (ordinal === sought) return newest
    sought = ordinal
    const found = readings.newestRow(ordinal)
    if (found === null) return (newest = null)
    const { month, row: from } = found
    return (newest = { id: catalog.id[ordinal], month, from, step: 1, count: 1 })
  }
  return columnsOf(included).map((column) => elsewhere(column, `last_reading.${column.name}`, seek))
}

function newestPassColumns(dataset: Dataset, ordinalOf: OrdinalOf): Column[] {
  const { catalog, passes } = dataset
  const runOf: RunOf = (row, run) => {
    const from = passes.indexes.newest[ordinalOf(row, run)]
    return from === -1 ? null : { from, step: 1, count: 1 }
  }
  const isLeftOut: FlagOf = (row, run) => catalog.virtual[ordinalOf(row, run)] === 0
  const { id, satellitePassId, externalId, name, platform } = passColumns(dataset, (row) => row)
  return [
    [id, 'pass_id'] as const,
    [satellitePassId, 'satellite_pass_id'] as const,
    [externalId, 'external_id'] as const,
    [name, 'pass_name'] as const,
    [platform, 'pass_platform'] as const,
  ].map(([column, wire]) => ({ ...elsewhere(column, wire, runOf), isLeftOut }))
}

/**
 * `last_reading` is null for a buoy without readings, `spectrum` without spectra, and `usual` without
 * comparison.
 */
export function absentOf(dataset: Dataset, ordinalOf: OrdinalOf): NonNullable<Table['absent']> {
  return {
    last_reading: (row, run) => dataset.readings.count(ordinalOf(row, run)) === 0,
    spectrum: (row, run) => dataset.spectra.count(ordinalOf(row, run)) === 0,
    usual: (row, run) => !isUsualKnown(dataset, ordinalOf(row, run)),
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
    lat: (row, run) => catalog.lat[ordinalOf(row, run)],
    lng: (row, run) => catalog.lng[ordinalOf(row, run)],
  }
}

export function passColumns({ passes }: Dataset, rowOf: (row: number) => number) {
  const { columns } = passes
  const missionOf = (pass: number): Mission => missionOfIndex(columns.mission[pass])!
  const named = (name: string, textOf: (mission: Mission, cycle: number, number: number) => string): Column =>
    text(name, (row) => {
      const pass = rowOf(row)
      return textOf(missionOf(pass), columns.cycle[pass], columns.number[pass])
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

/** The members of `include=spectrum`: the parameters of the newest spectrum of each row's buoy. */
function spectrumColumns(dataset: Dataset, ordinalOf: NumberOf): Column[] {
  let sought = -1
  let found: { spectrum: TimedSpectrum; parameters: WaveParameters } | null = null
  const newest = (row: number, run: Run): typeof found => {
    const ordinal = ordinalOf(row, run)
    if (ordinal === sought) return found
    sought = ordinal
    const count = dataset.spectra.count(ordinal)
    if (count === 0) return (found = null)
    const spectrum = spectrumAt(dataset, ordinal, count - 1)
    return (found = { spectrum, parameters: waveParameters(spectrum) })
  }
  return [
    time('spectrum.time', (row, run) => newest(row, run)?.spectrum.time ?? NaN),
    time('spectrum.reading_time', (row, run) => newest(row, run)?.spectrum.readingTime ?? NaN),
    ...PARAMETERS.map(({ name, of, unit, decimals }) =>
      number(
        `spectrum.${name}`,
        (row, run) => rounded(newest(row, run)?.parameters[of] ?? NaN, decimals, unit),
        unit,
      ),
    ),
  ]
}

const COLUMN_OF: { readonly [member in Member]?: (name: string, value: NumberOf) => Column } = {
  percentile: (name, value) => number(name, value, '%'),
  median: (name, value) => number(name, value, 'm'),
  p90: (name, value) => number(name, value, 'm'),
  highest_since: time,
}

/** Columns of `usual`, empty for a buoy without it. */
function usualColumns(dataset: Dataset, ordinalOf: NumberOf): Column[] {
  return (Object.keys(MEMBERS) as Member[]).map((member) => {
    const value: NumberOf = (row, run) => {
      const ordinal = ordinalOf(row, run)
      return isUsualKnown(dataset, ordinal) ? MEMBERS[member](dataset.usual, ordinal) : NaN
    }
    const columnOf = COLUMN_OF[member] ?? integer
    return columnOf(`usual.${member}`, value)
  })
}
