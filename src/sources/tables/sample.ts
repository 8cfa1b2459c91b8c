/** Cells of the rows that decide the meaning of a table's columns. */
import type { OpenTable } from '../reading/text-table.ts'

/** Rows that decide: the first ones, and one in `ONE_IN` of the others. */
const LOOKED_AT = 2000
const ONE_IN = 50
/** Cells that are kept; a table with very many columns is judged by fewer rows. */
const MOST_CELLS = 2_000_000

export interface Sample {
  /** Cells of a column that was asked for, by row. */
  texts(field: number): readonly string[]
  /** Number of rows from the table's beginning, one after another. */
  readonly inOrder: number
}

/** Looks once at all rows for the cells of some columns. */
export function sampleOf(table: OpenTable | null, fields: ReadonlySet<number>): Sample {
  const columns = new Map<number, string[]>([...fields].map((field) => [field, []]))
  const most = Math.floor(MOST_CELLS / Math.max(fields.size, 1))
  let kept = 0
  for (let row = 0; table?.next() === true; row++) {
    if ((row >= LOOKED_AT && row % ONE_IN !== 0) || kept >= most) continue
    kept++
    for (const [field, texts] of columns) texts.push(table.text(field))
  }
  return { texts: (field) => columns.get(field) ?? [], inOrder: Math.min(kept, LOOKED_AT) }
}
