/**
 * The days ahead of a place: forecast and tide of this hour, the times of high and low water, and their
 * credits.
 */
import type { ComponentChildren } from 'preact'
import type { PlaceForecast } from '../../../clients/typescript/groundswell.ts'
import { has } from '../charts/parts.ts'
import { clockName, clockTime, dayName, directionText, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import { quantityText } from '../mine/units.ts'
import { Arrow, Fact, Note } from '../pieces.tsx'
import { units } from '../store.ts'
import { forecastText, Linked } from './credits.tsx'

type Value = number | null | undefined

const level = (metres: number): string => quantityText('height', units.value, metres)

/** Whether a place has a forecast, and a tide: a chart without either would be empty. */
export const hasForecast = ({ waves_height, swell_height, wind_speed }: PlaceForecast): boolean =>
  [waves_height, swell_height, wind_speed].some((values) => values.some(has))
export const hasTide = ({ tide_level: levels }: PlaceForecast): boolean => levels.some(has)

/** `children` stand between the numbers of this hour and those of the days. */
export function Ahead(props: { forecast: PlaceForecast; zone: Zone; children?: ComponentChildren }) {
  const { forecast, zone, children } = props
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
          <Fact label={texts.ahead.wind}>
            {quantityText('speed', units.value, wind)}
            <From degrees={from} />
          </Fact>
        ) : null}
        {isTide ? <Tide forecast={forecast} zone={zone} /> : null}
      </dl>
      {children}
      {isTide ? <Turns forecast={forecast} zone={zone} /> : null}
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

/** Where waves or wind come from, after what they are. */
export function From({ degrees }: { degrees: Value }) {
  return has(degrees) ? (
    <>
      {' '}
      <Arrow from={degrees} /> {texts.buoy.from(directionText(degrees))}
    </>
  ) : null
}

function Waves({ label, of: [height, period, from] }: { label: string; of: [Value, Value, Value] }) {
  if (!has(height)) return null
  const seconds = has(period) ? `, ${quantityText('period', units.value, period)}` : ''
  return (
    <Fact label={label}>
      {quantityText('height', units.value, height) + seconds}
      <From degrees={from} />
    </Fact>
  )
}

/** The level of this hour. */
function Tide({
  forecast: { tide_level: levels, tides, metadata },
  zone,
}: {
  forecast: PlaceForecast
  zone: Zone
}) {
  const [next] = tides
  const turn = next === undefined ? '' : `, ${next.type === 'high' ? texts.buoy.rising : texts.buoy.falling}`
  const clock = next && texts.ahead.clock(clockName(new Date(next.time), zone))
  return (
    <Fact label={texts.ahead.tide}>
      {level(levels[0] ?? 0) + turn}
      <small>
        <Linked
          text={[metadata.harbor, texts.ahead.datum, clock, metadata.tide_source].filter(Boolean).join(' · ')}
        />
      </small>
    </Fact>
  )
}

/** The high and low waters, by days. */
function Turns({ forecast: { tides }, zone }: { forecast: PlaceForecast; zone: Zone }) {
  const days = new Map<string, string[]>()
  for (const { time, type, height } of tides) {
    const at = new Date(time)
    const day = dayName(at, zone)
    days.set(day, [
      ...(days.get(day) ?? []),
      texts.ahead.turn(texts.ahead[type], level(height), clockTime(at, zone)),
    ])
  }
  return (
    <dl class="turns">
      {[...days].map(([day, turns]) => (
        <Fact label={day} key={day}>
          {turns.join(', ')}
        </Fact>
      ))}
    </dl>
  )
}
