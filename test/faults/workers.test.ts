/** Serving threads that die or hang, in compiled code and under load. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { listKept } from '../../src/snapshot/history.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { startDrill, strangers } from './drill.ts'
import { amount, build } from './folder.ts'

let folder = ''
before(async (t) => {
  folder = join(temporaryFolder(t as TestContext), 'snapshots')
  await build(folder, 0)
})

/** Milliseconds that a bare Node takes to start and end on a machine that is not busy with other things. */
const USUAL_START = 60

/** Milliseconds that it takes now, three times. */
function starts(): number[] {
  return [0, 1, 2].map(() => {
    const began = performance.now()
    spawnSync(process.execPath, ['-e', '0'])
    return performance.now() - began
  })
}

test(
  'A worker that dies under load is replaced within a second, and no connection waits for a dead one.',
  { timeout: 120_000 },
  async (t) => {
    const drill = await startDrill(t, folder)
    const before = starts()
    let isOver = false
    const load = strangers(`${drill.base}/buoys/search?query=bu`, 16, () => isOver)
    const times: number[] = []
    const deaths = amount(4, 20)
    for (let death = 0; death < deaths; death++) {
      await setTimeout(500)
      const { replaced } = (await drill.status()).workers
      void drill.evaluate(0, "void setTimeout(() => { throw new Error('a drill') })")
      let died = performance.now()
      for (;;) {
        const { workers } = await drill.status()
        if (workers.replaced > replaced) break
        // It still lives, and may have to end a request first.
        if (workers.serving === 2) died = performance.now()
        await setTimeout(2)
      }
      times.push(Math.round(performance.now() - died))
    }
    await setTimeout(300)
    isOver = true
    const { answers, failures, slowest } = await load
    // By what else runs on this machine, without the test's own load.
    const slow = Math.max(1, [...before, ...starts()].toSorted((a, b) => a - b)[3] / USUAL_START)
    t.diagnostic(
      `replaced after ${times.join(', ')} ms; ${answers} answers, ${failures.length} lost, the slowest ${Math.round(slowest)} ms; machine ${slow.toFixed(1)} times slower than usual`,
    )
    const middle = times.toSorted((a, b) => a - b)[deaths >> 1]
    assert.ok(
      middle < 1000 * slow,
      `replaced after ${times.join(', ')} ms, the machine ${slow.toFixed(1)} times slower than usual`,
    )
    // What was on its way to the dead one is cut off at once, the rest is answered.
    assert.ok(failures.length <= deaths * 16, `${failures.length} of ${answers} failed`)
    assert.deepEqual(
      failures.filter((failure) => failure === 'TimeoutError' || failure.startsWith('status')),
      [],
    )
    assert.ok(slowest < 3000 * slow, `the slowest took ${slowest} ms`)
    drill.signal('SIGTERM')
    assert.equal(await drill.end, 0)
  },
)

test(
  'A worker that hangs is found out, and the server drains and ends so that its supervisor starts it anew.',
  { timeout: 60_000 },
  async (t) => {
    const own = join(temporaryFolder(t), 'snapshots')
    const first = await build(own, 0)
    await build(own, 1)
    await runCliWell(['rollback', own])
    const drill = await startDrill(t, own)
    assert.deepEqual(await drill.ready(), { code: 200 })
    void drill.evaluate(0, 'for (;;) {}')
    const began = performance.now()
    copyFileSync(join(own, listKept(own)[1].file), join(own, 'next'))
    renameSync(join(own, 'next'), join(own, 'manifest.msgpack'))
    // It waits for a worker that will never be ready, but not for ever.
    const reload = drill.reload()
    while ((await drill.ready()).code === 200) await setTimeout(20)
    const noticed = performance.now() - began
    assert.deepEqual(await drill.ready(), { code: 503, reason: 'worker 0 hangs' })
    assert.equal((await reload).snapshot?.id, first)
    assert.equal(await drill.end, 'SIGKILL')
    const took = performance.now() - began
    assert.match(drill.output(), /^fault: worker 0 hangs: stopping, to be started anew$/m)
    t.diagnostic(`not ready after ${Math.round(noticed)} ms, ended after ${Math.round(took)} ms`)
    assert.ok(noticed > 3900, `noticed after ${noticed} ms`)
    assert.ok(took < 15_000, `ended after ${took} ms`)
  },
)

test(
  'All workers that hang at once, as over one poisonous request, end the server as well.',
  { timeout: 60_000 },
  async (t) => {
    const drill = await startDrill(t, folder)
    for (const thread of [0, 1]) void drill.evaluate(thread, 'for (;;) {}')
    assert.equal(await drill.end, 'SIGKILL')
  },
)

test(
  'A worker that only pauses for seconds, and a server that is stopped for a while, go on.',
  { timeout: 60_000 },
  async (t) => {
    const drill = await startDrill(t, folder)
    await drill.evaluate(0, 'for (const end = performance.now() + 2500; performance.now() < end;) {}')
    drill.signal('SIGSTOP')
    await setTimeout(amount(7000, 20_000))
    drill.signal('SIGCONT')
    await setTimeout(2500)
    assert.deepEqual(await drill.ready(), { code: 200 })
    assert.equal((await drill.status()).workers.replaced, 0)
    drill.signal('SIGTERM')
    assert.equal(await drill.end, 0)
  },
)
