/**
 * Heights and extremes of the tide, against tide-predictor, against what NOAA published, and against a look
 * at every half minute.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTidePredictor } from '@neaps/tide-predictor'
import * as fc from 'fast-check'
import { Tides, type Extreme } from '../../src/index/tides.ts'
import { readTides } from '../../src/snapshot/part-kinds.ts'
import { tidesPart } from '../../src/snapshot/make-tides.ts'
import type { HarbourRecord } from '../../src/sea/records.ts'
import CONSTANTS from './harbour-constants.json' with { type: 'json' }

const HOUR = 3600
const DAY = 86_400
const EPOCH = Date.UTC(2026, 2, 27, 9) / 1000

type Constants = readonly (readonly [name: string, amplitude: number, phase: number])[]

function harbourOf(constants: Constants, datumOffset = 0, place: Partial<HarbourRecord> = {}): HarbourRecord {
  return {
    identifier: 'h',
    name: 'Harbour',
    lat: 0,
    lng: 0,
    datumOffset,
    credit: 'made up',
    constituents: constants.map(([name, amplitude, phase]) => ({ name, amplitude, phase })),
    ...place,
  }
}

function tidesOf(...harbours: HarbourRecord[]): Tides {
  return new Tides(readTides(tidesPart(harbours).part, 'test'))
}

function predictorOf(constants: Constants, datumOffset: number) {
  return createTidePredictor(
    constants.map(([name, amplitude, phase]) => ({ name, amplitude, phase })),
    {
      offset: datumOffset,
      nodeCorrections: 'schureman',
      // Where the constituents make double waters, extremes of millimetres are real.
      ...(constants === MADE_UP['with double waters'] && { prominenceThreshold: 0 }),
    },
  )
}

/** Every extreme after `from` up to `to`, each asked for at the time of the one before. */
function extremesBetween(tides: Tides, from: number, to: number): Extreme[] {
  const extremes: Extreme[] = []
  for (
    let extreme = tides.next(0, from);
    extreme !== null && extreme.time <= to;
    extreme = tides.next(0, extreme.time)
  )
    extremes.push(extreme)
  return extremes
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}

/**
 * What NOAA publishes for Monterey, station 9413450 (m, degrees from Greenwich; US public domain), and
 * made-up harbours of each kind. M1 and M3 are not in them: tide-predictor turns
 * them differently.
 */
const { Monterey: MONTEREY, ...MADE_UP } = CONSTANTS as unknown as { readonly [harbour: string]: Constants }

for (const [kind, constants] of Object.entries(MADE_UP)) {
  test(`A harbour ${kind} has the heights that tide-predictor finds, from 1990 to 2045.`, () => {
    const tides = tidesOf(harbourOf(constants, 1.5))
    const predictor = predictorOf(constants, 1.5)
    // The predictor gives heights for times on a grid of ten minutes.
    for (let hour = Date.UTC(1990, 0, 1) / 3.6e6; hour < Date.UTC(2045, 0, 1) / 3.6e6; hour += 1135) {
      const { level } = predictor.getWaterLevelAtTime({ time: new Date(hour * 3.6e6) })
      const difference = tides.height(0, hour * HOUR) - level
      assert.ok(Math.abs(difference) < 0.002, `${difference} m at hour ${hour}`)
    }
  })

  test(`A harbour ${kind} has the high and low waters that tide-predictor finds.`, () => {
    const tides = tidesOf(harbourOf(constants, 1.5))
    const predictor = predictorOf(constants, 1.5)
    const end = EPOCH + 60 * DAY
    const expected = predictor
      .getExtremesPrediction({ start: new Date((EPOCH - DAY) * 1000), end: new Date((end + DAY) * 1000) })
      .map(({ time, level, high }) => ({ time: time.getTime() / 1000, level, high }))
    const extremes = extremesBetween(tides, EPOCH, end)
    assert.ok(extremes.length > 55)
    // Where the water stands nearly still for an hour the predictor's wider steps miss a pair of extremes, or
    // the two differ in what a wiggle is.
    let alone = expected.filter(
      ({ time, high }) =>
        time > EPOCH &&
        time <= end &&
        !extremes.some((extreme) => Math.abs(extreme.time - time) < 20 * 60 && extreme.high === high),
    ).length
    for (const extreme of extremes) {
      const twin = expected.find(
        ({ time, high }) => Math.abs(time - extreme.time) < 20 * 60 && high === extreme.high,
      )
      if (twin === undefined) alone++
      else assert.ok(Math.abs(twin.level - extreme.height) < 0.002)
    }
    assert.ok(alone <= 0.03 * extremes.length, `${alone} of ${extremes.length} extremes are not there`)
    const apart = extremes.map(({ time }) => Math.min(...expected.map((twin) => Math.abs(twin.time - time))))
    assert.ok(median(apart) < 60, `median ${median(apart)} s`)
  })
}

