/** Wave spectra on their way in: bands and values are checked, and become codes. */
import { MISSING_U16 } from './columns.ts'
import {
  between,
  circled,
  DIRECTION_SCALE,
  MISSING_U8,
  PEAK_CODE,
  R_SCALE,
  type BandName,
  type Bands,
  type Spectra,
} from './spectra.ts'

/** Directional wave buoys have 39 to 129 bands. */
const MAX_BANDS = 256
const FULL_CIRCLE = 360 * DIRECTION_SCALE

/** m²/Hz: ten times what the highest sea has in its narrowest band. */
export const MOST_DENSITY = 100_000
/** Hz: waves shorter than a fifth of a second are ripples, which no wave buoy follows. */
const HIGHEST_HZ = 5

/** The values of one spectrum by band: m²/Hz, degrees and shares; NaN where there is none. */
export type BandValues = { readonly density: ArrayLike<number> } & {
  readonly [name in Exclude<BandName, 'density'>]?: ArrayLike<number> | null
}

/** Why a spectrum is left out. */
type SpectrumFault =
  | 'a spectrum with a density below 0'
  | 'a spectrum with a density that no sea has'
  | 'a spectrum without a density in a band'
  | 'a spectrum without energy in any band'

/** Bands by their middles and widths, or by edges half-way between middles; or their fault in fixed words. */
export function bandsOf(frequency: readonly number[], bandwidth: readonly number[] | null): Bands | string {
  const { length } = frequency
  if (length < 2 || length > MAX_BANDS) return `fewer than 2 or more than ${MAX_BANDS} bands`
  const ascends = frequency.every((hz, i) => hz > (i === 0 ? 0 : frequency[i - 1]) && hz <= HIGHEST_HZ)
  if (!ascends) return `the frequencies of the bands do not ascend from 0 to ${HIGHEST_HZ} Hz`
  const widths = bandwidth ?? frequency.map((_, i) => halfWayWidth(frequency, i))
  const areWidths = widths.length === length && widths.every((hz) => hz > 0 && hz <= HIGHEST_HZ)
  if (!areWidths) return 'the bands have not each a width above 0'
  return { frequency: Float64Array.from(frequency), bandwidth: Float64Array.from(widths) }
}

function halfWayWidth(frequency: readonly number[], band: number): number {
  const below = frequency[band] - (frequency[band - 1] ?? NaN)
  const above = (frequency[band + 1] ?? NaN) - frequency[band]
  const width = ((Number.isNaN(below) ? above : below) + (Number.isNaN(above) ? below : above)) / 2
  // Without the last bits of the differences: 0.005 and not 0.004999999999999998.
  return Math.round(width * 1e9) / 1e9
}

/** Takes spectra of one set of bands as values. */
export class SpectraBatch implements Spectra {
  readonly bands: Bands
  time = new Uint32Array(16)
  peak = new Float32Array(16)
  density: Uint16Array
  direction: Uint16Array
  principal: Uint16Array
  r1: Uint8Array
  r2: Uint8Array
  length = 0
  /** Values of r1 and r2 that were left out, as they were outside 0 to 1. */
  outside = 0

  constructor(bands: Bands) {
    this.bands = bands
    const codes = 16 * bands.frequency.length
    this.density = new Uint16Array(codes)
    this.direction = new Uint16Array(codes)
    this.principal = new Uint16Array(codes)
    this.r1 = new Uint8Array(codes)
    this.r2 = new Uint8Array(codes)
  }

