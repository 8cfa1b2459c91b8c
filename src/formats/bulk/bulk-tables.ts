/** Readings of a network, and all buoys, as the bytes of files: in Parquet or CSV, buoys in GeoJSON, too. */
import type { SchemaElement } from 'hyparquet-writer'
import { setImmediate } from 'node:timers/promises'
import {
  integerElement,
  ParquetFile,
  READING_COLUMNS,
  textElement,
  type ByteSink,
  type ParquetColumn,
  type ReadingColumn,
  type Run,
  type Values,
} from '../parquet-file.ts'
import { MEASURES, NO_COUNTRY, type MeasureName } from '../../sea/columns.ts'
import { timestampText } from '../../sea/time.ts'
import type { Catalog } from '../../snapshot/catalog.ts'
import type { ExportFormat } from '../../snapshot/file-list.ts'
import { csvText } from '../../dataset/csv-text.ts'
import { WIRE_NAMES } from '../../dataset/wire-measures.ts'
import { groupsOf, type BulkNetwork } from './bulk-networks.ts'

/** Rows: some 5 MB of values in memory, and an eighth of a second of work. */
const GROUP_ROWS = 50_000
const CSV_ROWS = 5000
const CREATED_BY = 'groundswell'

const C = READING_COLUMNS
/** Columns in the order of both formats, without derived ones (uuid, compass, energy). */
const columnsOf = (measures: readonly MeasureName[]): readonly ReadingColumn[] => [
  C.buoy_id,
  C.buoy_slug,
  C.source,
  C.id,
  C.time,
  ...measures.map((name): ReadingColumn => C[WIRE_NAMES[name] as keyof typeof C]),
]

/** Column names and units, as JSON. */
export const unitsOf = (measures: readonly MeasureName[]): string =>
  JSON.stringify(
    Object.fromEntries(
      columnsOf(measures).flatMap(({ name, unit }) => (unit === null ? [] : [[name, unit]])),
    ),
  )

export function metadataOf(
  { source, credit, licence, measures }: Omit<BulkNetwork, 'buoys' | 'folder'>,
  snapshot: string,
  isDemo: boolean,
): { [key: string]: string } {
  return {
    snapshot,
    ...(isDemo && { demo: 'true' }),
    source,
    ...(credit !== null && { credit }),
    ...(licence !== null && { licence }),
    units: unitsOf(measures),
  }
}

export class ReadingsFile {
  readonly #sink: ByteSink
  readonly #measures: readonly MeasureName[]
  readonly #columns: readonly ReadingColumn[]
  /** Null for CSV. */
  readonly #parquet: ParquetFile | null

  constructor(
    format: ExportFormat,
    measures: readonly MeasureName[],
    metadata: { readonly [key: string]: string },
    sink: ByteSink,
  ) {
    this.#sink = sink
    this.#measures = measures
    this.#columns = columnsOf(measures)
    this.#parquet = format === 'csv' ? null : new ParquetFile(this.#columns, metadata, CREATED_BY, sink)
    if (format === 'csv') sink(Buffer.from(`${this.#columns.map(({ name }) => name).join(',')}\r\n`))
  }

