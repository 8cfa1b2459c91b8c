/**
 * Places by a name, with the region or country after it if need be: `santa monica california`, `sydney au`;
 * and coastal towns, a part of GeoNames (https://www.geonames.org/, CC BY 4.0), which
 * `tools/basemap/towns.mjs` chooses.
 */
import { readFileSync } from 'node:fs'
import { fold, signOf, wordsIn } from './spelled-words.ts'

export interface Named {
  readonly name: string
  /** Region and country of the place, as people write them. */
  readonly within: string
  /** Larger places come first. */
  readonly rank: number
}

const wordsOf = (text: string): string =>
  wordsIn(fold(text))
    .map((word) => ` ${signOf(word)}`)
    .join('')

export class Places {
  /** Texts with a space before each word. */
  readonly #places: readonly Named[]

  constructor(places: readonly Named[]) {
    this.#places = places.map(({ name, within, rank }) => {
      return { name: wordsOf(name), within: wordsOf(within), rank }
    })
  }

  /**
   * Indexes of at most `most` places, first whole names, then the larger ones. The text is the beginning
   * of words of the name, and after them of words of its region or country.
   */
  find(text: string, most: number): { index: number; isWhole: boolean }[] {
    const words = wordsOf(text).split(' ').slice(1)
    const names = words.map((_, i) => ` ${words.slice(0, i + 1).join(' ')}`)
    const found = this.#places.flatMap(({ name, within, rank }, index) => {
      if (names.length === 0 || !name.includes(names[0])) return []
      const isWithin = (i: number): boolean => words.slice(i + 1).every((word) => within.includes(` ${word}`))
      const last = names.findLastIndex((begin, i) => name.includes(begin) && isWithin(i))
      return last === -1 ? [] : [{ index, rank, isWhole: name === names[last] }]
    })
    return found
      .sort((a, b) => Number(b.isWhole) - Number(a.isWhole) || b.rank - a.rank || a.index - b.index)
      .slice(0, most)
  }
}

export interface Town {
  readonly name: string
  /** State, province or region; '' where it is not known. */
  readonly region: string
  /** ISO 3166-1 alpha-2 code. */
  readonly country: string
  readonly lat: number
  readonly lng: number
  /** The whole part of log2(population / 1000). */
  readonly rank: number
}

/** Positions in hundredths of a degree. */
type Packed = [
  country: string,
  ...towns: [name: string, lat: number, lng: number, rank: number, region: string][],
]

/** All 5,800 towns, in 2 MB. A thread reads them at its first request for a place. */
export function readTowns(): Town[] {
  const packed = JSON.parse(readFileSync(new URL('../sea/towns.json', import.meta.url), 'utf8')) as Packed[]
  return packed.flatMap(([country, ...some]) =>
    some.map(([name, lat, lng, rank, region]) => {
      return { name, region, country, lat: lat / 100, lng: lng / 100, rank }
    }),
  )
}
