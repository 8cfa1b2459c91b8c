import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ReadinessProbes } from '../../src/process/readiness-probes.ts'

/** Asks at the given times, in milliseconds, and returns the lines of the log. */
function warnings(drainMs: number, calls: readonly { at: number; from?: string }[]): string[] {
  const lines: string[] = []
  let now = 0
  const probes = new ReadinessProbes(
    drainMs,
    (line) => lines.push(line),
    () => now,
  )
  for (const { at, from = '10.0.0.5' } of calls) {
    now = at
    probes.asked(from)
  }
  return lines
}

const every = (interval: number, times = 10): { at: number }[] =>
  Array.from({ length: times }, (_, i) => ({ at: i * interval }))

test('A balancer that checks too seldom for the drain time is named once, with what helps.', () => {
  assert.deepEqual(warnings(3000, every(2000)), [
    'warning: 10.0.0.5 asks for readiness every 2s, too seldom for --drain-time 3s: it may still send requests when this server has stopped; give --drain-time 5s or more, or have it ask every 1.3s',
  ])
  assert.deepEqual(warnings(0, every(100)), [
    'warning: 10.0.0.5 asks for readiness every 0.1s, too seldom for --drain-time 0s: it may still send requests when this server has stopped; give --drain-time 1s or more',
  ])
})

test('A drain time of twice the interval and half a second is enough, for any interval.', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 30_000 }), (interval) => {
      assert.deepEqual(warnings(2 * interval + 500, every(interval)), [])
      assert.equal(warnings(1.8 * interval + 400, every(interval)).length, 1)
    }),
  )
})

test('Calls of a person, and of several balancers, say nothing of an interval.', () => {
  const byHand = [0, 900, 40_000, 41_000, 100_000, 260_000, 261_000, 300_000].map((at) => ({ at }))
  assert.deepEqual(warnings(3000, byHand), [])
  // Each of four asks every second.
  const four = Array.from({ length: 40 }, (_, i) => ({ at: i * 250, from: `10.0.0.${i % 4}` }))
  assert.deepEqual(warnings(2500, four), [])
})

test('A server is watched for a minute after a call, however many addresses have asked.', () => {
  let now = 0
  const probes = new ReadinessProbes(
    3000,
    () => {},
    () => now,
  )
  assert.equal(probes.isWatched, false)
  for (let i = 0; i < 1000; i++) probes.asked(`10.0.${i >> 8}.${i & 255}`)
  assert.equal(probes.isWatched, true)
  now = 60_000
  assert.equal(probes.isWatched, true)
  now = 60_001
  assert.equal(probes.isWatched, false)
})
