/** What a buoy measures now: newest reading, chart and table of the last days, forecast and tide. */
import type { BuoyDetail, Chart, ReadingSummary } from '../../../clients/typescript/groundswell.ts'
import { Plots } from '../charts/plots.tsx'
import type { Column } from '../charts/readings.ts'
import { chosenZone, dayAndTime, dayTimeAndZone, directionText, UTC, type Zone } from '../format.ts'
import { type Quantity, scaledText, type Scales, valueText } from '../mine/units.ts'
import type { SubjectOf } from '../page.ts'
import { Ago, Chip, Choices, Fact, Instead, Note, Whereabouts, ZoneSwitch } from '../pieces.tsx'
import { api, clock, now as nowOf, page, scalesOf, units, update } from '../store.ts'
import { METRICS, type Span } from '../view.ts'
import { ConditionFacts } from './conditions.tsx'
import { ReadingsCredit } from './credits.tsx'

export function Now({ buoy, now }: { buoy: BuoyDetail; now: NonNullable<SubjectOf<'buoy'>['now']> }) {
  const [chart, conditions] = [now.chart.answer, now.conditions.answer]
  const { view } = page.value
  const zone = chosenZone(view.zone, buoy.timezone)
  const scales = scalesOf.value(buoy)
  const data = chart.state === 'here' && chart.data.time.length > 0 ? chart.data : null
  return (
    <>
      <Latest buoy={buoy} zone={zone} />
      <ReadingsCredit buoy={buoy} />
      <ZoneSwitch here="Buoy’s" />
      <section aria-label="Chart">
        <div class="section-head row wraps apart">
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
            label={data === null ? 'Chart' : description(data, zone, scales)}
            draw={data && ((charts, place, memory) => charts.drawReadings(place, data, zone, scales, memory))}
            on={[data, zone.name, units.value, scales]}
          />
        )}
        {data === null ? null : (
          <>
            <Note>
              Arrows point where waves go, barbs where wind comes from: half 5 kn, full 10 kn, pennant 50 kn.
            </Note>
            <ChartTable chart={data} zone={zone} scales={scales} />
          </>
        )}
      </section>
      <h3>Forecast and tide now</h3>
      <Instead of={conditions} what="the conditions" />
      {conditions.state === 'here' ? <ConditionFacts conditions={conditions.data} zone={zone} /> : null}
    </>
  )
}

/** What is known of a buoy without its details. */
export function Known({ known, answer }: SubjectOf<'known'>) {
  const isUnknown = answer.state === 'failed' && answer.trouble.kind === 'not found'
  return (
    <>
      {known === null ? null : (
        <>
          <Whereabouts buoy={known} />
          <Latest buoy={known} zone={chosenZone(page.value.view.zone, known.timezone ?? UTC.name)} />
        </>
      )}
      {isUnknown ? <Guess slug={answer.trouble.guess} /> : <Instead of={answer} what="the buoy" />}
    </>
  )
}

/** The heading says that there is no such buoy. */
function Guess({ slug }: { slug: string | undefined }) {
  return slug === undefined ? null : (
    <Note>
      Did you mean <a href={`#buoy=${slug}`}>{slug}</a>?
    </Note>
  )
}

type Read = Pick<BuoyDetail, 'source' | 'last_reading'> & Partial<Pick<BuoyDetail, 'available'>>

function Latest({ buoy, zone }: { buoy: Read; zone: Zone }) {
  const { last_reading: reading, available } = buoy
  if (reading === null) return <p class="trouble box">{withoutReading(available)}</p>
  const { significient_height: height, time } = reading
  const scales = scalesOf.value(buoy)
  return (
    <div class="latest">
      <p class="hero row wraps">
        <Chip height={height} />
        <strong>{valueText(scales('height'), height)}</strong> {scales('height').unit}
        <span class="hero-label">significant height</span>
      </p>
      <Parts reading={reading} scales={scales} />
      <p class="age">
        <Ago time={time} /> · {dayTimeAndZone(new Date(time), zone, nowOf.value)}
      </p>
      <Tiles reading={reading} scales={scales} />
    </div>
  )
}

/** A reading has a height of the waves; a station without one may measure the wind or the water. */
function withoutReading(available: BuoyDetail['available']): string {
  if (api.isGuest) return 'No public reading of this buoy.'
  const others = Object.entries(METRICS)
    .filter(([metric]) => Object.hasOwn(available ?? {}, metric))
    .map(([, [label]]) => label.toLowerCase())
  return others.length === 0
    ? 'This buoy has no readings.'
    : `This buoy does not measure waves. Under “Seasons”: ${others.join(', ')}.`
}

