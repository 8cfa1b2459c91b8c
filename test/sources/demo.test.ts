/** The made-up data: what docs/sources-beyond-buoys.md says of the demo and of `demo:scale`. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { COMMON_NAMES, MEASURE_NAMES, type MeasureName } from '../../src/sea/columns.ts'
import { RowBatch } from '../../src/sea/row-batch.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { Report, Source } from '../../src/sources/source.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { RecordingSink } from './recorder.ts'

const AS_OF = Date.UTC(2026, 5, 17, 9, 30) / 1000
const HOUR = 3600
const DAY = 86_400

const NAMES = MEASURE_NAMES

interface Collected {
  record: BuoyRecord
  times: number[]
  codes: { [name in MeasureName]: number[] }
}

/** Keeps rows by buoy. */
class Collector extends RecordingSink {
  /** All of them by handle, virtual ones too. */
  all: Collected[] = []

  report: Report = {
    maxBadShare: 0,
    file: () => ({
      rows: () => {},
      skipped: () => assert.fail('nothing to skip'),
      bad: () => assert.fail('nothing is bad'),
      end: () => true,
    }),
    doubt: () => {},
    withoutPosition: () => {},
  }

  override buoy(record: BuoyRecord): number {
    const codes = Object.fromEntries(NAMES.map((name) => [name, [] as number[]]))
    this.all.push({ record, times: [], codes: codes as Collected['codes'] })
    return super.buoy(record)
  }

  rows(handle: number, batch: RowBatch): void {
    const buoy = this.all[handle]
    for (let row = 0; row < batch.length; row++) {
      buoy.times.push(batch.time[row])
      for (const name of NAMES) buoy.codes[name].push(batch.columns[name][row])
    }
  }

  /** Those that float. */
  get buoys(): Collected[] {
    return this.all.filter(({ record }) => record.virtual !== true)
  }

  find(identifier: string): Collected {
    const found = this.all.find(({ record }) => record.identifier === identifier)
    assert.ok(found, `no buoy ${identifier}`)
    return found
  }
}

async function read(source: Source, asOf: number | null, now = AS_OF): Promise<Collector> {
  const collector = new Collector()
  await source.read(collector, { asOf, now, report: collector.report })
  return collector
}

const readDemo = (asOf: number | null, now?: number): Promise<Collector> => read(openDemo(''), asOf, now)
const readScale = (options: string, asOf = AS_OF): Promise<Collector> =>
  read(openDemo(`scale,${options}`), asOf)

const newest = (buoy: Collected): number => buoy.times.at(-1) ?? -Infinity
const rowsOf = ({ times, codes }: Collected): string[] =>
  times.map((time, row) => [time, ...COMMON_NAMES.map((name) => codes[name][row])].join(' '))
// One reading of the demo takes some three seconds, so tests share what they compare with.
const demo = await readDemo(AS_OF, AS_OF + 40 * DAY)
const halfHourLater = await readDemo(null, AS_OF + HOUR / 2 + 900)
const monthLater = await readDemo(AS_OF + 30 * DAY)

/** Buoys whose history is hourly; that of the others is twelve-hourly. */
const HOURLY = new Set(['46042', '06402', '06403'])
const stepOf = ({ record }: Collected): number => (HOURLY.has(record.identifier) ? HOUR : 12 * HOUR)

/** How long the buoys that stopped reporting have been silent, at least; none has been a day longer. */
const SILENT = { '05602': 5 * HOUR, '44011': 2 * DAY, '51001': 30 * DAY, '05008': Infinity }

test('The demo takes the last half hour as its time, and refuses another argument and a time it has no sea for.', async () => {
  assert.equal(openDemo('').defaultAsOf?.(AS_OF + 1799), AS_OF)
  assert.equal(openDemo('').defaultAsOf?.(AS_OF), AS_OF)
  assert.throws(() => openDemo('scal'), BuildError)
  assert.throws(() => openDemo('scaled,buoys=3'), BuildError)
  for (const asOf of [0, Date.UTC(2200, 0, 1) / 1000, NaN]) await assert.rejects(readDemo(asOf), BuildError)
})

