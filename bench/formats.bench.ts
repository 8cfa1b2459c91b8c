/**
 * What readings of ten years cost as CSV and NDJSON: bytes that a core writes a second, beside a plain writer
 * that makes an object of each row and joins its values. CPU time, in pairs that take turns.
 * `tsx bench/formats.bench.ts [ROWS]`.
 */
import { JsonWriter } from '../src/dataset/json-writer.ts'
import type { View } from '../src/dataset/view.ts'
import type { Column, Table } from '../src/operation/answer-table.ts'
import { formed } from '../src/formats/format-choice.ts'
import type { Format } from '../src/operation/shape.ts'
import { listReadings } from '../src/handlers/readings.ts'
import { readingsTable } from '../src/long/readings.ts'
import { corpusView } from './corpus.ts'

const PAIRS = 7
const FLUSH_BYTES = 48 * 1024

function tableOf(view: View, ordinal: number): Table {
  return readingsTable({
    operation: listReadings,
    view,
    query: { order: 'asc', page: 1, per_page: 20 } as Parameters<typeof readingsTable>[0]['query'],
    path: [String(view.dataset.catalog.id[ordinal])],
    now: 0,
    language: 'en',
    isWhole: true,
  })
}

/** Bytes written, into a buffer that begins anew as where it is sent. */
function write(table: Table, format: Format): number {
  const writer = new JsonWriter(FLUSH_BYTES)
  const shape = { format, fields: null, byColumns: false, withUnits: false, isExplicit: true }
  let bytes = 0
  const pieces = formed(table, shape, 'x')
  for (let isLast = false; !isLast; bytes += writer.length) {
    writer.begin()
    isLast = pieces.next(writer)
  }
  return bytes
}

type Value = number | string | boolean | null
type Row = { [name: string]: Value }

/** The rows of a table, one by one in their order. */
function* rowsOf(table: Table): Generator<number, void, undefined> {
  for (const makeReady of table.runs) {
    const { from, step, count } = makeReady()
    for (let i = 0; i < count; i++) yield from + i * step
  }
}

/** What a server would have in hand that reads rows as objects out of a database. */
function objectsOf(table: Table, format: Format): Row[] {
  const columns = table.columns.filter(
    ({ added }) => added === undefined || (format === 'csv' && added === 'tables'),
  )
  const scratch = new JsonWriter(256)
  return Array.from(rowsOf(table), (row) =>
    Object.fromEntries(columns.map((column) => [column.name, valueOf(column, row, scratch)])),
  )
}

function valueOf(column: Column, row: number, scratch: JsonWriter): Value {
  switch (column.kind) {
    case 'code': {
      const code = column.value(row)
      return code === (column.signed ? -0x8000 : 0xffff) ? null : code / column.scale
    }
    case 'integer':
    case 'number': {
      const value = column.value(row)
      return Number.isNaN(value) ? null : value
    }
    case 'time':
      return new Date(column.value(row) * 1000).toISOString().replace('.000Z', 'Z')
    case 'text':
      return column.value(row)
    case 'flag':
      return column.value(row)
    case 'word': {
      scratch.begin()
      column.write(scratch, row)
      return scratch.length === 0 ? null : scratch.textOf(0, scratch.length)
    }
  }
}

/** An ordinary writer of CSV: quotes what must be, joins, encodes. */
function plainCsv(rows: readonly Row[]): number {
  const names = Object.keys(rows[0])
  const lines = [names.join(',')]
  for (const row of rows) {
    lines.push(
      names
        .map((name) => {
          const value = row[name]
          if (value === null) return ''
          const text = String(value)
          return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
        })
        .join(','),
    )
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n`).length
}

const plainNdjson = (rows: readonly Row[]): number =>
  Buffer.from(`${rows.map((row) => JSON.stringify(row)).join('\n')}\n`).length

/** Megabytes a second of CPU time of this thread. */
function rate(run: () => number): number {
  const before = process.cpuUsage()
  let bytes = 0
  let spent = 0
  do {
    bytes += run()
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  } while (spent < 200_000)
  return bytes / spent
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]

const view = await corpusView('pair')
const table = tableOf(view, 0)
console.log(`${table.total} readings of one buoy`)
for (const [format, plain] of [
  ['csv', plainCsv],
  ['ndjson', plainNdjson],
] as const) {
  const rows = objectsOf(table, format)
  const [ours, theirs] = [write(table, format), plain(rows)]
  if (ours !== theirs) throw new Error(`${format}: ${ours} bytes, the plain writer has ${theirs}`)
  const pairs = Array.from({ length: PAIRS }, () => [
    rate(() => write(table, format)),
    rate(() => plain(rows)),
  ])
  const ratios = pairs.map(([a, b]) => a / b)
  console.log(
    `${format}: ${ours} bytes, ${median(pairs.map(([a]) => a)).toFixed(0)} MB/s of CPU time, ` +
      `plain writer ${median(pairs.map(([, b]) => b)).toFixed(1)} MB/s, ` +
      `ratio ${median(ratios).toFixed(1)} (${Math.min(...ratios).toFixed(1)} to ${Math.max(...ratios).toFixed(1)})`,
  )
}
