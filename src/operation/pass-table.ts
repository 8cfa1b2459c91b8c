/** Satellite passes as columns, under their names on the wire. */
import {
  externalPassId,
  missionOfIndex,
  passId,
  passName,
  satellitePassId,
  type Mission,
} from '../sea/missions.ts'
import type { Dataset } from '../dataset/dataset.ts'
import type { Column, Line } from './answer-table.ts'
import { integer, number, text, time } from './table-columns.ts'

export function passColumns({ passes }: Dataset, rowOf: (row: number) => number) {
  const { columns } = passes
  const missionOf = (pass: number): Mission => missionOfIndex(columns.mission[pass])!
  const named = (name: string, of: (mission: Mission, cycle: number, number: number) => string): Column =>
    text(name, (row) => {
      const pass = rowOf(row)
      return of(missionOf(pass), columns.cycle[pass], columns.number[pass])
    })
  const degrees = (name: 'south' | 'west' | 'north' | 'east'): Column =>
    number(`bounds.${name}`, (row) => columns[name][rowOf(row)], 'degree')
  return {
    id: integer('id', (row) => {
      const pass = rowOf(row)
      return passId(missionOf(pass).index, columns.cycle[pass], columns.number[pass])
    }),
    name: named('name', passName),
    externalId: named('external_id', externalPassId),
    satellitePassId: named('satellite_pass_id', satellitePassId),
    platform: named('platform', ({ name }) => name),
    missionSlug: named('mission.slug', ({ slug }) => slug),
    missionName: named('mission.name', ({ name }) => name),
    startedAt: time('started_at', (row) => columns.started[rowOf(row)]),
    endedAt: time('ended_at', (row) => columns.ended[rowOf(row)]),
    buoyCount: integer('buoy_count', (row) => passes.buoyCount[rowOf(row)]),
    observationCount: integer('observation_count', (row) => passes.observationCount(rowOf(row))),
    south: degrees('south'),
    west: degrees('west'),
    north: degrees('north'),
    east: degrees('east'),
  }
}

/** The virtual buoys that a pass gave readings, in the order of its flight. */
export function passLine(dataset: Dataset, pass: number): Line {
  const { passes, catalog } = dataset
  const { first, buoy, time: times } = passes.columns
  const seen = Array.from({ length: first[pass + 1] - first[pass] }, (_, i) => first[pass] + i)
    .toSorted((a, b) => times[a] - times[b])
    .map((observation) => dataset.ordinalOfId(buoy[observation]))
  const ordinals = [...new Set(seen)].filter((ordinal) => ordinal !== -1)
  return { lat: ordinals.map((i) => catalog.lat[i]), lng: ordinals.map((i) => catalog.lng[i]) }
}