  /** Adds the spectrum of a time (epoch seconds), or returns its fault. */
  add(time: number, values: BandValues): SpectrumFault | null {
    const count = this.bands.frequency.length
    const { density } = values
    let greatest = 0
    for (let band = 0; band < count; band++) {
      if (Number.isNaN(density[band])) return 'a spectrum without a density in a band'
      if (density[band] < 0) return 'a spectrum with a density below 0'
      greatest = Math.max(greatest, density[band])
    }
    if (greatest > MOST_DENSITY) return 'a spectrum with a density that no sea has'
    const peak = Math.fround(greatest)
    if (peak === 0) return 'a spectrum without energy in any band'
    if (this.length === this.time.length) this.#grow()
    const from = this.length * count
    this.time[this.length] = time
    this.peak[this.length++] = peak
    for (let band = 0; band < count; band++) {
      const at = from + band
      // Rounded to 32 bits, the peak may be a little below the greatest density.
      this.density[at] = Math.min(PEAK_CODE, Math.round((density[band] / peak) * PEAK_CODE))
      this.direction[at] = directionCode(values.direction?.[band])
      this.principal[at] = directionCode(values.principal?.[band])
      this.r1[at] = this.#shareCode(values.r1?.[band])
      this.r2[at] = this.#shareCode(values.r2?.[band])
    }
    return null
  }

  /** The spectra, without the room for more. */
  taken(): Spectra {
    return slice(this, 0, this.length)
  }

  #shareCode(share = NaN): number {
    if (Number.isNaN(share)) return MISSING_U8
    if (share >= 0 && share <= 1) return Math.round(share * R_SCALE)
    this.outside++
    return MISSING_U8
  }

  #grow(): void {
    const twice = <C extends Uint8Array | Uint16Array | Uint32Array | Float32Array>(column: C): C => {
      const ColumnArray = column.constructor as new (length: number) => C
      const grown = new ColumnArray(column.length * 2)
      grown.set(column)
      return grown
    }
    this.time = twice(this.time)
    this.peak = twice(this.peak)
    for (const name of ['density', 'direction', 'principal'] as const) this[name] = twice(this[name])
    for (const name of ['r1', 'r2'] as const) this[name] = twice(this[name])
  }
}

function directionCode(degrees = NaN): number {
  if (!Number.isFinite(degrees)) return MISSING_U16
  // A full circle is north.
  return ((Math.round(degrees * DIRECTION_SCALE) % FULL_CIRCLE) + FULL_CIRCLE) % FULL_CIRCLE
}

/** Spectra `from` up to `to`, as views. */
export function slice(spectra: Spectra, from: number, to: number): Spectra {
  const count = spectra.bands.frequency.length
  const [first, end] = [from * count, to * count]
  return {
    bands: spectra.bands,
    time: spectra.time.subarray(from, to),
    peak: spectra.peak.subarray(from, to),
    density: spectra.density.subarray(first, end),
    direction: spectra.direction.subarray(first, end),
    principal: spectra.principal.subarray(first, end),
    r1: spectra.r1.subarray(first, end),
    r2: spectra.r2.subarray(first, end),
  }
}

/** The axes of a1 and b1: of NDBC's r1 and alpha1 a1 is from north; of a Spotter's it is towards east. */
export const AXES = ['east-towards', 'north-from'] as const
export type Axes = (typeof AXES)[number]

/** Mean and principal direction with r1 and r2 of Fourier coefficients; NaN where a pair is not whole. */
export function momentsOf(
  axes: Axes,
  a1: number,
  b1: number,
  a2: number,
  b2: number,
): { direction: number; principal: number; r1: number; r2: number } {
  const degrees = (b: number, a: number): number => (Math.atan2(b, a) * 180) / Math.PI
  const from = (angle: number): number => (axes === 'east-towards' ? 270 - angle : angle)
  const direction = circled(from(degrees(b1, a1)))
  return {
    direction,
    principal: nearerTo(direction, circled(from(degrees(b2, a2) / 2))),
    r1: Math.hypot(a1, b1),
    r2: Math.hypot(a2, b2),
  }
}

/** The end of a principal axis that is nearer the mean direction. */
export function nearerTo(direction: number, principal: number): number {
  const other = circled(principal + 180)
  return Number.isNaN(direction) || between(principal, direction) <= between(other, direction)
    ? principal
    : other
}
