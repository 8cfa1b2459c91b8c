/**
 * The same season of several years: one year in front, another one to compare, and behind them what is usual.
 * That is the median of the other years, and the band in which eight of ten values lie.
 */
import type UPlot from 'uplot'
import type { Season, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import { decimalText, type Scale } from '../mine/units.ts'
import { bucketsOf, bucketText, monthStarts, usual, type Usual } from './calendar.ts'
import { variable } from '../theme.ts'
import { drawTogether, type Memory } from './group.ts'
import { axes, type Line, type Plot } from './plot.ts'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** Names of months have room from this many pixels on, else their first letters. */
const MONTH_PIXELS = 27
/** Least buckets of a zoomed range. */
const LEAST_RANGE = { day: 7, week: 4 } as const
/** Buckets of a month, about: the step of Page Up and Page Down. */
const BIG_STEP = { day: 30, week: 4 } as const

export interface SeasonView {
  /** What is measured. */
  label: string
  /** Those with readings. */
  all: readonly SeriesYear[]
  season: Season
  bucket: 'day' | 'week'
  year: number
  against: number | null
  scale: Scale
  /** Names a year in the legend. */
  nameOf: (year: SeriesYear) => string
}

/** Returns what removes the chart. */
export function drawSeason(place: HTMLElement, view: SeasonView, memory: Memory): () => void {
  const { season, bucket, scale, label } = view
  const count = bucketsOf(season, bucket)
  const others = usual(
    view.all.filter(({ year }) => year !== view.year),
    count,
  )
  const textOfX = (at: number): string => bucketText(season, bucket, at)
  const months = monthStarts(season, bucket)
  const lines = [...usualLines(others, scale), ...yearLines(view, count)]
  const monthAxis: Partial<UPlot.Axis> = {
    splits: () => months.map(({ at }) => at),
    values: (drawn, splits) => splits.map((at) => monthName(months, at, drawn.bbox.width / devicePixelRatio)),
    space: 0,
  }
  const plot: Plot = {
    name: label,
    scale,
    lines,
    size: 'tall',
    axes: axes(monthAxis, scale),
    scales: { x: { time: false } },
    ...(others === null ? {} : { bands: [{ series: [2, 1], fill: variable('--chart-band') }] }),
  }
  const x = Array.from({ length: count }, (_, i) => i + 1)
  const shared = { x, textOfX, cellsOf: ({ values }: Line) => [...values] }
  return drawTogether(place, [plot], shared, {
    memory,
    leastWidth: LEAST_RANGE[bucket],
    bigStep: BIG_STEP[bucket],
    label: 'Part of the season in the chart',
    textOfX,
    first: Math.max(0, lines.at(-1)?.values.findLastIndex((value) => value !== null) ?? 0),
  })
}

function monthName(months: readonly { at: number; month: number }[], at: number, pixels: number): string {
  const name = MONTHS[months.find((each) => each.at === at)?.month ?? -1] ?? ''
  return pixels / months.length < MONTH_PIXELS ? name.slice(0, 1) : name
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
      label: `10–90 % of ${from}–${to}`,
      values: high,
      mark: variable('--chart-band'),
      textOf: (value, i) => `${text(low[i] ?? null)}–${text(value)} ${scale.unit}`,
    },
    { label: 'Median', values: median, color: variable('--chart-2'), width: 1.5 },
  ]
}

/** The year in front is drawn last, and stands first in the legend, before the one beside it. */
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
  for (const { bucket_index: at, value } of year?.points ?? []) if (at <= length) values[at - 1] = value
  return values
}
