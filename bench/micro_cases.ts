/** Requests of the benches without a socket, drawn at random over all of a corpus. */
import type { View } from '../src/dataset/view.ts'
import { dateText, DAY, timestampText } from '../src/sea/time.ts'

/** A request target. */
export type Draw = (random: () => number) => string

export interface MicroCase {
  readonly name: string
  readonly draws: (view: View) => Draw
}

export const pick = <T>(random: () => number, list: ArrayLike<T>): T =>
  list[Math.floor(random() * list.length)]

/** A position within half a degree of a buoy. */
function place({ dataset }: View, random: () => number): { lat: string; lng: string } {
  const { id, lat, lng } = dataset.catalog
  const i = Math.floor(random() * id.length)
  return { lat: (lat[i] + random() - 0.5).toFixed(3), lng: (lng[i] * 0.99 + random() - 0.5).toFixed(3) }
}

function near(view: View, random: () => number): string {
  const { lat, lng } = place(view, random)
  return `lat=${lat}&lng=${lng}`
}

/** Pages of 50 of the buoys within `km` of a position. */
function listByRadius(km: number, pages: number): (view: View) => Draw {
  return (view) => (random) => {
    const { lat, lng } = place(view, random)
    return `/buoys?near=${lat},${lng}&radius=${km}&page=${1 + Math.floor(random() * pages)}`
  }
}

function newestReadings(perPage: number): (view: View) => Draw {
  return ({ dataset }) =>
    (random) =>
      `/buoys/${pick(random, dataset.catalog.id)}/readings?per_page=${perPage}`
}

/** For the corpus `world`. */
export const WORLD_CASES: readonly MicroCase[] = [
  {
    name: 'detail',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/${pick(random, dataset.catalog.id)}`,
  },
  {
    name: 'last_readings of 3',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/last_readings?ids=${[0, 0, 0].map(() => pick(random, dataset.catalog.id)).join()}`,
  },
  { name: 'list page of 50', draws: () => (random) => `/buoys?page=${1 + Math.floor(random() * 20)}` },
  { name: 'list by a radius of 500 km', draws: listByRadius(500, 1) },
  { name: 'list by the radius of the globe', draws: listByRadius(20_000, 20) },
  { name: 'nearest, limit 1', draws: (view) => (random) => `/buoys/nearest?${near(view, random)}` },
  {
    name: 'nearest, limit 20',
    draws: (view) => (random) => `/buoys/nearest?${near(view, random)}&limit=20&max_distance=2000`,
  },
  {
    name: 'search',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/search?query=${encodeURIComponent(pick(random, dataset.catalog.names).slice(0, 4).trim())}`,
  },
  { name: 'countries', draws: () => () => '/countries' },
  { name: 'map', draws: () => () => '/buoys/map' },
  {
    name: 'chart of each',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/${pick(random, dataset.catalog.id)}/readings/chart`,
  },
  { name: 'readings, newest 20 of each', draws: newestReadings(20) },
  { name: 'readings, newest 48 of each', draws: newestReadings(48) },
]

function pageOfReadings(days: number, perPage: number): (view: View) => Draw {
  return ({ dataset: { catalog, asOf } }) =>
    (random) => {
      const end = asOf - random() * (days < 100 ? 3000 * DAY : 0)
      const pages = Math.floor((days * 46) / perPage)
      return (
        `/buoys/${pick(random, catalog.id)}/readings?per_page=${perPage}&page=${1 + Math.floor(random() * pages)}` +
        `&start_date=${timestampText(end - days * DAY)}&end_date=${timestampText(end)}`
      )
    }
}

/** For the corpus `history`. */
export const HISTORY_CASES: readonly MicroCase[] = [
  { name: 'readings, 20 of 30 days', draws: pageOfReadings(30, 20) },
  { name: 'readings, 100 of 30 days', draws: pageOfReadings(30, 100) },
  { name: 'readings, 100 of 10 years', draws: pageOfReadings(3650, 100) },
  {
    name: 'readings, newest 20',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/${pick(random, dataset.catalog.id)}/readings?per_page=20`,
  },
  {
    name: 'closest reading',
    draws:
      ({ dataset: { catalog, asOf } }) =>
      (random) =>
        `/buoys/${pick(random, catalog.id)}/readings/search?date=${dateText(asOf - random() * 3000 * DAY)}&time=12:00&tolerance_hours=24`,
  },
  {
    name: 'reading by id',
    draws:
      ({ dataset: { catalog, readings } }) =>
      (random) => {
        const ordinal = Math.floor(random() * catalog.id.length)
        const position = Math.floor(random() * readings.count(ordinal))
        const buoy = catalog.id[ordinal]
        return `/buoys/${buoy}/readings/${buoy * 1e10 + readings.timeAt(ordinal, position)}`
      },
  },
  {
    name: 'chart of 10 days',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/${pick(random, dataset.catalog.id)}/readings/chart`,
  },
  {
    name: 'series, 10 seasons by day',
    draws:
      ({ dataset }) =>
      (random) =>
        `/buoys/${pick(random, dataset.catalog.id)}/readings/series?metric=significient_height`,
  },
]
