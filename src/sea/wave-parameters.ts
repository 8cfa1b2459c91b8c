/**
 * Parameters of a wave spectrum by its moments, and the wave trains in it (IAHR list of sea state parameters,
 * 1986; Kuik, van Vledder and Holthuijsen 1988 for directions and spreads).
 */
import type { Spectrum } from './spectra.ts'

/**
 * Hz: sums take the bands that reach it. Below, buoys measure their own motion; NDBC's sums begin at this
 * band.
 */
const SUMS_FROM_HZ = 0.0325
/** Room for bands that end there but for a few last bits. */
const TOLERANCE_HZ = 1e-9

/** kg/m³ and m/s². */
const SEA_WATER = 1025
const GRAVITY = 9.80665
/** kW/m for hm0² × te in deep water: ρg²/64π, 0.490. */
const POWER = (SEA_WATER * GRAVITY ** 2) / (64 * Math.PI) / 1000

/** Resultant below which directions cancel out. */
const LEAST_RESULTANT = 1e-6

/** Metres, seconds, degrees and kW per metre of crest; NaN where there is none. */
export interface WaveParameters {
  readonly hm0: number
  readonly tm01: number
  readonly tm02: number
  readonly te: number
  readonly peakPeriod: number
  readonly directionAtPeak: number
  readonly spreadAtPeak: number
  readonly meanDirection: number
  readonly meanSpread: number
  readonly power: number
}

/** The first band that sums take; the number of bands where none is. */
function firstSummed({ bands: { frequency, bandwidth } }: Spectrum): number {
  const found = frequency.findIndex((hz, i) => hz + bandwidth[i] / 2 >= SUMS_FROM_HZ - TOLERANCE_HZ)
  return found < 0 ? frequency.length : found
}

/** The moments m₋₁, m0, m1 and m2 of bands `from` up to `to`. */
function moments({ bands, density }: Spectrum, from: number, to: number): [number, number, number, number] {
  const sums: [number, number, number, number] = [0, 0, 0, 0]
  for (let i = from; i < to; i++) {
    const hz = bands.frequency[i]
    const energy = density[i] * bands.bandwidth[i]
    sums[0] += energy / hz
    sums[1] += energy
    sums[2] += energy * hz
    sums[3] += energy * hz * hz
  }
  return sums
}

/** Mean direction and spread of bands `from` up to `to`; bands without both direction and r1 do not count. */
function meanOf(spectrum: Spectrum, from: number, to: number): { direction: number; spread: number } {
  const { bands, density, direction, r1 } = spectrum
  let [north, east, all] = [0, 0, 0]
  for (let i = from; i < to; i++) {
    if (Number.isNaN(direction[i] + r1[i])) continue
    const energy = density[i] * bands.bandwidth[i]
    const angle = (direction[i] * Math.PI) / 180
    north += energy * r1[i] * Math.cos(angle)
    east += energy * r1[i] * Math.sin(angle)
    all += energy
  }
  const resultant = Math.hypot(north, east) / all
  if (!(resultant >= LEAST_RESULTANT)) return { direction: NaN, spread: spreadOf(resultant) }
  const degrees = (Math.atan2(east, north) * 180) / Math.PI
  return { direction: degrees < 0 ? degrees + 360 : degrees, spread: spreadOf(resultant) }
}

/** Directional spread in degrees. */
function spreadOf(r1: number): number {
  return (180 / Math.PI) * Math.sqrt(2 * Math.max(0, 1 - r1))
}

/** The lowest band of greatest density from band `from` up to `to`. */
function peakOf({ density }: Spectrum, from: number, to: number): number {
  let peak = from
  for (let i = from + 1; i < to; i++) {
    if (density[i] > density[peak]) peak = i
  }
  return peak
}

export function waveParameters(spectrum: Spectrum): WaveParameters {
  const { bands, density, direction, r1 } = spectrum
  const [from, to] = [firstSummed(spectrum), density.length]
  const [inverse, m0, m1, m2] = moments(spectrum, from, to)
  const peak = peakOf(spectrum, from, to)
  const mean = meanOf(spectrum, from, to)
  const hm0 = 4 * Math.sqrt(m0)
  const te = inverse / m0
  return {
    hm0,
    tm01: m0 / m1,
    tm02: Math.sqrt(m0 / m2),
    te,
    peakPeriod: m0 > 0 ? 1 / bands.frequency[peak] : NaN,
    directionAtPeak: m0 > 0 ? direction[peak] : NaN,
    spreadAtPeak: m0 > 0 ? spreadOf(r1[peak]) : NaN,
    meanDirection: mean.direction,
    meanSpread: mean.spread,
    power: m0 > 0 ? POWER * hm0 ** 2 * te : 0,
  }
}

/** A part of the sea around one peak of its spectrum: m, s and degrees. */
export interface WaveTrain {
  readonly height: number
  readonly period: number
  /** The mean direction of its bands; NaN without directions. */
  readonly direction: number
}

const MOST_TRAINS = 3
/** Two peaks are two trains where the density between them falls below this share of the lower one. */
const VALLEY_SHARE = 0.5
/** Share of the energy below which a peak is no train. */
const LEAST_SHARE = 0.05

/**
 * The wave trains of a spectrum, of most energy first: at most three peaks, parted by a valley below half of
 * the lower peak, each with at least a twentieth of the energy. The lowest band of a valley begins the next
 * train.
 */
export function waveTrains(spectrum: Spectrum): WaveTrain[] {
  const { density, bands } = spectrum
  const [from, to] = [firstSummed(spectrum), density.length]
  const [, whole] = moments(spectrum, from, to)
  return partsOf(density, from, to)
    .map((part) => {
      const [, energy] = moments(spectrum, part.from, part.to)
      return { ...part, energy }
    })
    .filter(({ energy }) => energy > 0 && energy >= LEAST_SHARE * whole)
    .sort((a, b) => b.energy - a.energy || a.from - b.from)
    .slice(0, MOST_TRAINS)
    .map((part) => ({
      height: 4 * Math.sqrt(part.energy),
      period: 1 / bands.frequency[peakOf(spectrum, part.from, part.to)],
      direction: meanOf(spectrum, part.from, part.to).direction,
    }))
}

interface BandRange {
  readonly from: number
  readonly to: number
}

/** The bands cut at the valleys that part two peaks. */
function partsOf(density: Float64Array, from: number, to: number): BandRange[] {
  const parts: BandRange[] = []
  let begin = from
  let [peak, valley] = [from, from]
  for (let i = from; i < to; i++) {
    // A valley counts once the density has doubled behind it, and lies below half of the peak before it.
    if (density[i] < density[valley]) valley = i
    const isParted = density[valley] < VALLEY_SHARE * Math.min(density[peak], density[i])
    if (isParted) {
      parts.push({ from: begin, to: valley })
      begin = valley
      peak = i
      valley = i
    } else if (density[i] >= density[peak]) {
      peak = i
      valley = i
    }
  }
  return [...parts, { from: begin, to }]
}
