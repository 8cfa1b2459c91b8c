/** What a mirror says of its copy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyOf, mirrorOf, sourceOf } from './world.ts'

test('A mirror holds what its source has, and says how old that is, once it has it.', async (t) => {
  const { id, web } = await sourceOf(t)
  let now = Date.UTC(2026, 2, 11) / 1000
  const { mirror, status, held } = mirrorOf(t, web.url, copyOf(t), { clock: () => now })
  assert.deepEqual([status()['age_seconds'], await held()], [null, null])
  await mirror.look()
  now += 90.4
  assert.deepEqual([status()['age_seconds'], await held()], [90, id])
})
