/** The seasons of a buoy: one measure over the same part of several years, two of which are compared. */
import type {
  BuoyDetail,
  Chart,
  ReadingSeriesAnswer,
  SeriesYear,
} from '../../../clients/typescript/groundswell.ts'
import { chartAddress, seriesAddress } from '../addresses.ts'
import type { Answer } from '../answers.ts'
import { chartsModule, type Memory, memoryOf } from '../charts/loading.ts'
import type { SeasonView } from '../charts/season.ts'
import { curlBox } from '../curl.ts'
import { element, type Option, select } from '../dom.ts'
import { downloadBox } from '../downloads/box.ts'
import { decimalText, type Quantity, type Scale, scaleOf } from '../mine/units.ts'
import type { Scene } from '../scene.ts'
import { type Metric, METRICS, type SeasonName, SEASONS } from '../view.ts'
import { type Drawn, instead, note, waiting } from './pieces.ts'

/** How a measure is written. */
interface Look {
  label: string
  quantity: Quantity
}

const LOOKS: { readonly [metric in Metric]: Look } = {
  significient_height: { label: 'Significant height', quantity: 'height' },
  maximum_height: { label: 'Maximum height', quantity: 'height' },
  period: { label: 'Period', quantity: 'period' },
  peak_period: { label: 'Peak period', quantity: 'period' },
  water_temperature: { label: 'Water temperature', quantity: 'temperature' },
  wind_speed: { label: 'Wind speed', quantity: 'speed' },
  gust_speed: { label: 'Gusts', quantity: 'speed' },
}

const SEASON_LABELS: { readonly [season in SeasonName]: string } = {
  year: 'Whole year',
  winter: 'Dec to Feb',
  spring: 'Mar to May',
  summer: 'Jun to Aug',
  autumn: 'Sep to Nov',
}

const SEASON_OPTIONS: readonly Option<SeasonName>[] = SEASONS.map((season) => ({
  value: season,
  label: SEASON_LABELS[season],
}))

/** The years that have readings, oldest first, and the two that the visitor compares. */
interface Years {
  all: readonly SeriesYear[]
  year: number | null
  against: number | null
}

export function drawSeasons(scene: Scene, buoy: BuoyDetail, redraw: () => void): Drawn {
  const { metric, season } = scene.view
  const address = seriesAddress(scene, buoy.slug)
  const answer = scene.answers.get(address)
  const charts = chartsModule(redraw)
  // The other tab shows the same chart, so it is mostly here already.
  const chart = scene.answers.get(chartAddress(scene, buoy, scene.view.span))
  const years = compared(scene, answer.state === 'here' ? answer.data.years : [])
  const plot = element('div', { class: 'plot tall' })
  const scale = scaleOf(LOOKS[metric].quantity, scene.units)
  const { label } = LOOKS[metric]
  const title = buoy.name
  const memory = memoryOf(`${buoy.slug} ${season}`)
  const view = answer.state === 'here' ? seasonView(answer.data, years, scale, season) : null
  const drawn = view !== null &&
    charts !== null && {
      memory,
      draw: (place: HTMLElement, own: Memory) => {
        Object.assign(place.dataset, { name: label, unit: scale.unit })
        return charts.drawSeason(place, view, own)
      },
    }
  const nodes = [
    selects(scene, years, measuresOf(buoy, chart.state === 'here' ? chart.data : null, metric)),
    insteadOfSeasons(answer, label) ?? (charts === null ? waiting('the chart') : null),
    ...seasonParts(answer, years, plot, label, scale, season),
    downloadBox(scene, ({ offersOfSeasons }) =>
      offersOfSeasons(scene, buoy, `${label}, ${SEASON_LABELS[season]}, ${yearsText(years)}`, drawn || null),
    ),
    curlBox(scene, [{ label: 'This season over the years', address }]),
  ]
  return drawn === false ? { title, nodes } : { title, nodes, afterwards: () => drawn.draw(plot, memory) }
}

/** What the chart shows; null where no year has readings. */
function seasonView(
  { season: dates, bucket }: ReadingSeriesAnswer['data'],
  { all, year, against }: Years,
  scale: Scale,
  season: SeasonName,
): SeasonView | null {
  if (year === null) return null
  return {
    years: all,
    season: dates,
    bucket: bucket === 'week' ? 'week' : 'day',
    year,
    against,
    scale,
    nameOf: (each: SeriesYear): string => seasonName(each, season),
  }
}

const yearsText = ({ year, against }: Years): string =>
  `${year ?? ''}${against === null ? '' : ` beside ${against}`}`

