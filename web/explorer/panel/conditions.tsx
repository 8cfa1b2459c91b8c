/** The conditions of a place: forecast, tide and nearest reading, as a list of facts. */
import type { Conditions } from '../../../clients/typescript/groundswell.ts'
import { chosenZone, clockTime, type Zone } from '../format.ts'
import { quantityText } from '../mine/units.ts'
import type { SubjectOf } from '../page.ts'
import { Back, Fact, Heading, Instead, Note, ZoneSwitch } from '../pieces.tsx'
import { clock, page, units } from '../store.ts'
import { FilesAndCalls } from './boxes.tsx'
import { ForecastCredit, Linked } from './credits.tsx'
import { NearestBuoys } from './list.tsx'

/** The panel of a point of the sea. */
export function PointPanel({ point, conditions: { address, answer } }: SubjectOf<'point'>) {
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
        />
      ) : null}
      <NearestBuoys of={point} />
      <FilesAndCalls calls={[{ label: 'These conditions', address }]} />
    </>
  )
}

export function ConditionFacts({ conditions, zone }: { conditions: Conditions; zone: Zone }) {
  const { forecast, tide, metadata } = conditions
  const { waves_height: waves, swell_height: swell, wind_speed: wind, wind_direction: from } = forecast
  if ([waves, swell, wind, tide.height].every((value) => value === null))
    return <Note>No forecast or tide is available near this point.</Note>
  return (
    <div>
      <dl class="facts">
        {waves === null ? null : (
          <Fact label="Waves">{wavesText(waves, forecast.waves_period, forecast.waves_direction)}</Fact>
        )}
        {swell === null ? null : (
          <Fact label="Swell">{wavesText(swell, forecast.swell_period, forecast.swell_direction)}</Fact>
        )}
        {wind === null ? null : (
          <Fact label="Wind">{`${quantityText('speed', units.value, wind)}${from ? ` from ${from}` : ''}`}</Fact>
        )}
        <TideFact tide={tide} source={metadata.tide_source} zone={zone} />
      </dl>
      {waves === null ? <Note>No forecast is available here.</Note> : null}
      {tide.height === null ? <Note>There is no tide harbour within 100 km.</Note> : null}
      {waves === null ? null : <ForecastCredit metadata={metadata} zone={zone} />}
    </div>
  )
}

function wavesText(height: number, period: number | null, from: string | null): string {
  const parts = [quantityText('height', units.value, height)]
  if (period !== null) parts.push(quantityText('period', units.value, period))
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
