/** Readings of one buoy and of many, as they were measured or in buckets: their tables. */
import { csvText } from '../dataset/cells.ts'
import { type Dataset, findId } from '../dataset/dataset.ts'
import { JsonWriter } from '../dataset/json-writer.ts'
import type { View } from '../dataset/view.ts'
import { MAX_PER_PAGE, type parameters as buoyParameters, runOf } from '../handlers/readings.ts'
import { MAX_PER_PAGE as MAX_OF_BUOYS, type parameters } from '../handlers/readings-of-buoys.ts'
import { type bucketParameters, matchingBuoys } from '../operation/filters.ts'
import { buoyBeside, buoyPlace, catalogMembers, readingsAbout } from '../dataset/buoy-table.ts'
import { refused } from '../operation/errors.ts'
import { rangeBetween, requireBuoy, tablePage } from '../operation/operation.ts'
import type { QueryOf } from '../operation/parameters.ts'
import { csvReadings } from '../dataset/reading-csv.ts'
import { readingColumns, type ReadingRun } from '../dataset/reading-table.ts'
import { type Column, inZone, type Table } from '../dataset/table.ts'
import { dateText, DAY, timestampText } from '../sea/time.ts'
import { entryOf } from '../system/entry-of.ts'
import { lastOf, UTC, zone, type Zone } from '../sea/zones.ts'
import {
  bucketColumns,
  type BucketRun,
  type BucketsAsked,
  type BuoyBuckets,
  bucketsOf,
  type BuoyRun,
} from './buckets.ts'
import { mergedRows } from '../index/merged-rows.ts'
import type { Run, Segments } from '../index/segments.ts'
import type { MakeRequest } from './maker.ts'

type Query = QueryOf<typeof bucketParameters> & {
  readonly order: 'asc' | 'desc'
  readonly page: number
  readonly include: number | undefined
}

/** Readings of some buoys between two moments, both included, epoch seconds. */
interface Range extends Pick<BucketsAsked, 'start' | 'end' | 'cut' | 'zone'> {
  readonly buoyRuns: readonly BuoyRun[]
}

interface TableRun extends Run {
  readonly ordinal: number
}

const ordinalOf = (_row: number, { ordinal }: TableRun): number => ordinal

/** Kept, since making them takes longer than writing a day. */
const besides = new WeakMap<Dataset, Column[]>()

/** The requested rows, those of `readings`, and their columns. */
function rowsOf(
  dataset: Dataset,
  readings: Segments,
  query: Query,
  range: Range,
  isWhole: boolean,
  perPage: number,
) {
  const { catalog } = dataset
  const { bucket, aggregation, include } = query
  const isAscending = query.order === 'asc'
  const asked = bucket === undefined ? null : { ...range, bucket, aggregation }
  const buoyRuns: readonly (BuoyRun | BuoyBuckets)[] =
    asked === null ? range.buoyRuns : bucketsOf(readings, range.buoyRuns, asked)
  const count = buoyRuns.reduce((sum, { first, end }) => sum + end - first, 0)
  const { from, to, paging } = tablePage(count, isWhole, query.page, perPage)
  const page = pageOf(buoyRuns, from, to, isAscending)
  const ordinals = page.map(({ ordinal }) => ordinal)
  const runs = page.flatMap((rows): (() => TableRun & (ReadingRun | BucketRun))[] => {
    const { ordinal, first, end } = rows
    if (!('stretches' in rows)) {
      const id = catalog.id[ordinal]
      return readings.runs(ordinal, first, end, isAscending).map((run) => () => ({ ...run, id, ordinal }))
    }
    const [row, step] = isAscending ? [first, 1] : [end - 1, -1]
    return [() => ({ from: row, step, count: end - first, ordinal, buckets: rows })]
  })
  const columns = asked === null ? readingColumns(include) : bucketColumns(readings, asked, include)
  const { zone: clock } = range
  return {
    ordinals,
    columns: clock === null ? columns : columns.map((column) => inZone(column, clock)),
    beside: entryOf(besides, dataset, () => buoyBeside(dataset, ordinalOf, false)),
    list: {
      key: asked === null ? 'readings' : 'buckets',
      before: clock === null ? '' : `"timezone":${JSON.stringify(clock.name)},`,
      none: asked === null ? '' : '"readings":[],',
    },
    table: {
      runs,
      place: buoyPlace(dataset, ordinalOf),
      ...(asked === null && { id: 'id' }),
      ...(paging && { paging }),
      total: count,
    },
  }
}

