/** A long answer over a view: its body piece by piece, and the lines of its head that follow from it. */
import { formed } from '../formats/format-choice.ts'
import { enveloped } from '../http/envelope.ts'
import { linkHeader, NO_LINK, type LinkedQuery } from '../http/links.ts'
import type { LongRequest } from '../http/long-messages.ts'
import type { View } from '../dataset/view.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { Table } from '../operation/answer-table.ts'
import { nowOf, type LongJson, type Pieces } from '../operation/operation.ts'
import { readerOf } from '../operation/query.ts'
import { shapeQuery, type Shape } from '../operation/shape.ts'
import { TagNumber } from '../operation/tag-number.ts'
import { OPERATIONS } from '../routes.ts'
import { MAKERS } from './makers.ts'

export interface LongAnswer extends Pieces {
  /** Header lines, each begun by CRLF. */
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
  const operation = OPERATIONS[request.operation]
  const maker = MAKERS[operation.name]
  const reader = readerOf(operation.parameters, operation.refusal)
  const query = reader.read(texts, new TagNumber(), nowOf(operation, view, now))
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
  { dataset: { snapshotId } }: View,
  table: Table,
  shape: Shape,
  linked: LinkedQuery,
  { second, isPinned }: AnsweredAt,
): LongAnswer {
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
