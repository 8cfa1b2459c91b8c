/**
 * Colours of significant wave height: seven classes of Viridis, which keeps its order for every kind of
 * colour vision and in grey. High seas stand out on both maps, so the dark map has the reverse order of the
 * light one.
 */

import { decimalText, type Scale } from './mine/units.ts'

/** Metres at which the next class begins. */
export const CLASS_STARTS = [0.5, 1, 1.5, 2.5, 4, 6] as const

export const HEIGHT_COLORS = {
  light: ['#e3df3a', '#9bd93c', '#48b971', '#218f8d', '#2d6f8e', '#403f86', '#440f5a'],
  dark: ['#5a4fb0', '#4573a6', '#3a93a0', '#35b37e', '#7ad151', '#c5e021', '#fdf06a'],
} as const

/** The class of a height in metres, from 0. */
export function classOf(height: number): number {
  const next = CLASS_STARTS.findIndex((start) => height < start)
  return next === -1 ? CLASS_STARTS.length : next
}

/** Names of the classes for the legend: the same classes in every unit. */
export function classLabels({ from, unit }: Scale): string[] {
  const starts = CLASS_STARTS.map((start) =>
    unit === 'm' ? String(start) : decimalText(from(start), 1).replace('.0', ''),
  )
  return [
    `0–${starts[0]}`,
    ...starts.slice(0, -1).map((start, i) => `${start}–${starts[i + 1]}`),
    `${starts.at(-1)}+`,
  ]
}
