/**
 * What is asked: every operation in the variants that have a bar, with parameters drawn uniformly over all of
 * the data.
 */
import type { Operation } from '../../test/oracle/oracle.ts'
import { AS_OF, type BenchBuoy, type BenchData, type ScaleName } from './data.ts'

const HOUR = 3600
const DAY = 24 * HOUR
export const BASE_PATH = '/v2'

export type PeerName = 'fastify' | 'postgis' | 'redis' | 'nginx' | 'varnish'

export interface Case {
  name: string
  /** Who checks its answers: an operation of the oracle, or a check of its own. */
  operation: Operation | 'satellites' | 'satellite_passes' | 'conditions'
  /** Least share of the ceiling, cold; null where the bar is another one. */
  bar: number | null
  /** Has bars for 16 requests sent together, too. */
  pipelined?: true
  /** Peers that answer it, and the least ratio to each, cold; null without a bar. */
  peers: { [peer in PeerName]?: number | null }
  /** Draws a path below the base path. */
  draw: (random: () => number) => string
}

/** Least shares of the ceiling beside those of the cases. */
export const HOT_BAR = 0.93
export const PIPELINED_BARS = { cold: 0.45, hot: 0.6 }

const POINT = { fastify: 4, postgis: 40 }
/** Data of ten years and more. */
const SEASONED: ReadonlySet<ScaleName> = new Set(['big', 'long'])

const PAGE = { fastify: 6, postgis: 40 }

