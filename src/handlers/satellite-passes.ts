/**
 * Operation 12, `GET /buoys/satellite_passes`: newest first by `started_at`. Fresh are passes with an
 * observation inside the active window at the snapshot's time; `count` is the number of passes in the answer.
 */
import { notFound } from '../answers/errors.ts'
import { missionOfSlug } from '../sea/missions.ts'
import { Literal } from '../answers/literals.ts'
import { endList, operation } from '../answers/operation.ts'
import { boolean, integer, text, timestamp } from '../answers/parameters.ts'

const PASSES = new Literal('{"satellite_passes":[')

export const listSatellitePasses = operation({
  name: 'listSatellitePasses',
  path: '/buoys/satellite_passes',
  access: 'keyed',
  summary: 'Satellite passes over virtual buoys',
  parameters: {
    mission: text({ description: 'Only passes of this mission, a `slug` of `GET /buoys/satellites`.' }),
    active_only: boolean({
      default: true,
      description: 'Only passes that gave a virtual buoy a reading inside the active window.',
    }),
    since: timestamp({
      description: 'Only passes that started at or after this time; a date is its first second.',
    }),
    limit: integer({ minimum: 1, maximum: 100, default: 20, description: 'Most passes to answer.' }),
  },
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer({ dataset, fragments }, { mission: slug, active_only: activeOnly, since, limit }) {
    const { writer, pass } = fragments
    const { passes } = dataset
    const mission = slug === undefined ? null : missionOfSlug(slug)
    if (mission === undefined) throw notFound('Satellite mission')
    const group = mission === null ? passes.everywhere : passes.ofMission(mission.index)
    const rows = activeOnly ? group.fresh : group.all
    const matching = since === undefined ? rows.length : passes.countSince(rows, since.epoch)
    const count = Math.min(limit, matching)
    writer.literal(PASSES)
    pass.writeList(rows, 0, count)
    endList(writer, count)
  },
})
