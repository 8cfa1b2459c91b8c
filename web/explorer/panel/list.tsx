/**
 * The panel of all buoys: a row each, in an order that the visitor chooses, and the latest satellite passes. Below
 * it that of a point, with the rows of its nearest buoys.
 */
import { signal } from '@preact/signals'
import type {
  Conditions,
  ListSatellitePassesAnswer,
  SatellitePass,
} from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import type { ActiveBuoy } from '../api.ts'
import { Invitation } from '../dialogs.tsx'
import { Downloads } from '../downloads/menu.tsx'
import { chosenZone, clockTime, DAY_MS, dayAndTime, isOld, UTC } from '../format.ts'
import { NEAR_KM } from '../guest.ts'
import { distanceKm } from '../map/arc.ts'
import { passPoints } from '../map/features.ts'
import { scaledText } from '../mine/units.ts'
import type { Asked, SubjectOf } from '../page.ts'
import { Ago, Button, Chip, Choices, Instead, Note, ZoneSwitch } from '../pieces.tsx'
import {
  api,
  buoys as known,
  choosePass,
  chosenPass,
  clock,
  dataAge,
  favourites,
  now,
  openBuoy,
  openPlace,
  page,
  recently,
  scalesOf,
} from '../store.ts'
import type { Position } from '../view.ts'
import { ConditionFacts } from './conditions.tsx'

/** Buoys around a point, and how far away they tell something about it. */
const MOST_NEAREST = 4
const MOST_KM = 500

/** Rows of the list before the visitor asks for all. */
const FIRST_ROWS = 100

const ORDERS = { height: 'Highest', name: 'Name', age: 'Newest' }
const order = signal<keyof typeof ORDERS>('height')
const isWhole = signal(false)

/** A height of hours ago is not among the highest of now, and buoys without a reading come last. */
function rank({ virtual, last_reading: reading, last_reading_time: time }: ActiveBuoy): number {
  if (order.value === 'name') return 0
  if (order.value === 'age') return Date.parse(time ?? '') || 0
  if (reading === null) return -2
  const isStale = isOld(Date.parse(reading.time), clock(), virtual)
  return isStale ? -1 / (1 + reading.significient_height) : reading.significient_height
}

export function BuoyList(props: {
  buoys: Answer<{ buoys: readonly ActiveBuoy[] }>
  passes: Asked<ListSatellitePassesAnswer['data']> | null
}) {
  const { buoys: answer, passes } = props
  const all = answer.state === 'here' ? answer.data.buoys : []
  const buoys = passes === null ? all.filter(({ virtual }) => !virtual) : all
  const none = `No buoy has reported ${recently.value}.`
  const { isGuest } = api
  return (
    <>
      {isGuest ? (
        <Invitation text="Charts, forecast, tide and seasons need an API key. Search and the newest readings need none." />
      ) : null}
      <Instead of={answer} what="the buoys" none={none} />
      {answer.state !== 'here' ? null : (
        <>
          <p class={dataAge.value === '' ? 'sub' : 'sub ago old'}>
            {isGuest && buoys.length > 0
              ? 'A selection of buoys; move the map to see more.'
              : countText(buoys, none)}
          </p>
          <Favourites buoys={all} />
          {passes === null ? null : <Passes answer={passes.answer} />}
          {passes !== null || favourites.value.length > 0 ? <h3>All buoys</h3> : null}
          <BuoyRows buoys={buoys} />
          <Downloads />
        </>
      )}
    </>
  )
}

/** How many buoys report now; of data that are older than expected, how old they are. */
function countText(buoys: readonly ActiveBuoy[], none: string): string {
  const count = (some: number): string => `${some} ${some === 1 ? 'buoy' : 'buoys'}`
  if (buoys.length === 0) return none
  if (dataAge.value !== '') return `${count(buoys.length)}. Data as of ${dataAge.value}`
  const since = now.value - DAY_MS
  const reporting = buoys.filter(({ last_reading_time: time }) => Date.parse(time ?? '') >= since)
  return reporting.length === 0 ? none : `${count(reporting.length)} reporting in the last 24 hours`
}

