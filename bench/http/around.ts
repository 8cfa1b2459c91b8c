/** Forecast, readings and tide around a place, as the oracle takes them. */
import { createTidePredictor } from '@neaps/tide-predictor'
import type { ConditionsWorld } from '../../test/oracle/conditions.ts'
import type { ForecastRecord, HarbourRecord } from '../../src/sea/records.ts'
import type { BenchBuoy } from './data.ts'

/** Metres: the other program's tide, by a straight line between its heights, and two decimals. */
const TIDE = 0.01
/**
 * Constituents that the other program turns differently or does not know: they may be off by twice their
 * size.
 */
const UNSETTLED = new Set(['M1', 'M3', 'EPSILON2', 'SA_KV', 'S1_KV'])

export const conditionsPoint = ({
  lat,
  lng,
  runAt,
  times,
  values,
}: ForecastRecord): ConditionsWorld['points'][number] => ({
  lat,
  lng,
  run: runAt,
  model: '',
  rows: times.map((time, i) => ({
    time,
    wave_height: values.waveHeight![i],
    wave_period: values.wavePeriod![i],
    wave_direction: values.waveDirection![i],
    wind_speed: values.windSpeed![i],
    wind_direction: values.windDirection![i],
    swell_height: values.swellHeight![i],
    swell_period: values.swellPeriod![i],
    swell_direction: values.swellDirection![i],
  })),
})

export const conditionsBuoy = ({ id, record, recent }: BenchBuoy): ConditionsWorld['buoys'][number] => ({
  id,
  name: record.name,
  lat: record.lat,
  lng: record.lng,
  virtual: record.virtual,
  readings: recent.flatMap((row) =>
    row.significantHeight === null
      ? []
      : [
          {
            time: row.time,
            height: row.significantHeight,
            maximum: row.maximumHeight,
            period: row.period,
            direction: row.direction === 360 ? 0 : row.direction,
          },
        ],
  ),
})

/** Height over time by the constituents of a harbour, from a package that the product does not use. */
export function levelOf({ constituents, datumOffset }: HarbourRecord): (time: number) => number {
  const predictor = createTidePredictor(constituents, { offset: datumOffset, nodeCorrections: 'schureman' })
  const heights = new Map<number, number>()
  const onGrid = (time: number): number => {
    const known = heights.get(time)
    if (known !== undefined) return known
    const { level } = predictor.getWaterLevelAtTime({ time: new Date(time * 1000) })
    heights.set(time, level)
    return level
  }
  return (time) => {
    // It knows heights every ten minutes; a straight line between two of them is 2 mm off at most.
    const before = Math.floor(time / 600) * 600
    const share = (time - before) / 600
    return (1 - share) * onGrid(before) + (share === 0 ? 0 : share * onGrid(before + 600))
  }
}

export function tideSlack({ constituents }: HarbourRecord): number {
  return constituents.reduce(
    (sum, { name, amplitude }) => sum + (UNSETTLED.has(name) ? 2 * amplitude : 0),
    TIDE,
  )
}
