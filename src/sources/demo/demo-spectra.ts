/**
 * Made-up wave spectra of the demo: a swell and a wind sea, each with the shape of JONSWAP and a spread of
 * its own.
 */
import { type Bands } from '../../sea/spectra.ts'
import { momentsOf, SpectraBatch } from '../../sea/spectra-batch.ts'
import { DAY, HOUR } from '../../sea/time.ts'
import type { FileReport, Sink } from '../source.ts'
import { isThere, type Mooring, measures, seaAt, timesBetween } from './demo-sea.ts'

/** How far spectra reach back, and how often one comes. */
const REACH = 3 * DAY
const EVERY = HOUR

/** 0.035 to 0.485 Hz. */
const WIDTH_HZ = 0.01
const BANDS: Bands = {
  frequency: Float64Array.from({ length: 46 }, (_, i) => (35 + 10 * i) / 1000),
  bandwidth: new Float64Array(46).fill(WIDTH_HZ),
}

/** A part of the sea: m, s, degrees; `gamma` is the peakedness of JONSWAP, the spread is in degrees. */
interface Part {
  readonly height: number
  readonly period: number
  readonly direction: number
  readonly gamma: number
  readonly spread: number
}

/** Hasselmann et al. 1973, scaled to the height. */
function densityOf({ height, period, gamma }: Part): Float64Array {
  const shape = BANDS.frequency.map((hz) => {
    const ratio = hz * period
    const width = ratio <= 1 ? 0.07 : 0.09
    const peaked = gamma ** Math.exp(-((ratio - 1) ** 2) / (2 * width ** 2))
    return ratio ** -5 * Math.exp(-1.25 * ratio ** -4) * peaked
  })
  const sum = shape.reduce((all, value) => all + value, 0) * WIDTH_HZ
  return shape.map((value) => (value * height ** 2) / 16 / sum)
}

/** Adds the spectrum of a time, of parts whose directions are normally distributed. */
function add(batch: SpectraBatch, time: number, parts: readonly Part[]): void {
  const densities = parts.map(densityOf)
  const density = BANDS.frequency.map((_, band) => densities.reduce((sum, part) => sum + part[band], 0))
  const moments = Array.from(density, (whole, band) => {
    const mean = (times: 1 | 2, partOf: (angle: number) => number): number =>
      parts.reduce((sum, { direction, spread }, part) => {
        const angle = (times * direction * Math.PI) / 180
        const width = (times * spread * Math.PI) / 180
        return sum + (densities[part][band] / whole) * Math.exp(-(width ** 2) / 2) * partOf(angle)
      }, 0)
    return momentsOf('north-from', mean(1, Math.cos), mean(1, Math.sin), mean(2, Math.cos), mean(2, Math.sin))
  })
  // Instruments give densities in thousandths and shares in hundredths.
  batch.add(time, {
    density: density.map((value) => Math.round(value * 1000) / 1000),
    direction: moments.map(({ direction }) => Math.round(direction)),
    principal: moments.map(({ principal }) => Math.round(principal)),
    r1: moments.map(({ r1 }) => Math.round(r1 * 100) / 100),
    r2: moments.map(({ r2 }) => Math.round(r2 * 100) / 100),
  })
}

/** Sends the spectra of moorings that tell swell and wind sea apart, and of those that documents show. */
export function sendSpectra(
  sink: Sink,
  file: FileReport,
  moorings: readonly Mooring[],
  seed: number,
  asOf: number,
): void {
  for (const mooring of moorings) {
    if (mooring.isGapless !== true && !measures(mooring, 'swellHeight')) continue
    const batch = new SpectraBatch(BANDS)
    const stateAt = seaAt(mooring, seed)
    const measured = new Set(mooring.times(asOf - REACH, asOf + 1))
    for (const time of timesBetween(asOf - REACH, asOf + 1, EVERY)) {
      if (!measured.has(time) || !isThere(mooring, time)) continue
      const sea = stateAt(time)
      add(batch, time, [
        {
          height: sea.swellHeight,
          period: sea.swellPeriod,
          direction: sea.swellDirection,
          gamma: 6,
          spread: 14,
        },
        {
          height: sea.windWaveHeight,
          period: sea.windWavePeriod,
          direction: sea.windWaveDirection,
          gamma: 3.3,
          spread: 30,
        },
      ])
    }
    if (batch.length === 0) continue
    sink.spectra(mooring.buoy, batch.taken())
    file.rows(batch.length)
  }
}
