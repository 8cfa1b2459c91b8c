/** What the panel is about and all answers that it is drawn from: what a view asks the server for. */
import type {
  BuoyDetail,
  Chart,
  Conditions,
  ListSatellitePassesAnswer,
  NearestBuoy,
  ReadingSeriesAnswer,
} from '../../clients/typescript/groundswell.ts'
import {
  buoyAddress,
  chartAddress,
  conditionsAddress,
  mapAddress,
  passesAddress,
  seriesAddress,
} from './addresses.ts'
import type { Answer, Answers } from './answers.ts'
import type { ActiveBuoy, Address, Scene } from './api.ts'
import { position } from './format.ts'
import { type Guest, type GuestBuoy, nearAddress } from './guest.ts'
import type { Position, ViewState } from './view.ts'

/** What is known about an address. */
export interface Asked<T> {
  readonly address: Address<T>
  readonly answer: Answer<T>
}

/** The panel by its kind. */
export type Subject =
  | { kind: 'list'; passes: Asked<ListSatellitePassesAnswer['data']> | null }
  | { kind: 'point'; point: Position; conditions: Asked<Conditions> }
  | { kind: 'missing'; slug: string; answer: Answer<unknown> }
  | {
      kind: 'buoy'
      buoy: BuoyDetail
      address: Address<unknown>
      /** Of the tab "Now". */
      now: { chart: Asked<Chart>; conditions: Asked<Conditions> } | null
      /** Of the tab "Seasons". */
      seasons: Asked<ReadingSeriesAnswer['data']> | null
    }
  | { kind: 'guest list' }
  | { kind: 'guest buoy'; slug: string; answer: Answer<{ buoy: GuestBuoy | null }> }
  | { kind: 'guest point'; point: Position; near: Asked<{ buoys?: NearestBuoy[] }> }

export type SubjectOf<K extends Subject['kind']> = Extract<Subject, { kind: K }>

export interface Page {
  readonly view: ViewState
  /** Names the panel, and is its first heading. */
  readonly title: string
  readonly buoys: Answer<{ buoys: readonly ActiveBuoy[] }>
  readonly subject: Subject
}

/** The same for all views of the same buoy or point; '' for the list. */
export function aboutOf({ buoy, point }: Pick<ViewState, 'buoy' | 'point'>): string {
  return buoy ?? (point === null ? '' : `${point.lat} ${point.lng}`)
}

/** Names of points, by what `aboutOf` gives for them. An address has none: a link could have the page say anything. */
export const placeNames = new Map<string, string>()

const NO_LIST = { state: 'here', data: { buoys: [] } } as const

/** Asks for what is not known yet. The first address is that of all buoys, where they are shown. */
export function pageOf(scene: Scene, answers: Answers, guest: Guest, view: ViewState): Page {
  answers.beginDrawing()
  const buoys = scene.isOfOneBuoy
    ? NO_LIST
    : scene.api.isGuest
      ? guest.buoys(view)
      : answers.get(mapAddress(scene))
  const subject = subjectOf(scene, answers, guest, view)
  const known = buoys.state === 'here' ? buoys.data.buoys : []
  return { view, buoys, subject, title: titleOf(subject, known) }
}

function subjectOf(scene: Scene, answers: Answers, guest: Guest, view: ViewState): Subject {
  const ask = <T>(address: Address<T>): Asked<T> => ({ address, answer: answers.get(address) })
  const { buoy: slug, point } = view
  if (scene.api.isGuest) {
    if (slug !== null) return { kind: 'guest buoy', slug, answer: guest.buoy(slug) }
    if (point !== null) return { kind: 'guest point', point, near: ask(nearAddress(scene, point)) }
    return { kind: 'guest list' }
  }
  if (slug !== null) {
    const { address, answer } = ask(buoyAddress(scene, slug))
    if (answer.state !== 'here') return { kind: 'missing', slug, answer }
    const { buoy } = answer.data
    const isNow = view.tab === 'now'
    const [chart, conditions] = [chartAddress(scene, buoy, view.span), conditionsAddress(scene, buoy)]
    return {
      kind: 'buoy',
      buoy,
      address,
      now: isNow ? { chart: ask(chart), conditions: ask(conditions) } : null,
      seasons: isNow ? null : ask(seriesAddress(scene, slug, view)),
    }
  }
  if (point !== null) return { kind: 'point', point, conditions: ask(conditionsAddress(scene, point)) }
  return { kind: 'list', passes: view.satellites ? ask(passesAddress(scene)) : null }
}

function titleOf(subject: Subject, known: readonly ActiveBuoy[]): string {
  switch (subject.kind) {
    case 'list':
      return 'Buoys now'
    case 'guest list':
      return 'Buoys'
    case 'buoy':
      return subject.buoy.name
    case 'guest buoy': {
      const found = subject.answer.state === 'here' ? subject.answer.data.buoy : null
      return found?.name ?? subject.slug
    }
    case 'missing':
      // The map knows the name while the details are on their way.
      return known.find(({ slug }) => slug === subject.slug)?.name ?? subject.slug
    case 'point':
    case 'guest point': {
      const { point } = subject
      return placeNames.get(aboutOf({ buoy: null, point })) ?? `Sea at ${position(point.lat, point.lng)}`
    }
  }
}
