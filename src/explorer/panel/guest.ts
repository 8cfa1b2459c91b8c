/**
 * The panels of a visitor without a key, where the explorer asks for one: what is public, and the way to a
 * key.
 */
import { whereKeysComeFrom } from '../contact.ts'
import { downloadBox } from '../downloads/box.ts'
import { ago, element } from '../dom.ts'
import { position, UTC } from '../format.ts'
import { nearestAddress, type Guest, type GuestBuoy } from '../guest.ts'
import { chosenZone, type Scene } from '../scene.ts'
import type { Position } from '../view.ts'
import type { Drawn } from './drawn.ts'
import { buoyRows, type ListState } from './list.ts'
import { latest } from './now.ts'
import { back, heading, instead, note } from './pieces.ts'

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
  // So that the map shows them, too.
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

function whereaboutsOf({ country, source, source_identifier: identifier, lat, lng }: GuestBuoy): string {
  return [country, identifier === undefined ? source : `${source} ${identifier}`, position(lat, lng)]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .join(' · ')
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
