/**
 * Ten years of two buoys as files of the export and as CSV and Parquet of the API, read by DuckDB, against a
 * naive reading of the networks' own files. They are not part of the repository, so this file is skipped
 * without them; test/builder/bulk has made-up data.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { duck, type DuckRow } from '../builder/bulk/duck.ts'
import { assertWhole } from '../builder/bulk/exporting.ts'
import { runCliWell, startLive, temporaryFolder } from '../live.ts'
import { MEASURE_OF } from '../oracle/oracle.ts'
import type { WorldRow } from '../oracle/world.ts'
import { DATA, test, readBuoys } from './read-files.ts'

const FOLDERS = { ndbc: join(DATA, 'ndbc'), candhis: join(DATA, 'candhis') }

/** The buoys with ten seasons of rows. */
const LONG = ['06403', '46240']

test('Ten years of two buoys have every value of their sources, as exported Parquet and as CSV and Parquet of the API.', async (t) => {
  const folder = temporaryFolder(t)
  const [dir, out] = [join(folder, 'snapshots'), join(folder, 'bulk')]
  const sources = ['--source', `ndbc:${FOLDERS.ndbc}`, '--source', `candhis:${FOLDERS.candhis}`]
  await runCliWell(['build', ...sources, '--out', dir, '--export', out])
  assertWhole(out)
  const { ask, close } = await duck()
  t.after(close)
  const buoys = readBuoys(FOLDERS).filter(({ identifier }) => LONG.includes(identifier))
  assert.equal(buoys.length, LONG.length)
  const live = await startLive(t, { snapshots: dir })
  const save = async (id: string, format: string): Promise<string> => {
    const path = `/buoys/${id}/readings?format=${format}&include=wind,peak_period&order=asc`
    const reply = await fetch(live.base + path, { headers: { authorization: `Bearer ${live.key}` } })
    assert.equal(reply.status, 200)
    const file = join(folder, `${id}.${format}`)
    writeFileSync(file, Buffer.from(await reply.arrayBuffer()))
    return file
  }
  for (const { identifier, rows } of buoys) {
    const expected = rows
      .filter(({ significantHeight }) => significantHeight !== null)
      .toSorted((a, b) => a.time - b.time)
    assert.ok(expected.length > 150_000, `${expected.length} rows of ${identifier}`)
    const [{ id }] = await ask(
      `SELECT id FROM '${out}/buoys-*.parquet' WHERE source_identifier = '${identifier}'`,
    )
    const tables = {
      export: `'${out}/readings/*/*.parquet' WHERE buoy_id = ${id}`,
      parquet: `'${await save(String(id), 'parquet')}'`,
      csv: `'${await save(String(id), 'csv')}'`,
    }
    for (const [kind, table] of Object.entries(tables)) {
      // Columns of swell and wind sea are left out where nothing has a value of them.
      const names = new Set((await ask(`DESCRIBE FROM ${table}`)).map((row) => row['column_name']))
      const measures = Object.keys(MEASURE_OF).filter((name) => names.has(name))
      const found = await ask(
        `SELECT CAST(epoch(time) AS INTEGER) AS time, ${measures.join(', ')} FROM ${table} ORDER BY time`,
      )
      const values = assertSameValues(found, expected, `${kind} ${identifier}`)
      t.diagnostic(`${kind} of ${identifier}: ${found.length} readings, ${values} values`)
    }
  }
})

/** @returns how many values were compared */
function assertSameValues(found: readonly DuckRow[], expected: readonly WorldRow[], what: string): number {
  assert.equal(found.length, expected.length, what)
  let values = 0
  found.forEach((row, i) => {
    const source = expected[i]
    assert.equal(row['time'], source.time)
    for (const [column, name] of Object.entries(MEASURE_OF)) {
      // North is 0 in a snapshot, and 0 or 360 in files.
      const value = source[name] === 360 && name.endsWith('irection') ? 0 : source[name]
      if (value !== null) values++
      // Whole numbers of CSV are texts in the JSON of DuckDB.
      const shown = (row[column] ?? null) === null ? null : Number(row[column])
      if (shown !== (value === null ? null : value))
        assert.fail(`${what} ${source.time} ${column}: ${shown}, and the source has ${value}`)
    }
  })
  return values
}