const MONTEREY_DATUM = 0.862

test('The eight high and low waters that NOAA published for Monterey on 13 and 14 July 2016 come within minutes and 3 cm.', () => {
  // Pacific daylight time, feet above MLLW.
  const published: [day: number, hour: number, minute: number, feet: number, high: boolean][] = [
    [13, 1, 18, 1.44, false],
    [13, 7, 3, 3.07, true],
    [13, 11, 58, 2.01, false],
    [13, 18, 50, 5.01, true],
    [14, 2, 10, 1.01, false],
    [14, 8, 19, 3.14, true],
    [14, 12, 48, 2.26, false],
    [14, 19, 29, 5.2, true],
  ]
  const tides = tidesOf(harbourOf(MONTEREY, MONTEREY_DATUM))
  const extremes = extremesBetween(tides, Date.UTC(2016, 6, 13, 7) / 1000, Date.UTC(2016, 6, 15, 6) / 1000)
  assert.equal(extremes.length, published.length)
  const apart = extremes.map(({ time, height, high }, i) => {
    const [day, hour, minute, feet, expectedHigh] = published[i]
    assert.equal(high, expectedHigh)
    assert.ok(Math.abs(height - feet * 0.3048) < 0.03, `${height} m`)
    return Math.abs(time - Date.UTC(2016, 6, day, hour + 7, minute) / 1000)
  })
  assert.ok(median(apart) <= 120, `median ${median(apart)} s`)
  assert.ok(Math.max(...apart) <= 5 * 60, `at most ${Math.max(...apart)} s`)
})

/** Amplitudes in millimetres. */
const anyConstants: fc.Arbitrary<Constants> = fc
  .record({
    M2: fc.nat(4000),
    S2: fc.nat(1500),
    N2: fc.nat(1000),
    K1: fc.nat(900),
    O1: fc.nat(900),
    M4: fc.nat(400),
    M6: fc.nat(100),
    SA: fc.nat(300),
    phase: fc.nat(359),
  })
  .map(({ phase, ...amplitudes }) =>
    Object.entries(amplitudes).map(([name, mm], i) => [name, mm / 1000, (phase * (i + 1)) % 360] as const),
  )

/** Least range that the product documents, written out again. */
function leastRangeOf(constants: Constants): number {
  const of = (name: string): number => constants.find(([known]) => known === name)?.[1] ?? 0
  if (of('M2') > of('K1') + of('O1') && of('M4') > 0.25 * of('M2')) return 0
  const daily = constants.filter(([name]) => name !== 'SA').reduce((sum, [, amplitude]) => sum + amplitude, 0)
  return Math.min(0.01, 0.02 * daily)
}

