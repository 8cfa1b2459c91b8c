import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Collections } from '../../src/server/reload.ts'

const MIB = 2 ** 20

test('Parts that were let go of are collected from 64 MiB on, and ten seconds after the last swap.', () => {
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
    for (let i = 0; i < 6; i++) {
      mock.timers.tick(9999)
      collections.letGo(40 * MIB)
    }
    assert.equal(count, 4, 'every other one of six more')
    mock.timers.tick(9999)
    assert.equal(count, 4)
    mock.timers.tick(1)
    assert.equal(count, 5, 'what a thread still referred to')
    mock.timers.tick(60_000)
    assert.equal(count, 5, 'nothing was let go of')
    collections.letGo(MIB)
    mock.timers.tick(10_000)
    assert.equal(count, 6, 'little is collected, too')
    collections.letGo(100 * MIB)
    assert.equal(count, 7)
    collections.stop()
    mock.timers.tick(10_000)
    assert.equal(count, 7, 'stopped')
  } finally {
    mock.timers.reset()
  }
})
