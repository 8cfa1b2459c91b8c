import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constituents as published } from '@neaps/tide-predictor'
import { constituentOf, motionBetween, type Constituent } from '../../src/sea/tidal-constituents.ts'
import SPEEDS from './noaa-speeds.json' with { type: 'json' }

/** Degrees per hour as NOAA publishes them with its constants. */
const NOAA_SPEEDS: { readonly [name: string]: number } = SPEEDS

const DAY = 86_400
const EPOCH = Date.UTC(2026, 2, 27) / 1000

function known(name: string): Constituent {
  const constituent = constituentOf(name)
  assert.ok(constituent !== null, name)
  return constituent
}

function speedOf(name: string): number {
  const [T, s, h, p, p1] = known(name).multiples
  // Degrees an hour of the mean sun's hour angle, moon, sun and perigees (Schureman, table 1).
  return T * 15 + s * 0.549_016_5 + h * 0.041_068_6 + p * 0.004_641_8 + p1 * 0.000_001_96
}

test('Every constituent that this project and tide-predictor both know turns at the same speed in both.', () => {
  let compared = 0
  // Their speeds in that table are not the sums of their parts; of 3N2 it has that of MKS2, as TICON's manual has.
  const excepted = new Set(['3N2', '2NKMS5', 'NSK5', '4MSN8', '5MSN10', '4M2SN10', '3N2MS12'])
  for (const [name, { speed }] of Object.entries(published)) {
    const ours = constituentOf(name)
    if (ours === null || excepted.has(name)) continue
    compared++
    assert.ok(Math.abs(speedOf(name) - speed) < 2e-5, `${name}: ${speedOf(name)} instead of ${speed}`)
  }
  assert.ok(compared > 300, `${compared} compared`)
})

test('A motion turns each constituent by its speed and keeps the node factors within their known limits.', () => {
  const names = Object.keys(NOAA_SPEEDS)
  // Extremes over a lunar node's 18.6 years (Schureman, table 14), a little rounded outwards.
  const limits: { readonly [name: string]: readonly [number, number] } = {
    M2: [0.96, 1.04],
    O1: [0.8, 1.19],
    K1: [0.88, 1.12],
    K2: [0.74, 1.32],
    J1: [0.82, 1.18],
    OO1: [0.48, 1.85],
    MF: [0.62, 1.46],
    MM: [0.86, 1.14],
    S2: [1, 1],
  }
  const seen = new Map<string, [number, number]>()
  for (let epoch = EPOCH - 3400 * DAY; epoch < EPOCH + 3400 * DAY; epoch += 20 * DAY) {
    const motion = motionBetween(names.map(known), epoch, epoch + 4 * DAY)
    names.forEach((name, i) => {
      const degreesAnHour = (motion.speed[i] * 3600 * 180) / Math.PI
      // The node's own part is up to half a degree a day, for M1.
      assert.ok(Math.abs(degreesAnHour - NOAA_SPEEDS[name]) < 0.03, `${name} at ${epoch}`)
      const [low, high] = seen.get(name) ?? [Infinity, -Infinity]
      seen.set(name, [Math.min(low, motion.factor[i]), Math.max(high, motion.factor[i])])
    })
  }
  for (const [name, [least, most]] of Object.entries(limits)) {
    const [low, high] = seen.get(name)!
    assert.ok(low >= least && high <= most, `${name}: ${low} to ${high}`)
    if (least < 1) assert.ok(high - low > 0.8 * (most - least), `${name}: ${low} to ${high}`)
  }
})

