/**
 * Operation 12, `GET /buoys/satellite_passes`: newest first by `started_at`. Fresh are passes with an
 * observation inside the active window at the snapshot's time; `count` is the number of passes in the answer.
 */
import { notFound } from '../operation/errors.ts'
import { missionOfSlug } from '../sea/missions.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { passColumns, passLine } from '../operation/pass-table.ts'
import { FORMATS } from '../operation/shape.ts'
import type { Table } from '../operation/answer-table.ts'
import { Literal } from '../dataset/literals.ts'
import { allRows, operation } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import { boolean, integer, text, timestamp, type QueryOf } from '../operation/parameters.ts'

const PASSES = new Literal('{"satellite_passes":[')

const parameters = {
  mission: text({ description: 'Only passes of this mission, a `slug` of `GET /buoys/satellites`.' }),
  active_only: boolean({
    default: true,
    description: 'Only passes that gave a virtual buoy a reading inside the active window.',
  }),
  since: timestamp({
    description: 'Only passes that started at or after this time; a date is its first second.',
  }),
  limit: integer({ minimum: 1, maximum: 100, default: 20, description: 'Most passes to answer.' }),
}

export const listSatellitePasses = operation({
  name: 'listSatellitePasses',
  path: '/buoys/satellite_passes',
  access: 'keyed',
  summary: 'Satellite passes over virtual buoys',
  parameters,
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer({ dataset, fragments }, query) {
    const { writer, pass } = fragments
    const rows = matching(dataset, query)
    const count = Math.min(query.limit, countSince(dataset, rows, query))
    writer.literal(PASSES)
    pass.writeList(rows, 0, count)
    endList(writer, count)
  },
  tables: {
    formats: FORMATS,
    isList: true,
    make({ view: { dataset }, query }) {
      const rows = matching(dataset, query)
      return tableOf(dataset, rows.slice(0, Math.min(query.limit, countSince(dataset, rows, query))))
    },
  },
})

type Query = QueryOf<typeof parameters>

/** Rows of the passes, newest first, whenever they started. */
function matching({ passes }: Dataset, { mission: slug, active_only: activeOnly }: Query): Uint32Array {
  const mission = slug === undefined ? null : missionOfSlug(slug)
  if (mission === undefined) throw notFound('Satellite mission not found')
  const group = mission === null ? passes.everywhere : passes.ofMission(mission.index)
  return activeOnly ? group.fresh : group.all
}

function countSince({ passes }: Dataset, rows: Uint32Array, { since }: Query): number {
  return since === undefined ? rows.length : passes.countSince(rows, since.epoch)
}

function tableOf(dataset: Dataset, passes: Uint32Array): Table {
  const rowOf = (row: number): number => passes[row]
  return {
    columns: Object.values(passColumns(dataset, rowOf)),
    runs: allRows(passes.length),
    place: { kind: 'line', line: (row) => passLine(dataset, passes[row]) },
    id: 'id',
    total: passes.length,
    name: 'satellite-passes',
    list: { key: 'satellite_passes', after: `,"count":${passes.length}` },
  }
}
