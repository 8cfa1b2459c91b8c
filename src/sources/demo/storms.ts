/**
 * The storms of the made-up sea: lows that move over the oceans on the tracks of their season-less mean, and
 * the swell that they send out on the way. A storm follows from its basin and its number alone, whatever
 * window is asked for.
 */
import { haversineKm, wrapLongitude } from '../../sea/geo.ts'
import { gaussian, mix, uniform } from './chance.ts'

/** Seconds between two grid times; a step number is epoch seconds / STEP. */
const STEPS_AN_HOUR = 2
const RADIANS = Math.PI / 180

type Position = readonly [lat: number, lng: number]

export interface Basin {
  readonly salt: number
  /** Half-hours from one storm to the next; a storm is born somewhere in its slot. */
  readonly slot: number
  /** Hours from birth to death. */
  readonly hours: number
  /** Where storms move from and to; longitudes run on over the antimeridian. */
  readonly tracks: readonly (readonly [from: Position, to: Position])[]
  /** Degrees by which a track's ends vary. */
  readonly spread: number
  /** Distance of the strongest wind from the centre, km. */
  readonly radius: number
  /** Peak periods that its swell has, weak and strong, s. */
  readonly periods: readonly [number, number]
  /** Swell goes no farther, km. */
  readonly reach: number
}

const basin = (number: number, rest: Omit<Basin, 'salt'>): Basin => ({ salt: mix(100 + number), ...rest })

/** Tracks after those that lows mostly take; the rates are of strong lows, some ten a month on an ocean. */
const BASINS = {
  northAtlantic: basin(1, {
    slot: 56 * STEPS_AN_HOUR,
    hours: 96,
    tracks: [
      [
        [38, -68],
        [62, -18],
      ],
      [
        [42, -58],
        [56, -8],
      ],
      [
        [44, -48],
        [50, -4],
      ],
      [
        [56, -42],
        [66, 8],
      ],
    ],
    spread: 5,
    radius: 480,
    periods: [8.5, 17],
    reach: 6000,
  }),
  northPacific: basin(2, {
    slot: 52 * STEPS_AN_HOUR,
    hours: 108,
    tracks: [
      [
        [36, 148],
        [52, 188],
      ],
      [
        [40, 165],
        [54, 216],
      ],
      [
        [44, 190],
        [50, 232],
      ],
    ],
    spread: 5,
    radius: 520,
    periods: [9, 18],
    reach: 8000,
  }),
  southernOcean: basin(3, {
    slot: 20 * STEPS_AN_HOUR,
    hours: 108,
    tracks: [
      [
        [-46, -60],
        [-56, -5],
      ],
      [
        [-44, -10],
        [-54, 45],
      ],
      [
        [-45, 40],
        [-55, 95],
      ],
      [
        [-45, 90],
        [-57, 145],
      ],
      [
        [-44, 140],
        [-56, 195],
      ],
      [
        [-48, 190],
        [-60, 245],
      ],
      [
        [-50, 235],
        [-58, 292],
      ],
    ],
    spread: 5,
    radius: 540,
    periods: [9.5, 18],
    reach: 7000,
  }),
  americanEast: basin(4, {
    slot: 84 * STEPS_AN_HOUR,
    hours: 72,
    tracks: [
      [
        [32, -80],
        [44, -58],
      ],
      [
        [38, -84],
        [46, -60],
      ],
    ],
    spread: 3,
    radius: 380,
    periods: [6.5, 12],
    reach: 3000,
  }),
  gulfOfMexico: basin(5, {
    slot: 120 * STEPS_AN_HOUR,
    hours: 72,
    tracks: [
      [
        [31, -99],
        [29, -81],
      ],
      [
        [22, -86],
        [31, -90],
      ],
    ],
    spread: 2.5,
    radius: 320,
    periods: [5, 9],
    reach: 1500,
  }),
  mediterranean: basin(6, {
    slot: 84 * STEPS_AN_HOUR,
    hours: 66,
    tracks: [
      [
        [44, 3],
        [38, 20],
      ],
      [
        [39, -1],
        [42, 16],
      ],
    ],
    spread: 2,
    radius: 320,
    periods: [5, 9],
    reach: 1800,
  }),
  greatLakes: basin(7, {
    slot: 80 * STEPS_AN_HOUR,
    hours: 60,
    tracks: [
      [
        [40, -100],
        [47, -78],
      ],
      [
        [46, -98],
        [44, -76],
      ],
    ],
    spread: 2.5,
    radius: 380,
    periods: [3.5, 6],
    reach: 900,
  }),
} as const satisfies { readonly [name: string]: Basin }