/** What buoys measure in addition to the significant height, in the order of tiles and of the table. */
const MEASURES: readonly [name: Column & keyof ReadingSummary, label: string, quantity: Quantity][] = [
  ['maximum_height', 'Maximum', 'height'],
  ['period', 'Period', 'period'],
  ['peak_period', 'Peak', 'period'],
  ['direction', 'From', 'direction'],
  ['wind_speed', 'Wind', 'speed'],
  ['gust_speed', 'Gusts', 'speed'],
  ['wind_direction', 'Wind from', 'direction'],
  ['water_temperature', 'Water', 'temperature'],
  ['swell_height', 'Swell', 'height'],
  ['swell_period', 'Swell period', 'period'],
  ['swell_direction', 'Swell from', 'direction'],
  ['wind_wave_height', 'Wind sea', 'height'],
  ['wind_wave_period', 'Wind sea period', 'period'],
  ['wind_wave_direction', 'Wind sea from', 'direction'],
]
const isPart = (name: Column): boolean => name.startsWith('swell') || name.startsWith('wind_wave')

/** A tile for each measure of a reading. */
function Tiles({ reading, scales }: { reading: ReadingSummary; scales: Scales }) {
  const tiles = MEASURES.filter(([name]) => !isPart(name) && has(reading[name]))
  if (tiles.length === 0) return null
  return (
    <dl class="figures box">
      {tiles.map(([name, label, quantity]) => {
        const value = reading[name] ?? 0
        return (
          <Fact label={label} key={name}>
            {quantity === 'direction' ? directionText(value) : scaledText(scales(quantity), value)}
          </Fact>
        )
      })}
    </dl>
  )
}

const has = (value: number | null | undefined): value is number => value !== null && value !== undefined

/** Swell and wind sea, of which the significant height is made, where the buoy tells them apart. */
function Parts({ reading, scales }: { reading: ReadingSummary; scales: Scales }) {
  return (['swell', 'wind_wave'] as const).map((part) => {
    const height = reading[`${part}_height`]
    const [period, from] = [reading[`${part}_period`], reading[`${part}_direction`]]
    return has(height) ? (
      <p class="part row" key={part}>
        {part === 'swell' ? 'Swell' : 'Wind sea'}
        <b>{scaledText(scales('height'), height)}</b>
        {has(period) ? scaledText(scales('period'), period) : null}
        {has(from) ? ` from ${directionText(from)}` : null}
      </p>
    ) : null
  })
}

/** The chart in a sentence. */
function description({ time, significant_height: heights }: Chart, zone: Zone, scales: Scales): string {
  const highest = Math.max(...heights.map((height) => height ?? -Infinity))
  if (highest === -Infinity) return 'Chart with no readings'
  const lowest = Math.min(...heights.map((height) => height ?? Infinity))
  const scale = scales('height')
  const [low, high] = [lowest, highest].map((height) => valueText(scale, height))
  const range = `significant heights from ${low} to ${high} ${scale.unit === 'ft' ? 'feet' : 'metres'}`
  const when = dayTimeAndZone(new Date(time[heights.indexOf(highest)] ?? ''), zone, clock())
  return `Chart of wave heights: ${range}, the highest on ${when}. A table follows.`
}

/** A day of readings; the API has all of them. */
const TABLE_ROWS = 48

/** The newest readings of the chart, newest first, with all that was measured. */
function ChartTable({ chart, zone, scales }: { chart: Chart; zone: Zone; scales: Scales }) {
  const heights = ['significant_height', 'Height', 'height'] as const
  const columns = [heights, ...MEASURES].filter(([name]) => chart[name]?.some(has))
  const rows = [...chart.time.entries()]
    .filter(([i]) => has(chart.significant_height[i]))
    .slice(-TABLE_ROWS)
    .toReversed()
  const text = (value: number | null | undefined, quantity: Quantity): string => {
    if (!has(value)) return '–'
    return quantity === 'direction' ? directionText(value) : valueText(scales(quantity), value)
  }
  return (
    <details id="table">
      <summary>Readings as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of readings">
        <table>
          <thead>
            <tr>
              <th scope="col">Time, {zone.label}</th>
              {columns.map(([name, label, quantity]) => (
                <th scope="col" key={name}>
                  {quantity === 'direction' ? label : `${label} ${scales(quantity).unit}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([i, time]) => (
              <tr key={time}>
                <th scope="row">{dayAndTime(new Date(time), zone, clock())}</th>
                {columns.map(([name, , quantity]) => (
                  <td key={name}>{text(chart[name]?.[i], quantity)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
