/** What is asked: every operation, with parameters drawn uniformly over all of the data. */
import { Chance } from '../../test/chance.ts'
import type { Known, Operation } from '../../test/oracle/oracle.ts'
import { AS_OF, type BenchWorld } from './world.ts'

const HOUR = 3600
const DAY = 24 * HOUR
export const BASE_PATH = '/v2'

export interface Case {
  name: string
  /** The operation of the oracle that checks its answers; null where the oracle knows none. */
  operation: Operation | null
  /** Draws a path below the base path. */
  draw: (random: () => number) => string
}

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]
const iso = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
/** Three decimals, a hundred metres, as clients send them. */
const round = (degrees: number): number => Math.round(degrees * 1000) / 1000
/** The contract refuses 180.2 as a longitude. */
const onGlobe = (lng: number): number => round(((lng + 540) % 360) - 180)

export function casesOf({ buoys, times }: BenchWorld): Case[] {
  const physical = buoys.filter(({ id, record }) => !record.virtual && times.get(id)!.length > 0)
  const active = buoys.filter((buoy) => buoy.active)
  const afloat = active.filter(({ record }) => !record.virtual)
  const countries = [...new Set(active.flatMap(({ record }) => record.country ?? []))].toSorted()
  // The demonstration, which has forecasts around its own buoys, also has seasons of its own.
  const isMany = ({ record }: Known): boolean => record.source.startsWith('Scale')
  const fleet = physical.filter(isMany)
  const forecast = physical.filter((buoy) => !isMany(buoy))
  const first = fleet.reduce((least, { id }) => Math.min(least, times.get(id)![0]), AS_OF)

  const anyTime = (random: () => number, { id }: Known): number => pick(random, times.get(id)!)
  const near = (random: () => number, among: readonly Known[], degrees: number): string => {
    const { lat, lng } = pick(random, among).record
    const off = (): number => 2 * degrees * (random() - 0.5)
    return `lat=${round(lat + off())}&lng=${onGlobe(lng + off())}`
  }
  const page =
    (perPage: number) =>
    (random: () => number): string => {
      const end = AS_OF - Math.floor(random() * Math.max(0, AS_OF - first - 30 * DAY))
      const pages = Math.max(1, Math.floor((30 * 40) / perPage))
      const range = `start_date=${iso(end - 30 * DAY)}&end_date=${iso(end)}`
      return `/buoys/${pick(random, physical).id}/readings?${range}&page=${1 + Math.floor(random() * pages)}&per_page=${perPage}`
    }
  const radius =
    (km: number, pages: number) =>
    (random: () => number): string => {
      const { lat, lng } = pick(random, physical).record
      return `/buoys?near=${round(lat + random() - 0.5)},${onGlobe(lng + random() - 0.5)}&radius=${km}&page=${1 + Math.floor(random() * pages)}`
    }
  const series =
    (years: string) =>
    (random: () => number): string => {
      const metric = pick(random, ['significient_height', 'peak_period'])
      return `/buoys/${pick(random, fleet).id}/readings/series?metric=${metric}${years}`
    }
  const table: [name: string, operation: Operation | null, draw: Case['draw']][] = [
    ['detail', 'detail', (random) => `/buoys/${pick(random, buoys).id}`],
    [
      'last readings of 3',
      'last_readings',
      (random) => `/buoys/last_readings?ids=${[0, 0, 0].map(() => pick(random, buoys).id).join()}`,
    ],
    [
      'reading by id',
      'reading',
      (random) => {
        const buoy = pick(random, physical)
        return `/buoys/${buoy.id}/readings/${buoy.id * 1e10 + anyTime(random, buoy)}`
      },
    ],
    ['countries', 'countries', () => '/countries'],
    ['satellites', null, (random) => `/buoys/satellites?locale=${pick(random, ['en', 'fr'])}`],
    ['list page', 'list', (random) => `/buoys?page=${1 + Math.floor((random() * active.length) / 50)}`],
    ['country page', 'list', (random) => `/buoys?country=${pick(random, countries)}`],
    ['map', 'map', () => '/buoys/map'],
    ['nearest 1', 'nearest', (random) => `/buoys/nearest?${near(random, afloat, 0.5)}`],
    [
      'nearest 20',
      'nearest',
      (random) => `/buoys/nearest?${near(random, afloat, 0.5)}&max_distance=2000&limit=20`,
    ],
    [
      'closest reading',
      'readings_search',
      (random) => {
        const buoy = pick(random, physical)
        const time = iso(anyTime(random, buoy) + Math.floor((random() - 0.5) * 2 * HOUR))
        return `/buoys/${buoy.id}/readings/search?date=${time.slice(0, 10)}&time=${time.slice(11, 16)}&tolerance_hours=12`
      },
    ],
    [
      'passes 20',
      null,
      (random) =>
        `/buoys/satellite_passes?active_only=false&since=${iso(AS_OF - Math.floor(random() * 60 * DAY))}`,
    ],
    [
      'search',
      'search',
      (random) => {
        const { name, identifier } = pick(random, buoys).record
        return `/buoys/search?query=${encodeURIComponent(pick(random, [name.slice(0, 4).trim(), name, identifier]))}`
      },
    ],
    ['readings 20', 'readings', page(20)],
    ['readings 100', 'readings', page(100)],
    [
      'list by bounds',
      'list',
      (random) => {
        const { lat, lng } = pick(random, physical).record
        const [height, width] = [4 + 16 * random(), 4 + 26 * random()]
        const [north, south] = [round(Math.min(90, lat + height / 2)), round(Math.max(-90, lat - height / 2))]
        const box = { north, south, east: round(lng + width / 2), west: round(lng - width / 2) }
        return `/buoys?bounds=${encodeURIComponent(JSON.stringify(box))}`
      },
    ],
    ['list by radius', 'list', radius(500, 1)],
    ['list by the globe', 'list', radius(20_000, Math.max(1, Math.floor(active.length / 50)))],
    [
      'conditions',
      null,
      (random) => {
        const time = AS_OF - 20 * HOUR + Math.floor(random() * 3 * 24 * 60) * 60
        return `/conditions?${near(random, forecast, 0.1)}&time=${iso(time)}`
      },
    ],
    ['chart', 'chart', (random) => `/buoys/${pick(random, physical).id}/readings/chart`],
    ['series, default', 'series', series('')],
    ['series, 1 season', 'series', series('&start_year=2026&end_year=2026')],
  ]
  return table.map(([name, operation, draw]) => ({ name, operation, draw }))
}

/** So many paths of a case, the same for a seed. */
export function draw(one: Case, count: number, seed: number): string[] {
  const chance = new Chance(seed)
  return Array.from({ length: count }, () => one.draw(() => chance.next()))
}

/**
 * Places in a list of `count`, drawn by Zipf's law with exponent 1: a uniform number finds its rank by
 * bisection.
 */
export function zipfPlaces(count: number, drawn: number, seed: number): number[] {
  const chance = new Chance(seed)
  const sums: number[] = []
  for (let rank = 1; rank <= count; rank++) sums.push((sums.at(-1) ?? 0) + 1 / rank)
  return Array.from({ length: drawn }, () => {
    const wanted = chance.next() * sums[count - 1]
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sums[middle] <= wanted) low = middle + 1
      else high = middle
    }
    return low
  })
}
