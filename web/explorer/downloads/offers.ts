/** What can be saved of what the panel shows. */
import type { BuoyDetail, Conditions } from '../../../clients/typescript/groundswell.ts'
import {
  conditionsAddress,
  mapAddress,
  passesAddress,
  readingsAddress,
  searchAddress,
  seriesAddress,
} from '../addresses.ts'
import { charts, type Draw, shown } from '../charts/plots.tsx'
import { chosenZone, position, UTC, type Zone } from '../format.ts'
import { metricOf, type SubjectOf } from '../page.ts'
import { creditText, forecastText } from '../panel/credits.tsx'
import { seasonView } from '../panel/seasons.tsx'
import { LEAST_CHARACTERS } from '../search.tsx'
import { api, clock, map, page, query, scalesOf, view } from '../store.ts'
import { SEASONS } from '../view.ts'

/** Formats of files, in the order of their buttons. Each is a value of `format` in the API. */
export const FILE_FORMATS = { csv: 'CSV', geojson: 'GeoJSON', parquet: 'Parquet' } as const

export type FileFormat = keyof typeof FILE_FORMATS

/** A chart as a picture. */
export interface Picture {
  /** Ends in `.png`. */
  file: string
  title: string
  /** The line below the title: what is measured, where, and by which clock. */
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
  /** The formats of files; an answer that is not a table has none. */
  formats: readonly FileFormat[]
  picture?: Picture | null
}

/** The address of an offer in a format. */
export function fileAddress({ address }: Offer, format: FileFormat): string {
  return `${address}${address.includes('?') ? '&' : '?'}format=${format}`
}

/** What the panel offers now; changes with the page, the search and the place of the map. */
export function offersNow(): Offer[] {
  const { subject, view: shownView } = page.value
  switch (subject.kind) {
    case 'list':
      return offersOfList(shownView.satellites)
    case 'point':
      return [
        subject.near && places('The nearest buoys', subject.near.address),
        subject.conditions && places('These conditions', subject.conditions.address),
      ].filter((offer) => offer !== null)
    case 'buoy':
      if (subject.now === null) return [offerOfSeasons(subject)]
      return [
        ...offersOfNow(subject.buoy, subject.now),
        { label: 'This buoy', address: subject.address, formats: [] },
      ]
    case 'known':
      return []
  }
}

/** An answer with positions. */
const places = (label: string, address: string): Offer => ({ label, address, formats: ['csv', 'geojson'] })

/** The box of the search keeps its text when its list is closed. */
function searchOffers(): Offer[] {
  const text = query.value.trim()
  const isSearch = Array.from(text).length >= LEAST_CHARACTERS
  return isSearch ? [places(`Search for “${text}”`, searchAddress(api, text))] : []
}

function offersOfList(satellites: boolean): Offer[] {
  // The place of the map is part of the view.
  void view.value
  const inView = map.value?.getBounds()
  if (api.isGuest) return searchOffers()
  return [
    ...searchOffers(),
    ...(inView === undefined ? [] : [places('Buoys in the map’s view', mapAddress(api, inView))]),
    places('All buoys of the map', mapAddress(api)),
    ...(satellites ? [places('Latest satellite passes', passesAddress(api))] : []),
  ]
}

/** A picture of a chart, with the zoom that the visitor has chosen; null before its code has come. */
function pictureOf(
  buoy: BuoyDetail,
  draw: Draw,
  { file, title, zone, credits = [] }: { file: string; title: string; zone?: Zone; credits?: string[] },
): Picture | null {
  const { source, source_identifier: identifier, lat, lng, slug, name } = buoy
  const code = charts.value
  if (code === null) return null
  const where = `${source} ${identifier} · ${position(lat, lng)}`
  const snapshot = api.snapshot === null ? '' : ` · snapshot ${api.snapshot}`
  return {
    file: `groundswell_${slug}_${file}.png`,
    title: `${name}${title}`,
    subtitle: zone === undefined ? where : `${where} · times: ${zone.label}`,
    // Who measured, then where the picture comes from.
    credits: [
      creditText(buoy),
      `${location.host}${snapshot} · ${dateText(new Date(clock()), UTC)}`,
      ...credits,
    ],
    draw: (place) => draw(code, place, { range: shown.range, at: null }),
  }
}

function offersOfNow(
  buoy: BuoyDetail,
  { chart, conditions }: NonNullable<SubjectOf<'buoy'>['now']>,
): Offer[] {
  const data = chart.answer.state === 'here' ? chart.answer.data : null
  const now = conditions.answer.state === 'here' ? conditions.answer.data : null
  const [start, end] = [data?.time[0], data?.time.at(-1)]
  const ofNow = places('Forecast and tide now', conditionsAddress(api, buoy))
  if (data === null || start === undefined || end === undefined) return [ofNow]
  const zone = chosenZone(page.value.view.zone, buoy.timezone)
  const scales = scalesOf.value(buoy)
  const [from, to] = shown.range ?? [Date.parse(start) / 1000, Date.parse(end) / 1000]
  const draw: Draw = (code, place, memory) => code.drawReadings(place, data, zone, scales, memory)
  return [
    {
      label: 'Readings of the chart',
      address: readingsAddress(api, buoy.slug, start, end),
      formats: ['csv', 'geojson', 'parquet'],
    },
    {
      label: 'The chart, with forecast and tide',
      address: chart.address,
      formats: ['csv'],
      picture: pictureOf(buoy, draw, {
        file: `chart_${start.slice(0, 10)}_${end.slice(0, 10)}`,
        title: `, ${dateText(new Date(from * 1000), zone)} to ${dateText(new Date(to * 1000), zone)}`,
        zone,
        credits: now === null ? [] : [modelText(now, zone)],
      }),
    },
    ofNow,
  ]
}

/** The origin of a chart's forecast and tide; '' where it has neither. */
function modelText({ forecast, tide, metadata }: Conditions, zone: Zone): string {
  const tideText = ['Tide', tide.harbor, metadata.tide_source].filter(Boolean).join(': ')
  return [
    forecast.waves_height === null ? '' : forecastText(metadata, zone),
    tide.height === null ? '' : tideText,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** `22 Nov 2026`: a picture is looked at in other years, too. */
function dateText(time: Date, { name }: Zone): string {
  const style = { timeZone: name, day: 'numeric', month: 'short', year: 'numeric' } as const
  return new Intl.DateTimeFormat('en-GB', style).format(time)
}

function offerOfSeasons({ buoy, seasons }: SubjectOf<'buoy'>): Offer {
  const { view } = page.value
  const [metric, { season }] = [metricOf(buoy, view), view]
  const address = seriesAddress(api, buoy.slug, { metric, season })
  const drawn = seasonView(buoy, view, seasons?.answer ?? { state: 'waiting' })
  const offer: Offer = { label: 'This season over the years', address, formats: ['csv'] }
  if (drawn === null) return offer
  const years = drawn.against === null ? drawn.year : `${drawn.year} beside ${drawn.against}`
  return {
    ...offer,
    picture: pictureOf(buoy, (code, place, memory) => code.drawSeason(place, drawn, memory), {
      file: `${metric}_${season}`,
      title: `: ${drawn.label}, ${SEASONS[season]}, ${years}`,
    }),
  }
}
