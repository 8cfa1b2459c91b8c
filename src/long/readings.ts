/** Readings of one buoy and of many: their tables, and the usual JSON of many. */
import { csvText } from '../dataset/csv-text.ts'
import { findId, type Dataset } from '../dataset/dataset.ts'
import { endList, JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { READING_BYTES, writeReading, writeReadings } from '../dataset/reading-json.ts'
import type { View } from '../dataset/view.ts'
import { MAX_PER_PAGE, positionsOf, type parameters as buoyParameters } from '../handlers/readings.ts'
import { MAX_PER_PAGE as MAX_OF_BUOYS, type parameters } from '../handlers/readings-of-buoys.ts'
import { matchingBuoys } from '../operation/buoy-filters.ts'
import { buoyBeside, buoyPlace, readingsAbout, readingsBuoy } from '../operation/buoy-table.ts'
import { ApiError } from '../operation/errors.ts'
import {
  refuseBackwards,
  requireBuoy,
  rowsOfPage,
  tablePage,
  writePaging,
  type LongJson,
} from '../operation/operation.ts'
import type { QueryOf } from '../operation/parameters.ts'
import { csvReadings } from '../operation/reading-csv.ts'
import { monthRuns, readingColumns } from '../operation/reading-table.ts'
import type { Column, ReadingsBuoy, Table } from '../operation/answer-table.ts'
import { DAY, endOf, timestampText } from '../sea/time.ts'
import type { MakeRequest } from './maker.ts'

type Query = QueryOf<typeof parameters>

const BUOYS = new Literal('{"buoys":')
const READINGS = new Literal(',"readings":[')
const BUOY_ID = new Literal(',"buoy_id":')
const END = new Literal('},')

/** Stands for the buoy of an answer without rows. */
const NO_BUOY: ReadingsBuoy = { id: 0, slug: '', name: '', lat: 0, lng: 0, source: '', dtz: '' }

/** A buoy with its rows in range: positions from `first` to before `end`. */
interface Span {
  readonly ordinal: number
  readonly first: number
  readonly end: number
}

interface Found {
  readonly spans: readonly Span[]
  /** Rows of all spans. */
  readonly count: number
  /** Ends of the range, epoch seconds. */
  readonly start: number
  readonly end: number
  /** Ids that were asked for and that no buoy has. */
  readonly missing: readonly number[]
}

/** The rows of `page`, and the cursor that its columns read at. */
function rowsOf(dataset: Dataset, page: readonly Span[], isAscending: boolean, included: number | undefined) {
  const { readings } = dataset
  const first = page.length === 0 ? NO_BUOY : readingsBuoy(dataset, page[0].ordinal)
  const cursor = { ordinal: page[0]?.ordinal ?? 0, id: first.id, month: readings.months[0], buoy: first }
  const runs = page.flatMap(({ ordinal, first: from, end }): Table['runs'] => {
    const buoy = readingsBuoy(dataset, ordinal)
    return monthRuns(readings, ordinal, isAscending ? from : end - 1, end - from, isAscending, (month) => {
      Object.assign(cursor, { ordinal, id: buoy.id, month, buoy })
    })
  })
  const ordinals = page.map(({ ordinal }) => ordinal)
  return {
    cursor,
    columns: readingColumns(cursor, included),
    beside: buoyBeside(dataset, () => cursor.ordinal, false),
    runs,
    readings: { cursor, about: readingsAbout(dataset, ordinals) },
    place: buoyPlace(dataset, () => cursor.ordinal),
    id: 'id',
  }
}

export function readingsTable({
  view,
  query,
  path: [buoyId],
  isWhole,
}: MakeRequest<typeof buoyParameters>): Table {
  const ordinal = requireBuoy(view, buoyId)
  const { dataset } = view
  const { catalog } = dataset
  const { first, end, count, oldest, newest } = positionsOf(dataset.readings, ordinal, query)
  const { from, to, paging } = tablePage(count, isWhole, query.page, Math.min(query.per_page, MAX_PER_PAGE))
  const isAscending = query.order === 'asc'
  const span = isAscending ? { first: first + from, end: first + to } : { first: end - to, end: end - from }
  const rows = rowsOf(dataset, [{ ordinal, ...span }], isAscending, query.include)
  const { columns, beside, cursor, readings, ...rest } = rows
  const start = timeText(oldest)
  const stop = timeText(newest)
  const common = [
    catalog.lat[ordinal],
    catalog.lng[ordinal],
    catalog.id[ordinal],
    csvText(catalog.names[ordinal]),
  ].join()
  return {
    ...rest,
    columns: [...columns, ...beside],
    // Bulk writers write the usual members and no others.
    ...(query.include === undefined && {
      bulk: {
        csv: csvReadings(cursor, common),
        ndjson: {
          rowBytes: READING_BYTES,
          write: (writer, row, step, count) =>
            writeReadings(writer, cursor.id, cursor.month, row, step, count, true),
        },
      },
    }),
    readings: { cursor, about: { buoy: catalog.slugs[ordinal], ...readings.about } },
    ...(paging && { paging }),
    total: count,
    name: [catalog.slugs[ordinal], 'readings', start.slice(0, DATE_LENGTH), stop.slice(0, DATE_LENGTH)]
      .filter((part) => part !== '')
      .join('_'),
    list: {
      key: 'readings',
      before: `"buoy":${summaryText(view, ordinal)},`,
      after: `,"count":${count}`,
      meta: `"date_range":${JSON.stringify({ start: start || null, end: stop || null })},`,
    },
  }
}

const DATE_LENGTH = 10

/** A time as text; '' where there is none. */
const timeText = (epoch: number | null): string => (epoch === null ? '' : timestampText(Math.floor(epoch)))

/** The buoy of the answer as JSON. */
function summaryText({ fragments: { summary } }: View, ordinal: number): string {
  const writer = new JsonWriter(SUMMARY_BYTES)
  summary.writeTo(writer, ordinal)
  return writer.textOf(0, writer.at)
}

const SUMMARY_BYTES = 1024

export function readingsOfBuoysAnswer({ view, query }: MakeRequest<typeof parameters>): LongJson {
  const { readings, catalog } = view.dataset
  const found = find(view.dataset, query)
  const perPage = Math.min(query.per_page, MAX_OF_BUOYS)
  const { from, to } = rowsOfPage(found.count, query.page, perPage)
  const isAscending = query.order === 'asc'
  const page = pageOf(found.spans, from, to, isAscending)
  return {
    paging: { page: query.page, pages: Math.ceil(found.count / perPage) },
    next(writer) {
      writer.literal(BUOYS)
      writer.text(buoysText(view, page))
      writer.ensure((to - from) * READING_BYTES + READING_BYTES)
      writer.literal(READINGS)
      for (const { ordinal, first, end } of page) {
        for (let i = first; i < end; i++) {
          const position = isAscending ? i : end - 1 - (i - first)
          const segment = readings.segmentOf(ordinal, position)
          const row = readings.from[segment] + position - readings.before[segment]
          writeReading(writer, catalog.id[ordinal], readings.months[readings.month[segment]], row)
          // In place of the brace.
          writer.at--
          writer.literal(BUOY_ID)
          writer.integer(catalog.id[ordinal])
          writer.literal(END)
        }
      }
      // The last row's comma goes.
      if (page.length > 0) writer.at--
      endList(writer, found.count)
      writer.at--
      writer.text(`,"missing_ids":[${found.missing.join()}]}`)
      writePaging(writer, found.count, query.page, perPage)
      writer.text(rangeText(found))
      return true
    },
  }
}

export function readingsOfBuoysTable({ view, query, isWhole }: MakeRequest<typeof parameters>): Table {
  const { dataset } = view
  const found = find(dataset, query)
  const perPage = Math.min(query.per_page, MAX_OF_BUOYS)
  const { from, to, paging } = tablePage(found.count, isWhole, query.page, perPage)
  const isAscending = query.order === 'asc'
  const page = pageOf(found.spans, from, to, isAscending)
  const { columns, beside, cursor: _, ...rest } = rowsOf(dataset, page, isAscending, query.include)
  return {
    ...rest,
    columns: [...columns, ...beside.map(inJson)],
    ...(paging && { paging }),
    total: found.count,
    name: `readings_${timestampText(found.start).slice(0, DATE_LENGTH)}_${timestampText(found.end).slice(0, DATE_LENGTH)}`,
    list: {
      key: 'readings',
      before: `"buoys":${buoysText(view, page)},`,
      after: `,"count":${found.count},"missing_ids":[${found.missing.join()}]`,
      meta: rangeText(found),
    },
  }
}

/** Usual JSON has `buoy_id` in each row; what else tables have of a buoy, it has in `buoys`. */
function inJson(column: Column): Column {
  if (column.name !== 'buoy_id') return column
  const { added: _, ...always } = column
  return always
}

/** @throws ApiError 400 when a day and a range are given, 422 when the range ends before it starts */
function find(dataset: Dataset, query: Query): Found {
  const { ids, start_date: from, end_date: to, date: day } = query
  if (day !== undefined && (from ?? to) !== undefined) {
    throw new ApiError(
      'bad_request',
      'Parameters date and start_date or end_date exclude each other. Allowed: a range or a date',
      { parameter: 'date' },
    )
  }
  const end = day !== undefined ? day + DAY - 1 : to === undefined ? dataset.asOf : endOf(to)
  const start = day ?? from?.epoch ?? end - DAY
  refuseBackwards(start, end)
  const { readings, catalog } = dataset
  const matching = Array.from(matchingBuoys(dataset, query, false)).sort((a, b) => a - b)
  const asked = new Map((ids ?? []).map((id) => [id, findId(catalog.id, id)]))
  const wanted = ids === undefined ? null : new Set(asked.values())
  let count = 0
  const spans: Span[] = []
  for (const ordinal of matching) {
    if (wanted !== null && !wanted.has(ordinal)) continue
    const span = { ordinal, ...readings.between(ordinal, start, end) }
    if (span.first >= span.end) continue
    spans.push(span)
    count += span.end - span.first
  }
  const missing = [...asked].filter(([, ordinal]) => ordinal === -1).map(([id]) => id)
  return { spans, count, start, end, missing }
}

/** The parts of `spans` that hold the rows `from` to before `to` of all. */
function pageOf(spans: readonly Span[], from: number, to: number, isAscending: boolean): Span[] {
  const page: Span[] = []
  let before = 0
  for (const { ordinal, first, end } of spans) {
    const [low, high] = [Math.max(0, from - before), Math.min(end - first, to - before)]
    before += end - first
    if (low >= high) continue
    page.push(
      isAscending
        ? { ordinal, first: first + low, end: first + high }
        : { ordinal, first: end - high, end: end - low },
    )
  }
  return page
}

function buoysText({ dataset }: View, page: readonly Span[]): string {
  return JSON.stringify(
    page.map(({ ordinal }) => {
      const { id, name, slug, lat, lng, source } = readingsBuoy(dataset, ordinal)
      return { id, name, slug, lat, lng, source }
    }),
  )
}

const rangeText = ({ start, end }: Found): string =>
  `"date_range":${JSON.stringify({ start: timestampText(start), end: timestampText(end) })},`