/** The visitor's own buoys come first, those without a recent reading too. */
function Favourites({ buoys }: { buoys: readonly ActiveBuoy[] }) {
  if (favourites.value.length === 0) return null
  return (
    <>
      <h3>Favourites</h3>
      <ul class="buoys favourites">
        {favourites.value.map((own) => (
          <BuoyRow
            key={own.slug}
            buoy={buoys.find(({ slug }) => slug === own.slug) ?? own}
            start="favourite"
          />
        ))}
      </ul>
    </>
  )
}

/** The browser does not tell where it is. */
const isNowhere = signal(false)

/** Opens what is near the visitor. The place goes into the address and to the server, so it is rough. */
export function NearMe() {
  const open = ({ coords }: GeolocationPosition): void => {
    isNowhere.value = false
    openPlace('Near you', {
      lat: Number(coords.latitude.toFixed(2)),
      lng: Number(coords.longitude.toFixed(2)),
    })
  }
  const fail = (): void => void (isNowhere.value = true)
  return (
    <>
      <Button
        text="Near me"
        class="small"
        id="near-me"
        onClick={() => navigator.geolocation.getCurrentPosition(open, fail)}
      />
      <small role="status">{isNowhere.value ? 'This browser does not tell where you are.' : ''}</small>
    </>
  )
}

/** The panel of a point of the sea. */
export function PointPanel({ point, conditions, near }: SubjectOf<'point'>) {
  return (
    <>
      {conditions === null ? null : <PointConditions answer={conditions.answer} />}
      {near === null ? null : (
        <Instead
          of={near.answer}
          what="the nearest buoys"
          none={`No buoy within ${NEAR_KM} km has reported ${recently.value}.`}
        />
      )}
      {near !== null && near.answer.state !== 'here' ? null : <NearestBuoys of={point} />}
      <Downloads />
      {near === null ? null : <Invitation text="Forecast and tide of this point need an API key." />}
    </>
  )
}

function PointConditions({ answer }: { answer: Answer<Conditions> }) {
  return (
    <>
      <p class="sub">Conditions now</p>
      <ZoneSwitch here="Local" />
      <Instead of={answer} what="the conditions" />
      {answer.state === 'here' ? (
        <ConditionFacts
          conditions={answer.data}
          zone={chosenZone(page.value.view.zone, answer.data.location.timezone)}
        />
      ) : null}
    </>
  )
}

/** The nearest buoys of a point that have a reading, as far as they tell something about the point. */
export function NearestBuoys({ of }: { of: Position }) {
  const near = (known.value ?? [])
    .filter(({ virtual, last_reading: reading }) => !virtual && reading !== null)
    .map((buoy) => ({ buoy, km: distanceKm(buoy, of) }))
    .filter(({ km }) => km <= MOST_KM)
    .toSorted((a, b) => a.km - b.km)
    .slice(0, MOST_NEAREST)
  return (
    <>
      <h3>Nearest buoys</h3>
      {near.length === 0 ? (
        <Note>{`No buoy within ${MOST_KM} km has reported ${recently.value}.`}</Note>
      ) : null}
      <ul class="buoys">
        {near.map(({ buoy, km }) => (
          <BuoyRow key={buoy.slug} buoy={buoy} start="near" where={`${Math.round(km)} km away`} />
        ))}
      </ul>
    </>
  )
}

/** A row for each buoy, below the choice of their order. */
export function BuoyRows({ buoys }: { buoys: readonly ActiveBuoy[] }) {
  const ranks = new Map(buoys.map((buoy) => [buoy, rank(buoy)]))
  const sorted = buoys.toSorted(
    (a, b) => (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0) || a.name.localeCompare(b.name),
  )
  const rows = isWhole.value ? sorted : sorted.slice(0, FIRST_ROWS)
  return (
    <>
      {buoys.length === 0 ? null : (
        <Choices
          name="order"
          label="Order of the list"
          options={ORDERS}
          chosen={order.value}
          onChoice={(by) => (order.value = by)}
        />
      )}
      <ul class="buoys">
        {rows.map((buoy) => (
          <BuoyRow key={buoy.slug} buoy={buoy} start="row" />
        ))}
      </ul>
      {rows.length === sorted.length ? null : (
        <Button text={`Show all ${sorted.length}`} onClick={() => (isWhole.value = true)} />
      )}
    </>
  )
}

