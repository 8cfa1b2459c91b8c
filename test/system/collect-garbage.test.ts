import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { collectSoon } from '../../src/system/thread.ts'

const MIB = 2 ** 20

test('Shared memory that was let go of is freed soon after a collection was asked for, while nothing else runs.', async () => {
  let freed: string[] = []
  const registry = new FinalizationRegistry((list: string[]) => list.push('shared memory'))
  const allocate = (): void => registry.register(new SharedArrayBuffer(MIB), freed)
  // What the engine frees by itself shows nothing: then it is tried again.
  for (let tries = 0; tries === 0 || (tries < 20 && freed.length > 0); tries++) {
    freed = []
    allocate()
    // Old by now: only a collection of all frees it.
    for (let i = 0; i < 64; i++) Array.from({ length: 2 ** 17 }, () => i)
    await setTimeout(1000)
  }
  assert.deepEqual(freed, [], 'freed without being asked for')
  for (let tries = 0; tries < 60 && freed.length === 0; tries++) {
    collectSoon()
    await setTimeout(1000)
  }
  assert.deepEqual(freed, ['shared memory'])
})
