/** Loads the code of the charts when the first one is needed: the first view of the page has none. */
import type * as Charts from './charts.ts'

let charts: typeof Charts | null = null
let isAsked = false

/**
 * The charts, or null while they load; `onLoaded` draws again. A load that failed is tried at the next call.
 */
export function chartsModule(onLoaded: () => void): typeof Charts | null {
  if (charts === null && !isAsked) {
    isAsked = true
    import('./charts.ts').then(
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
