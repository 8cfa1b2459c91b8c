/** Threads that hang are ended, also several at once. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { LAST_ACT } from '../../src/server/loop-heartbeat.ts'
import { endInterrupted, within } from '../../src/server/watchdog.ts'

/** Long for a thread that has been terminated, on any machine. */
const GONE_WITHIN_MS = 60_000

/** A thread that hangs for good, and whose last act takes a while, as closing an engine does. */
const HANGS = `
  const { parentPort, threadId } = require('node:worker_threads')
  globalThis[Symbol.for(${JSON.stringify(LAST_ACT)})] = (thread) => {
    if (thread !== threadId) return null
    for (const end = performance.now() + 3; performance.now() < end; );
    return threadId
  }
  parentPort.postMessage('hangs')
  for (;;);
`

async function startHanging(t: TestContext): Promise<{ worker: Worker; exit: Promise<void> }> {
  const worker = new Worker(HANGS, { eval: true })
  t.after(() => worker.terminate())
  const exit = once(worker, 'exit').then(() => {})
  await once(worker, 'message')
  return { worker, exit }
}

test('Threads that hang at once are all ended, each after its own last act.', async (t) => {
  // Before they were ended one after another, one in four rounds left a thread that went on for good.
  for (let round = 0; round < 20; round++) {
    const threads = await Promise.all([startHanging(t), startHanging(t)])
    const ids = threads.map(({ worker }) => worker.threadId)
    const acts = await Promise.all(
      threads.map(({ worker, exit }) => endInterrupted({ worker, exit, mayTerminate: false })),
    )
    assert.deepEqual(acts, ids)
    for (const { exit } of threads) assert.ok(await within(GONE_WITHIN_MS, exit), `round ${round}`)
  }
})
