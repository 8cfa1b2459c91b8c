import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Collections } from '../../src/process/collections.ts'

const MIB = 2 ** 20

test('Parts that were let go of are collected from 64 MiB on, again after ten seconds, or at once from 256 MiB on.', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let count = 0
    const collections = new Collections(() => count++)
    collections.letGo(40 * MIB)
    collections.letGo(-20 * MIB)
    collections.letGo(43 * MIB)
    assert.equal(count, 0, 'less than 64 MiB')
    collections.letGo(MIB)
    assert.equal(count, 1)
    for (let i = 0; i < 6; i++) collections.letGo(40 * MIB)
    assert.equal(count, 1, '240 MiB soon afterwards')
    mock.timers.tick(9999)
    assert.equal(count, 1)
    mock.timers.tick(1)
    assert.equal(count, 2, 'ten seconds afterwards, without another swap')
    for (let i = 0; i < 7; i++) collections.letGo(40 * MIB)
    assert.equal(count, 3, '256 MiB cannot wait')
    mock.timers.tick(10_000)
    assert.equal(count, 4, 'what a thread still referred to')
    mock.timers.tick(60_000)
    assert.equal(count, 4, 'nothing was let go of')
    collections.letGo(63 * MIB)
    mock.timers.tick(60_000)
    assert.equal(count, 4)
    collections.letGo(MIB)
    assert.equal(count, 5, 'nothing was collected for ten seconds')
    collections.letGo(100 * MIB)
    collections.stop()
    mock.timers.tick(10_000)
    assert.equal(count, 5, 'stopped')
  } finally {
    mock.timers.reset()
  }
})
