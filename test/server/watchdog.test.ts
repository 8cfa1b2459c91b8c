/** How a stalled thread is distinguished from a busy one, and when a build is due. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NO_ROUTE } from '../../src/http/exchange.ts'
import { nextBuild } from '../../src/server/build-schedule.ts'
import { Heartbeat } from '../../src/server/watchdog.ts'
import { StallDetector } from '../../src/server/worker-thread.ts'

/**
 * The number of the look, from 1, that finds a thread stalled which has done so much by each; 0 when none
 * does.
 */
function found(done: readonly number[]): number {
  const stalls = new StallDetector()
  return done.findIndex((each) => stalls.isStalled(each)) + 1
}

const times = (length: number, done: number): number[] => Array.from({ length }, () => done)

test('A thread without progress for fifteen looks is stalled.', () => {
  assert.equal(found(times(15, 7)), 0)
  assert.equal(found(times(16, 7)), 16)
  const stalls = new StallDetector()
  for (const done of times(16, 7)) stalls.isStalled(done)
  assert.equal(stalls.seconds, 15)
})

test('A thread that has not begun yet has a minute.', () => {
  assert.equal(found(times(59, 0)), 0)
  assert.equal(found(times(60, 0)), 60)
})

test('Any progress counts: a thread that makes some in any fifteen looks is never stalled.', () => {
  const run = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.integer({ min: 1, max: 1e6 }))
  fc.assert(
    fc.property(fc.array(run, { maxLength: 50 }), (runs) => {
      let done = 1
      const all = runs.flatMap(([length, more]) => {
        done += more
        return times(length, done)
      })
      assert.equal(found(all), 0)
    }),
  )
})

test('A worker that was asked nothing yet answers no route.', () => {
  assert.equal(new Heartbeat(Heartbeat.allocate()).serving[0], NO_ROUTE)
})

const HALF_HOUR = 1800
const NOON = Date.UTC(2026, 2, 27, 12) / 1000

test('A build is due at the next full half hour, never at the present one.', () => {
  assert.equal(nextBuild(NOON, HALF_HOUR, 0, 0), NOON + HALF_HOUR)
  assert.equal(nextBuild(NOON - 1, HALF_HOUR, 0, 0), NOON)
  assert.equal(nextBuild(NOON + 1799.9, HALF_HOUR, 0, 7), NOON + HALF_HOUR + 7)
})

test('After failures a build is due sooner, then less and less soon, and never later than at its regular time.', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 2000].map(
    (failures) => nextBuild(NOON, HALF_HOUR, failures, 0) - NOON,
  )
  assert.deepEqual(waits, [15, 30, 60, 120, 240, 480, 960, HALF_HOUR, HALF_HOUR])
})
