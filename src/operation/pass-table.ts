/** Satellite passes as columns, under their names on the wire (contract, "Satellite pass"). */
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

/** `rowOf`: the pass that a row of the table is about. */
export function passColumns({ passes }: Dataset, rowOf: (row: number) => number) {
  const { columns } = passes
  const text = (name: string, of: (mission: Mission, cycle: number, number: number) => string): Column => ({
    kind: 'text',
    name,
    unit: '',
    text(row) {
      const pass = rowOf(row)
      return of(missionOfIndex(columns.mission[pass])!, columns.cycle[pass], columns.number[pass])
    },
  })
  const integer = (name: string, value: (pass: number) => number): Column => ({
    kind: 'integer',
    name,
    unit: '',
    value: (row) => value(rowOf(row)),
  })
  const degrees = (name: 'south' | 'west' | 'north' | 'east'): Column => ({
    kind: 'number',
    name: `bounds.${name}`,
    unit: 'degree',
    value: (row) => columns[name][rowOf(row)],
  })
  const time = (name: string, times: Uint32Array): Column => ({
    kind: 'time',
    name,
    unit: 'UTC',
    epoch: (row) => times[rowOf(row)],
  })
  return {
    id: integer('id', (pass) =>
      passId(missionOfIndex(columns.mission[pass])!.index, columns.cycle[pass], columns.number[pass]),
    ),
    name: text('name', passName),
    externalId: text('external_id', externalPassId),
    satellitePassId: text('satellite_pass_id', satellitePassId),
    platform: text('platform', ({ name }) => name),
    missionSlug: text('mission.slug', ({ slug }) => slug),
    missionName: text('mission.name', ({ name }) => name),
    startedAt: time('started_at', columns.started),
    endedAt: time('ended_at', columns.ended),
    buoyCount: integer('buoy_count', (pass) => passes.buoyCount[pass]),
    observationCount: integer('observation_count', (pass) => passes.observationCount(pass)),
    south: degrees('south'),
    west: degrees('west'),
    north: degrees('north'),
    east: degrees('east'),
  }
}

/** The virtual buoys that a pass gave readings, in the order of its flight. */
export function passLine(dataset: Dataset, pass: number): Line {
  const { passes, catalog } = dataset
  const { first, buoy, time } = passes.columns
  const seen = Array.from({ length: first[pass + 1] - first[pass] }, (_, i) => first[pass] + i)
    .toSorted((a, b) => time[a] - time[b])
    .map((observation) => dataset.ordinalOfId(buoy[observation]))
  const ordinals = [...new Set(seen)].filter((ordinal) => ordinal !== -1)
  return { lat: ordinals.map((i) => catalog.lat[i]), lng: ordinals.map((i) => catalog.lng[i]) }
}