/** Rows without waves are no readings, so the list `readings` is empty. */
const ALL_ROWS = { key: 'rows', none: '"readings":[],' }

export function readingsTable({
  view,
  query,
  path: [buoyId],
  isWhole,
}: MakeRequest<typeof buoyParameters>): Table {
  const ordinal = requireBuoy(view, buoyId)
  const { dataset } = view
  const { catalog } = dataset
  const hasWeather = query.rows === 'all'
  if (hasWeather && query.bucket !== undefined) {
    const problem = 'does not go with bucket. Allowed: readings, or series for buckets of weather'
    throw refused('rows', problem, 'validation_failed')
  }
  // A station that has never measured waves is no buoy, whatever else it measures.
  const hasReadings = dataset.readings.count(ordinal) > 0
  const rows =
    hasWeather && hasReadings ? mergedRows([dataset.readings, dataset.weather], ordinal) : dataset.readings
  const { timezone = null } = query
  const clock = timezone === 'auto' ? zone(catalog.timezones[ordinal])! : timezone
  const { first, end, oldest, newest, range: named } = runOf(rows, ordinal, query, clock)
  const buoyRuns = first < end ? [{ ordinal, first, end }] : []
  const cut = { start: named.start ?? -Infinity, end: named.end ?? Infinity }
  const range = { buoyRuns, start: oldest ?? 0, end: newest ?? 0, cut, zone: clock }
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const made = rowsOf(dataset, rows, query, range, isWhole, perPage)
  const { columns, beside, table } = made
  const list = hasWeather ? { ...made.list, ...ALL_ROWS } : made.list
  const { lat, lng, id, names } = catalog
  const common = [lat[ordinal], lng[ordinal], id[ordinal], csvText(names[ordinal])].join()
  const start = timeText(oldest)
  const stop = timeText(newest)
  return {
    ...table,
    columns: [...columns, ...beside],
    // The bulk writer writes only the usual members of readings.
    ...(query.include === undefined &&
      query.bucket === undefined &&
      clock === null &&
      !hasWeather && { bulk: csvReadings(id[ordinal], common) }),
    // Few forms ask for it.
    get about() {
      return { buoy: catalog.slugs[ordinal], ...readingsAbout(dataset, [ordinal]) }
    },
    name: [catalog.slugs[ordinal], list.key, ...datesOf([oldest, newest], clock)].join('_'),
    list: {
      key: list.key,
      get before() {
        return `"buoy":${summaryText(view, ordinal)},${list.before}${list.none}`
      },
      after: `,"count":${table.total}`,
      meta: `"date_range":${JSON.stringify({ start: start || null, end: stop || null })},`,
    },
  }
}

/** The dates of times, for the name of a file. */
function datesOf(times: readonly (number | null)[], clock: Zone | null): string[] {
  return times.flatMap((epoch) => (epoch === null ? [] : dateText(epoch + (clock ?? UTC).offsetAt(epoch))))
}

/** A time as text; '' where there is none. */
const timeText = (epoch: number | null): string => (epoch === null ? '' : timestampText(Math.floor(epoch)))

/** The buoy of the answer as JSON. */
function summaryText({ fragments: { summary } }: View, ordinal: number): string {
  const writer = new JsonWriter(SUMMARY_BYTES)
  summary.writeTo(writer, ordinal)
  return writer.textOf(0, writer.at)
}

const SUMMARY_BYTES = 1024

