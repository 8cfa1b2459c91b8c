/** What every part of the page is drawn from, and what it can do. */
import type { SatellitePass } from '../../clients/typescript/groundswell.ts'
import type { Answers } from './answers.ts'
import type { ActiveBuoy, Api } from './api.ts'
import { UTC, viewerZone, zoneOf, type Zone } from './format.ts'
import type { Units } from './mine/units.ts'
import type { Bounds, ViewState } from './view.ts'

export type Theme = 'light' | 'dark'

export interface Scene {
  readonly api: Api
  readonly answers: Answers
  readonly theme: Theme
  view: ViewState
  /** The units of all that the page shows. */
  readonly units: Units
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** Changes the view, the address and the page. */
  update(patch: Partial<ViewState>): void
  /** Gives screen readers a text to read out. */
  announce(text: string): void
  /** What the map shows; null where there is no map. */
  mapBounds(): Bounds | null
  choosePass(pass: SatellitePass | null): void
  /** The pass drawn on the map. */
  chosenPass: SatellitePass | null
  /** The active buoys, or null before they are there. */
  buoys: readonly ActiveBuoy[] | null
}

/** The clock that the visitor chose. `localZone` is the zone of the buoy or point. */
export function chosenZone({ view }: Scene, localZone: string): Zone {
  switch (view.zone) {
    case 'utc':
      return UTC
    case 'buoy':
      return zoneOf(localZone)
    case 'viewer':
      return viewerZone()
  }
}
