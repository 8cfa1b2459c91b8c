/** What every part of the page is drawn from, and what it can do. */
import type { Answers } from './answers.ts'
import type { Api, MapBuoy, SatellitePass } from './api.ts'
import { UTC, zoneOf, type Zone } from './format.ts'
import type { Theme } from './map.ts'
import type { ViewState } from './view.ts'

export interface Scene {
  readonly api: Api
  readonly answers: Answers
  readonly theme: Theme
  view: ViewState
  /** Epoch milliseconds. */
  clock(): number
  /** Changes the view, the address and the page. */
  update(patch: Partial<ViewState>): void
  /** Says something to screen readers. */
  announce(text: string): void
  choosePass(pass: SatellitePass | null): void
  /** The pass drawn on the map. */
  chosenPass: SatellitePass | null
  /** The active buoys, or null before they are there. */
  buoys: readonly MapBuoy[] | null
}

/** Which clock the visitor chose, where a place has a zone of its own. */
export function chosenZone({ view }: Scene, placeZone: string): Zone {
  switch (view.zone) {
    case 'utc':
      return UTC
    case 'buoy':
      return zoneOf(placeZone)
    case 'viewer':
      return zoneOf(Intl.DateTimeFormat().resolvedOptions().timeZone)
  }
}
