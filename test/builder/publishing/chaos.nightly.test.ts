import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../live.ts'
import { runChaos } from './chaos.ts'

test('Builders and a replica that are killed at random on a store that fails end on one snapshot, and no id moves.', async (t) => {
  const figures = await runChaos({
    folder: temporaryFolder(t),
    seconds: 0,
    rounds: 5,
    replicas: 1,
    slowFaults: false,
    seed: 7,
    log: (line) => t.diagnostic(line),
  })
  assert.ok(figures.commits > 0 && figures.calls > 50 && figures.failedCalls > 0, JSON.stringify(figures))
  assert.ok(figures.replicas.looks > 0, JSON.stringify(figures))
})
