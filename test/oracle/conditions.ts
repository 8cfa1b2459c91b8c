/**
 * The slow answer to `GET /conditions`: a made-up world of buoys, forecast points, spots and harbours, and
 * what the contract says of a place and a time in it, by walking over everything. Numbers are left unrounded:
 * the comparison rounds.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compass, kilometres } from './oracle.ts'
import { randomNumbers } from './world.ts'

export interface Reading {
  time: number
  height: number
  maximum: number | null
  period: number | null
  direction: number | null
}

export interface Buoy {
  id: number
  name: string
  lat: number
  lng: number
  virtual: boolean
  readings: Reading[]
}

/** The columns of a forecast table, and the fields of the answer they stand for. */
export const QUANTITIES = {
  wave_height: 'waves_height',
  wave_period: 'waves_period',
  wave_direction: 'waves_direction',
  wind_speed: 'wind_speed',
  wind_direction: 'wind_direction',
  swell_height: 'swell_height',
  swell_period: 'swell_period',
  swell_direction: 'swell_direction',
} as const
export type Quantity = keyof typeof QUANTITIES

export interface ForecastPoint {
  lat: number
  lng: number
  run: number
  /** Empty where the file does not say it. */
  model: string
  rows: ({ time: number } & { [name in Quantity]: number | null })[]
}

export interface Spot {
  id: number
  name: string
  lat: number
  lng: number
}

/**
 * A harbour whose whole tide is the solar half-day one: no node moves it, so its height is a cosine of the
 * clock.
 */
export interface Harbour {
  identifier: string
  name: string
  lat: number
  lng: number
  level: number
  amplitude: number
  phase: number
  credit: string
}

export interface ConditionsWorld {
  asOf: number
  buoys: Buoy[]
  points: ForecastPoint[]
  spots: Spot[]
  harbours: Harbour[]
}

const HOUR = 3600
const DAY = 24 * HOUR
const AS_OF = Date.UTC(2026, 2, 27, 9) / 1000

/** Where things lie close together: a coast, both sides of the antimeridian, both poles, the origin. */
export const CENTRES: readonly (readonly [lat: number, lng: number])[] = [
  [43.5, -1.8],
  [-17, 180],
  [89.9, 30],
  [-89.9, -120],
  [0, 0],
]

export function makeConditionsWorld(seed: number): ConditionsWorld {
  const random = randomNumbers(seed)
  const whole = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1))
  const decimal = (low: number, high: number, digits: number): number =>
    Number((low + random() * (high - low)).toFixed(digits))
  const maybe = (share: number, value: number): number | null => (random() < share ? value : null)
  const near = ([lat, lng]: readonly [number, number], degrees: number): { lat: number; lng: number } => {
    const east = lng + decimal(-degrees, degrees, 3)
    const north = decimal(lat - degrees, lat + degrees, 3)
    return {
      // Folded back at a pole: many things at one point would be equally near to everything.
      lat: Number((Math.abs(north) > 90 ? Math.sign(north) * 180 - north : north).toFixed(3)),
      lng: Number((east > 180 ? east - 360 : east < -180 ? east + 360 : east).toFixed(3)),
    }
  }
  const directionOf = (): number => (random() < 0.2 ? whole(0, 3) * 90 : decimal(0, 359.99, 2))

  const buoys: Buoy[] = []
  for (const centre of CENTRES) {
    for (let i = 0; i < 9; i++) {
      const virtual = i >= 7
      const readings: Reading[] = []
      // Some are silent altogether, some for days, some report to this hour.
      const step = [30, 60, 20, 180][i % 4] * 60
      const end = AS_OF - [0, 0, 2 * DAY, 5 * HOUR, 30 * HOUR][whole(0, 4)]
      const isSilent = i === 3
      for (let time = isSilent ? Infinity : end - 4 * DAY; time <= end; time += step) {
        if (random() < 0.2) continue
        const height = decimal(0, 8, random() < 0.5 ? 1 : 3)
        readings.push({
          time,
          height,
          maximum: maybe(0.5, Number((height * 1.6).toFixed(2))),
          period: maybe(0.8, decimal(2, 18, 2)),
          direction: maybe(0.8, directionOf()),
        })
      }
      buoys.push({ id: 0, name: `Buoy ${buoys.length} "é"`, ...near(centre, 0.5), virtual, readings })
    }
  }
  // One that reports at this very hour, so that the snapshot's time is known.
  buoys.push({
    id: 0,
    name: 'Alone',
    lat: 20,
    lng: -150,
    virtual: false,
    readings: [{ time: AS_OF, height: 1.5, maximum: null, period: 8.5, direction: null }],
  })
  numberBuoys(buoys)

  const points: ForecastPoint[] = CENTRES.flatMap((centre) =>
    Array.from({ length: 8 }, (_, i) => {
      let time = AS_OF - whole(0, 24) * HOUR
      const gap = random() < 0.2 ? 0.7 : 1
      const rows = Array.from({ length: 30 }, () => {
        // Mostly hours, sometimes just what may be bridged, sometimes more.
        time += random() < 0.9 ? whole(1, 3) * HOUR : whole(5, 8) * HOUR
        return {
          time,
          wave_height: maybe(gap, decimal(0, 9, 3)),
          wave_period: maybe(gap, decimal(0, 18, 2)),
          wave_direction: maybe(gap, directionOf()),
          wind_speed: maybe(gap, decimal(0, 90, 2)),
          wind_direction: maybe(gap, directionOf()),
          swell_height: maybe(gap, decimal(0, 6, 3)),
          swell_period: maybe(gap, decimal(0, 20, 3)),
          swell_direction: maybe(gap, directionOf()),
        }
      })
      const model = ['', 'Spectral, 0.08°', 'Model “B”'][i % 3]
      return { ...near(centre, 0.7), run: AS_OF - whole(1, 48) * HOUR, model, rows }
    }),
  )

  const spots = CENTRES.map((centre, i) => ({
    id: 7 + i * 1000,
    name: `Spot ${i}, “reef”`,
    ...near(centre, 0.3),
  }))
  const harbours = CENTRES.slice(0, 3).flatMap((centre, i) =>
    Array.from({ length: 3 }, (_, n) => ({
      identifier: `h${i}${n}`,
      name: `Port ${i}.${n} "Sud"`,
      ...near(centre, 1.2),
      level: decimal(-1, 3, 2),
      amplitude: decimal(0.2, 4, 2),
      phase: decimal(0, 359, 1),
      credit: `Made up, ${n % 2 === 0 ? 'CC0' : 'licence “x”'}`,
    })),
  )
  return { asOf: AS_OF, buoys, points, spots, harbours }
}

