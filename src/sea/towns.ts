/**
 * Coastal towns, a part of GeoNames (https://www.geonames.org/, CC BY 4.0), which `tools/basemap/towns.mjs`
 * chooses.
 */
import { readFileSync } from 'node:fs'

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

/** All of them: 5,800, in 2 MB. A thread reads them at its first request for a place. */
export function readTowns(): Town[] {
  const packed = JSON.parse(readFileSync(new URL('towns.json', import.meta.url), 'utf8')) as Packed[]
  return packed.flatMap(([country, ...some]) =>
    some.map(([name, lat, lng, rank, region]) => {
      return { name, region, country, lat: lat / 100, lng: lng / 100, rank }
    }),
  )
}
