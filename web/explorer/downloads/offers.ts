/** What can be saved of what a panel shows. */
import type { BuoyDetail, Chart, Conditions } from '../../../clients/typescript/groundswell.ts'
import {
  chartAddress,
  conditionsAddress,
  mapAddress,
  passesAddress,
  readingsAddress,
  searchAddress,
  seriesAddress,
} from '../addresses.ts'
import type { Memory } from '../charts/loading.ts'
import { byId } from '../dom.ts'
import { position, UTC, type Zone } from '../format.ts'
import { creditText } from '../panel/credits.ts'
import type { Scene } from '../scene.ts'
import type { Bounds, Position } from '../view.ts'

/** Formats of files, in the order of their buttons. Each is a value of `format` in the API. */
export const FILE_FORMATS = {
  csv: 'CSV',
  geojson: 'GeoJSON',
  parquet: 'Parquet',
} as const

export type FileFormat = keyof typeof FILE_FORMATS

/** A chart as a picture. */
export interface Picture {
  /** Ends in `.png`. */
  file: string
  title: string
  /** Below the title: what is measured, where, in whose time. */
  subtitle: string
  /** At the foot: who measured it. */
  credits: readonly string[]
  /** Draws the chart into a place of the page; returns what removes it. */
  draw: (place: HTMLElement) => () => void
}

export interface Offer {
  label: string
  /** The address from the server's root, without a format and without a key. */
  address: string
  formats: readonly FileFormat[]
  picture?: Picture | null
}

/** The address of an offer in a format. */
export function fileAddress({ address }: Offer, format: FileFormat): string {
  return `${address}${address.includes('?') ? '&' : '?'}format=${format}`
}

/** Operations with positions. */
const PLACES: readonly FileFormat[] = ['csv', 'geojson']
const READINGS = Object.keys(FILE_FORMATS) as FileFormat[]
const LEAST_CHARACTERS = 2

/** The box of the search keeps its text when its list is closed. */
function searchOffers({ api }: Scene): Offer[] {
  const query = (byId('query') as HTMLInputElement).value.trim()
  if (Array.from(query).length < LEAST_CHARACTERS) return []
  return [{ label: `Search for “${query}”`, address: searchAddress(api, query), formats: PLACES }]
}

export function offersOfList(scene: Scene, inView: Bounds | null): Offer[] {
  const passes = { label: 'Latest satellite passes', address: passesAddress(scene), formats: PLACES }
  return [
    ...searchOffers(scene),
    ...(inView === null
      ? []
      : [{ label: 'Buoys in the map’s view', address: mapAddress(scene, inView), formats: PLACES }]),
    { label: 'All buoys of the map', address: mapAddress(scene), formats: PLACES },
    ...(scene.view.satellites ? [passes] : []),
  ]
}

/** What is public: a search, and the nearest buoys of a point. */
export function offersOfGuest(scene: Scene, nearest: string | null): Offer[] {
  const near = { label: 'The nearest buoys', address: nearest ?? '', formats: PLACES }
  return [...searchOffers(scene), ...(nearest === null ? [] : [near])]
}

export function offersOfPoint(scene: Scene, point: Position): Offer[] {
  return [{ label: 'These conditions', address: conditionsAddress(scene, point), formats: PLACES }]
}

/** A chart that is drawn, with the zoom that the visitor has chosen. */
interface DrawnChart {
  memory: Memory
  draw: (place: HTMLElement, memory: Memory) => () => void
}

const pictureMemory = ({ memory }: DrawnChart): Memory => ({ range: memory.range, at: null })

export function offersOfNow(
  scene: Scene,
  buoy: BuoyDetail,
  chart: Chart | null,
  now: Conditions | null,
  zone: Zone,
  drawn: DrawnChart | null,
): Offer[] {
  const [start, end] = [chart?.time[0], chart?.time.at(-1)]
  const conditions = {
    label: 'Forecast and tide now',
    address: conditionsAddress(scene, buoy),
    formats: PLACES,
  }
  if (start === undefined || end === undefined) return [conditions]
  const besides = now === null ? [] : [modelText(now, zone)]
  const dates = `${start.slice(0, 10)}_${end.slice(0, 10)}`
  const [from, to] = rangeOf(drawn?.memory ?? null, start, end)
  return [
    {
      label: 'Readings of the chart',
      address: readingsAddress(scene, buoy.slug, start, end),
      formats: READINGS,
    },
    {
      label: 'The chart, with forecast and tide',
      address: chartAddress(scene, buoy, scene.view.span),
      formats: ['csv'],
      picture: drawn && {
        file: `groundswell_${buoy.slug}_chart_${dates}.png`,
        title: `${buoy.name}, ${dateText(from, zone)} to ${dateText(to, zone)}`,
        subtitle: `${whereOf(buoy)} · times: ${zone.label}`,
        credits: [...creditsOf(scene, buoy), ...besides],
        draw: (place) => drawn.draw(place, pictureMemory(drawn)),
      },
    },
    conditions,
  ]
}

/** Where forecast and tide of a chart come from; '' where it has neither. */
function modelText({ forecast, tide, metadata }: Conditions, zone: Zone): string {
  const { forecast_updated_at: run, forecast_model: model, forecast_credit: credit } = metadata
  const ofForecast =
    forecast.waves_height === null || run === null
      ? []
      : [['Forecast', model, `run of ${dateText(new Date(run), zone)}`].filter(Boolean).join(': '), credit]
  const ofTide =
    tide.height === null ? [] : [['Tide', tide.harbor, metadata.tide_source].filter(Boolean).join(': ')]
  return [...ofForecast, ...ofTide].filter(Boolean).join(' · ')
}

/** `22 Nov 2026`: a picture is looked at in other years, too. */
function dateText(time: Date, { name }: Zone): string {
  const style = { timeZone: name, day: 'numeric', month: 'short', year: 'numeric' } as const
  return new Intl.DateTimeFormat('en-GB', style).format(time)
}

function rangeOf(memory: Memory | null, start: string, end: string): [Date, Date] {
  const [from, to] = memory?.range ?? [Date.parse(start) / 1000, Date.parse(end) / 1000]
  return [new Date(from * 1000), new Date(to * 1000)]
}

/** `about` is the measure, its season and the compared years. */
export function offersOfSeasons(
  scene: Scene,
  buoy: BuoyDetail,
  about: string,
  drawn: DrawnChart | null,
): Offer[] {
  const { metric, season } = scene.view
  return [
    {
      label: 'This season over the years',
      address: seriesAddress(scene, buoy.slug),
      formats: ['csv'],
      picture: drawn && {
        file: `groundswell_${buoy.slug}_${metric}_${season}.png`,
        title: `${buoy.name}: ${about}`,
        subtitle: whereOf(buoy),
        credits: creditsOf(scene, buoy),
        draw: (place) => drawn.draw(place, pictureMemory(drawn)),
      },
    },
  ]
}

function whereOf({ source, source_identifier: identifier, lat, lng }: BuoyDetail): string {
  return `${source} ${identifier} · ${position(lat, lng)}`
}

/** Who measured, then where the picture comes from. */
function creditsOf({ api, clock }: Scene, buoy: BuoyDetail): string[] {
  const made = dateText(new Date(clock()), UTC)
  const snapshot = api.snapshot === null ? '' : ` · snapshot ${api.snapshot}`
  return [creditText(buoy, api.isDemo), `${location.host}${snapshot} · ${made}`]
}