export function readingsOfBuoysTable({ view, query, isWhole }: MakeRequest<typeof parameters>): Table {
  const { dataset } = view
  const found = find(dataset, query)
  const perPage = Math.min(query.per_page, MAX_OF_BUOYS)
  const { readings } = dataset
  const { columns, beside, list, ordinals, table } = rowsOf(dataset, readings, query, found, isWhole, perPage)
  const [start, end] = [found.start, found.end].map((epoch) => timestampText(epoch))
  return {
    ...table,
    about: readingsAbout(dataset, ordinals),
    columns: [...columns, ...beside.map(inJson)],
    name: [list.key, ...datesOf([found.start, found.end], found.zone)].join('_'),
    list: {
      key: list.key,
      before: `"buoys":${buoysText(dataset, ordinals)},${list.before}${list.none}`,
      after: `,"count":${table.total},"missing_ids":[${found.missing.join()}]`,
      meta: `"date_range":${JSON.stringify({ start, end })},`,
    },
  }
}

interface Found extends Range {
  /** Requested ids that no buoy has. */
  readonly missing: readonly number[]
}

/** Rows of usual JSON have only `buoy_id` of their buoy; its list `buoys` has the rest. */
function inJson(column: Column): Column {
  if (column.name !== 'buoy_id') return column
  const { added: _, ...always } = column
  return always
}

/** @throws ApiError 400 when a day and a range are given, 422 when the range ends before it starts */
function find(dataset: Dataset, query: QueryOf<typeof parameters>): Found {
  const { ids, start_date: from, end_date: to, date: day, timezone: clock = null } = query
  if (day !== undefined && (from ?? to) !== undefined)
    throw refused('date', 'does not go with start_date and end_date. Allowed: a range or a date')
  const date = day === undefined ? undefined : { epoch: day, wholeDay: true }
  const stop = date ?? to ?? { epoch: dataset.asOf, wholeDay: false }
  const begin = date ?? from ?? { epoch: lastOf(stop, clock) - DAY, wholeDay: false }
  const { start, end } = rangeBetween(begin, stop, clock)
  const { readings, catalog } = dataset
  const matching = Array.from(matchingBuoys(dataset, query, false)).sort((a, b) => a - b)
  const asked = new Map((ids ?? []).map((id) => [id, findId(catalog.id, id)]))
  const wanted = ids === undefined ? null : new Set(asked.values())
  const buoyRuns: BuoyRun[] = []
  for (const ordinal of matching) {
    if (wanted !== null && !wanted.has(ordinal)) continue
    const run = { ordinal, ...readings.between(ordinal, start, end) }
    if (run.first < run.end) buoyRuns.push(run)
  }
  const missing = [...asked].filter(([, ordinal]) => ordinal === -1).map(([id]) => id)
  return { buoyRuns, start, end, cut: { start, end }, zone: clock, missing }
}

/** The parts of `runs` that hold the rows `from` to before `to` of all. */
function pageOf<S extends BuoyRun>(runs: readonly S[], from: number, to: number, isAscending: boolean): S[] {
  const page: S[] = []
  let before = 0
  for (const run of runs) {
    const { first, end } = run
    const [low, high] = [Math.max(0, from - before), Math.min(end - first, to - before)]
    before += end - first
    if (low >= high) continue
    const part = isAscending
      ? { first: first + low, end: first + high }
      : { first: end - high, end: end - low }
    page.push({ ...run, ...part })
  }
  return page
}

function buoysText({ catalog }: Dataset, ordinals: readonly number[]): string {
  const { id, name, slug, lat, lng, source } = catalogMembers(catalog, (ordinal) => ordinal)
  const columns = [id(), name(), slug(), lat(), lng(), source()]
  const run = { from: 0, step: 1, count: catalog.id.length }
  return JSON.stringify(
    ordinals.map((i) => Object.fromEntries(columns.map((column) => [column.name, column.value(i, run)]))),
  )
}
