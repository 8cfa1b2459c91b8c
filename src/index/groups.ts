/** Buoys by what lists filter on: all, by source, by country; each active or not. Names in, ascending ordinals out. */
import { NO_COUNTRY, type Catalog } from '../snapshot/catalog.ts'

export interface Group {
  readonly all: Uint32Array
  readonly active: Uint32Array
}

export interface Groups {
  readonly everywhere: Group
  /** By the source's folded name. */
  readonly bySource: ReadonlyMap<string, Group>
  /** By ISO 3166-1 alpha-2 code. */
  readonly byCountry: ReadonlyMap<string, Group>
}

export const EMPTY_GROUP: Group = { all: new Uint32Array(0), active: new Uint32Array(0) }

/** `fold` makes names comparable without case and accents. */
export function buildGroups(catalog: Catalog, active: Uint8Array, fold: (name: string) => string): Groups {
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
  const sourceNames = catalog.sources.map(({ name }) => fold(name))
  return {
    everywhere: group([...catalog.id.keys()]),
    bySource: grouped((ordinal) => sourceNames[catalog.source[ordinal]]),
    byCountry: grouped((ordinal) => {
      const country = catalog.country[ordinal]
      return country === NO_COUNTRY ? null : catalog.countries[country].code
    }),
  }
}

/** Whether an ascending list holds `ordinal`. */
export function holds(ordinals: Uint32Array, ordinal: number): boolean {
  let low = 0
  let high = ordinals.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordinals[middle] < ordinal) low = middle + 1
    else high = middle
  }
  return ordinals[low] === ordinal
}
