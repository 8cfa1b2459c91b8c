/** Times that move: `now`, `now-24h`, `now+3d`, relative to the snapshot or to the clock. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Answered, AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, SMALL_WORLD } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()
/** The clock is four hours ahead of the first snapshot, and within a minute. */
const NOW = Date.parse('2026-03-27T13:00:25Z') / 1000

const [alpha, ...others] = SMALL_WORLD
const views = await Promise.all(
  [0, 3].map(async (hours) => {
    const dir = join(folder, String(hours))
    const time = Date.parse('2026-03-27T09:00:00Z') / 1000 + hours * 3600
    const rows = [...alpha.rows, { time, significantHeight: 1200 }]
    await build([fakeSource([{ ...alpha, rows }, ...others])], dir)
    return viewOf(dir)
  }),
)

function asked(answerCache: number, clock = (): number => NOW): (url: string) => Answered {
  const path = new AskedPath(views[0], { clock, answerCache })
  path.path.hold(views, 2)
  return (url) => path.get(`/v2${url}`, KEYED)
}

const dataOf = ({ status, text }: Answered): unknown => {
  assert.equal(status, 200, text)
  const { data, meta } = JSON.parse(text) as { data: unknown; meta: { date_range?: unknown } }
  return [data, meta.date_range]
}
const timeText = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

for (const answerCache of [0, 2 ** 20]) {
  // All forms of one snapshot the oracle knows.
  test(`Readings and passes count from the time of the snapshot, a pinned one too (cache of ${answerCache} bytes).`, () => {
    const get = asked(answerCache)
    for (const { dataset } of [...views, ...views]) {
      const fixed = timeText(dataset.asOf - 86_400)
      for (const url of [
        '/buoys/alpha-2/readings?start_date=',
        '/buoys/satellite_passes?active_only=false&since=',
      ]) {
        const [moving, still] = ['now-24h', fixed].map((time) =>
          dataOf(get(`${url}${time}&snapshot=${dataset.snapshotId}`)),
        )
        assert.deepEqual(moving, still, url)
      }
    }
  })

  test(`Conditions and forecast count from the minute of the clock (cache of ${answerCache} bytes).`, () => {
    let now = NOW
    const get = asked(answerCache, () => now)
    const minute = Math.floor(NOW / 60) * 60
    const place = 'lat=45.5&lng=-3.25'
    for (let turn = 0; turn < 3; turn++, now += 60) {
      const at = minute + turn * 60
      const moving = get(`/conditions?${place}&time=now`)
      assert.deepEqual(dataOf(moving), dataOf(get(`/conditions?${place}`)))
      assert.deepEqual(dataOf(moving), dataOf(get(`/conditions?${place}&time=${timeText(at)}`)))
      assert.deepEqual(
        dataOf(get(`/conditions?${place}&time=now-4h`)),
        dataOf(get(`/conditions?${place}&time=${timeText(at - 14_400)}`)),
      )
      assert.deepEqual(
        dataOf(get(`/forecast?${place}&start=now%2B1d&hours=3`)),
        dataOf(get(`/forecast?${place}&start=${timeText(at + 86_400)}&hours=3`)),
      )
      for (const [url, moves] of [
        [`/conditions?${place}&time=now`, true],
        [`/conditions?${place}&time=2026-03-27`, false],
        [`/forecast?${place}`, true],
        [`/forecast?${place}&start=now-1h`, true],
        [`/forecast?${place}&start=2026-03-27`, false],
      ] as const) {
        const { headers } = get(url)
        assert.equal(get(url).headers['etag'], headers['etag'], url)
        assert.equal(headers['cache-control'], `private, max-age=${moves ? 35 : 60}`, url)
        now += 60
        assert.equal(get(url).headers['etag'] === headers['etag'], !moves, url)
        now -= 60
      }
    }
  })
}

test('Times far away are in no year that exists, and no error.', () => {
  const get = asked(0)
  // The farthest that can be written is in no year that exists.
  assert.equal(get('/buoys/alpha-2/readings?start_date=now-999999d').status, 200)
  assert.equal(get('/conditions?lat=1&lng=1&time=now%2B999999d').status, 200)
  for (const day of ['0001-12-31', '1969-12-31', '2106-02-07', '9999-12-31']) {
    assert.equal(get(`/conditions?lat=1&lng=1&time=${day}`).status, 200)
    const { data } = JSON.parse(get(`/forecast?lat=1&lng=1&hours=240&start=${day}`).text) as {
      data: { time: string[] }
    }
    assert.equal(data.time.length, 240)
    assert.equal(data.time[239], day > '2106' ? '2106-02-07T06:00:00Z' : '1970-01-10T23:00:00Z')
  }
})
