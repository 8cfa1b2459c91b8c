/** The conditions of a place: forecast, tide and nearest reading, as a list of facts. */
import type { Conditions } from '../../../clients/typescript/groundswell.ts'
import { chosenZone, clockTime, type Zone } from '../format.ts'
import { distanceKm } from '../map/arc.ts'
import { quantityText } from '../mine/units.ts'
import type { Asked } from '../page.ts'
import { Ago, Back, BuoyLink, Fact, Heading, Instead, Note, ZoneSwitch } from '../pieces.tsx'
import { buoys, clock, page, units } from '../store.ts'
import { Curl, Downloads } from './boxes.tsx'
import { ForecastCredit, Linked } from './credits.tsx'

/** The panel of a point of the sea. */
export function PointPanel({ conditions: { address, answer } }: { conditions: Asked<Conditions> }) {
  return (
    <>
      <Back />
      <Heading />
      <p class="sub">Conditions now</p>
      <ZoneSwitch here="Local" />
      <Instead of={answer} what="the conditions" />
      {answer.state === 'here' ? (
        <ConditionFacts
          conditions={answer.data}
          zone={chosenZone(page.value.view.zone, answer.data.location.timezone)}
          withReading
        />
      ) : null}
      <Downloads />
      <Curl calls={[{ label: 'These conditions', address }]} />
    </>
  )
}

/** `withReading` adds the nearest buoy's reading, which the panel of a buoy shows already. */
export function ConditionFacts(props: { conditions: Conditions; zone: Zone; withReading?: boolean }) {
  const { zone, withReading = false } = props
  const { forecast, tide, metadata } = props.conditions
  const nearest = withReading ? nearestOf(props.conditions) : null
  const { waves_height: waves, swell_height: swell, wind_speed: wind, wind_direction: from } = forecast
  if ([nearest, waves, swell, wind, tide.height].every((value) => value === null))
    return <Note>No forecast{withReading ? ', buoy' : ''} or tide is available near this point.</Note>
  return (
    <div>
      <dl class="facts">
        {nearest === null ? null : <NearestFact {...nearest} />}
        {waves === null ? null : (
          <Fact label="Waves">{wavesText(waves, forecast.waves_period, forecast.waves_direction)}</Fact>
        )}
        {swell === null ? null : (
          <Fact label="Swell">{wavesText(swell, forecast.swell_period, forecast.swell_direction)}</Fact>
        )}
        {wind === null ? null : (
          <Fact label="Wind">{`${quantityText('speed', units.value, wind, 0)}${from ? ` from ${from}` : ''}`}</Fact>
        )}
        <TideFact tide={tide} source={metadata.tide_source} zone={zone} />
      </dl>
      {waves === null ? <Note>No forecast is available here.</Note> : null}
      {tide.height === null ? <Note>There is no tide harbour within 100 km.</Note> : null}
      {waves === null ? null : <ForecastCredit metadata={metadata} zone={zone} />}
    </div>
  )
}

interface Nearest {
  /** Absent where the buoy is not among the active ones. */
  slug?: string | undefined
  name: string
  km: number
  reading: { significient_height: number; time: string }
}

/** A buoy that is further away says nothing of the point. */
const MOST_KM = 500

/** The buoy whose reading the server gives, or the nearest one, which beyond 50 km says little. */
function nearestOf({ reading, location }: Conditions): Nearest | null {
  const known = buoys.value ?? []
  if (reading.exists) {
    const { id, name, distance_km: km } = reading.buoy
    return { slug: known.find((buoy) => buoy.id === id)?.slug, name, km, reading }
  }
  const [nearest] = known
    .flatMap(({ slug, name, virtual, last_reading: last, ...at }) =>
      virtual || last === null ? [] : [{ slug, name, reading: last, km: distanceKm(at, location) }],
    )
    .filter(({ km }) => km <= MOST_KM)
    .toSorted((a, b) => a.km - b.km)
  return nearest ?? null
}

function NearestFact({ slug, name, km, reading }: Nearest) {
  return (
    <Fact label="Nearest buoy">
      {slug === undefined ? name : <BuoyLink slug={slug} children={name} />}
      {`, ${Math.round(km).toLocaleString('en')} km away: `}
      {quantityText('height', units.value, reading.significient_height)}, <Ago time={reading.time} />
    </Fact>
  )
}

function wavesText(height: number, period: number | null, from: string | null): string {
  const parts = [quantityText('height', units.value, height, 1)]
  if (period !== null) parts.push(`${period.toFixed(0)} s`)
  if (from !== null) parts.push(`from ${from}`)
  return parts.join(', ')
}

function TideFact({ tide, source, zone }: { tide: Conditions['tide']; source: string | null; zone: Zone }) {
  const { height, direction, seconds_to_next_tide_change: seconds, next_tide: next, harbor } = tide
  if (height === null || seconds === null) return null
  const at = `${clockTime(new Date(clock() + seconds * 1000), zone)} ${zone.label}`
  const level = (metres: number): string => quantityText('height', units.value, metres)
  return (
    <Fact label="Tide">
      {`${level(height)}, ${direction ?? ''}; ${next ?? ''} ${level(tide.next_tide_height ?? 0)} at ${at}`}
      <small>
        <Linked text={[harbor, 'heights above chart datum', source].filter(Boolean).join(' · ')} />
      </small>
    </Fact>
  )
}
