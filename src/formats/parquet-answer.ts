/** A table as Parquet, a row group in each piece. */
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { Column, Table } from '../operation/answer-table.ts'
import type { Pieces } from '../operation/operation.ts'
import { ParquetFile } from './parquet-file.ts'
import { TableRows } from './row-writers.ts'

/** Rows of 30 ms and, with all columns of readings, 250 KB. */
const GROUP_ROWS = 10_000

export function parquetPieces(table: Table, columns: readonly Column[], snapshot: string): Pieces {
  const rows = new TableRows(table)
  const units = columns.flatMap(({ name, unit }) => (unit === '' ? [] : [[name, unit]]))
  const metadata = { snapshot, ...table.about, units: JSON.stringify(Object.fromEntries(units)) }
  // The writer of the piece that is being written.
  let into: JsonWriter | null = null
  const file = new ParquetFile(columns, metadata, (bytes) => into!.take(bytes))
  return {
    next(writer) {
      into = writer
      while (file.rows < GROUP_ROWS) {
        const run = rows.take(GROUP_ROWS - file.rows)
        if (run === null) {
          file.finish()
          return true
        }
        file.add(run)
      }
      file.group()
      return false
    },
  }
}
