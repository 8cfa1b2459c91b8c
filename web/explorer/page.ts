/** The subject of the panel and all answers that it is drawn from: what a view asks the server for. */
import type * as Client from '../../clients/typescript/groundswell.ts'
import type { BuoyDetail, Chart, PlaceForecast } from '../../clients/typescript/groundswell.ts'
import {
  allAddress,
  type Bucket,
  bucketOf,
  buoyAddress,
  type ChartRange,
  chartRange,
  climateAddress,
  dayBeforeAddress,
  forecastAddress,
  mapAddress,
  pastAddress,
  recentAddress,
  seriesAddress,
  spectrumAddress,
  trendAddress,
} from './addresses.ts'
import type { Answer, Answers } from './answers.ts'
import type { ActiveBuoy, Address, Api } from './api.ts'
import type { Rows } from './charts/parts.ts'
import { chosenZone, position } from './format.ts'
import { texts } from './language.ts'
import type { Guest, KnownBuoy } from './guest.ts'
import { type Decimals, namesOf } from './mine/units.ts'
import { FIRST_VIEW, type Metric, METRICS, type Position, type ViewState } from './view.ts'

/** An address and its answer so far. */
export interface Asked<T> {
  readonly address: Address<T>
  readonly answer: Answer<T>
}

/** The heights of the last day, by buoy. */
export type Trend = Asked<Rows> | null

/** The heights of the last day that a trend has of a buoy. */
export function heightsOf(trend: Trend, id: number): number[] {
  if (trend?.answer.state !== 'here') return []
  const { buoy_id: ids, significient_height: heights } = trend.answer.data.buckets
  return heights.filter((height, i): height is number => ids[i] === id && height !== null)
}

/** The panel by its kind. A guest gets neither forecast nor trend. */
export type Subject =
  | { kind: 'list'; trend: Trend }
  | { kind: 'point'; point: Position; forecast: Asked<PlaceForecast> | null }
  /** A buoy without details: they have not come, or never will. */
  | { kind: 'known'; slug: string; known: KnownBuoy | null; answer: Answer<unknown> }
  | {
      kind: 'buoy'
      buoy: BuoyDetail
      address: Address<unknown>
      /** The tab "Now". */
      now: NowAsked | null
      /** The tab "Seasons". */
      seasons: Asked<Client.ReadingSeriesAnswer['data']> | null
      /** The tab "Spectrum". */
      spectrum: SpectrumAsked | null
      /** The tab "Climate". */
      climate: ClimateAsked | null
      /** The trend on the card. */
      trend: Trend
    }

/** The newest wave spectrum, and that of the day before once the time of the newest is known. */
export interface SpectrumAsked {
  readonly newest: Asked<Client.ListSpectraAnswer['data']>
  readonly before: Asked<Client.ListSpectraAnswer['data']> | null
}

/** Answers that the tab of the climate draws, in this order. */
export interface ClimateAsked {
  readonly months: Asked<Client.ClimateAnswer['data']>
  readonly table: Asked<Client.ClimateTableAnswer['data']>
  readonly rose: Asked<Client.ClimateTableAnswer['data']>
  readonly storms: Asked<Client.ClimateStormsAnswer['data']>
  readonly records: Asked<Client.ClimateRecordsAnswer['data']>
  readonly levels: Asked<Client.ClimateExtremesAnswer['data']>
}

/** Storms that are drawn at most. */
const MOST_STORMS = 1000

/** Readings of a buoy, another one beside it, and the days ahead. */
export interface NowAsked {
  readonly past: Asked<Chart | Rows>
  /** For a long range: its bucket, its days, and the least and greatest heights of each. */
  readonly long: {
    readonly bucket: Bucket
    readonly range: ChartRange
    readonly least: Asked<Chart | Rows>
    readonly greatest: Asked<Chart | Rows>
  } | null
  /** The last hours; null without a reading. */
  readonly recent: Asked<Chart | Rows> | null
  readonly beside: (Asked<Chart | Rows> & { readonly buoy: ActiveBuoy }) | null
  readonly forecast: Asked<PlaceForecast>
  /** Usual heights of each month; null for a buoy of less than three years. */
  readonly usual: Asked<Client.ClimateAnswer['data']> | null
  /** Whether the chart goes on to now, and to the days ahead. */
  readonly isToNow: boolean
  readonly isAhead: boolean
}

export type SubjectOf<K extends Subject['kind']> = Extract<Subject, { kind: K }>

