/** A part of many chunks: every value of it is looked at, wherever a chunk ends. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import type { RowColumns } from '../../src/sea/row-batch.ts'
import { partFile, sha256, SnapshotError, type PartEntry } from '../../src/snapshot/snapshot-format.ts'
import { monthPart, type MonthTable } from '../../src/snapshot/make-month.ts'
import { encodePart } from '../../src/snapshot/write-snapshot.ts'
import { verifyParts } from '../../src/snapshot/read-snapshot.ts'

const folder = mkdtempSync(join(tmpdir(), 'groundswell-scans-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const MONTH = (2026 - 1970) * 12 + 2
const BEGIN = Date.parse('2026-03-01T00:00:00Z') / 1000
const ROWS = 140_000
/** The second buoy begins in another chunk of times than the first, and before the first one's last time. */
const STARTS = [0, 90_001, 120_000, ROWS]

const FILLED = new Set<MeasureName>(['significantHeight', 'period', 'waterTemperature'])

function longMonth(): MonthTable {
  const time = new Uint32Array(ROWS)
  for (let buoy = 0; buoy + 1 < STARTS.length; buoy++) {
    for (let row = STARTS[buoy]; row < STARTS[buoy + 1]; row++) time[row] = BEGIN + row - STARTS[buoy]
  }
  const columns = Object.fromEntries(
    MEASURE_NAMES.map((name) => {
      const { signed, missing } = MEASURES[name]
      return [name, new (signed ? Int16Array : Uint16Array)(ROWS).fill(FILLED.has(name) ? 7 : missing)]
    }),
  ) as RowColumns
  return { month: MONTH, buoys: Uint32Array.of(3, 9, 10), start: Uint32Array.from(STARTS), time, columns }
}

/** Writes a part whatever is in it, and reads it as a server does. */
async function verify(table: MonthTable): Promise<void> {
  const bytes = encodePart(monthPart('readings', table))
  const hash = sha256(bytes)
  const file = partFile('readings', hash)
  writeFileSync(join(folder, file), bytes)
  const entry: PartEntry = {
    kind: 'readings',
    file,
    bytes: bytes.length,
    sha256: hash,
    rows: ROWS,
    month: MONTH,
  }
  await verifyParts(folder, [entry])
}

test('A month of many chunks is taken whole, and refused for one wrong value anywhere.', async () => {
  await verify(longMonth())
  const rows = [1, 65_519, 65_520, 65_536, 90_002, ROWS - 1]
  for (const row of rows) {
    const table = longMonth()
    table.time[row] = table.time[row - 1]
    await assert.rejects(verify(table), (error: Error) => {
      assert.ok(error instanceof SnapshotError)
      return error.message.endsWith(': the times of a buoy do not ascend')
    })
  }
  for (const [name, code] of [
    ['significantHeight', 0xffff],
    ['period', 0xfffe],
    ['waterTemperature', -501],
    ['waterTemperature', 4501],
  ] as const) {
    for (const row of [0, 131_072, ROWS - 1]) {
      const table = longMonth()
      table.columns[name][row] = code
      await assert.rejects(
        verify(table),
        new RegExp(`: ${name} has a value outside its limits$`),
        `${name} ${row}`,
      )
    }
  }
})

test('Where times fall within a buoy as often as they do not between buoys, they are refused.', async () => {
  const table = longMonth()
  // The third buoy begins after the second one's last time, and one time of it falls.
  table.time.subarray(STARTS[2]).forEach((_, i, times) => (times[i] += 100_000))
  await verify(table)
  table.time[STARTS[2] + 5] = table.time[STARTS[2] + 4]
  await assert.rejects(verify(table), /: the times of a buoy do not ascend$/)
})
