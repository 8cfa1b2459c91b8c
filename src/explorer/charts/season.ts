/** The same season of several years: one year in front, one beside it, all others behind them. */
import type { SeriesYear } from '../../../clients/typescript/groundswell.ts'
import { axes, draw, HEIGHT_PIXELS, variable, type Line } from './plot.ts'

interface Highlighted {
  year: number
  against: number | null
}

/** `nameOf` names a year in the legend. Returns what removes the chart. */
export function drawSeason(
  place: HTMLElement,
  years: readonly SeriesYear[],
  highlighted: Highlighted,
  { unit, digits }: { unit: string; digits: number },
  nameOf: (year: SeriesYear) => string,
): () => void {
  const labels = labelsOf(years)
  const x = Array.from({ length: Math.max(1, ...labels.keys()) }, (_, i) => i + 1)
  const lines = years
    .toSorted((a, b) => rank(a, highlighted) - rank(b, highlighted) || a.year - b.year)
    .map((each) => ({
      label: nameOf(each),
      values: valuesOf(each, x.length),
      unit,
      digits,
      ...styleOf(rank(each, highlighted)),
    }))
  const month = (at: number): string => (labels.get(at) ?? '').slice(0, 3)
  const monthStarts = x.filter((at) => month(at) !== month(at - 1) && month(at) !== '')
  return draw(place, x, lines, {
    height: HEIGHT_PIXELS.tall,
    scales: { x: { time: false } },
    cursor: { drag: { x: true, y: false }, points: { size: 6 } },
    axes: axes(
      {
        values: (_plot, splits) => splits.map((at) => month(Math.round(at))),
        splits: () => monthStarts,
        space: 34,
      },
      unit,
    ),
    textOfX: (at) => labels.get(at) ?? '',
    cellsOf: ({ values }) => [...values],
  })
}

/** The labels of buckets, as in `Nov 21`, by their number from 1. */
function labelsOf(years: readonly SeriesYear[]): Map<number, string> {
  const labels = new Map<number, string>()
  for (const { points } of years) for (const { bucket_index: at, label } of points) labels.set(at, label)
  return labels
}

function valuesOf({ points }: SeriesYear, length: number): (number | null)[] {
  const values = Array.from<number | null>({ length }).fill(null)
  for (const { bucket_index: at, value } of points) values[at - 1] = value
  return values
}

/** The later a year is drawn, the more it stands out: 2 in front, 1 beside it, 0 behind. */
function rank({ year }: SeriesYear, highlighted: Highlighted): 0 | 1 | 2 {
  return year === highlighted.year ? 2 : year === highlighted.against ? 1 : 0
}

function styleOf(rank: 0 | 1 | 2): Pick<Line, 'color' | 'width' | 'dash' | 'class'> {
  switch (rank) {
    case 0:
      return { color: variable('--chart-faint'), width: 1, class: 'behind' }
    case 1:
      return { color: variable('--chart-3'), width: 2, dash: [6, 4] }
    case 2:
      return { color: variable('--chart-1'), width: 2.5, class: 'front' }
  }
}
