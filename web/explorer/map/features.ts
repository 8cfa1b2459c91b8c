/** Buoys, marks, passes and the basemap as GeoJSON. */
import type { ReadingSummary, SatellitePass } from '../../../clients/typescript/groundswell.ts'
import type { ActiveBuoy } from '../api.ts'
import { duration, isOld } from '../format.ts'
import { classOf } from '../heights.ts'
import { quantityText, scaleOf, type Units } from '../mine/units.ts'
import type { Position } from '../view.ts'

/** Code points of a name on the map; the panel has it in full length. */
const MOST_CHARACTERS = 40
const HOUR_MS = 3_600_000

function shortened(name: string): string {
  const all = Array.from(name)
  return all.length <= MOST_CHARACTERS ? name : `${all.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

/** What the panel is about: a buoy with or without a reading, or a point of the sea. */
export type Target = Position & { slug?: string; last_reading?: ReadingSummary | null }

/** `now` in epoch milliseconds. */
export function buoyFeatures(buoys: readonly ActiveBuoy[], units: Units, now: number) {
  return {
    type: 'FeatureCollection' as const,
    features: withoutTwins(buoys).map(({ id, slug, name, virtual, lat, lng, last_reading: reading }) => ({
      type: 'Feature' as const,
      properties: {
        id,
        slug,
        name,
        shortName: shortened(name),
        virtual,
        ...heightOf(reading, units),
        // Readings of satellites are rings at any age: they are hours old when they come.
        old: !virtual && reading !== null && isOld(Date.parse(reading.time), now),
        label: reading === null ? '' : labelOf(reading, virtual, units, now),
      },
      geometry: { type: 'Point' as const, coordinates: [lng, lat] },
    })),
  }
}

/** By the height dots are placed, by its class coloured; nothing without a reading. */
function heightOf(reading: ReadingSummary | null, units: Units) {
  if (reading === null) return {}
  const { significient_height: height } = reading
  return { height, class: classOf(height, scaleOf('height', units)) }
}

/** `1.8 m`, and of an old reading `1.8 m · 5 h ago`, in whole hours. */
function labelOf(reading: ReadingSummary, virtual: boolean, units: Units, now: number): string {
  const height = quantityText('height', units, reading.significient_height, 1)
  const time = Date.parse(reading.time)
  if (virtual || !isOld(time, now)) return height
  const hours = Math.floor((now - time) / HOUR_MS)
  return `${height} · ${duration(hours * 3600)} ago`
}

/** A target without a reading, or with an old one, is marked by a ring alone. Dots lie at `drawnAt`. */
export function markFeature(
  { lat, lng, last_reading: reading }: Target,
  units: Units,
  now: number,
  drawnAt = [lng, lat],
) {
  const isRing = reading === null || reading === undefined || isOld(Date.parse(reading.time), now)
  return {
    type: 'Feature' as const,
    properties: isRing ? {} : heightOf(reading, units),
    geometry: { type: 'Point' as const, coordinates: drawnAt },
  }
}

/** A point that a pass measured, in the order of the track. */
export interface PassPoint extends Position {
  slug: string
  name: string
  /** Metres. */
  height: number
  /** ISO 8601. */
  time: string
}

/** The points that `pass` measured, where no later one has measured them since. */
export function passPoints(pass: SatellitePass, buoys: readonly ActiveBuoy[]): PassPoint[] {
  return buoys
    .flatMap(({ slug, name, lat, lng, last_reading: reading, ...more }) =>
      reading !== null && 'pass_id' in more && more.pass_id === pass.id
        ? [{ slug, name, lat, lng, height: reading.significient_height, time: reading.time }]
        : [],
    )
    .toSorted((a, b) => a.time.localeCompare(b.time))
}

/** The points of a pass, and the shorter way from each to the next. */
export function passFeatures(points: readonly PassPoint[]) {
  const coordinates: [number, number][] = []
  for (const { lat, lng } of points) {
    const before = coordinates.at(-1)?.[0] ?? lng
    coordinates.push([before + wrapped(lng - before), lat])
  }
  return {
    type: 'FeatureCollection' as const,
    features: [
      ...(coordinates.length < 2
        ? []
        : [
            {
              type: 'Feature' as const,
              properties: {},
              geometry: { type: 'LineString' as const, coordinates },
            },
          ]),
      ...coordinates.map((each) => ({
        type: 'Feature' as const,
        properties: {},
        geometry: { type: 'Point' as const, coordinates: each },
      })),
    ],
  }
}

/** Degrees between −180 and 180. */
const wrapped = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180

/**
 * Networks give the position of one mooring to a hundredth of a degree, and move its name's case and accents.
 */
const SAME_DEGREES = 0.01
/** Buoys of any name that are nearer to each other than this, some hundred metres, are one. */
const AT_DEGREES = 0.001

/**
 * The buoys without those that another network has too. Of two such buoys the one with the newer reading
 * stays, else the first.
 */
export function withoutTwins(buoys: readonly ActiveBuoy[]): readonly ActiveBuoy[] {
  const byLat = buoys.filter(({ virtual }) => !virtual).toSorted((a, b) => a.lat - b.lat)
  const hidden = new Set<ActiveBuoy>()
  byLat.forEach((one, i) => {
    for (let k = i + 1; k < byLat.length; k++) {
      const other = byLat[k]
      if (other === undefined || other.lat - one.lat > SAME_DEGREES) break
      if (areOne(one, other)) hidden.add(isBetter(one, other) ? other : one)
    }
  })
  return hidden.size === 0 ? buoys : buoys.filter((buoy) => !hidden.has(buoy))
}

function areOne(one: ActiveBuoy, other: ActiveBuoy): boolean {
  if (one.source === other.source) return false
  const across = Math.abs(one.lng - other.lng)
  const east = Math.min(across, 360 - across) * Math.cos((one.lat * Math.PI) / 180)
  const apart = Math.max(east, Math.abs(one.lat - other.lat))
  return apart <= AT_DEGREES || (apart <= SAME_DEGREES && folded(one.name) === folded(other.name))
}

function isBetter(one: ActiveBuoy, other: ActiveBuoy): boolean {
  const [mine, theirs] = [one.last_reading_time ?? '', other.last_reading_time ?? '']
  return mine === theirs ? one.id < other.id : mine > theirs
}

const folded = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** As `tools/basemap/basemap.mjs` packs it. */
export interface PackedBasemap {
  land: number[][][]
  lakes: number[][][]
  borders: number[][]
  countries: PackedName[]
  seas: PackedName[]
}

type PackedName = [name: string, lat: number, lng: number, rank: number]

/** Features of the `kind` land, lake, border, country and sea; the last two have `name` and `rank`. */
export function unpackBasemap({ land, lakes, borders, countries, seas }: PackedBasemap) {
  const lines = (packed: number[][]) => packed.map((line) => unpackLine(line))
  const shape = <Geometry>(kind: string, geometry: Geometry) => ({
    type: 'Feature' as const,
    properties: { kind },
    geometry,
  })
  const polygons = (packed: number[][][]) => ({
    type: 'MultiPolygon' as const,
    coordinates: packed.map((rings) => lines(rings)),
  })
  const names = (kind: string, packed: PackedName[]) =>
    packed.map(([name, lat, lng, rank]) => ({
      type: 'Feature' as const,
      properties: { kind, name, rank },
      geometry: { type: 'Point' as const, coordinates: [lng, lat] },
    }))
  return {
    type: 'FeatureCollection' as const,
    features: [
      shape('land', polygons(land)),
      shape('lake', polygons(lakes)),
      shape('border', { type: 'MultiLineString' as const, coordinates: lines(borders) }),
      ...names('country', countries),
      ...names('sea', seas),
    ],
  }
}

/** Tenths of a degree, each point as its difference to the one before. */
function unpackLine(packed: number[]): [lng: number, lat: number][] {
  let [x, y] = [0, 0]
  return Array.from({ length: packed.length / 2 }, (_, i) => {
    x += packed[2 * i] ?? 0
    y += packed[2 * i + 1] ?? 0
    return [x / 10, y / 10]
  })
}
