/**
 * The sea of the demonstration is one: neighbours agree, storms travel, and waves, wind and water fit
 * together.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RowBatch } from '../../src/sea/columns.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import type { Report } from '../../src/sources/source.ts'
import { RecordingSink } from './recording_sink.ts'

const AS_OF = Date.UTC(2026, 10, 22, 9, 30) / 1000
const HOUR = 3600
const DAY = 24 * HOUR
/** Codes a metre, and the code of what was not measured. */
const PER_METRE = 1000
const MISSING = 65_535

/** Significant heights, m, by buoy and time; directions by the same. */
class Heights extends RecordingSink {
  readonly identifiers: string[] = []
  readonly heights = new Map<string, Map<number, number>>()
  readonly winds = new Map<string, Map<number, number>>()

  override buoy(record: BuoyRecord): number {
    this.identifiers.push(record.source === 'UK Met Office' ? `UK ${record.identifier}` : record.identifier)
    this.heights.set(this.identifiers.at(-1)!, new Map())
    this.winds.set(this.identifiers.at(-1)!, new Map())
    return super.buoy(record)
  }

  rows(buoy: number, { time, length, columns }: RowBatch): void {
    const heights = this.heights.get(this.identifiers[buoy])!
    const winds = this.winds.get(this.identifiers[buoy])!
    for (let row = 0; row < length; row++) {
      const height = columns.significantHeight[row]
      if (height !== MISSING) heights.set(time[row], height / PER_METRE)
      if (columns.windSpeed[row] !== MISSING) winds.set(time[row], columns.windSpeed[row] / 100)
    }
  }
}

const SILENT: Report = {
  file: () => ({ rows() {}, skipped() {}, bad() {}, end() {} }),
  warn() {},
  withoutPosition() {},
}

const sea = new Heights()
await openDemo('').read(sea, { asOf: AS_OF, now: AS_OF, report: SILENT })

const heightsOf = (identifier: string): Map<number, number> =>
  sea.heights.get(identifier) ?? assert.fail(identifier)

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Median of |a − b| / max(a, b) over the times that both have from `from` on, before `to`. */
function disagreement(a: Map<number, number>, b: Map<number, number>, from: number, to: number): number {
  const shares = [...a].flatMap(([time, height]) => {
    const other = b.get(time)
    return other === undefined || time < from || time >= to
      ? []
      : [Math.abs(height - other) / Math.max(height, other)]
  })
  assert.ok(shares.length > 20)
  return median(shares)
}

/**
 * Correlation of the logarithms of heights, those of `b` taken `lag` seconds later, over six-hourly times.
 */
function correlation(a: Map<number, number>, b: Map<number, number>, lag: number): number {
  const pairs = [...a].flatMap(([time, height]) => {
    const other = b.get(time + lag)
    return other === undefined ? [] : [[Math.log(height), Math.log(other)] as const]
  })
  assert.ok(pairs.length > 500)
  const mean = (side: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length
  const [meanA, meanB] = [mean(0), mean(1)]
  let [both, squareA, squareB] = [0, 0, 0]
  for (const [x, y] of pairs) {
    both += (x - meanA) * (y - meanB)
    squareA += (x - meanA) ** 2
    squareB += (y - meanB) ** 2
  }
  return both / Math.sqrt(squareA * squareB)
}

test('In every week of a month and a half, Anglet and Saint-Jean-de-Luz differ by far less than 0.3.', (t) => {
  const weeks = Array.from({ length: 6 }, (_, i) => AS_OF - (i + 1) * 7 * DAY)
  const worst = Math.max(
    ...weeks.map((from) => disagreement(heightsOf('06402'), heightsOf('06403'), from, from + 7 * DAY)),
  )
  t.diagnostic(`the median of |a − b| / max(a, b), worst of six weeks: ${worst.toFixed(3)}`)
  assert.ok(worst < 0.3, `${worst}`)
})

test('Neighbours agree on every coast, and one mooring of two networks has one sea.', () => {
  const from = AS_OF - 40 * DAY
  const neighbours = [
    ['46026', '46214'],
    ['44025', '44097'],
    ['61001', '98000'],
    ['M3', '62163'],
  ] as const
  for (const [a, b] of neighbours) {
    assert.ok(correlation(heightsOf(a), heightsOf(b), 0) > 0.6, `${a} ${b}`)
  }
  const [ours, theirs] = [heightsOf('62163'), heightsOf('UK 62163')]
  assert.equal(disagreement(ours, theirs, from, AS_OF), 0)
  assert.ok(Math.abs(correlation(heightsOf('06402'), heightsOf('46042'), 0)) < 0.3, 'other oceans are apart')
})

test('Storms travel: swell is off Ireland a day before it is at Anglet, and off Alaska two before Monterey.', () => {
  for (const [from, to, first, last] of [
    ['M6', '06402', 12, 54],
    ['46001', '46042', 24, 84],
  ] as const) {
    const lags = Array.from({ length: 33 }, (_, i) => (i - 16) * 6)
    const found = lags.map((lag) => correlation(heightsOf(from), heightsOf(to), lag * HOUR))
    const best = lags[found.indexOf(Math.max(...found))]
    assert.ok(best >= first && best <= last, `${from} to ${to}: ${best} h`)
    assert.ok(Math.max(...found) > 0.5 && Math.max(...found) > found[16] + 0.1, `${from} to ${to}`)
  }
})

test('Where there are storms there is wind: the highest waves off Ireland come with more of it than the lowest.', () => {
  const [heights, winds] = [heightsOf('M6'), sea.winds.get('M6')!]
  const sorted = [...heights].filter(([time]) => winds.has(time)).toSorted((a, b) => a[1] - b[1])
  const tenth = Math.floor(sorted.length / 10)
  const windOf = (rows: typeof sorted): number => median(rows.map(([time]) => winds.get(time)!))
  assert.ok(windOf(sorted.slice(-tenth)) > 1.5 * windOf(sorted.slice(0, tenth)))
})

test('Heights keep the medians of their climates: 1.7 m in January and 0.8 m in July on the coast of Biscay.', () => {
  const monthly = (month: number): number =>
    median(
      [...heightsOf('06403')].flatMap(([time, height]) => {
        return new Date(time * 1000).getUTCMonth() === month ? [height] : []
      }),
    )
  assert.ok(Math.abs(Math.log(monthly(0) / 1.7)) < 0.35, `${monthly(0)}`)
  assert.ok(Math.abs(Math.log(monthly(6) / 0.8)) < 0.35, `${monthly(6)}`)
})
