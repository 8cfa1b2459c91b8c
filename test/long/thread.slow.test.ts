/**
 * The thread of long answers as a server has it: parts of files, swaps, and what happens when it dies or
 * hangs.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker, type MessagePort } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { loadEngine } from '../../src/http/engines/engine.ts'
import { LongAnswers } from '../../src/http/long-answers.ts'
import { RequestPath } from '../../src/http/request.ts'
import type { IndexedSnapshot } from '../../src/dataset/view.ts'
import { LongThread } from '../../src/server/side-threads.ts'
import { indexSnapshot } from '../../src/server/index-snapshot.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { startThread } from '../../src/system/thread.ts'
import { KEY, KEYED, keysOf, openedOf, optionsOf } from '../answered.ts'
import { SLOW_ENGINES, missing, needsOf } from '../http/server_for_tests.ts'
import { ask, folderOfFile, runCliWell, type AskOptions } from '../live.ts'
import { until } from '../until.ts'

const folder = folderOfFile()
/** Half-hourly: 35,000 readings, which are four row groups and 5 MB of CSV. */
const SOURCE = ['--source', 'demo:scale,buoys=1,days=730']
const build = (name: string, asOf: string): Promise<string> =>
  runCliWell(['build', ...SOURCE, '--as-of', asOf, '--out', join(folder, name)])
await build('one', '2026-11-01T06:00:00Z')
await build('two', '2026-11-01T06:30:00Z')

async function indexed(name: string): Promise<IndexedSnapshot> {
  return finish(indexSnapshot(await loadSnapshot(join(folder, name)), 86_400)).indexed
}
const [one, two] = [await indexed('one'), await indexed('two')]
const [oneView, twoView] = await Promise.all(
  ['one', 'two'].map(async (name) => openedOf(await loadSnapshot(join(folder, name)), 86_400)),
)
const PARQUET = '/v2/buoys/1/readings?format=parquet'
/** 3 MB. */
const HISTORY = '/v2/buoys/1/readings/series?metric=period&bucket=hour&start_year=2024&end_year=2026'

/** A serving thread's engine and request path in this one, and a thread that makes its long answers. */
async function serve(kind: 'uws' | 'node', end: (last: () => void) => void) {
  const faults: string[] = []
  const threads: Worker[] = []
  const long = new LongAnswers()
  const worker = {
    postMessage: ({ port }: { port: MessagePort }) => long.connect(port),
  } as unknown as Worker
  const thread = new LongThread({
    log: () => {},
    workers: () => [worker],
    begin(start) {
      const begun = startThread(new URL('../../src/long/thread', import.meta.url), start)
      threads.push(begun)
      return begun
    },
  })
  thread.start()
  await thread.open(one, [])
  const options = {
    ...optionsOf(1),
    long,
    answerCache: 0,
    onFault: (fault: string) => void faults.push(fault),
  }
  const path = new RequestPath(options, keysOf([KEY]))
  path.hold([oneView], 1)
  const engine = loadEngine(kind).create((exchange) => path.handle(exchange), needsOf())
  const port = await engine.listen('127.0.0.1', 0)
  end(() => {
    engine.close()
    void thread.close()
  })
  const get = (url: string, more: AskOptions = {}): ReturnType<typeof ask> =>
    ask(port, url, { ...more, headers: { ...KEYED, ...more.headers } })
  return { engine, path, faults, threads, thread, long, port, get }
}

/** The parts of all columns are asked for at once: on a busy machine some of them find no place. */
async function patientFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  let answer: Response
  await until(async () => (answer = await fetch(...asked)).status !== 503)
  return answer!
}

