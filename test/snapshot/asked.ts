/** A loaded snapshot opened as a serving thread does it, and asked about everything. */
import { openView, type IndexedSnapshot } from '../../src/dataset/view.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { finish } from '../../src/system/steps.ts'
import { AskedPath } from '../answered.ts'

const NOW = Date.parse('2026-03-27T10:07:33Z') / 1000

/** What clients ask for: every operation, about places, buoys and times in the small world and beyond. */
function questions(ids: readonly (number | string)[]): string[] {
  const box = (west: number, south: number, east: number, north: number): string =>
    encodeURIComponent(JSON.stringify({ west, south, east, north }))
  const places = ['45.5,-3.25', '-12,179.95', '0,-30', '90,0', '-90,180', '10,-180']
  return [
    '/buoys',
    '/buoys?active_only=false&per_page=2&page=2',
    '/buoys?active_only=false&source=north',
    '/buoys?active_only=false&country=FR&source=North',
    `/buoys?active_only=false&bounds=${box(-180, -90, 180, 90)}`,
    `/buoys?active_only=false&bounds=${box(170, -20, -170, 60)}`,
    ...places.map((place) => `/buoys?active_only=false&near=${place}&radius=20000`),
    '/buoys/map',
    `/buoys/map?bounds=${box(-10, 40, 10, 50)}`,
    '/countries',
    '/buoys/satellites',
    '/buoys/satellites?locale=fr',
    '/buoys/satellite_passes',
    '/buoys/satellite_passes?active_only=false',
    '/buoys/satellite_passes?active_only=false&mission=sentinel-3a&since=2026-03-24',
    ...['al', 'alpha', 'far point', 'zz', 'n1', '-2', 'oi'].map(
      (text) => `/buoys/search?query=${encodeURIComponent(text)}`,
    ),
    ...places.flatMap((place) => {
      const [lat, lng] = place.split(',')
      return [
        `/buoys/nearest?lat=${lat}&lng=${lng}&max_distance=30000`,
        `/buoys/nearest?lat=${lat}&lng=${lng}&limit=20&max_distance=30000`,
        `/conditions?lat=${lat}&lng=${lng}`,
        `/conditions?lat=${lat}&lng=${lng}&time=2026-03-26T00:10:00Z&spot_id=7`,
      ]
    }),
    '/conditions?lat=-12&lng=179.9&time=1970-01-01&spot_id=4000000000',
    '/conditions?lat=45.4&lng=-3.3&time=9999-12-31',
    `/buoys/last_readings?limit=100&ids=${ids.filter((id) => typeof id === 'number').join(',')},5,900000`,
    ...ids.flatMap((id) => [
      `/buoys/${id}`,
      `/buoys/${id}/readings?per_page=100`,
      `/buoys/${id}/readings?date=2026-03-27`,
      `/buoys/${id}/readings?order=asc&start_date=2026-02-28&end_date=2026-03-02`,
      `/buoys/${id}/readings/search?date=2026-03-27&time=08:30`,
      `/buoys/${id}/readings/${Number(id) * 1e10 + 1_774_602_000}`,
      `/buoys/${id}/readings/chart`,
      `/buoys/${id}/readings/chart?start_date=2026-02-25&end_date=2026-03-27`,
      ...['significient_height', 'direction', 'water_temperature', 'gust_speed'].map(
        (metric) => `/buoys/${id}/readings/series?metric=${metric}&start_year=2025&end_year=2026`,
      ),
      `/buoys/${id}/readings/series?metric=period&bucket=week`,
      `/buoys/${id}/readings/series?metric=peak_period&bucket=hour&start_month=2&end_month=3&start_year=2026&end_year=2026`,
    ]),
  ]
}

const IDS = [1, 2, 3, 4, 'alpha', 'alpha-2', 'far-point']

/** What a client must never see: faults, and answers that are not JSON. Empty where all is well. */
export function faultsOf(snapshot: IndexedSnapshot): string[] {
  const path = new AskedPath(finish(openView(snapshot)), {
    operations: OPERATIONS.map((operation) => ({ ...operation, access: 'public' })),
    basePath: '',
    answerCache: 0,
    clock: () => NOW,
    onFault: () => {},
    onWarning: () => {},
  })
  const faults: string[] = []
  for (const url of questions(IDS)) {
    const { status, text } = path.get(url)
    if (![200, 400, 404, 422].includes(status)) faults.push(`${url}: ${status}`)
    else if (!isJson(text)) faults.push(`${url}: no JSON: ${text.slice(0, 300)}`)
  }
  return faults
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return !text.includes('\u0000')
  } catch {
    return false
  }
}
