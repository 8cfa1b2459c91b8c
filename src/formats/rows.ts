/** How the rows of a table become bytes: a way to begin, one to write a row, and one to end. */
import type { JsonWriter } from '../answers/json.ts'
import type { BulkWriter, Table } from '../answers/table.ts'
import type { Steps } from '../system/steps.ts'

/** One form of one table. Each of the three makes room for itself. */
export interface RowForm {
  /** Bytes that a row takes at most, but for long texts. */
  readonly rowBytes: number
  begin(writer: JsonWriter): void
  /** There is room for `rowBytes`. */
  row(writer: JsonWriter, row: number): void
  /** In place of `row`. */
  readonly bulk?: BulkWriter | null
  /** `count`: rows that were written. */
  end(writer: JsonWriter, count: number): void
}

/** A step of an expensive answer writes 16 KB at most, and takes some 50 µs. */
const STEP_BYTES = 12 * 1024
const MOST_ROWS_OF_STEP = 128

export function* writeRows(table: Table, form: RowForm, writer: JsonWriter): Steps<void> {
  const most = Math.max(1, Math.min(MOST_ROWS_OF_STEP, Math.floor(STEP_BYTES / form.rowBytes)))
  const { bulk = null } = form
  let written = 0
  form.begin(writer)
  for (const run of table.runs()) {
    if (run === undefined) {
      yield
      continue
    }
    const { step, count } = run
    let row = run.from
    for (let left = count; left > 0;) {
      const rows = Math.min(left, most)
      writer.ensure(rows * form.rowBytes)
      if (bulk === null) writeBatch(form, writer, row, step, rows)
      else bulk.write(writer, row, step, rows)
      row += rows * step
      left -= rows
      yield
    }
    written += count
  }
  form.end(writer, written)
}

/** A function of its own: V8 compiles it while the generator is still interpreted. */
function writeBatch(form: RowForm, writer: JsonWriter, from: number, step: number, count: number): void {
  for (let i = 0, row = from; i < count; i++, row += step) form.row(writer, row)
}
