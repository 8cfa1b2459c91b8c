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