const heightText = (buoy: ActiveBuoy | undefined): string =>
  buoy?.last_reading ? scaledText(scalesOf.value(buoy)('height'), buoy.last_reading.significient_height) : '–'

/** Only the name of a silent favourite is known. */
function BuoyRow(props: {
  buoy: ActiveBuoy | { slug: string; name: string }
  start: string
  /** In place of who measures. */
  where?: string
}) {
  const { buoy, start, where } = props
  const { slug, name } = buoy
  const isKnown = 'last_reading' in buoy
  const reading = isKnown ? buoy.last_reading : null
  // A link, for whoever opens it elsewhere.
  const open = (event: Event): void => {
    event.preventDefault()
    openBuoy(slug)
  }
  return (
    <li>
      <a class="row" id={`${start}-${slug}`} href={`#buoy=${slug}`} onClick={open}>
        <Chip height={reading?.significient_height ?? null} isRing={isKnown && buoy.virtual} />
        <span class="row-name">
          {name}
          <small>
            {isKnown ? `${where ?? buoy.source} · ` : `no reading ${recently.value}`}
            {reading === null ? (
              isKnown ? (
                'no reading'
              ) : null
            ) : (
              <Ago time={reading.time} isVirtual={isKnown && buoy.virtual} />
            )}
          </small>
        </span>
        <span class="row-height">{heightText(isKnown ? buoy : undefined)}</span>
      </a>
    </li>
  )
}

function Passes({ answer }: { answer: Answer<ListSatellitePassesAnswer['data']> }) {
  const passes = answer.state === 'here' ? answer.data.satellite_passes : null
  return (
    <section class="passes">
      <h3>Latest satellite passes</h3>
      <Note>Rings on the map are fixed points at sea, measured by satellites as they pass over.</Note>
      <Instead of={answer} what="the passes" />
      {passes?.length === 0 ? <Note>{`No pass ${recently.value}.`}</Note> : null}
      <ul class="buoys">
        {passes?.map((pass) => (
          <PassRow key={pass.id} pass={pass} />
        ))}
      </ul>
    </section>
  )
}

const pointsText = (count: number): string => `${count} ${count === 1 ? 'point' : 'points'}`

function PassRow({ pass }: { pass: SatellitePass }) {
  const { id, platform, started_at: start, ended_at: end, buoy_count: count } = pass
  const points = passPoints(pass, known.value ?? [])
  const height = ({ last_reading: reading }: ActiveBuoy): number => reading?.significient_height ?? 0
  const [highest] = points.toSorted((a, b) => height(b) - height(a))
  const missing = count - points.length
  const isChosen = chosenPass.value?.id === id
  const times = `${dayAndTime(new Date(start), UTC, now.value)} – ${clockTime(new Date(end), UTC)} UTC`
  const choose = (): void => choosePass(isChosen ? null : pass)
  return (
    <li>
      <button type="button" class="pass row" id={`pass-${id}`} aria-pressed={isChosen} onClick={choose}>
        <span class="row-name">
          {platform}
          <small>{`${pointsText(count)} · ${times}`}</small>
        </span>
        <span class="row-height">
          {points.length > 1 ? 'up to ' : ''}
          {heightText(highest)}
        </span>
      </button>
      <ul class="pass-points">
        {(isChosen ? points : []).map((buoy) => (
          <BuoyRow
            key={buoy.slug}
            buoy={buoy}
            start="point"
            where={`${clockTime(new Date(buoy.last_reading_time ?? ''), UTC)} UTC`}
          />
        ))}
      </ul>
      {isChosen && missing > 0 ? (
        <Note>{pointsText(missing)} measured again since by a later pass.</Note>
      ) : null}
    </li>
  )
}
