/** A table in the form that was asked for. */
import { ApiError } from '../operation/errors.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { RowFormat, Shape } from '../operation/shape.ts'
import type { BulkWriter, Column, Table } from '../operation/answer-table.ts'
import type { Steps } from '../system/steps.ts'
import { geojsonForm } from './geojson.ts'
import {
  csvForm,
  jsonListForm,
  ndjsonForm,
  objectBytes,
  type RowForm,
  writeJsonColumns,
  writeRows,
} from './row-writers.ts'

/** What surrounds the rows of any form. */
const AROUND_BYTES = 4096

export interface Formed {
  /** Bytes of the body at most, but for long texts. */
  readonly bytes: number
  /** Writes the body, or the value of `data` where the format is JSON. May be called again. */
  steps(writer: JsonWriter): Steps<void>
}

export type RowShape = Shape & { readonly format: RowFormat }

export function isRowShape(shape: Shape): shape is RowShape {
  return shape.format !== 'parquet'
}

/** @throws ApiError 400 that names the parameter `fields` */
export function formed(table: Table, shape: RowShape, snapshotId: string): Formed {
  const columns = selected(table, shape)
  if (shape.format === 'json' && shape.byColumns) {
    const bytes = AROUND_BYTES + table.rows * objectBytes(columns)
    return { bytes, steps: (writer) => writeJsonColumns(table, table.list!, columns, writer) }
  }
  const form = formOf(table, columns, shape, snapshotId)
  return {
    bytes: AROUND_BYTES + table.rows * form.rowBytes,
    steps: (writer) => writeRows(table, form, writer),
  }
}

function formOf(table: Table, columns: readonly Column[], shape: RowShape, snapshotId: string): RowForm {
  switch (shape.format) {
    case 'json':
      return jsonListForm(table, table.list!, columns)
    case 'csv':
      return withBulk(csvForm(columns, shape.withUnits), shape, table.bulk?.csv)
    case 'ndjson':
      return withBulk(ndjsonForm(table, columns), shape, table.bulk?.ndjson)
    case 'geojson':
      return geojsonForm(table, columns, metaOf(table, snapshotId))
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
export function selected(
  table: Table,
  { fields, format }: Pick<Shape, 'fields' | 'format'>,
): readonly Column[] {
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
