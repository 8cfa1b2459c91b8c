/** Serving threads that die or hang, in compiled code and under load; stalls.nightly has the longer ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../until.ts'
import { startDrill, statusOf, strangers, TRAP, untilReplaced } from './drill.ts'
import { amount, snapshotOf, twoSnapshots } from './folder.ts'

const folder = await snapshotOf(0)

test('A worker that dies under load is replaced, no connection waits for a dead one, and a snapshot that comes meanwhile reaches the new one.', async (t) => {
  const two = await twoSnapshots(t)
  two.announce(0)
  const drill = await startDrill(t, two.folder)
  let isOver = false
  const load = strangers(`${drill.base}/buoys/search?query=bu`, 16, () => isOver)
  const times: number[] = []
  const deaths = amount(4, 20)
  for (let death = 0; death < deaths; death++) {
    await setTimeout(500)
    const { replaced } = (await drill.status()).workers
    if (death === deaths - 1) two.announce(1)
    void drill.evaluate(0, "void setTimeout(() => { throw new Error('a drill') })")
    const asked = performance.now()
    await until(async () => (await drill.status()).workers.replaced > replaced)
    times.push(Math.round(performance.now() - asked))
  }
  await setTimeout(300)
  isOver = true
  const { answers, failures, slowest } = await load
  t.diagnostic(
    `replaced after ${times.join(', ')} ms; ${answers} answers, ${failures.length} lost, the slowest ${Math.round(slowest)} ms`,
  )
  // What was on its way to the dead one is cut off at once, the rest is answered.
  assert.ok(failures.length <= deaths * 16, `${failures.length} of ${answers} failed`)
  assert.deepEqual(
    failures.filter((failure) => failure === 'TimeoutError' || failure.startsWith('status')),
    [],
  )
  await drill.reload()
  for (let i = 0; i < 20; i++) {
    const reply = await fetch(`${drill.base}/countries`, { headers: { connection: 'close' } })
    assert.equal(reply.headers.get('x-snapshot-id'), two.ids[1])
  }
  assert.equal(await drill.stop(), 0)
})

test('A worker that is stalled over a request is replaced while the other goes on serving, and that request is refused the next time.', async (t) => {
  const drill = await startDrill(t, folder)
  await drill.evaluate(0, TRAP)
  const poison = `${drill.base}/buoys/search?limit=3&query=poison`
  let isOver = false
  t.after(() => (isOver = true))
  // Until one of them reaches the thread that is stalled over it; the other answers.
  const first = (async () => {
    for (;;) {
      const status = await statusOf(poison)
      if (status !== 200) return status
    }
  })()
  await setTimeout(1000)
  const load = strangers(`${drill.base}/buoys/search?query=bu`, 8, () => isOver)
  await untilReplaced(drill, 1)
  const cut = await first
  isOver = true
  const { answers, failures } = await load
  t.diagnostic(`the request ended with ${cut}; meanwhile ${answers} answers, ${failures.length} lost`)
  assert.ok(cut === 'UND_ERR_SOCKET' || cut === 'ECONNRESET', String(cut))
  assert.ok(answers > 0)
  // Those whose connections had gone to the one that hung.
  assert.ok(failures.length <= 16, failures.join())
  assert.match(
    drill.output(),
    /^fault: worker 0 was stalled for \d+ s over a request, which is refused from now on, and is replaced; it was at /m,
  )
  assert.doesNotMatch(drill.output(), /poison/)
  for (let i = 0; i < 12; i++) {
    const same = [poison, `${drill.base}/buoys/search?query=poison&limit=3&api_key=gsw_another`]
    assert.equal(await statusOf(same[i % 2]), 500)
    assert.equal(await statusOf(`${drill.base}/buoys/search?query=bu`), 200)
  }
  assert.equal(await drill.stop(), 0)
})
