/** Quality control: impossible values go, suspect ones are counted and stay, nothing is made up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import {
  countSuspect,
  newestReading,
  removeImpossible,
  spikesOf,
  withoutRows,
} from '../../src/builder/quality.ts'
import type { MonthTable } from '../../src/builder/month-tables.ts'
import { batchOf, type Codes, type FakeRow } from './fake_source.ts'

const START = Date.UTC(2026, 2, 1) / 1000
const HALF_HOUR = 1800

test('A highest wave below the significant height, or far beyond it, is taken out and counted; all else stays.', () => {
  const rows = fc.array(
    fc.record({
      time: fc.integer({ min: START, max: START + 100_000 }),
      significantHeight: fc.option(fc.integer({ min: 0, max: 25_000 }), { nil: undefined }),
      maximumHeight: fc.option(fc.integer({ min: 0, max: 50_000 }), { nil: undefined }),
      windSpeed: fc.constant(1234),
    }),
    { maxLength: 50 },
  )
  fc.assert(
    fc.property(rows, fc.integer({ min: START, max: START + 100_000 }), (given, latest) => {
      const batch = batchOf(given.map((row) => JSON.parse(JSON.stringify(row)) as FakeRow))
      let low = 0
      let high = 0
      const newest = newestReading(batch, latest)
      removeImpossible(batch, false, (what) => (what === 'low' ? low++ : high++))
      const waves = given.filter((row) => row.significantHeight !== undefined)
      const times = waves.map(({ time }) => time).filter((time) => time <= latest)
      assert.equal(newest, Math.max(-1, ...times))
      const faults = waves.map(({ significantHeight: height = 0, maximumHeight: highest }) => {
        if (highest === undefined) return 'none'
        if (highest < height) return 'low'
        return highest > 3.7 * (height + 50) ? 'high' : 'fine'
      })
      assert.equal(low, faults.filter((fault) => fault === 'low').length, 'low')
      assert.equal(high, faults.filter((fault) => fault === 'high').length, 'high')
      given.forEach(({ significantHeight, maximumHeight }, row) => {
        const isOut =
          significantHeight !== undefined &&
          maximumHeight !== undefined &&
          (maximumHeight < significantHeight || maximumHeight > 3.7 * (significantHeight + 50))
        const expected = isOut ? undefined : maximumHeight
        assert.equal(batch.columns.maximumHeight[row], expected ?? MEASURES.maximumHeight.missing)
        assert.equal(
          batch.columns.significantHeight[row],
          significantHeight ?? MEASURES.significantHeight.missing,
        )
        assert.equal(batch.columns.windSpeed[row], 1234)
      })
    }),
  )
})

/**
 * Values of a measure, those that stay, and what is said of the others; last of rows that their operator
 * controls.
 */
const LIMITS: [name: MeasureName, given: number[], stay: number[], said: string[], saidOfOwn: string[]][] = [
  // 3.7 times 1.05 m are 3.885 m.
  ['maximumHeight', [999, 1000, 3885, 3886], [1000, 3885], ['low', 'high'], []],
  ['period', [0, 1, 8000], [1, 8000], ['zeroPeriod'], ['zeroPeriod']],
  ['peakPeriod', [0, 1, 9000], [1, 9000], ['zeroPeriod'], ['zeroPeriod']],
  ['swellPeriod', [0, 1, 9000], [1, 9000], ['zeroPeriod'], ['zeroPeriod']],
  ['windWavePeriod', [0, 1, 9000], [1, 9000], ['zeroPeriod'], ['zeroPeriod']],
  ['windSpeed', [30_000, 30_001], [30_000], ['wind'], []],
  ['gustSpeed', [35_000, 35_001], [35_000], ['wind'], []],
]

