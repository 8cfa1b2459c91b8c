/** A buoy now: newest reading, chart and table of some time, and the days ahead. */
import type { BuoyDetail } from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import {
  bucketsOf,
  has,
  middleOfBucket,
  type Part,
  partOfChart,
  partOfRows,
  partsOfForecast,
  renamed,
  usualPart,
} from '../charts/parts.ts'
import { Plots } from '../charts/plots.tsx'
import { bucketName, calendarDay, chosenZone, dayAndTime, dayTimeAndZone, UTC, type Zone } from '../format.ts'
import { texts } from '../language.ts'
import type { NowAsked, SubjectOf } from '../page.ts'
import { Button, Choices, Instead, Note, Whereabouts, ZoneSwitch } from '../pieces.tsx'
import { buoys, clock, favourites, page, scalesOf, units, update } from '../store.ts'
import { type Scales, valueText } from '../mine/units.ts'
import { parseRange, SPANS } from '../view.ts'
import { Ahead, hasForecast, hasTide } from './ahead.tsx'
import { ReadingsCredit } from './credits.tsx'
import { Latest, READ } from './latest.tsx'
import { nearestOf } from './list.tsx'
import { PartTable } from './table.tsx'

/** A buoy's values in an answer; null before it comes, and without values. */
function partOf(answer: NowAsked['past']['answer'], id: number): Part | null {
  if (answer.state !== 'here') return null
  const { data } = answer
  const part = 'time' in data ? partOfChart(data) : partOfRows(data, id)
  return part.time.length === 0 ? null : part
}

/**
 * Measured values: all readings, or whole buckets of a long range with the least and greatest heights of
 * each.
 */
function measuredOf({ past, long }: NowAsked, id: number, zone: Zone): Part | null {
  const own = partOf(past.answer, id)
  if (own === null || long === null) return own
  const [least, greatest] = [partOf(long.least.answer, id), partOf(long.greatest.answer, id)]
  if (least === null || greatest === null) return null
  const length = long.bucket === '1d' ? 10 : 7
  const dayOf = (moment: string): string =>
    (moment.includes('T') ? calendarDay(new Date(moment), zone) : moment).slice(0, length)
  const [first, last] = [dayOf(long.range.start), dayOf(long.range.end)]
  return bucketsOf(own, { least, greatest }, (time) => dayOf(time) >= first && dayOf(time) <= last)
}

/** A part with its buckets at their middles, which also name them. */
function centred(part: Part, bucket: '1d' | '1mo' | undefined): Part {
  return bucket === undefined
    ? part
    : { ...part, time: part.time.map((time) => middleOfBucket(time, bucket)) }
}

export function Now({ buoy, now }: { buoy: BuoyDetail; now: NowAsked }) {
  const { view } = page.value
  const zone = chosenZone(view.zone, buoy.timezone)
  const scales = scalesOf.value(buoy)
  const { past, long, recent, beside, forecast, usual } = now
  const bucket = long?.bucket
  const own = measuredOf(now, buoy.id, zone)
  const ahead = dataOf(forecast.answer)
  const climate = usual && dataOf(usual.answer)
  const other = beside && partOf(beside.answer, beside.buoy.id)
  const drawn = own && centred(own, bucket)
  const draw = drawn && {
    parts: [
      drawn,
      ...(ahead !== null && now.isAhead && (hasForecast(ahead) || hasTide(ahead))
        ? partsOfForecast(ahead)
        : []),
      ...(other ? [renamed(centred(other, bucket), 'beside_')] : []),
      ...(climate ? [usualPart(drawn.time, climate.periods)] : []),
    ],
    zone,
    scaleOf: scales,
    isSouth: buoy.lat < 0,
    beside: beside?.buoy.name ?? null,
    isToNow: now.isToNow,
    buckets: bucket === undefined ? null : { bucket, middles: new Set(drawn.time) },
    onSelect: ([from, to]: readonly [number, number]) =>
      update({ range: parseRange(minuteText(from), minuteText(to)) }),
  }
  const answers = [past.answer, ...(long === null ? [] : [long.least.answer, long.greatest.answer])]
  const missing = answers.find(({ state }) => state !== 'here') ?? past.answer
  return (
    <>
      <Latest buoy={buoy} zone={zone} recent={recent && partOf(recent.answer, buoy.id)} />
      <section aria-label={texts.chart.name}>
        <Times buoy={buoy} />
        <Instead of={missing} what="chart" />
        {missing.state === 'here' && own?.values.significant_height?.some(has) !== true ? (
          <Note>{texts.buoy.noneInPeriod}</Note>
        ) : null}
        {missing.state !== 'waiting' && own === null ? null : (
          <Plots
            about={`${view.span} ${view.range?.from} ${view.range?.to}`}
            label={own === null ? texts.chart.name : description(own, zone, scales)}
            draw={draw && ((charts, place, memory) => charts.drawReadings(place, draw, memory))}
            on={[
              ...[0, 1, 2].map((i) => answers[i] && dataOf(answers[i])),
              ahead,
              beside && dataOf(beside.answer),
              climate,
              zone.name,
              units.value,
              scales,
            ]}
          />
        )}
        {own === null ? null : (
          <>
            <Beside buoy={buoy} />
            {bucket === undefined ? null : <Note>{texts.buoy.means[bucket](zone.label)}</Note>}
            <SignsNote />
            <ReadingsCredit buoy={buoy} />
            <PartTable
              title={bucket === undefined ? texts.buoy.asTable : texts.buoy.meansAsTable[bucket]}
              part={own}
              columns={READ}
              zone={zone}
              scales={scales}
              timeText={(time) =>
                bucket === undefined
                  ? dayAndTime(time, zone, clock())
                  : bucketName(time, bucket, zone, clock())
              }
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
const dataOf = <T,>(answer: Answer<T>): T | null => (answer.state === 'here' ? answer.data : null)

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

/** Facts about a buoy without its details. */
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

/** The heading says that there is no such buoy; a link may be older than the data. */
function Guess({ slug }: { slug: string | undefined }) {
  return (
    <>
      <Note>{texts.buoy.notInData}</Note>
      {slug === undefined ? null : (
        <Note>
          {texts.buoy.didYouMean} <a href={`#buoy=${slug}`}>{slug}</a>?
        </Note>
      )}
      <p class="row wraps">
        <Button
          text={texts.buoy.showAll}
          class="primary"
          id="show-all"
          onClick={() => update({ buoy: null, point: null, tab: 'now', camera: null })}
        />
      </p>
    </>
  )
}

/** The chart in a sentence. */
function description({ time, values }: Part, zone: Zone, scales: Scales): string {
  // Buckets show their extremes, not the means.
  const most = values.greatest_height ?? values.significant_height ?? []
  const [least, heights] = [(values.least_height ?? most).filter(has), most.filter(has)]
  if (heights.length === 0) return texts.chart.none
  const highest = Math.max(...heights)
  const scale = scales('height')
  const [low, high] = [Math.min(...least), highest].map((height) => valueText(scale, height))
  const at = time[most.indexOf(highest)] ?? ''
  const unit = scale.unit === 'ft' ? texts.chart.feet : texts.chart.metres
  return texts.chart.heights(low!, high!, unit, dayTimeAndZone(new Date(at), zone, clock()))
}
