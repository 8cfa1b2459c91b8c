/** Columns that are looked at while their part is read: across chunks, and as strictly as in memory. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, MEASURES, type MeasureName, type RowColumns } from '../../src/sea/columns.ts'
import { partFile, sha256, SnapshotError, type PartEntry } from '../../src/snapshot/format.ts'
import { monthPart, type MonthTable } from '../../src/snapshot/months.ts'
import { encodePart } from '../../src/snapshot/part.ts'
import { verifyParts } from '../../src/snapshot/read.ts'
import { chunk, CHUNK_BYTES, daysWithin, Scans, unpackDays } from '../../src/snapshot/scans.ts'

const folder = mkdtempSync(join(tmpdir(), 'groundswell-scans-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const MONTH = (2026 - 1970) * 12 + 2
const BEGIN = Date.parse('2026-03-01T00:00:00Z') / 1000
const ALIGNMENT_BYTES = 64

/** Hands `bytes` to `scans` as they would be read. */
function readThrough(bytes: Uint8Array, scans: Scans): void {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const some = bytes.subarray(at, at + CHUNK_BYTES)
    chunk.fill(0xff).set(some)
    scans.look(at, some.length)
  }
}

test('What is found in a column is what looking at one number after the other finds, wherever chunks end.', () => {
  const place = fc.constantFrom(
    0,
    ALIGNMENT_BYTES,
    CHUNK_BYTES - 2 * ALIGNMENT_BYTES,
    CHUNK_BYTES - ALIGNMENT_BYTES,
    CHUNK_BYTES,
  )
  const length = fc.oneof(
    fc.integer({ min: 1, max: 200 }),
    fc.integer({ min: CHUNK_BYTES / 4 - 20, max: CHUNK_BYTES }),
  )
  // Around the ends of chunks, and anywhere.
  const spots = fc.array(fc.oneof(fc.nat(20), fc.integer({ min: -20, max: 20 }), fc.nat(CHUNK_BYTES)), {
    maxLength: 6,
  })
  fc.assert(
    fc.property(place, length, spots, fc.nat(0xffff), (from, count, offsets, code) => {
      const bytes = new Uint8Array(
        Math.ceil((from + 4 * count) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES + 128,
      ).fill(0xff)
      const times = new Uint32Array(bytes.buffer, from, count)
      for (let row = 0; row < count; row++) times[row] = 0x7fff_0000 + row
      for (const offset of offsets) {
        const row = ((((CHUNK_BYTES - from) / 4 + offset) % count) + count) % count
        times[row] -= 1 + (offset & 1)
      }
      const codes = new Int16Array(bytes.buffer, from, 2 * count)
      const scans = new Scans()
      scans.addFalls(from, from + times.byteLength)
      for (const flip of [0, -1] as const) scans.addGreatest(from, from + codes.byteLength, flip, code)
      readThrough(bytes, scans)
      assert.equal(
        scans.fallsOf(times),
        times.reduce((falls, time, row) => (row > 0 && time <= times[row - 1] ? falls + 1 : falls), 0),
      )
      for (const flip of [0, -1] as const) {
        const greatest = codes.reduce(
          (most, each) => Math.max(most, (((each ^ flip) + code) << 16) >> 16),
          -0x8000,
        )
        assert.equal(scans.greatestOf(codes, flip, code), greatest)
      }
      assert.equal(scans.greatestOf(codes, 0, code + 1), null)
      assert.equal(scans.greatestOf(codes.subarray(1), 0, code), null)
      assert.equal(scans.fallsOf(times.subarray(0, count - 1)), null)
    }),
    { numRuns: 25 },
  )
})

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

test('Days are within their rules where looking at one after the other says so.', () => {
  const MOST = 1_000_000
  const edge = fc.constantFrom(0, 1, -1, 0x7fff_ffff, -0x8000_0000, MOST, MOST + 1)
  const stream = fc.record({
    base: fc.oneof(fc.integer({ min: -3, max: 3 }), edge),
    step: fc.oneof(fc.nat(2), fc.constantFrom(0, MOST)),
    width: fc.constantFrom(0, 1, 2, 4),
    code: fc.nat(0xff),
  })
  const limits = fc.constantFrom([0, 2500], [-500, 4500], [0, 360])
  const streams = fc.tuple(stream, stream, stream, stream, stream)
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 366 }),
      streams,
      limits,
      fc.nat(7),
      (days, rows, [low, high], shift) => {
        const values = rows.map(({ base, step, width, code }, row) => {
          const Codes = [Uint8Array, Uint8Array, Uint16Array, Uint8Array, Uint32Array][width]
          // One day differs from the others.
          const codes = new Codes(new ArrayBuffer(4096), 8 + shift * width, days).fill(row)
          if (days > 0) codes[code % days] = code
          const bytes = width === 0 ? null : new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength)
          unpackDays(row, days, { base, step, width }, bytes)
          return Array.from({ length: days }, (_, day) =>
            Number(BigInt.asIntN(32, BigInt(base) + BigInt(step) * BigInt(width === 0 ? 0 : codes[day]))),
          )
        })
        const [median, mean, less, more, samples] = values
        const withSamples = Array.from(samples.keys()).filter((day) => samples[day] !== 0)
        const holds = withSamples.every(
          (day) =>
            samples[day] > 0 &&
            samples[day] <= MOST &&
            median[day] >= low &&
            median[day] <= high &&
            less[day] >= 0 &&
            more[day] >= 0 &&
            median[day] - less[day] >= low &&
            median[day] + more[day] <= high &&
            mean[day] >= -less[day] &&
            mean[day] <= more[day],
        )
        assert.equal(daysWithin(days, low, high, MOST), holds ? withSamples.length : null)
      },
    ),
    { numRuns: 2000 },
  )
})

test('A difference beyond 32 bits is out of limits.', () => {
  for (const [less, more] of [
    [0x7fff_ffff, 0],
    [0, 0x7fff_ffff],
  ]) {
    const days = [less === 0 ? 3 : -3, 0, less, more, 1]
    days.forEach((base, row) => unpackDays(row, 5, { base, step: 0, width: 0 }, null))
    assert.equal(daysWithin(5, -500, 4500, 48), null)
  }
  ;[3, 0, 503, 4497, 48].forEach((base, row) => unpackDays(row, 5, { base, step: 0, width: 0 }, null))
  assert.equal(daysWithin(5, -500, 4500, 48), 5)
})