export interface Page {
  readonly view: ViewState
  readonly buoys: Answer<{ buoys: readonly ActiveBuoy[]; decimals?: Decimals }>
  /** All buoys, with the silent ones; null if nothing shows them. */
  readonly all: Answer<{ buoys: readonly ActiveBuoy[] }> | null
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

/** Some networks have only one period. */
const periodOf = ({ available = {} }: BuoyDetail): string =>
  Object.hasOwn(available, 'peak_period') ? 'peak_period' : 'period'

/** Whether only satellites measure. */
export const isVirtualOnly = (buoys: readonly ActiveBuoy[]): boolean =>
  buoys.length > 0 && buoys.every(({ virtual }) => virtual)

/** How the page is shown. */
export interface Place {
  /** Whether it is a frame about one buoy in another page. */
  readonly isOfOneBuoy: boolean
  /** Width of a chart. */
  readonly pixels: number
  /** Whether there is a map, which shows the silent buoys too. */
  readonly hasMap: boolean
}

const NO_LIST = { state: 'here', data: { buoys: [] } } as const

/** Asks for what is not known yet, first for all buoys. */
export function pageOf(api: Api, answers: Answers, guest: Guest, view: ViewState, place: Place): Page {
  answers.beginDrawing()
  const { isGuest } = api
  const guestBuoys = (): Page['buoys'] => (place.isOfOneBuoy ? NO_LIST : guest.buoys(view))
  const buoys = isGuest ? guestBuoys() : answers.get(mapAddress(api, place.isOfOneBuoy))
  const subject = isGuest
    ? guestSubject(guest, view)
    : subjectOf(api, answers, view, buoys.state === 'here' ? buoys.data.buoys : [], place)
  const all = isGuest || !place.hasMap ? null : answers.get(allAddress(api))
  return { view, buoys, all, subject }
}

function guestSubject(guest: Guest, { buoy: slug, point }: ViewState): Subject {
  if (slug !== null) {
    const answer = guest.buoy(slug)
    return { kind: 'known', slug, answer, known: answer.state === 'here' ? answer.data : null }
  }
  return point === null ? { kind: 'list', trend: null } : { kind: 'point', point, forecast: null }
}

function subjectOf(
  api: Api,
  answers: Answers,
  view: ViewState,
  active: readonly ActiveBuoy[],
  { isOfOneBuoy, pixels }: Place,
): Subject {
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
    const range = chartRange(api, buoy, view)
    const other = active.find((each) => each.slug === view.beside && each.slug !== slug)
    const bucket = bucketOf(range, pixels)
    // Days are those of the clock that times are given by.
    const by = { bucket, zone: chosenZone(view.zone, buoy.timezone).name }
    const now = (): NowAsked => {
      const past = ask(pastAddress(api, buoy, range, by))
      const extreme = (aggregation: 'min' | 'max') =>
        ask(pastAddress(api, buoy, range, { ...by, aggregation }))
      const newest = buoy.last_reading_time
      // The usual chart has the last hours.
      const hasRecent = bucket === null && view.range === null
      const recent = newest === null || hasRecent ? past : ask(recentAddress(api, buoy, newest))
      return {
        past,
        long:
          bucket === null || range === null
            ? null
            : { bucket, range, least: extreme('min'), greatest: extreme('max') },
        recent: newest === null ? null : recent,
        beside: other === undefined ? null : { ...ask(pastAddress(api, other, range, by)), buoy: other },
        forecast: ask(forecastAddress(api, buoy)),
        usual: buoy.usual ? ask(climateAddress(api, slug, '')) : null,
        isToNow: view.range === null && view.span !== 365,
        isAhead: range === null || (view.span !== 365 && Date.parse(range.end) > api.clock()),
      }
    }
    const spectrum = (): SpectrumAsked => ({
      newest: ask(spectrumAddress(api, slug)),
      before: buoy.spectrum == null ? null : ask(dayBeforeAddress(api, slug, buoy.spectrum.time)),
    })
    const climate = (): ClimateAsked => ({
      months: ask(climateAddress(api, slug, '')),
      table: ask(climateAddress(api, slug, '/table', { x: periodOf(buoy), x_bin: 2, y_bin: 1 })),
      rose: ask(climateAddress(api, slug, '/table', { x: 'direction', y_bin: 0.5 })),
      storms: ask(climateAddress(api, slug, '/storms', { per_page: MOST_STORMS })),
      records: ask(climateAddress(api, slug, '/records')),
      levels: ask(climateAddress(api, slug, '/extremes')),
    })
    const series = { ...view, metric: metricOf(buoy, view) }
    return {
      kind: 'buoy',
      buoy,
      address,
      now: view.tab === 'now' ? now() : null,
      seasons: view.tab === 'seasons' ? ask(seriesAddress(api, slug, series)) : null,
      spectrum: view.tab === 'spectrum' ? spectrum() : null,
      climate: view.tab === 'climate' ? climate() : null,
      trend: view.tab === 'card' ? ask(trendAddress(api, [buoy.id])) : null,
    }
  }
  if (point !== null) return { kind: 'point', point, forecast: ask(forecastAddress(api, point)) }
  const ids = active
    .filter(({ virtual, last_reading: reading }) => !virtual && reading !== null)
    .toSorted((a, b) => b.last_reading!.significient_height - a.last_reading!.significient_height)
    .map(({ id }) => id)
  return { kind: 'list', trend: ids.length === 0 || isOfOneBuoy ? null : ask(trendAddress(api, ids)) }
}

/** Names the panel, and is its first heading. */
export function titleOf({ subject }: Page, isGuest: boolean): string {
  switch (subject.kind) {
    case 'list':
      return isGuest ? texts.list.guestTitle : texts.list.title
    case 'buoy':
      return subject.buoy.name
    case 'known': {
      const { known, slug, answer } = subject
      const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
      return isUnknown ? texts.buoy.noSuch : (known?.name ?? slug)
    }
    case 'point': {
      const { point } = subject
      return (
        placeNames.get(aboutOf({ buoy: null, point })) ?? texts.ahead.seaAt(position(point.lat, point.lng))
      )
    }
  }
}
