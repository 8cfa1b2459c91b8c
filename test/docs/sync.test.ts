/** The example that keeps a copy in SQLite over builds of all kinds. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import sqlite from 'node-sqlite3-wasm'
import { Groundswell } from '../../clients/typescript/groundswell.ts'
import { sync } from '../../docs/examples/sync.ts'
import { Follower, rowsOf, textOf } from '../api/copy.ts'
import { temporaryFolder } from '../live.ts'

type Database = InstanceType<typeof sqlite.Database>
/** The copy stays behind in so many of the builds, so that now and then it has to begin anew. */
const STAYS_BEHIND = 0.35

function rowsIn(db: Database, buoy: number): [number, string][] {
  const rows = db.all(
    'SELECT time, significient_height, period, water_temperature FROM readings WHERE buoy_id = ? ORDER BY time',
    [buoy],
  )
  return rows.map((row) => [
    Date.parse(row.time as string) / 1000,
    textOf(
      row.significient_height as number,
      row.period as number | null,
      row.water_temperature as number | null,
    ),
  ])
}

/** The copy is the world, reading by reading. */
function compare(db: Database, { world }: Follower): void {
  const buoys = db.all('SELECT * FROM buoys ORDER BY source_identifier')
  const found = buoys.map(({ id, name, lat, source_identifier: identifier }) => ({
    identifier,
    name,
    lat,
    rows: rowsIn(db, id as number),
  }))
  const expected = [...world.values()]
    .toSorted((a, b) => (a.identifier < b.identifier ? -1 : 1))
    .map((buoy) => ({
      identifier: buoy.identifier,
      name: buoy.name,
      lat: buoy.lat,
      rows: [...rowsOf(buoy)].toSorted(([a], [b]) => a - b),
    }))
  assert.deepEqual(found, expected)
  const rows = expected.reduce((sum, buoy) => sum + buoy.rows.length, 0)
  assert.equal(Number(db.get('SELECT count(*) AS count FROM readings')!.count), rows)
}

test('The example keeps a copy through builds, corrections, renames, rollbacks and lost connections.', async (t) => {
  const builds = Number(process.env.GROUNDSWELL_BUILDS ?? 16)
  const folder = temporaryFolder(t)
  const follower = new Follower(join(folder, 'snapshots'), 7)
  const db = new sqlite.Database(join(folder, 'copy.sqlite'))
  t.after(() => db.close())
  let [calls, failing, lists, feeds] = [0, Infinity, 0, 0]
  const api = new Groundswell({
    baseUrl: 'http://groundswell.test/v2',
    fetch: ({ url }) => {
      if (calls++ === failing) return Promise.reject(new Error('the connection is gone'))
      if (/\/readings\?/.test(url)) lists++
      if (/\/changes\?/.test(url)) feeds++
      return follower.fetch(url)
    },
  })
  let failed = 0
  for (let step = 0; step < builds; step++) {
    await follower.publish()
    if (step > 0 && (step * 7919) % 100 < STAYS_BEHIND * 100) continue
    // Every third time a call in the middle fails, and the copy has to go on from there.
    if (step % 3 === 1) {
      failing = calls + (step % 2)
      await sync(api, db).catch(() => failed++)
      failing = Infinity
    }
    await sync(api, db)
    compare(db, follower)
  }
  assert.ok(failed > 1, `${failed} calls failed`)
  assert.ok(feeds > builds / 3 && lists > 0, `${feeds} calls for changes, ${lists} for readings`)
})
