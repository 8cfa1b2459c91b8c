/** Readings of a network, and all buoys, as the bytes of files: in Parquet or CSV, buoys in GeoJSON, too. */
import { setImmediate } from 'node:timers/promises'
import { JsonWriter } from '../../dataset/json-writer.ts'
import type { Column } from '../../operation/answer-table.ts'
import { buoyPlace, catalogMembers } from '../../operation/buoy-table.ts'
import { allRows } from '../../operation/operation.ts'
import { idColumn, measureColumn, timeColumn, type ReadingCursor } from '../../operation/reading-table.ts'
import { integer, text } from '../../operation/table-columns.ts'
import type { MonthRows } from '../../index/segments.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { Catalog } from '../../snapshot/catalog.ts'
import type { ExportFormat } from '../../snapshot/file-list.ts'
import { geojsonForm } from '../geojson.ts'
import { ParquetFile, type ByteSink } from '../parquet-file.ts'
import { csvForm, rowPieces, type RowForm } from '../row-writers.ts'
import { groupsOf, type BulkNetwork, type Run, type RunBuoy } from './bulk-networks.ts'

/** Rows: some 5 MB of values in memory, and an eighth of a second of work. */
const GROUP_ROWS = 50_000
const CSV_ROWS = 5000

interface Cursor extends ReadingCursor {
  buoy: RunBuoy
}

/** Columns in the order of both formats, without derived ones (uuid, compass, energy). */
const columnsOf = (cursor: Cursor, measures: readonly MeasureName[]): Column[] => [
  integer('buoy_id', () => cursor.id),
  text('buoy_slug', () => cursor.buoy.slug),
  text('source', () => cursor.buoy.source),
  idColumn(cursor),
  timeColumn(cursor),
  ...measures.map((name) => measureColumn(cursor, name)),
]

const NO_ROWS: Cursor = { id: 0, month: {} as MonthRows, buoy: { id: 0, slug: '', source: '' } }

/** Column names and units, as JSON. */
export const unitsOf = (measures: readonly MeasureName[]): string =>
  JSON.stringify(
    Object.fromEntries(
      columnsOf(NO_ROWS, measures).flatMap(({ name, unit }) =>
        unit === '' ? [] : [[name, unit === 'degree' ? 'degrees clockwise from north' : unit]],
      ),
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
  readonly #cursor: Cursor = { ...NO_ROWS }
  readonly #writer = new JsonWriter(0)
  readonly #csv: RowForm
  /** Null for CSV. */
  readonly #parquet: ParquetFile | null

  constructor(
    format: ExportFormat,
    measures: readonly MeasureName[],
    metadata: { readonly [key: string]: string },
    sink: ByteSink,
  ) {
    this.#sink = sink
    const columns = columnsOf(this.#cursor, measures)
    this.#csv = csvForm(columns, false)
    this.#parquet = format === 'csv' ? null : new ParquetFile(columns, metadata, sink)
    if (format === 'csv') this.#csv.begin(this.#writer)
  }

  /** Writes all rows of `runs`. Lets timers and sockets in between. */
  async add(runs: readonly Run[]): Promise<void> {
    for (const group of groupsOf(runs, this.#parquet === null ? CSV_ROWS : GROUP_ROWS)) {
      for (const { buoy, rows, from, to } of group) {
        Object.assign(this.#cursor, { id: buoy.id, buoy, month: rows })
        if (this.#parquet === null) this.#writeCsv(from, to)
        else this.#parquet.add({ from, step: 1, count: to - from })
      }
      if (this.#parquet === null) this.#flush()
      else this.#parquet.group()
      await setImmediate()
    }
  }

  #writeCsv(from: number, to: number): void {
    this.#writer.ensure((to - from) * this.#csv.rowBytes)
    for (let row = from; row < to; row++) this.#csv.row(this.#writer, row)
  }

  #flush(): void {
    this.#sink(this.#writer.answer())
    this.#writer.begin()
  }

  finish(): void {
    if (this.#parquet === null) this.#flush()
    else this.#parquet.finish()
  }
}

const BUOY_MEMBERS = 'id name slug lat lng source source_identifier country timezone virtual'.split(
  ' ',
) as (keyof ReturnType<typeof catalogMembers>)[]

/** Writes the table of all buoys. */
export function writeBuoys(
  format: ExportFormat | 'geojson',
  catalog: Catalog,
  metadata: { readonly [key: string]: string },
  sink: ByteSink,
): void {
  const ordinalOf = (row: number): number => row
  const members = catalogMembers(catalog, ordinalOf)
  const columns = BUOY_MEMBERS.map((name) => members[name]())
  const count = catalog.id.length
  if (format === 'parquet') {
    const file = new ParquetFile(columns, metadata, sink)
    file.add({ from: 0, step: 1, count })
    file.finish()
    return
  }
  const table = { columns, runs: allRows(count), place: buoyPlace({ catalog }, ordinalOf), id: 'id' }
  const pieces = rowPieces(
    table,
    format === 'csv' ? csvForm(columns, false) : geojsonForm(table, columns, ''),
  )
  const writer = new JsonWriter(0)
  for (let isLast = false; !isLast;) {
    writer.begin()
    isLast = pieces.next(writer)
    sink(writer.answer())
  }
}