/** Which storms' swell and wind come to a position: those of its sea. */
export function basinsAt(lat: number, lng: number): readonly Basin[] {
  if (lat < 0) return [BASINS.southernOcean]
  if (lat > 41 && lat < 49 && lng > -93 && lng < -76) return [BASINS.greatLakes]
  if (lat > 30 && lat < 45 && lng > -1 && lng < 36) return [BASINS.mediterranean]
  if (lat > 18 && lat < 31 && lng > -98 && lng < -81) return [BASINS.gulfOfMexico]
  if (lng > -98 && lng < -55) return [BASINS.americanEast, BASINS.northAtlantic]
  if (lng > -98 && lng < 40) return [BASINS.northAtlantic]
  return [BASINS.northPacific, BASINS.southernOcean]
}

export interface Storm {
  /** Half-hours since the epoch. */
  birth: number
  death: number
  fromLat: number
  fromLng: number
  toLat: number
  /** Runs on over the antimeridian. */
  toLng: number
  /** 1 in the median. */
  intensity: number
}

/** Half-hours by which swell comes later than a storm at most. */
const LATEST_SWELL = 21 * 24 * STEPS_AN_HOUR

/** The storms whose swell or wind may be somewhere in steps from … to−1, in the order of their births. */
export function* stormsBetween(basin: Basin, from: number, to: number): Generator<Storm> {
  const { slot, salt } = basin
  const first = Math.floor((from - LATEST_SWELL - basin.hours * STEPS_AN_HOUR * 2) / slot)
  for (let n = first; n * slot < to; n++) yield stormOf(basin, mix(salt), n)
}

function stormOf({ slot, hours, tracks, spread }: Basin, key: number, n: number): Storm {
  const draw = (what: number): number => uniform(mix(key ^ what), n)
  const vary = (what: number): number => spread * (2 * draw(what) - 1)
  const birth = (n + draw(1)) * slot
  const [[fromLat, fromLng], [toLat, toLng]] = tracks[Math.floor(draw(2) * tracks.length)]
  return {
    birth,
    death: birth + hours * STEPS_AN_HOUR * (0.75 + 0.5 * draw(3)),
    fromLat: fromLat + vary(4),
    fromLng: fromLng + vary(5),
    toLat: toLat + vary(6),
    toLng: toLng + vary(7),
    intensity: Math.exp(0.45 * gaussian(mix(key ^ 8), n)),
  }
}

/** How strong a storm is at a share of its life, 0 … 1. */
const strengthAt = (share: number): number => Math.sin(Math.PI * share)

/** A stretch of a storm's life sends one train of swell to a place. */
export interface Swell {
  /** Half-hours: the middle of the train at the place, and half its length. */
  arrival: number
  halfLength: number
  /** Of its middle, in arbitrary units that all trains share. */
  energy: number
  /** s; of its middle: the longer waves run ahead. */
  period: number
  /** Degrees that it comes from. */
  direction: number
}

/** Stretches of a storm's life that send swell each. */
const TRAINS = 8
/** Half-length of a train where it is born, half-hours. */
const TRAIN_STEPS = 16 * STEPS_AN_HOUR
/** A train grows longer on its way by this share of its travel time, since its long waves are faster. */
const DISPERSION = 0.25
/** Trains below this are lost in the noise. */
const LEAST_ENERGY = 1e-3
/** Swell of period T seconds travels at g·T/4π: so many km in a half-hour for each second. */
const KM_A_STEP = (9.80665 / (4 * Math.PI)) * 1.8

/** What a place gets of the swell of one direction, as share of its energy. */
function exposureTo(direction: number, facing: number): number {
  const squared = Math.cos(((direction - facing) * RADIANS) / 2) ** 2
  return 0.06 + 0.94 * squared * squared
}

