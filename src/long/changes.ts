/** The changes between two snapshots as JSON: `GET /changes`. */
import { MAX_PER_PAGE, type parameters, READINGS } from '../handlers/changes.ts'
import { ApiError, snapshotGone } from '../operation/errors.ts'
import { type LongJson, rowsOfPage, writePaging } from '../operation/operation.ts'
import type { ChangesSince, View } from '../dataset/view.ts'
import type { Dataset } from '../dataset/dataset.ts'
import type { MakeRequest } from './maker.ts'
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { type Catalog, ordinalOf } from '../snapshot/catalog.ts'
import {
  ADDED,
  CHANGE_WORDS,
  type Changes,
  eachDifference,
  noChanges,
  rangeOf,
  REMOVED,
} from '../snapshot/row-changes.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { addExtras, READING_BYTES, writeReadings } from '../dataset/reading-json.ts'

const wordOf = (change: number): string => CHANGE_WORDS[change as keyof typeof CHANGE_WORDS]
const END = '}'

/** Bytes: more than the members around the lists take. */
const START_BYTES = 256
/** Bytes: more than a buoy without slug and readings, a span, and a reading take. */
const BUOY_BYTES = 80
const SPAN_BYTES = 160
const ROW_BYTES = READING_BYTES + 80

/** @throws ApiError 400, 410 */
export function changesAnswer({ view, query }: MakeRequest<typeof parameters>): LongJson {
  const { snapshotId } = view.dataset
  const since = changesSince(view, query.since)
  if (since === null) throw snapshotGone('since', snapshotId)
  const { changes } = since
  const compared: ComparedCatalogs = {
    changes,
    before: since.before.catalog,
    after: view.dataset.catalog,
  }
  const included = query.include ?? 0
  const withRows = (included & 1) === 1
  if (!withRows && included !== 0) throw refuseExtras()
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const count = changes.before.at(-1)!
  const rows = rowsOfPage(count, query.page, perPage)
  const months: ComparedMonths = {
    before: monthsOf(since.before),
    after: monthsOf(view.dataset),
  }
  // Buoys are on the first page of readings alone: they are the same for all pages.
  const withBuoys = !withRows || query.page === 1
  return {
    ...(withRows && { paging: { page: query.page, pages: Math.ceil(count / perPage) } }),
    next(writer) {
      writeChanges(writer, compared, withBuoys)
      if (withRows) writeChangedReadings(writer, changes, months, included >> 1, rows.from, rows.to)
      writer.text(END)
      if (withRows) writePaging(writer, count, query.page, perPage)
      return true
    },
  }
}

function refuseExtras(): ApiError {
  const problem = `adds members to readings, which this answer does not have. Allowed: with ${READINGS}, separated by commas`
  return new ApiError('bad_request', `Parameter include ${problem}`, { parameter: 'include' })
}

function changesSince(view: View, id: string): ChangesSince | null {
  const { dataset } = view
  if (id === dataset.snapshotId) return { changes: noChanges(id), before: dataset }
  return view.changesSince?.(id) ?? null
}

function monthsOf({ readings }: Dataset): (month: number) => MonthRows | null {
  return (month) => readings.months.find((rows) => rows.month === month) ?? null
}

interface ComparedCatalogs {
  changes: Changes
  before: Catalog
  after: Catalog
}

function slugOf(before: Catalog, after: Catalog, id: number, change: number): string {
  const catalog = change === REMOVED ? before : after
  return catalog.slugs[ordinalOf(catalog, id)]
}

/** Begins `data`: all of it but the readings. With `withBuoys` false the list of buoys is empty. */
function writeChanges(
  writer: JsonWriter,
  { changes, before, after }: ComparedCatalogs,
  withBuoys: boolean,
): void {
  writer.ensure(START_BYTES)
  writer.text(`{"since":"${changes.since}","until":"${changes.until}","buoys":[`)
  const count = withBuoys ? changes.buoy.length : 0
  for (let i = 0; i < count; i++) {
    const [id, change] = [changes.buoy[i], changes.change[i]]
    const slug = slugOf(before, after, id, change)
    writer.ensure(BUOY_BYTES + slug.length * 6)
    writer.text(`${i === 0 ? '' : ','}{"id":${id},"slug":`)
    writer.string(slug)
    writer.text(`,"change":"${wordOf(change)}","readings":[`)
    for (let span = changes.first[i]; span < changes.first[i + 1]; span++) {
      writer.ensure(SPAN_BYTES)
      writer.text(span === changes.first[i] ? '{"from":' : ',{"from":')
      writer.timestamp(changes.from[span])
      writer.text(',"to":')
      writer.timestamp(changes.to[span])
      writer.text(
        `,"added":${changes.added[span]},"changed":${changes.changed[span]},"removed":${changes.removed[span]}}`,
      )
    }
    writer.text(']}')
  }
  writer.ensure(START_BYTES)
  writer.text(`],"passes":${changes.passes},"forecast":${changes.forecast}`)
}

/** The months of readings of both snapshots; null where one has none. */
interface ComparedMonths {
  before: (month: number) => MonthRows | null
  after: (month: number) => MonthRows | null
}

/** Readings `from` up to `to` of all that differ, by buoy and time. */
function writeChangedReadings(
  writer: JsonWriter,
  changes: Changes,
  months: ComparedMonths,
  included: number,
  from: number,
  to: number,
): void {
  writer.ensure(START_BYTES)
  writer.text(',"readings":[')
  let at = from
  while (at < to) {
    const span = lowerBound(changes.before, at + 1) - 1
    const [buoyAt, month] = [lowerBound(changes.first, span + 1) - 1, changes.month[span]]
    const end = Math.min(to, changes.before[span + 1])
    const asked = { span, buoy: changes.buoy[buoyAt], month, included }
    at = writeSpan(writer, changes, months, asked, at, end, at === from)
  }
  writer.ensure(START_BYTES)
  writer.text(`],"count":${changes.before.at(-1)!}`)
}

interface SpanAsked {
  span: number
  buoy: number
  month: number
  /** What `include` adds to each reading (see `extraMeasures`). */
  included: number
}

/** @returns the reading to go on with */
function writeSpan(
  writer: JsonWriter,
  changes: Changes,
  months: ComparedMonths,
  { span, buoy, month, included }: SpanAsked,
  at: number,
  end: number,
  isFirst: boolean,
): number {
  const [a, b] = [months.before(month), months.after(month)]
  const range = (rows: MonthRows | null, isThere: boolean): { from: number; to: number } =>
    rows !== null && isThere ? within(rows, buoy, changes.from[span]) : { from: 0, to: 0 }
  const change = changes.change[lowerBound(changes.first, span + 1) - 1]
  let skip = at - changes.before[span]
  let separator = isFirst ? '' : ','
  eachDifference(a, range(a, change !== ADDED), b, range(b, change !== REMOVED), (kind, row) => {
    if (skip-- > 0) return true
    writer.ensure(ROW_BYTES)
    writer.text(`${separator}{"buoy_id":${buoy},"change":"${wordOf(kind)}","reading":`)
    const rows = (kind === REMOVED ? a : b)!
    writeReadings(writer, buoy, rows, row, 1, 1)
    // The comma after the last reading goes.
    writer.at--
    if (included > 0) addExtras(writer, rows, row, included)
    writer.text('}')
    separator = ','
    return ++at < end
  })
  return at
}

/** The rows of a buoy in a month that are not older than `since`. */
function within(rows: MonthRows, buoy: number, since: number): { from: number; to: number } {
  const { from, to } = rangeOf(rows, buoy)
  return { from: lowerBound(rows.time, since, from, to), to }
}
