/** One row per operation: what the service answers, in the order of the contract. Read this first. */
import { getBuoy } from './handlers/buoy.ts'
import { listBuoys } from './handlers/buoys.ts'
import { listChanges } from './handlers/changes.ts'
import { chart } from './handlers/chart.ts'
import { climate, climateExtremes, climateRecords, climateStorms, climateTable } from './handlers/climate.ts'
import { closestReading } from './handlers/closest-reading.ts'
import { conditions } from './handlers/conditions.ts'
import { streamEvents } from './handlers/events.ts'
import { forecast } from './handlers/forecast.ts'
import { lastReadings } from './handlers/last-readings.ts'
import { mapBuoys } from './handlers/map.ts'
import { nearestBuoys } from './handlers/nearest.ts'
import { getReading } from './handlers/reading.ts'
import { listCountries, listFiles, listSatellites } from './handlers/ready.ts'
import { listReadings } from './handlers/readings.ts'
import { listSpectra } from './handlers/spectra.ts'
import { listSatellitePasses } from './handlers/satellite-passes.ts'
import { tides } from './handlers/tides.ts'
import { searchPlaces } from './handlers/places.ts'
import { searchBuoys } from './handlers/search.ts'
import { readingsOfBuoys } from './handlers/readings-of-buoys.ts'
import { readingSeries } from './handlers/series.ts'
import type { Operation, StreamOperation } from './operation/operation.ts'

export const OPERATIONS: readonly Operation[] = [
  listBuoys,
  getBuoy,
  lastReadings,
  searchBuoys,
  nearestBuoys,
  listReadings,
  closestReading,
  getReading,
  chart,
  readingSeries,
  climate,
  climateRecords,
  climateTable,
  climateStorms,
  climateExtremes,
  listSatellites,
  listSatellitePasses,
  conditions,
  listCountries,
  mapBuoys,
  forecast,
  readingsOfBuoys,
  searchPlaces,
  listChanges,
  listFiles,
  tides,
  listSpectra,
]

export const STREAM: StreamOperation = streamEvents

/** Operations and the stream: each has a path and a description. */
export const ROUTED = [...OPERATIONS, STREAM] as const
