/** The TypeScript client of `clients/` against a live server, used as its users do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Groundswell, GroundswellError } from '../../clients/typescript/groundswell.ts'
import { EXAMPLES_AS_OF as AS_OF } from '../../src/openapi/operation-texts.ts'
import { examplesSnapshots } from '../built_once.ts'
import { fieldOf } from '../fields.ts'
import { startLive } from '../live.ts'

test('The client calls every operation and understands every answer.', async (t) => {
  const live = await startLive(t, { snapshots: await examplesSnapshots(), quota: 1000 })
  const api = new Groundswell({ baseUrl: `${live.base}/`, key: live.key })

  await t.test('From a name to readings, a chart and a season.', async () => {
    const [buoy] = (await api.searchBuoys({ query: 'saint-jean' })).data.buoys
    assert.equal(buoy.slug, 'saint-jean-de-luz')
    assert.equal((await api.getBuoy(buoy.id)).data.buoy.country, 'France')
    const page = await api.listReadings(buoy.slug, { per_page: 2, order: 'asc' })
    assert.equal(page.meta.per_page, 2)
    const [reading] = page.data.readings
    assert.deepEqual((await api.getReading(buoy.id, reading.uuid)).data.reading, reading)
    const closest = await api.closestReading(buoy.slug, {
      date: '2026-10-31',
      time: '09:10',
      tolerance_hours: 1.5,
    })
    assert.equal(closest.data.search_parameters.tolerance_hours, 1.5)
    const { data: chart } = await api.chart(buoy.slug, { start_date: '2026-10-31', end_date: '2026-10-31' })
    assert.equal(chart.time.length, chart.tide_level.length)
    const { data: series } = await api.readingSeries(buoy.slug, {
      metric: 'period',
      bucket: 'week',
      start_year: 2025,
      end_year: 2026,
      end_month: 3,
    })
    assert.deepEqual(fieldOf(series.years, 'year'), [2025, 2026])
  })

  await t.test('Lists, lists of numbers, and boxes.', async () => {
    const { data, meta } = await api.listBuoys({ country: 'FR', active_only: false })
    assert.equal(meta.per_page, 500)
    const latest = await api.lastReadings({ ids: [data.buoys[0].id, data.buoys[1].id, 999_999], limit: 3 })
    assert.deepEqual(latest.data.missing_ids, [999_999])
    const { data: map } = await api.mapBuoys({ bounds: { north: 47, south: 46, east: -7, west: -8 } })
    const [virtual] = map.buoys
    assert.ok(virtual.virtual && virtual.pass_platform !== null, 'a virtual buoy has a pass')
    assert.ok((await api.listCountries()).data.count > 3, 'countries')
  })

  await t.test('Text in other formats, typed as such.', async () => {
    const range = { date: '2026-10-31', timezone: 'auto', order: 'asc' } as const
    const form = { format: 'csv', fields: ['time', 'period'], units: '1' } as const
    const csv: string = await api.listReadings('saint-jean-de-luz', { ...range, ...form })
    const [head, units, first] = csv.split('\r\n')
    assert.deepEqual([head, units], ['time,period', 'Europe/Paris,s'])
    const { data } = await api.listReadings('saint-jean-de-luz', { ...range, per_page: 1 })
    assert.equal(first.split(',')[0], data.readings[0].time)
    const lines: string = await api.listCountries({ format: 'ndjson' })
    const all = await api.listCountries()
    assert.equal(lines.trim().split('\n').length, all.data.count)
    const map = JSON.parse(await api.mapBuoys({ format: 'geojson' })) as { type: string }
    assert.equal(map.type, 'FeatureCollection')
    await assert.rejects(api.tides({ buoy: '0', format: 'csv' }), { status: 404, code: 'resource_not_found' })
  })

  await t.test('One nearest buoy or several.', async () => {
    const one = await api.nearestBuoys({ lat: 43.5, lng: -1.6, max_distance: 0.0000001 + 50 })
    assert.ok('buoy' in one.data, 'one buoy')
    const several = await api.nearestBuoys({ lat: 43.5, lng: -1.6, limit: 2 })
    assert.ok('buoys' in several.data && several.data.count === 2, 'two buoys')
    // JavaScript writes this number as 1e-7, which the API does not take.
    await assert.rejects(api.nearestBuoys({ lat: 0.0000001, lng: -140 }), { status: 404 })
  })

  await t.test('Satellites and conditions.', async () => {
    const { data } = await api.listSatellites({}, { headers: { 'Accept-Language': 'fr' } })
    assert.match(data.satellites[0].description, /satellite|mission/i)
    const passes = await api.listSatellitePasses({ mission: data.satellites[0].slug, limit: 1 })
    assert.equal(passes.data.satellite_passes[0].mission.slug, data.satellites[0].slug)
    const { data: here } = await api.conditions({ lat: 43.4, lng: -1.7, time: AS_OF, spot_id: 1 })
    assert.ok(here.reading.exists && here.reading.buoy.distance_km < 50, 'a reading')
    assert.equal(here.spot?.id, 1)
    const { data: ocean } = await api.conditions({ lat: 0, lng: -140, time: AS_OF })
    assert.equal(ocean.reading.exists, false)
  })

  await t.test('Quota and errors.', async () => {
    assert.equal(api.quota?.limit, 1000)
    assert.ok(api.quota.remaining < 1000 && api.quota.resetAt.getTime() > 0, 'a quota')
    const failed = async (call: Promise<unknown>): Promise<GroundswellError> => {
      try {
        await call
      } catch (error) {
        if (error instanceof GroundswellError) return error
        throw error
      }
      return assert.fail('no error')
    }
    const missing = await failed(api.getBuoy('a/b?c'))
    assert.deepEqual([missing.status, missing.code, missing.retryAfter], [404, 'resource_not_found', null])
    const wrong = await failed(api.nearestBuoys({ lat: 91, lng: 0 }))
    assert.deepEqual([wrong.status, wrong.code, wrong.parameter], [400, 'bad_request', 'lat'])
    assert.match(wrong.requestId ?? '', /^[0-9a-f-]{36}$/)
    const keyless = new Groundswell({ baseUrl: live.base })
    assert.equal((await failed(keyless.listBuoys())).code, 'unauthorized')
    assert.ok((await keyless.searchBuoys({ query: 'anglet' })).data.count > 0, 'a public operation')
    await assert.rejects(api.listBuoys({}, { signal: AbortSignal.abort() }), { name: 'AbortError' })
    const strange = new Groundswell({ baseUrl: `http://127.0.0.1:${live.port}` })
    assert.equal((await failed(strange.listBuoys())).code, 'resource_not_found')
  })
})
