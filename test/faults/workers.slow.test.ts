/** Serving threads that die or hang, in compiled code and under load. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { PAUSE_MS, startDrill, statusWhen, strangers, type Drill } from './drill.ts'
import { amount, announce, build, twoSnapshots } from './folder.ts'

let folder = ''
before(async (t) => {
  folder = join(temporaryFolder(t as TestContext), 'snapshots')
  await build(folder, 0)
})

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

/** Has a thread hang over one search, as a fault of ours would. */
const TRAP = `{
  const lower = String.prototype.toLowerCase
  String.prototype.toLowerCase = function () {
    if (this.includes('poison')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return lower.call(this)
  }
}`

/** Status of the answer, or what went wrong instead. */
async function statusOf(url: string): Promise<number | string> {
  try {
    const answer = await fetch(url, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(20_000),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? name
  }
}

/** Waits until that many workers have been replaced and all serve. Mostly it takes 6 s. */
const untilReplaced = (drill: Drill, count: number): Promise<unknown> =>
  statusWhen(drill, ({ workers }) => workers.replaced >= count && workers.serving === 2)

/** What the server says of its readiness until `isOver`. */
async function readinessUntil(drill: Drill, isOver: () => boolean): Promise<Set<string>> {
  const seen = new Set<string>()
  for (; !isOver(); await setTimeout(20)) {
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
  while ((await drill.ready()).code === 200) await setTimeout(20)
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
