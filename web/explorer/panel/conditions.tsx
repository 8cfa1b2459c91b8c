/** The conditions of a place: forecast and tide, as a list of facts. */
import type { Conditions } from '../../../clients/typescript/groundswell.ts'
import { clockName, clockTime, type Zone } from '../format.ts'
import { quantityText } from '../mine/units.ts'
import { Fact, Note } from '../pieces.tsx'
import { clock, units } from '../store.ts'
import { forecastText, Linked } from './credits.tsx'

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
      {waves === null ? null : (
        <p class="note credit">
          <Linked text={forecastText(metadata, zone)} />
        </p>
      )}
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
  const turn = new Date(clock() + seconds * 1000)
  const at = `${clockTime(turn, zone)} ${clockName(turn, zone)}`
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