for (const kind of SLOW_ENGINES) {
  test(
    `Over ${kind}, files are whole, with a length, in parts, by HEAD and compressed, as readers by address ask for them.`,
    { skip: missing(kind) },
    async (t) => {
      const { get, port } = await serve(kind, (last) => t.after(last))
      const head = await get(PARQUET, { method: 'HEAD' })
      const whole = await get(PARQUET)
      assert.equal(whole.status, 200)
      assert.equal(Number(whole.headers['content-length']), whole.bytes.length)
      const rows = Number(whole.headers['x-total-count'])
      assert.ok(rows > 30_000)
      const left = ({ headers }: Awaited<ReturnType<typeof ask>>): number =>
        Number(headers['x-ratelimit-remaining'])
      assert.equal(left(head) - left(whole), 1, 'each call counts as one')
      for (const name of Object.keys(whole.headers)) {
        if (!['date', 'cache-control', 'x-ratelimit-remaining'].includes(name))
          assert.equal(head.headers[name], whole.headers[name], name)
      }
      assert.equal(head.bytes.length, 0)
      const etag = whole.headers.etag!
      assert.equal((await get(PARQUET, { headers: { 'if-none-match': etag } })).status, 304)

      for (const format of ['parquet', 'csv', 'ndjson']) {
        const url = PARQUET.replace('parquet', `${format}&start_date=2026-09-01`)
        const all = await get(url)
        const part = await get(url, { headers: { range: 'bytes=100-199', 'accept-encoding': 'gzip' } })
        assert.deepEqual([part.status, part.headers['content-encoding']], [206, undefined])
        assert.equal(part.headers['content-range'], `bytes 100-199/${all.bytes.length}`)
        assert.equal(part.headers['content-length'], '100')
        assert.ok(part.bytes.equals(all.bytes.subarray(100, 200)))
        const behind = await get(url, { headers: { range: 'bytes=99999999-' } })
        assert.deepEqual(
          [behind.status, behind.headers['content-range'], behind.bytes.length],
          [416, `bytes */${all.bytes.length}`, 0],
        )
        const again = await get(url, { headers: { range: 'bytes=0-9', 'if-range': etag } })
        assert.ok(again.status === 200 && again.bytes.equals(all.bytes))
        const coded = await get(url, { headers: { 'accept-encoding': 'gzip' } })
        assert.equal(coded.headers['content-encoding'], format === 'parquet' ? undefined : 'gzip')
        assert.ok((format === 'parquet' ? coded.bytes : gunzipSync(coded.bytes)).equals(all.bytes))
      }
      // The time in it changes, so it has no parts.
      const json = await get(HISTORY, { headers: { range: 'bytes=0-9' } })
      assert.deepEqual([json.status, json.headers['accept-ranges']], [200, undefined])

      const url = `http://127.0.0.1:${port}${PARQUET}`
      const file = await asyncBufferFromUrl({ url, requestInit: { headers: KEYED }, fetch: patientFetch })
      const read = await parquetReadObjects({ file, columns: ['time', 'significient_height'] })
      assert.equal(read.length, rows)
    },
  )

  test(
    `Over ${kind}, what has begun goes on from its snapshot after a swap, and a thread that dies or hangs is replaced.`,
    { skip: missing(kind) },
    async (t) => {
      const { get, engine, path, faults, thread, threads, long } = await serve(kind, (last) => t.after(last))
      const whole = await get(HISTORY)
      assert.equal(whole.status, 200)
      // Asked before the serving thread lets go of a snapshot, it is answered from that.
      const before = get(PARQUET)
      await until(() => long.counts.waiting + long.counts.begun > 0, 'not asked')
      await thread.open(two, [])
      path.hold([twoView], 1)
      thread.hold([two])
      assert.equal((await before).headers['x-snapshot-id'], one.id)
      const after = await get(PARQUET)
      assert.deepEqual([after.status, after.headers['x-snapshot-id']], [200, two.id])
      assert.ok(!after.bytes.equals((await before).bytes))

      void threads[0].terminate()
      const lost = await get(PARQUET)
      assert.ok([500, 503].includes(lost.status), String(lost.status))
      assert.equal(faults.length, lost.status === 500 ? 1 : 0)
      await until(() => threads.length === 2, 'not replaced')
      let again = await get(PARQUET)
      while (again.status === 503) again = await get(PARQUET)
      assert.ok(again.bytes.equals(after.bytes))
      assert.equal(thread.replaced, 1)

      // What has begun before the end of the server is sent.
      const last = await get(PARQUET, {
        onHead() {
          engine.drain()
          void engine.stopListening()
        },
      })
      await engine.finish(10_000)
      assert.ok(last.isWhole && last.bytes.equals(after.bytes))
    },
  )
}

test('A thread that gives no sign of life is ended and replaced, and answers then.', async (t) => {
  const logged: string[] = []
  const threads: Worker[] = []
  const thread = new LongThread({
    log: (line) => void logged.push(line),
    workers: () => [],
    silentChecks: 1,
    begin(start) {
      const hangs = `const { workerData } = require('node:worker_threads')
        Atomics.add(new Int32Array(workerData.signs), 0, 1)
        for (;;);`
      const begun =
        threads.length === 0
          ? new Worker(hangs, { eval: true, workerData: start })
          : startThread(new URL('../../src/long/thread', import.meta.url), start)
      threads.push(begun)
      return begun
    },
  })
  t.after(() => thread.close())
  thread.start()
  // The thread hangs, so the next one opens it.
  await thread.open(one, [])
  await until(() => threads.length === 2, 'not replaced')
  assert.match(logged.join(), /no sign of life/)
  await thread.open(two, [])
})
