/** Where a station is by all of its fixes, and which rows of a file are those of one station. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MeasureName } from '../../src/sea/columns.ts'
import type { RowBatch } from '../../src/sea/row-batch.ts'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openCsv } from '../../src/sources/csv.ts'
import { openMeteofrance } from '../../src/sources/meteofrance.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { Positions } from '../../src/sources/reading/stations.ts'
import { WaitingRows } from '../../src/sources/reading/waiting-rows.ts'
import type { OpenSource } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { type Files, folderOf, identifiersOf, record, RecordingSink } from './recorder.ts'

type Fixed = readonly [hours: number, lat: number, lng: number]

function settle(...fixes: Fixed[]) {
  const positions = new Positions()
  for (const [hours, lat, lng] of fixes) positions.add(hours * 3600, lat, lng)
  const { at, strays, several } = positions.settle()
  return { at: at === null ? null : [at.lat, at.lng], strays, several, zeros: positions.zeros }
}

const moored = (hours: number, lat = 50, lng = -5): Fixed[] =>
  Array.from({ length: hours }, (_, i) => [i, lat + (i % 3) / 1000, lng])

test('A fix that a mooring cannot have moved to does not count, wherever it comes', () => {
  const bad = fc.constantFrom<Fixed>([30, -50, -5], [5.5, 50, 5], [-1, 52, -5], [12, 5, -50])
  fc.assert(
    fc.property(bad, fc.integer({ min: 0, max: 20 }), (fix, at) => {
      const { at: place, strays, several } = settle(...moored(20).toSpliced(at, 0, fix))
      assert.ok(place !== null && Math.abs(place[0] - 50) < 0.01, JSON.stringify(place))
      assert.deepEqual([strays, several], [1, false])
    }),
  )
})

test('Fixes of two places at the same times are those of two stations, in any order', () => {
  const two = [...moored(6, -30.36, 153.27), ...moored(6, -31.98, 115.4)]
  fc.assert(
    fc.property(fc.shuffledSubarray(two, { minLength: 12 }), (fixes) => {
      assert.equal(settle(...fixes).several, true)
    }),
  )
})

const moved = moored(20).concat(moored(20, 52).map(([hours, lat, lng]): Fixed => [hours + 400, lat, lng]))
const drift = Array.from({ length: 500 }, (_, i): Fixed => [i * 24, -60 + i / 10, 20])
const STILL = '24 50 -5, 48 50 -5.001'

/** Fixes as `HOURS LAT LNG`, and where they are: `LAT LNG`. */
const SETTLED: [what: string, fixes: string | Fixed[], at: string, strays?: number, several?: boolean][] = [
  ['impossible ones', '1 NaN 3, 2 91 3, 3 3 361', ''],
  ['a longitude to 360', '1 -10 350', '-10 -10'],
  ['0 0, which is none', '0 0 0, 2 0 360, 2 0 0.5', '0 0.5'],
  ['neither of two as the likelier', '0 66 2, 1 -66 2', '66 2', 1, true],
  ['a buoy that is laid elsewhere', moved, '52.001 -5'],
  ['a drifter, where it was last', drift.toSpliced(250, 0, [6001, 80, 20]), '-10.1 20', 1],
  ['a drifter backwards', drift.toReversed(), '-10.1 20'],
  ['a jump of what lay still', `${STILL}, 72 50.1 -5`, '50 -5.001'],
  ['a jump to where it stays', `${STILL}, 72 50.1 -5, 96 50.1 -5.001`, '50.1 -5.001'],
  ['a mooring that swings by less than 1 km', `${STILL}, 72 50.0089 -5.001`, '50.0089 -5.001'],
  ['one that leaps by more', `${STILL}, 72 50.0091 -5.001`, '50 -5.001'],
  ['steps of a drifter', '24 50 -5, 48 50.1 -5.1, 72 50.2 -5.2', '50.2 -5.2'],
  // A degree of latitude is 111.2 km; nothing drifts faster than 20 km/h.
  ['199 km in ten hours', '0 50 0, 10 51.79 0', '51.79 0'],
  ['201 km in ten hours', '0 50 0, 10 51.81 0', '50 0', 1, true],
]

test('The newest steady position counts, strays are counted, and several stations are told', () => {
  for (const [what, given, expected, strays = 0, several = false] of SETTLED) {
    const read = (text: string): Fixed[] => text.split(', ').map((fix) => fix.split(' ').map(Number) as never)
    const found = settle(...(typeof given === 'string' ? read(given) : given))
    const at = (found.at ?? []).map((degrees) => Math.round(degrees * 1e6) / 1e6).join(' ')
    assert.deepEqual([at, found.strays, found.several], [expected, strays, several], what)
  }
  assert.equal(settle([0, 0, 0], [1, 0, 0], [2, 0, 360]).zeros, 3)
})

class Counting extends RecordingSink {
  sent = 0

  rows(_: number, { length }: RowBatch): void {
    this.sent += length
  }
}

const NAMES: MeasureName[] = ['significantHeight', 'period']
const DAY = 1_700_006_400

type MinuteRow = readonly [minute: number, height: number, period?: number]