test('Up to the next high the water never falls by the least range, and the high is the highest; lows likewise.', () => {
  fc.assert(
    fc.property(
      anyConstants,
      fc.integer({ min: -40, max: 40 }),
      fc.integer({ min: 0, max: 4 * DAY }),
      (constants, years, seconds) => {
        fc.pre(constants.some(([name, amplitude]) => name !== 'SA' && amplitude >= 0.01))
        const tides = tidesOf(harbourOf(constants))
        const time = EPOCH + years * 365 * DAY + seconds
        const extreme = tides.next(0, time)
        assert.ok(extreme !== null && extreme.time > time)
        assert.equal(extreme.height, tides.height(0, extreme.time))
        const sign = extreme.high ? 1 : -1
        let farthest = -Infinity
        let back = 0
        for (let at = time; at <= extreme.time + 30; at += 30) {
          const level = sign * tides.height(0, at)
          farthest = Math.max(farthest, level)
          back = Math.max(back, farthest - level)
        }
        // Half a minute and half a second of rounding move the water by less than 0.1 mm near an extreme.
        assert.ok(farthest <= sign * extreme.height + 1e-4, `${farthest} above ${sign * extreme.height}`)
        assert.ok(back <= leastRangeOf(constants) + 1e-4, `falls back by ${back}`)
        const following = tides.next(0, extreme.time)
        assert.ok(following !== null)
        assert.equal(following.high, !extreme.high)
        assert.ok(sign * (extreme.height - following.height) >= leastRangeOf(constants) - 1e-4)
      },
    ),
    { numRuns: 150 },
  )
})

test('Highs and lows alternate over a year, across every border of a table.', () => {
  for (const constants of [...Object.values(MADE_UP), MONTEREY]) {
    const extremes = extremesBetween(tidesOf(harbourOf(constants)), EPOCH, EPOCH + 365 * DAY)
    assert.ok(extremes.length > 500)
    for (let i = 1; i < extremes.length; i++) {
      assert.equal(extremes[i].high, !extremes[i - 1].high, `extreme ${i}`)
      assert.ok(extremes[i].time - extremes[i - 1].time < 2 * DAY, `extreme ${i}`)
    }
  }
})

test('The same extreme is found from everywhere before it, and at its very second the next one.', () => {
  const tides = tidesOf(harbourOf(MONTEREY))
  let previous = EPOCH
  for (const extreme of extremesBetween(tides, EPOCH, EPOCH + 12 * DAY)) {
    assert.ok(Number.isInteger(extreme.time))
    for (let time = previous; time < extreme.time; time += 601) assert.deepEqual(tides.next(0, time), extreme)
    assert.deepEqual(tides.next(0, extreme.time - 1), extreme)
    previous = extreme.time
  }
})

test('A wiggle of millimetres is not an extreme, but in a nearly tideless sea the millimetres are the tide.', () => {
  const small = tidesOf(
    harbourOf([
      ['M2', 0.004, 10],
      ['K1', 0.003, 70],
    ]),
  )
  assert.ok(extremesBetween(small, EPOCH, EPOCH + 10 * DAY).length >= 18)
  // Twelve times a day 3 mm up and down, where the tide itself moves slowly.
  const wavy = tidesOf(
    harbourOf([
      ['K1', 0.2, 10],
      ['M24', 0.0015, 0],
    ]),
  )
  const extremes = extremesBetween(wavy, EPOCH, EPOCH + 10 * DAY)
  assert.ok(extremes.length >= 19 && extremes.length <= 21, `${extremes.length} extremes`)

  // All turns that a look at every half minute finds are one or the other.
  const [first, end] = [EPOCH, EPOCH + 10 * DAY]
  let turns = 0
  let wasRising = wavy.height(0, first) > wavy.height(0, first - 30)
  for (let time = first; time <= end; time += 30) {
    const isRising = wavy.height(0, time + 30) > wavy.height(0, time)
    if (isRising !== wasRising) turns++
    wasRising = isRising
  }
  const between = wavy.between(0, first, end)
  assert.deepEqual(
    between.extremes,
    extremes.filter(({ time }) => time >= first),
  )
  assert.ok(between.leftOut > 10, `${between.leftOut} left out`)
  assert.ok(Math.abs(between.extremes.length + between.leftOut - turns) <= 2, `${turns} turns`)
})

