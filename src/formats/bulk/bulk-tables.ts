/** Readings of a network, and all buoys, as the bytes of Parquet files. */
import { setImmediate } from 'node:timers/promises'
import type { Column } from '../../operation/answer-table.ts'
import { catalogMembers } from '../../operation/buoy-table.ts'
import { idColumn, measureColumn, timeColumn, type ReadingCursor } from '../../operation/reading-table.ts'
import { integer, text } from '../../operation/table-columns.ts'
import type { MonthRows } from '../../index/segments.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { Catalog } from '../../snapshot/catalog.ts'
import { ParquetFile, type ByteSink } from '../parquet-file.ts'
import { groupsOf, type BulkNetwork, type Run, type RunBuoy } from './bulk-networks.ts'

/** Rows: some 5 MB of values in memory, and an eighth of a second of work. */
const GROUP_ROWS = 50_000

interface Cursor extends ReadingCursor {
  buoy: RunBuoy
}

/** Columns without derived ones (uuid, compass, energy). */
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
  isDemo: boolean,
): { [key: string]: string } {
  return {
    ...(isDemo && { demo: 'true' }),
    source,
    ...(credit !== null && { credit }),
    ...(licence !== null && { licence }),
    units: unitsOf(measures),
  }
}

export class ReadingsFile {
  readonly #cursor: Cursor = { ...NO_ROWS }
  readonly #file: ParquetFile

  constructor(
    measures: readonly MeasureName[],
    metadata: { readonly [key: string]: string },
    sink: ByteSink,
  ) {
    this.#file = new ParquetFile(columnsOf(this.#cursor, measures), metadata, sink)
  }

  /** Writes all rows of `runs`. Lets timers and sockets in between. */
  async add(runs: readonly Run[]): Promise<void> {
    for (const group of groupsOf(runs, GROUP_ROWS)) {
      for (const { buoy, rows, from, to } of group) {
        Object.assign(this.#cursor, { id: buoy.id, buoy, month: rows })
        this.#file.add({ from, step: 1, count: to - from })
      }
      this.#file.group()
      await setImmediate()
    }
  }

  finish(): void {
    this.#file.finish()
  }
}

const BUOY_MEMBERS = 'id name slug lat lng source source_identifier country timezone virtual'.split(
  ' ',
) as (keyof ReturnType<typeof catalogMembers>)[]

/** Writes the table of all buoys. */
export function writeBuoys(
  catalog: Catalog,
  metadata: { readonly [key: string]: string },
  sink: ByteSink,
): void {
  const members = catalogMembers(catalog, (row) => row)
  const columns = BUOY_MEMBERS.map((name) => members[name]())
  const file = new ParquetFile(columns, metadata, sink)
  file.add({ from: 0, step: 1, count: catalog.id.length })
  file.finish()
}
