/** All buoys as GeoJSON, and as a table in the format of the readings. */
import type { SchemaElement } from 'hyparquet-writer'
import { integerElement, textElement, type Values } from '../parquet/columns.ts'
import { ParquetFile, type ByteSink, type ParquetColumn } from '../parquet/writer.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import type { Catalog } from '../snapshot/catalog.ts'
import { csvText } from './csv.ts'
import type { ExportFormat } from '../snapshot/file-list.ts'
import { CREATED_BY } from './readings-file.ts'

type Value = number | string | boolean | null

interface BuoyColumn extends ParquetColumn {
  readonly of: (catalog: Catalog, ordinal: number) => Value
}

const plain = (name: string, type: 'DOUBLE' | 'BOOLEAN'): SchemaElement => ({
  name,
  type,
  repetition_type: 'OPTIONAL',
})

const COLUMNS: readonly BuoyColumn[] = [
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
    sink(Buffer.from(`${COLUMNS.map(({ name }) => name).join(',')}\r\n`))
    for (let i = 0; i < count; i++) {
      const cells = COLUMNS.map(({ of }) => {
        const value = of(catalog, i)
        return typeof value === 'string' ? csvText(value) : String(value ?? '')
      })
      sink(Buffer.from(`${cells.join(',')}\r\n`))
    }
    return
  }
  const file = new ParquetFile(COLUMNS, metadata, CREATED_BY, sink)
  if (count > 0) {
    file.group(COLUMNS.map(({ of }) => Array.from({ length: count }, (_, i) => of(catalog, i)) as Values))
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
      properties: Object.fromEntries(COLUMNS.map(({ name, of }) => [name, of(catalog, i)])),
    }
    sink(Buffer.from(`${i === 0 ? '\n' : ',\n'}${JSON.stringify(feature)}`))
  }
  sink(Buffer.from('\n]}\n'))
}
