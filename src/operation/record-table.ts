/** Small data that are JSON already as a table: a few rows, parsed. */
import { parseTimestamp } from '../sea/time.ts'
import type { Column, Table } from './answer-table.ts'
import { allRows } from './operation.ts'

/** A nested member has a dot. */
export interface RecordColumn {
  readonly name: string
  readonly kind: 'number' | 'integer' | 'time' | 'text' | 'flag'
  readonly unit?: string
}

export type JsonRecord = { readonly [member: string]: unknown }

/** A member that a record does not have is left out of its object. */
function recordColumns(rows: readonly JsonRecord[], declared: readonly RecordColumn[]): Column[] {
  return declared.map(({ name, kind, unit = '' }): Column => {
    const path = name.split('.')
    const of = (row: number): unknown => memberOf(rows[row], path)
    const shared = { name, unit, isLeftOut: (row: number) => of(row) === undefined }
    switch (kind) {
      case 'number':
      case 'integer':
        return { ...shared, kind, value: (row) => (of(row) as number | null | undefined) ?? NaN }
      case 'time':
        return { ...shared, kind, value: (row) => epochOf(of(row) as string | null | undefined) }
      case 'text':
        return { ...shared, kind, value: (row) => (of(row) as string | null | undefined) ?? null }
      case 'flag':
        return { ...shared, kind, value: (row) => (of(row) as boolean | null | undefined) ?? null }
    }
  })
}

export function recordTable(
  rows: readonly JsonRecord[],
  declared: readonly RecordColumn[],
  rest: Pick<Table, 'name' | 'place' | 'list'>,
): Table {
  return {
    ...rest,
    columns: recordColumns(rows, declared),
    runs: allRows(rows.length),
    total: rows.length,
  }
}

function memberOf(record: JsonRecord, path: readonly string[]): unknown {
  let value: unknown = record
  for (const member of path) value = (value as JsonRecord | null | undefined)?.[member]
  return value
}

function epochOf(text: string | null | undefined): number {
  return text == null ? NaN : (parseTimestamp(text)?.epoch ?? NaN)
}