/**
 * Gives ids as a first snapshot does: physical buoys first, then by identifier, which is the place in the
 * list.
 */
function numberBuoys(buoys: Buoy[]): void {
  const order = [...buoys].toSorted((a, b) => Number(a.virtual) - Number(b.virtual))
  order.forEach((buoy, i) => {
    buoy.id = i + 1
  })
}

/** Writes the world as a folder for `csv:`. */
export function writeConditionsWorld(world: ConditionsWorld, folder: string): void {
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  const text = (value: string) => `"${value.replaceAll('"', '""')}"`
  const cell = (value: number | null) => (value === null ? '' : String(value))
  for (const name of ['', 'readings', 'forecast']) mkdirSync(join(folder, name), { recursive: true })
  write('sources.csv', ['name,network', 'Net,national', 'Sky,satellite'])
  const identifierOf = (i: number) => String(i).padStart(3, '0')
  const sourceOf = ({ virtual }: Buoy) => (virtual ? 'Sky' : 'Net')
  write('buoys.csv', [
    'source,identifier,name,lat,lng,virtual',
    ...world.buoys.map((buoy, i) =>
      [sourceOf(buoy), identifierOf(i), text(buoy.name), buoy.lat, buoy.lng, buoy.virtual].join(),
    ),
  ])
  write(join('readings', 'all.csv'), [
    'source,identifier,time,significant_height,maximum_height,period,direction',
    ...world.buoys.flatMap((buoy, i) =>
      buoy.readings.map(({ time, height, maximum, period, direction }) =>
        [sourceOf(buoy), identifierOf(i), time, height, cell(maximum), cell(period), cell(direction)].join(),
      ),
    ),
  ])
  const quantities = Object.keys(QUANTITIES) as Quantity[]
  world.points.forEach(({ lat, lng, run, model, rows }, i) => {
    write(join('forecast', `${i}.csv`), [
      `lat,lng,run,model,time,${quantities.join()}`,
      ...rows.map((row) =>
        [lat, lng, run, text(model), row.time, ...quantities.map((name) => cell(row[name]))].join(),
      ),
    ])
  })
  write('spots.csv', [
    'id,name,lat,lng',
    ...world.spots.map(({ id, name, lat, lng }) => [id, text(name), lat, lng].join()),
  ])
  write('harbours.csv', [
    'identifier,name,lat,lng,datum_offset,credit',
    ...world.harbours.map(({ identifier, name, lat, lng, level, credit }) =>
      [identifier, text(name), lat, lng, level, text(credit)].join(),
    ),
  ])
  write('constituents.csv', [
    'harbour,constituent,amplitude,phase',
    ...world.harbours.map(({ identifier, amplitude, phase }) => [identifier, 'S2', amplitude, phase].join()),
  ])
}

/** Two programs may round a distance this near to a limit, in km, to different sides of it. */
const SAME_KM = 1e-6

interface Nearest<T> {
  item: T
  km: number
}

