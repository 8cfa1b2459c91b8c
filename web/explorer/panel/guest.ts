/**
 * The panels of a visitor without a key, where the explorer asks for one: names, positions and newest readings
 * by the two public operations, and the way to a key. Nearest takes a point and gives twenty buoys, so the page
 * asks around a few points of the world first, and then where the visitor looks.
 */
import type {
  BuoySearchItem,
  NearestBuoy,
  NearestBuoysParameters,
} from '../../../clients/typescript/groundswell.ts'
import { searchAddress } from '../addresses.ts'
import type { Answer } from '../answers.ts'
import type { ActiveBuoy, Address } from '../api.ts'
import { ago, element } from '../dom.ts'
import { downloadBox } from '../downloads/box.ts'
import { position, UTC } from '../format.ts'
import { whereKeysComeFrom } from '../key_dialog.ts'
import { chosenZone, type Scene } from '../scene.ts'
import type { Position } from '../view.ts'
import { buoyRows, type ListState } from './list.ts'
import { latest } from './now.ts'
import { back, type Drawn, heading, instead, note, whereaboutsOf } from './pieces.ts'

const TITLE = 'Buoys'
const NEAREST = 3
const NEAR_KM = 300
const NONE = 'No buoy has reported in the last 24 hours.'

/** `onKey` opens the dialog for a key. */
export function drawForGuest(scene: Scene, guest: Guest, list: ListState): Drawn {
  const { buoy, point } = scene.view
  if (buoy !== null) return drawBuoy(scene, guest, buoy, list.onKey)
  return point === null ? drawList(scene, guest, list) : drawPoint(scene, guest, point, list.onKey)
}

function drawList(scene: Scene, guest: Guest, list: ListState): Drawn {
  const answer = guest.buoys()
  const buoys = answer.state === 'here' ? answer.data.buoys : []
  const isNone = answer.state === 'failed' && answer.trouble.kind === 'not found'
  return {
    title: TITLE,
    nodes: [
      heading(TITLE),
      invitation(
        'Charts, forecast, tide and seasons need an API key. Search and the newest readings need none.',
        list.onKey,
      ),
      isNone ? note(NONE) : instead(answer, 'the buoys'),
      ...(buoys.length === 0
        ? []
        : [
            element('p', { class: 'sub' }, 'A selection of buoys; move the map to see more.'),
            ...buoyRows(scene, list, buoys),
            downloadBox(scene, ({ offersOfGuest }) => offersOfGuest(scene, null)),
          ]),
    ],
  }
}

function drawBuoy(scene: Scene, guest: Guest, name: string, onKey: () => void): Drawn {
  const answer = guest.buoy(name)
  const buoy = answer.state === 'here' ? answer.data.buoy : null
  if (buoy === null) {
    const isKnown = answer.state === 'here'
    return {
      title: name,
      nodes: [
        back(scene),
        heading(isKnown ? 'No such buoy' : name),
        isKnown ? note('No buoy of this name can be found without a key.') : instead(answer, 'the buoy'),
        invitation('With an API key you can also open a buoy by its number.', onKey),
      ],
    }
  }
  return {
    title: buoy.name,
    nodes: [
      back(scene),
      heading(buoy.name),
      element('p', { class: 'sub' }, whereaboutsOf(buoy)),
      buoy.last_reading === null
        ? note('No public reading in the last 24 hours.')
        : latest(scene, buoy.last_reading, chosenZone(scene, UTC.name)),
      invitation('Its chart, forecast, tide and seasons need an API key.', onKey),
    ],
  }
}

function drawPoint(scene: Scene, guest: Guest, point: Position, onKey: () => void): Drawn {
  const title = `Sea at ${position(point.lat, point.lng)}`
  // This asks for the buoys so that the map shows them, too.
  guest.buoys()
  const at = { lat: Number(point.lat.toFixed(4)), lng: Number(point.lng.toFixed(4)) }
  const nearest = nearestAddress(scene, at, NEAREST, NEAR_KM)
  const near = scene.answers.get(nearest)
  const isNone = near.state === 'failed' && near.trouble.kind === 'not found'
  return {
    title,
    nodes: [
      back(scene),
      heading(title),
      isNone
        ? note(`No buoy within ${NEAR_KM} km has reported in the last 24 hours.`)
        : instead(near, 'the nearest buoys'),
      near.state !== 'here'
        ? null
        : element(
            'dl',
            { class: 'facts' },
            ...(near.data.buoys ?? []).map(({ name, distance_km: km, last_reading: reading }) =>
              element(
                'div',
                {},
                element('dt', {}, `${name}, ${Math.round(km)} km away`),
                element(
                  'dd',
                  {},
                  ...(reading === null
                    ? ['no reading']
                    : [`${reading.significient_height.toFixed(2)} m, `, ago(reading.time, scene.clock())]),
                ),
              ),
            ),
          ),
      near.state === 'here' ? downloadBox(scene, ({ offersOfGuest }) => offersOfGuest(scene, nearest)) : null,
      invitation('Forecast and tide of this point need an API key.', onKey),
    ],
  }
}

