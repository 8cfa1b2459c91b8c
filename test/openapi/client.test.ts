/** The TypeScript client of `clients/` against a live server, used as its users do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Groundswell, GroundswellError } from '../../clients/typescript/groundswell.ts'
import { EXAMPLES_AS_OF as AS_OF } from '../../src/openapi/operation-texts.ts'
import { examplesSnapshots } from '../built_once.ts'
import { fieldOf } from '../fields.ts'
import { startLive } from '../live.ts'

test('The client calls operations and understands their answers.', async (t) => {
  const live = await startLive(t, { snapshots: await examplesSnapshots(), quota: 1000 })
  const api = new Groundswell({ baseUrl: `${live.base}/`, key: live.key })

  await t.test('From a name to readings, a chart and a season.', async () => {
    const [{ id, slug }] = (await api.get('/buoys/search', { query: { query: 'saint-jean' } })).data.buoys
    assert.equal(slug, 'saint-jean-de-luz')
    const path = { buoy_id: slug }
    const found = await api.get('/buoys/{buoy_id}', { path: { buoy_id: String(id) } })
    assert.equal(found.data.buoy.country, 'France')
    const page = await api.get('/buoys/{buoy_id}/readings', { path, query: { per_page: 2, order: 'asc' } })
    assert.equal(page.meta.per_page, 2)
    const [reading] = page.data.readings
    const same = await api.get('/buoys/{buoy_id}/readings/{reading_id}', {
      path: { ...path, reading_id: reading.uuid },
    })
    assert.deepEqual(same.data.reading, reading)
    const closest = await api.get('/buoys/{buoy_id}/readings/search', {
      path,
      query: { date: '2026-10-31', time: '09:10', tolerance_hours: 1.5 },
    })
    assert.equal(closest.data.search_parameters.tolerance_hours, 1.5)
    const { data: chart } = await api.get('/buoys/{buoy_id}/readings/chart', {
      path,
      query: { start_date: '2026-10-31', end_date: '2026-10-31' },
    })
    assert.equal(chart.time.length, chart.tide_level.length)
    const years = { start_year: 2025, end_year: 2026, end_month: 3 }
    const { data: series } = await api.get('/buoys/{buoy_id}/readings/series', {
      path,
      query: { metric: 'period', bucket: 'week', ...years },
    })
    assert.deepEqual(fieldOf(series.years, 'year'), [2025, 2026])
  })

  await t.test('Lists, lists of numbers, and boxes.', async () => {
    const { data, meta } = await api.get('/buoys', { query: { country: 'FR', active_only: false } })
    assert.equal(meta.per_page, 500)
    const ids = [data.buoys[0].id, data.buoys[1].id, 999_999]
    const latest = await api.get('/buoys/last_readings', { query: { ids, limit: 3 } })
    assert.deepEqual(latest.data.missing_ids, [999_999])
    const { data: map } = await api.get('/buoys/map', { query: { bbox: [-8, 46, -7, 47] } })
    const [virtual] = map.buoys
    assert.ok(virtual.virtual && virtual.pass_platform !== null, 'a virtual buoy has a pass')
    assert.ok((await api.get('/countries')).data.count > 3, 'countries')
  })

  await t.test('Text in other formats, typed as such.', async () => {
    const path = { buoy_id: 'saint-jean-de-luz' }
    const range = { date: '2026-10-31', timezone: 'auto', order: 'asc' } as const
    const form = { format: 'csv', fields: 'time,period', units: '1' } as const
    const csv: string = await api.text('/buoys/{buoy_id}/readings', { path, query: { ...range, ...form } })
    const [head, units, first] = csv.split('\r\n')
    assert.deepEqual([head, units], ['time,period', 'Europe/Paris,s'])
    const { data } = await api.get('/buoys/{buoy_id}/readings', { path, query: { ...range, per_page: 1 } })
    assert.equal(first.split(',')[0], data.readings[0].time)
    const lines = await api.text('/countries', { query: { format: 'ndjson' } })
    const all = await api.get('/countries')
    assert.equal(lines.trim().split('\n').length, all.data.count)
    const none = { country: 'AQ', format: 'ndjson' } as const
    assert.equal(await api.text('/buoys', { query: none }), '')
    const map = await api.text('/buoys/map', { query: { format: 'geojson' } })
    assert.equal((JSON.parse(map) as { type: string }).type, 'FeatureCollection')
    await assert.rejects(api.text('/tides', { query: { buoy: '0', format: 'csv' } }), {
      status: 404,
      code: 'resource_not_found',
    })
  })

  await t.test('One nearest buoy or several.', async () => {
    const one = await api.get('/buoys/nearest', {
      query: { lat: 43.5, lng: -1.6, max_distance: 0.0000001 + 50 },
    })
    assert.ok('buoy' in one.data, 'one buoy')
    const several = await api.get('/buoys/nearest', { query: { lat: 43.5, lng: -1.6, limit: 2 } })
    assert.ok('buoys' in several.data && several.data.count === 2, 'two buoys')
    // JavaScript writes this number as 1e-7, which the API does not take.
    await assert.rejects(api.get('/buoys/nearest', { query: { lat: 0.0000001, lng: -140 } }), { status: 404 })
  })

  await t.test('Satellites and conditions.', async () => {
    const { data } = await api.get('/buoys/satellites', { headers: { 'Accept-Language': 'fr' } })
    assert.match(data.satellites[0].description, /satellite|mission/i)
    const passes = await api.get('/buoys/satellite_passes', {
      query: { mission: data.satellites[0].slug, limit: 1 },
    })
    assert.equal(passes.data.satellite_passes[0].mission.slug, data.satellites[0].slug)
    const { data: here } = await api.get('/conditions', {
      query: { lat: 43.4, lng: -1.7, time: AS_OF, spot_id: 1 },
    })
    assert.ok(here.reading.exists && here.reading.buoy.distance_km < 50, 'a reading')
    assert.equal(here.spot?.id, 1)
    const { data: ocean } = await api.get('/conditions', { query: { lat: 0, lng: -140, time: AS_OF } })
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
    const missing = await failed(api.get('/buoys/{buoy_id}', { path: { buoy_id: 'a/b?c' } }))
    assert.deepEqual([missing.status, missing.code, missing.retryAfter], [404, 'resource_not_found', null])
    // @ts-expect-error The types know which parameters an operation has.
    await failed(api.get('/buoys/nearest', { query: { lat: 43, lng: -1, long: 2, limit: 50 } }))
    const wrong = await failed(api.get('/buoys/nearest', { query: { lat: 91, lng: 0 } }))
    assert.deepEqual([wrong.status, wrong.code, wrong.parameter], [400, 'bad_request', 'lat'])
    assert.match(wrong.requestId ?? '', /^[0-9a-f-]{36}$/)
    const keyless = new Groundswell({ baseUrl: live.base })
    assert.equal((await failed(keyless.get('/buoys'))).code, 'unauthorized')
    const found = await keyless.get('/buoys/search', { query: { query: 'anglet' } })
    assert.ok(found.data.count > 0, 'a public operation')
    await assert.rejects(api.get('/buoys', { signal: AbortSignal.abort() }), { name: 'AbortError' })
    const strange = new Groundswell({ baseUrl: `http://127.0.0.1:${live.port}` })
    assert.equal((await failed(strange.get('/buoys'))).code, 'resource_not_found')
  })
})
