/**
 * The same season of several years: one year in front, another one to compare, and behind them what is usual.
 * That is the median of the other years, and the band in which eight of ten values lie.
 */
import type { Season, SeriesYear } from '../../../clients/typescript/groundswell.ts'
import { decimalText, type Scale } from '../mine/units.ts'
import { bucketsOf, bucketText, monthStarts, usual, type Usual } from './calendar.ts'
import { variable } from '../dom.ts'
import { type Memory, PlotGroup } from './group.ts'
import { axes, draw, type Line } from './plot.ts'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** Names of months have room from this many pixels on, else their first letters. */
const MONTH_PIXELS = 27
/** Least buckets of a zoomed range. */
const LEAST_RANGE = { day: 7, week: 4 } as const
/** Buckets of a month, about: the step of Page Up and Page Down. */
const BIG_STEP = { day: 30, week: 4 } as const
const MARK_PIXELS = 6

export interface SeasonView {
  years: readonly SeriesYear[]
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
  const { season, bucket, scale } = view
  const count = bucketsOf(season, bucket)
  const x = Array.from({ length: count }, (_, i) => i + 1)
  const others = usual(
    view.years.filter(({ year }) => year !== view.year),
    count,
  )
  const textOfX = (at: number): string => bucketText(season, bucket, at)
  const months = monthStarts(season, bucket)
  let group: PlotGroup | null = null
  const { plot, remove } = draw(place, x, [...usualLines(others, scale), ...yearLines(view, count)], {
    size: 'tall',
    scales: { x: { time: false } },
    cursor: { y: false, drag: { x: true, y: false }, points: { size: MARK_PIXELS } },
    ...(others === null ? {} : { bands: [{ series: [2, 1], fill: variable('--chart-band') }] }),
    axes: axes(
      {
        splits: () => months.map(({ at }) => at),
        values: (drawn, splits) =>
          splits.map((at) => monthName(months, at, drawn.bbox.width / devicePixelRatio)),
        space: 0,
      },
      scale,
    ),
    textOfX,
    cellsOf: ({ values }) => [...values],
    onRange: (range) => group?.follow(range),
  })
  group = new PlotGroup({
    plots: [plot],
    x,
    memory,
    leastWidth: LEAST_RANGE[bucket],
    bigStep: BIG_STEP[bucket],
    label: 'Part of the season in the chart',
    textOfX,
    first: Math.max(
      0,
      valuesOf(
        view.years.find(({ year }) => year === view.year),
        count,
      ).findLastIndex((value) => value !== null),
    ),
    skip: new Set(),
  })
  return () => {
    group.remove()
    remove()
  }
}

function monthName(months: readonly { at: number; month: number }[], at: number, pixels: number): string {
  const name = MONTHS[months.find((each) => each.at === at)?.month ?? -1] ?? ''
  return pixels / months.length < MONTH_PIXELS ? name.slice(0, 1) : name
}

/** The band's lower edge, its upper edge with the text of both, and the median. */
function usualLines(others: Usual | null, scale: Scale): Line[] {
  if (others === null) return []
  const { low, high, median, from, to } = others
  const edge = { color: 'transparent', width: 0, scale }
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
    { label: 'Median', values: median, color: variable('--chart-2'), width: 1.5, scale },
  ]
}

/** The year in front is drawn last, and stands first in the legend, before the one beside it. */
function yearLines({ years, year, against, scale, nameOf }: SeasonView, count: number): Line[] {
  const lineOf = (which: number | null, style: Pick<Line, 'color' | 'width' | 'dash' | 'class'>): Line[] =>
    years
      .filter((each) => each.year === which)
      .map((each) => ({ label: nameOf(each), values: valuesOf(each, count), scale, ...style }))
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
