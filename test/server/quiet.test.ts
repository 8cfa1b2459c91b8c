import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Quiet } from '../../src/server/quiet.ts'
import { finishInSlices, type Steps } from '../../src/system/steps.ts'

test('It is quiet while no request came since the last look, nor in the time that it takes at least.', (t) => {
  let [now, count] = [1000, 7]
  t.mock.method(performance, 'now', () => now)
  const [quiet, atOnce] = [50, 0].map((ms) => new Quiet(() => count, ms))
  const look = (): boolean[] => [quiet.lasts(), atOnce.lasts()]
  assert.deepEqual(look(), [false, true])
  now += 49
  assert.deepEqual(look(), [false, true])
  now += 1
  assert.deepEqual(look(), [true, true])
  count++
  assert.deepEqual(look(), [false, false])
  now += 49
  assert.deepEqual(look(), [false, true])
  now += 1
  assert.deepEqual(look(), [true, true])
})

test('Work in slices rests for a millisecond after each where somebody asks, and goes on after a turn of the loop while it is quiet.', async () => {
  function* steps(): Steps<string> {
    for (let i = 0; i < 5; i++) yield
    return 'done'
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    // No time passes: with timers it would never end.
    assert.equal(await finishInSlices(steps(), 0, () => true), 'done')
    let result = ''
    void finishInSlices(steps(), 0).then((value) => (result = value))
    for (let rest = 0; rest < 5; rest++) {
      await new Promise(setImmediate)
      assert.equal(result, '', `rest ${rest}`)
      mock.timers.tick(1)
    }
    await new Promise(setImmediate)
    assert.equal(result, 'done')
  } finally {
    mock.timers.reset()
  }
})
