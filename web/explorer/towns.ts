/** Coastal towns, for the names on the map and the search of places. */
import type { Position } from './view.ts'

export interface Town extends Position {
  name: string
  /** ISO 3166-1 alpha-2 code. */
  country: string
  /** The whole part of log2(population / 1000). */
  rank: number
}

type Packed = [country: string, ...towns: [name: string, lat: number, lng: number, rank: number][]][]

let towns: Promise<Town[]> | null = null

/** The towns, which are loaded once. @throws Error when they cannot be loaded; the next call tries again */
export function loadTowns(address: string): Promise<Town[]> {
  towns ??= load(address).catch((error: unknown) => {
    towns = null
    throw error
  })
  return towns
}

async function load(address: string): Promise<Town[]> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the towns cannot be loaded: ${answer.status}`)
  return ((await answer.json()) as Packed).flatMap(([country, ...some]) =>
    // Hundredths of a degree.
    some.map(([name, lat, lng, rank]) => ({ name, country, lat: lat / 100, lng: lng / 100, rank })),
  )
}

/** Letters that are not another one with a mark, as people write them who do not have them. */
const LETTERS = new Map(
  'æae œoe øo ßss đd ðd þth łl ıi'.split(' ').map(([letter, ...plain]) => [letter, plain.join('')]),
)

/** Words without marks and in small letters, each after a space; a saint is written in full. */
const wordsOf = (text: string): string =>
  ` ${text.toLowerCase().normalize('NFD')}`
    .replaceAll(/\p{M}|['’]/gu, '')
    .replaceAll(/\p{L}/gu, (letter) => LETTERS.get(letter) ?? letter)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .replaceAll(/ ste? /g, ' saint ')

/**
 * At most `most` towns with words that begin as the text does; the closest names first, then the largest towns.
 * Of several in a country that have the same name it is the largest.
 */
export function townsNamed(towns: readonly Town[], text: string, most: number): Town[] {
  const words = wordsOf(text).trimEnd()
  const found = towns.flatMap((town) => {
    const name = wordsOf(town.name)
    const at = words === '' ? -1 : name.indexOf(words)
    return at === -1 ? [] : [{ town, far: name.trimEnd() === words ? -1 : at }]
  })
  const largest = new Map<string, Town>()
  for (const { town } of found.toSorted(
    (a, b) => Math.sign(a.far) - Math.sign(b.far) || b.town.rank - a.town.rank,
  )) {
    const name = `${town.country} ${town.name}`
    if (!largest.has(name)) largest.set(name, town)
  }
  return [...largest.values()].slice(0, most)
}