function invitation(text: string, onKey: () => void): HTMLElement {
  return element(
    'div',
    { class: 'invitation' },
    element('p', {}, text),
    element('button', { type: 'button', class: 'primary', id: 'invite-key', onclick: onKey }, 'Enter a key'),
    whereKeysComeFrom(),
  )
}

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
/** The middle of a map of half of the world does not tell what the visitor looks at. */
const LEAST_ZOOM = 3

interface GuestBuoys {
  buoys: ActiveBuoy[]
}

export class Guest {
  readonly #scene: Scene
  #looks: Position[] = []
  #parts: readonly NearestBuoy[][] = []
  #buoys: ActiveBuoy[] = []

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** The buoys that are known so far; the same array as long as nothing has come. */
  buoys(): Answer<GuestBuoys> {
    this.#look()
    const answers = [...FIRST_POINTS, ...this.#looks].map((point) =>
      this.#scene.answers.get(nearestAddress(this.#scene, point, MOST_NEAREST)),
    )
    const parts = answers.flatMap((answer) => (answer.state === 'here' ? [answer.data.buoys ?? []] : []))
    if (parts.length === 0) return answers[0] as Answer<never>
    if (parts.length !== this.#parts.length || parts.some((part, i) => part !== this.#parts[i])) {
      this.#parts = parts
      const byId = new Map(parts.flat().map((buoy) => [buoy.id, buoy]))
      this.#buoys = [...byId.values()].map((buoy) => asActive(buoy))
    }
    return { state: 'here', data: { buoys: this.#buoys } }
  }

  /** Notes where the visitor looks, by whole degrees. */
  #look(): void {
    const { camera, point } = this.#scene.view
    const at = point ?? (camera !== null && camera.zoom >= LEAST_ZOOM ? camera : null)
    if (at === null) return
    const look = { lat: Math.round(at.lat), lng: Math.round(at.lng) }
    if (this.#looks.some(({ lat, lng }) => lat === look.lat && lng === look.lng)) return
    this.#looks = [...this.#looks, look].slice(-MOST_LOOKS)
  }

  /** A buoy by its slug, or by its id where nothing else is known. */
  buoy(name: string): Answer<{ buoy: GuestBuoy | null }> {
    const known = this.#buoys.find(({ slug, id }) => slug === name || String(id) === name)
    if (known !== undefined) return { state: 'here', data: { buoy: known } }
    const found = this.#scene.answers.get(searchAddress(this.#scene.api, name))
    if (found.state !== 'here') return found
    const item = found.data.buoys.find(({ slug }) => slug === name) ?? null
    if (item === null) return { state: 'here', data: { buoy: null } }
    const near = this.#scene.answers.get(nearestAddress(this.#scene, item, MOST_NEAREST))
    const reading =
      near.state === 'here' ? near.data.buoys?.find(({ id }) => id === item.id)?.last_reading : undefined
    return { state: 'here', data: { buoy: { ...item, last_reading: reading ?? null } } }
  }
}

type GuestBuoy = Pick<
  BuoySearchItem & ActiveBuoy,
  'id' | 'name' | 'slug' | 'lat' | 'lng' | 'source' | 'last_reading'
> &
  Partial<Pick<BuoySearchItem, 'country' | 'source_identifier'>>

/** The answer for one buoy has another shape, so `limit` is 2 or more. */
function nearestAddress(
  { api }: Scene,
  { lat, lng }: Position,
  limit: number,
  within = ANYWHERE_KM,
): Address<{ buoys?: NearestBuoy[] }> {
  return api.address('/buoys/nearest', {
    lat,
    lng,
    limit,
    max_distance: within,
  } satisfies NearestBuoysParameters)
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
