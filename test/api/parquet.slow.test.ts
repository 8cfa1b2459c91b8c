/** Parquet over both engines, by a real thread: framing, heads, prices, and how a broken file shows. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { loadEngine } from '../../src/http/engines/engine.ts'
import type { Engine } from '../../src/http/exchange.ts'
import { LaterAnswers } from '../../src/http/later-answers.ts'
import { ParquetAnswers } from '../../src/http/parquet-answers.ts'
import { startThread } from '../../src/system/thread.ts'
import { AskedPath, KEY, KEYED, viewOf } from '../answered.ts'
import { duck } from '../formats/bulk/duck.ts'
import { ENGINES, missing } from '../http/server_for_tests.ts'
import { ask, type AskOptions, folderOfFile, type Reply, runCliWell } from '../live.ts'

const folder = folderOfFile()
/** Half-hourly: 35,000 readings, which are four row groups. */
const SOURCE = ['--source', 'demo:scale,buoys=1,days=730']
const build = (name: string, asOf: string): Promise<string> =>
  runCliWell(['build', ...SOURCE, '--as-of', asOf, '--out', join(folder, name)])
await build('one', '2026-11-01T06:00:00Z')
await build('two', '2026-11-01T06:30:00Z')
const [view, later] = [await viewOf(join(folder, 'one')), await viewOf(join(folder, 'two'))]
const READINGS = '/v2/buoys/1/readings?format=parquet'

interface Served {
  engine: Engine
  path: AskedPath
  faults: unknown[]
  threads: Worker[]
  get: (url: string, options?: AskOptions) => ReturnType<typeof ask>
}

/** A serving thread's engine, request path and thread for Parquet, in this one. */
async function serve(kind: 'uws' | 'node', end: (last: () => void) => void): Promise<Served> {
  const faults: unknown[] = []
  const threads: Worker[] = []
  const parquet = new ParquetAnswers({
    start() {
      const thread = startThread(new URL('../../src/formats/parquet-thread', import.meta.url), null)
      threads.push(thread)
      return thread
    },
  })
  const later = new LaterAnswers(() => 0)
  const options = { later, parquet, onFault: (error: unknown) => faults.push(error) }
  const path = new AskedPath(view, options)
  const engine = loadEngine(kind).create((exchange) => path.path.handle(exchange))
  const port = await engine.listen('127.0.0.1', 0)
  end(() => {
    engine.close()
    parquet.close()
  })
  return {
    engine,
    path,
    faults,
    threads,
    get: (url, options) => ask(port, url, { ...options, headers: { ...KEYED, ...options?.headers } }),
  }
}

const database = await duck()
after(() => database.close())

async function countOf(bytes: Buffer): Promise<number> {
  const file = join(folder, 'answer.parquet')
  writeFileSync(file, bytes)
  return Number((await database.ask(`SELECT count(*) AS rows FROM '${file}'`))[0]['rows'])
}

for (const kind of ENGINES) {
  test(
    `Parquet of the ${kind} engine is whole or breaks off visibly, whatever happens to client, snapshot and thread.`,
    { skip: missing(kind) },
    async (t) => {
      const { engine, path, faults, threads, get } = await serve(kind, (last) => t.after(last))
      const left = ({ headers }: Reply): number => Number(headers['x-ratelimit-remaining'])

      const head = await get(READINGS, { method: 'HEAD' })
      const whole = await get(READINGS)
      assert.equal(whole.status, 200)
      assert.equal(whole.headers['content-type'], 'application/vnd.apache.parquet')
      assert.equal(
        whole.headers['content-disposition'],
        'attachment; filename="groundswell_biarritz-1_readings_2024-11-01_2026-11-01.parquet"',
      )
      assert.deepEqual(
        [whole.headers['transfer-encoding'], whole.headers['content-length']],
        ['chunked', undefined],
      )
      const rows = Number(whole.headers['x-total-count'])
      assert.ok(whole.isWhole && rows > 30_000)
      assert.equal(await countOf(whole.bytes), rows)
      assert.equal(left(head) - left(whole), Math.ceil(rows / 10_000), 'the price')
      for (const name of [
        'etag',
        'content-disposition',
        'content-type',
        'x-total-count',
        'vary',
        'cache-control',
      ]) {
        assert.equal(head.headers[name], whole.headers[name], name)
      }
      assert.equal(head.bytes.length, 0)
      const etag = whole.headers.etag!
      assert.equal((await get(READINGS, { headers: { 'if-none-match': etag } })).status, 304)
      assert.notEqual((await get(READINGS.replace('parquet', 'csv'))).headers.etag, etag)
      const accepted = await get('/v2/buoys/1/readings?per_page=7', {
        headers: { accept: 'application/vnd.apache.parquet' },
      })
      assert.equal(await countOf(accepted.bytes), 7)
      assert.match(String(accepted.headers.link), /rel="next"/)

      const columns = 'time,buoy.name,wind_speed,uuid'
      const picked = await get(`${READINGS}&include=wind&fields=${columns}&order=asc`)
      writeFileSync(join(folder, 'picked.parquet'), picked.bytes)
      const described = await database.ask(`DESCRIBE FROM '${folder}/picked.parquet'`)
      assert.equal(described.map((row) => row['column_name']).join(), columns)

      // A swap and a key that ends change nothing of what has begun.
      const during = await get(READINGS, {
        onHead() {
          path.path.setView(later)
          path.path.setKeys(path.keysOf([]))
        },
      })
      assert.ok(during.isWhole && during.bytes.equals(whole.bytes))
      assert.equal((await get(READINGS)).status, 401)
      path.path.setKeys(path.keysOf([KEY]))
      const after = await get(READINGS)
      assert.notEqual(after.headers['x-snapshot-id'], whole.headers['x-snapshot-id'])
      assert.notEqual(after.headers.etag, etag)

      // The thread dies after its first group.
      threads[0].once('message', () => void threads[0].terminate())
      const cut = await get(READINGS)
      assert.equal(cut.status, 200)
      assert.equal(cut.isWhole, false)
      assert.ok(cut.bytes.length > 0 && cut.bytes.length < after.bytes.length)
      assert.equal(faults.length, 1)
      const [first, second] = await Promise.all([get(READINGS), get(READINGS)])
      assert.ok(first.isWhole && second.isWhole && first.bytes.equals(after.bytes))
      assert.equal(threads.length, 2)

      // What has begun before the end of the server is sent.
      const last = await get(READINGS, {
        onHead() {
          engine.drain()
          engine.stopListening()
        },
      })
      await engine.finish(10_000)
      assert.ok(last.isWhole && last.bytes.equals(after.bytes))
    },
  )
}
