import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MeasureName } from '../../src/sea/columns.ts'
import type { RowBatch } from '../../src/sea/row-batch.ts'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openCsv } from '../../src/sources/csv/csv.ts'
import { openMeteofrance } from '../../src/sources/meteofrance.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { WaitingRows } from '../../src/sources/reading/stations.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { folderOf, identifiersOf, record } from './recorder.ts'
import { RecordingSink } from './recording_sink.ts'

class Counting extends RecordingSink {
  readonly sent: [buoy: number, rows: number][] = []

  rows(buoy: number, { length }: RowBatch): void {
    this.sent.push([buoy, length])
  }
}

const NAMES: MeasureName[] = ['significantHeight', 'period']
const DAY = 1_700_006_400

/** What is sent and doubted of rows of one buoy: minutes after a midnight, heights in mm, periods in ms. */
function sentOf(rows: readonly (readonly [minute: number, height: number, period?: number])[]): {
  sent: number
  doubts: string[]
} {
  const sink = new Counting()
  const doubts: string[] = []
  const waiting = new WaitingRows(sink, (kind, example) => void doubts.push(`${kind}: ${example}`))
  for (const [minute, height, period = 8000] of rows)
    waiting.add(7, DAY + minute * 60, NAMES, Int32Array.of(height, period))
  waiting.end(true, '; BUOY may tell them apart')
  return { sent: sink.sent.reduce((sum, [, count]) => sum + count, 0), doubts }
}

const day = Array.from({ length: 48 }, (_, i) => [i * 30, 1000] as const)

test('A station with two wave heights at many of its times is several, and none of its rows is sent', () => {
  const other = day.map(([minute]) => [minute, 2500] as const)
  const mixed = sentOf([...day, ...other])
  assert.deepEqual(mixed, {
    sent: 0,
    doubts: ['mixed: at 2023-11-15T00:00:00Z 1 and 2.5 m; BUOY may tell them apart'],
  })
  // Row by row, and with the newest row first, it is the same.
  assert.equal(
    sentOf(
      day.flatMap(
        ([minute, height]) =>
          [
            [minute, height],
            [minute, 2500],
          ] as const,
      ),
    ).sent,
    0,
  )
  assert.equal(sentOf([...other, ...day].reverse()).sent, 0)
  // Corrections, a clock set back, and rows that come again are one station's.
  assert.deepEqual(sentOf([...day, ...other.slice(0, 4)]), { sent: 52, doubts: [] })
  assert.equal(sentOf([...day, ...other.slice(0, 5)]).sent, 0)
  assert.deepEqual(sentOf([...day, ...day]), { sent: 96, doubts: [] })
  // Of few times most decide.
  assert.equal(
    sentOf([
      [0, 1000],
      [0, 2000],
    ]).sent,
    0,
  )
  assert.equal(
    sentOf([
      [0, 1000],
      [0, 2000],
      [30, 1000],
    ]).sent,
    3,
  )
})

test('A file with waves too steep for their periods is told, and its rows are sent', () => {
  const steep = day.map(([minute]) => [minute, 20_000, 8100] as const)
  assert.deepEqual(sentOf(steep), { sent: 48, doubts: ['steep: 48 of 48 rows'] })
  assert.deepEqual(sentOf([...steep.slice(0, 24), ...day.slice(24)]).doubts, [])
  // A steepness of 0.1 at 8 s is a height of 9.99 m.
  assert.deepEqual(sentOf([[0, 9990]]).doubts, [])
  assert.equal(sentOf([[0, 9995]]).doubts.length, 1)
})

test('Rows of a file that does not count are not sent; one too long to be held back ends its source', () => {
  const sink = new Counting()
  const rows = (count: number): WaitingRows => {
    const waiting = new WaitingRows(sink, () => undefined)
    for (let i = 0; i < count; i++) waiting.add(i % 3, DAY + i, NAMES, Int32Array.of(1000, 8000))
    return waiting
  }
  rows(1000).end(false)
  assert.equal(sink.sent.length, 0)
  const long = rows(2 ** 21 + 1)
  assert.throws(() => long.end(false), BuildError)
  long.end(true)
  assert.equal(
    sink.sent.reduce((sum, [, count]) => sum + count, 0),
    2 ** 21 + 1,
  )
})

test('A file with more bad lines than may be is left out by every kind that reads lines; the others of its source are read', async (t) => {
  const bad = 'x\n'.repeat(3)
  const csv = await folderOf(t, {
    'sources.csv': 'name,network\nA,national\n',
    'buoys.csv': 'source,identifier,name,lat,lng\nA,1,One,1,2\n',
    'readings/good.csv': 'source,identifier,time,significant_height\nA,1,2024-03-01T00:00:00Z,1\n',
    'readings/half.csv': `source,identifier,time,significant_height\nA,1,2024-03-02T00:00:00Z,1\n${bad}`,
  })
  const met = 'numer_sta;date;lat;lon;HwaHwa\n'
  const meteofrance = await folderOf(t, {
    'marine.20240301.csv': `${met}61001;20240301000000;43;7;1\n`,
    'marine.20240302.csv': `${met}61001;20240302000000;43;7;1\n${bad}`,
  })
  const candhis = await folderOf(t, {
    'candhis_stations.csv': 'ID,name,lat,lon\n06403,A,43,-2\n',
    'Candhis_06403_2023_arch.csv': 'DateHeure;H13D\n2024-03-01 00:00:00;1\n',
    'Candhis_06403_2024_arch.csv': `DateHeure;H13D\n2024-03-02 00:00:00;1\n${bad}`,
  })
  const std = '#YY MM DD hh mm WVHT DPD\n'
  const latest = '#STN LAT LON YYYY MM DD hh mm WVHT DPD\n'
  const ndbc = await folderOf(t, {
    'latest_obs/latest_obs_1.txt': `${latest}41001 34 -72 2024 03 01 01 00 1 8\n`,
    'latest_obs/latest_obs_2.txt': `${latest}41002 34 -72 2024 03 02 01 00 1 8\n${bad}`,
    'stdmet/41001h2023.txt': `${std}2024 03 01 00 00 1 8\n`,
    'stdmet/41001h2024.txt': `${std}2024 03 02 00 00 1 8\n${bad}`,
  })
  for (const [open, folder] of [
    [openCsv, csv],
    [openMeteofrance, meteofrance],
    [openCandhis, candhis],
    [openNdbc, ndbc],
  ] as const) {
    const { rows, buoys } = await record(open, folder, 0.1)
    const times = [...rows.values()].flat().map(({ time }) => time.slice(0, 10))
    assert.deepEqual([...new Set(times)], ['2024-03-01'], folder)
    assert.equal(identifiersOf(buoys).length, 1)
    assert.match([...(await record(open, folder)).rows.values()].flat().at(-1)!.time, /^2024-03-0[12]/)
  }
})
