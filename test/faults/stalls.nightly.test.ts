/** Serving threads that all stall, stall over a snapshot or in native code, or only pause. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../live.ts'
import { PAUSE_MS, startDrill, statusOf, TRAP, untilReplaced, type Drill } from './drill.ts'
import { amount, announce, build, snapshotOf } from './folder.ts'

const folder = await snapshotOf(0)

/** What the server says of its readiness until `isOver`. */
async function readinessUntil(drill: Drill, isOver: () => boolean): Promise<Set<string>> {
  const seen = new Set<string>()
  for (; !isOver(); await setTimeout(PAUSE_MS)) {
    const { code, reason } = await drill.ready()
    seen.add(reason ?? String(code))
  }
  return seen
}

/**
 * Asks for `url` over a connection of its own. Resolves once the question is with the kernel, to the promise
 * of all that comes back.
 */
function send(url: string): Promise<{ answer: Promise<string> }> {
  const { hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    socket.on('data', (chunk) => (text += chunk))
    const answer = new Promise<string>((done) => socket.once('close', () => done(text)))
    socket.on('error', reject)
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`, () => resolve({ answer }))
  })
}

test('All workers that are stalled at once over one request are replaced, and the process lives.', async (t) => {
  const drill = await startDrill(t, folder)
  for (const thread of [0, 1]) await drill.evaluate(thread, TRAP)
  const poison = `${drill.base}/buoys/search?query=poison`
  // Of so many some reach each of them, and all at once: one that came to it later would be refused by
  // then.
  drill.signal('SIGSTOP')
  const sent = await Promise.all(Array.from({ length: 24 }, () => send(poison)))
  drill.signal('SIGCONT')
  let isOver = false
  t.after(() => (isOver = true))
  const readiness = readinessUntil(drill, () => isOver)
  await untilReplaced(drill, 2)
  isOver = true
  // One may be found to hang a look later than the other, which is replaced by then: at no time are there
  // none.
  const seen = await readiness
  seen.add('0 of 2 workers are serving')
  assert.deepEqual([...seen].toSorted(), ['0 of 2 workers are serving', '200'])
  for (const { answer } of sent) assert.equal(await answer, '')
  assert.deepEqual(await drill.ready(), { code: 200 })
  for (let i = 0; i < 6; i++) assert.equal(await statusOf(poison), 500)
  assert.equal(await statusOf(`${drill.base}/buoys/search?query=bu`), 200)
  assert.equal(await drill.stop(), 0)
})

test('A snapshot that stalls a worker is refused for good, the others serve on, and the next one is served.', async (t) => {
  const own = join(temporaryFolder(t), 'snapshots')
  const ids = [await build(own, 0), await build(own, 1), await build(own, 2)]
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
  let lost = 0
  let answered = 0
  while ((await drill.status()).reload.last_error === null) {
    if ((await statusOf(`${drill.base}/buoys/search?query=bu`)) === 200) answered++
    else lost++
    await setTimeout(PAUSE_MS)
  }
  await untilReplaced(drill, 1)
  const refusal = new RegExp(`snapshot ${ids[1]} stalled a worker for \\d+ s .* refused for good`)
  assert.match((await drill.status()).reload.last_error ?? '', refusal)
  assert.match(drill.output(), new RegExp(`worker 0 was stalled for \\d+ s over snapshot ${ids[1]}`))
  t.diagnostic(`${answered} answers meanwhile, ${lost} lost`)
  // By hand as well, and without a worker that tries.
  const again = await drill.reload()
  assert.match(again.reload.last_error ?? '', refusal)
  assert.equal(again.snapshot?.id, ids[0])
  assert.deepEqual(again.workers, { wanted: 2, serving: 2, replaced: 1 })
  announce(own, ids[2])
  assert.equal((await drill.reload()).snapshot?.id, ids[2])
  assert.equal(await drill.stop(), 0)
})

test('A worker that is stuck in native code cannot be ended: the server drains and ends so that its supervisor starts it anew.', async (t) => {
  const drill = await startDrill(t, folder)
  void drill.evaluate(0, "process.getBuiltinModule('node:child_process').spawnSync('sleep', ['40'])")
  while ((await drill.ready()).code === 200) await setTimeout(PAUSE_MS)
  assert.deepEqual(await drill.ready(), { code: 503, reason: 'worker 0 is stalled and cannot be ended' })
  assert.equal(await drill.end, 'SIGKILL')
  assert.match(drill.output(), /^fault: worker 0 is stalled and cannot be ended: stopping, to be restarted$/m)
})

test('A worker that only pauses for seconds, and a server that is stopped for a while, go on.', async (t) => {
  const drill = await startDrill(t, folder)
  await drill.evaluate(0, 'for (const end = performance.now() + 2500; performance.now() < end;) {}')
  drill.signal('SIGSTOP')
  await setTimeout(amount(7000, 20_000))
  drill.signal('SIGCONT')
  await setTimeout(2500)
  assert.deepEqual(await drill.ready(), { code: 200 })
  assert.equal((await drill.status()).workers.replaced, 0)
  assert.equal(await drill.stop(), 0)
})
