/** The changes between two snapshots as JSON: `GET /changes`. */
import { MAX_PER_PAGE, type parameters, READINGS } from '../handlers/changes.ts'
import { refused, snapshotGone } from '../operation/errors.ts'
import { type LongJson, rowsOfPage, writePaging } from '../operation/operation.ts'
import type { ChangesSince, View } from '../dataset/view.ts'
import type { Dataset } from '../dataset/dataset.ts'
import type { MakeRequest } from './maker.ts'
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { ordinalOf } from '../snapshot/catalog.ts'
import { timestampText } from '../sea/time.ts'
import { ADDED, CHANGE_WORDS, type Changes, noChanges, REMOVED } from '../snapshot/row-changes.ts'
import { eachDifference, runOf } from '../snapshot/compare-snapshots.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { addExtras, READING_BYTES, writeReading } from '../dataset/reading-json.ts'

const wordOf = (change: number): string => CHANGE_WORDS[change as keyof typeof CHANGE_WORDS]

/** Bytes: more than a reading takes with the text around it. */
const ROW_BYTES = READING_BYTES + 80

/** @throws ApiError 400, 410 */
export function changesAnswer({ view, query }: MakeRequest<typeof parameters>): LongJson {
  const since = changesSince(view, query.since)
  if (since === null) throw snapshotGone('since', view.dataset.snapshotId)
  const { changes } = since
  const compared = { changes, before: since.before, after: view.dataset }
  const included = query.include ?? 0
  const withRows = (included & 1) === 1
  if (!withRows && included !== 0) {
    const problem = 'adds members to readings, which this answer does not have'
    throw refused('include', `${problem}. Allowed: with ${READINGS}, separated by commas`)
  }
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const count = changes.before.at(-1)!
  const rows = rowsOfPage(count, query.page, perPage)
  // Buoys are only on the first page of readings: they are the same for all pages.
  const withBuoys = !withRows || query.page === 1
  return {
    ...(withRows && { paging: { page: query.page, pages: Math.ceil(count / perPage) } }),
    next(writer) {
      writer.text(buoysText(compared, withBuoys))
      if (withRows) {
        writer.text(',"readings":[')
        for (let at = rows.from; at < rows.to;) at = writeSpan(writer, compared, included >> 1, at, rows)
        writer.text(`],"count":${count}`)
      }
      writer.text('}')
      if (withRows) writePaging(writer, count, query.page, perPage)
      return true
    },
  }
}

function changesSince(view: View, id: string): ChangesSince | null {
  const { dataset } = view
  if (id === dataset.snapshotId) return { changes: noChanges(id), before: dataset }
  return view.changesSince?.(id) ?? null
}

interface Compared {
  readonly changes: Changes
  readonly before: Dataset
  readonly after: Dataset
}

/** `data` up to the readings, without its brace. With `withBuoys` false the list of buoys is empty. */
function buoysText({ changes, before, after }: Compared, withBuoys: boolean): string {
  const { since, until, passes, forecast, first } = changes
  const spanOf = (span: number): object => ({
    from: timestampText(changes.from[span]),
    to: timestampText(changes.to[span]),
    added: changes.added[span],
    changed: changes.changed[span],
    removed: changes.removed[span],
  })
  const buoys = Array.from(withBuoys ? changes.buoy : [], (id, i) => {
    const { catalog } = changes.change[i] === REMOVED ? before : after
    const readings = Array.from({ length: first[i + 1] - first[i] }, (_, span) => spanOf(first[i] + span))
    return { id, slug: catalog.slugs[ordinalOf(catalog, id)], change: wordOf(changes.change[i]), readings }
  })
  return JSON.stringify({ since, until, buoys, passes, forecast }).slice(0, -1)
}

/**
 * Writes readings that differ, by buoy and time, from reading `at` to the end of its span or of the page.
 * @param included what `include` adds to each (see `extraMeasures`)
 * @returns the reading to go on with
 */
function writeSpan(
  writer: JsonWriter,
  { changes, before, after }: Compared,
  included: number,
  at: number,
  page: { readonly from: number; readonly to: number },
): number {
  const span = lowerBound(changes.before, at + 1) - 1
  const buoyAt = lowerBound(changes.first, span + 1) - 1
  const [id, change, month] = [changes.buoy[buoyAt], changes.change[buoyAt], changes.month[span]]
  const end = Math.min(page.to, changes.before[span + 1])
  const sideOf = ({ readings }: Dataset, isThere: boolean) => {
    const rows = readings.months.find((each) => each.month === month) ?? null
    const run = rows !== null && isThere ? within(rows, id, changes.from[span]) : { from: 0, to: 0 }
    return [rows, run] as const
  }
  const [a, b] = [sideOf(before, change !== ADDED), sideOf(after, change !== REMOVED)]
  let skip = at - changes.before[span]
  let next = at
  eachDifference(...a, ...b, (kind, row) => {
    if (skip-- > 0) return true
    writer.ensure(ROW_BYTES)
    const separator = next === page.from ? '' : ','
    writer.text(`${separator}{"buoy_id":${id},"change":"${wordOf(kind)}","reading":`)
    const [rows] = kind === REMOVED ? a : b
    writeReading(writer, id, { month: rows!, row })
    if (included > 0) addExtras(writer, { month: rows!, row }, included)
    writer.text('}')
    return ++next < end
  })
  return next
}

/** The rows of a buoy in a month that are not older than `since`. */
function within(rows: MonthRows, buoy: number, since: number): { from: number; to: number } {
  const { from, to } = runOf(rows, buoy)
  return { from: lowerBound(rows.time, since, from, to), to }
}