test('A later demo has the rows of an earlier one, but for months that have left its window or were thinned.', () => {
  const moved = Date.UTC(2026, 5, 1) / 1000
  for (const [handle, buoy] of demo.all.entries()) {
    const { times, record } = buoy
    const next = halfHourLater.all[handle]
    assert.deepEqual(next.record, record)
    assert.ok(next.times.length - times.length <= 1, record.name)
    for (const name of ['times', ...NAMES] as const) {
      const list = (of: Collected): number[] => (name === 'times' ? of.times : of.codes[name])
      // Asserted once: there are ten million values.
      assert.ok(
        list(buoy).every((value, row) => list(next)[row] === value),
        `${record.name} ${name}`,
      )
    }
    if (record.virtual === true) continue
    const later = monthLater.all[handle]
    const rowAt = new Map(later.times.map((time, row) => [time, row]))
    const changed = times.find((time, row) => {
      if (time < moved && time % stepOf(buoy) !== 0) return false
      const other = rowAt.get(time)
      // Rows of thinned months do not tell swell from wind sea.
      const names = time < moved ? COMMON_NAMES : NAMES
      return other === undefined || names.some((name) => later.codes[name][other] !== buoy.codes[name][row])
    })
    assert.equal(changed, undefined, record.name)
  }
})

test('Three buoys stopped five hours, two days and a month ago, one never reported, and one never misses a report.', () => {
  for (const collector of [demo, halfHourLater, monthLater]) {
    const end = Math.max(...collector.buoys.map(newest))
    for (const buoy of collector.buoys) {
      const silence = end - newest(buoy)
      const least = (SILENT as { [identifier: string]: number })[buoy.record.identifier] ?? 0
      assert.ok(silence >= least && (silence < least + DAY || silence === Infinity), buoy.record.name)
    }
    const recent = collector.find('06402').times.filter((time) => time > end - 45 * DAY)
    assert.deepEqual([recent.length, recent.at(-1)], [45 * 48, end])
  }
})

test('The demo makes the rows, passes, forecasts and harbours that it made when this test was written.', () => {
  const hash = createHash('sha256')
  for (const { record, times, codes } of demo.all) {
    hash.update(JSON.stringify([record, times]))
    for (const name of NAMES) hash.update(codes[name].join())
  }
  const thousandths = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
  hash.update(JSON.stringify([demo.passes, demo.forecasts, demo.harbours], thousandths))
  assert.equal(hash.digest('hex').slice(0, 16), '38ad29dd72255512')
})

test('The scale generator makes the bytes that it made when this test was written, and others with another seed.', async () => {
  const digest = async (options: string): Promise<string> => {
    const hash = createHash('sha256')
    const { records, all } = await readScale(options)
    hash.update(JSON.stringify(records))
    for (const buoy of all) hash.update(rowsOf(buoy).join('\n'))
    return hash.digest('hex').slice(0, 16)
  }
  assert.equal(await digest('buoys=8,days=31'), '0f18b60fbb7eea3f')
  assert.notEqual(await digest('buoys=8,days=31,seed=10'), '0f18b60fbb7eea3f')
})

test('Bad options of the scale generator are refused with the option and what is allowed.', () => {
  const refused = [
    'buoys=0',
    'buoys=5001',
    'buoys=',
    'buoys',
    'buoys=1e3',
    'buoys=-3',
    'buoys= 3',
    'days=7301',
  ]
  refused.push('seed=4294967296', 'boys=3', 'toString=3', 'buoys=3,', 'x'.repeat(100_000))
  for (const options of refused) {
    const option = JSON.stringify(options.split(',').at(-1)!.slice(0, 20))
    const message = `demo:scale: not ${option}; allowed are buoys from 1 to 5000, days from 1 to 7300, seed from`
    assert.throws(
      () => openDemo(`scale,${options}`),
      (error) => error instanceof BuildError && error.message.startsWith(message),
      options.slice(0, 30),
    )
  }
})