/** Everything within reach, nearest first. Null where rounding decides what is in reach or nearer. */
function around<T extends { lat: number; lng: number }>(
  items: readonly T[],
  lat: number,
  lng: number,
  reach: number,
): Nearest<T>[] | null {
  const all = items
    .map((item) => ({ item, km: kilometres(lat, lng, item.lat, item.lng) }))
    .toSorted((a, b) => a.km - b.km)
  if (all.some(({ km }) => Math.abs(km - reach) < SAME_KM)) return null
  const found = all.filter(({ km }) => km <= reach)
  return found.some(({ km }, i) => i > 0 && km - found[i - 1].km < SAME_KM) ? null : found
}

export interface ExpectedForecast {
  run: number | null
  model: string | null
  /** Unrounded, in the contract's units; directions in degrees. */
  values: { [name in Quantity]: number | null }
}

export interface Expected {
  forecast: ExpectedForecast
  reading: { buoy: Buoy; km: number; reading: Reading } | null
  tide: { harbour: Harbour; height: number; rising: boolean; seconds: number; nextHeight: number } | null
  spot: { spot: Spot; nearby: Nearest<Buoy>[] } | null
}

/** What the answer has to say, or null where two right programs may differ. `time` in whole epoch seconds. */
export function expectConditions(
  world: ConditionsWorld,
  lat: number,
  lng: number,
  time: number,
  spot: Spot | null,
): Expected | null {
  const points = around(world.points, lat, lng, 50)
  const physical = world.buoys.filter(({ virtual }) => !virtual)
  const buoys = around(physical, lat, lng, 50)
  const harbours = around(world.harbours, lat, lng, 100)
  if (points === null || buoys === null || harbours === null) return null
  let nearby: Nearest<Buoy>[] | null = []
  if (spot !== null) {
    const active = physical.filter(({ readings }) => (readings.at(-1)?.time ?? -Infinity) >= world.asOf - DAY)
    nearby = around(active, spot.lat, spot.lng, 150)
    if (nearby === null) return null
  }
  return {
    forecast: forecastAt(points[0]?.item ?? null, time),
    reading: readingAt(buoys, time),
    tide: harbours.length === 0 ? null : tideAt(harbours[0].item, time),
    spot: spot === null ? null : { spot, nearby: nearby.slice(0, 5) },
  }
}

function forecastAt(point: ForecastPoint | null, time: number): ExpectedForecast {
  const names = Object.keys(QUANTITIES) as Quantity[]
  const valueOf = (name: Quantity): number | null => {
    const rows = point?.rows ?? []
    const exact = rows.find((row) => row.time === time)
    if (exact !== undefined) return exact[name]
    const before = rows.findLast((row) => row.time < time)
    const after = rows.find((row) => row.time > time)
    if (before === undefined || after === undefined || after.time - before.time > 6 * HOUR) return null
    const [left, right] = [before[name], after[name]]
    if (left === null || right === null) return null
    const share = (time - before.time) / (after.time - before.time)
    if (!name.endsWith('direction')) return left + (right - left) * share
    if (Math.abs(Math.abs(left - right) - 180) < 1e-9) return null
    const radians = (degrees: number) => (degrees * Math.PI) / 180
    const east = (1 - share) * Math.sin(radians(left)) + share * Math.sin(radians(right))
    const north = (1 - share) * Math.cos(radians(left)) + share * Math.cos(radians(right))
    return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
  }
  return {
    run: point?.run ?? null,
    model: point === null || point.model === '' ? null : point.model,
    values: Object.fromEntries(names.map((name) => [name, valueOf(name)])) as ExpectedForecast['values'],
  }
}

/** A fresh reading of a buoy farther away comes before a stale one of a nearer buoy. */
function readingAt(buoys: readonly Nearest<Buoy>[], time: number): Expected['reading'] {
  for (const reach of [3 * HOUR, DAY]) {
    for (const { item: buoy, km } of buoys) {
      const near = buoy.readings.filter((reading) => Math.abs(reading.time - time) <= reach)
      const [reading] = near.toSorted(
        (a, b) => Math.abs(a.time - time) - Math.abs(b.time - time) || a.time - b.time,
      )
      if (reading !== undefined) return { buoy, km, reading }
    }
  }
  return null
}

/** High water where the clock's angle is the phase, low water half a turn on. */
function tideAt(harbour: Harbour, time: number): Expected['tide'] {
  const { level, amplitude, phase } = harbour
  const halfDay = 12 * HOUR
  const turns = time / halfDay - phase / 360
  const sinceTurn = (((turns * 2) % 1) + 1) % 1
  const isHighNext = Math.round(turns * 2 - sinceTurn) % 2 !== 0
  return {
    harbour,
    height: level + amplitude * Math.cos(2 * Math.PI * turns),
    rising: isHighNext,
    seconds: ((1 - sinceTurn) * halfDay) / 2,
    nextHeight: level + (isHighNext ? amplitude : -amplitude),
  }
}

/** Compass points that a direction may have: two where it lies on the border between them. */
export function compassPoints(direction: number): string[] {
  return [compass((direction - 1e-6 + 360) % 360), compass((direction + 1e-6) % 360)]
}
