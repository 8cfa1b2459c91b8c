/** How a stalled thread is distinguished from a busy or a starved one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { StallDetector, type Look } from '../../src/server/watchdog.ts'

/** The number of the look, from 1, that finds a thread stalled; 0 when none does. */
function found(looks: Look[]): number {
  const stalls = new StallDetector(0)
  return looks.findIndex((look) => stalls.look(look)) + 1
}

/** Looks a second apart, the thread having done `done[i]` by the i-th. */
function looks(done: number[], processor: (i: number) => Look['processor']): Look[] {
  return done.map((done, i) => ({ done, processor: processor(i), now: (i + 1) * 1000 }))
}

const times = (length: number, done: number): number[] => Array.from({ length }, () => done)

const SPINNING = (i: number): Look['processor'] => ({ seconds: i * 0.9, waits: true })
const STARVED = (i: number): Look['processor'] => ({ seconds: i * 0.004, waits: true })
const SLEEPING = (): Look['processor'] => ({ seconds: 1, waits: false })
const UNKNOWN = (): Look['processor'] => null

test('A thread without progress for five looks is stalled, whether it spins or sleeps.', () => {
  for (const processor of [SPINNING, SLEEPING, UNKNOWN]) assert.equal(found(looks(times(7, 7), processor)), 6)
})

test('A thread that waits for a processor on a busy machine is not to blame, however long.', () => {
  assert.equal(found(looks(times(600, 7), STARVED)), 0)
  // When it has had its share and has still done nothing, it is.
  const late = looks(times(100, 7), (i) => ({ seconds: i < 50 ? 0 : i - 50, waits: true }))
  assert.equal(found(late), 54)
})

test('A thread that has not begun yet has a minute.', () => {
  assert.equal(found(looks(times(59, 0), SPINNING)), 0)
  assert.equal(found(looks(times(60, 0), SPINNING)), 60)
})

test('Any progress counts: a thread that makes some in any five looks is never stalled.', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 1e6 })), { maxLength: 50 }),
      fc.constantFrom(SPINNING, STARVED, SLEEPING, UNKNOWN),
      (runs, processor) => {
        let done = 1
        const all = runs.flatMap(([length, more]) => {
          done += more
          return times(length, done)
        })
        assert.equal(found(looks(all, processor)), 0)
      },
    ),
  )
})

test('Looks count and not seconds: a machine that slept has had none.', () => {
  const stalls = new StallDetector(0)
  const at = (now: number): Look => ({ done: 7, processor: null, now })
  assert.equal(stalls.look(at(1000)), false)
  assert.equal(stalls.look(at(1e9)), false)
  assert.equal(stalls.look(at(2e9)), false)
})