test('Any time can be asked about, also thousands of years away, and a harbour with nothing but the seasons.', () => {
  const tides = tidesOf(harbourOf(MONTEREY), harbourOf([['SA', 0.1, 0]], 0.5, { identifier: 'seasons' }))
  for (const year of ['0000', '1000', '1969', '2100', '9999']) {
    const time = Date.parse(`${year}-06-01T00:00:00Z`) / 1000
    const extreme = tides.next(0, time)!
    assert.ok(extreme.time > time && extreme.time < time + DAY, year)
    assert.ok(Math.abs(tides.height(0, time)) < 2 && Math.abs(tides.height(1, time) - 0.5) <= 0.1, year)
  }
  const extremes = [0, 30, 60, 90, 120, 150].map((days) => tides.next(1, EPOCH + days * DAY))
  assert.ok(extremes.filter((extreme) => extreme === null).length >= 4)
})

/** As shallow as the tables are made for: twelve tides of M2's own overtides. */
const SHALLOW: Constants = [
  ['M2', 4, 138.7],
  ['S2', 1.5, 178],
  ['M4', 0.5, 10],
  ['M6', 0.3, 55],
  ['M8', 0.1, 200],
  ['MF', 0.05, 100],
  ['SA', 0.3, 33],
]

test('Whole hundredths are the height rounded, at any time.', () => {
  for (const constants of [...Object.values(MADE_UP), MONTEREY, SHALLOW]) {
    for (const datumOffset of [-20, 0, 1.255]) {
      const tides = tidesOf(harbourOf([['K1', 1, 0]]), harbourOf(constants, datumOffset, { identifier: 'z' }))
      const check = (time: number): void => {
        const [got, expected] = [tides.hundredths(1, time), Math.round(tides.height(1, time) * 100)]
        // Zero and negative zero are one.
        if (got !== expected) assert.fail(`${got} at ${time}, not ${expected}`)
      }
      for (const block of [-100_000, -1, 0, 5140, 600_000]) {
        const begin = block * 4 * DAY
        for (let since = 0; since < 4 * DAY; since += since < 7200 || since > 4 * DAY - 7200 ? 7 : 37)
          check(begin + since)
      }
    }
  }
})

test('Answers stay the same after more harbours and days than tables are kept.', () => {
  const other = harbourOf(MADE_UP['with two equal tides a day'], 0, { identifier: 'other' })
  const tides = tidesOf(harbourOf(SHALLOW), other)
  const answers = (): unknown[] =>
    [0, 1, 2, 3].flatMap((day) =>
      [0, 1, 0].map((harbour) => {
        const time = EPOCH + day * DAY
        const level = tides.hundredths(harbour, time)
        assert.equal(level, Math.round(tides.height(harbour, time) * 100))
        assert.ok(tides.next(harbour, time)!.time > time, 'an extreme to come')
        return [level, tides.next(harbour, time)]
      }),
    )
  const before = answers()
  for (let i = 0; i < 4200; i++) tides.next(0, EPOCH + i * 4 * DAY)
  assert.deepEqual(answers(), before)
})

test('Levels at full hours are the heights there in hundredths, whatever hour is asked for first.', () => {
  for (const constants of [...Object.values(MADE_UP), MONTEREY]) {
    const tides = tidesOf(harbourOf(constants, 1.25), harbourOf([['M2', 1, 0]], 0, { identifier: 'other' }))
    for (const [from, count] of [
      [EPOCH + 7 * HOUR, 5],
      [EPOCH, 744],
      [EPOCH - 30 * DAY, 96],
      [-3 * DAY, 200],
      [EPOCH, 0],
    ]) {
      const levels = new Int16Array(count + 1).fill(99)
      tides.hoursInto(0, from, count, levels)
      for (let i = 0; i < count; i++) {
        const difference = Math.abs(levels[i] / 100 - tides.height(0, from + i * HOUR))
        assert.ok(difference < 0.0051, `hour ${i} from ${from} is ${difference} m off`)
      }
      assert.equal(levels[count], 99)
    }
  }
})
