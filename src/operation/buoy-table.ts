/** Buoys as columns, under their names on the wire (contract, "Buoy"). */
import { NO_COUNTRY } from '../sea/columns.ts'
import { newestReadingTime, type Dataset } from '../dataset/dataset.ts'
import { passColumns } from './pass-table.ts'
import { readingColumns, readingSubsetColumns, type ReadingCursor } from './reading-table.ts'
import type { Column, KeptReadings, Place, Table } from './answer-table.ts'
import { allRows } from './operation.ts'

/** A row of a table of buoys → the buoy's ordinal. */
export type OrdinalOf = (row: number) => number

const DEGREE = 'degree'

/** What buoys' items are made of. `ordinalOf` gives the buoy that a row is about. */
export function buoyColumns({ catalog, readings }: Dataset, ordinalOf: OrdinalOf) {
  const text = (name: string, of: (ordinal: number) => string | null): Column => ({
    kind: 'text',
    name,
    unit: '',
    text: (row) => of(ordinalOf(row)),
  })
  const number = (name: string, unit: string, of: (ordinal: number) => number): Column => ({
    kind: 'number',
    name,
    unit,
    value: (row) => of(ordinalOf(row)),
  })
  const integer = (name: string, of: (ordinal: number) => number): Column => ({
    kind: 'integer',
    name,
    unit: '',
    value: (row) => of(ordinalOf(row)),
  })
  return {
    id: integer('id', (i) => catalog.id[i]),
    name: text('name', (i) => catalog.names[i]),
    slug: text('slug', (i) => catalog.slugs[i]),
    lat: number('lat', DEGREE, (i) => catalog.lat[i]),
    lng: number('lng', DEGREE, (i) => catalog.lng[i]),
    source: text('source', (i) => {
      const { name, label } = catalog.sources[catalog.source[i]]
      return label ?? name
    }),
    identifier: text('source_identifier', (i) => catalog.identifiers[i]),
    country: text('country', (i) =>
      catalog.country[i] === NO_COUNTRY ? null : catalog.countries[catalog.country[i]].name,
    ),
    timezone: text('timezone', (i) => catalog.timezones[i]),
    dtz: text('dtz', (i) => catalog.timezones[i]),
    lastReadingTime: {
      kind: 'time',
      name: 'last_reading_time',
      unit: 'UTC',
      epoch(row) {
        const newest = newestReadingTime(readings, ordinalOf(row))
        return newest < 0 ? NaN : newest
      },
    } satisfies Column,
    readingsCount: integer('readings_count', (i) => readings.count(i)),
    virtual: {
      kind: 'flag',
      name: 'virtual',
      unit: '',
      is: (row) => catalog.virtual[ordinalOf(row)] === 1,
    } satisfies Column,
  }
}

/**
 * Columns of the buoy that a list belongs to. Tables have its position and identity by default, so that files
 * of several buoys can be put together. The other columns have to be named.
 */
export function buoyBeside(dataset: Dataset, ordinal: number, withId: boolean): Column[] {
  const { id, name, lat, lng, source, dtz } = buoyColumns(dataset, () => ordinal)
  const beside = (column: Column): Column => ({
    ...column,
    name: `buoy.${column.name}`,
    beside: column === lat || column === lng ? 'tables' : 'fields',
  })
  return [
    ...[...(withId ? [id] : []), name, lat, lng, source, dtz].map(beside),
    { ...id, name: 'buoy_id', beside: 'tables' },
    { ...name, name: 'buoy_name', beside: 'tables' },
  ]
}

/** What a file of readings tells about its buoy. */
export function readingsBuoy({ catalog, demo }: Dataset, ordinal: number): Omit<KeptReadings, 'cursor'> {
  const { name, label, credit, licence } = catalog.sources[catalog.source[ordinal]]
  return {
    buoy: {
      id: catalog.id[ordinal],
      slug: catalog.slugs[ordinal],
      name: catalog.names[ordinal],
      lat: catalog.lat[ordinal],
      lng: catalog.lng[ordinal],
      source: label ?? name,
      dtz: catalog.timezones[ordinal],
    },
    credit,
    licence,
    isDemo: demo,
  }
}

/** `last_reading` of buoys: its subset, or the whole reading. */
export function lastReadingColumns(
  { catalog, readings }: Dataset,
  ordinalOf: OrdinalOf,
  which: 'subset' | 'full',
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
  const columns =
    which === 'subset' ? readingSubsetColumns(cursor, included) : readingColumns(cursor, included)
  return columns.map((column) => elsewhere(column, `last_reading.${column.name}`, seek))
}

/** Whether a row's `last_reading` is null. */
function hasNoReading({ readings }: Dataset, ordinalOf: OrdinalOf): (row: number) => boolean {
  return (row) => readings.count(ordinalOf(row)) === 0
}

/** The column under another name. Its cell for a row is that of `rowOf(row)`, empty where that is −1. */
function elsewhere(column: Column, name: string, rowOf: (row: number) => number): Column {
  switch (column.kind) {
    case 'code': {
      const missing = column.signed ? -0x8000 : 0xffff
      const code = (row: number): number => {
        const at = rowOf(row)
        return at === -1 ? missing : column.code(at)
      }
      return { ...column, name, code }
    }
    case 'integer':
    case 'number': {
      const value = (row: number): number => {
        const at = rowOf(row)
        return at === -1 ? NaN : column.value(at)
      }
      return { ...column, name, value }
    }
    case 'time': {
      const epoch = (row: number): number => {
        const at = rowOf(row)
        return at === -1 ? NaN : column.epoch(at)
      }
      return { ...column, name, epoch }
    }
    case 'text': {
      const text = (row: number): string | null => {
        const at = rowOf(row)
        return at === -1 ? null : column.text(at)
      }
      return { ...column, name, text }
    }
    case 'word':
      return {
        ...column,
        name,
        write(writer, row) {
          const at = rowOf(row)
          if (at !== -1) column.write(writer, at)
        },
      }
    case 'flag': {
      const is = (row: number): boolean | null => {
        const at = rowOf(row)
        return at === -1 ? null : column.is(at)
      }
      return { ...column, name, is }
    }
  }
}

/** Columns of a virtual buoy's newest pass, as the map has them. */
export function mapPassColumns(dataset: Dataset, ordinalOf: OrdinalOf): Column[] {
  const { catalog, passes } = dataset
  const rowOf = (row: number): number => passes.newestOf(ordinalOf(row))
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

/** What tables of buoys with a `last_reading` share: a row for each of `ordinals`. */
export function buoyRows(
  dataset: Dataset,
  ordinals: Uint32Array,
): Pick<Table, 'rows' | 'runs' | 'absent' | 'place' | 'id'> {
  const ordinalOf = (row: number): number => ordinals[row]
  return {
    rows: ordinals.length,
    runs: () => allRows(ordinals.length),
    absent: { last_reading: hasNoReading(dataset, ordinalOf) },
    place: buoyPlace(dataset, ordinalOf),
    id: 'id',
  }
}

export function buoyPlace({ catalog }: Dataset, ordinalOf: OrdinalOf): Place {
  return {
    kind: 'point',
    lat: (row) => catalog.lat[ordinalOf(row)],
    lng: (row) => catalog.lng[ordinalOf(row)],
  }
}
