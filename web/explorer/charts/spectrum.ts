/** The pictures of a wave spectrum as outlines of SVG: density by band, and over directions on a disc. */

/** The axis of the bands of a picture. */
export type Along = 'period' | 'frequency'

/** A box of drawing units. */
export interface Box {
  readonly width: number
  readonly height: number
}

/** Seconds of the longest period that is drawn: longer waves are the buoy's own motion. */
const LONGEST_PERIOD = 25

/** The place of each band, from 0 to `width`; of periods the lowest band lies farthest to the right. */
export function placesOf(frequencies: readonly number[], along: Along, { width }: Box): number[] {
  const highest = frequencies.at(-1) ?? 1
  if (along === 'frequency') return frequencies.map((hz) => (hz / highest) * width)
  const shortest = 1 / highest
  return frequencies.map((hz) => {
    const period = Math.min(1 / hz, LONGEST_PERIOD)
    return ((period - shortest) / (LONGEST_PERIOD - shortest)) * width
  })
}

/** Round values of an axis with their places. */
export function ticksOf(
  frequencies: readonly number[],
  along: Along,
  box: Box,
): { readonly value: number; readonly at: number }[] {
  const values = along === 'period' ? [5, 10, 15, 20] : [0.1, 0.2, 0.3, 0.4, 0.5]
  const highest = frequencies.at(-1) ?? 1
  return values
    .filter((value) => (along === 'period' ? value >= 1 / highest : value <= highest))
    .map((value) => {
      const [at = 0] = placesOf([along === 'period' ? 1 / value : value, highest], along, box)
      return { value, at }
    })
}

/** A line through the densities, `most` of which reach the top of the box. */
export function lineOf(
  places: readonly number[],
  densities: readonly number[],
  most: number,
  { height }: Box,
): string {
  return places
    .map((x, i) => {
      const y = height - ((densities[i] ?? 0) / most) * height
      return `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}

/** The band whose place is nearest to `x`. */
export function nearestBand(places: readonly number[], x: number): number {
  const distances = places.map((place) => Math.abs(place - x))
  return distances.indexOf(Math.min(...distances))
}

/** Hz in the middle and at the edge of a disc of radius 1: swell lies inside, the wind sea outside. */
const [INNERMOST, OUTERMOST] = [0.03, 0.5]

/** The radius of a frequency; steps are those of its logarithm, so that swells are told apart. */
export const radiusOf = (hz: number): number =>
  Math.min(1, Math.max(0, Math.log(hz / INNERMOST) / Math.log(OUTERMOST / INNERMOST)))

/** The frequency at a radius. */
export const frequencyAt = (radius: number): number => INNERMOST * (OUTERMOST / INNERMOST) ** radius

/** The point of a radius in a direction that waves come from, north up. */
export function pointAt(radius: number, degrees: number): { readonly x: number; readonly y: number } {
  const angle = (degrees * Math.PI) / 180
  return { x: radius * Math.sin(angle), y: -radius * Math.cos(angle) }
}

/** Shares of the greatest density at which a step of colour begins. */
export const STEPS = [0.01, 0.03, 0.08, 0.2, 0.45, 0.75] as const

/** A spectrum over directions: lists by band, and of densities by direction. */
export interface Directional {
  readonly frequencies: readonly number[]
  readonly bandwidths: readonly number[]
  readonly directions: readonly number[]
  readonly densities: readonly (readonly number[] | null)[]
}

/** The outlines of the cells of each step on a disc of that radius; a step without a cell is empty. */
export function discOf(
  { frequencies, bandwidths, directions, densities }: Directional,
  radius: number,
): string[] {
  const most = Math.max(...densities.flatMap((band) => band ?? []), Number.MIN_VALUE)
  const steps = STEPS.map(() => '')
  const half = 180 / directions.length
  densities.forEach((band, i) => {
    const [hz, width] = [frequencies[i] ?? 0, bandwidths[i] ?? 0]
    const [inner, outer] = [hz - width / 2, hz + width / 2].map((edge) => radius * radiusOf(edge)) as [
      number,
      number,
    ]
    band?.forEach((density, sector) => {
      const step = STEPS.findLastIndex((share) => density >= share * most)
      if (step < 0 || inner === outer) return
      steps[step] += cellOf(inner, outer, (directions[sector] ?? 0) - half, (directions[sector] ?? 0) + half)
    })
  })
  return steps
}

/** A piece of a ring. */
export function cellOf(inner: number, outer: number, from: number, to: number): string {
  const text = (radius: number, degrees: number): string => {
    const { x, y } = pointAt(radius, degrees)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  const arc = (radius: number, sweep: 0 | 1, end: string): string =>
    `A${radius.toFixed(1)} ${radius.toFixed(1)} 0 0 ${sweep} ${end}`
  return `M${text(inner, from)}L${text(outer, from)}${arc(outer, 1, text(outer, to))}L${text(inner, to)}${arc(inner, 0, text(inner, from))}Z`
}
