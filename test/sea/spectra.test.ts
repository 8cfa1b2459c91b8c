/** Wave spectra: their codes, their parameters against sums of the definition, and maximum entropy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  distribution,
  FINE_ANGLES,
  sectorsOf,
  SECTOR_DEGREES,
  SECTORS,
} from '../../src/sea/maximum-entropy.ts'
import { between, type Bands, type Spectrum, spectrumOf } from '../../src/sea/spectra.ts'
import { bandsOf, momentsOf, nearerTo, SpectraBatch, type BandValues } from '../../src/sea/spectra-batch.ts'
import { waveParameters, waveTrains } from '../../src/sea/wave-parameters.ts'

/** Why numbers are no set of bands. */
function faultOf(frequency: number[], bandwidth: number[] | null): string {
  const made = bandsOf(frequency, bandwidth)
  return typeof made === 'string' ? made : 'none'
}

function bands(frequency: number[], bandwidth: number[] | null = null): Bands {
  const made = bandsOf(frequency, bandwidth)
  return typeof made === 'string' ? assert.fail(made) : made
}

/** A spectrum as it comes back from its codes. */
function coded(of: Bands, values: BandValues): Spectrum {
  const batch = new SpectraBatch(of)
  assert.equal(batch.add(0, values), null)
  return spectrumOf(batch.taken(), 0)
}

const NDBC = bands([
  0.02,
  ...Array.from({ length: 13 }, (_, i) => Number((0.0325 + 0.005 * i).toFixed(4))),
  0.1,
  0.11,
])

test('Densities, directions and shares of a source come back from their codes as it gave them.', () => {
  const thousandths = fc.integer({ min: 0, max: 20_000 }).map((n) => n / 1000)
  const list = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { minLength: 3, maxLength: 3 })
  const given = fc.record({
    density: list(thousandths).filter((all) => all.some((one) => one > 0)),
    direction: list(
      fc.oneof(
        fc.constant(NaN),
        fc.integer({ min: 0, max: 3599 }).map((n) => n / 10),
      ),
    ),
    principal: list(fc.integer({ min: 0, max: 359 })),
    r1: list(
      fc.oneof(
        fc.constant(NaN),
        fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
      ),
    ),
    r2: list(fc.integer({ min: 0, max: 100 }).map((n) => n / 100)),
  })
  fc.assert(
    fc.property(given, (values) => {
      const back = coded(bands([0.1, 0.2, 0.3]), values)
      for (const name of ['density', 'direction', 'principal', 'r1', 'r2'] as const)
        assert.deepEqual([...back[name]], values[name], name)
    }),
  )
})

test('A density of any source comes back to within a step of the greatest one.', () => {
  const densities = fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(densities, (density) => {
      const peak = Math.max(...density)
      fc.pre(peak > 1e-6)
      const back = coded(bands([0.1, 0.2, 0.3, 0.4]), { density }).density
      const step = 10 ** Math.ceil(Math.log10(peak / 65_535))
      back.forEach((value, i) => assert.ok(Math.abs(value - density[i]) <= step, `${value} of ${density[i]}`))
    }),
  )
})

test('What is no spectrum is left out with its reason, and a share outside 0 to 1 is counted.', () => {
  const batch = new SpectraBatch(bands([0.1, 0.2]))
  assert.equal(batch.add(0, { density: [1, -0.001] }), 'a spectrum with a density below 0')
  assert.equal(batch.add(0, { density: [1, NaN] }), 'a spectrum without a density in a band')
  assert.equal(batch.add(0, { density: [0, 0] }), 'a spectrum without energy in any band')
  assert.equal(batch.add(0, { density: [1, 100_001] }), 'a spectrum with a density that no sea has')
  assert.equal(batch.add(0, { density: [1, Infinity] }), 'a spectrum with a density that no sea has')
  assert.equal(batch.length, 0)
  assert.equal(batch.add(0, { density: [1, 2], r1: [87, 0.5], r2: [1.01, 1], direction: [360, -10] }), null)
  assert.equal(batch.outside, 2)
  const { r1, r2, direction, principal } = spectrumOf(batch.taken(), 0)
  assert.deepEqual([...r1, ...r2], [NaN, 0.5, NaN, 1])
  assert.deepEqual([...direction, ...principal], [0, 350, NaN, NaN])
})

