/** Climates of the made-up sea: waves, water and wind of a coast through the year. */

/** A coast's climate: monthly medians, January first. */
export interface Climate {
  /** Significant height, m. */
  readonly height: readonly number[]
  /** Peak period, s. */
  readonly peakPeriod: readonly number[]
  /**
   * Water temperature, °C: yearly mean, half the yearly range, and the hemisphere (warmest in late August or
   * February).
   */
  readonly water: { readonly mean: number; readonly swing: number; readonly hemisphere: 'north' | 'south' }
  /** Wind: mean speed in m/s, and where it mostly comes from, degrees. */
  readonly wind: { readonly speed: number; readonly from: number }
}

/**
 * The coasts of the made-up sea. The heights and periods of Biscay and the heights of sheltered California
 * are medians of ten and fourteen measured years (Candhis 06403, NDBC 46240); the others are plausible, not
 * measured.
 */
export const CLIMATES = {
  biscay: {
    height: [1.7, 2.22, 1.69, 0.99, 0.98, 0.95, 0.8, 0.84, 1.02, 1.23, 1.7, 1.74],
    peakPeriod: [12.7, 13.2, 12.6, 11.2, 9.9, 9.2, 8.7, 8.9, 10.3, 11, 12.2, 12.8],
    water: { mean: 16, swing: 4.5, hemisphere: 'north' },
    wind: { speed: 6, from: 300 },
  },
  celtic: {
    height: [3.6, 3.5, 3, 2.4, 2, 1.8, 1.7, 1.7, 2.1, 2.7, 3.1, 3.5],
    peakPeriod: [12.2, 12.3, 11.6, 10.6, 9.6, 9, 8.8, 8.9, 9.9, 10.7, 11.4, 12],
    water: { mean: 12.8, swing: 2.8, hemisphere: 'north' },
    wind: { speed: 8.5, from: 240 },
  },
  norwegian: {
    height: [3.1, 2.9, 2.5, 1.9, 1.4, 1.3, 1.2, 1.3, 1.8, 2.3, 2.6, 3],
    peakPeriod: [10.8, 10.7, 10.3, 9.4, 8.3, 7.8, 7.6, 7.8, 8.9, 9.6, 10.1, 10.7],
    water: { mean: 9.3, swing: 3, hemisphere: 'north' },
    wind: { speed: 8.5, from: 225 },
  },
  mediterranean: {
    height: [0.9, 0.92, 0.85, 0.8, 0.6, 0.52, 0.5, 0.5, 0.6, 0.7, 0.88, 0.92],
    peakPeriod: [6.2, 6.3, 6.1, 5.9, 5.4, 5, 4.8, 4.9, 5.3, 5.7, 6.1, 6.2],
    water: { mean: 18.3, swing: 5.2, hemisphere: 'north' },
    wind: { speed: 6, from: 320 },
  },
  carolina: {
    height: [2.1, 2.1, 1.95, 1.7, 1.35, 1.2, 1.1, 1.25, 1.6, 1.75, 1.9, 2.05],
    peakPeriod: [8.6, 8.6, 8.6, 8.2, 7.9, 7.6, 7.5, 8, 8.9, 8.6, 8.4, 8.5],
    water: { mean: 24.3, swing: 3.4, hemisphere: 'north' },
    wind: { speed: 7, from: 230 },
  },
  newEngland: {
    height: [1.45, 1.4, 1.4, 1.2, 1, 0.9, 0.82, 0.88, 1.1, 1.25, 1.4, 1.45],
    peakPeriod: [7.2, 7.3, 7.5, 7.3, 7.1, 6.9, 6.9, 7.3, 7.8, 7.6, 7.3, 7.2],
    water: { mean: 12.6, swing: 7, hemisphere: 'north' },
    wind: { speed: 6.8, from: 250 },
  },
  mexicanGulf: {
    height: [1.15, 1.15, 1.1, 1, 0.78, 0.66, 0.5, 0.52, 0.75, 0.95, 1.1, 1.15],
    peakPeriod: [6.1, 6.1, 6.1, 5.9, 5.5, 5.2, 4.9, 5, 5.5, 5.8, 6, 6.1],
    water: { mean: 26, swing: 3.7, hemisphere: 'north' },
    wind: { speed: 6, from: 100 },
  },
  michigan: {
    height: [0.95, 0.8, 0.65, 0.5, 0.4, 0.35, 0.35, 0.45, 0.62, 0.8, 0.95, 1],
    peakPeriod: [4.9, 4.7, 4.4, 4, 3.7, 3.5, 3.5, 3.8, 4.2, 4.6, 4.9, 5],
    water: { mean: 11.5, swing: 8, hemisphere: 'north' },
    wind: { speed: 6, from: 220 },
  },
  alaskan: {
    height: [3.5, 3.3, 2.9, 2.5, 1.9, 1.6, 1.4, 1.6, 2.3, 3, 3.4, 3.5],
    peakPeriod: [11.2, 11.1, 10.8, 10.2, 9.2, 8.6, 8.3, 8.6, 9.6, 10.4, 10.9, 11.2],
    water: { mean: 7.6, swing: 3.7, hemisphere: 'north' },
    wind: { speed: 8, from: 250 },
  },
  californian: {
    height: [1.09, 1.04, 1.01, 1, 0.88, 0.83, 0.66, 0.58, 0.74, 0.89, 0.99, 1.05],
    peakPeriod: [13.3, 13.2, 12.8, 11.8, 11, 10.4, 10, 10.3, 11.4, 12.2, 12.8, 13.3],
    water: { mean: 13.4, swing: 1.5, hemisphere: 'north' },
    wind: { speed: 5.5, from: 315 },
  },
  hawaiian: {
    height: [2.6, 2.6, 2.45, 2.3, 2, 1.85, 1.85, 1.8, 1.85, 2.15, 2.45, 2.6],
    peakPeriod: [12.6, 12.5, 12, 10.8, 9.7, 9, 8.8, 8.9, 9.8, 11, 12, 12.5],
    water: { mean: 25.6, swing: 1.4, hemisphere: 'north' },
    wind: { speed: 6.8, from: 70 },
  },
  mascarene: {
    height: [1.35, 1.4, 1.45, 1.6, 1.8, 2, 2.1, 2.1, 1.9, 1.65, 1.45, 1.35],
    peakPeriod: [10.1, 10.2, 10.6, 11.2, 11.8, 12.2, 12.4, 12.2, 11.7, 11.1, 10.5, 10.1],
    water: { mean: 26, swing: 2.1, hemisphere: 'south' },
    wind: { speed: 6.3, from: 110 },
  },
  southernOcean: {
    height: [1.85, 1.95, 2.05, 2.2, 2.45, 2.65, 2.7, 2.65, 2.5, 2.3, 2.05, 1.9],
    peakPeriod: [11.4, 11.6, 12, 12.5, 12.9, 13.2, 13.3, 13.2, 12.9, 12.5, 11.9, 11.5],
    water: { mean: 16.2, swing: 2.6, hemisphere: 'south' },
    wind: { speed: 7.2, from: 240 },
  },
} as const satisfies { readonly [coast: string]: Climate }