/** What is sent and doubted of rows of one buoy: minutes after a midnight, heights in mm, periods in ms. */
function sentOf(...rows: MinuteRow[]): [sent: number, doubts: string] {
  const sink = new Counting()
  const doubts: string[] = []
  const waiting = new WaitingRows(sink, (kind, example) => void doubts.push(`${kind}: ${example}`))
  for (const [minute, height, period = 8000] of rows)
    waiting.add(7, DAY + minute * 60, NAMES, Int32Array.of(height, period))
  waiting.end(true, '; BUOY may tell them apart')
  return [sink.sent, doubts.join()]
}

const day = Array.from({ length: 48 }, (_, i): MinuteRow => [i * 30, 1000])
const other = day.map(([minute]): MinuteRow => [minute, 2500])

test('A station with two wave heights at many of its times is several, and none of its rows is sent', () => {
  const mixed = 'mixed: at 2023-11-15T00:00:00Z 1 and 2.5 m; BUOY may tell them apart'
  assert.deepEqual(sentOf(...day, ...other), [0, mixed])
  // Row by row, and with the newest row first, it is the same.
  assert.equal(sentOf(...day.flatMap((row, i) => [row, other[i]]))[0], 0)
  assert.equal(sentOf(...[...other, ...day].reverse())[0], 0)
  // Corrections, a clock set back, and rows that come again are one station's.
  assert.deepEqual(sentOf(...day, ...other.slice(0, 4)), [52, ''])
  assert.equal(sentOf(...day, ...other.slice(0, 5))[0], 0)
  assert.deepEqual(sentOf(...day, ...day), [96, ''])
  // Of few times most decide.
  const twice = day.slice(0, 1).concat(other.slice(0, 1))
  assert.equal(sentOf(...twice)[0], 0)
  assert.equal(sentOf(...twice, [30, 1000])[0], 3)
})

test('Rows of a file that does not count are not sent; one too long to be held back ends its source', () => {
  const sink = new Counting()
  const rows = (count: number): WaitingRows => {
    const waiting = new WaitingRows(sink, () => undefined)
    for (let i = 0; i < count; i++) waiting.add(i % 3, DAY + i, NAMES, Int32Array.of(1000, 8000))
    return waiting
  }
  rows(1000).end(false)
  assert.equal(sink.sent, 0)
  const long = rows(2 ** 21 + 1)
  assert.throws(() => long.end(false), BuildError)
  long.end(true)
  assert.equal(sink.sent, 2 ** 21 + 1)
})

const STANDARD = '#YY MM DD hh mm WVHT DPD\n'
const LATEST = '#STN LAT LON YYYY MM DD hh mm WVHT DPD\n'
const FRENCH = 'numer_sta;date;lat;lon;HwaHwa;\n'
const CSV = 'source,identifier,time,significant_height\n'
const BAD = 'x\n'.repeat(3)

const HALF_BAD: [open: OpenSource, files: Files][] = [
  [
    openCsv,
    {
      'sources.csv': 'name,network\nA,national\n',
      'buoys.csv': 'source,identifier,name,lat,lng\nA,1,One,1,2\n',
      'readings/good.csv': `${CSV}A,1,2024-03-01T00:00:00Z,1\n`,
      'readings/half.csv': `${CSV}A,1,2024-03-02T00:00:00Z,1\n${BAD}`,
    },
  ],
  [
    openMeteofrance,
    {
      'marine.20240301.csv': `${FRENCH}61001;20240301000000;43;7;1;\n`,
      'marine.20240302.csv': `${FRENCH}61001;20240302000000;43;7;1;\n${BAD}`,
    },
  ],
  [
    openCandhis,
    {
      'candhis_stations.csv': 'ID,name,lat,lon\n06403,A,43,-2\n',
      'Candhis_06403_2023_arch.csv': 'DateHeure;H13D\n2024-03-01 00:00:00;1\n',
      'Candhis_06403_2024_arch.csv': `DateHeure;H13D\n2024-03-02 00:00:00;1\n${BAD}`,
    },
  ],
  [
    openNdbc,
    {
      'latest_obs/latest_obs_1.txt': `${LATEST}41001 34 -72 2024 03 01 01 00 1 8\n`,
      'latest_obs/latest_obs_2.txt': `${LATEST}41002 34 -72 2024 03 02 01 00 1 8\n${BAD}`,
      'stdmet/41001h2023.txt': `${STANDARD}2024 03 01 00 00 1 8\n`,
      'stdmet/41001h2024.txt': `${STANDARD}2024 03 02 00 00 1 8\n${BAD}`,
    },
  ],
]

test('A file with more bad lines than may be is left out by every kind that reads lines; the others of its source are read', async (t) => {
  for (const [open, files] of HALF_BAD) {
    const folder = await folderOf(t, files)
    const { rows, buoys } = await record(open, folder, 0.1)
    const times = [...rows.values()].flat().map(({ time }) => time.slice(0, 10))
    assert.deepEqual([...new Set(times)], ['2024-03-01'], Object.keys(files)[0])
    assert.equal(identifiersOf(buoys).length, 1)
    const all = [...(await record(open, folder)).rows.values()].flat()
    assert.ok(all.some(({ time }) => time.startsWith('2024-03-02')))
  }
})
