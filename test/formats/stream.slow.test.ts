/** Whole ranges over real connections: sent while they are made, on the terms of expensive answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, startLive, type CallOptions, type Live, type Reply } from '../live.ts'

/** Two buoys, half-hourly: 35,000 readings and 4 MB each. */
const SOURCE = ['--source', 'demo:scale,buoys=2,days=730', '--as-of', '2026-11-01T06:00:00Z']

const get = (
  live: Live,
  path: string,
  method = 'GET',
  headers: CallOptions['headers'] = {},
): Promise<Reply> =>
  ask(live.port, `/v2${path}`, { method, headers: { authorization: `Bearer ${live.key}`, ...headers } })

const left = ({ headers }: Reply): number => Number(headers['x-ratelimit-remaining'])

test('Whole ranges are sent while they are made, and hold to what heads, quotas and framing promise.', async (t) => {
  const live = await startLive(t, { sourceArgs: SOURCE })

  await t.test('It is one answer that costs one call, as HEAD does.', async () => {
    const path = '/buoys/1/readings?format=csv&order=asc'
    const before = left(await get(live, '/countries'))
    const head = await get(live, path, 'HEAD')
    assert.equal(head.text, '')
    assert.equal(left(head), before - 1)
    const whole = await get(live, path)
    assert.equal(whole.status, 200)
    assert.equal(whole.headers['content-length'], String(Buffer.byteLength(whole.text)))
    assert.equal(head.headers['content-length'], whole.headers['content-length'])
    assert.equal(whole.headers['etag'], head.headers['etag'])
    assert.equal(whole.headers['content-disposition'], head.headers['content-disposition'])
    const rows = whole.text.split('\r\n').length - 2
    assert.equal(rows, Number(whole.headers['x-total-count']))
    assert.ok(rows > 30_000)
    assert.equal(left(whole), before - 2)
    const unchanged = await get(live, path, 'GET', { 'if-none-match': whole.headers['etag']! })
    assert.equal(unchanged.status, 304)
    const lines = (await get(live, '/buoys/1/readings?format=ndjson&order=asc')).text.trimEnd().split('\n')
    assert.equal(lines.length, rows)
    const page = await get(live, '/buoys/1/readings?per_page=100&order=asc')
    const { data } = JSON.parse(page.text) as { data: { readings: object[] } }
    assert.deepEqual(
      lines.slice(0, 100),
      data.readings.map((reading) => JSON.stringify(reading)),
    )
  })

  await t.test('A series costs one call in every format.', async () => {
    const hours =
      '/buoys/1/readings/series?metric=significient_height&bucket=hour&start_year=2024&end_year=2026'
    const left: number[] = []
    for (const format of ['json', 'csv', 'ndjson']) {
      const { headers, text } = await get(live, `${hours}&format=${format}`)
      if (format !== 'json') assert.ok(text.split('\n').length > 10_000)
      left.push(Number(headers['x-ratelimit-remaining']))
    }
    assert.deepEqual(left, [left[0], left[0] - 1, left[0] - 2])
  })
})
