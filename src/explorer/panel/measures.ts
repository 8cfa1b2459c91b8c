/** Which measures a buoy has. */
import type { BuoyDetail, Chart } from '../../../clients/typescript/groundswell.ts'
import { METRICS, type Metric } from '../view.ts'

/** The array of a chart that shows whether a buoy has a measure. */
const ARRAYS: { readonly [metric in Metric]: keyof Chart } = {
  significient_height: 'significant_height',
  maximum_height: 'maximum_height',
  period: 'period',
  peak_period: 'peak_period',
  water_temperature: 'water_temperature',
  wind_speed: 'wind_speed',
  gust_speed: 'gust_speed',
}

/** What the detail of a buoy says about its measures, where the server says it. */
type Available = BuoyDetail & { readonly available?: { readonly [metric: string]: unknown } }

/**
 * The measures to choose from: those that the buoy has by its detail, else those with a value in `chart`, its
 * last days. `chosen` is always among them, as an address may ask for it.
 */
export function measuresOf(buoy: Available, chart: Chart | null, chosen: Metric): Metric[] {
  const { available } = buoy
  const has = (metric: Metric): boolean => {
    if (available !== undefined) return (available[metric] ?? null) !== null
    if (metric === 'significient_height') return true
    const values = chart?.[ARRAYS[metric]]
    return Array.isArray(values) && values.some((value) => value !== null)
  }
  return METRICS.filter((metric) => metric === chosen || has(metric))
}
