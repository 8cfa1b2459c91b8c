/**
 * The satellite missions that number passes, and the names of passes.
 *
 * A pass is half an orbit between two turning points of the latitude; odd ones ascend. Passes are numbered
 * within a cycle, after which the ground track repeats. Numbers follow from time, by the crossings of the
 * equator that the Radar Altimeter Database System publishes, though not of HaiYang-2B and 2C.
 */
import type { Language } from './languages.ts'
import missions from './missions.json' with { type: 'json' }
import { DAY } from './time.ts'

export interface OrbitPhase {
  /** Epoch seconds from when on this phase numbers passes. */
  from: number
  /** A crossing of the equator in the middle of pass `pass` of cycle `cycle`, epoch seconds. */
  equator: number
  cycle: number
  pass: number
  /** Days and passes of a cycle. */
  days: number
  passes: number
}

export interface Mission {
  /** Part of the ids of passes, 1 to 99: never changes, and is never given to another mission. */
  readonly index: number
  readonly slug: string
  /** Name of the satellite: the `platform` of its passes. */
  readonly name: string
  readonly code: string
  /** Codes in names of Copernicus Marine files and their attribute `platform`; letters and digits only. */
  readonly fileCodes: readonly string[]
  readonly agency: string
  readonly instrument: string
  readonly description: { readonly [language in Language]: string }
  /** Ascending; a phase of 0 passes ends the numbering. */
  readonly phases: readonly OrbitPhase[]
  /** Passes in a cycle of products that give begin and end of the cycle themselves. */
  readonly passesOfOwnCycle?: number
}

/** Path of the picture that a server draws. */
export function missionPicture(slug: string): string {
  return `/missions/${slug}.svg`
}

interface PassNumber {
  cycle: number
  number: number
}

const utc = (text: string): number => Date.parse(`${text}Z`) / 1000

/**
 * Missions by index, the order of the answer. SARAL's orbit sinks, so it has a reference a year; the numbers
 * of Jason-3's last orbit are not settled, so a phase of 0 passes ends them.
 */
export const MISSIONS: readonly Mission[] = missions.map(({ phases, ...mission }) => ({
  ...mission,
  phases: phases.map((phase) => ({ ...phase, from: utc(phase.from), equator: utc(phase.equator) })),
}))

/** Ids of passes have room for five digits of the cycle; the column of pass numbers has 16 bits. */
export const MAX_CYCLE = 99_999
export const MAX_PASS_NUMBER = 65_535

/** With few missions a search is as fast as a map. */
export function missionOfSlug(slug: string): Mission | undefined {
  return MISSIONS.find((mission) => mission.slug === slug)
}

export function missionOfIndex(index: number): Mission | undefined {
  return MISSIONS.find((mission) => mission.index === index)
}

/** Finds a mission by a file's name or its attribute `platform`: `s3a`, `Sentinel-3A`, `SARAL/AltiKa`. */
export function missionOfFileCode(code: string): Mission | undefined {
  const plain = code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return MISSIONS.find(({ fileCodes }) => fileCodes.includes(plain))
}

/** `begin` and `end`, given by a product, are turning points of the track, epoch seconds. */
export function ownCycle(cycle: number, begin: number, end: number, passes: number): OrbitPhase {
  const equator = begin + (end - begin) / passes / 2
  return { from: begin, equator, cycle, pass: 1, days: (end - begin) / DAY, passes }
}

/** The pass with the crossing of the equator nearest to `time` (epoch seconds); null outside the phases. */
export function passAt(phases: readonly OrbitPhase[], time: number): PassNumber | null {
  let current: OrbitPhase | null = null
  for (const candidate of phases) {
    if (candidate.from <= time) current = candidate
  }
  if (current === null || current.passes === 0) return null
  const { equator, cycle, pass, days, passes } = current
  const count = Math.round(((time - equator) * passes) / (days * DAY)) + pass - 1
  const cycles = Math.floor(count / passes)
  return { cycle: cycle + cycles, number: count - cycles * passes + 1 }
}

/** Mission's index, five digits of cycle, five of pass: below 2^53. */
export function passId(mission: number, cycle: number, number: number): number {
  return mission * 1e10 + cycle * 1e5 + number
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0')

export function externalPassId({ code }: Mission, cycle: number, number: number): string {
  return `${code}_C${pad(cycle, 3)}_P${pad(number, 4)}`
}

/** `s3a-081-517` */
export function satellitePassId({ code }: Mission, cycle: number, number: number): string {
  return `${code.toLowerCase()}-${pad(cycle, 3)}-${pad(number, 3)}`
}

export function passName({ name }: Mission, cycle: number, number: number): string {
  return `${name} cycle ${cycle} pass ${number}`
}
