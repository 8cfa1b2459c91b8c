/**
 * Loads the code of the charts when the first one is needed: the first view of the page has none. Zoom and cursor
 * of a chart outlive its drawing.
 */
import type * as Charts from './readings.ts'

let charts: typeof Charts | null = null
let isAsked = false

/**
 * The charts, or null while they load; `onLoaded` draws again. A load that failed is tried at the next call.
 */
export function chartsModule(onLoaded: () => void): typeof Charts | null {
  if (charts === null && !isAsked) {
    isAsked = true
    import('./readings.ts').then(
      (loaded) => {
        charts = loaded
        onLoaded()
      },
      () => {
        isAsked = false
      },
    )
  }
  return charts
}

export interface Memory {
  range: readonly [number, number] | null
  at: number | null
}

const last = { about: '', memory: { range: null, at: null } as Memory }

/** The memory of the chart about something; that of another one is forgotten. */
export function memoryOf(about: string): Memory {
  if (last.about !== about) Object.assign(last, { about, memory: { range: null, at: null } })
  return last.memory
}
