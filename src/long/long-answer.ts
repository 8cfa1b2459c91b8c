/** A long answer over a view: its body piece by piece, and the lines of its head that follow from it. */
import { enveloped } from '../operation/envelope.ts'
import { type LinkedQuery, linkHeader, NO_LINK } from '../operation/links.ts'
import type { LongRequest } from '../operation/long-messages.ts'
import type { View } from '../dataset/view.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { Column, Pieces, Table } from '../dataset/table.ts'
import { type LongJson, nowOf } from '../operation/operation.ts'
import { EtagHash, RawQuery, readerOf } from '../operation/query.ts'
import { type EdrAsked, type Shape, shapeQuery } from '../operation/shape.ts'
import { OPERATIONS } from '../routes.ts'
import { MAKERS } from './makers.ts'
import { ApiError, refused } from '../operation/errors.ts'
import { geojsonForm } from '../dataset/geojson.ts'
import { parquetPieces } from '../dataset/parquet.ts'
import { documentAt } from '../edr/collections.ts'
import { edrPieces, pieces } from '../edr/coverage.ts'
import { type EdrGiven, edrRoute } from '../edr/paths.ts'
import { edrRequest, spelledError } from '../edr/translate.ts'
import { csvForm, jsonColumns, jsonListForm, ndjsonForm, rowPieces } from '../dataset/row-writers.ts'

export interface LongAnswer extends Pieces {
  /** Header lines, each after a CRLF. */
  readonly headers: Uint8Array
}

const EXPOSED = '\r\nAccess-Control-Expose-Headers: Content-Disposition, Content-Range, X-Total-Count'
const LONGEST_NAME = 120

const USUAL_JSON: Shape = {
  format: 'json',
  fields: null,
  byColumns: false,
  units: '0',
  hasMark: false,
  isExplicit: false,
}

/** @throws ApiError */
export function longAnswer(view: View, request: LongRequest): LongAnswer {
  const { path, texts, shape, language, now, isPinned, isPaged } = request
  if (shape?.edr !== undefined) return { headers: NO_LINK, ...edrAnswer(view, shape.edr, request) }
  const operation = OPERATIONS[request.operation]
  const maker = MAKERS[operation.name]
  const reader = readerOf(operation.parameters, operation.refusal)
  const query = reader.read(texts, new EtagHash(), nowOf(operation, view, now))
  const linked = { reader, texts, more: shape === null ? '' : shapeQuery(shape) }
  const form = shape ?? (maker.json === undefined ? USUAL_JSON : null)
  const isWhole = shape !== null && shape.format !== 'json' && !isPaged
  const asked = { operation, view, query, path, now, language, isWhole }
  const at = { second: Math.floor(now), isPinned }
  return form === null
    ? jsonAnswer(view, maker.json!(asked), linked, at)
    : tableAnswer(view, maker.table!(asked), form, linked, at)
}

interface AnsweredAt {
  /** Epoch seconds. */
  readonly second: number
  readonly isPinned: boolean
}

function jsonAnswer(
  { dataset: { snapshotId } }: View,
  data: LongJson,
  linked: LinkedQuery,
  { second, isPinned }: AnsweredAt,
): LongAnswer {
  const { paging } = data
  return {
    headers: paging === undefined ? NO_LINK : linkHeader(linked, snapshotId, paging, isPinned).slice(),
    ...enveloped(data, paging, second, isPinned ? snapshotId : ''),
  }
}

function tableAnswer(
  { dataset }: View,
  table: Table,
  shape: Shape,
  linked: LinkedQuery,
  { second, isPinned }: AnsweredAt,
): LongAnswer {
  const { snapshotId } = dataset
  const isJson = shape.format === 'json'
  const { paging } = table
  const link = paging === undefined ? NO_LINK : linkHeader(linked, snapshotId, paging, isPinned || !isJson)
  const body = formed(table, shape, snapshotId)
  if (!isJson) {
    return { headers: Buffer.concat([Buffer.from(fileHeaders(table, shape, snapshotId)), link]), ...body }
  }
  const data: Pieces = {
    next(writer) {
      const isLast = body.next(writer)
      if (isLast) beginMeta(writer, table)
      return isLast
    },
  }
  return { headers: link.slice(), ...enveloped(data, paging, second, isPinned ? snapshotId : '') }
}

/** The body for EDR: a document, or an operation's data; empty without data. @throws ApiError */
function edrAnswer(view: View, { base, path, given }: EdrAsked, { language, now }: LongRequest): Pieces {
  const { dataset } = view
  const route = edrRoute(path)
  if (route === null) {
    const document = documentAt(path, dataset, base)
    return pieces([typeof document === 'string' ? document : JSON.stringify(document)])
  }
  try {
    const asked = edrRequest(route, given as EdrGiven, view, base, now)
    if (asked === null) return pieces([])
    const operation = OPERATIONS.find(({ name }) => name === asked.operation)!
    const reader = readerOf(operation.parameters, operation.refusal)
    const texts = reader.textsOf(new RawQuery(asked.query, reader.known))
    const query = reader.read(texts, new EtagHash(), nowOf(operation, view, now))
    const made = { operation, view, query, path: asked.path, now, language, isWhole: true }
    const slugOf = (id: number): string => dataset.catalog.slugs[dataset.ordinalOfId(id)]
    return edrPieces(MAKERS[asked.operation].table!(made), asked.form, slugOf)
  } catch (error) {
    throw error instanceof ApiError ? spelledError(error) : error
  }
}

function fileHeaders({ name, total }: Table, { format }: Shape, snapshotId: string): string {
  return (
    EXPOSED +
    `\r\nContent-Disposition: attachment; filename="${fileName(name, snapshotId)}.${format}"` +
    (total === null ? '' : `\r\nX-Total-Count: ${total}`)
  )
}

/** Only letters, digits, `-`, `_` and `.`, whatever `name` holds. */
function fileName(name: string, snapshotId: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, LONGEST_NAME)
  return `groundswell_${safe === '' ? snapshotId : safe}`
}

/** Begins `meta`, if there is anything other than the time to put into it. */
function beginMeta(writer: JsonWriter, { paging, list }: Table): void {
  if (paging === undefined) return
  writer.text(
    `,"meta":{"page":${paging.page},"per_page":${paging.perPage},"total_pages":${paging.pages},${list?.meta ?? ''}`,
  )
}

/** The body, or in JSON the value of `data`. @throws ApiError 400 that names the parameter `fields` */
export function formed(table: Table, shape: Shape, snapshotId: string): Pieces {
  const columns = selected(table, shape)
  switch (shape.format) {
    case 'json':
      return shape.byColumns
        ? jsonColumns(table, table.list!, columns)
        : rowPieces(table, jsonListForm(table, table.list!, columns))
    case 'csv': {
      const form = csvForm(columns, shape)
      const bulk = shape.fields === null ? table.bulk : undefined
      return rowPieces(table, bulk === undefined ? form : { ...form, bulk, rowBytes: bulk.rowBytes })
    }
    case 'ndjson':
      return rowPieces(table, ndjsonForm(table, columns))
    case 'geojson':
      return rowPieces(table, geojsonForm(table, columns, metaOf(table, snapshotId)))
    case 'parquet':
      return parquetPieces(table, columns, snapshotId)
    case 'covjson':
    case 'document':
    case 'openapi':
    case 'text':
      throw new Error(`only EDR has the format ${shape.format}`)
  }
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

/** The requested columns, in that order, or the form's default. @throws ApiError 400 */
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
  return refused('fields', `${problem}. Allowed: names once each, separated by commas, of ${names}`)
}
