/** The rows of made-up buoys: the measures that each has of the sea, as finely, and not in its gaps. */
import { setImmediate } from 'node:timers/promises'
import { COMMON_NAMES, MEASURE_NAMES, MEASURES, type MeasureName } from '../../sea/columns.ts'
import { codeLimits, codeOf, RowBatch } from '../../sea/row-batch.ts'
import { HOUR, monthOf, monthStart } from '../../sea/time.ts'
import type { FileReport, Sink } from '../source.ts'
import { draw, seaAt, type Place } from './demo-sea.ts'
import data from './stations.json' with { type: 'json' }

/** The resolution of each measure that an instrument has, in its unit. */
const INSTRUMENTS: { readonly [name: string]: { readonly [name in MeasureName]?: number } } = data.instruments

export interface Mooring extends Place {
  /** The handle of the sink. */
  readonly buoy: number
  /** Key of the gaps and of the noise of readings. */
  readonly key: number
  readonly instrument: string
  /** The buoy always reports: documents and pictures show it. */
  readonly isGapless?: boolean
  /** When it measures, from `from` on and before `to`, epoch seconds. */
  times(from: number, to: number): number[]
}

export interface Fleet {
  readonly moorings: readonly Mooring[]
  readonly seed: number
  /** The first rows, and the first ones with swell and wind sea apart, epoch seconds. */
  readonly from: number
  readonly swellFrom: number
}

/** Readings are lost for two hours at a time, this share of them; below a day, so a buoy stays active. */
const LOST = 0.03
const LOSS = 2 * HOUR

/** The multiples of `every` from `from` on and before `to`, all in epoch seconds. */
export function timesBetween(from: number, to: number, every: number): number[] {
  const first = Math.ceil(from / every)
  return Array.from({ length: Math.max(Math.ceil(to / every) - first, 0) }, (_, i) => (first + i) * every)
}

/** Sends rows month by month, all buoys of a month together, as the builder spools them best. */
export async function sendRows(sink: Sink, file: FileReport, fleet: Fleet, asOf: number): Promise<void> {
  const { moorings, seed, from, swellFrom } = fleet
  const batch = new RowBatch()
  for (let month = monthOf(from); month <= monthOf(asOf); month++) {
    const [begin, end] = [Math.max(monthStart(month), from), Math.min(monthStart(month + 1), asOf + 1)]
    const names = begin >= swellFrom ? MEASURE_NAMES : COMMON_NAMES
    for (const mooring of moorings) {
      fillRows(batch, mooring, seed, mooring.times(begin, end), names)
      if (batch.length > 0) sink.rows(mooring.buoy, batch)
      file.rows(batch.length)
    }
    // A month of 5,000 buoys takes some seconds: timers and signals run in between.
    await setImmediate()
  }
}

function fillRows(
  batch: RowBatch,
  mooring: Mooring,
  seed: number,
  times: readonly number[],
  names: readonly MeasureName[],
): void {
  const { key, instrument, isGapless } = mooring
  batch.clear()
  const there = times.filter((time) => isGapless || draw(key + 1, Math.floor(time / LOSS)) >= 2 * LOST - 1)
  for (const time of there) batch.add(time)
  const states = there.map(seaAt(mooring, seed))
  // A sample of twenty minutes is within five per cent of the sea's heights.
  const sampled = there.map((time) => 1 + 0.05 * draw(key, time))
  for (const name of names) {
    const resolution = INSTRUMENTS[instrument][name]
    if (resolution === undefined) continue
    const { unit, scale } = MEASURES[name]
    const column = batch.columns[name]
    const limits = codeLimits(MEASURES[name])
    states.forEach((state, row) => {
      const value = unit === 'm' ? state[name] * sampled[row] : state[name]
      column[row] = codeOf(scale, limits, Math.round(value / resolution) * resolution)
    })
  }
}
