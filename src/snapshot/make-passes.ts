/** Makes the passes part of what sources know of passes, and gives it back as sources would. */
import type { PassColumns } from '../index/passes.ts'
import type { Column } from '../sea/columns.ts'
import type { Bounds } from '../sea/geo.ts'
import { missionOfIndex, missionOfSlug, passId } from '../sea/missions.ts'
import type { PassRecord } from '../sea/records.ts'
import { BuildError } from '../system/build-error.ts'
import { boundsFault, numberFault } from './check-snapshot.ts'
import { sums } from './part-columns.ts'
import { type Part } from './snapshot-format.ts'
import { entryOf } from '../system/entry-of.ts'

/** A record under its id, with ids of buoys in place of handles. */
interface Pass extends PassRecord {
  id: number
  index: number
}

/**
 * `idOf` turns a buoy's handle into its id, 0 for a buoy that is left out. With `asOf` (epoch seconds), what
 * came later is left out. Records of one pass from several sources become one.
 * @throws BuildError for a pass that no mission can have
 */
export function passesPart(
  records: readonly PassRecord[],
  idOf: (handle: number) => number,
  asOf: number | null,
): { part: Part; rows: number } {
  const byId = new Map<number, Pass[]>()
  for (const record of records) {
    const pass = identified(record, idOf, asOf ?? Infinity)
    if (pass.startedAt > (asOf ?? Infinity)) continue
    entryOf(byId, pass.id, () => []).push(pass)
  }
  const passes = [...byId.values()].map(joined).sort((a, b) => b.startedAt - a.startedAt || b.id - a.id)
  const observations = passes.flatMap((pass) => pass.observations)
  const columns: PassColumns = {
    mission: Uint8Array.from(passes, ({ index }) => index),
    cycle: Uint32Array.from(passes, ({ cycle }) => cycle),
    number: Uint16Array.from(passes, ({ number }) => number),
    started: Uint32Array.from(passes, ({ startedAt }) => startedAt),
    ended: Uint32Array.from(passes, ({ endedAt }) => endedAt),
    south: Float64Array.from(passes, ({ bounds }) => bounds.south),
    west: Float64Array.from(passes, ({ bounds }) => bounds.west),
    north: Float64Array.from(passes, ({ bounds }) => bounds.north),
    east: Float64Array.from(passes, ({ bounds }) => bounds.east),
    first: sums(passes.map((pass) => pass.observations.length)),
    buoy: Uint32Array.from(observations, ({ buoy }) => buoy),
    time: Uint32Array.from(observations, ({ time }) => time),
  }
  const part: Part = { kind: 'passes', meta: {}, columns: new Map<string, Column>(Object.entries(columns)) }
  return { part, rows: passes.length }
}

function identified(record: PassRecord, idOf: (handle: number) => number, asOf: number): Pass {
  const { mission: slug, cycle, number, startedAt, endedAt } = record
  const mission = missionOfSlug(slug)
  if (mission === undefined) throw new BuildError(`a pass is of the unknown mission ${JSON.stringify(slug)}`)
  const observations = record.observations
    .filter(({ time }) => time <= asOf)
    .map(({ buoy, time }) => ({ buoy: idOf(buoy), time }))
    .filter(({ buoy }) => buoy > 0)
  const pass = { ...record, observations, index: mission.index, id: passId(mission.index, cycle, number) }
  const fault =
    numberFault(cycle, number) ?? timeFault(startedAt, endedAt, observations) ?? boundsFault(record.bounds)
  if (fault !== null) throw new BuildError(`pass ${number} of cycle ${cycle} of ${slug}: ${fault}`)
  return pass
}

function timeFault(started: number, ended: number, observations: PassRecord['observations']): string | null {
  if (!(started <= ended)) return 'it ends before it starts'
  return observations.some(({ time }) => time < started || time > ended)
    ? 'an observation lies outside its time'
    : null
}

/** One pass out of several records, each observation once. */
function joined(parts: Pass[]): Pass {
  // A complete order: if two boxes have equal width, the first decides.
  const inOrder = parts.sort(
    (a, b) =>
      a.startedAt - b.startedAt ||
      a.endedAt - b.endedAt ||
      a.bounds.west - b.bounds.west ||
      a.bounds.east - b.bounds.east,
  )
  const observations = inOrder
    .flatMap((part) => part.observations)
    .sort((a, b) => a.buoy - b.buoy || a.time - b.time)
    .filter(({ buoy, time }, i, all) => i === 0 || all[i - 1].buoy !== buoy || all[i - 1].time !== time)
  return {
    ...inOrder[0],
    endedAt: Math.max(...inOrder.map(({ endedAt }) => endedAt)),
    bounds: inOrder.map(({ bounds }) => bounds).reduce(boundsOfBoth),
    observations,
  }
}

/** Degrees eastward from one meridian to another, 0 up to 360. */
const eastward = (from: number, to: number): number => (to - from + 720) % 360
/** Degrees that a box is wide, 0 to 360. */
const width = ({ west, east }: Bounds): number => (east >= west ? east - west : east - west + 360)

/** The smallest box that holds two boxes. */
function boundsOfBoth(a: Bounds, b: Bounds): Bounds {
  const from = (one: Bounds, other: Bounds): { west: number; east: number; span: number } => {
    const own = width(one)
    const reached = eastward(one.west, other.west) + width(other)
    return { west: one.west, east: reached > own ? other.east : one.east, span: Math.max(own, reached) }
  }
  const [first, second] = [from(a, b), from(b, a)]
  const { west, east, span } = first.span <= second.span ? first : second
  const all = span >= 360
  return {
    south: Math.min(a.south, b.south),
    west: all ? -180 : west,
    north: Math.max(a.north, b.north),
    east: all ? 180 : east,
  }
}

/** The passes of a part as a source gave them, without buoys that have an undefined handle. */
export function passRecords(passes: PassColumns, handleOf: (id: number) => number | undefined): PassRecord[] {
  const { first, buoy, time } = passes
  return Array.from(passes.mission, (mission, i) => ({
    mission: missionOfIndex(mission)?.slug ?? '',
    cycle: passes.cycle[i],
    number: passes.number[i],
    startedAt: passes.started[i],
    endedAt: passes.ended[i],
    bounds: { south: passes.south[i], west: passes.west[i], north: passes.north[i], east: passes.east[i] },
    observations: Array.from({ length: first[i + 1] - first[i] }, (_, n) => {
      const handle = handleOf(buoy[first[i] + n])
      return handle === undefined ? [] : [{ buoy: handle, time: time[first[i] + n] }]
    }).flat(),
  }))
}
