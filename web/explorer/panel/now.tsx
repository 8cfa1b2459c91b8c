/**
 * What a buoy measures now: its newest reading, a chart of the last days with its text and table, and forecast
 * and tide beside it.
 */
import type { ComponentChildren } from 'preact'
import type {
  BuoyDetail,
  Chart,
  Conditions,
  ReadingSummary,
} from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import { Plots } from '../charts/plots.tsx'
import { chosenZone, compass, dayAndTime, type Zone } from '../format.ts'
import { decimalText, type Quantity, quantityText, type Scale, scaleOf } from '../mine/units.ts'
import { Ago, Chip, Choices, Fact, Icon, Instead, Note, ZoneSwitch } from '../pieces.tsx'
import { page, units, update } from '../store.ts'
import type { Span } from '../view.ts'
import { ConditionFacts } from './conditions.tsx'
import { ReadingsCredit } from './credits.tsx'

export function Now(props: { buoy: BuoyDetail; chart: Answer<Chart>; conditions: Answer<Conditions> }) {
  const { buoy, chart, conditions } = props
  const { view } = page.value
  const zone = chosenZone(view.zone, buoy.timezone)
  const data = chart.state === 'here' && chart.data.time.length > 0 ? chart.data : null
  return (
    <>
      <Latest reading={buoy.last_reading} zone={zone} />
      <ReadingsCredit buoy={buoy} />
      <ZoneSwitch here="Buoy’s" />
      <section aria-label="Chart">
        <div class="section-head row wraps">
          <h3>Waves</h3>
          <Choices
            name="span"
            label="Days of the chart"
            options={{ 2: '2 days', 7: 'Week', 28: '4 weeks' }}
            chosen={`${view.span}`}
            onChoice={(days) => update({ span: Number(days) as Span })}
          />
        </div>
        <Instead of={chart} what="the chart" />
        {chart.state === 'here' && data === null ? (
          <Note>No readings in this period.</Note>
        ) : (
          <Plots
            about={String(view.span)}
            label={data === null ? 'Chart' : description(data, zone)}
            draw={
              data &&
              ((charts, place, memory) => charts.drawReadings(place, data, zone, units.peek(), memory))
            }
            on={[data, zone.name, units.value]}
          />
        )}
        {data === null ? null : <ChartTable chart={data} zone={zone} />}
      </section>
      <h3>Forecast and tide now</h3>
      <Instead of={conditions} what="the conditions" />
      {conditions.state === 'here' ? <ConditionFacts conditions={conditions.data} zone={zone} /> : null}
    </>
  )
}

export function Latest({ reading, zone }: { reading: ReadingSummary | null; zone: Zone }) {
  if (reading === null) return <p class="trouble box">This buoy has no readings.</p>
  const { significient_height: height, time } = reading
  const { from, digits, unit } = scaleOf('height', units.value)
  return (
    <div class="latest">
      <p class="hero row wraps">
        <Chip height={height} />
        <strong>{decimalText(from(height), digits)}</strong> {unit}
        <span class="hero-label">significant height</span>
      </p>
      <p class="age">
        <Ago time={time} /> · {dayAndTime(new Date(time), zone)} {zone.label}
      </p>
      <Figures reading={reading} />
    </div>
  )
}

/** What was measured in addition to the height. A tenth is enough next to the newest height. */
function Figures({ reading }: { reading: ReadingSummary }) {
  const { maximum_height: maximum, period, direction: from, water_temperature: water } = reading
  if ([maximum, period, from, water].every((value) => value === null)) return null
  const text = (quantity: Quantity, value: number | null): ComponentChildren =>
    value === null ? <NotMeasured /> : quantityText(quantity, units.value, value, 1)
  return (
    <dl class="figures box">
      <Fact label="Maximum">{text('height', maximum)}</Fact>
      <Fact label="Period">{text('period', period)}</Fact>
      <Fact label="From">
        {from === null ? (
          <NotMeasured />
        ) : (
          // Waves come from there, so the arrow points the other way.
          <span>
            <Icon name="arrow" turn={from + 180} /> {compass(from)} {from}°
          </span>
        )}
      </Fact>
      <Fact label="Water">{text('temperature', water)}</Fact>
    </dl>
  )
}

/** Screen readers skip a dash, so a text for them says it in words. */
const NotMeasured = () => (
  <span class="missing">
    <span aria-hidden="true">–</span>
    <span class="hidden">not measured</span>
  </span>
)

/** A day of readings; the API has all of them. */
const TABLE_ROWS = 48

/** The chart in a sentence. */
function description({ time, significant_height: heights }: Chart, zone: Zone): string {
  let [low, high, highAt] = [Infinity, -Infinity, '']
  heights.forEach((height, i) => {
    if (height === null) return
    low = Math.min(low, height)
    if (height > high) [high, highAt] = [height, time[i] ?? '']
  })
  if (highAt === '') return 'Chart with no readings'
  const { from, digits, unit } = scaleOf('height', units.value)
  const [lowest, highest] = [low, high].map((height) => decimalText(from(height), digits))
  const range = `significant heights from ${lowest} to ${highest} ${unit === 'ft' ? 'feet' : 'metres'}`
  const when = `${dayAndTime(new Date(highAt), zone)} ${zone.label}`
  return `Chart of wave heights: ${range}, the highest on ${when}. A table follows.`
}

/** The newest readings of the chart, newest first. */
function ChartTable({ chart, zone }: { chart: Chart; zone: Zone }) {
  const [height, period] = [scaleOf('height', units.value), scaleOf('period', units.value)]
  const columns: [string, readonly (number | null)[], Scale][] = [
    [`Height ${height.unit}`, chart.significant_height, height],
    [`Max ${height.unit}`, chart.maximum_height, height],
    ['Period s', chart.period, period],
  ]
  const rows = [...chart.time.entries()]
    .filter(([i]) => (chart.significant_height[i] ?? null) !== null)
    .slice(-TABLE_ROWS)
    .toReversed()
  return (
    <details id="table">
      <summary>Readings as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of readings">
        <table>
          <thead>
            <tr>
              <th scope="col">Time, {zone.label}</th>
              {columns.map(([name]) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([i, time]) => (
              <tr key={time}>
                <th scope="row">{dayAndTime(new Date(time), zone)}</th>
                {columns.map(([name, values, { from, digits }]) => (
                  <td key={name}>{values[i] == null ? '–' : decimalText(from(values[i]), digits)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
