/**
 * The climate of real records: thirty years of Crowdy Head through `init --table`, and fourteen of NDBC's
 * 46240, against a naive program.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import * as oracle from '../oracle/climate.ts'
import type { Json, JsonObject } from '../oracle/known.ts'
import { DATA } from './read-files.ts'

const FILES = ['CRHDOW_1985_2014.csv.gz', 'CRHDOW_2014_2016.csv.gz']
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
/** Numbers of an answer have five decimals. */
const TOLERANCE = 1.1e-5

/** One row an hour; the later file's row where both have one. Times are ten hours ahead of UTC. */
function crowdyHead(): oracle.ClimateRow[] {
  const rows = new Map<number, oracle.ClimateRow>()
  for (const file of FILES) {
    const text = gunzipSync(readFileSync(join(DATA, 'climate', file))).toString()
    for (const line of text.split(/\r?\n/)) {
      const [, day, month, year, hour, cells] = /^(\d\d)-([A-Z]{3})-(\d{4}) (\d\d):00,(.*)$/.exec(line) ?? []
      if (cells === undefined) continue
      const [height, highest, , peak, from] = cells.split(',').map((cell) => cell.trim())
      if (height === '') continue
      const time = Date.UTC(Number(year), MONTHS.indexOf(month), Number(day), Number(hour) - 10) / 1000
      rows.set(time, {
        time,
        significantHeight: Number(height),
        ...(highest !== '' && { maximumHeight: Number(highest) }),
        ...(peak !== '' && { peakPeriod: Number(peak), period: Number(peak) }),
        ...(from !== '' && { direction: Number(from) % 360 }),
      })
    }
  }
  return [...rows.values()].toSorted((a, b) => a.time - b.time)
}

function assertNear(got: Json | undefined, wanted: Json, what: string): void {
  if (typeof wanted === 'number') {
    assert.ok(
      Math.abs((got as number) - wanted) <= TOLERANCE,
      `${what}: ${JSON.stringify(got)}, not ${wanted}`,
    )
  } else if (typeof wanted === 'object' && wanted !== null) {
    for (const [key, each] of Object.entries(wanted))
      assertNear((got as JsonObject)[key], each, `${what}.${key}`)
  } else assert.equal(got, wanted, what)
}

test("Crowdy Head's percentiles, storms, records and tables through init and a build are those of a naive program.", async (t) => {
  const folder = temporaryFolder(t)
  for (const file of FILES) copyFileSync(join(DATA, 'climate', file), join(folder, file))
  const [first, second] = FILES.map((file) => join(folder, file))
  const about = ['--station', 'Crowdy Head', '--lat', '-31.8', '--lng', '152.86', '--time-zone', '+10:00']
  const snapshots = join(folder, 'data', 'snapshots')
  const more = ['--config', join(folder, 'c.json'), '--data', join(folder, 'data'), '--snapshots', snapshots]
  const column = ['--column', 'direction=WDIR_BUOY (deg, TN)']
  await runCliWell(['init', ...more, ...about, ...column, '--table', first, second])
  const path = new AskedPath(await viewOf(snapshots))
  const ask = (below: string): JsonObject => {
    const { status, text } = path.get(`/v2/buoys/crowdy-head/climate${below}`, KEYED)
    assert.equal(status, 200, text)
    return (JSON.parse(text) as { data: JsonObject }).data
  }
  const rows = crowdyHead()
  assert.equal(rows.length, 229_983)
  for (const [below, wanted] of [
    ['', oracle.climate(rows, {})],
    ['?by=season&metric=direction', oracle.climate(rows, { by: 'season', metric: 'direction' })],
    ['/records', oracle.records(rows, {})],
    ['/table', oracle.table(rows, {})],
    ['/table?x=month', oracle.table(rows, { x: 'month' })],
    ['/table?x=direction', oracle.table(rows, { x: 'direction' })],
    ['/storms?per_page=1000', oracle.storms(rows, { per_page: '1000' }).data],
  ] as const) {
    assertNear(ask(below), wanted, below)
  }
  const overall = ask('').overall as JsonObject
  assert.deepEqual([overall.p95, (overall.maximum as JsonObject).value], [2.915, 7.35])
  assert.equal(ask('/storms').count, 594)
  const { maxima, levels } = ask('/extremes') as { maxima: Json[]; levels: JsonObject[] }
  assert.equal(maxima.length, 24)
  assert.ok(levels.every(({ low, level, high }) => low! < level! && level! < high!))
})

test('46240 has too few complete years for return levels, and they are named with their rule.', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'c.json')
  const source = { name: 'ndbc', kind: 'ndbc', folder: join(DATA, 'ndbc') }
  writeFileSync(config, JSON.stringify({ data: join(folder, 'data'), sources: [source] }))
  await runCliWell(['build', '--config', config])
  const view = await viewOf(join(folder, 'data', 'snapshots'))
  const path = new AskedPath(view)
  const search = path.get('/v2/buoys/search?query=46240', KEYED).text
  const [{ slug }] = (JSON.parse(search) as { data: { buoys: { slug: string }[] } }).data.buoys
  const { status, text } = path.get(`/v2/buoys/${slug}/climate/extremes`, KEYED)
  const { message, details } = JSON.parse(text) as { message: string; details: JsonObject }
  assert.equal(status, 422)
  const years = details.complete_years as number
  assert.ok(years > 5 && years < 15, message)
  assert.equal(message.match(/\b20[0-2]\d\b/g)!.length, years)
  assert.match(message, /75 % of its samples and 50 % of those of each quarter/)
})