test('A value at its limit stays and one beyond goes; of rows that their operator controls only periods of 0 go.', () => {
  for (const [name, given, stay, said, saidOfOwn] of LIMITS) {
    for (const isOwn of [false, true]) {
      const batch = batchOf(
        given.map((value, i) => ({ time: START + i, significantHeight: 1000, [name]: value })),
      )
      const reported: string[] = []
      removeImpossible(batch, isOwn, (what) => reported.push(what))
      assert.deepEqual(reported, isOwn ? saidOfOwn : said, name)
      const left = [...batch.columns[name].subarray(0, given.length)]
      const isKept = isOwn && !name.toLowerCase().includes('period')
      assert.deepEqual(
        left.filter((value) => value !== MEASURES[name].missing),
        isKept ? given : stay,
        name,
      )
      assert.ok(batch.columns.significantHeight.subarray(0, given.length).every((value) => value === 1000))
    }
  }
})

test('A sensor that shows a flat sea for a week is suspect, one that does so for six days or moves now and then is not.', () => {
  const flat = (halfDays: number, every = -1): FakeRow[] =>
    Array.from({ length: halfDays * 24 + 1 }, (_, i) => ({
      time: START + i * HALF_HOUR,
      significantHeight: i % every === 1 ? 60 : (i * 7) % 51,
    }))
  assert.deepEqual(suspects(tableOf(flat(14))), ['1 dead 337'])
  assert.deepEqual(suspects(tableOf(flat(12))), [])
  assert.deepEqual(suspects(tableOf(flat(28, 300))), [])
  // A week of which only the ends are known says little.
  assert.deepEqual(suspects(tableOf([flat(1)[0], { time: START + 8 * 86_400, significantHeight: 0 }])), [])
  assert.deepEqual(suspects(tableOf([...flat(16), { time: START + 9 * 86_400, significantHeight: 1000 }])), [
    '1 dead 385',
  ])
})

/** A table of one buoy for each list of rows; ids from 1. */
function tableOf(...buoys: FakeRow[][]): MonthTable {
  const rows = buoys.flat()
  const batch = batchOf(rows)
  const start = [0]
  for (const list of buoys) start.push(start.at(-1)! + list.length)
  return {
    month: 674,
    buoys: Uint32Array.from(buoys, (_, i) => i + 1),
    start: Uint32Array.from(start),
    time: batch.time.slice(0, rows.length),
    columns: batch.columns,
  }
}

function halfHours(...codes: Codes[]): FakeRow[] {
  return codes.map((row, i) => ({ time: START + i * HALF_HOUR, ...row }))
}

function suspects(table: MonthTable): string[] {
  const reported: string[] = []
  countSuspect(table, (buoy, reason, readings) => reported.push(`${buoy} ${reason} ${readings}`))
  return reported
}

const heights = (...metres: number[]): Codes[] =>
  metres.map((height) => ({ significantHeight: height * 1000 }))

test('Each reason counts the readings that are suspect for it, and no others.', () => {
  const calm = { significantHeight: 1000, period: 8000, direction: 27_000 }
  const stuck = Array.from({ length: 13 }, () => calm)
  const cases: [rows: FakeRow[], expected: string[]][] = [
    [halfHours({ significantHeight: 5000, period: 4000 }), ['1 steep 1']],
    [halfHours({ significantHeight: 5000, period: 12_000 }), []],
    // The peak period counts where there is one.
    [halfHours({ significantHeight: 5000, period: 4000, peakPeriod: 12_000 }), []],
    [
      halfHours({ significantHeight: 100, period: 30_100 }, { significantHeight: 100, period: 500 }),
      ['1 period 2'],
    ],
    [
      halfHours(
        { significantHeight: 0, waterTemperature: -251 },
        { significantHeight: 0, waterTemperature: 4001 },
      ),
      ['1 water 2'],
    ],
    [
      halfHours(
        { significantHeight: 0, waterTemperature: -250 },
        { significantHeight: 0, waterTemperature: 4000 },
      ),
      [],
    ],
    [halfHours(...heights(1, 4, 1)), ['1 spike 1', '1 jump 2']],
    [halfHours(...heights(1, 1.9, 1)), []],
    [halfHours(...heights(6, 8.5, 6)), []],
    [halfHours(...heights(1, 4, 4)), ['1 jump 1']],
    // Of 2 m, and of a millimetre more; within an hour, and a second beyond it.
    [halfHours(...heights(1, 3, 3)), []],
    [halfHours(...heights(1, 3.001, 3.001)), ['1 jump 1']],
    [halfHours(...heights(1, 2.5, 2.5)), []],
    [heights(1, 4, 4).map((row, i) => ({ time: START + i * 3600, ...row })), ['1 jump 1']],
    [heights(1, 4, 4).map((row, i) => ({ time: START + i * 3601, ...row })), []],
    [halfHours(...stuck), ['1 stuck 13']],
    // Twelve readings, but not six hours.
    [halfHours(...stuck.slice(1)), []],
    [halfHours(...stuck.slice(1), { ...calm, direction: 27_100 }), []],
    [halfHours(...stuck.map(() => ({ significantHeight: 1000 }))), []],
    [halfHours(...stuck.map(() => ({ significantHeight: 0, period: 8000 }))), []],
    // Hours apart, nothing is a spike.
    [heights(1, 4, 1).map((row, i) => ({ time: START + i * 10_800, ...row })), []],
  ]
  for (const [rows, expected] of cases)
    assert.deepEqual(suspects(tableOf(rows)), expected, JSON.stringify(rows.slice(0, 3)))
})

