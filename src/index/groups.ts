/**
 * What lists filter on: buoys by source and country, passes by mission; each active or not. Ordinals ascend.
 */
import { NO_COUNTRY } from '../sea/columns.ts'
import { entryOf } from '../system/entry-of.ts'
import type { Steps } from '../system/steps.ts'
import { NO_COLUMNS, type PassColumns, type PassGroup, type PassIndexes } from './passes.ts'
import { lowerBound } from './bisect.ts'
import { fold } from './spelled-words.ts'

export interface Group {
  readonly all: Uint32Array
  readonly active: Uint32Array
}

export interface Groups {
  readonly everywhere: Group
  /** By `sourceKey` of any of a source's names. */
  readonly bySource: ReadonlyMap<string, Group>
  readonly byCountry: ReadonlyMap<string, Group>
}

export const EMPTY_GROUP: Group = { all: new Uint32Array(0), active: new Uint32Array(0) }

/** A source's name as compared: no case, accents, blanks, hyphens, slashes. */
export function sourceKey(name: string): string {
  return fold(name).replace(/[\p{Z}\p{Pd}\s_/]+/gu, '')
}

/** Whether an ascending list holds `ordinal`. */
export function holds(ordinals: Uint32Array, ordinal: number): boolean {
  return ordinals[lowerBound(ordinals, ordinal)] === ordinal
}

/** Columns of the catalogue; `source` and `country` are indexes into the lists. */
interface GroupColumns {
  readonly id: Uint32Array
  readonly source: Uint16Array
  readonly country: Uint16Array
  readonly sources: readonly { name: string; label: string | null; aliases: readonly string[] }[]
  readonly countries: readonly { code: string }[]
}

export function buildGroups(catalog: GroupColumns, active: Uint8Array): Groups {
  const group = (ordinals: number[]): Group => ({
    all: Uint32Array.from(ordinals),
    active: Uint32Array.from(ordinals.filter((ordinal) => active[ordinal] === 1)),
  })
  const grouped = (key: (ordinal: number) => string | null): Map<string, Group> => {
    const members = new Map<string, number[]>()
    for (let ordinal = 0; ordinal < catalog.id.length; ordinal++) {
      const name = key(ordinal)
      if (name !== null) entryOf(members, name, () => []).push(ordinal)
    }
    return new Map([...members].map(([name, ordinals]) => [name, group(ordinals)]))
  }
  const sourceKeys = catalog.sources.map(({ name }) => sourceKey(name))
  const bySource = grouped((ordinal) => sourceKeys[catalog.source[ordinal]])
  for (const [i, { label, aliases }] of catalog.sources.entries()) {
    const own = bySource.get(sourceKeys[i])
    for (const other of [label ?? '', ...aliases].map(sourceKey)) {
      // A network's own name takes precedence over another network's alias.
      if (own !== undefined && other !== '' && !bySource.has(other)) bySource.set(other, own)
    }
  }
  return {
    everywhere: group([...catalog.id.keys()]),
    bySource,
    byCountry: grouped((ordinal) => {
      const country = catalog.country[ordinal]
      return country === NO_COUNTRY ? null : catalog.countries[country].code
    }),
  }
}

/** Some 0.1 ms of work. */
const PASSES_PER_STEP = 256

/** `ordinalOf` gives −1 for unknown ids; a fresh pass has an observation since `activeSince` (epoch s). */
export function* passIndexes(
  columns: PassColumns | null,
  buoys: number,
  ordinalOf: (id: number) => number,
  activeSince: number,
): Steps<PassIndexes> {
  const { mission, first, buoy, time } = columns ?? NO_COLUMNS
  const count = mission.length
  const buoyCount = new Uint32Array(count)
  const newest = new Int32Array(buoys).fill(-1)
  const isFresh = new Uint8Array(count)
  const newestTime = new Float64Array(buoys).fill(-1)
  for (let row = 0; row < count; row++) {
    for (let o = first[row]; o < first[row + 1]; o++) {
      if (o === first[row] || buoy[o] !== buoy[o - 1]) buoyCount[row]++
      if (time[o] >= activeSince) isFresh[row] = 1
      const ordinal = ordinalOf(buoy[o])
      // At equal times the pass that began later counts: it comes first.
      if (ordinal !== -1 && time[o] > newestTime[ordinal]) {
        newestTime[ordinal] = time[o]
        newest[ordinal] = row
      }
    }
    if (row % PASSES_PER_STEP === 0) yield
  }
  const group = (rows: number[]): PassGroup => ({
    all: Uint32Array.from(rows),
    fresh: Uint32Array.from(rows.filter((row) => isFresh[row] === 1)),
  })
  const rows = [...buoyCount.keys()]
  return {
    buoyCount,
    everywhere: group(rows),
    byMission: new Map(
      [...new Set(mission)].map((index) => [index, group(rows.filter((row) => mission[row] === index))]),
    ),
    newest,
  }
}