  /** Writes all rows of `runs`. Lets timers and sockets in between. */
  async add(runs: readonly Run[]): Promise<void> {
    for (const { runs: group, count } of groupsOf(runs, this.#parquet === null ? CSV_ROWS : GROUP_ROWS)) {
      if (this.#parquet === null) this.#sink(csvRows(group, this.#measures))
      else this.#parquet.group(this.#columns.map((column) => column.values(group, count)))
      await setImmediate()
    }
  }

  finish(): void {
    this.#parquet?.finish()
  }
}

const READING_ID_FACTOR = 1e10

/** Rows in CSV. Numbers have the digits that their source gave, as in the JSON answers. */
function csvRows(runs: readonly Run[], measures: readonly MeasureName[]): Buffer {
  const measured = measures.map((name) => MEASURES[name])
  let text = ''
  for (const { buoy, rows, from, to } of runs) {
    const head = `${buoy.id},${csvText(buoy.slug)},${csvText(buoy.source)},`
    for (let row = from; row < to; row++) {
      const time = rows.time[row]
      text += `${head}${buoy.id * READING_ID_FACTOR + time},${timestampText(time)}`
      for (const { name, missing, scale } of measured) {
        const { codes, mask } = rows.measures[name]
        const code = codes[row & mask]
        text += code === missing ? ',' : `,${code / scale}`
      }
      text += '\r\n'
    }
  }
  return Buffer.from(text)
}

type Value = number | string | boolean | null

interface BuoyColumn extends ParquetColumn {
  readonly of: (catalog: Catalog, ordinal: number) => Value
}

const plain = (name: string, type: 'DOUBLE' | 'BOOLEAN'): SchemaElement => ({
  name,
  type,
  repetition_type: 'OPTIONAL',
})

const BUOY_COLUMNS: readonly BuoyColumn[] = [
  { name: 'id', element: integerElement('id'), of: ({ id }, i) => id[i] },
  { name: 'name', element: textElement('name'), of: ({ names }, i) => names[i] },
  { name: 'slug', element: textElement('slug'), of: ({ slugs }, i) => slugs[i] },
  { name: 'lat', element: plain('lat', 'DOUBLE'), of: ({ lat }, i) => lat[i] },
  { name: 'lng', element: plain('lng', 'DOUBLE'), of: ({ lng }, i) => lng[i] },
  {
    name: 'source',
    element: textElement('source'),
    of: ({ sources, source }, i) => sources[source[i]].label ?? sources[source[i]].name,
  },
  {
    name: 'source_identifier',
    element: textElement('source_identifier'),
    of: ({ identifiers }, i) => identifiers[i],
  },
  {
    name: 'country',
    element: textElement('country'),
    of: ({ countries, country }, i) => (country[i] === NO_COUNTRY ? null : countries[country[i]].name),
  },
  { name: 'timezone', element: textElement('timezone'), of: ({ timezones }, i) => timezones[i] },
  { name: 'virtual', element: plain('virtual', 'BOOLEAN'), of: ({ virtual }, i) => virtual[i] === 1 },
]

/** Writes the table. A Parquet file without rows would have no row group, which some readers refuse. */
export function writeBuoys(
  format: ExportFormat,
  catalog: Catalog,
  metadata: { readonly [key: string]: string },
  sink: ByteSink,
): void {
  const count = catalog.id.length
  if (format === 'csv') {
    sink(Buffer.from(`${BUOY_COLUMNS.map(({ name }) => name).join(',')}\r\n`))
    for (let i = 0; i < count; i++) {
      const cells = BUOY_COLUMNS.map(({ of }) => {
        const value = of(catalog, i)
        return typeof value === 'string' ? csvText(value) : String(value ?? '')
      })
      sink(Buffer.from(`${cells.join(',')}\r\n`))
    }
    return
  }
  const file = new ParquetFile(BUOY_COLUMNS, metadata, CREATED_BY, sink)
  if (count > 0) {
    file.group(
      BUOY_COLUMNS.map(({ of }) => Array.from({ length: count }, (_, i) => of(catalog, i)) as Values),
    )
  }
  file.finish()
}

/** Writes a FeatureCollection of points (RFC 7946), one feature a line. */
export function writeGeoJson(catalog: Catalog, sink: ByteSink): void {
  sink(Buffer.from('{"type":"FeatureCollection","features":['))
  for (let i = 0; i < catalog.id.length; i++) {
    const feature = {
      type: 'Feature',
      id: catalog.id[i],
      geometry: { type: 'Point', coordinates: [catalog.lng[i], catalog.lat[i]] },
      properties: Object.fromEntries(BUOY_COLUMNS.map(({ name, of }) => [name, of(catalog, i)])),
    }
    sink(Buffer.from(`${i === 0 ? '\n' : ',\n'}${JSON.stringify(feature)}`))
  }
  sink(Buffer.from('\n]}\n'))
}