/** A measure that only the address asks for may not be one of this buoy's. */
function insteadOfSeasons(answer: Answer<unknown>, label: string): HTMLElement | null {
  if (answer.state !== 'failed' || answer.trouble.kind !== 'refused') return instead(answer, 'the seasons')
  return note(`${label}: this buoy does not measure it.`)
}

/** The visitor's choice where it has readings, else the newest two years. */
function compared({ view }: Scene, years: readonly SeriesYear[]): Years {
  const all = years.filter((each) => each.point_count > 0)
  const newest = all.map((each) => each.year).toReversed()
  const year = newest.find((each) => each === view.year) ?? newest[0] ?? null
  const others = newest.filter((each) => each !== year)
  const against = others.find((each) => each === view.against) ?? others[0] ?? null
  return { all, year, against }
}

function selects(scene: Scene, { all, year, against }: Years, measures: readonly Metric[]): HTMLElement {
  const measureOptions = measures.map((value) => ({ value, label: LOOKS[value].label }))
  const { metric, season } = scene.view
  const years = all.toReversed().map((each) => ({ value: each.year, label: seasonName(each, season) }))
  const others = years.filter(({ value }) => value !== year)
  return element(
    'div',
    { class: 'selects' },
    select('Measure', measureOptions, metric, (value) => scene.update({ metric: value })),
    select('Season', SEASON_OPTIONS, season, (value) => scene.update({ season: value })),
    year === null ? null : select('Year', years, year, (value) => scene.update({ year: value })),
    against === null
      ? null
      : select('Compared with', others, against, (value) => scene.update({ against: value })),
  )
}

/** The chart and its summary, or why there is none. */
function seasonParts(
  answer: Answer<unknown>,
  years: Years,
  plot: HTMLElement,
  label: string,
  scale: Scale,
  season: SeasonName,
): (HTMLElement | null)[] {
  const { year, against } = years
  if (year === null) {
    return [answer.state === 'here' ? note('No readings for this season in the last ten years.') : null]
  }
  const beside = against === null ? '' : ` beside ${against}`
  const description = `${label} in ${year}${beside}. A summary follows.`
  return [
    element('figure', { role: 'group', 'aria-label': description }, plot),
    against === null ? null : summary(years.all, year, against, scale, season),
  ]
}

/** A winter belongs to the year in which it begins. */
function seasonName({ year, complete }: Pick<SeriesYear, 'year' | 'complete'>, season: SeasonName): string {
  const name = season === 'winter' ? `${year}/${String((year + 1) % 100).padStart(2, '0')}` : String(year)
  return complete ? name : `${name} so far`
}

/**
 * Means over the parts of the season that both years have. Half a year beside a whole one would compare
 * summer with winter.
 */
function summary(
  years: readonly SeriesYear[],
  year: number,
  against: number,
  { unit, digits, from }: Scale,
  season: SeasonName,
): HTMLElement {
  const [mine, theirs] = [valuesOf(years, year), valuesOf(years, against)]
  const buckets = [...mine.keys()].filter((at) => theirs.has(at))
  if (buckets.length === 0) return note(`${year} and ${against} have no days in common.`)
  const [own, other] = [mean(mine, buckets), mean(theirs, buckets)].map(from) as [number, number]
  const text = (value: number): string => `${decimalText(value, digits)} ${unit}`
  const name = (of: number): string => seasonName({ year: of, complete: true }, season)
  const sign = own < other ? '−' : '+'
  const both = `${text(own)} in ${name(year)}, ${text(other)} in ${name(against)}`
  const difference = `${sign}${text(Math.abs(own - other))}`
  return element('p', { class: 'summary' }, `Over the same part of the season: ${both} (${difference}).`)
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

/** The array of a chart that shows whether a buoy has a measure. */
const ARRAYS: { readonly [metric in Metric]: keyof Chart } = {
  significient_height: 'significant_height',
  maximum_height: 'maximum_height',
  period: 'period',
  peak_period: 'peak_period',
  water_temperature: 'water_temperature',
  wind_speed: 'wind_speed',
  gust_speed: 'gust_speed',
}

/** The measures of a buoy by its detail, where the server gives them. */
type Available = BuoyDetail & { readonly available?: { readonly [metric: string]: unknown } }

/**
 * The measures to choose from: those that the buoy has by its detail, else those with a value in `chart`, its
 * last days. `chosen` is always among them, as an address may ask for it.
 */
function measuresOf(buoy: Available, chart: Chart | null, chosen: Metric): Metric[] {
  const { available } = buoy
  const has = (metric: Metric): boolean => {
    if (available !== undefined) return (available[metric] ?? null) !== null
    if (metric === 'significient_height') return true
    const values = chart?.[ARRAYS[metric]]
    return Array.isArray(values) && values.some((value) => value !== null)
  }
  return METRICS.filter((metric) => metric === chosen || has(metric))
}
