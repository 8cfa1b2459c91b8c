/**
 * Every row of real files of two networks against a naive reading of the same files. Made-up files are read
 * in test/sources.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, catalogOf } from '../builder/fake_source.ts'
import { temporaryFolder } from '../live.ts'
import type { WorldRow } from '../oracle/world.ts'
import { record, type Row } from '../sources/recorder.ts'
import { DATA, readBuoys } from './read-files.ts'

/**
 * A row as whole thousandths, `-` for what is missing; empty for a row without a value. North is 0 or 360 in
 * files.
 */
function lineOf(row: Row | WorldRow, names: readonly string[]): string {
  const values = row as unknown as { readonly [name: string]: number | null | undefined }
  const cells = names.map((name) => {
    const code = Math.round((values[name] ?? NaN) * 1000)
    if (Number.isNaN(code)) return '-'
    return name.endsWith('irection') ? code % 360_000 : code
  })
  return cells.every((cell) => cell === '-') ? '' : cells.join(' ')
}

test('Every row of real files of NDBC and Candhis comes out as a naive reading of them says.', async (t) => {
  // Without the newest rows of a thousand stations, which are of other years.
  const ndbc = temporaryFolder(t)
  for (const name of readdirSync(join(DATA, 'ndbc'))) {
    if (name !== 'latest_obs') cpSync(join(DATA, 'ndbc', name), join(ndbc, name), { recursive: true })
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

/** Values by field of all live files, and stations that have any; the text of a file, nothing else. */
function countLive(
  folder: string,
  wanted: ReadonlySet<string>,
): Map<string, [values: number, stations: number]> {
  const fields = { ATMP: 'air_temperature', DEWP: 'dew_point', PRES: 'pressure', VIS: 'visibility' }
  const counts = new Map<string, [number, number]>()
  for (const file of readdirSync(folder).filter(
    (name) => /\.txt/.test(name) && wanted.has(stationOf(name)),
  )) {
    const bytes = readFileSync(join(folder, file))
    const [header, , ...lines] = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes)
      .toString()
      .trim()
      .split('\n')
    const labels = header.split(/\s+/)
    const rows = new Map(lines.map((line) => [line.slice(0, 16), line.trim().split(/\s+/)]))
    for (const [label, field] of Object.entries(fields)) {
      const values = [...rows.values()].filter((cells) => cells[labels.indexOf(label)] !== 'MM').length
      const [known, stations] = counts.get(field) ?? [0, 0]
      counts.set(field, [known + values, stations + Number(values > 0)])
    }
  }
  return counts
}

const stationOf = (file: string): string => file.replace(/\..*$/, '').toUpperCase()

test('All weather of the live files that have waves is served, row by row.', async (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'ndbc')
  mkdirSync(source)
  for (const name of readdirSync(join(DATA, 'ndbc'))) {
    if (/^(?:realtime2|activestations.*|station_table.*)$/.test(name)) {
      cpSync(join(DATA, 'ndbc', name), join(source, name), { recursive: true })
    }
  }
  const dir = join(folder, 'snapshots')
  await build([openNdbc(source)], dir)
  const { id: ids, identifiers } = await catalogOf(dir)
  const withWaves: string[] = []
  const asked = new AskedPath(await viewOf(dir))
  const served = new Map<string, [number, number]>()
  for (const [i, id] of ids.entries()) {
    const { data } = JSON.parse(asked.get(`/v2/buoys/${id}`, KEYED).text) as {
      data: { buoy: { readings_count: number } }
    }
    if (data.buoy.readings_count > 0) withWaves.push(identifiers[i])
    const { text } = asked.get(`/v2/buoys/${id}/readings?rows=all&include=weather&format=csv`, KEYED)
    const [header, ...lines] = text.trim().split('\r\n')
    for (const field of ['air_temperature', 'dew_point', 'pressure', 'visibility']) {
      const at = header.split(',').indexOf(field)
      const values = lines.filter((line) => line.split(',')[at] !== '').length
      const [known, stations] = served.get(field) ?? [0, 0]
      served.set(field, [known + values, stations + Number(values > 0)])
    }
  }
  const live = join(DATA, 'ndbc', 'realtime2')
  assert.deepEqual(Object.fromEntries(served), Object.fromEntries(countLive(live, new Set(withWaves))))
  assert.deepEqual(Object.fromEntries(served), {
    air_temperature: [227_702, 44],
    dew_point: [176_134, 31],
    pressure: [224_616, 41],
    visibility: [945, 3],
  })
})
