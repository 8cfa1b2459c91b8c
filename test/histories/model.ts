/**
 * What a folder has to hold after each step of a history, worked out naively: plain maps, made anew with each
 * build, no code of the program's.
 */
import { networkOf, type Gift, type Speaker } from './world.ts'

interface PointWord {
  run: number
  by: string
}

/** What one source gave last. */
export interface Word {
  buoys: Set<string>
  points: Map<number, PointWord>
  /** Who is credited by harbour. */
  harbours: Map<string, string>
  spots: Set<number>
  /** `NUMBER BUOY TIME`, and `NUMBER` alone for the pass itself. */
  passes: Set<string>
}

/** A snapshot, and what is remembered beside it. */
export interface State extends Word {
  asOf: number
  /** In the order of the configuration. */
  words: Map<string, Word>
  /** False when the memory of who gave what was lost. */
  isKnown: boolean
  /** Times by buoy. */
  rows: Map<string, Set<number>>
}

export type Refusal = 'none read' | 'forgotten' | 'fresh' | 'no time'

function wordOf(name: string, gift: Gift): Word {
  return {
    buoys: new Set(Object.keys(gift.buoys)),
    points: new Map(gift.points.map(({ lat, run }) => [lat, { run, by: name }])),
    harbours: new Map(gift.harbours.map((harbour) => [harbour, name])),
    spots: new Set(gift.spots),
    passes: new Set(
      gift.passes.flatMap(({ number, observations }) => [
        `${number}`,
        ...observations.map(({ buoy, time }) => `${number} ${buoy} ${time}`),
      ]),
    ),
  }
}

function isEmpty({ buoys, points, harbours, spots, passes }: Word): boolean {
  return buoys.size + points.size + harbours.size + spots.size + passes.size === 0
}

/** What a build upon `base` gives, or why it must be refused. */
export function built(base: State | null, speakers: readonly Speaker[], isFresh: boolean): State | Refusal {
  const known = base?.isKnown === true ? base.words : new Map<string, Word>()
  const isSilent = ({ name, complete, gift, fails }: Speaker): boolean => {
    const last = known.get(name)
    const gaveBefore = last !== undefined && !isEmpty(last)
    return fails !== null || (isEmpty(wordOf(name, gift)) && (complete || gaveBefore))
  }
  const read = speakers.filter((speaker) => !isSilent(speaker))
  if (read.length === 0) return 'none read'
  const silent = speakers.filter(isSilent)
  if (silent.length > 0 && base?.isKnown === false) return 'forgotten'
  if (isFresh && silent.some(({ name }) => known.has(name))) return 'fresh'

  const upon = isFresh ? null : base
  const times = read.flatMap(({ gift }) => Object.values(gift.buoys).flat())
  const asOf = Math.max(upon?.asOf ?? -1, ...times)
  if (asOf < 0) return 'no time'

  const words = new Map<string, Word>()
  for (const speaker of speakers) {
    const { name, gift } = speaker
    const word = isSilent(speaker) ? known.get(name) : wordOf(name, gift)
    if (word !== undefined) words.set(name, word)
  }

  const mentioned = new Set([...words.values()].flatMap(({ buoys }) => [...buoys]))
  const buoys = new Set(mentioned)
  for (const { name, networks, complete } of read) {
    if (complete) continue
    const word = words.get(name)!
    const staying = [...(upon?.buoys ?? [])].filter(
      (key) => networks.includes(networkOf(key)) && !mentioned.has(key),
    )
    for (const key of staying) buoys.add(key)
    const before = isFresh ? [] : (known.get(name)?.buoys ?? [])
    words.set(name, { ...word, buoys: new Set([...before, ...word.buoys, ...staying]) })
  }

  const rows = new Map([...(upon?.rows ?? [])].map(([key, all]) => [key, new Set(all)]))
  for (const { gift } of read) {
    for (const [key, all] of Object.entries(gift.buoys))
      rows.set(key, new Set([...(rows.get(key) ?? []), ...all]))
  }
  const points = new Map<number, PointWord>()
  const harbours = new Map<string, string>()
  for (const word of words.values()) {
    for (const [lat, point] of word.points) {
      if (point.run > (points.get(lat)?.run ?? -1)) points.set(lat, point)
    }
    for (const [harbour, by] of word.harbours) {
      if (!harbours.has(harbour)) harbours.set(harbour, by)
    }
  }
  return {
    asOf,
    words,
    isKnown: true,
    buoys,
    rows,
    points,
    harbours,
    spots: new Set([...words.values()].flatMap(({ spots }) => [...spots])),
    passes: new Set([...words.values()].flatMap(({ passes }) => [...passes])),
  }
}

/** Everything of a state that readers see, as text that can be compared. */
export function shown(state: State): object {
  const sorted = (all: Iterable<string | number>): string[] => [...all].map(String).sort()
  return {
    asOf: state.asOf,
    buoys: sorted(state.buoys),
    rows: sorted(
      [...state.rows]
        .filter(([key, all]) => all.size > 0 && state.buoys.has(key))
        .flatMap(([key, all]) => [...all].map((time) => `${key} ${time}`)),
    ),
    points: sorted([...state.points].map(([lat, { run, by }]) => `${lat} ${run} ${by}`)),
    harbours: sorted([...state.harbours].map(([harbour, by]) => `${harbour} ${by}`)),
    spots: sorted(state.spots),
    passes: sorted(state.passes),
  }
}
