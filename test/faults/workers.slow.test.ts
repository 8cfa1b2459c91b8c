/** Serving threads that die or hang, in compiled code and under load; stalls.nightly has the longer ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../until.ts'
import { startDrill, statusOf, strangers, TRAP } from './drill.ts'
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

test('A worker that is stalled over a request is named with the operation, the server is not ready any more, and the process ends with a failure.', async (t) => {
  const drill = await startDrill(t, folder)
  for (const thread of [0, 1]) await drill.evaluate(thread, TRAP)
  const poison = `${drill.base}/buoys/search?limit=3&query=poison`
  const cut = statusOf(poison)
  const told = 'while it answered /v2/buoys/search'
  await until(async () => (await drill.ready()).code !== 200)
  const { code, reason } = await drill.ready()
  assert.equal(code, 503)
  assert.match(reason ?? '', new RegExp(`^worker [01] has been silent for 15 s, ${told}$`))
  // `process.exit` would abort with a core file as long as the engine of a thread is open.
  assert.equal(await drill.end, 'SIGKILL')
  assert.notEqual(await cut, 200)
  assert.match(
    drill.output(),
    new RegExp(`^fault: worker [01] has been silent for 15 s, ${told}: stopping, to be restarted$`, 'm'),
  )
  assert.doesNotMatch(drill.output(), /poison/)
})
