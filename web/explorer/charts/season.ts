/**
 * The same season of several years: one year in front, another one to compare, and behind them what is usual.
 * That is the median of the other years, and the band in which eight of ten values lie.
 */
import type UPlot from 'uplot'
import type { Season, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import { texts } from '../language.ts'
import { decimalText, type Scale } from '../mine/units.ts'
import { bucketStarts, bucketText, usual, type Usual } from './calendar.ts'
import { variable } from '../theme.ts'
import { drawTogether, type Memory } from './group.ts'
import { fromZero, wholeOf } from './geometry.ts'
import type { Line } from './plot.ts'

/** Names of the ticks: months, and days of a short season. */
const TIMES: UPlot.Axis.Values = [
  [28 * 86_400, '{MMM}', null, null, null, null, null, null, 1],
  [60, '{D}', '\n{MMM}', '\n{MMM}', null, null, null, null, 1],
]
export interface SeasonView {
  /** The measure's name. */
  label: string
  /** Seasons with readings. */
  all: readonly SeriesYear[]
  season: Season
  bucket: 'day' | 'week'
  year: number
  against: number | null
  scale: Scale
  /** False for temperatures, where 0 is a value like others. */
  isFromZero: boolean
  /** Names a year in the legend. */
  nameOf: (year: SeriesYear) => string
}

/** Returns a function that removes the chart. */
export function drawSeason(place: HTMLElement, view: SeasonView, memory: Memory): () => void {
  const { season, bucket, scale, label } = view
  const x = bucketStarts(season, bucket)
  const others = usual(
    view.all.filter(({ year }) => year !== view.year),
    x.length,
  )
  const lines = [...usualLines(others, scale), ...yearLines(view, x.length)]
  const bands =
    others === null ? [] : [{ series: [2, 1] as [number, number], fill: variable('--chart-band') }]
  const step = (x[1] ?? 0) - (x[0] ?? 0)
  const shared = {
    x,
    range: wholeOf(x, step),
    longestPauseOf: () => step,
    axis: { pixels: 0 },
    zone: 'UTC',
    times: TIMES,
    timesPixels: 42,
    textOfX: (at: number) => bucketText(at, bucket),
  }
  const range = view.isFromZero ? { range: fromZero(0.1) } : {}
  return drawTogether(place, [{ name: label, scale, lines, size: 'tall', bands, ...range }], shared, {
    memory,
    label: texts.chart.seasonInChart,
    first: Math.max(0, lines.at(-1)?.values.findLastIndex((value) => value !== null) ?? 0),
  })
}

/** The band's lower edge, its upper edge with the text of both, and the median. */
function usualLines(others: Usual | null, scale: Scale): Line[] {
  if (others === null) return []
  const { low, high, median, from, to } = others
  const edge = { color: 'transparent', width: 0 }
  const text = (value: number | null): string =>
    value === null ? '' : decimalText(scale.from(value), scale.digits)
  return [
    { ...edge, label: '', values: low, class: 'behind', textOf: () => '' },
    {
      ...edge,
      label: texts.season.usual(from, to),
      values: high,
      mark: variable('--chart-band'),
      textOf: (value, i) => `${text(low[i] ?? null)}–${text(value)} ${scale.unit}`,
    },
    { label: texts.season.median(from, to), values: median, color: variable('--chart-2'), width: 1.5 },
  ]
}

/** The year in front is drawn last, and comes first in the legend. */
function yearLines({ all, year, against, nameOf }: SeasonView, count: number): Line[] {
  const lineOf = (which: number | null, style: Pick<Line, 'color' | 'width' | 'dash' | 'class'>): Line[] =>
    all
      .filter((each) => each.year === which)
      .map((each) => ({ label: nameOf(each), values: valuesOf(each, count), ...style }))
  return [
    ...lineOf(against, { color: variable('--chart-3'), width: 2, dash: [6, 4], class: 'beside' }),
    ...lineOf(year, { color: variable('--chart-1'), width: 2.5, class: 'front' }),
  ]
}

function valuesOf(year: SeriesYear | undefined, length: number): (number | null)[] {
  const values = Array.from<number | null>({ length }).fill(null)
  for (const { bucket_index: at, value } of year?.points ?? []) {
    if (at <= length) values[at - 1] = value
  }
  return values
}
