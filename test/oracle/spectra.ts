/** Wave spectra of a buoy, by the definitions of their parameters. */
import {
  buoySummary,
  failure,
  find,
  instant,
  isoTime,
  page,
  success,
  type Answer,
  type Asked,
  type Check,
  type ExpectedObject,
  type JsonObject,
  type Known,
} from './known.ts'
import type { World, WorldSpectrum } from './world.ts'

/** A reading belongs to a spectrum that is no farther away. */
const JOINED = 1800

const rounded = (value: number, decimals: number): number | null =>
  Number.isNaN(value) ? null : Number(value.toFixed(decimals))

/** Sums take the bands that reach this, Hz. */
const SUMS_FROM = 0.0325

export function parametersOf(lists: WorldSpectrum): JsonObject {
  const isSummed = lists.frequency.map((hz, i) => hz + lists.bandwidth[i] / 2 > SUMS_FROM - 1e-9)
  const summed = <T>(values: readonly T[]): T[] => values.filter((_value, i) => isSummed[i])
  const [frequency, bandwidth, density] = [lists.frequency, lists.bandwidth, lists.density].map(
    summed<number>,
  )
  const [direction, r1] = [lists.direction, lists.r1].map(summed<number | null>)
  const sum = (of: (i: number) => number): number =>
    density.reduce((all, value, i) => all + value * bandwidth[i] * of(i), 0)
  const m = (power: number): number => sum((i) => frequency[i] ** power)
  const directed = (of: (angle: number) => number) => (i: number) =>
    direction[i] === null || r1[i] === null ? 0 : r1[i] * of((direction[i] * Math.PI) / 180)
  const [north, east] = [Math.cos, Math.sin].map((of) => sum(directed(of)))
  const resultant = Math.hypot(north, east) / sum((i) => (direction[i] === null || r1[i] === null ? 0 : 1))
  const mean = resultant >= 1e-6 ? (Math.atan2(east, north) * 180) / Math.PI + 360 : NaN
  const peak = density.indexOf(Math.max(...density))
  const spread = (r: number): number => (180 / Math.PI) * Math.sqrt(2 * (1 - r))
  const hm0 = 4 * Math.sqrt(m(0))
  const te = m(-1) / m(0)
  return {
    hm0: rounded(hm0, 3),
    tm01: rounded(m(0) / m(1), 3),
    tm02: rounded(Math.sqrt(m(0) / m(2)), 3),
    te: rounded(te, 3),
    peak_period: rounded(1 / frequency[peak], 3),
    direction_at_peak: direction[peak],
    spread_at_peak: rounded(spread(r1[peak] ?? NaN), 2),
    mean_direction: rounded(mean % 360, 2),
    mean_spread: rounded(spread(resultant), 2),
    power: rounded(((1025 * 9.80665 ** 2) / (64 * Math.PI) / 1000) * hm0 ** 2 * te, 3),
  }
}

const aList: Check = (got) => (Array.isArray(got) ? got : 'a list')

function sampleOf({ readings }: Known, spectrum: WorldSpectrum): ExpectedObject {
  const { time, density, direction, r1 } = spectrum
  const away = (reading: { time: number }): number => Math.abs(reading.time - time)
  const [reading] = readings
    .filter((one) => away(one) <= JOINED)
    .toSorted((a, b) => away(a) - away(b) || a.time - b.time)
  return {
    time: isoTime(time),
    reading_time: reading === undefined ? null : isoTime(reading.time),
    ...parametersOf(spectrum),
    trains: aList,
    density,
    direction,
    principal_direction: density.map(() => null),
    r1,
    r2: density.map(() => null),
  }
}

export function spectra(buoys: Known[], { buoyId, parameters }: Asked, { asOf }: World): Answer {
  const buoy = find(buoys, buoyId)
  if (buoy === undefined) return failure(404)
  const [start, end] = ['start_date', 'end_date'].map((name) => parameters.get(name))
  const from = start === undefined ? -Infinity : instant(start, false, asOf)
  const to = end === undefined ? Infinity : instant(end, true, asOf)
  if (from > to) return failure(422, ['start_date', 'end_date'])
  const all = buoy.record.spectra ?? []
  const found =
    (start ?? end) === undefined ? all.slice(-1) : all.filter(({ time }) => time >= from && time <= to)
  const { frequency = [], bandwidth = [] } = found.at(-1) ?? {}
  const same = found.filter((one) => one.frequency === frequency)
  const ordered = parameters.get('order') === 'asc' ? same : same.toReversed()
  const shown = page(same.length, parameters, 20, 500)
  return success(
    {
      buoy: buoySummary(buoy),
      frequencies: frequency,
      bandwidths: bandwidth,
      direction_convention: 'from, degrees true',
      spectra: ordered.slice(shown.from, shown.to).map((one) => sampleOf(buoy, one)),
      other_bands: found.length - same.length,
      count: same.length,
    },
    shown.meta,
  )
}