test('Bands without widths end half-way between two middles; what is no set of bands is refused.', () => {
  assert.deepEqual([...bands([0.03, 0.035, 0.045]).bandwidth], [0.005, 0.0075, 0.01])
  assert.match(faultOf([0.1], null), /fewer than 2/)
  assert.match(
    faultOf(
      Array.from({ length: 257 }, (_, i) => i + 1),
      null,
    ),
    /more than 256/,
  )
  for (const wrong of [
    [0.1, 0.1],
    [0.2, 0.1],
    [0, 0.1],
    [0.1, 6],
    [0.1, NaN],
  ])
    assert.match(faultOf(wrong, null), /do not ascend/)
  for (const wrong of [[0.1], [0.1, 0], [0.1, NaN], [-1, 1]])
    assert.match(faultOf([0.1, 0.2], wrong), /not each a width/)
})

test('The axes of a1 and b1 give where waves come from, and the principal direction is the end nearest to it.', () => {
  // Waves go to the east-north-east, 30° from east: they come from 240°.
  const [a1, b1] = [Math.cos(Math.PI / 6) * 0.8, Math.sin(Math.PI / 6) * 0.8]
  const [a2, b2] = [Math.cos(Math.PI / 3) * 0.5, Math.sin(Math.PI / 3) * 0.5]
  const spotter = momentsOf('east-towards', a1, b1, a2, b2)
  assert.ok(between(spotter.direction, 240) < 1e-9 && between(spotter.principal, 240) < 1e-9)
  assert.ok(Math.abs(spotter.r1 - 0.8) + Math.abs(spotter.r2 - 0.5) < 1e-9)
  const northern = momentsOf('north-from', a1, b1, a2, b2)
  assert.ok(between(northern.direction, 30) < 1e-9 && between(northern.principal, 30) < 1e-9)
  assert.equal(nearerTo(350, 175), 355)
  assert.equal(nearerTo(NaN, 175), 175)
})

test('The power of a sea of 2 m and an energy period of 10 s is 0.490 × 2² × 10 kW/m.', () => {
  const sea = coded(bands([0.099, 0.1, 0.101], [0.001, 0.001, 0.001]), { density: [0, 250, 0] })
  assert.ok(Math.abs(waveParameters(sea).hm0 - 2) < 1e-9)
  assert.equal(waveParameters(sea).power.toFixed(2), '19.61')
})

test('Of two bands of greatest density the lower one gives the peak period; directions that cancel out have no mean.', () => {
  const sea = coded(bands([0.1, 0.2], [0.1, 0.1]), { density: [1, 1], direction: [90, 270], r1: [0.5, 0.5] })
  const found = waveParameters(sea)
  assert.equal(found.peakPeriod, 10)
  assert.equal(found.meanDirection, NaN)
  assert.equal(found.meanSpread.toFixed(2), '81.03')
  assert.equal(waveParameters(coded(bands([0.1, 0.2]), { density: [1, 1] })).directionAtPeak, NaN)
})

test('Trains are peaks parted by a valley below half of the lower one, with a twentieth of the energy each, at most three.', () => {
  const of = bands(Array.from({ length: 12 }, (_, i) => (i + 5) / 100))
  const periods = (density: number[]): string[] =>
    waveTrains(coded(of, { density: [...density, ...Array<number>(12 - density.length).fill(0)] })).map(
      ({ period, height }) => `${period.toFixed(1)} s ${height.toFixed(2)} m`,
    )
  assert.deepEqual(periods([1, 5, 1, 4, 1]), ['16.7 s 0.98 m', '12.5 s 0.98 m'])
  // The valley is half of the lower peak, and not below.
  assert.deepEqual(periods([1, 5, 2, 4, 1]), ['16.7 s 1.44 m'])
  // Of two valleys of one depth the first one parts.
  assert.deepEqual(periods([1, 9, 2, 2, 8]), ['11.1 s 1.39 m', '16.7 s 1.26 m'])
  assert.deepEqual(periods([0, 10, 0, 0.3, 0]), ['16.7 s 1.26 m'])
  assert.deepEqual(periods([5, 0, 4, 0, 3, 0, 2]).length, 3)
  const directions = { direction: Array<number>(12).fill(300), r1: Array<number>(12).fill(0.9) }
  const [train] = waveTrains(coded(of, { density: Array.from({ length: 12 }, (_, i) => i), ...directions }))
  assert.ok(between(train.direction, 300) < 1e-6)
})

