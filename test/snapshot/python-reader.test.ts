/** The reader in Python of docs/examples lists just the rows of the snapshot, from the files alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MEASURE_NAMES, MEASURES } from '../../src/sea/columns.ts'
import { timestampText } from '../../src/sea/time.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import { everythingSource } from '../builder/everything_source.ts'
import { build, catalogOf } from '../builder/fake_source.ts'
import { temporaryFolder } from '../live.ts'

const READER = new URL('../../docs/examples/read_snapshot.py', import.meta.url).pathname

/** What the reader prints, as lines of fields; it must end well. */
function linesOf(...args: string[]): string[][] {
  const { status, stdout, stderr, error } = spawnSync('python3', [READER, ...args], { encoding: 'utf8' })
  assert.equal(error, undefined, 'this test needs python3')
  assert.equal(status, 0, stderr)
  return stdout
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'))
}

/** A buoy's readings as the reader has to print them, newest first, by the program's own view of parts. */
async function expectedReadings(dir: string, buoy: number): Promise<string[][]> {
  const { parts } = await loadSnapshot(dir)
  const rows: string[][] = []
  for (const { entry, bytes } of parts) {
    if (entry.kind !== 'readings') continue
    const month = readMonth(decodePart(bytes, entry.file), entry.month!, entry.file)
    const at = month.buoys.indexOf(buoy)
    if (at === -1) continue
    for (let row = month.start[at]; row < month.start[at + 1]; row++) {
      const values = MEASURE_NAMES.map((name) => {
        const { codes, mask } = month.measures[name]
        const { scale, missing } = MEASURES[name]
        return codes[row & mask] === missing ? '' : String(codes[row & mask] / scale)
      })
      rows.push([timestampText(month.time[row]), ...values])
    }
  }
  return rows.sort(([a], [b]) => (a < b ? 1 : -1))
}

/** Python writes `2.0` for 2. */
const asPython = (rows: string[][]): string[][] =>
  rows.map(([time, ...values]) => [
    time,
    ...values.map((value) => (/^-?\d+$/.test(value) ? `${value}.0` : value)),
  ])

async function expectSameAsProgram(dir: string): Promise<number> {
  const { id, slugs, names } = await catalogOf(dir)
  const listed = linesOf(dir)
  assert.deepEqual(
    listed.map(([buoy, slug, , , name]) => [buoy, slug, name]),
    Array.from(id, (buoy, i) => [String(buoy), slugs[i], names[i]]),
  )
  let readings = 0
  for (const [i, buoy] of id.entries()) {
    const expected = asPython(await expectedReadings(dir, buoy))
    const [head, ...rows] = linesOf(dir, i % 2 === 0 ? slugs[i] : String(buoy))
    assert.deepEqual(head, ['time', ...MEASURE_NAMES])
    assert.deepEqual(rows, expected, slugs[i])
    readings += rows.length
  }
  return readings
}

test('The reader in Python lists the buoys and every reading of a demo snapshot as the program reads them.', async (t) => {
  const dir = temporaryFolder(t)
  const asOf = Date.parse('2026-03-27T12:00:00Z') / 1000
  await build([openDemo('scale,buoys=3,days=20')], dir, { asOf, now: asOf })
  assert.ok((await expectSameAsProgram(dir)) > 1200)
  // Every kind of part, aliases and columns that are left out.
  const other = temporaryFolder(t)
  await build([everythingSource()], other)
  assert.equal(await expectSameAsProgram(other), 5)
})

test('The reader in Python refuses a part that was changed, naming its file.', async (t) => {
  const dir = temporaryFolder(t)
  await build([everythingSource()], dir)
  const file = readdirSync(dir).find((name) => name.startsWith('catalog-'))!
  appendFileSync(join(dir, file), '\0')
  const { status, stderr } = spawnSync('python3', [READER, dir], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, new RegExp(`${file}: has other bytes than the manifest says`))
})
