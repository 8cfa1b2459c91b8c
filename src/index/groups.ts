/**
 * Buoys by what lists filter on: all, by source, by country; each active or not. Names in, ascending ordinals
 * out.
 */
import { lowerBound } from './bisect.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import { fold } from './spelled-words.ts'

/** What lists filter buoys on, from the catalogue; `source` and `country` are indexes into the lists. */
interface GroupColumns {
  readonly id: Uint32Array
  readonly source: Uint16Array
  readonly country: Uint16Array
  readonly sources: readonly { name: string; label: string | null; aliases: readonly string[] }[]
  readonly countries: readonly { code: string }[]
}

export interface Group {
  readonly all: Uint32Array
  readonly active: Uint32Array
}

export interface Groups {
  readonly everywhere: Group
  /** By `sourceKey` of any of a source's names. */
  readonly bySource: ReadonlyMap<string, Group>
  /** By ISO 3166-1 alpha-2 code. */
  readonly byCountry: ReadonlyMap<string, Group>
}

export const EMPTY_GROUP: Group = { all: new Uint32Array(0), active: new Uint32Array(0) }

/**
 * A source's name as it is compared: without case, accents, blanks, hyphens and slashes (decisions, operation
 * 1).
 */
export function sourceKey(name: string): string {
  return fold(name).replace(/[\p{Z}\p{Pd}\s_/]+/gu, '')
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
      if (name === null) continue
      const list = members.get(name)
      if (list === undefined) members.set(name, [ordinal])
      else list.push(ordinal)
    }
    return new Map([...members].map(([name, ordinals]) => [name, group(ordinals)]))
  }
  const sourceKeys = catalog.sources.map(({ name }) => sourceKey(name))
  const bySource = grouped((ordinal) => sourceKeys[catalog.source[ordinal]])
  for (const [i, { label, aliases }] of catalog.sources.entries()) {
    const own = bySource.get(sourceKeys[i])
    for (const other of [label ?? '', ...aliases].map(sourceKey)) {
      // A network's own name counts before what another is also called.
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

/** Whether an ascending list holds `ordinal`. */
export function holds(ordinals: Uint32Array, ordinal: number): boolean {
  return ordinals[lowerBound(ordinals, ordinal)] === ordinal
}
