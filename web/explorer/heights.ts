/**
 * Colours of significant wave height: seven classes, the same in light and dark, from pale yellow over green
 * and blue to dark violet. Lightness falls from class to class, so their order can be seen in grey and with
 * every kind of colour vision; `test/web/view.test.ts` simulates them. What stands out less on a dark
 * map has a light outline there, and higher seas have larger dots.
 */

import { decimalText, type Scale } from './mine/units.ts'

/** Metres at which the next class begins. */
export const CLASS_STARTS = [0.5, 1, 1.5, 2.5, 4, 6] as const

export const HEIGHT_COLORS = [
  '#fbf08a',
  '#b8e04a',
  '#55c57a',
  '#1fa08f',
  '#2d7ca8',
  '#4a55a8',
  '#5a1480',
] as const

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