/** Where and when: steps from … to−1, every `stride`. */
export interface Window {
  readonly from: number
  readonly to: number
  readonly stride: number
}

/**
 * Calls `take` with each train of a storm that is at a place, facing `facing` degrees, within the window; one
 * object serves all.
 */
export function forEachSwell(
  { radius, reach, periods }: Basin,
  storm: Storm,
  place: { readonly lat: number; readonly lng: number; readonly facing: number },
  { from, to }: Window,
  take: (swell: Swell) => void,
): void {
  for (let i = 0; i < TRAINS; i++) {
    const share = (i + 0.5) / TRAINS
    const strength = storm.intensity * strengthAt(share)
    const lat = storm.fromLat + share * (storm.toLat - storm.fromLat)
    const lng = storm.fromLng + share * (storm.toLng - storm.fromLng)
    const km = haversineKm(place.lat, place.lng, lat, wrapLongitude(lng))
    if (km > reach) continue
    const period = periods[0] + (periods[1] - periods[0]) * Math.min(1, strength / 2.4)
    const travel = Math.max(km - radius / 2, 0) / (KM_A_STEP * period)
    SWELL.arrival = storm.birth + share * (storm.death - storm.birth) + travel
    SWELL.halfLength = TRAIN_STEPS + DISPERSION * travel
    if (SWELL.arrival + SWELL.halfLength <= from || SWELL.arrival - SWELL.halfLength >= to) continue
    SWELL.direction = bearing(place.lat, place.lng, lat, lng)
    SWELL.energy =
      ((strength * strength) / TRAINS / (1 + km / radius) ** 1.6) * exposureTo(SWELL.direction, place.facing)
    if (SWELL.energy < LEAST_ENERGY / TRAINS) continue
    SWELL.period = period
    take(SWELL)
  }
}

const SWELL: Swell = { arrival: 0, halfLength: 0, energy: 0, period: 0, direction: 0 }

/** Degrees from the first position to the second along a great circle. */
function bearing(lat1: number, lng1: number, lat2: number, lng2: number): number {
  const [a, b, d] = [lat1 * RADIANS, lat2 * RADIANS, (lng2 - lng1) * RADIANS]
  const degrees =
    Math.atan2(
      Math.sin(d) * Math.cos(b),
      Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(d),
    ) / RADIANS
  return (degrees + 360) % 360
}

/** m/s, of the strongest wind in a storm of the median intensity. */
const STORM_WIND = 13
/** Beyond so many radii a storm's wind is nothing. */
const WIND_REACH = 3.5
/** Share of a storm's wind that blows towards its centre. */
const INFLOW = 0.35

/**
 * Adds a storm's wind at a place to steps from … to−1: where it comes from, as eastern and northern parts in
 * m/s. Winds go around a low, left-handed on the northern half of the earth.
 */
export function addWind(
  { radius }: Basin,
  storm: Storm,
  place: { readonly lat: number; readonly lng: number },
  window: Window,
  east: Float64Array,
  north: Float64Array,
): void {
  const { birth, death, fromLat, fromLng, toLat, toLng } = storm
  const { from, to, stride } = window
  const turn = place.lat < 0 ? -1 : 1
  const first = from + Math.max(0, Math.ceil((birth - from) / stride) * stride)
  const peak = STORM_WIND * Math.sqrt(storm.intensity)
  const kmAround = 111.2 * Math.cos(place.lat * RADIANS)
  // The way around that is the shorter one, for all of the storm's life.
  const lngFrom = place.lng + 360 * Math.round((fromLng - place.lng) / 360)
  for (let step = first; step < to && step < death; step += stride) {
    const share = (step - birth) / (death - birth)
    const x = (lngFrom - fromLng - share * (toLng - fromLng)) * kmAround
    const y = (place.lat - fromLat - share * (toLat - fromLat)) * 111.2
    const km = Math.sqrt(x * x + y * y)
    if (km > WIND_REACH * radius || km < 1) continue
    const r = km / radius
    const speed = (peak * strengthAt(share) * r * Math.exp(0.5 * (1 - r * r))) / km
    east[step - from] += speed * (turn * y + INFLOW * x)
    north[step - from] += speed * (-turn * x + INFLOW * y)
  }
}
