/** Keeps a copy of all readings in SQLite up to date by `/changes` alone; the lists fill it: README.md. */
import { rmSync } from 'node:fs'
import { argv, env } from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sqlite from 'node-sqlite3-wasm'
import { Groundswell, GroundswellError, type Reading } from '../../clients/typescript/groundswell.ts'

/** No snapshot has this id: the server answers 410 and names the one that it has. */
const NOTHING = '0'.repeat(24)
/** Later than every time: `upto` of a buoy that has all its readings. */
const WHOLE = '9'
const CHUNK_ROWS = 5000
/** A copy that is being filled follows changes meanwhile: a server holds a snapshot for an hour or so. */
const FOLLOW_MS = 300_000
const POLL_MS = 60_000
const BUOY = ['id', 'slug', 'name', 'lat', 'lng', 'source', 'source_identifier'] as const
const SEA = ['significient_height', 'maximum_height', 'period', 'direction', 'water_temperature'] as const
const READING = ['time', 'id', 'uuid', ...SEA, 'direction_compass', 'energy_per_wave', 'unit'] as const
const TABLES = `
  CREATE TABLE IF NOT EXISTS state (one INTEGER PRIMARY KEY, since TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS buoys (${BUOY.join()}, upto, PRIMARY KEY (id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS readings (buoy_id, ${READING.join()}, PRIMARY KEY (buoy_id, time)) WITHOUT ROWID;`
const PUT_BUOY = `INSERT INTO buoys VALUES (?${',?'.repeat(BUOY.length)}) ON CONFLICT (id) DO UPDATE SET
  ${BUOY.map((name) => `${name} = excluded.${name}`).join()}`
const GONE = '(SELECT id FROM buoys WHERE id NOT IN (SELECT value FROM json_each(?)))'
const PUT_READING = `INSERT OR REPLACE INTO readings VALUES (?${',?'.repeat(READING.length)})`

/** Brings the copy up to date. What fails leaves it as of some snapshot; the next call goes on there. */
export async function sync(api: Groundswell, db: InstanceType<typeof sqlite.Database>): Promise<void> {
  db.exec(TABLES)
  const since = (): string => (db.get('SELECT since FROM state')?.since ?? NOTHING) as string
  const transaction = async (work: () => Promise<void>): Promise<void> => {
    db.exec('BEGIN')
    await work().catch((error: unknown) => {
      db.exec('ROLLBACK')
      throw error
    })
    db.exec('COMMIT')
  }
  /** `upto` is that of buoys which the copy has not had so far. */
  const takeBuoys = async (snapshot: string, upto: string): Promise<void> => {
    const ids: number[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const list = await api.get('/buoys', { query: { active_only: false, per_page: 500, page, snapshot } })
      pages = list.meta.total_pages
      for (const buoy of list.data.buoys) db.run(PUT_BUOY, [...BUOY.map((name) => buoy[name]), upto])
      ids.push(...list.data.buoys.map(({ id }) => id))
    }
    for (const rows of ['readings WHERE buoy_id', 'buoys WHERE id'])
      db.run(`DELETE FROM ${rows} IN ${GONE}`, [JSON.stringify(ids)])
    db.run('INSERT OR REPLACE INTO state VALUES (1, ?)', [snapshot])
  }
  const follow = async (): Promise<void> => {
    for await (const { until, buoys, readings } of api.changes(since())) {
      // All readings of a buoy that has just come are among the changes.
      if (buoys.length > 0) await takeBuoys(until, WHOLE)
      for (const { buoy_id: buoy, change, reading } of readings) {
        if (change !== 'removed') db.run(PUT_READING, [buoy, ...READING.map((name) => reading[name])])
        else db.run('DELETE FROM readings WHERE buoy_id = ? AND time = ?', [buoy, reading.time])
      }
      db.run('INSERT OR REPLACE INTO state VALUES (1, ?)', [until])
    }
  }
  /** Takes the next readings of a buoy, in the place of what the copy has of that time. */
  const fill = async (buoy: number, upto: string): Promise<void> => {
    const rows: Reading[] = []
    const from = upto === '' ? '1900-01-01' : new Date(Date.parse(upto) + 1000)
    for await (const reading of api.readings(buoy, { snapshot: since(), since: from })) {
      if (rows.push(reading) === CHUNK_ROWS) break
    }
    const end = rows.length < CHUNK_ROWS ? WHOLE : rows[CHUNK_ROWS - 1].time
    db.run('DELETE FROM readings WHERE buoy_id = ? AND time > ? AND time <= ?', [buoy, upto, end])
    for (const reading of rows) db.run(PUT_READING, [buoy, ...READING.map((name) => reading[name])])
    db.run('UPDATE buoys SET upto = ? WHERE id = ?', [end, buoy])
  }
  for (let followedAt = -Infinity; ;) {
    if (performance.now() - followedAt > FOLLOW_MS) {
      await transaction(follow).catch((error: unknown) => {
        if (!(error instanceof GroundswellError) || error.parameter !== 'since') throw error
        db.exec("UPDATE buoys SET upto = ''")
        return transaction(() => takeBuoys(error.current!, ''))
      })
      followedAt = performance.now()
    }
    const buoy = db.get('SELECT id, upto FROM buoys WHERE upto < ?', [WHOLE])
    if (buoy === null) return
    await transaction(() => fill(buoy.id as number, buoy.upto as string))
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const api = new Groundswell({ baseUrl: argv[2], key: env.KEY ?? '' })
  // A process that was killed leaves its lock; one at a time writes a copy.
  rmSync(`${argv[3]}.lock`, { recursive: true, force: true })
  for (const db = new sqlite.Database(argv[3]); ; await wait(POLL_MS)) {
    await sync(api, db).catch((error: Error) => console.error(new Date().toISOString(), error.message))
    if (argv[4] === 'once') break
  }
}
