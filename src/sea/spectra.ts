/**
 * Wave spectra as codes: what a buoy measured of each band of frequencies at a time. A density is kept as a
 * share of its spectrum's greatest one, in 65,535 steps: with bytes, the height of half of all spectra would
 * be off by more than its last digit. Directions are where waves come from.
 */
import { MISSING_U16 } from './columns.ts'

/** The code of a spectrum's greatest density. */
export const PEAK_CODE = 0xffff
/** Codes of directions per degree. */
export const DIRECTION_SCALE = 100
/** Codes of r1 and r2, which go from 0 to 1: half hundredths, as NDBC gives hundredths. */
export const R_SCALE = 200
export const MISSING_U8 = 0xff
/** Most time from a spectrum to its reading: NDBC's heights have minute 40, their spectra 50. */
export const JOINED_SECONDS = 1800

/** Middles and widths of the bands in Hz, lowest first. */
export interface Bands {
  readonly frequency: Float64Array
  readonly bandwidth: Float64Array
}

/** The values of spectra by band, as codes. */
interface BandCodes {
  readonly density: Uint16Array
  /** Mean and principal direction (NDBC's alpha1 and alpha2). */
  readonly direction: Uint16Array
  readonly principal: Uint16Array
  readonly r1: Uint8Array
  readonly r2: Uint8Array
}

export const BAND_NAMES = ['density', 'direction', 'principal', 'r1', 'r2'] as const
export type BandName = (typeof BAND_NAMES)[number]

/** Spectra of one set of bands: the codes of spectrum `i` begin at `i × bands`. */
export interface Spectra extends BandCodes {
  readonly bands: Bands
  /** Epoch seconds. */
  readonly time: Uint32Array
  /** The greatest density of each, m²/Hz. */
  readonly peak: Float32Array
}

/** A key that equal sets of bands share. */
export function bandsKey({ frequency, bandwidth }: Bands): string {
  return `${frequency.join()} ${bandwidth.join()}`
}

/** The angle in 0 up to 360 degrees. */
export function circled(degrees: number): number {
  const rest = degrees % 360
  return rest < 0 ? rest + 360 : rest
}

/** Degrees between two directions, 0 to 180. */
export function between(a: number, b: number): number {
  return Math.abs(((a - b + 540) % 360) - 180)
}

/** One spectrum by band: m²/Hz, degrees from where waves come, shares; NaN where there is no value. */
export interface Spectrum {
  readonly bands: Bands
  readonly density: Float64Array
  readonly direction: Float64Array
  readonly principal: Float64Array
  readonly r1: Float64Array
  readonly r2: Float64Array
}

/** Spectrum `index` of spectra. */
export function spectrumOf(spectra: Spectra, index: number): Spectrum {
  const { bands, peak, ...codes } = spectra
  const count = bands.frequency.length
  const [from, to] = [index * count, (index + 1) * count]
  return {
    bands,
    density: densitiesOf(peak[index], codes.density.subarray(from, to)),
    direction: valuesOf(codes.direction.subarray(from, to), MISSING_U16, DIRECTION_SCALE),
    principal: valuesOf(codes.principal.subarray(from, to), MISSING_U16, DIRECTION_SCALE),
    r1: valuesOf(codes.r1.subarray(from, to), MISSING_U8, R_SCALE),
    r2: valuesOf(codes.r2.subarray(from, to), MISSING_U8, R_SCALE),
  }
}

function valuesOf(codes: Uint16Array | Uint8Array, missing: number, scale: number): Float64Array {
  return Float64Array.from(codes, (code) => (code === missing ? NaN : code / scale))
}

/**
 * The densities of codes, each in the fewest decimals that have its code: those of a source come back as it
 * gave them, if it gave no more digits than a code tells apart.
 */
function densitiesOf(peak: number, codes: Uint16Array): Float64Array {
  const step = peak / PEAK_CODE
  const scale = 10 ** Math.max(0, Math.floor(-Math.log10(step)))
  return Float64Array.from(codes, (code) => {
    const short = Math.round(code * step * scale) / scale
    const isCoded = Math.round((short / peak) * PEAK_CODE) === code
    return isCoded ? short : Math.round(code * step * scale * 10) / (scale * 10)
  })
}