test('Each buoy is looked at by itself.', () => {
  assert.deepEqual(
    suspects(tableOf(halfHours(...heights(1)), halfHours(...heights(9)), [], halfHours(...heights(1, 4, 1)))),
    ['4 spike 1', '4 jump 2'],
  )
})

test('Counting suspect readings changes nothing.', () => {
  const code = (name: MeasureName): fc.Arbitrary<number> =>
    fc.integer({
      min: Math.round(MEASURES[name].min * MEASURES[name].scale),
      max: Math.round(MEASURES[name].max * MEASURES[name].scale),
    })
  const row = fc.record(Object.fromEntries(MEASURE_NAMES.map((name) => [name, code(name)])))
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (codes) => {
      const table = tableOf(halfHours(...(codes as Codes[])))
      const before = JSON.stringify(MEASURE_NAMES.map((name) => [...table.columns[name]]))
      for (const line of suspects(table)) {
        const readings = Number(line.split(' ')[2])
        assert.ok(readings > 0 && readings <= codes.length, line)
      }
      assert.equal(JSON.stringify(MEASURE_NAMES.map((name) => [...table.columns[name]])), before)
    }),
  )
})

test('Each spike is named with its time and its neighbours, as many as are counted.', () => {
  const table = tableOf(
    halfHours(...heights(1, 4, 1, 1.2)),
    halfHours(...heights(2, 2)),
    halfHours(...heights(9, 1, 9)),
  )
  const found = spikesOf(table)
  assert.deepEqual(
    found.map(({ row, buoy, text }) => [row, buoy, text.slice(21)]),
    [
      [1, 1, ' 4 m between 1 and 1 m'],
      [7, 3, ' 1 m between 9 and 9 m'],
    ],
  )
  assert.match(found[0].text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: /)
})

test('A month without some rows has the other ones, buoy by buoy, and no buoy without a row.', () => {
  const buoys = fc.array(fc.array(fc.record({ height: fc.nat(9), stays: fc.boolean() }), { maxLength: 5 }), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(buoys, (lists) => {
      const table = tableOf(
        ...lists.map((rows) => halfHours(...heights(...rows.map(({ height }) => height)))),
      )
      const all = lists.flat()
      const less = withoutRows(table, new Set(all.flatMap(({ stays }, row) => (stays ? [] : [row]))))
      const columns = less.columns.significantHeight
      const found = Array.from(less.buoys, (id, i) => [
        id,
        Array.from(columns.subarray(less.start[i], less.start[i + 1])),
      ])
      const expected = lists.flatMap((rows, i) => {
        const left = rows.filter(({ stays }) => stays).map(({ height }) => height * 1000)
        const isUntouched = all.every(({ stays }) => stays)
        return left.length > 0 || isUntouched ? [[i + 1, left]] : []
      })
      assert.deepEqual(found, expected)
      assert.equal(less.time.length, all.filter(({ stays }) => stays).length)
    }),
  )
})
