/** What a buoy measures now: newest reading, chart and table of some time, and the days ahead. */
import type { BuoyDetail, ReadingSummary } from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import { has, type Part, partOfChart, partOfRows, partsOfForecast, renamed } from '../charts/parts.ts'
import { Plots } from '../charts/plots.tsx'
import { chosenZone, dayTimeAndZone, directionText, UTC, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import type { NowAsked, SubjectOf } from '../page.ts'
import { Ago, Chip, Choices, Fact, Instead, Note, Whereabouts, ZoneSwitch } from '../pieces.tsx'
import { api, buoys, clock, favourites, now as nowOf, page, scalesOf, units, update } from '../store.ts'
import { namesOf, scaledText, type Scales, valueText } from '../mine/units.ts'
import { METRICS, parseRange, SPANS } from '../view.ts'
import { Ahead, hasForecast, hasTide } from './ahead.tsx'
import { ReadingsCredit } from './credits.tsx'
import { nearestOf } from './list.tsx'
import { type Column, PartTable } from './table.tsx'

/** What an answer has of a buoy; null before it is there, and where it has nothing. */
function partOf(answer: NowAsked['past']['answer'], id: number): Part | null {
  if (answer.state !== 'here') return null
  const { data } = answer
  const part = 'time' in data ? partOfChart(data) : partOfRows(data, id)
  return part.time.length === 0 ? null : part
}

export function Now({ buoy, now }: { buoy: BuoyDetail; now: NowAsked }) {
  const { view } = page.value
  const zone = chosenZone(view.zone, buoy.timezone)
  const scales = scalesOf.value(buoy)
  const { past, beside, forecast } = now
  const own = partOf(past.answer, buoy.id)
  const ahead = forecast.answer.state === 'here' ? forecast.answer.data : null
  const other = beside && partOf(beside.answer, beside.buoy.id)
  const bucket = new URLSearchParams(past.address.split('?')[1]).get('bucket') ?? ''
  const means = Object.entries(texts.buoy.means).find(([each]) => each === bucket)?.[1]
  const draw = own && {
    parts: [
      own,
      ...(ahead !== null && now.isAhead && (hasForecast(ahead) || hasTide(ahead))
        ? partsOfForecast(ahead)
        : []),
      ...(other ? [renamed(other, 'beside_')] : []),
    ],
    zone,
    scaleOf: scales,
    isSouth: buoy.lat < 0,
    beside: beside?.buoy.name ?? null,
    isToNow: now.isToNow,
    onSelect: ([from, to]: readonly [number, number]) =>
      update({ range: parseRange(minuteText(from), minuteText(to)) }),
  }
  return (
    <>
      <Latest buoy={buoy} zone={zone} />
      <section aria-label={texts.chart.name}>
        <Times buoy={buoy} />
        <Instead of={past.answer} what="chart" />
        {past.answer.state === 'here' && own?.values.significant_height?.some(has) !== true ? (
          <Note>{texts.buoy.noneInPeriod}</Note>
        ) : null}
        {past.answer.state !== 'waiting' && own === null ? null : (
          <Plots
            about={`${view.span} ${view.range?.from} ${view.range?.to}`}
            label={own === null ? texts.chart.name : description(own, zone, scales)}
            draw={draw && ((charts, place, memory) => charts.drawReadings(place, draw, memory))}
            on={[
              dataOf(past.answer),
              dataOf(forecast.answer),
              beside && dataOf(beside.answer),
              zone.name,
              units.value,
              scales,
            ]}
          />
        )}
        {own === null ? null : (
          <>
            <Beside buoy={buoy} />
            {means === undefined ? null : <Note>{texts.buoy.byUtc(means)}</Note>}
            <SignsNote />
            <ReadingsCredit buoy={buoy} />
            <PartTable
              title={texts.buoy.asTable(means ?? texts.buoy.readings)}
              part={own}
              columns={READ}
              zone={zone}
              scales={scales}
              isReversed
            />
          </>
        )}
      </section>
      <h3>{texts.ahead.title}</h3>
      <ZoneSwitch here={texts.panel.buoys} />
      <Instead of={forecast.answer} what="forecast" />
      {ahead === null ? null : <Ahead forecast={ahead} zone={zone} />}
    </>
  )
}

/** The same object until another answer comes. */
const dataOf = (answer: Answer<unknown>): unknown => (answer.state === 'here' ? answer.data : null)

const minuteText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 16)}Z`

export const SignsNote = () => <Note>{texts.buoy.signs}</Note>

/** Chooses the time of the chart. */
function Times({ buoy }: { buoy: BuoyDetail }) {
  const { span, range } = page.value.view
  const dayBefore = (days: number): string =>
    new Date(Date.parse(buoy.last_reading_time ?? '') - days * 86_400_000 || clock())
      .toISOString()
      .slice(0, 10)
  const choose = (word: string): void => {
    const days = SPANS.find((each) => String(each) === word)
    update(
      days === undefined
        ? { range: { from: dayBefore(span), to: dayBefore(0) } }
        : { span: days, range: null },
    )
  }
  const input = (end: 'from' | 'to') => (
    <input
      type="date"
      id={`chart-${end}`}
      aria-label={end === 'from' ? texts.buoy.firstDay : texts.buoy.lastDay}
      value={range?.[end].slice(0, 10)}
      onChange={({ currentTarget: { value } }) => {
        const days = { from: range?.from.slice(0, 10) ?? '', to: range?.to.slice(0, 10) ?? '', [end]: value }
        update({ range: parseRange(days.from, days.to) ?? range })
      }}
    />
  )
  return (
    <>
      <div class="section-head row wraps apart">
        <h3>{texts.buoy.waves}</h3>
        <Choices<string>
          name="span"
          label={texts.buoy.span}
          options={texts.buoy.spans}
          chosen={range === null ? `${span}` : 'dates'}
          onChoice={choose}
        />
      </div>
      {range === null ? null : (
        <p class="dates row wraps">
          {input('from')} {texts.buoy.to} {input('to')}
        </p>
      )}
    </>
  )
}

/** Chooses another buoy for the chart: one nearby, or a favourite. */
function Beside({ buoy }: { buoy: BuoyDetail }) {
  const near = nearestOf(buoy).filter(({ buoy: { slug } }) => slug !== buoy.slug)
  const own = (buoys.value ?? []).filter(({ slug }) => favourites.value.some((each) => each.slug === slug))
  const others = new Map([...near.map((each) => each.buoy), ...own].map(({ slug, name }) => [slug, name]))
  others.delete(buoy.slug)
  if (others.size === 0) return null
  return (
    <label class="select beside row">
      <span>{texts.buoy.beside}</span>
      <select
        id="beside"
        value={page.value.view.beside ?? ''}
        onChange={({ currentTarget }) => update({ beside: currentTarget.value || null })}
      >
        <option value="">{texts.buoy.noOther}</option>
        {[...others].map(([slug, name]) => (
          <option key={slug} value={slug} children={name} />
        ))}
      </select>
    </label>
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
      {isUnknown ? <Guess slug={answer.trouble.guess} /> : <Instead of={answer} what="buoy" />}
    </>
  )
}

/** The heading says that there is no such buoy. */
function Guess({ slug }: { slug: string | undefined }) {
  return slug === undefined ? null : (
    <Note>
      {texts.buoy.didYouMean} <a href={`#buoy=${slug}`}>{slug}</a>?
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
        <span class="hero-label">{texts.buoy.significantHeight}</span>
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
  if (api.isGuest) return texts.buoy.noPublic
  const others = namesOf(METRICS)
    .filter((metric) => Object.hasOwn(available ?? {}, metric))
    .map((metric) => texts.metrics[metric].toLowerCase())
  return others.length === 0 ? texts.buoy.noReadings : texts.buoy.noWaves(others.join(', '))
}

