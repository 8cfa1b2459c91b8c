/**
 * The days ahead of a place: forecast and tide of this hour, the times of high and low water, and their
 * credits.
 */
import type { PlaceForecast } from '../../../clients/typescript/groundswell.ts'
import { has } from '../charts/parts.ts'
import { clockName, clockTime, dayName, directionText, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { quantityText } from '../mine/units.ts'
import { Fact, Note } from '../pieces.tsx'
import { units } from '../store.ts'
import { forecastText, Linked } from './credits.tsx'

type Value = number | null | undefined

/** Whether a place has a forecast, and a tide: a chart without either would be empty. */
export const hasForecast = ({ waves_height, swell_height, wind_speed }: PlaceForecast): boolean =>
  [waves_height, swell_height, wind_speed].some((values) => values.some(has))
export const hasTide = ({ tide_level: levels }: PlaceForecast): boolean => levels.some(has)

export function Ahead({ forecast, zone }: { forecast: PlaceForecast; zone: Zone }) {
  const { waves_height, waves_period, waves_direction, swell_height, swell_period, swell_direction } =
    forecast
  const [isForecast, isTide] = [hasForecast(forecast), hasTide(forecast)]
  if (!isForecast && !isTide) return <Note>{texts.ahead.none}</Note>
  const wind = forecast.wind_speed[0]
  const from = forecast.wind_direction[0]
  return (
    <>
      <dl class="facts">
        <Waves label={texts.ahead.waves} of={[waves_height[0], waves_period[0], waves_direction[0]]} />
        <Waves label={texts.ahead.swell} of={[swell_height[0], swell_period[0], swell_direction[0]]} />
        {has(wind) ? (
          <Fact label={texts.ahead.wind}>{quantityText('speed', units.value, wind) + fromText(from)}</Fact>
        ) : null}
        {isTide ? <Tide forecast={forecast} zone={zone} /> : null}
      </dl>
      {isForecast ? null : <Note>{texts.ahead.noForecast}</Note>}
      {isTide ? null : <Note>{texts.ahead.noHarbour}</Note>}
      {isForecast ? (
        <p class="note credit">
          <Linked text={forecastText(forecast.metadata, zone)} />
        </p>
      ) : null}
    </>
  )
}

const fromText = (degrees: Value): string =>
  has(degrees) ? ` ${texts.buoy.from(directionText(degrees))}` : ''

function Waves({ label, of: [height, period, from] }: { label: string; of: [Value, Value, Value] }) {
  if (!has(height)) return null
  const seconds = has(period) ? `, ${quantityText('period', units.value, period)}` : ''
  return <Fact label={label}>{quantityText('height', units.value, height) + seconds + fromText(from)}</Fact>
}

/** The level of this hour, and by days the high and low waters. */
function Tide({
  forecast: { tide_level: levels, tides, metadata },
  zone,
}: {
  forecast: PlaceForecast
  zone: Zone
}) {
  const level = (metres: number): string => quantityText('height', units.value, metres)
  const days = new Map<string, string[]>()
  for (const { time, type, height } of tides) {
    const at = new Date(time)
    const day = dayName(at, zone)
    days.set(day, [
      ...(days.get(day) ?? []),
      texts.ahead.turn(texts.ahead[type], level(height), clockTime(at, zone)),
    ])
  }
  const [next] = tides
  const turn = next === undefined ? '' : `, ${next.type === 'high' ? texts.buoy.rising : texts.buoy.falling}`
  const clock = next && texts.ahead.clock(clockName(new Date(next.time), zone))
  return (
    <>
      <Fact label={texts.ahead.tide}>
        {level(levels[0] ?? 0) + turn}
        <small>
          <Linked
            text={[metadata.harbor, texts.ahead.datum, clock, metadata.tide_source]
              .filter(Boolean)
              .join(' · ')}
          />
        </small>
      </Fact>
      {[...days].map(([day, turns]) => (
        <Fact label={day} key={day}>
          {turns.join(', ')}
        </Fact>
      ))}
    </>
  )
}
