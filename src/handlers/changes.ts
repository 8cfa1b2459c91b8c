/** `GET /changes`: a copy that asks since the `until` of its last answer stays equal to the data. */
import {
  noChanges,
  writeChangedReadings,
  writeChanges,
  type ComparedCatalogs,
  type ComparedMonths,
} from '../dataset/changes-json.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { ApiError, snapshotGone } from '../operation/errors.ts'
import { EXTRA_GROUPS, extraMeasures } from '../dataset/wire-measures.ts'
import { MAX_PAGE, operation, rowsOfPage, writePaging } from '../operation/operation.ts'
import type { ChangesSince, View } from '../dataset/view.ts'
import { integer, text, wordSet } from '../operation/parameters.ts'
import type { MonthRows } from '../index/segments.ts'

const MAX_PER_PAGE = 1000
/** The word of `include` for the readings themselves. */
const READINGS = 'readings'
const END = '}'

export const listChanges = operation({
  name: 'listChanges',
  path: '/changes',
  access: 'keyed',
  summary: 'What has changed since a snapshot',
  parameters: {
    since: text({
      required: true,
      pattern: '^[0-9a-f]{24}$',
      allowed: 'the id of a snapshot, as X-Snapshot-Id names it',
      description: 'The snapshot to compare with: the `until` of the last answer, or an `X-Snapshot-Id`.',
    }),
    include: wordSet({
      values: [READINGS, ...EXTRA_GROUPS],
      needed: READINGS,
      description:
        'With `readings` the answer also has the readings themselves, in pages; together with it, `peak_period` and `wind` add members to them.',
    }),
    page: integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page of readings, from 1.' }),
    per_page: integer({
      minimum: 1,
      default: 500,
      description: `Readings a page; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, query) {
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
    const extras = extraMeasures(included >> 1)
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
        if (withRows) writeChangedReadings(writer, changes, months, extras, rows.from, rows.to)
        writer.text(END)
        if (withRows) writePaging(writer, count, query.page, perPage)
        return true
      },
    }
  },
})

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
