/**
 * The page's data without a key, if the explorer asks for a key: names, positions and newest readings by the
 * two public operations. Nearest takes a point and gives twenty buoys, so the page asks around a few points
 * of the world first, and then where the visitor looks.
 */
import type { BuoySearchItem, NearestBuoy, QueryOf } from '../../clients/typescript/groundswell.ts'
import { searchAddress } from './addresses.ts'
import type { Answer, Answers } from './answers.ts'
import { type ActiveBuoy, type Api, ApiTrouble } from './api.ts'
import type { Position, ViewState } from './view.ts'

const MOST_NEAREST = 20
/** Half of the way around the Earth: the nearest buoys, however far away. */
const ANYWHERE_KM = 20_016
const FIRST_POINTS: readonly Position[] = [
  { lat: 45, lng: -5 },
  { lat: 56, lng: 8 },
  { lat: 35, lng: -72 },
  { lat: 42, lng: -126 },
  { lat: 20, lng: -157 },
  { lat: -30, lng: 30 },
  { lat: 5, lng: 90 },
  { lat: -30, lng: 152 },
]
/** Most places where the visitor has looked; with the first points no more than the page keeps answers. */
const MOST_LOOKS = 20
/** The middle of a map of half of the world does not show the visitor's interest. */
const LEAST_ZOOM = 3

/** The facts of a buoy in lists and searches. */
export type KnownBuoy = Pick<ActiveBuoy, 'name' | 'slug' | 'lat' | 'lng' | 'source' | 'last_reading'> &
  Partial<Pick<BuoySearchItem & ActiveBuoy, 'country' | 'source_identifier' | 'timezone'>>

export class Guest {
  readonly #api: Api
  readonly #answers: Answers
  #looks: Position[] = []
  #parts: readonly NearestBuoy[][] = []
  #buoys: ActiveBuoy[] = []

  constructor(api: Api, answers: Answers) {
    this.#api = api
    this.#answers = answers
  }

  /** The buoys that are known so far; the same array as long as nothing has come. */
  buoys(view: ViewState): Answer<{ buoys: readonly ActiveBuoy[] }> {
    this.#look(view)
    const answers = [...FIRST_POINTS, ...this.#looks].map((point) => this.#nearest(point))
    const parts = answers.flatMap((answer) => (answer.state === 'here' ? [answer.data.buoys ?? []] : []))
    if (parts.length === 0) return answers[0] as Answer<never>
    if (parts.length !== this.#parts.length || parts.some((part, i) => part !== this.#parts[i])) {
      this.#parts = parts
      const byId = new Map(parts.flat().map((buoy) => [buoy.id, buoy]))
      this.#buoys = [...byId.values()].map((buoy) => asActive(buoy))
    }
    return { state: 'here', data: { buoys: this.#buoys } }
  }

  #nearest(point: Position): Answer<{ buoys?: NearestBuoy[] }> {
    const [lat, lng] = [Number(point.lat.toFixed(4)), Number(point.lng.toFixed(4))]
    const asked = {
      lat,
      lng,
      limit: MOST_NEAREST,
      max_distance: ANYWHERE_KM,
    } satisfies QueryOf<'/buoys/nearest'>
    return this.#answers.get(this.#api.address('/buoys/nearest', asked))
  }

  /** Notes where the visitor looks, by whole degrees. */
  #look({ camera, point }: ViewState): void {
    const at = point ?? (camera !== null && camera.zoom >= LEAST_ZOOM ? camera : null)
    if (at === null) return
    const look = { lat: Math.round(at.lat), lng: Math.round(at.lng) }
    if (this.#looks.some(({ lat, lng }) => lat === look.lat && lng === look.lng)) return
    this.#looks = [...this.#looks, look].slice(-MOST_LOOKS)
  }

  /** A buoy by its slug, or by its id where nothing else is known. */
  buoy(name: string): Answer<KnownBuoy> {
    const known = this.#buoys.find(({ slug, id }) => slug === name || String(id) === name)
    if (known !== undefined) return { state: 'here', data: known }
    const found = this.#answers.get(searchAddress(this.#api, name))
    if (found.state !== 'here') return found
    const item = found.data.buoys.find(({ slug }) => slug === name)
    if (item === undefined) return { state: 'failed', trouble: new ApiTrouble('not found', 'No such buoy') }
    const near = this.#nearest(item)
    const reading =
      near.state === 'here' ? near.data.buoys?.find(({ id }) => id === item.id)?.last_reading : undefined
    return { state: 'here', data: { ...item, last_reading: reading ?? null } }
  }
}

/** Nearest knows no slugs, and paths take ids all the same. */
function asActive({ last_reading: reading, distance_km: _distance, ...buoy }: NearestBuoy): ActiveBuoy {
  return {
    ...buoy,
    slug: String(buoy.id),
    timezone: 'UTC',
    virtual: false,
    last_reading: reading,
    last_reading_time: reading?.time ?? null,
  }
}
