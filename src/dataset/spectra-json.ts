/** Wave spectra as JSON and as columns, with the parameters of each. */
import { sectorsOf } from '../sea/maximum-entropy.ts'
import { JOINED_SECONDS, type Spectrum, spectrumOf } from '../sea/spectra.ts'
import { type WaveParameters, waveParameters, waveTrains } from '../sea/wave-parameters.ts'
import { timestampText } from '../sea/time.ts'
import { spectraAt } from '../snapshot/spectra.ts'
import type { Dataset } from './dataset.ts'
import type { JsonWriter } from './json-writer.ts'

/** A spectrum with its time and that of its reading, epoch seconds; NaN where no reading is near. */
export interface TimedSpectrum extends Spectrum {
  readonly time: number
  readonly readingTime: number
}

/** The spectrum of a buoy at a position, counted from its oldest one. */
export function spectrumAt({ spectra, readings }: Dataset, ordinal: number, position: number): TimedSpectrum {
  const { month, row } = spectra.rowAt(ordinal, position)
  const at = month.time[row]
  const reading = readings.closestRowWithin(ordinal, at, JOINED_SECONDS)
  const readingTime = reading === null ? NaN : reading.month.time[reading.row]
  return { ...spectrumOf(spectraAt(month, row), 0), time: at, readingTime }
}

/** The members of a spectrum that describe the whole of it, with the decimals that they are given in. */
export const PARAMETERS: readonly {
  readonly name: string
  readonly of: keyof WaveParameters
  readonly unit: string
  readonly decimals: number
}[] = [
  { name: 'hm0', of: 'hm0', unit: 'm', decimals: 3 },
  { name: 'tm01', of: 'tm01', unit: 's', decimals: 3 },
  { name: 'tm02', of: 'tm02', unit: 's', decimals: 3 },
  { name: 'te', of: 'te', unit: 's', decimals: 3 },
  { name: 'peak_period', of: 'peakPeriod', unit: 's', decimals: 3 },
  { name: 'direction_at_peak', of: 'directionAtPeak', unit: 'degree', decimals: 2 },
  { name: 'spread_at_peak', of: 'spreadAtPeak', unit: 'degree', decimals: 2 },
  { name: 'mean_direction', of: 'meanDirection', unit: 'degree', decimals: 2 },
  { name: 'mean_spread', of: 'meanSpread', unit: 'degree', decimals: 2 },
  { name: 'power', of: 'power', unit: 'kW/m', decimals: 3 },
]

/** A full circle is north. */
export function rounded(value: number, decimals: number, unit: string): number {
  const scale = 10 ** decimals
  const whole = Math.round(value * scale) / scale
  return unit === 'degree' && whole === 360 ? 0 : whole
}

/** Bytes of the longest number, with its comma. */
const NUMBER_BYTES = 26
/** More than the names of the members of a spectrum take, with its times, parameters and trains. */
const MEMBERS_BYTES = 1500
const TRAINS_BYTES = 400

function writeNumber(writer: JsonWriter, value: number): void {
  if (Number.isNaN(value)) writer.null()
  else writer.number(value)
}

/** A list of numbers, `null` for NaN. */
export function writeNumbers(writer: JsonWriter, values: ArrayLike<number>): void {
  writer.ensure(2 + values.length * NUMBER_BYTES)
  writer.text('[')
  for (let i = 0; i < values.length; i++) {
    if (i > 0) writer.comma()
    writeNumber(writer, values[i])
  }
  writer.text(']')
}

function writeTime(writer: JsonWriter, epoch: number): void {
  if (Number.isNaN(epoch)) writer.null()
  else writer.timestamp(epoch)
}

/** One item of `data.spectra`; with `directional` its spectrum over directions, too. */
export function writeSpectrum(writer: JsonWriter, spectrum: TimedSpectrum, directional: boolean): void {
  writer.ensure(MEMBERS_BYTES)
  writer.text('{"time":')
  writeTime(writer, spectrum.time)
  writer.text(',"reading_time":')
  writeTime(writer, spectrum.readingTime)
  const parameters = waveParameters(spectrum)
  for (const { name, of, unit, decimals } of PARAMETERS) {
    writer.text(`,"${name}":`)
    writeNumber(writer, rounded(parameters[of], decimals, unit))
  }
  writeTrains(writer, spectrum)
  for (const [name, values] of [
    ['density', spectrum.density],
    ['direction', spectrum.direction],
    ['principal_direction', spectrum.principal],
    ['r1', spectrum.r1],
    ['r2', spectrum.r2],
  ] as const) {
    writer.text(`,"${name}":`)
    writeNumbers(writer, values)
    writer.ensure(MEMBERS_BYTES)
  }
  if (directional) writeDirectional(writer, spectrum)
  writer.text('}')
}

function writeTrains(writer: JsonWriter, spectrum: Spectrum): void {
  writer.ensure(TRAINS_BYTES)
  writer.text(',"trains":[')
  waveTrains(spectrum).forEach(({ height, period, direction }, i) => {
    writer.text(`${i === 0 ? '' : ','}{"height":`)
    writeNumber(writer, rounded(height, 3, 'm'))
    writer.text(',"period":')
    writeNumber(writer, rounded(period, 3, 's'))
    writer.text(',"direction":')
    writeNumber(writer, rounded(direction, 2, 'degree'))
    writer.text('}')
  })
  writer.text(']')
}

/** Decimals of a density over directions, m²/Hz/degree: the sum of 72 of them stays right to 1e-6. */
const DIRECTIONAL_DECIMALS = 9

function writeDirectional(writer: JsonWriter, spectrum: Spectrum): void {
  let impossible = 0
  writer.text(',"directional_density":[')
  for (let band = 0; band < spectrum.density.length; band++) {
    if (band > 0) writer.comma()
    const sectors = sectorsOf(spectrum, band)
    if (sectors === 'impossible') impossible++
    if (sectors instanceof Float64Array) {
      writeNumbers(
        writer,
        sectors.map((value) => rounded(value, DIRECTIONAL_DECIMALS, '')),
      )
    } else writer.null()
    writer.ensure(NUMBER_BYTES)
  }
  writer.text('],"impossible_bands":')
  writer.integer(impossible)
}

/** The parameters of a buoy's newest spectrum; null where it has none. */
export function newestSpectrum(dataset: Dataset, ordinal: number): object | null {
  const count = dataset.spectra.count(ordinal)
  if (count === 0) return null
  const spectrum = spectrumAt(dataset, ordinal, count - 1)
  const parameters = waveParameters(spectrum)
  const timeOf = (epoch: number): string | null => (Number.isNaN(epoch) ? null : timestampText(epoch))
  const members = PARAMETERS.map(({ name, of, unit, decimals }) => {
    const value = rounded(parameters[of], decimals, unit)
    return [name, Number.isNaN(value) ? null : value]
  })
  return {
    time: timeOf(spectrum.time),
    reading_time: timeOf(spectrum.readingTime),
    ...(Object.fromEntries(members) as object),
  }
}
