/** The pieces that several panels are made of. */
import type { Answer } from '../answers.ts'
import type { TroubleKind } from '../api.ts'
import { choices, element, icon } from '../dom.ts'
import { position } from '../format.ts'
import { classOf, HEIGHT_COLORS } from '../heights.ts'
import type { Scene } from '../scene.ts'

const BACK_ICON = 'M15 5l-7 7 7 7'

/** What the panel shows for a failure: the server's messages are for those who write programs. */
const TROUBLE_TEXTS: { readonly [kind in TroubleKind]: string } = {
  quota: 'This will load when the hourly quota is renewed.',
  unauthorized: 'This needs an API key.',
  offline: 'No connection.',
  unavailable: 'The server cannot answer right now.',
  'not found': 'There is no such buoy.',
  refused: 'The server has no data for this selection.',
}

/** A spot in the colour of a height; a ring for a virtual buoy. */
export function chip(height: number | null, isVirtual = false): HTMLElement {
  const made = element('span', { class: isVirtual ? 'chip ring' : 'chip', 'aria-hidden': 'true' })
  if (height !== null) made.style.setProperty('--height-color', HEIGHT_COLORS[classOf(height)] ?? null)
  return made
}

export function waiting(what: string): HTMLElement {
  const spinner = element('span', { class: 'spinner', 'aria-hidden': 'true' })
  return element('p', { class: 'waiting' }, spinner, `Loading ${what} …`)
}

/** Shown where an answer has not come or never will; null where it has come. */
export function instead(answer: Answer<unknown>, what: string): HTMLElement | null {
  if (answer.state === 'waiting') return waiting(what)
  if (answer.state === 'here') return null
  const { kind } = answer.trouble
  return element('p', { class: 'trouble' }, TROUBLE_TEXTS[kind])
}

export function note(text: string): HTMLElement {
  return element('p', { class: 'note' }, text)
}

export function heading(text: string): HTMLElement {
  return element('h2', { tabindex: -1 }, text)
}

/** The way from a buoy or a point to the list. */
export function back(scene: Scene): HTMLElement {
  return element(
    'button',
    {
      type: 'button',
      class: 'back',
      id: 'back',
      onclick: () => scene.update({ buoy: null, point: null, tab: 'now' }),
    },
    icon(BACK_ICON),
    'All buoys',
  )
}

/** Chooses the clock that times are given by. `here` names the zone of the buoy or point. */
export function zoneSwitch(scene: Scene, here: string): HTMLElement {
  return element(
    'div',
    { class: 'zone' },
    element('span', { 'aria-hidden': 'true' }, 'Times'),
    choices(
      'zone',
      'Time zone',
      [
        { value: 'buoy' as const, label: here },
        { value: 'utc' as const, label: 'UTC' },
        { value: 'viewer' as const, label: 'Mine' },
      ],
      scene.view.zone,
      (zone) => scene.update({ zone }),
    ),
  )
}

export interface Drawn {
  title: string
  nodes: (Node | null)[]
  /** Called when the nodes are in the page: charts need their width. Returns what removes the charts. */
  afterwards?: () => () => void
}

/** Country, network with identifier, and position, as far as they are known. */
export function whereaboutsOf(buoy: {
  country?: string | null
  source: string
  source_identifier?: string
  lat: number
  lng: number
}): string {
  const { country, source, source_identifier: identifier, lat, lng } = buoy
  return [country, identifier === undefined ? source : `${source} ${identifier}`, position(lat, lng)]
    .filter(Boolean)
    .join(' · ')
}
