/**
 * The passes part: satellite passes newest first, which is the order of the answer, with the observations of
 * each: the readings that it gave to virtual buoys. Counts and freshness are derived from them when the part
 * is opened, so that they cannot disagree.
 */
import type { PassColumns } from '../index/passes.ts'
import type { Bounds } from '../sea/geo.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfIndex, missionOfSlug, passId } from '../sea/missions.ts'
import { BuildError } from '../system/build-error.ts'
import type { PassRecord } from '../sea/records.ts'
import { expect, SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import type { Column } from '../sea/columns.ts'

const COLUMN_TYPES = {
  mission: Uint8Array,
  cycle: Uint32Array,
  number: Uint16Array,
  started: Uint32Array,
  ended: Uint32Array,
  south: Float64Array,
  west: Float64Array,
  north: Float64Array,
  east: Float64Array,
  first: Uint32Array,
  buoy: Uint32Array,
  time: Uint32Array,
} as const

/** A record under its id, with ids of buoys in place of handles. */
interface Pass extends PassRecord {
  id: number
  index: number
}

/**
 * Passes as a part. `idOf` turns a buoy's handle into its id, 0 for a buoy that is left out. With `asOf`
 * (epoch seconds), what came later is left out. Records of one pass from several sources become one.
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
    const same = byId.get(pass.id)
    if (same === undefined) byId.set(pass.id, [pass])
    else same.push(pass)
  }
  const passes = [...byId.values()].map(joined).sort((a, b) => b.startedAt - a.startedAt || b.id - a.id)
  const observations = passes.flatMap((pass) => pass.observations)
  const first = new Uint32Array(passes.length + 1)
  passes.forEach((pass, i) => {
    first[i + 1] = first[i] + pass.observations.length
  })
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
    first,
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

/** What is wrong with a pass's numbers, or null. */
function numberFault(cycle: number, number: number): string | null {
  if (!Number.isInteger(cycle) || cycle < 0 || cycle > MAX_CYCLE)
    return `cycle is not a whole number from 0 to ${MAX_CYCLE}`
  if (!Number.isInteger(number) || number < 1 || number > MAX_PASS_NUMBER)
    return `number is not a whole number from 1 to ${MAX_PASS_NUMBER}`
  return null
}

function timeFault(started: number, ended: number, observations: PassRecord['observations']): string | null {
  if (!(started <= ended)) return 'it ends before it starts'
  return observations.some(({ time }) => time < started || time > ended)
    ? 'an observation lies outside its time'
    : null
}

/** What is wrong with a box, or null. */
function boundsFault({ south, west, north, east }: Bounds): string | null {
  const onGlobe =
    south >= -90 && south <= north && north <= 90 && Math.abs(west) <= 180 && Math.abs(east) <= 180
  return onGlobe ? null : 'its bounds are not a box of the globe'
}

/** One pass out of several records of it, each observation once. */
function joined(parts: Pass[]): Pass {
  // A complete order: of two boxes of equal width the first decides.
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

/** @throws SnapshotError when a column is missing or of another type, or lengths disagree. */
export function readPasses(part: Part, file: string): PassColumns {
  const columns: { [name: string]: Column } = {}
  for (const [name, ColumnArray] of Object.entries(COLUMN_TYPES)) {
    const column = part.columns.get(name)
    if (!(column instanceof ColumnArray)) throw new SnapshotError(`${file}: has no column ${name}`)
    columns[name] = column
  }
  const passes = columns as unknown as PassColumns
  const { first, buoy, time, mission } = passes
  const rows = mission.length
  for (const name of ['cycle', 'number', 'started', 'ended', 'south', 'west', 'north', 'east'] as const) {
    if (passes[name].length !== rows) throw new SnapshotError(`${file}: its columns differ in length`)
  }
  if (
    first.length !== rows + 1 ||
    first[0] !== 0 ||
    first[rows] !== buoy.length ||
    buoy.length !== time.length
  )
    throw new SnapshotError(`${file}: passes and observations disagree`)
  return passes
}

/**
 * The passes of a part as a source gave them. `handleOf` turns an id into a handle; observations of a buoy
 * for which it returns undefined are left out.
 */
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

/** What must hold of a passes part. @throws SnapshotError saying what does not */
export function checkPasses(passes: PassColumns, { file, rows }: PartEntry): void {
  const { mission, cycle, number, started, ended, south, west, north, east, first, buoy, time } = passes
  expect(mission.length === rows, file, `it has ${mission.length} rows, the manifest says ${rows}`)
  const ids = new Set<number>()
  let previous = Infinity
  for (let i = 0; i < rows; i++) {
    expect(
      missionOfIndex(mission[i]) !== undefined,
      file,
      'a pass is of a mission that this program does not know',
    )
    expect(numberFault(cycle[i], number[i]) === null, file, 'a pass has impossible numbers')
    const id = passId(mission[i], cycle[i], number[i])
    ids.add(id)
    expect(
      i === 0 || started[i] < started[i - 1] || (started[i] === started[i - 1] && id < previous),
      file,
      'its passes are not newest first',
    )
    previous = id
    const box = { south: south[i], west: west[i], north: north[i], east: east[i] }
    expect(
      started[i] <= ended[i] && boundsFault(box) === null,
      file,
      'a pass has an impossible time or position',
    )
    expect(first[i] <= first[i + 1] && first[i + 1] <= buoy.length, file, 'passes and observations disagree')
    for (let o = first[i]; o < first[i + 1]; o++) {
      const ascends =
        o === first[i] || buoy[o] > buoy[o - 1] || (buoy[o] === buoy[o - 1] && time[o] > time[o - 1])
      expect(ascends && buoy[o] >= 1, file, 'the observations of a pass do not ascend')
      expect(time[o] >= started[i] && time[o] <= ended[i], file, 'an observation lies outside its pass')
    }
  }
  expect(ids.size === rows, file, 'a pass occurs twice')
}
