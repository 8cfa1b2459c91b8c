/** Requests of every operation over one world, to be asked of the server and of the oracle. */
import * as fc from 'fast-check'
import {
  detailRequests,
  lastReadingsRequests,
  listRequests,
  mapRequests,
  nearestRequests,
  searchRequests,
} from './buoy_requests.ts'
import { knownBuoys, type Operation } from './oracle.ts'
import { pathsOf } from './paths.ts'
import { positionsOf } from './positions.ts'
import {
  chartRequests,
  closestReadingRequests,
  readingRequests,
  readingsRequests,
  timesOf,
} from './reading_requests.ts'
import { at, requestsOf, type ApiRequest } from './request_parts.ts'
import { seriesRequests } from './series_requests.ts'
import type { World } from './world.ts'

export type { ApiRequest } from './request_parts.ts'

export function requestsFor(world: World): { [operation in Operation]: fc.Arbitrary<ApiRequest> } {
  const buoys = knownBuoys(world)
  const buoy = fc.constantFrom(...buoys)
  const positions = positionsOf(buoys.map(({ record }) => ({ lat: record.lat, lng: record.lng })))
  const paths = pathsOf(buoy)
  const times = timesOf(world, buoy)
  return {
    list: listRequests(world, positions),
    detail: detailRequests(paths),
    last_readings: lastReadingsRequests(buoys.length),
    search: searchRequests(buoy),
    nearest: nearestRequests(positions),
    readings: readingsRequests(buoys, paths, times),
    readings_search: closestReadingRequests(paths, times),
    reading: readingRequests(buoy, paths),
    chart: chartRequests(paths, times),
    series: seriesRequests(paths.slugOrId, paths.unknownPath),
    countries: requestsOf({ operation: 'countries', path: at('/countries'), kinds: [] }),
    map: mapRequests(positions),
  }
}
