/** A table in the form that was asked for. */
import { ApiError } from '../operation/errors.ts'
import type { Pieces } from '../operation/operation.ts'
import type { Shape } from '../operation/shape.ts'
import type { BulkWriter, Column, Table } from '../operation/answer-table.ts'
import { geojsonForm } from './geojson.ts'
import { parquetPieces } from './parquet-answer.ts'
import { csvForm, jsonColumns, jsonListForm, ndjsonForm, rowPieces, type RowForm } from './row-writers.ts'

/** The body, or in JSON the value of `data`. @throws ApiError 400 that names the parameter `fields` */
export function formed(table: Table, shape: Shape, snapshotId: string): Pieces {
  const columns = selected(table, shape)
  switch (shape.format) {
    case 'json':
      return shape.byColumns
        ? jsonColumns(table, table.list!, columns)
        : rowPieces(table, jsonListForm(table, table.list!, columns))
    case 'csv':
      return rowPieces(table, withBulk(csvForm(columns, shape), shape, table.bulk?.csv))
    case 'ndjson':
      return rowPieces(table, withBulk(ndjsonForm(table, columns), shape, table.bulk?.ndjson))
    case 'geojson':
      return rowPieces(table, geojsonForm(table, columns, metaOf(table, snapshotId)))
    case 'parquet':
      return parquetPieces(table, columns, snapshotId)
  }
}

function withBulk(form: RowForm, { fields }: Shape, bulk: BulkWriter | undefined): RowForm {
  return fields !== null || bulk === undefined ? form : { ...form, bulk, rowBytes: bulk.rowBytes }
}

/** `meta` without the time of the answer, so that one snapshot gives the same bytes. */
function metaOf({ paging, total }: Table, snapshotId: string): string {
  const members: { [name: string]: string | number } = { snapshot: snapshotId }
  if (total !== null) members.count = total
  if (paging !== undefined) {
    members.page = paging.page
    members.per_page = paging.perPage
    members.total_pages = paging.pages
  }
  return JSON.stringify(members).slice(1, -1)
}

/** The columns that are asked for, in that order, or the form's default. @throws ApiError 400 */
function selected(table: Table, { fields, format }: Pick<Shape, 'fields' | 'format'>): readonly Column[] {
  if (fields === null) {
    const isTable = format === 'csv' || format === 'parquet'
    return table.columns.filter(({ added }) => added === undefined || (isTable && added === 'tables'))
  }
  const columns = new Set<Column>()
  for (const field of fields) {
    const named = table.columns.filter(({ name }) => name === field || name.startsWith(`${field}.`))
    if (named.length === 0) throw refusedField(table, field === '' ? 'has an empty name' : 'names no column')
    for (const column of named) {
      if (columns.has(column)) throw refusedField(table, 'names a column twice')
      columns.add(column)
    }
  }
  return [...columns]
}

function refusedField({ columns }: Table, problem: string): ApiError {
  const names = columns.map(({ name }) => name).join(', ')
  return new ApiError(
    'bad_request',
    `Parameter fields ${problem}. Allowed: names once each, separated by commas, of ${names}`,
    { parameter: 'fields' },
  )
}
