/** The catalogue of missions and the numbering of passes, against counting them one by one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  externalPassId,
  MISSIONS,
  missionOfFileCode,
  missionOfIndex,
  missionOfSlug,
  ownCycle,
  passAt,
  passId,
  passName,
  satellitePassId,
} from '../../src/sea/missions.ts'

const seconds = (text: string) => Date.parse(text) / 1000
const passOf = (slug: string, text: string) => passAt(missionOfSlug(slug)!.phases, seconds(text))

test('Every mission has what the contract asks for, and nothing of it twice.', () => {
  assert.ok(MISSIONS.length >= 8)
  for (const field of ['index', 'slug', 'name', 'code'] as const) {
    assert.equal(new Set(MISSIONS.map((mission) => mission[field])).size, MISSIONS.length, field)
  }
  const codes = MISSIONS.flatMap(({ fileCodes }) => fileCodes)
  assert.equal(new Set(codes).size, codes.length)
  for (const mission of MISSIONS) {
    assert.match(mission.slug, /^[a-z0-9]+(-[a-z0-9]+)*$/)
    assert.ok(mission.phases.length > 0 || mission.passesOfOwnCycle !== undefined)
    assert.equal(missionOfSlug(mission.slug), mission)
    assert.equal(missionOfIndex(mission.index), mission)
  }
  assert.equal(missionOfSlug('apollo-11'), undefined)
  assert.equal(missionOfIndex(0), undefined)
})

test('A mission is known by its code in file names and by its name in attributes.', () => {
  for (const [code, slug] of [
    ['s3a', 'sentinel-3a'],
    ['S3B', 'sentinel-3b'],
    ['Sentinel-3A', 'sentinel-3a'],
    ['Sentinel-6A', 'sentinel-6a'],
    ['Jason-3', 'jason-3'],
    ['SARAL/AltiKa', 'saral'],
    ['al', 'saral'],
    ['Cryosat-2', 'cryosat-2'],
    ['swon', 'swot'],
    ['CFOSAT', 'cfosat'],
  ]) {
    assert.equal(missionOfFileCode(code)?.slug, slug, code)
  }
  for (const code of ['', '-', 'h2b', 's3', 'constructor']) assert.equal(missionOfFileCode(code), undefined)
})

test('Crossings of the equator that were published have the numbers that were published.', () => {
  const published: [string, string, number, number][] = [
    ['sentinel-3a', '2016-06-28T21:57:26Z', 6, 1],
    ['sentinel-3b', '2018-11-23T10:08:38Z', 19, 101],
    ['sentinel-6a', '2020-12-27T08:33:32Z', 5, 1],
    ['jason-3', '2016-02-17T10:56:52Z', 1, 1],
    ['jason-3', '2022-04-29T05:02:49Z', 301, 1],
    ['saral', '2018-08-13T16:30:07Z', 58, 1],
    ['cryosat-2', '2011-04-12T11:40:14Z', 2, 1],
    ['swot', '2023-07-21T05:59:31Z', 301, 1],
  ]
  for (const [slug, time, cycle, number] of published) assert.deepEqual(passOf(slug, time), { cycle, number })
})

test('Before its first phase and after its last a mission numbers nothing.', () => {
  assert.equal(passOf('jason-3', '2016-02-11T23:59:59Z'), null)
  assert.notEqual(passOf('jason-3', '2025-06-17T23:59:59Z'), null)
  assert.equal(passOf('jason-3', '2025-06-18T00:00:00Z'), null)
  assert.equal(passOf('jason-3', '2026-06-18T00:00:00Z'), null)
  assert.equal(passOf('sentinel-3b', '2018-11-23T09:45:59Z'), null)
  assert.equal(passOf('cfosat', '2022-02-26T17:30:28Z'), null)
})

test('A number is that of counting half orbits, one by one, from the reference.', () => {
  const mission = fc.constantFrom(...MISSIONS.filter(({ phases }) => phases.length > 0))
  fc.assert(
    fc.property(
      mission,
      fc.integer({ min: -3000, max: 30_000 }),
      fc.double({ min: -0.49, max: 0.49, noNaN: true }),
      (mission, steps, within) => {
        const [phase] = mission.phases
        let { cycle, pass } = phase
        for (let i = 0; i < steps; i++) {
          pass++
          if (pass > phase.passes) [cycle, pass] = [cycle + 1, 1]
        }
        for (let i = 0; i > steps; i--) {
          pass--
          if (pass < 1) [cycle, pass] = [cycle - 1, phase.passes]
        }
        const halfOrbit = (phase.days * 86_400) / phase.passes
        const alone = [{ ...phase, from: -Infinity }]
        assert.deepEqual(passAt(alone, phase.equator + (steps + within) * halfOrbit), {
          cycle,
          number: pass,
        })
      },
    ),
    { numRuns: 300 },
  )
})

test('A cycle that begins at a turning point numbers its passes from there.', () => {
  const begin = seconds('2022-02-22T10:10:04Z')
  const cycle = ownCycle(94, begin, begin + 394 * 2850, 394)
  for (const [after, expected] of [
    [-1, null],
    [2849, { cycle: 94, number: 1 }],
    [2851, { cycle: 94, number: 2 }],
    [394 * 2850 - 1, { cycle: 94, number: 394 }],
    [394 * 2850 + 1, { cycle: 95, number: 1 }],
  ] as const)
    assert.deepEqual(passAt([cycle], begin + after), expected)
})

test('Names and ids of passes are stable, and ids stay exact integers.', () => {
  const mission = missionOfSlug('sentinel-3a')!
  assert.equal(externalPassId(mission, 81, 517), 'S3A_C081_P0517')
  assert.equal(satellitePassId(mission, 81, 517), 's3a-081-517')
  assert.equal(passName(mission, 81, 517), 'Sentinel-3A cycle 81 pass 517')
  assert.equal(passId(1, 81, 517), 10_008_100_517)
  assert.equal(externalPassId(mission, 1234, 10_688), 'S3A_C1234_P10688')
  assert.ok(Number.isSafeInteger(passId(99, 99_999, 65_535)))
  const ids = MISSIONS.flatMap(({ index }) => [passId(index, 0, 65_535), passId(index, 1, 1)])
  assert.equal(new Set(ids).size, ids.length)
})