/** What buoys measure in addition to the significant height, in the order of tiles and of the table. */
const MEASURES = [
  ['maximum_height', 'height'],
  ['period', 'period'],
  ['peak_period', 'period'],
  ['direction', 'direction'],
  ['wind_speed', 'speed'],
  ['gust_speed', 'speed'],
  ['wind_direction', 'direction'],
  ['water_temperature', 'temperature'],
  ['swell_height', 'height'],
  ['swell_period', 'period'],
  ['swell_direction', 'direction'],
  ['wind_wave_height', 'height'],
  ['wind_wave_period', 'period'],
  ['wind_wave_direction', 'direction'],
] as const satisfies readonly Column[]
const READ: readonly Column[] = [['significant_height', 'height'], ...MEASURES]
const isPart = (name: string): boolean => name.startsWith('swell') || name.startsWith('wind_wave')

/** A tile for each measure of a reading. */
function Tiles({ reading, scales }: { reading: ReadingSummary; scales: Scales }) {
  const tiles = MEASURES.filter(([name]) => !isPart(name) && has(reading[name]))
  if (tiles.length === 0) return null
  return (
    <dl class="figures box">
      {tiles.map(([name, quantity]) => {
        const value = reading[name] ?? 0
        return (
          <Fact label={texts.measures[name]} key={name}>
            {quantity === 'direction' ? directionText(value) : scaledText(scales(quantity), value)}
          </Fact>
        )
      })}
    </dl>
  )
}

/** Swell and wind sea, of which the significant height is made, where the buoy separates them. */
function Parts({ reading, scales }: { reading: ReadingSummary; scales: Scales }) {
  return (['swell', 'wind_wave'] as const).map((part) => {
    const height = reading[`${part}_height`]
    const [period, from] = [reading[`${part}_period`], reading[`${part}_direction`]]
    return has(height) ? (
      <p class="part row" key={part}>
        {part === 'swell' ? texts.buoy.swell : texts.buoy.windSea}
        <b>{scaledText(scales('height'), height)}</b>
        {has(period) ? scaledText(scales('period'), period) : null}
        {has(from) ? ` ${texts.buoy.from(directionText(from))}` : null}
      </p>
    ) : null
  })
}

/** The chart in a sentence. */
function description({ time, values }: Part, zone: Zone, scales: Scales): string {
  const heights = (values.significant_height ?? []).filter(has)
  if (heights.length === 0) return texts.chart.none
  const highest = Math.max(...heights)
  const scale = scales('height')
  const [low, high] = [Math.min(...heights), highest].map((height) => valueText(scale, height))
  const at = time[values.significant_height!.indexOf(highest)] ?? ''
  const unit = scale.unit === 'ft' ? texts.chart.feet : texts.chart.metres
  return texts.chart.heights(low!, high!, unit, dayTimeAndZone(new Date(at), zone, clock()))
}
