/**
 * Operation 17, `GET /readings`: rows of many buoys, by buoy id and then time, by default of the last 24 hours before the
 * snapshot's time. As a table all rows come in one answer, each with its buoy's name and position.
 */
import { findId, type Dataset } from '../dataset/dataset.ts'
import { endList } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { READING_BYTES, writeReading } from '../dataset/reading-json.ts'
import type { View } from '../dataset/view.ts'
import { buoyFilters, matchingBuoys } from '../operation/buoy-filters.ts'
import { buoyBeside, buoyPlace, readingsAbout, readingsBuoy } from '../operation/buoy-table.ts'
import { ApiError } from '../operation/errors.ts'
import { include } from '../operation/filter-parameters.ts'
import {
  MAX_PAGE,
  operation,
  refuseBackwards,
  rowsOfPage,
  tablePage,
  writePaging,
} from '../operation/operation.ts'
import { choice, date, integer, integerList, timestamp, type QueryOf } from '../operation/parameters.ts'
import { monthRuns, readingColumns } from '../operation/reading-table.ts'
import { FORMATS } from '../operation/shape.ts'
import type { Column, ReadingsBuoy, Table, TableRequest } from '../operation/answer-table.ts'
import { DAY, endOf, timestampText } from '../sea/time.ts'

const MAX_PER_PAGE = 1000

const parameters = {
  ids: integerList({ description: 'Only these buoys: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2`.' }),
  ...buoyFilters,
  start_date: timestamp({
    description: 'First moment; default 24 hours before the last. A date alone is its first second.',
  }),
  end_date: timestamp({
    description: "Last moment, included; default the snapshot's time. A date alone is its last second.",
  }),
  date: date({ description: 'One UTC day, instead of a range.' }),
  order: choice({
    values: ['asc', 'desc'],
    default: 'desc',
    description: 'By time within a buoy, newest first.',
  }),
  page: integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' }),
  per_page: integer({
    minimum: 1,
    default: 100,
    description: `Readings a page; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
  include,
}

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

export const readingsOfBuoys = operation({
  name: 'readingsOfBuoys',
  path: '/readings',
  access: 'keyed',
  summary: 'Readings of many buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'validation_failed'],
  answer(view, query) {
    const { writer } = view.fragments
    const { readings, catalog } = view.dataset
    const found = find(view.dataset, query)
    const perPage = Math.min(query.per_page, MAX_PER_PAGE)
    const { from, to } = rowsOfPage(found.count, query.page, perPage)
    const page = pageOf(found.spans, from, to, query.order === 'asc')
    writer.literal(BUOYS)
    writer.text(buoysText(view, page))
    writer.ensure((to - from) * READING_BYTES + READING_BYTES)
    writer.literal(READINGS)
    for (const { ordinal, first, end } of page) {
      for (let i = first; i < end; i++) {
        const position = query.order === 'asc' ? i : end - 1 - (i - first)
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
    const meta = writePaging(writer, found.count, query.page, perPage)
    writer.text(rangeText(found))
    return meta
  },
  tables: { formats: [...FORMATS, 'parquet'], isList: true, make: tableOf },
})

function tableOf({ view, query, isWhole }: TableRequest<typeof parameters>): Table {
  const { dataset } = view
  const { readings } = dataset
  const found = find(dataset, query)
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const { from, to, paging } = tablePage(found.count, isWhole, query.page, perPage)
  const isAscending = query.order === 'asc'
  const page = pageOf(found.spans, from, to, isAscending)
  const first = page.length === 0 ? NO_BUOY : readingsBuoy(dataset, page[0].ordinal)
  const cursor = { ordinal: 0, id: first.id, month: readings.months[0], buoy: first }
  const runs = page.flatMap(({ ordinal, first, end }): Table['runs'] => {
    const buoy = readingsBuoy(dataset, ordinal)
    return monthRuns(readings, ordinal, isAscending ? first : end - 1, end - first, isAscending, (month) => {
      Object.assign(cursor, { ordinal, id: buoy.id, month, buoy })
    })
  })
  const beside = buoyBeside(dataset, () => cursor.ordinal, false)
  return {
    columns: [...readingColumns(cursor, query.include), ...beside.map(inJson)],
    runs,
    readings: {
      cursor,
      about: readingsAbout(
        dataset,
        page.map(({ ordinal }) => ordinal),
      ),
    },
    place: buoyPlace(dataset, () => cursor.ordinal),
    id: 'id',
    ...(paging && { paging }),
    total: found.count,
    name: `readings_${timestampText(found.start).slice(0, 10)}_${timestampText(found.end).slice(0, 10)}`,
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
