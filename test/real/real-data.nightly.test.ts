/**
 * Every row of real files of two networks against a naive reading of the same files. They are not part of the
 * repository, so this file is skipped without them; made-up files are read in test/sources.
 */
import assert from 'node:assert/strict'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { temporaryFolder } from '../live.ts'
import type { WorldRow } from '../oracle/world.ts'
import { record, type Row } from '../sources/recorder.ts'
import { DATA, readBuoys, test } from './read-files.ts'

/**
 * A row as whole thousandths, `-` for what is missing; empty for a row without a value. North is 0 or 360 in
 * files.
 */
function lineOf(row: Row | WorldRow, names: readonly string[]): string {
  const values = row as unknown as { readonly [name: string]: number | null | undefined }
  const cells = names.map((name) => {
    const code = Math.round((values[name] ?? NaN) * 1000)
    return Number.isNaN(code) ? '-' : name.endsWith('irection') ? code % 360_000 : code
  })
  return cells.every((cell) => cell === '-') ? '' : cells.join(' ')
}

test('Every row of real files of NDBC and Candhis comes out as a naive reading of them says.', async (t) => {
  // Without the newest rows of a thousand stations, which are of other years.
  const ndbc = temporaryFolder(t)
  for (const name of readdirSync(join(DATA, 'ndbc'))) {
    if (name !== 'latest_obs') symlinkSync(join(DATA, 'ndbc', name), join(ndbc, name))
  }
  const candhis = join(DATA, 'candhis')
  const read = [await record(openNdbc, ndbc), await record(openCandhis, candhis)]
  const expected = readBuoys({ ndbc, candhis })
  assert.equal(expected.length, 80)
  const buoys = new Map(
    read.flatMap(({ buoys: all, rows }) => all.map((buoy) => [buoy.identifier, { buoy, rows }])),
  )
  assert.equal(buoys.size, expected.length)
  let count = 0
  for (const { identifier, name, lat, lng, rows } of expected) {
    const found = buoys.get(identifier) ?? assert.fail(`${identifier} is not there`)
    assert.deepEqual([found.buoy.name, found.buoy.lat, found.buoy.lng], [name, lat, lng])
    const names = Object.keys(rows[0]).filter((key) => key !== 'time')
    const merged = new Map<number, Row>()
    // At one time the archive counts, and the other feed fills what it has not.
    for (const feed of [1, 0]) {
      for (const row of found.rows.get(`${identifier}/${feed}`) ?? []) {
        const time = Date.parse(row.time) / 1000
        merged.set(time, { ...merged.get(time), ...row })
      }
    }
    for (const row of rows) {
      const got = merged.get(row.time)
      assert.equal(
        got === undefined ? '' : lineOf(got, names),
        lineOf(row, names),
        `${identifier} ${row.time}`,
      )
      merged.delete(row.time)
      count++
    }
    assert.deepEqual([...merged.keys()], [], identifier)
  }
  assert.ok(count > 740_000, `${count} rows`)
})
