/**
 * Colours of significant wave height: seven classes, the same in light and dark, from pale yellow over green
 * and blue to dark violet. Lightness falls from class to class, so their order can be seen in grey and with
 * every kind of colour vision; `test/web/view.test.ts` simulates them. What stands out less on a dark
 * map has a light outline there, and higher seas have larger dots.
 */

import { localNumber } from './language.ts'
import type { Scale } from './mine/units.ts'

/** The begin of the next class: round numbers in each unit, at about the same heights. */
const CLASS_STARTS = { m: [0.5, 1, 1.5, 2.5, 4, 6], ft: [2, 3, 5, 8, 13, 20] } as const

const startsOf = ({ unit }: Scale): readonly number[] => CLASS_STARTS[unit === 'ft' ? 'ft' : 'm']

export const HEIGHT_COLORS = [
  '#fbf08a',
  '#b8e04a',
  '#55c57a',
  '#1fa08f',
  '#2d7ca8',
  '#4a55a8',
  '#5a1480',
] as const

/** The class of a height in metres, from 0, by the limits of a height's scale. */
export function classOf(height: number, scale: Scale): number {
  const starts = startsOf(scale)
  const next = starts.findIndex((start) => scale.from(height) < start)
  return next === -1 ? starts.length : next
}

/** The texts of the legend: where each class begins, and that the last one has no end. */
export const classLabels = (scale: Scale): string[] =>
  [0, ...startsOf(scale)].map((start, i, { length }) => localNumber(`${start}${i === length - 1 ? '+' : ''}`))
