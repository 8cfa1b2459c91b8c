/**
 * `groundswell mcp`: what an assistant gets, over real pipes, from a server, from a broken one and from none.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { awayFromTheHour } from '../api/hour.ts'
import { fieldOf } from '../fields.ts'
import { listening } from '../listening.ts'
import { startLive } from '../live.ts'
import { BARE, CLI } from '../started_program.ts'
import { until } from '../until.ts'
import { Assistant, assistantWorld, END, rowsOf } from './mcp_assistant.ts'

const DAYS = 9
const ROWS = rowsOf(DAYS)
const last = ROWS.at(-1)!
const isoOf = (time: number): string => new Date(time * 1000).toISOString().replace('.000Z', 'Z')
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

test('An assistant asks a server', { timeout: 300_000 }, async (t) => {
  await awayFromTheHour()
  const live = await startLive(t, { snapshots: await assistantWorld(t, ROWS), quota: 80 })
  // Without its base path.
  const assistant = await new Assistant(t, new URL(live.base).origin, live.key).start()

  await t.test(
    'which tools there are: six that only read, each with a title and what it answers.',
    async () => {
      const { tools } = await assistant.client.listTools()
      const names = 'find_buoys latest_readings history conditions forecast compare_seasons climate'.split(
        ' ',
      )
      assert.deepEqual(fieldOf(tools, 'name'), names)
      for (const { annotations, inputSchema, outputSchema, title } of tools) {
        assert.match(title ?? '', /^[A-Z][a-z ]+$/)
        assert.ok((outputSchema!['required'] as string[]).includes('notes'))
        assert.equal(annotations?.readOnlyHint, true)
        assert.equal(inputSchema['additionalProperties'], false)
      }
    },
  )

  let id = 0
  await t.test('for buoys by a text, near a point, and by what they measure.', async () => {
    const byText = await assistant.call('find_buoys', { text: 'cap ferret' })
    const [buoy] = byText.data.buoys
    assert.equal(buoy.name, 'Cap Ferret')
    id = buoy.id
    assert.match(byText.data.snapshot, /^[0-9a-f]{24}$/)
    const near = await assistant.call('find_buoys', { lat: 44.6, lng: -1.4, measures: ['direction'] })
    assert.equal(near.data.buoys[0].last_reading.significient_height, last.significantHeight! / 1000)
    assert.match(near.data.buoys[0].last_reading.age, /^\d+ (minutes|seconds)$/)
    assert.deepEqual(JSON.parse(near.text), near.data)
    assert.match((await assistant.call('find_buoys', { text: 'ca', limit: 1 })).text, /Cut: there are more/)
    // Of the places of this name the first one, with the buoy near it.
    const town = await assistant.call('find_buoys', { text: 'arcachon' })
    assert.deepEqual(
      [town.data.places[0].name, town.data.places[0].region, town.data.buoys[0].name],
      ['Arcachon', 'New Aquitaine', 'Cap Ferret'],
    )
    assert.match(town.text, /Buoys with distance_km are near Arcachon, New Aquitaine, France/)
    const none = await assistant.call('find_buoys', { lat: 44.6, lng: -1.4, measures: ['wind_speed'] })
    assert.match(none.text, /No active buoy within 150 km: try a greater within_km, or fewer measures\./)
    const unknown = await assistant.call('find_buoys', { text: 'zzyzx' })
    assert.match(unknown.text, /No buoy has this name: try another spelling, or a point\./)
  })

  await t.test('for the latest readings of several, with credit.', async () => {
    const { data, text } = await assistant.call('latest_readings', { ids: [id, 999_999] })
    assert.equal(data.buoys[0].last_reading.time, isoOf(last.time))
    assert.equal(data.buoys[0].last_reading.water_temperature, null)
    // A text of others has no line ends.
    assert.deepEqual(data.credits, [{ source: 'North', credit: 'North, made up', licence: 'none' }])
    assert.match(text, /No buoy has the id 999999: find_buoys finds ids/)
    assert.equal(data.units.height, 'm')
    const { time, trains } = data.buoys[0].wave_trains
    assert.equal(time, isoOf(END - 600))
    const numbers = trains.map(({ height, period, direction }: { [name: string]: number }) => [
      height,
      period,
      Math.round(direction / 10) % 36,
    ])
    // Heights are 4√m0: of 25 × 0.01, and of 0.1 × 0.05 + 1.25 × 0.05 with the band of the valley.
    assert.deepEqual(numbers, [
      [2, 12.5, 27],
      [1.039, 4, 0],
    ])
    assert.match(text, /wave_trains are peaks of the wave spectrum/)
    // An id as text and a slug are as good.
    const named = await assistant.call('latest_readings', { ids: [String(id), 'cap-ferret', 'no-such-buoy'] })
    assert.deepEqual(fieldOf(named.data.buoys as { id: number }[], 'id'), [id])
    assert.match(named.text, /Buoy not found/)
    const missing = await assistant.call('latest_readings', { ids: ['no-such-buoy'] })
    assert.ok(missing.isError)
  })

  await t.test('for a history, as readings or by hour, day or month, in at most 200 rows.', async () => {
    const from = (seconds: number): string => isoOf(END - seconds)
    for (const [seconds, said, size] of [
      [5 * 3600, 'Each row is a reading.*Not measured in this time: period, .*water_temperature', 1800],
      [4.5 * 86_400, 'Aggregated by hour', 3600],
      [DAYS * 86_400, 'Aggregated by day', 86_400],
    ] as const) {
      const asked = { id, start_date: from(seconds), end_date: isoOf(END) }
      const { data, text } = await assistant.call('history', asked)
      assert.match(text, new RegExp(said))
      const columns = ['time', 'significient_height', 'maximum_height', 'direction', 'readings']
      assert.deepEqual(data.columns, columns)
      const within = ROWS.filter(({ time }) => time >= END - seconds)
      const startOf = ({ time }: (typeof ROWS)[number]): string => isoOf(Math.floor(time / size) * size)
      assert.deepEqual(
        data.rows.map(([time]: [string]) => time),
        [...new Set(within.map(startOf))],
      )
      for (const [time, height, maximum, direction, readings] of data.rows) {
        const own = within.filter((row) => startOf(row) === time)
        assert.ok(Math.abs(height - mean(own.map((row) => row.significantHeight! / 1000))) <= 0.005 + 1e-9)
        const maxima = own.flatMap(({ maximumHeight }) => maximumHeight ?? [])
        if (maxima.length === 0) assert.equal(maximum, null)
        else assert.ok(Math.abs(maximum - mean(maxima) / 1000) <= 0.005 + 1e-9)
        if (own.length === 1) assert.equal(direction, own[0].direction! / 100)
        // 350 and 12 degrees are north together, never south.
        assert.ok(direction >= 350 || direction <= 12, `${direction}`)
        assert.equal(readings, own.length)
      }
    }
    const highest = await assistant.call('history', {
      id,
      start_date: 'now-2d',
      by: 'month',
      aggregation: 'max',
    })
    assert.match(highest.text, /each value is the max, of directions the circular mean/)
    const since = ROWS.filter(({ time }) => time >= END - 2 * 86_400)
    assert.equal(
      Math.max(...highest.data.rows.map(([, height]: [string, number]) => height)),
      Math.max(...since.map((row) => row.significantHeight!)) / 1000,
    )
    const cut = await assistant.call('history', { id, start_date: '2000-01-01', by: 'hour' })
    assert.equal(cut.data.rows.length, 200)
    assert.equal(cut.data.rows.at(-1)[0], isoOf(Math.floor(END / 3600) * 3600))
    assert.match(cut.text, /Cut: the newest 200 rows/)
    // Text and data together: what an assistant can read.
    assert.ok(cut.size < 40_000, `${cut.size} characters`)
    const empty = await assistant.call('history', { id, start_date: '2000-01-01', end_date: '2000-01-02' })
    assert.match(empty.text, new RegExp(`No readings in this time: the newest is of ${isoOf(last.time)}`))
  })

  await t.test('for conditions, where what is missing is named.', async () => {
    const { data, text } = await assistant.call('conditions', { lat: 44.65, lng: -1.45 })
    assert.equal(data.reading.significient_height, last.significantHeight! / 1000)
    assert.equal(data.credits[0].credit, 'North, made up')
    assert.equal(data.forecast.waves_height, null)
    assert.equal(data.tide.harbor, 'Arcachon')
    assert.match(text, /No forecast within 50 km/)
    const far = await assistant.call('conditions', { lat: 0, lng: -140 })
    assert.match(far.text, /No harbour within 100 km has a tide/)
  })

  await t.test('for the days ahead of a place, with its high and low waters by its own clock.', async () => {
    const { data, text } = await assistant.call('forecast', { id: 'cap-ferret', days: 2, date: '2026-10-24' })
    assert.equal(data.timezone, 'Europe/Paris')
    assert.match(text, /Times and days are those of Europe\/Paris/)
    assert.match(text, /No forecast within 50 km of the place/)
    assert.deepEqual(data.credits, [{ credit: 'tides, made up' }])
    const tides = data.tides as { weekday: string; time: string; type: string; height: number }[]
    assert.ok(tides.length >= 7, text)
    for (const { weekday, time } of tides) {
      assert.equal(weekday, time.startsWith('2026-10-24') ? 'Saturday' : 'Sunday')
      const isSummer = Date.parse(time) < Date.parse('2026-10-25T01:00:00Z')
      assert.ok(time.endsWith(isSummer ? '+02:00' : '+01:00'), time)
    }
    assert.deepEqual(data.columns, ['time', 'tide_level'])
    assert.deepEqual(data.rows[0].slice(0, 1), ['2026-10-24T00:00:00+02:00'])
    assert.equal(data.rows.length, 16)
    const point = await assistant.call('forecast', { lat: 0, lng: -140, days: 1 })
    assert.match(point.text, /No harbour within 100 km has a tide/)
    assert.deepEqual([point.data.tides, point.data.rows], [[], []])
  })

  await t.test('for seasons side by side.', async () => {
    const yearOf = (ago: number): number =>
      new Date((ROWS[0].time - ago * 365 * 86_400) * 1000).getUTCFullYear()
    const season = { start_year: yearOf(2), end_year: yearOf(1) }
    const asked = { id, metric: 'significient_height', ...season }
    const { data } = await assistant.call('compare_seasons', asked)
    assert.match(data.notes.join(), /of a season\.$/)
    const rows = data.seasons as { [name: string]: number }[]
    assert.equal(rows.length, season.end_year - season.start_year + 1)
    const highest = rows.find((row) => row['highest_significient_height'] === 2)
    assert.equal(highest?.['days_with_values'], 1)
    assert.match(String(highest['highest_on']), /^\d{4}-\d\d-\d\d$/)
  })

  await t.test('whether the sea is usual, and for records, storms and return levels.', async () => {
    const heights = ROWS.map(({ significantHeight }) => significantHeight! / 1000)
    const highest = Math.max(...heights, 2)
    const { data, text } = await assistant.call('climate', { id })
    const months = data.months as { month: number | string; readings: number; maximum: object | null }[]
    assert.deepEqual(fieldOf(months, 'month'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 'year'])
    // Two readings are of former years.
    assert.equal(months[12].readings, ROWS.length + 2)
    assert.deepEqual(data.last_reading.time, isoOf(last.time))
    assert.equal(data.usual, undefined)
    assert.match(text, /Three years of readings are needed/)
    const { data: records } = await assistant.call('climate', { id, about: 'records' })
    const { ever, last: ranked } = records.records
    assert.deepEqual([ever.greatest.value, ever.greatest.doubtful], [Math.max(...heights), false])
    assert.equal(ranked.value, heights.at(-1))
    const { data: storms } = await assistant.call('climate', { id, about: 'storms' })
    assert.ok(storms.storms.length > 0)
    assert.match(storms.notes.join(), /Of \d+ storms above [\d.]+ m/)
    assert.ok(highest >= storms.storms[0].peak.height)
    const none = await assistant.call('climate', { id, about: 'return_levels' })
    assert.match(none.text, /Return levels need 15 complete years, and there are 0/)
  })

  await t.test('wrongly, and is told what to ask instead.', async () => {
    const wrong: [name: string, args: { [name: string]: unknown }, advice: RegExp][] = [
      ['find_buoys', {}, /Give either text, or both lat and lng/],
      ['find_buoys', { place: 'x' }, /has no place\. Allowed: text, lat, lng, within_km, measures, limit/],
      ['find_buoys', { text: 'cap', measures: ['period'] }, /measures goes with lat and lng/],
      ['latest_readings', { ids: Array.from({ length: 16 }, (_, i) => i + 1) }, /more than 15 items/],
      ['history', { id, start_date: 'yesterday' }, /start_date is malformed. Allowed: an ISO 8601/],
      ['history', { id: 77, start_date: '2026-01-01' }, /find_buoys finds buoys and their ids/],
      [
        'compare_seasons',
        { id, metric: 'mood' },
        /metric is none of the allowed values\. Allowed: significient_height, maximum_height, /,
      ],
      ['forecast', { id, lat: 44, lng: -1 }, /Give either id, or both lat and lng/],
      ['forecast', { lat: 44 }, /Give either id, or both lat and lng/],
      ['forecast', { id, days: 11 }, /days must be <= 10/],
      ['forecast', { id, date: 'Saturday' }, /start is malformed\. Allowed: an ISO 8601/],
    ]
    for (const [name, args, advice] of wrong) {
      const { isError, text, size } = await assistant.call(name, args)
      assert.ok(isError && size < 1000, text)
      assert.match(text, advice)
    }
    await assert.rejects(assistant.call('drown', {}), /drown not found/)
  })

  await t.test('until its quota is used up, of which it is warned before.', async () => {
    const asked = async (pattern: RegExp): Promise<void> => {
      for (let calls = 0; ; calls++) {
        const { text } = await assistant.call('latest_readings', { ids: [id] })
        if (pattern.test(text)) return
        assert.ok(calls < 80, text)
      }
    }
    await asked(/Of 80 calls \d are left until .*Z: ask only what is needed/)
    await asked(/Ask again in \d+ seconds, at \d{4}-.*Z\./)
  })

  await t.test('without a key, and gets what needs none.', async () => {
    const keyless = await new Assistant(t, live.base, null).start()
    assert.equal((await keyless.call('find_buoys', { text: 'ferret' })).data.buoys.length, 1)
    const { isError, text } = await keyless.call('history', { id, start_date: '2026-01-01' })
    assert.ok(isError)
    assert.match(text, /API key required\. The user has to set GROUNDSWELL_KEY/)
    assert.match(keyless.log, /without a key only find_buoys answers/)
  })

  await t.test('and finds its key nowhere in what was written.', () => {
    assert.ok(!assistant.log.includes(live.key))
    assert.match(assistant.log, new RegExp(`tools for assistants, from ${live.base}`))
  })
})

test('What is wrong with an API is told, and the next call is as good as ever.', async (t) => {
  const head = { 'X-Snapshot-Id': '4e365f58812b3d3327a64302', 'X-Demo': 'true' }
  const silences = { begun: 0, ended: 0 }
  const server = createServer((request, reply) => {
    const query = new URL(request.url!, 'http://x').searchParams.get('query')
    if (query === 'silence') {
      silences.begun += 1
      request.on('close', () => (silences.ended += 1))
    } else if (query === 'page') reply.end('<html>')
    else if (query === 'nothing') reply.writeHead(500).end('null')
    else if (query === 'elsewhere') reply.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()
    else if (query === 'fault') reply.writeHead(503).end('{"message":"No snapshot"}')
    else if (query === 'gone') reply.writeHead(410).end('{"message":"gone"}')
    else if (query === 'flood') reply.writeHead(200, head).end(Buffer.alloc(33 * 2 ** 20, 32))
    else if (query === 'broken') reply.writeHead(200, head).end('{"data":')
    else reply.writeHead(200, head).end('{"data":{"buoys":[],"places":[]}}')
  })
  const port = await listening(t, server)
  const assistant = await new Assistant(t, `http://127.0.0.1:${port}/v2`, 'gsw_secret').start()
  const said = async (text: string): Promise<string> => (await assistant.call('find_buoys', { text })).text
  for (const [what, advice] of [
    ['page', /not as groundswell does: this program needs another --url/],
    ['nothing', /answers \(500\), but not as groundswell does/],
    ['elsewhere', /answers \(302\), but not as groundswell does/],
    ['fault', /No snapshot\. Ask again in a minute/],
    ['gone', /The data changed while this was asked: ask again/],
    ['flood', /The answer is too long: ask for a shorter range/],
    ['broken', /This program has a fault/],
  ] as const)
    assert.match(await said(what), advice)
  // Cancelled calls end at the API too. One more than may be under way waits for one of them.
  const cancelling = new AbortController()
  const silent = Array.from({ length: 8 }, () =>
    assistant.call('find_buoys', { text: 'silence' }, cancelling.signal),
  )
  const outcomes = Promise.allSettled(silent)
  await until(() => silences.begun === 8)
  let isSaid = false
  const ninth = said('well').then((text) => {
    isSaid = true
    return text
  })
  const impatient = new AbortController()
  const tenth = assistant.call('find_buoys', { text: 'silence' }, impatient.signal)
  impatient.abort()
  await assert.rejects(tenth)
  assert.equal(isSaid, false)
  cancelling.abort()
  assert.match(await ninth, /made up: this is a demo/)
  for (const { status } of await outcomes) assert.equal(status, 'rejected')
  await until(() => silences.ended === 8)
  await until(async () => /made up: this is a demo/.test(await said('well')))
  assert.ok(!assistant.log.includes('gsw_secret'), assistant.log)
  const none = await new Assistant(t, 'http://127.0.0.1:9', 'gsw_secret').start()
  const { isError, text } = await none.call('conditions', { lat: 1, lng: 1 })
  assert.ok(isError)
  assert.match(text, /No API answers at http:\/\/127\.0\.0\.1:9\/v2 \(.+\): it has to be started/)
})

test('Standard output carries the protocol alone, and the end of standard input ends the program.', async () => {
  const child = spawn(process.execPath, [CLI, 'mcp', '--key', 'gsw_seen'], { env: BARE })
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (out[name] += chunk))
  const clientInfo = { name: 'old', version: '1' }
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo }
  child.stdin.write('this is not JSON\n')
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  await until(() => out.stdout.endsWith('\n'))
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0)
  const [line, ...more] = out.stdout.trimEnd().split('\n')
  assert.deepEqual(more, [])
  assert.equal((JSON.parse(line) as { result: typeof params }).result.protocolVersion, '2024-11-05')
  assert.match(out.stderr, /warning: --key holds a key, .*: give it in GROUNDSWELL_KEY\n/)
  assert.ok(!out.stderr.includes('gsw_seen'))
})
