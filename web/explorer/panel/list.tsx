/** The panel of all buoys: a row each, in an order that the visitor chooses. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ActiveBuoy } from '../api.ts'
import { Invitation } from '../dialogs.tsx'
import { DAY_MS, directionText, isOld } from '../format.ts'
import { isolated, texts } from '../language.ts'
import { distanceKm } from '../map/arc.ts'
import { scaledText } from '../mine/units.ts'
import { heightsOf, type SubjectOf, type Trend } from '../page.ts'
import { Ago, Arrow, Button, Chip, Choices, Instead, Spark } from '../pieces.tsx'
import {
  api,
  buoys as known,
  clock,
  dataAge,
  favourites,
  now,
  openBuoy,
  openPlace,
  page,
  pause,
  recently,
  scalesOf,
  showsSatellites,
} from '../store.ts'
import { pointOf, type Position } from '../view.ts'
import { Downloads } from './downloads.tsx'

/** Buoys around a point, and how far away they tell something about it. */
const MOST_NEAREST = 6
export const MOST_KM = 500

/** Rows of the list before the visitor asks for all; more than a screen holds come once those are drawn. */
const FIRST_ROWS = { drawn: 20, all: 100 } as const

const order = signal<keyof typeof texts.list.orders>('height')
const isWhole = signal(false)
const mostRows = signal<number>(FIRST_ROWS.drawn)

/** A height of hours ago is not among the highest of now, and buoys without a reading come last. */
function rank({ virtual, last_reading: reading, last_reading_time: time }: ActiveBuoy): number {
  if (order.value === 'name') return 0
  if (order.value === 'age') return Date.parse(time ?? '') || 0
  if (reading === null) return -2
  const isStale = isOld(Date.parse(reading.time), clock(), virtual)
  return isStale ? -1 / (1 + reading.significient_height) : reading.significient_height
}

export function BuoyList({ trend }: SubjectOf<'list'>) {
  const { buoys: answer } = page.value
  const all = answer.state === 'here' ? answer.data.buoys : []
  const buoys = showsSatellites.value ? all : all.filter(({ virtual }) => !virtual)
  const none = texts.list.none(recently.value)
  const { isGuest } = api
  return (
    <>
      {isGuest ? <Invitation text={texts.list.invitation} /> : null}
      <Instead of={answer} what="buoys" none={none} />
      {answer.state !== 'here' ? null : (
        <>
          <p class={dataAge.value === '' ? 'sub' : 'sub ago old'}>
            {isGuest && buoys.length > 0 ? texts.list.selection : countText(buoys, none)}
          </p>
          <Favourites buoys={all} trend={trend} />
          {favourites.value.length > 0 ? <h3>{texts.panel.all}</h3> : null}
          <BuoyRows buoys={buoys} trend={trend} />
          <Downloads />
        </>
      )}
    </>
  )
}

/** How many buoys report now; of data that are older than expected, how old they are. */
function countText(buoys: readonly ActiveBuoy[], none: string): string {
  if (buoys.length === 0) return none
  if (dataAge.value !== '') return `${texts.list.count(buoys.length)}. ${dataAge.value}`
  const since = now.value - DAY_MS
  const reporting = buoys.filter(({ last_reading_time: time }) => Date.parse(time ?? '') >= since)
  return reporting.length === 0 ? none : texts.list.reporting(reporting.length)
}

/** The visitor's own buoys come first, those without a recent reading too. */
function Favourites({ buoys, trend }: { buoys: readonly ActiveBuoy[]; trend: Trend }) {
  if (favourites.value.length === 0) return null
  return (
    <>
      <h3>{texts.list.favourites}</h3>
      <ul class="buoys favourites">
        {favourites.value.map((own) => (
          <BuoyRow
            key={own.slug}
            buoy={buoys.find(({ slug }) => slug === own.slug) ?? own}
            start="favourite"
            trend={trend}
          />
        ))}
      </ul>
    </>
  )
}

/** The browser does not give its position. */
const isNowhere = signal(false)

/** Opens what is near the visitor. The place goes into the address and to the server, so it is rough. */
export function NearMe() {
  const open = ({ coords }: GeolocationPosition): void => {
    isNowhere.value = false
    openPlace(texts.list.nearYou, {
      lat: Number(coords.latitude.toFixed(2)),
      lng: Number(coords.longitude.toFixed(2)),
    })
  }
  const fail = (): void => void (isNowhere.value = true)
  return (
    <>
      <Button
        text={texts.list.nearMe}
        class="small"
        id="near-me"
        onClick={() => navigator.geolocation.getCurrentPosition(open, fail)}
      />
      <small role="status">{isNowhere.value ? texts.list.nowhere : ''}</small>
    </>
  )
}

