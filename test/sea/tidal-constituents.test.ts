/** The harmonic constituents against another implementation of Schureman’s manual, and M1 by vectors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constituents as published, createTidePredictor } from '@neaps/tide-predictor'
import { constituentOf, motionBetween, type Constituent } from '../../src/sea/tidal-constituents.ts'

const DAY = 86_400
const EPOCH = Date.UTC(2026, 2, 27) / 1000

function known(name: string): Constituent {
  const constituent = constituentOf(name)
  assert.ok(constituent !== null, name)
  return constituent
}

/**
 * Names that tide-predictor gives other arguments: M1 and M3, compounds of L2 and N2, and what is made of
 * these.
 */
const OTHERWISE = new Set(
  `
  MKL2S2 MNKO7 4MSL12 3ML8 ML4 4MLS8 2NMLS6 2MLNS6 3MLS6 4MSN8 MLN2S2 2MN2 3N2 NSK5 M3 2NKMS5 MO1
  SK1 M1 NK1 MSK5 MQ1 MP1 SP1 Mfm MFM MTM MSqm MSQM 3L2 M(KS)2 ups1 υ1 UPS1
`.split(/\s+/),
)

test('Every constituent has the argument and the node factor that tide-predictor gives it, over 19 years.', () => {
  let compared = 0
  for (const name of Object.keys(published)) {
    const constituent = constituentOf(name)
    if (constituent === null || OTHERWISE.has(name)) continue
    compared++
    const tide = createTidePredictor([{ name, amplitude: 1, phase: 0 }], { nodeCorrections: 'schureman' })
    for (let step = -35; step <= 35; step++) {
      const epoch = EPOCH + step * (97 * DAY + 3600)
      const { argument, factor } = motionBetween([constituent], epoch, epoch + DAY)
      const { level } = tide.getWaterLevelAtTime({ time: new Date(epoch * 1000) })
      assert.ok(Math.abs(factor[0] * Math.cos(argument[0]) - level) < 0.005, `${name} at ${epoch}`)
    }
  }
  assert.ok(compared > 300, `${compared} compared`)
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
  for (const [name, ...others] of spellings) {
    for (const other of others) assert.deepEqual(constituentOf(other), known(name), other)
  }
})

test('Names of no constituent are not known.', () => {
  const names = ['', ...'X2 M 4 M5X M3.5 constructor toString __proto__ M-2 2M2 MS A9'.split(' ')]
  for (const name of [...names, 'M'.repeat(100_000), '2M'.repeat(8) + '4']) {
    assert.equal(constituentOf(name), null, name.slice(0, 20))
  }
})