/** Moments that some distribution has: those of a mixture of waves from a few directions and all round. */
const moments = fc
  .array(
    fc.tuple(fc.double({ min: 0.05, max: 1, noNaN: true }), fc.double({ min: 0, max: 6.283, noNaN: true })),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((waves) => {
    const whole = waves.reduce((sum, [share]) => sum + share, 0) * 1.15
    const mean = (times: number, part: (angle: number) => number): number =>
      waves.reduce((sum, [share, angle]) => sum + share * part(times * angle), 0) / whole
    return momentsOf('north-from', mean(1, Math.cos), mean(1, Math.sin), mean(2, Math.cos), mean(2, Math.sin))
  })

test('Maximum entropy gives moments back to 1e-6 and is never negative, and its sectors sum up to the density.', () => {
  const fine = new Float64Array(FINE_ANGLES)
  fc.assert(
    fc.property(moments, (given) => {
      assert.equal(distribution(given, fine), true)
      const step = (2 * Math.PI) / FINE_ANGLES
      const sum = (times: number, part: (angle: number) => number): number =>
        // The first angles lie a half sector before north.
        fine.reduce((all, share, i) => all + share * part(times * ((i + 0.5) * step - Math.PI / SECTORS)), 0)
      for (const [times, r, degrees] of [
        [1, given.r1, given.direction],
        [2, given.r2, 2 * given.principal],
      ]) {
        const angle = (degrees * Math.PI) / 180
        assert.ok(Math.abs(sum(times, Math.cos) - r * Math.cos(angle)) < 1e-6)
        assert.ok(Math.abs(sum(times, Math.sin) - r * Math.sin(angle)) < 1e-6)
      }
      assert.ok(fine.every((share) => share >= 0))
      const density = Float64Array.of(3.21)
      const [direction, principal, r1, r2] = [given.direction, given.principal, given.r1, given.r2].map(
        (one) => Float64Array.of(one),
      )
      const sectors = sectorsOf({ bands: NDBC, density, direction, principal, r1, r2 }, 0)
      assert.ok(sectors instanceof Float64Array)
      assert.ok(Math.abs(SECTOR_DEGREES * sectors.reduce((all, one) => all + one, 0) - 3.21) < 1e-6)
    }),
  )
})

test('A band without directions has no distribution, and one with moments that none has is impossible.', () => {
  const of = (direction: number, r1: number, r2: number): unknown =>
    sectorsOf(
      coded(bands([0.1, 0.2]), {
        density: [1, 1],
        direction: [direction, 0],
        principal: [direction, 0],
        r1: [r1, 0],
        r2: [r2, 0],
      }),
      0,
    )
  assert.equal(of(NaN, 0.5, 0.5), null)
  assert.equal(of(90, NaN, 0.5), null)
  assert.equal(of(90, 1, 0.5), 'impossible')
  // Waves from one side alone cannot come from all sides in the second moment.
  assert.equal(of(90, 0.9, 0.1), 'impossible')
  assert.ok(of(90, 0.9, 0.7) instanceof Float64Array)
})

test('A narrow swell lies in the sector that it comes from, and sectors are centred on multiples of 5°.', () => {
  for (const direction of [0, 5, 90, 270, 355]) {
    const sea = coded(bands([0.1, 0.2]), {
      density: [1, 1],
      direction: [direction, 0],
      principal: [direction, 0],
      r1: [0.97, 0],
      r2: [0.94, 0],
    })
    const sectors = sectorsOf(sea, 0) as Float64Array
    const most = sectors.indexOf(Math.max(...sectors))
    assert.equal(most * 5, direction)
    const [before, after] = [sectors.at(most - 1)!, sectors[(most + 1) % SECTORS]]
    assert.ok(Math.abs(before - after) < 1e-9)
  }
})
