/** Answers in another form than the usual JSON: their bodies and their heads. */
import type { ExpensiveAnswer, Operation } from '../operation/operation.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { shapeQuery, type Shape } from '../operation/shape.ts'
import type { Paging, Table, TableRequest } from '../operation/answer-table.ts'
import { formed, isRowShape, type RowShape } from '../formats/format-choice.ts'
import { parquetJob, type ParquetJob } from '../formats/parquet-job.ts'
import { linkHeader, NO_LINK, type LinkedQuery } from './links.ts'

export interface ShapedAnswer {
  /** Writes the body, or in JSON the value of `data`; Parquet is written by another thread. */
  readonly body: ExpensiveAnswer | ParquetJob
  /** Most rows of the answer. */
  readonly rows: number
  /** Rough time to make it. */
  readonly microseconds: number
  /** More header lines, each begun by CRLF; the next answer may overwrite them. */
  readonly headers: Uint8Array
}

/** Rows that one call of the quota pays for. */
const ROWS_OF_A_CALL = 10_000

/** In calls. */
export function priceOf(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROWS_OF_A_CALL))
}

const EXPOSED = '\r\nAccess-Control-Expose-Headers: Content-Disposition, X-Total-Count'
const LONGEST_NAME = 120
/** Estimate for making a row, µs. */
const US_PER_ROW = 0.3

export function shapedAnswer(
  operation: Operation,
  request: TableRequest,
  shape: Shape,
  linked: LinkedQuery,
  isPinned: boolean,
): ShapedAnswer {
  const { snapshotId } = request.view.dataset
  const table = operation.tables!.make(request)
  const { paging } = table
  const isJson = shape.format === 'json'
  const query = { ...linked, more: shapeQuery(shape) }
  const link = paging === undefined ? NO_LINK : linkHeader(query, snapshotId, paging, isPinned || !isJson)
  return {
    body: isRowShape(shape) ? inSteps(table, shape, snapshotId) : parquetJob(table, shape, snapshotId),
    rows: table.rows,
    microseconds: (table.microseconds ?? 0) + table.rows * US_PER_ROW,
    headers: isJson ? link : Buffer.concat([Buffer.from(fileHeaders(table, shape, snapshotId)), link]),
  }
}

export function isJob(body: ExpensiveAnswer | ParquetJob): body is ParquetJob {
  return 'groups' in body
}

function inSteps(table: Table, shape: RowShape, snapshotId: string): ExpensiveAnswer {
  const body = formed(table, shape, snapshotId)
  const { paging } = table
  return {
    bytes: body.bytes,
    ...(paging && { paging }),
    *steps(writer) {
      yield* body.steps(writer)
      if (shape.format === 'json') return writeMeta(writer, table)
      return undefined
    },
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
function writeMeta(writer: JsonWriter, { paging, list }: Table): Paging | undefined {
  if (paging === undefined) return undefined
  writer.text(
    `,"meta":{"page":${paging.page},"per_page":${paging.perPage},"total_pages":${paging.pages},${list?.meta ?? ''}`,
  )
  return paging
}
