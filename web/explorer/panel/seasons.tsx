/** The seasons of a buoy: one measure over the same part of several years, two of which are compared. */
import type { BuoyDetail, ReadingSeriesAnswer, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import type { Answer } from '../answers.ts'
import { Plots } from '../charts/plots.tsx'
import type { SeasonView } from '../charts/season.ts'
import { decimalText, type Quantity, scaleOf } from '../mine/units.ts'
import { Instead, Note } from '../pieces.tsx'
import { page, units, update } from '../store.ts'
import { type Metric, METRICS, type SeasonName, SEASONS, type ViewState } from '../view.ts'

/** How a measure is called and written. */
export const LOOKS: { readonly [metric in Metric]: { label: string; quantity: Quantity } } = {
  significient_height: { label: 'Significant height', quantity: 'height' },
  maximum_height: { label: 'Maximum height', quantity: 'height' },
  period: { label: 'Period', quantity: 'period' },
  peak_period: { label: 'Peak period', quantity: 'period' },
  water_temperature: { label: 'Water temperature', quantity: 'temperature' },
  wind_speed: { label: 'Wind speed', quantity: 'speed' },
  gust_speed: { label: 'Gusts', quantity: 'speed' },
}

export const SEASON_LABELS: { readonly [season in SeasonName]: string } = {
  year: 'Whole year',
  winter: 'Dec to Feb',
  spring: 'Mar to May',
  summer: 'Jun to Aug',
  autumn: 'Sep to Nov',
}

const SEASON_OPTIONS = SEASONS.map((value) => [value, SEASON_LABELS[value]] as const)

/** The years that have readings, oldest first, and the two that the visitor compares. */
interface Years {
  all: readonly SeriesYear[]
  year: number | null
  against: number | null
}

/** The visitor's choice where it has readings, else the newest two years. */
function compared(view: ViewState, answer: Answer<ReadingSeriesAnswer['data']>): Years {
  const years = answer.state === 'here' ? answer.data.years : []
  const all = years.filter((each) => each.point_count > 0)
  const newest = all.map((each) => each.year).toReversed()
  const year = newest.find((each) => each === view.year) ?? newest[0] ?? null
  const others = newest.filter((each) => each !== year)
  const against = others.find((each) => each === view.against) ?? others[0] ?? null
  return { all, year, against }
}

/** What the chart shows; null where no year has readings. */
export function seasonView(view: ViewState, answer: Answer<ReadingSeriesAnswer['data']>): SeasonView | null {
  const { metric, season } = view
  const { year, ...years } = compared(view, answer)
  if (answer.state !== 'here' || year === null) return null
  return {
    ...years,
    year,
    label: LOOKS[metric].label,
    season: answer.data.season,
    bucket: answer.data.bucket === 'week' ? 'week' : 'day',
    scale: scaleOf(LOOKS[metric].quantity, units.value),
    nameOf: (each) => seasonName(each, season),
  }
}

export function Seasons(props: { buoy: BuoyDetail; answer: Answer<ReadingSeriesAnswer['data']> }) {
  const { buoy, answer } = props
  const { view } = page.value
  const { metric, season } = view
  const { label } = LOOKS[metric]
  const { all, year, against } = compared(view, answer)
  const drawn = seasonView(view, answer)
  const beside = against === null ? '' : ` beside ${against}`
  const years = all.toReversed().map((each) => [each.year, seasonName(each, season)] as const)
  const others = years.filter(([each]) => each !== year)
  // An address may ask for a measure that the buoy has never had.
  const available: { readonly [metric: string]: unknown } = buoy.available ?? {}
  const measures = METRICS.filter((each) => each === metric || each in available).map(
    (value) => [value, LOOKS[value].label] as const,
  )
  const isUnmeasured = answer.state === 'failed' && answer.trouble.kind === 'refused'
  return (
    <>
      <div class="selects">
        <Select label="Measure" part="metric" chosen={metric} options={measures} />
        <Select label="Season" part="season" chosen={season} options={SEASON_OPTIONS} />
        <Select label="Year" part="year" chosen={year} options={years} />
        <Select label="Compared with" part="against" chosen={against} options={others} />
      </div>
      {/* A measure that only the address asks for may not be one of this buoy's. */}
      {isUnmeasured ? (
        <Note>{label}: this buoy does not measure it.</Note>
      ) : (
        <Instead of={answer} what="the seasons" />
      )}
      {answer.state === 'here' && drawn === null ? (
        <Note>No readings for this season in the last ten years.</Note>
      ) : null}
      {drawn === null ? null : (
        <Plots
          about={season}
          label={`${label} in ${year}${beside}. A summary follows.`}
          draw={(charts, place, memory) => charts.drawSeason(place, drawn, memory)}
          on={[all[0], year, against, units.value]}
        />
      )}
      {drawn === null || against === null ? null : <Summary {...drawn} against={against} of={season} />}
    </>
  )
}

/** Chooses one part of the view: values with their names, in order. Nothing is chosen where there are none. */
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
export function seasonName(
  { year, complete }: Pick<SeriesYear, 'year' | 'complete'>,
  season: SeasonName,
): string {
  const name = season === 'winter' ? `${year}/${String((year + 1) % 100).padStart(2, '0')}` : String(year)
  return complete ? name : `${name} so far`
}

/**
 * Means over the parts of the season that both years have. Half a year beside a whole one would compare
 * summer with winter.
 */
function Summary({
  all,
  year,
  against,
  scale: { unit, digits, from },
  of: season,
}: Pick<SeasonView, 'all' | 'year' | 'scale'> & { against: number; of: SeasonName }) {
  const [mine, theirs] = [valuesOf(all, year), valuesOf(all, against)]
  const buckets = [...mine.keys()].filter((at) => theirs.has(at))
  if (buckets.length === 0) {
    return (
      <Note>
        {year} and {against} have no days in common.
      </Note>
    )
  }
  const [own, other] = [from(mean(mine, buckets)), from(mean(theirs, buckets))]
  const text = (value: number): string => `${decimalText(value, digits)} ${unit}`
  const name = (of: number): string => seasonName({ year: of, complete: true }, season)
  const both = `${text(own)} in ${name(year)}, ${text(other)} in ${name(against)}`
  const difference = `${own < other ? '−' : '+'}${text(Math.abs(own - other))}`
  return (
    <p class="summary box">
      Over the same part of the season: {both} ({difference}).
    </p>
  )
}

/** The values of a year by bucket. */
function valuesOf(years: readonly SeriesYear[], year: number): Map<number, number> {
  const points = years.find((each) => each.year === year)?.points ?? []
  return new Map(
    points.flatMap(({ bucket_index: at, value }) => (value === null ? [] : [[at, value] as const])),
  )
}

function mean(values: Map<number, number>, buckets: readonly number[]): number {
  return buckets.reduce((sum, at) => sum + (values.get(at) ?? 0), 0) / buckets.length
}
