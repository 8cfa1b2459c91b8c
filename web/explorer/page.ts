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
import type { ActiveBuoy, Address, Api } from './api.ts'
import { position } from './format.ts'
import { type Guest, type KnownBuoy, nearAddress } from './guest.ts'
import { type Decimals, namesOf } from './mine/units.ts'
import { FIRST_VIEW, type Metric, METRICS, type Position, type ViewState } from './view.ts'

/** What is known about an address. */
export interface Asked<T> {
  readonly address: Address<T>
  readonly answer: Answer<T>
}

/** The panel by its kind. */
export type Subject =
  | { kind: 'list'; passes: Asked<ListSatellitePassesAnswer['data']> | null }
  /** A guest gets the nearest buoys in place of the conditions. */
  | {
      kind: 'point'
      point: Position
      conditions: Asked<Conditions> | null
      near: Asked<{ buoys?: NearestBuoy[] }> | null
    }
  /** A buoy without details: they have not come, or never will. */
  | { kind: 'known'; slug: string; known: KnownBuoy | null; answer: Answer<unknown> }
  | {
      kind: 'buoy'
      buoy: BuoyDetail
      address: Address<unknown>
      /** The tab "Now". */
      now: { chart: Asked<Chart>; conditions: Asked<Conditions> } | null
      /** The tab "Seasons". */
      seasons: Asked<ReadingSeriesAnswer['data']> | null
    }

export type SubjectOf<K extends Subject['kind']> = Extract<Subject, { kind: K }>

export interface Page {
  readonly view: ViewState
  /** Names the panel, and is its first heading. */
  readonly title: string
  readonly buoys: Answer<{ buoys: readonly ActiveBuoy[]; decimals?: Decimals }>
  readonly subject: Subject
}

/** The same for all views of the same buoy or point; '' for the list. */
export function aboutOf({ buoy, point }: Pick<ViewState, 'buoy' | 'point'>): string {
  return buoy ?? (point === null ? '' : `${point.lat} ${point.lng}`)
}

/** Names of points by `aboutOf`. An address has none: a link could have the page say anything. */
export const placeNames = new Map<string, string>()

/** The metric of a view; of a buoy that does not measure waves the first one that it has. */
export function metricOf({ available = {} }: BuoyDetail, { metric }: ViewState): Metric {
  if (metric !== FIRST_VIEW.metric || Object.hasOwn(available, metric)) return metric
  return namesOf(METRICS).find((each) => Object.hasOwn(available, each)) ?? metric
}

/** Whether satellites measure all that there is. */
export const isVirtualOnly = (buoys: readonly ActiveBuoy[]): boolean =>
  buoys.length > 0 && buoys.every(({ virtual }) => virtual)

const NO_LIST = { state: 'here', data: { buoys: [] } } as const

/** Asks for what is not known yet, first for all buoys. `isOfOneBuoy`: within a page of somebody else's. */
export function pageOf(
  api: Api,
  answers: Answers,
  guest: Guest,
  view: ViewState,
  isOfOneBuoy: boolean,
): Page {
  answers.beginDrawing()
  const buoys = isOfOneBuoy ? NO_LIST : api.isGuest ? guest.buoys(view) : answers.get(mapAddress(api))
  const subject = api.isGuest
    ? guestSubject(api, answers, guest, view)
    : subjectOf(api, answers, view, buoys.state === 'here' ? buoys.data.buoys : [])
  return { view, buoys, subject, title: titleOf(subject, api.isGuest) }
}

function guestSubject(api: Api, answers: Answers, guest: Guest, { buoy: slug, point }: ViewState): Subject {
  if (slug !== null) {
    const answer = guest.buoy(slug)
    return { kind: 'known', slug, answer, known: answer.state === 'here' ? answer.data : null }
  }
  if (point === null) return { kind: 'list', passes: null }
  const address = nearAddress(api, point)
  return { kind: 'point', point, conditions: null, near: { address, answer: answers.get(address) } }
}

function subjectOf(api: Api, answers: Answers, view: ViewState, active: readonly ActiveBuoy[]): Subject {
  const ask = <T>(address: Address<T>): Asked<T> => ({ address, answer: answers.get(address) })
  const { buoy: slug, point } = view
  if (slug !== null) {
    const { address, answer } = ask(buoyAddress(api, slug))
    if (answer.state !== 'here') {
      const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
      // The list of all buoys has the newest reading, and is here already.
      const known = isUnknown ? undefined : active.find((buoy) => buoy.slug === slug)
      return { kind: 'known', slug, answer, known: known ?? null }
    }
    const { buoy } = answer.data
    const isNow = view.tab === 'now'
    const [chart, conditions] = [chartAddress(api, buoy, view.span), conditionsAddress(api, buoy)]
    return {
      kind: 'buoy',
      buoy,
      address,
      now: isNow ? { chart: ask(chart), conditions: ask(conditions) } : null,
      seasons: isNow ? null : ask(seriesAddress(api, slug, { ...view, metric: metricOf(buoy, view) })),
    }
  }
  if (point !== null)
    return { kind: 'point', point, conditions: ask(conditionsAddress(api, point)), near: null }
  const withPasses = view.satellites || isVirtualOnly(active)
  return { kind: 'list', passes: withPasses ? ask(passesAddress(api)) : null }
}

function titleOf(subject: Subject, isGuest: boolean): string {
  switch (subject.kind) {
    case 'list':
      return isGuest ? 'Buoys' : 'Buoys now'
    case 'buoy':
      return subject.buoy.name
    case 'known': {
      const { known, slug, answer } = subject
      const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
      return isUnknown ? 'No such buoy' : (known?.name ?? slug)
    }
    case 'point': {
      const { point } = subject
      return placeNames.get(aboutOf({ buoy: null, point })) ?? `Sea at ${position(point.lat, point.lng)}`
    }
  }
}