/** The nearest buoys of a point that have a reading, as far as they tell something about the point. */
export const nearestOf = (of: Position): { buoy: ActiveBuoy; km: number }[] =>
  (known.value ?? [])
    .filter(({ virtual, last_reading: reading }) => !virtual && reading !== null)
    .map((buoy) => ({ buoy, km: distanceKm(buoy, of) }))
    .filter(({ km }) => km <= MOST_KM)
    .toSorted((a, b) => a.km - b.km)
    .slice(0, MOST_NEAREST)

/** A row for each buoy, below the choice of their order. */
function BuoyRows({ buoys, trend }: { buoys: readonly ActiveBuoy[]; trend: Trend }) {
  const ranks = new Map(buoys.map((buoy) => [buoy, rank(buoy)]))
  const sorted = buoys.toSorted(
    (a, b) => (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0) || a.name.localeCompare(b.name),
  )
  const rows = isWhole.value ? sorted : sorted.slice(0, mostRows.value)
  useEffect(() => void pause().then(() => (mostRows.value = FIRST_ROWS.all)), [])
  return (
    <>
      {buoys.length === 0 ? null : (
        <Choices
          name="order"
          label={texts.list.order}
          options={texts.list.orders}
          chosen={order.value}
          onChoice={(by) => (order.value = by)}
        />
      )}
      <ul class="buoys">
        {rows.map((buoy) => (
          <BuoyRow key={buoy.slug} buoy={buoy} start="row" trend={trend} />
        ))}
      </ul>
      {rows.length === sorted.length || mostRows.value < FIRST_ROWS.all ? null : (
        <Button text={texts.list.showAll(sorted.length)} onClick={() => (isWhole.value = true)} />
      )}
    </>
  )
}

/** Height, and below it direction and period. */
function RowReading({ buoy, isPlace }: { buoy: ActiveBuoy | null; isPlace: boolean }) {
  const reading = buoy?.last_reading ?? null
  if (buoy === null || reading === null) return <span class="row-reading">{isPlace ? '' : '–'}</span>
  const scales = scalesOf.value(buoy)
  const { significient_height: height, direction: from, period } = reading
  return (
    <span class="row-reading">
      <span class="row-height">{scaledText(scales('height'), height)}</span>
      <small>
        {from == null ? null : <Arrow from={from} />}
        {from == null ? null : <span class="hidden">{texts.buoy.from(directionText(from))} </span>}
        {period == null ? '' : ` ${scaledText(scales('period'), period)}`}
      </small>
    </span>
  )
}

/** Only the name of a silent favourite or a place is known. */
export function BuoyRow(props: {
  buoy: ActiveBuoy | { slug: string; name: string }
  start: string
  /** Replaces the network's name. */
  where?: string
  trend?: Trend
}) {
  const { buoy, start, where, trend = null } = props
  const { slug, name } = buoy
  const own = 'last_reading' in buoy ? buoy : null
  const reading = own?.last_reading ?? null
  const height = reading?.significient_height ?? null
  const usual = own?.usual
  const point = pointOf(slug)
  // A link, for whoever opens it elsewhere.
  const open = (event: Event): void => {
    event.preventDefault()
    if (point === null) openBuoy(slug)
    else openPlace(name, point)
  }
  const age =
    reading === null ? texts.list.noReading : <Ago time={reading.time} isVirtual={own?.virtual ?? false} />
  const ofBuoy = own === null ? texts.list.noReadingSince(recently.value) : isolated(where ?? own.source)
  return (
    <li>
      <a
        class="row"
        id={`${start}-${slug.replaceAll(/[ .]/g, '_')}`}
        href={point === null ? `#buoy=${slug}` : `#lat=${point.lat}&lng=${point.lng}`}
        onClick={open}
      >
        {point === null ? <Chip height={height} isRing={own?.virtual ?? false} /> : null}
        <span class="row-name">
          <bdi>{name}</bdi>
          <small>
            {point === null ? ofBuoy : texts.list.forecastAndTide}
            {own === null ? null : <> · {age}</>}
            {usual && height !== null && height > usual.p90
              ? ` · ${texts.list.unusual(Math.max(1, 100 - usual.higher_than_percent))}`
              : null}
          </small>
        </span>
        {own === null ? null : <Spark heights={heightsOf(trend, own.id)} />}
        <RowReading buoy={own} isPlace={point !== null} />
      </a>
    </li>
  )
}