test('M1 has the phase and size of the two waves that it joins, by vectors in place of Schureman’s angles.', () => {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const names = ['M1', 'P1', 'SSA', 'MM', 'O1']
  for (let epoch = EPOCH - 3400 * DAY; epoch < EPOCH + 3400 * DAY; epoch += 97 * DAY) {
    const { argument, factor } = motionBetween(names.map(known), epoch, epoch + DAY)
    // Mean longitudes of node and perigee (Meeus, chapter 47), and the tilts of orbit and ecliptic.
    const centuries = (epoch - Date.UTC(2000, 0, 1, 12) / 1000) / (36_525 * DAY)
    const [node, perigee] = [
      radians(125.0445 - 1934.1363 * centuries),
      radians(83.3532 + 4069.0137 * centuries),
    ]
    const [orbit, ecliptic] = [radians(5.145), radians(23.452)]
    // The normal of the moon's orbit, in the frame of the equator.
    const [x, y] = [Math.sin(orbit) * Math.sin(node), -Math.sin(orbit) * Math.cos(node)]
    const normal = [
      x,
      y * Math.cos(ecliptic) - Math.cos(orbit) * Math.sin(ecliptic),
      y * Math.sin(ecliptic) + Math.cos(orbit) * Math.cos(ecliptic),
    ]
    const tilt = Math.acos(normal[2])
    const nu = Math.atan2(normal[0], -normal[1])
    // Along the orbit, from where it crosses the equator to where it crosses the ecliptic.
    const crossing = [Math.cos(nu), Math.sin(nu), 0]
    const ascending = [
      Math.cos(node),
      Math.sin(node) * Math.cos(ecliptic),
      Math.sin(node) * Math.sin(ecliptic),
    ]
    const dot = crossing[0] * ascending[0] + crossing[1] * ascending[1] + crossing[2] * ascending[2]
    const turn =
      normal[0] * (crossing[1] * ascending[2] - crossing[2] * ascending[1]) +
      normal[1] * (crossing[2] * ascending[0] - crossing[0] * ascending[2]) +
      normal[2] * (crossing[0] * ascending[1] - crossing[1] * ascending[0])
    const P = perigee - (node - Math.atan2(turn, dot))
    const weight = (1.5 * Math.cos(tilt)) / Math.cos(tilt / 2) ** 2
    const [real, imaginary] = [weight + 0.5 * Math.cos(2 * P), -0.5 * Math.sin(2 * P)]
    const constant = (name: string): number => known(name).multiples[5] * (Math.PI / 2)
    const plain =
      argument[1] -
      constant('P1') +
      argument[2] -
      constant('SSA') -
      argument[3] +
      constant('MM') +
      constant('M1')
    const off = argument[0] - plain - (Math.atan2(imaginary, real) - nu)
    assert.ok(Math.abs(Math.sin(off / 2)) < 0.005, `${off} radians off at ${epoch}`)
    assert.ok(Math.abs(factor[0] / factor[4] - Math.hypot(real, imaginary)) < 0.01, `size at ${epoch}`)
  }
})

test('Motions join: the end of one is the beginning of the next.', () => {
  const constituents = ['M2', 'O1', 'K1', 'L2', 'M1', 'MF', '2MK3'].map(known)
  const first = motionBetween(constituents, EPOCH, EPOCH + 4 * DAY)
  const second = motionBetween(constituents, EPOCH + 4 * DAY, EPOCH + 8 * DAY)
  constituents.forEach(({ name }, i) => {
    const turned = first.argument[i] + first.speed[i] * 4 * DAY - second.argument[i]
    assert.ok(Math.abs(Math.sin(turned / 2)) < 1e-9, name)
    assert.ok(Math.abs(first.factor[i] + first.drift[i] * 4 * DAY - second.factor[i]) < 1e-12, name)
  })
})

test('All spellings in use name the same constituent.', () => {
  const spellings = [
    ['LAMBDA2', 'LAM2', 'lambda2', 'λ2', 'LDA2'],
    ['RHO1', 'RHO', 'rho1', 'ρ1'],
    ['SIGMA1', 'SGM', 'SIG1', 'σ1'],
    ['EPSILON2', 'EP2', 'EPS2', 'eps2', 'ε2'],
    ['NU2', 'nu2', 'ν2'],
    ['MU2', 'mu2', 'μ2'],
    ['SA', 'Sa'],
    ['MTM', 'Mtm', 'MFM'],
    ['SK3', 'R3'],
  ]
  for (const [name, ...others] of spellings)
    for (const other of others) assert.deepEqual(constituentOf(other), known(name), other)
})

test('Compounds are taken apart by their names.', () => {
  const parts: { [name: string]: { [part: string]: number } } = {
    M4: { M2: 2 },
    S6: { S2: 3 },
    MN4: { M2: 1, N2: 1 },
    '2MK3': { M2: 2, K1: -1 },
    MK3: { M2: 1, K1: 1 },
    MK4: { M2: 1, K2: 1 },
    '2SM2': { S2: 2, M2: -1 },
    MKS2: { M2: 1, K2: 1, S2: -1 },
    '2MS2K2': { M2: 2, S2: 1, K2: -2 },
    NO1: { N2: 1, O1: -1 },
    MSF: { S2: 1, M2: -1 },
  }
  for (const [name, members] of Object.entries(parts)) {
    const sum = [0, 0, 0, 0, 0, 0]
    for (const [member, factor] of Object.entries(members))
      known(member).multiples.forEach((multiple, i) => (sum[i] += factor * multiple))
    assert.deepEqual([...known(name).multiples], sum, name)
  }
})

test('Names of no constituent are not known.', () => {
  const names = ['', ...'X2 M 4 M5X M3.5 constructor toString __proto__ M-2 2M2 MS A9'.split(' ')]
  for (const name of [...names, 'M'.repeat(100_000), '2M'.repeat(8) + '4']) {
    assert.equal(constituentOf(name), null, name.slice(0, 20))
  }
})
