/**
 * `GET /readings` over a live server: rows of many buoys are those that the oracle's list of buoys and its readings of each
 * buoy have, in every format.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Client, startLive, temporaryFolder } from '../live.ts'
import { makeOracle, type Json, type JsonObject, type Operation } from '../oracle/oracle.ts'
import { makeWorld, writeCsv } from '../oracle/world.ts'
import { rounds } from '../rounds.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
const HOUR = 3600
const DAY = 24 * HOUR

interface Body {
  data: { buoys: JsonObject[]; readings: JsonObject[]; count: number; missing_ids: number[] }
  meta: { page: number; per_page: number; total_pages: number; date_range: Json }
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

test('Readings of many buoys are those of each buoy that the filters take, in every format.', async (t) => {
  const world = makeWorld(SEED)
  const { asOf } = world
  const folder = join(temporaryFolder(t), 'world')
  writeCsv(world, folder)
  const client = new Client(await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] }))
  const oracle = makeOracle(world)
  const ask = (operation: Operation, parameters: { [name: string]: string }, buoyId?: string) =>
    oracle({
      operation,
      parameters: new Map(Object.entries(parameters)),
      ...(buoyId !== undefined && { buoyId }),
    })

  /** Ids by the oracle's list; null where a distance decides by its rounding. */
  function matching(filters: { [name: string]: string }): number[] | null {
    const ids: number[] = []
    for (let page = 1; ; page++) {
      const answer = ask('list', { ...filters, active_only: 'false', per_page: '500', page: String(page) })
      if (answer.unsure !== null) return null
      const { data, meta } = answer.body as unknown as {
        data: { buoys: { id: number }[] }
        meta: { total_pages: number }
      }
      ids.push(...data.buoys.map(({ id }) => id))
      if (page >= meta.total_pages) return ids.toSorted((a, b) => a - b)
    }
  }

  function rowsOf(id: number, range: { [name: string]: string }): JsonObject[] {
    const rows: JsonObject[] = []
    for (let page = 1; ; page++) {
      const { body } = ask('readings', { ...range, per_page: '100', page: String(page) }, String(id))
      const { data, meta } = body as unknown as {
        data: { readings: JsonObject[] }
        meta: { total_pages: number }
      }
      rows.push(...data.readings.map((row) => ({ ...row, buoy_id: id })))
      if (page >= meta.total_pages) return rows
    }
  }

  function buoyOf(id: number): JsonObject {
    const { data } = ask('detail', {}, String(id)).body as unknown as { data: { buoy: JsonObject } }
    const { name, slug, lat, lng, source } = data.buoy
    return { id, name: name!, slug: slug!, lat: lat!, lng: lng!, source: source! }
  }

  const place = fc.constantFrom(...world.buoys.slice(0, 40))
  const filters: fc.Arbitrary<{ [name: string]: string }> = fc.oneof(
    fc.constant({}),
    fc.constantFrom(...world.sources).map(({ name }) => ({ source: name })),
    fc.constantFrom('FR', 'US', 'AU').map((country) => ({ country })),
    fc
      .tuple(place, fc.constantFrom('5', '100', '900', '9000'))
      .map(([{ lat, lng }, radius]) => ({ near: `${lat},${lng}`, radius })),
    fc.tuple(place, fc.integer({ min: 0, max: 20 })).map(([{ lat, lng }, size]) => ({
      bounds: JSON.stringify({
        south: Math.max(-90, lat - size),
        north: Math.min(90, lat + size),
        west: lng - size,
        east: lng + size,
      }),
    })),
    fc
      .tuple(fc.constantFrom('FR', 'US'), fc.constantFrom(...world.sources))
      .map(([country, { name }]) => ({ country, source: name })),
  )
  const start = fc.integer({ min: asOf - 9 * DAY, max: asOf + DAY })
  const range: fc.Arbitrary<{ [name: string]: string }> = fc.oneof(
    fc.constant({}),
    start.map((from) => ({ start_date: isoTime(from), end_date: isoTime(from + 2 * DAY) })),
    fc.integer({ min: 0, max: 5 * DAY }).map((before) => ({ start_date: isoTime(asOf - before) })),
    start.map((to) => ({ end_date: isoTime(to) })),
    start.map((day) => ({ date: isoTime(day).slice(0, 10) })),
  )
  const ids = fc.option(
    fc.array(fc.integer({ min: 1, max: world.buoys.length + 5 }), { minLength: 1, maxLength: 12 }),
  )
  const order = fc.constantFrom('', 'asc', 'desc')
  const paging = fc.record({
    page: fc.integer({ min: 1, max: 4 }),
    perPage: fc.constantFrom(1, 7, 100, 1000, 5000),
  })

  /** What a request that leaves an end open asks for. */
  function rangeOf({ start_date: from, end_date: to, date }: { [name: string]: string }): [string, string] {
    if (date !== undefined) return [`${date}T00:00:00Z`, `${date}T23:59:59Z`]
    const end = to ?? isoTime(asOf)
    return [from ?? isoTime(Date.parse(end) / 1000 - DAY), end]
  }

  await t.test('Any filters, range, order and page, and all rows as NDJSON.', async () => {
    let [unsure, rowsSeen] = [0, 0]
    const property = fc.asyncProperty(
      filters,
      range,
      ids,
      order,
      paging,
      async (filter, asked, wanted, way, { page, perPage }) => {
        const [from, to] = rangeOf(asked)
        if (from > to) return
        const found = matching(filter)
        if (found === null) {
          unsure++
          return
        }
        const known = found.filter((id) => wanted === null || wanted.includes(id))
        const rows = known.flatMap((id) => rowsOf(id, { start_date: from, end_date: to, order: way }))
        const query = new URLSearchParams({ ...filter, ...asked, ...(way !== '' && { order: way }) })
        if (wanted !== null) query.set('ids', wanted.join())
        const paged = `/readings?${query.toString()}&page=${page}&per_page=${perPage}`
        const { status, text } = await client.get(paged)
        assert.equal(status, 200, `${paged}: ${text.slice(0, 300)}`)
        const { data, meta } = JSON.parse(text) as Body
        const size = Math.min(perPage, 1000)
        const expected = rows.slice((page - 1) * size, page * size)
        const named = [...new Set(expected.map((row) => row['buoy_id'] as number))]
        const missing = [...new Set(wanted ?? [])].filter((id) => id > world.buoys.length)
        assert.deepEqual(
          data,
          { buoys: named.map(buoyOf), readings: expected, count: rows.length, missing_ids: missing },
          paged,
        )
        assert.deepEqual(
          [meta.page, meta.per_page, meta.total_pages, meta.date_range],
          [page, size, Math.ceil(rows.length / size), { start: from, end: to }],
          paged,
        )
        rowsSeen += rows.length
        const whole = await client.get(`/readings?${query.toString()}&format=ndjson`)
        assert.equal(whole.status, 200, whole.text.slice(0, 300))
        const lines = whole.text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as JsonObject)
        assert.deepEqual(lines, rows, `${paged} as NDJSON`)
      },
    )
    const runs = rounds(120, 2000)
    await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
    assert.ok(unsure <= runs * 0.05, `${unsure} answers could not be compared`)
    assert.ok(rowsSeen > runs, `${rowsSeen} rows`)
  })

  await t.test(
    'CSV, GeoJSON and columns have the same rows, with name and position of each buoy.',
    async () => {
      const query = `start_date=${isoTime(asOf - 2 * HOUR)}`
      const rows = matching({})!.flatMap((id) => rowsOf(id, { start_date: isoTime(asOf - 2 * HOUR) }))
      const csv = (await client.get(`/readings?${query}&format=csv&fields=id,time,buoy_id,buoy.lat,buoy.lng`))
        .text
      const expected = rows.map((row) => {
        const { lat, lng } = buoyOf(row['buoy_id'] as number)
        return [row['id'], row['time'], row['buoy_id'], lat, lng]
          .map((cell) => JSON.stringify(cell))
          .join()
          .replaceAll('"', '')
      })
      assert.deepEqual(csv.trimEnd().split('\r\n'), ['id,time,buoy_id,buoy.lat,buoy.lng', ...expected])
      const [head] = (await client.get(`/readings?${query}&format=csv`)).text.split('\r\n')
      const [ofOne] = (await client.get('/buoys/1/readings?format=csv')).text.split('\r\n')
      assert.equal(head, ofOne)
      const { features } = JSON.parse((await client.get(`/readings?${query}&format=geojson`)).text) as {
        features: { geometry: { coordinates: number[] }; properties: { buoy_id: number; time: string } }[]
      }
      assert.deepEqual(
        features.map(({ geometry, properties }) => [
          properties.buoy_id,
          properties.time,
          ...geometry.coordinates,
        ]),
        rows.map((row) => {
          const { lat, lng } = buoyOf(row['buoy_id'] as number)
          return [row['buoy_id'], row['time'], lng, lat]
        }),
      )
      const columns = JSON.parse(
        (await client.get(`/readings?${query}&layout=columns&per_page=1000`)).text,
      ) as {
        data: { readings: { [name: string]: Json[] } }
      }
      assert.deepEqual(
        columns.data.readings['id'],
        rows.slice(0, 1000).map(({ id }) => id),
      )
      const parquet = await client.get(`/readings?${query}&format=parquet`)
      assert.deepEqual([parquet.status, parquet.bytes.subarray(0, 4).toString()], [200, 'PAR1'])
    },
  )

  await t.test('Mixed ranges and a page of nothing are told apart.', async () => {
    for (const [query, status] of [
      ['date=2026-03-27&start_date=2026-03-26', 400],
      ['start_date=2026-03-27&end_date=2026-03-26', 422],
      ['ids=1,x', 400],
      ['source=Nobody', 400],
      ['ids=999999', 200],
      ['page=7&start_date=2026-03-27T09:00:00Z', 200],
    ] as const) {
      const { status: got, text } = await client.get(`/readings?${query}`)
      assert.equal(got, status, `${query}: ${text.slice(0, 300)}`)
    }
    const { data } = JSON.parse((await client.get('/readings?ids=999999')).text) as Body
    assert.deepEqual(data, { buoys: [], readings: [], count: 0, missing_ids: [999_999] })
  })
})
