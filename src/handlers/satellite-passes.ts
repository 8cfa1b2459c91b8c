/**
 * Operation 12, `GET /buoys/satellite_passes`: newest first by `started_at`. A fresh pass has an observation
 * inside the active window at the snapshot's time; `count` is the number of passes in the answer.
 */
import { notFound } from '../operation/errors.ts'
import missions from '../sea/missions.json' with { type: 'json' }
import type { Dataset } from '../dataset/dataset.ts'
import { FORMATS } from '../operation/shape.ts'
import { Literal } from '../dataset/literals.ts'
import { operation } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import { boolean, integer, text, timestamp, type QueryOf } from '../operation/parameters.ts'

const PASSES = new Literal('{"satellite_passes":[')

export const parameters = {
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
    const rows = passesOf(dataset, query)
    writer.literal(PASSES)
    pass.writeList(rows, 0, rows.length)
    endList(writer, rows.length)
  },
  tables: { formats: FORMATS, isList: true },
})

/** Rows of the requested passes, newest first. @throws ApiError 404 */
export function passesOf({ passes }: Dataset, query: QueryOf<typeof parameters>): Uint32Array {
  const { mission: slug, active_only: activeOnly, since, limit } = query
  const mission = slug === undefined ? null : missions.find((one) => one.slug === slug)
  if (mission === undefined) throw notFound('Satellite mission not found')
  const group = mission === null ? passes.indexes.everywhere : passes.ofMission(mission.index)
  const rows = activeOnly ? group.fresh : group.all
  const count = since === undefined ? rows.length : passes.countSince(rows, since.epoch)
  return rows.subarray(0, Math.min(limit, count))
}
