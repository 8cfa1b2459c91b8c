/** Serving threads that stall over a snapshot or in native code, or only pause. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../live.ts'
import { PAUSE_MS, startDrill } from './drill.ts'
import { amount, announce, build, snapshotOf } from './folder.ts'

const folder = await snapshotOf(0)

test('A snapshot that stalls a worker is named, and the process ends.', async (t) => {
  const own = join(temporaryFolder(t), 'snapshots')
  const ids = [await build(own, 0), await build(own, 1)]
  announce(own, ids[0])
  const drill = await startDrill(t, own)
  assert.equal((await drill.status()).snapshot?.id, ids[0])
  // Stalls between two slices of a snapshot that is being got ready, and nowhere else.
  await drill.evaluate(
    0,
    `const now = performance.now.bind(performance)
      performance.now = () => {
        if (new Error().stack.split('\\n')[2].includes('finishInSlices')) for (;;);
        return now()
      }`,
  )
  announce(own, ids[1])
  while ((await drill.ready()).code === 200) await setTimeout(PAUSE_MS)
  const { reason } = await drill.ready()
  assert.equal(reason, `worker 0 has been silent for 15 s, while it got snapshot ${ids[1]} ready`)
  assert.equal(await drill.end, 'SIGKILL')
})

test('A worker that only pauses for ten seconds, and a server that is stopped for a while, go on.', async (t) => {
  const drill = await startDrill(t, folder)
  await drill.evaluate(0, 'for (const end = performance.now() + 10_000; performance.now() < end;) {}')
  drill.signal('SIGSTOP')
  await setTimeout(amount(20_000, 40_000))
  drill.signal('SIGCONT')
  await setTimeout(2500)
  assert.deepEqual(await drill.ready(), { code: 200 })
  assert.equal((await drill.status()).workers.replaced, 0)
  assert.equal(await drill.stop(), 0)
})
