/**
 * A made-up world for histories: what its sources give is plain data, every value of it follows from what it
 * belongs to, so that a value under another buoy's name shows.
 */
import { createHash } from 'node:crypto'
import { type Source } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { BuoyRecord, Network } from '../../src/sea/records.ts'
import { batchOf } from '../builder/fake_source.ts'
import type { Chance } from '../chance.ts'

export const START = Date.UTC(2026, 1, 27) / 1000
export const HALF_HOUR = 1800

export const NETWORKS: { readonly [name: string]: Network } = {
  North: 'national',
  South: 'coastal',
  Sky: 'satellite',
}

/** Buoys as `NETWORK/IDENTIFIER`, with names that ask something of slugs. */
export const BUOYS: { readonly [key: string]: string } = {
  'North/A': 'Le Four',
  'North/B': 'le four',
  'North/C': '7',
  'North/D': 'Map',
  'North/E': 'Delta',
  'North/F': '2',
  'South/A': 'Le Four',
  'South/B': '東京',
  'South/C': '7',
  'South/D': 'Delta 2',
  'Sky/V': 'Far point',
  'Sky/W': '3',
}

export const networkOf = (key: string): string => key.split('/')[0]

/** What a source gives. */
export interface Gift {
  /** Times of the readings by buoy. */
  buoys: { [key: string]: number[] }
  points: { lat: number; run: number }[]
  harbours: string[]
  spots: number[]
  passes: { number: number; observations: { buoy: string; time: number }[] }[]
}

/** A source of the configuration in one build. */
export interface Speaker {
  name: string
  networks: string[]
  /** False for a feed of who reported lately. */
  complete: boolean
  gift: Gift
  /** It fails: before it has given anything, or after all of it. */
  fails: 'before' | 'after' | null
}

/** Height of the wave that a buoy measures at a time, in mm. */
export function heightAt(key: string, time: number): number {
  return 100 + (createHash('sha256').update(`${key} ${time}`).digest().readUInt32LE(0) % 20_000)
}

/** Height of the waves that a source forecasts, in metres. */
const forecastOf = (speaker: string): number => Number(speaker.slice(1))

function recordOf(key: string): BuoyRecord {
  const network = networkOf(key)
  return {
    source: network,
    identifier: key.slice(network.length + 1),
    name: BUOYS[key],
    lat: Object.keys(BUOYS).indexOf(key),
    lng: -3,
    country: 'FR',
    timezone: 'Europe/Paris',
    ...(network === 'Sky' && { virtual: true }),
  }
}

export function sourceOf({ name, networks, complete, gift, fails }: Speaker): Source {
  return {
    complete,
    terms: { name, info: {}, accepts: () => true },
    async read(sink) {
      await Promise.resolve()
      if (fails === 'before') throw new BuildError(`${name} is away`)
      for (const network of networks) sink.source({ name: network, network: NETWORKS[network] })
      const handles = new Map<string, number>()
      for (const [key, times] of Object.entries(gift.buoys)) {
        const handle = sink.buoy(recordOf(key))
        handles.set(key, handle)
        if (times.length === 0) continue
        sink.rows(handle, batchOf(times.map((time) => ({ time, significantHeight: heightAt(key, time) }))))
      }
      for (const { lat, run } of gift.points) {
        const runAt = START + run * 3600
        sink.forecast({ lat, lng: 10, runAt, times: [runAt], values: { waveHeight: [forecastOf(name)] } })
      }
      for (const identifier of gift.harbours) {
        const constituents = [{ name: 'M2', amplitude: 1.25, phase: 90 }]
        const place = { name: identifier, lat: 45, lng: 0, datumOffset: 2 }
        sink.harbour({ identifier, ...place, credit: name, constituents })
      }
      for (const id of gift.spots) sink.spot({ id, name: `spot ${id}`, lat: 1, lng: 1 })
      for (const { number, observations } of gift.passes) {
        sink.pass({
          mission: 'sentinel-3a',
          cycle: 80,
          number,
          startedAt: START - 60 * number,
          endedAt: START + 365 * 86_400,
          bounds: { south: -10, west: -10, north: 10, east: 10 },
          observations: observations.map(({ buoy, time }) => ({ buoy: handles.get(buoy)!, time })),
        })
      }
      if (fails === 'after') throw new BuildError(`${name} is garbled`)
    },
  }
}

const KINDS: { name: string; networks: string[]; complete: boolean }[] = [
  { name: 's1', networks: ['North'], complete: true },
  { name: 's2', networks: ['North', 'South'], complete: true },
  { name: 's3', networks: ['South', 'Sky'], complete: true },
  { name: 's4', networks: ['North', 'Sky'], complete: false },
]

export const SPEAKERS = KINDS.map(({ name }) => name)

const NOTHING: Gift = { buoys: {}, points: [], harbours: [], spots: [], passes: [] }

/** What the sources of these names say in the build of a step. */
export function speakersAt(chance: Chance, names: readonly string[], step: number): Speaker[] {
  return KINDS.filter(({ name }) => names.includes(name)).map((kind, place) => {
    const now = START + step * HALF_HOUR
    const keys = chance.some(
      Object.keys(BUOYS).filter((key) => kind.networks.includes(networkOf(key))),
      55,
    )
    const virtual = keys.filter((key) => networkOf(key) === 'Sky')
    // Over the end of a month, and now and then something old.
    const times = (): number[] => chance.some([now - 3 * 86_400, now - HALF_HOUR, now], 60)
    return {
      ...kind,
      gift: chance.percent(5)
        ? NOTHING
        : {
            buoys: Object.fromEntries(keys.map((key) => [key, times()])),
            points: chance.some([10, 20, 30], 40).map((lat) => ({ lat, run: chance.below(4) })),
            harbours: chance.some(['g', 'h', 'i'], 40),
            spots: chance.some([1, 2].map((n) => Number(kind.name.slice(1)) * 10 + n)),
            passes: chance.some([1, 2], 40).map((number) => ({
              number,
              observations: chance.some(virtual, 70).map((buoy) => ({ buoy, time: START + chance.below(3) })),
            })),
          },
      fails: chance.percent(place === 0 ? 15 : 35) ? chance.pick(['before', 'after'] as const) : null,
    }
  })
}