export function casesOf(data: BenchData): Case[] {
  const physical = data.buoys.filter(({ record, times }) => !record.virtual && times.length > 0)
  const active = data.buoys.filter(({ newest }) => newest !== null && newest.time >= AS_OF - DAY)
  const countries = [...new Set(active.flatMap(({ record }) => record.country ?? []))].toSorted()
  const missions = [...new Set(data.passes.map(({ mission }) => mission))].toSorted()
  const firstPass = Math.min(...data.passes.map(({ startedAt }) => startedAt))
  const hasSeasons = SEASONED.has(data.scale)
  const history = AS_OF - Math.min(...physical.map(({ times }) => times[0]))

  const window =
    (perPage: number) =>
    (random: () => number): string => {
      const buoy = pick(random, physical)
      const end = AS_OF - Math.floor(random() * (history - 30 * DAY))
      const pages = Math.max(1, Math.floor((30 * 40) / perPage))
      return (
        `/buoys/${buoy.id}/readings?start_date=${iso(end - 30 * DAY)}&end_date=${iso(end)}` +
        `&page=${1 + Math.floor(random() * pages)}&per_page=${perPage}`
      )
    }
  return [
    {
      name: 'detail',
      operation: 'detail',
      bar: 0.9,
      pipelined: true,
      peers: { ...POINT, nginx: 1.1, varnish: null },
      draw: (random) => `/buoys/${pick(random, data.buoys).id}`,
    },
    {
      name: 'last_readings of 3',
      operation: 'last_readings',
      bar: 0.85,
      pipelined: true,
      peers: { ...POINT, nginx: 0.95 },
      draw: (random) => `/buoys/last_readings?ids=${[0, 0, 0].map(() => pick(random, data.buoys).id).join()}`,
    },
    {
      name: 'reading by id',
      operation: 'reading',
      bar: 0.85,
      pipelined: true,
      peers: POINT,
      draw: (random) => {
        const buoy = pick(random, physical)
        return `/buoys/${buoy.id}/readings/${buoy.id * 1e10 + anyTime(random, buoy)}`
      },
    },
    { name: 'countries', operation: 'countries', bar: 0.9, peers: POINT, draw: () => '/countries' },
    {
      name: 'satellites',
      operation: 'satellites',
      bar: 0.9,
      peers: {},
      draw: (random) => `/buoys/satellites?locale=${pick(random, ['en', 'fr'])}`,
    },
    {
      name: 'list page of 50',
      operation: 'list',
      bar: 0.9,
      peers: { ...PAGE, varnish: null },
      draw: (random) => `/buoys?page=${1 + Math.floor(random() * Math.floor(active.length / 50))}`,
    },
    {
      name: 'country page',
      operation: 'list',
      bar: 0.9,
      peers: PAGE,
      draw: (random) => `/buoys?country=${pick(random, countries)}`,
    },
    { name: 'map', operation: 'map', bar: 0.9, peers: PAGE, draw: () => '/buoys/map' },
    {
      name: 'nearest 1',
      operation: 'nearest',
      bar: 0.85,
      peers: { ...POINT, redis: 2 },
      draw: (random) => `/buoys/nearest?${placeNear(random, physical, 0.5)}`,
    },
    {
      name: 'nearest 20',
      operation: 'nearest',
      bar: 0.7,
      peers: { ...POINT, redis: 2 },
      draw: (random) => `/buoys/nearest?${placeNear(random, physical, 0.5)}&max_distance=2000&limit=20`,
    },
    {
      name: 'closest reading',
      operation: 'readings_search',
      bar: 0.75,
      peers: POINT,
      draw: (random) => {
        const buoy = pick(random, physical)
        // Within the tolerance of a reading that is there.
        const time = iso(anyTime(random, buoy) + Math.floor((random() - 0.5) * 2 * HOUR))
        return `/buoys/${buoy.id}/readings/search?date=${time.slice(0, 10)}&time=${time.slice(11, 16)}&tolerance_hours=12`
      },
    },
    {
      name: 'passes 20',
      operation: 'satellite_passes',
      bar: 0.75,
      peers: {},
      draw: (random) => {
        const since = iso(firstPass + Math.floor((random() * (AS_OF - firstPass)) / 2))
        const mission = random() < 0.5 ? '' : `&mission=${pick(random, missions)}`
        return `/buoys/satellite_passes?active_only=false&since=${since}${mission}`
      },
    },
    {
      name: 'search',
      operation: 'search',
      bar: 0.65,
      peers: POINT,
      draw: (random) => {
        const { name, identifier } = pick(random, data.buoys).record
        const text = [name.slice(0, 4).trim(), name, identifier][Math.floor(random() * 3)]
        return `/buoys/search?query=${encodeURIComponent(text)}`
      },
    },
    { name: 'readings 20', operation: 'readings', bar: 0.65, peers: PAGE, draw: window(20) },
    { name: 'readings 100', operation: 'readings', bar: 0.65, peers: PAGE, draw: window(100) },
    {
      name: 'list by bounds, 50',
      operation: 'list',
      bar: 0.6,
      peers: PAGE,
      draw: (random) => {
        const { lat, lng } = pick(random, physical).record
        const [height, width] = [4 + 16 * random(), 4 + 26 * random()]
        const box = {
          north: round(Math.min(90, lat + height / 2)),
          south: round(Math.max(-90, lat - height / 2)),
          east: round(lng + width / 2),
          west: round(lng - width / 2),
        }
        return `/buoys?bounds=${encodeURIComponent(JSON.stringify(box))}`
      },
    },
    {
      name: 'list by radius, 50',
      operation: 'list',
      bar: 0.6,
      peers: PAGE,
      draw: (random) => {
        const { lat, lng } = pick(random, physical).record
        return `/buoys?near=${round(lat + random() - 0.5)},${onGlobe(lng + random() - 0.5)}&radius=${300 + Math.floor(1200 * random())}`
      },
    },
    {
      name: 'list by the globe, 50',
      operation: 'list',
      bar: 0.6,
      peers: PAGE,
      draw: (random) => {
        const { lat, lng } = pick(random, physical).record
        const pages = Math.max(1, Math.floor(active.length / 50))
        return `/buoys?near=${round(lat + random() - 0.5)},${onGlobe(lng + random() - 0.5)}&radius=20000&page=${1 + Math.floor(random() * pages)}`
      },
    },
    {
      name: 'conditions',
      operation: 'conditions',
      bar: 0.72,
      peers: {},
      draw: (random) => {
        const { lat, lng } = pick(random, data.forecasts)
        const time = AS_OF - 20 * HOUR + Math.floor(random() * 6 * 24 * 60) * 60
        return `/conditions?lat=${round(lat + 0.2 * (random() - 0.5))}&lng=${onGlobe(lng + 0.2 * (random() - 0.5))}&time=${iso(time)}`
      },
    },
    {
      name: 'chart',
      operation: 'chart',
      bar: 0.62,
      peers: {},
      draw: (random) => `/buoys/${pick(random, physical).id}/readings/chart`,
    },
    {
      name: hasSeasons ? 'series, 10 seasons' : 'series, 1 season',
      operation: 'series',
      bar: hasSeasons ? 0.6 : null,
      peers: {},
      draw: (random) => {
        // The ten last complete seasons of ninety days of data would be empty.
        const years = hasSeasons ? '' : '&start_year=2026&end_year=2026'
        // What every buoy of the fleet measures.
        const metric = pick(random, ['significient_height', 'peak_period'])
        return `/buoys/${pick(random, physical).id}/readings/series?metric=${metric}${years}`
      },
    },
  ]
}

function pick<T>(random: () => number, list: ArrayLike<T>): T {
  return list[Math.floor(random() * list.length)]
}

const anyTime = (random: () => number, { times }: BenchBuoy): number => pick(random, times)

const iso = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

/** Three decimals, a hundred metres, as clients send them. */
const round = (degrees: number): number => Math.round(degrees * 1000) / 1000

/** The contract refuses 180.2 as a longitude. */
const onGlobe = (lng: number): number => round(((lng + 540) % 360) - 180)

function placeNear(random: () => number, buoys: readonly BenchBuoy[], degrees: number): string {
  const { lat, lng } = pick(random, buoys).record
  const off = (): number => 2 * degrees * (random() - 0.5)
  return `lat=${round(lat + off())}&lng=${onGlobe(lng + off())}`
}
