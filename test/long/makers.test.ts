import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAKERS } from '../../src/long/makers.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, folderOf, northBuoy } from '../builder/fake_source.ts'

/** Operations that a worker answers while the answer is short, and the thread otherwise. */
const LONG_TOO = new Set(['readingSeries', 'tides', 'listSpectra'])

test('The thread of long answers makes the tables that operations offer, and what they may not answer themselves.', () => {
  for (const { name, tables, answer } of OPERATIONS) {
    const { table, json } = MAKERS[name] ?? {}
    assert.equal(table !== undefined, tables !== undefined, name)
    // The usual JSON of a list may be made from its table.
    if (answer === undefined) assert.ok(json !== undefined || tables?.isList === true, name)
    else if (!LONG_TOO.has(name)) assert.equal(json, undefined, name)
  }
  const names = new Set(OPERATIONS.map(({ name }) => name))
  assert.deepEqual(
    Object.keys(MAKERS).filter((name) => !names.has(name)),
    [],
  )
})

test('A season of hours that takes more room than a writer begins with is whole.', async (t) => {
  const dir = folderOf(t)
  const start = Date.UTC(2025, 0, 1) / 1000
  const rows = Array.from({ length: 4000 }, (_, i) => ({ time: start + i * 3600, significantHeight: 1000 }))
  await build([fakeSource([northBuoy('A', rows)])], dir)
  const path = new AskedPath(await viewOf(dir), { clock: () => start + 4000 * 3600 })
  const season = 'metric=significient_height&bucket=hour&start_year=2025&end_year=2025'
  const { text } = path.get(`/v2/buoys/1/readings/series?${season}`, KEYED)
  const { data } = JSON.parse(text) as { data: { years: { points: object[] }[] } }
  assert.equal(data.years[0].points.length, rows.length)
})
