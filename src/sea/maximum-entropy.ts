/**
 * The spectrum over directions by maximum entropy (Lygre and Krogstad, Journal of Physical Oceanography 16,
 * 1986): the distribution of most entropy with the measured moments. An estimate: two moments do not tell it.
 * The Fourier series of these moments alone is negative in most bands of a real sea.
 */
import type { Spectrum } from './spectra.ts'

/** Angles at which the distribution is evaluated: a narrow swell has a width of a few degrees. */
export const FINE_ANGLES = 1440
/** Sectors of 5° that these are averaged over; the first one's middle is north. */
export const SECTORS = 72
export const SECTOR_DEGREES = 360 / SECTORS
const ANGLES_A_SECTOR = FINE_ANGLES / SECTORS

/** Radians from north of a fine angle: those of the first sector lie on both sides of north. */
const angleOf = (i: number): number => (2 * Math.PI * (i + 0.5 - ANGLES_A_SECTOR / 2)) / FINE_ANGLES
const COS = Float64Array.from({ length: FINE_ANGLES }, (_, i) => Math.cos(angleOf(i)))
const SIN = Float64Array.from({ length: FINE_ANGLES }, (_, i) => Math.sin(angleOf(i)))
const COS_TWICE = Float64Array.from({ length: FINE_ANGLES }, (_, i) => Math.cos(2 * angleOf(i)))
const SIN_TWICE = Float64Array.from({ length: FINE_ANGLES }, (_, i) => Math.sin(2 * angleOf(i)))

/**
 * Shares of a band's energy by fine angle, whose sum is 1; or false where no distribution has the moments.
 * The angles are as those of the moments: degrees from which waves come.
 */
export function distribution(
  { direction, principal, r1, r2 }: { direction: number; principal: number; r1: number; r2: number },
  into: Float64Array,
): boolean {
  if (!(r1 < 1)) return false
  const [one, two] = [(direction * Math.PI) / 180, (principal * Math.PI) / 90]
  // The moments c1 and c2, and the coefficients φ1 and φ2 of equations 13 and 14, as complex numbers.
  const [c1, s1] = [r1 * Math.cos(one), r1 * Math.sin(one)]
  const [c2, s2] = [r2 * Math.cos(two), r2 * Math.sin(two)]
  const rest = 1 - r1 * r1
  const [f1, g1] = [(c1 - c2 * c1 - s2 * s1) / rest, (s1 - s2 * c1 + c2 * s1) / rest]
  const [f2, g2] = [c2 - c1 * f1 + s1 * g1, s2 - c1 * g1 - s1 * f1]
  if (!(f2 * f2 + g2 * g2 < 1)) return false
  let sum = 0
  for (let i = 0; i < FINE_ANGLES; i++) {
    const real = 1 - f1 * COS[i] - g1 * SIN[i] - f2 * COS_TWICE[i] - g2 * SIN_TWICE[i]
    const imaginary = f1 * SIN[i] - g1 * COS[i] + f2 * SIN_TWICE[i] - g2 * COS_TWICE[i]
    const share = 1 / (real * real + imaginary * imaginary)
    into[i] = share
    sum += share
  }
  for (let i = 0; i < FINE_ANGLES; i++) into[i] /= sum
  return true
}

const fine = new Float64Array(FINE_ANGLES)

/**
 * The density of a band by sector, m²/Hz/degree: its sum times 5° is the density. Null for a band without
 * directions; 'impossible' where no distribution has its moments.
 */
export function sectorsOf(spectrum: Spectrum, band: number): Float64Array | null | 'impossible' {
  const { direction, principal, r1, r2, density } = spectrum
  const given = { direction: direction[band], principal: principal[band], r1: r1[band], r2: r2[band] }
  if (Number.isNaN(given.direction + given.principal + given.r1 + given.r2)) return null
  if (!distribution(given, fine)) return 'impossible'
  const sectors = new Float64Array(SECTORS)
  for (let i = 0; i < FINE_ANGLES; i++) sectors[Math.floor(i / ANGLES_A_SECTOR)] += fine[i]
  for (let i = 0; i < SECTORS; i++) sectors[i] *= density[band] / SECTOR_DEGREES
  return sectors
}
