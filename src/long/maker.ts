/** Requests to the makers of long answers, and tables of answers that are JSON already. */
import type { View } from '../dataset/view.ts'
import { allRows, type Column, number, type Table, time } from '../dataset/table.ts'
import { type LongJson, type Operation, PRELUDE_BYTES } from '../operation/operation.ts'
import type { Parameters, QueryOf } from '../operation/parameters.ts'
import type { Language } from '../sea/languages.ts'
import { parseTimestamp } from '../sea/time.ts'

export interface MakeRequest<P extends Parameters = Parameters> {
  readonly operation: Operation
  readonly view: View
  readonly query: QueryOf<P>
  readonly path: readonly string[]
  readonly now: number
  readonly language: Language
  /** The query names neither a page nor its size, and the format has room for everything. */
  readonly isWhole: boolean
}

/** Both throw ApiError for what the parameters' schemas cannot say. */
export interface Maker {
  /** The answer in the formats that the operation offers. */
  table?(this: void, request: MakeRequest): Table
  /** The usual JSON of an operation without `answer`; missing where it is the table's list. */
  json?(this: void, request: MakeRequest): LongJson
}

/** The `data` that a short answer has. */
export function dataOf({ operation, view, query, path, now, language }: MakeRequest): JsonRecord {
  const { writer } = view.fragments
  writer.begin()
  writer.ensure(PRELUDE_BYTES)
  const from = writer.at
  operation.answer!(view, query, path, now, language)
  return JSON.parse(writer.textOf(from, writer.at)) as JsonRecord
}

/** A column of a member. The name of a nested member has a dot. */
export interface RecordColumn {
  readonly name: string
  readonly kind: 'number' | 'integer' | 'time' | 'text' | 'flag'
  readonly unit?: string
}

export type JsonRecord = { readonly [member: string]: unknown }

/** A member that a record does not have is left out of its object. */
function recordColumns(rows: readonly JsonRecord[], declared: readonly RecordColumn[]): Column[] {
  return declared.map(({ name, kind, unit = '' }) => {
    const path = name.split('.')
    const valueIn = (row: number): unknown => memberOf(rows[row], path)
    const none = kind === 'number' || kind === 'integer' ? NaN : null
    const value =
      kind === 'time'
        ? (row: number) => epochOf(valueIn(row) as string | null | undefined)
        : (row: number) => valueIn(row) ?? none
    return { name, unit, kind, isLeftOut: (row: number) => valueIn(row) === undefined, value } as Column
  })
}

/** A table of parsed rows with few members. */
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

/** A row for each `time` of an answer; its other members are arrays of the same length. */
export function arrayTable(
  data: JsonRecord,
  arrays: readonly { readonly name: string; readonly unit: string }[],
): Pick<Table, 'columns' | 'runs' | 'total' | 'list'> {
  const texts = data.time as string[]
  const columns = arrays.map(({ name, unit }) => {
    const values = data[name] as (number | null)[]
    return number(name, (row) => values[row] ?? NaN, unit)
  })
  const axis = time('time', (row) => epochOf(texts[row]))
  return { columns: [axis, ...columns], runs: allRows(texts.length), total: texts.length, list: null }
}
