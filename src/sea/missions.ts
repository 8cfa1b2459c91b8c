/**
 * The satellite missions with passes that we know how to number, and the names of passes (contract,
 * "Satellite mission").
 *
 * A pass is half an orbit, from one turning point of the latitude to the other. Passes are numbered from 1
 * within a cycle, the time after which the ground track repeats; odd ones ascend. Both numbers follow from
 * time alone, with the reference crossings of the equator that the Radar Altimeter Database System publishes
 * for each phase of a mission. HaiYang-2B and 2C are not here, because no confirmed reference of theirs is
 * public: a filter under which no pass can ever be found would mislead.
 */
import type { Language } from './languages.ts'
import missions from './missions.json' with { type: 'json' }
import { DAY } from './time.ts'

/** A stretch of a mission's life in one orbit. */
export interface OrbitPhase {
  /** Epoch seconds from when on passes are numbered by this phase; until the next one begins. */
  from: number
  /** A crossing of the equator, epoch seconds, in the middle of the pass `pass` of cycle `cycle`. */
  equator: number
  cycle: number
  pass: number
  /** Length of a cycle in days, and its passes. */
  days: number
  passes: number
}

export interface Mission {
  /** Part of the ids of passes: never changes and is never given to another mission. 1 to 99. */
  readonly index: number
  readonly slug: string
  /** The mission's name, which is also the `platform` of its passes. */
  readonly name: string
  /** How names of passes begin: `S3A_C081_P0517`. */
  readonly code: string
  /**
   * The mission in names of Copernicus Marine files, and in their attribute `platform` (letters and digits
   * only).
   */
  readonly fileCodes: readonly string[]
  readonly agency: string
  readonly instrument: string
  readonly description: { readonly [language in Language]: string }
  /** Ascending; a phase of 0 passes ends the numbering. */
  readonly phases: readonly OrbitPhase[]
  /**
   * Passes in a cycle, where products give begin and end of their cycle themselves, without a reference.
   */
  readonly passesOfOwnCycle?: number
}

/** Addresses of the pictures that a server draws itself, as paths from its root; `{slug}` is the mission. */
export const DRAWN_PICTURES = '/missions/{slug}.svg'

/** The address of the picture of a mission. */
export function missionPicture(slug: string, pictures = DRAWN_PICTURES): string {
  return pictures.replaceAll('{slug}', slug)
}

interface PassNumber {
  cycle: number
  /** From 1; odd passes ascend. */
  number: number
}

const utc = (text: string): number => Date.parse(`${text}Z`) / 1000

/**
 * By index, which is the order of the answer. SARAL's drifting orbit sinks, so its repeat shortens: a reference a
 * year keeps the numbers right. The numbers of Jason-3's last, geodetic orbit are still being settled, so a phase of
 * 0 passes ends them.
 */
export const MISSIONS: readonly Mission[] = missions.map(({ phases, ...mission }) => ({
  ...mission,
  phases: phases.map((phase) => ({ ...phase, from: utc(phase.from), equator: utc(phase.equator) })),
}))

/** Cycles and passes take five digits each in a pass's id. */
export const MAX_CYCLE = 99_999
export const MAX_PASS_NUMBER = 65_535

const BY_SLUG = new Map(MISSIONS.map((mission) => [mission.slug, mission]))
const BY_INDEX = new Map(MISSIONS.map((mission) => [mission.index, mission]))
const BY_FILE_CODE = new Map(
  MISSIONS.flatMap((mission) => mission.fileCodes.map((code) => [code, mission] as const)),
)

export function missionOfSlug(slug: string): Mission | undefined {
  return BY_SLUG.get(slug)
}

export function missionOfIndex(index: number): Mission | undefined {
  return BY_INDEX.get(index)
}

/** The mission that a file's name or its attribute `platform` tells: `s3a`, `Sentinel-3A`, `SARAL/AltiKa`. */
export function missionOfFileCode(code: string): Mission | undefined {
  return BY_FILE_CODE.get(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}

/** A cycle as a product describes it: `begin` and `end` are turning points of its track, in epoch seconds. */
export function ownCycle(cycle: number, begin: number, end: number, passes: number): OrbitPhase {
  const equator = begin + (end - begin) / passes / 2
  return { from: begin, equator, cycle, pass: 1, days: (end - begin) / DAY, passes }
}

/**
 * The pass in which a satellite is at `time` (epoch seconds), or null where its phases do not cover the time.
 * Rounding to the nearest crossing of the equator makes every point of a half orbit fall in one pass, with a
 * quarter of an orbit to spare on both sides.
 */
export function passAt(phases: readonly OrbitPhase[], time: number): PassNumber | null {
  let current: OrbitPhase | null = null
  for (const candidate of phases) if (candidate.from <= time) current = candidate
  if (current === null || current.passes === 0) return null
  const { equator, cycle, pass, days, passes } = current
  const count = Math.round(((time - equator) * passes) / (days * DAY)) + pass - 1
  const cycles = Math.floor(count / passes)
  return { cycle: cycle + cycles, number: count - cycles * passes + 1 }
}

/** A pass's integer id: the mission's index, five digits of cycle, five of pass; below 2^53. */
export function passId(mission: number, cycle: number, number: number): number {
  return mission * 1e10 + cycle * 1e5 + number
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

/** `S3A_C081_P0517` */
export function externalPassId({ code }: Mission, cycle: number, number: number): string {
  return `${code}_C${pad(cycle, 3)}_P${pad(number, 4)}`
}

/** `s3a-081-517` */
export function satellitePassId({ code }: Mission, cycle: number, number: number): string {
  return `${code.toLowerCase()}-${pad(cycle, 3)}-${pad(number, 3)}`
}

/** `Sentinel-3A cycle 81 pass 517` */
export function passName({ name }: Mission, cycle: number, number: number): string {
  return `${name} cycle ${cycle} pass ${number}`
}
