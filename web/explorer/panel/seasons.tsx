/** The seasons of a buoy: one measure over the same part of several years, two of which are compared. */
import type { BuoyDetail, ReadingSeriesAnswer, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import { commonMeans } from '../charts/calendar.ts'
import { Plots } from '../charts/plots.tsx'
import type { SeasonView } from '../charts/season.ts'
import { texts } from '../language.ts'
import { decimalText, namesOf, scaleOf } from '../mine/units.ts'
import { metricOf } from '../page.ts'
import { Instead, Note } from '../pieces.tsx'
import { clock, page, units, update } from '../store.ts'
import { METRICS, type SeasonName, SEASONS, type ViewState } from '../view.ts'

/** The chart's years: the visitor's choice if it has readings, else the newest two years, or null. */
function seasonView(
  buoy: BuoyDetail,
  view: ViewState,
  answer: Answer<ReadingSeriesAnswer['data']>,
): SeasonView | null {
  if (answer.state !== 'here') return null
  const [metric, { season }] = [metricOf(buoy, view), view]
  const all = answer.data.years.filter((each) => each.point_count > 0)
  const newest = all.map((each) => each.year).toReversed()
  const year = newest.find((each) => each === view.year) ?? newest[0]
  if (year === undefined) return null
  const others = newest.filter((each) => each !== year)
  const quantity = METRICS[metric]
  return {
    all,
    year,
    against: others.find((each) => each === view.against) ?? others[0] ?? null,
    label: texts.season.plot[answer.data.bucket === 'week' ? 'week' : 'day'](texts.metrics[metric]),
    season: answer.data.season,
    bucket: answer.data.bucket === 'week' ? 'week' : 'day',
    scale: scaleOf(quantity, units.value),
    isFromZero: quantity !== 'temperature',
    nameOf: (each) => seasonName(each, season),
  }
}

export function Seasons(props: { buoy: BuoyDetail; answer: Answer<ReadingSeriesAnswer['data']> }) {
  const { buoy, answer } = props
  const { view } = page.value
  const [metric, { season }] = [metricOf(buoy, view), view]
  const label = texts.metrics[metric]
  const drawn = seasonView(buoy, view, answer)
  const { all, year, against } = drawn ?? { all: [], year: null, against: null }
  const years = all.toReversed().map((each) => [each.year, seasonName(each, season)] as const)
  const others = years.filter(([each]) => each !== year)
  // An address may ask for a measure that the buoy has never had.
  const available: { readonly [metric: string]: unknown } = buoy.available ?? {}
  const measures = namesOf(METRICS)
    .filter((each) => each === metric || each in available)
    .map((each) => [each, texts.metrics[each]] as const)
  const seasons = SEASONS.map((each) => [each, texts.seasons[each]] as const)
  return (
    <>
      <div class="selects">
        <Select label={texts.season.measure} part="metric" chosen={metric} options={measures} />
        <Select label={texts.season.season} part="season" chosen={season} options={seasons} />
        <Select label={texts.season.year} part="year" chosen={year} options={years} />
        <Select label={texts.season.against} part="against" chosen={against} options={others} />
      </div>
      {/* A measure that only the address asks for may not be one of this buoy's. */}
      <Instead of={answer} what="seasons" none={texts.season.unmeasured(label)} />
      {answer.state === 'here' && drawn === null ? <Note>{texts.season.none}</Note> : null}
      {drawn === null ? null : (
        <Plots
          about={season}
          label={
            against === null
              ? texts.season.label(label, drawn.year)
              : texts.season.labelBeside(label, drawn.year, against)
          }
          draw={(charts, place, memory) => charts.drawSeason(place, drawn, memory)}
          on={[all[0], year, against, units.value]}
        />
      )}
      {drawn === null || against === null ? null : <Summary {...drawn} against={against} of={season} />}
    </>
  )
}

/**
 * Chooses one part of the view: values with their names, in order. Nothing is chosen where there are none.
 */
function Select<K extends 'metric' | 'season' | 'year' | 'against'>(props: {
  label: string
  part: K
  chosen: ViewState[K]
  options: readonly (readonly [NonNullable<ViewState[K]>, string])[]
}) {
  const { label, part, chosen, options } = props
  if (chosen === null) return null
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }): void =>
    update({ [part]: options[currentTarget.selectedIndex]?.[0] })
  return (
    <label class="select">
      <span>{label}</span>
      <select onChange={choose} value={chosen}>
        {options.map(([value, text]) => (
          <option key={value} value={value} children={text} />
        ))}
      </select>
    </label>
  )
}

/** A winter belongs to the year in which it begins. */
function seasonName({ year, complete }: Pick<SeriesYear, 'year' | 'complete'>, season: SeasonName): string {
  const name = season === 'winter' ? `${year}/${String((year + 1) % 100).padStart(2, '0')}` : String(year)
  return complete ? name : texts.season.soFar(name)
}

/** The means of all readings in the parts of the season that both years have. */
function Summary({ all, year, against, scale, of }: SeasonView & { against: number; of: SeasonName }) {
  const pointsOf = (which: number): SeriesYear['points'] =>
    all.find((each) => each.year === which)?.points ?? []
  const means = commonMeans(pointsOf(year), pointsOf(against), clock())
  if (means === null) return <Note>{texts.season.nothingInCommon(year, against)}</Note>
  // Means as they are written, so that the difference fits the two beside it.
  const [own, other] = means.map((mean) => Number(scale.from(mean).toFixed(scale.digits))) as [number, number]
  const text = (value: number): string => `${decimalText(value, scale.digits)} ${scale.unit}`
  const name = (which: number): string => seasonName({ year: which, complete: true }, of)
  const difference = own === other ? texts.season.same : `${own > other ? '+' : ''}${text(own - other)}`
  return (
    <p class="summary box">
      {texts.season.summary(text(own), name(year), text(other), name(against), difference)}
    </p>
  )
}
