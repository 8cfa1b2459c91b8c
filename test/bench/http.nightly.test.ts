/**
 * The parts of the HTTP bench that compute: a wrong median or a misread log would make every figure wrong
 * without a sign. And a short form of the sections in which everything is asked together.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { openLoop } from '../../bench/http/open-loop.ts'
import { listening } from '../listening.ts'
import { missingTool } from '../programs.ts'
import { collectionsIn } from '../../bench/http/limits.ts'
import { plot, table, type ShareRow } from '../../bench/http/report.ts'
import { median, medians, quantile, zipfRanks } from '../../bench/http/statistics.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const numbers = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1, maxLength: 30 })

test('A median has as many values below it as above it.', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const middle = median(values)
      const below = values.filter((value) => value < middle).length
      const above = values.filter((value) => value > middle).length
      return below <= values.length / 2 && above <= values.length / 2
    }),
  )
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
})

test('Medians are taken of each quantity by itself.', () => {
  const samples = [
    { rate: 1, cpu: 30 },
    { rate: 2, cpu: 10 },
    { rate: 3, cpu: 20 },
  ]
  assert.deepEqual(medians(samples), { rate: 2, cpu: 20 })
})

test('A quantile is the least value that the share does not exceed.', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  assert.equal(quantile(hundred, 0.5), 50)
  assert.equal(quantile(hundred, 0.99), 99)
  assert.equal(quantile([7], 0.99), 7)
})

test('The first rank of Zipf’s law is drawn twice as often as the second, and no rank is out of range.', () => {
  let state = 1
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647
  const rank = zipfRanks(100)
  const counts = Array.from({ length: 100 }, () => 0)
  for (let i = 0; i < 100_000; i++) counts[rank(random)]++
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    100_000,
  )
  const ratio = counts[0] / counts[1]
  assert.ok(ratio > 1.9 && ratio < 2.1, `the first rank came ${ratio} times as often as the second`)
  assert.ok(counts[99] > 0, 'the last rank never came')
})

test('Collections are read from what V8 writes, thread by thread.', () => {
  const output = [
    '[4242:0x5f00]      100 ms: Scavenge 20.0 (35.1) -> 10.0 (35.6) MB, 1.20 / 0.00 ms  (average mu = 0.9) task; ',
    'listening on http://127.0.0.1:8080/v2',
    '[4242:0x6f00]      110 ms: Scavenge 50.0 (60.0) -> 48.0 (60.0) MB, 0.50 / 0.00 ms  (average mu = 1.0) allocation failure; ',
    '[4242:0x5f00]      200 ms: Mark-Compact (reduce) 26.0 (35.6) -> 8.0 (30.0) MB, 7.50 / 0.10 ms  (+ 3.0 ms in 5 steps) task; ',
    '[4242:0x5f00]      300 ms: Scavenge 9.0 (30.0) -> 8.5 (30.0) MB, pooled: 2 MB, 0.70 / 0.00 ms  (average mu = 1.0) task; ',
  ].join('\n')
  assert.deepEqual(collectionsIn(output), {
    longest: 7.5,
    longestElsewhere: 0.5,
    tooLong: 1,
    count: 4,
    // Of the first thread 10 → 26 and 8 → 9 MB; the second has one line, and so no growth.
    allocated: 17 * 2 ** 20,
  })
})

test('Tables have even columns, numbers to the right.', () => {
  assert.equal(
    table(
      ['case', 'n'],
      [
        ['detail', '1,200'],
        ['map', ''],
      ],
    ),
    ['| case   |     n |', '| ------ | ----: |', '| detail | 1,200 |', '| map    |       |'].join('\n'),
  )
})

test('A plot draws one bar for each case and mode, and text cannot leave its element.', () => {
  const row: ShareRow = {
    case: 'a <b> & c',
    mode: 'cold',
    depth: 1,
    bytes: 500,
    rate: 90,
    ceilingRate: 100,
    share: 0.9,
    cpuShare: 0.9,
    cpu: 5,
    ceilingCpu: 4.5,
    busy: 1,
    ceilingBusy: 1,
    p50: 1,
    p99: 2,
    bar: 0.85,
  }
  const drawn = plot([row, { ...row, mode: 'hot' }, { ...row, depth: 16 }], 'A title')
  assert.equal(drawn.match(/<rect [^>]*height="6"/g)?.length, 2)
  assert.match(drawn, /a &lt;b&gt; &amp; c/)
  assert.match(drawn, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  assert.ok(drawn.endsWith('</svg>\n'), 'the picture is not closed')
})

/** Answers after `delayMs` what the target says: a status, or `chunked`, or `close`. */
function slowServer(t: TestContext, delayMs: number): Promise<number> {
  const server = createServer((request, response) => {
    setTimeout(() => {
      const what = request.url!.slice(1)
      if (what === 'chunked') {
        response.write('a')
        setImmediate(() => response.end('b'.repeat(100_000)))
      } else if (what === 'close') response.writeHead(200, { connection: 'close' }).end('closed')
      else if (what === '304') response.writeHead(304, { etag: '"1"' }).end()
      else response.writeHead(Number(what), { 'content-length': 3 }).end('abc')
    }, delayMs)
  })
  return listening(t, server)
}

function openFile(
  t: TestContext,
  requests: readonly { target: string; kind: number; more?: string }[],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-open-loop-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const texts = requests.map(({ target, kind, more = '' }) => ({
    text: `GET /${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`,
    kind,
    statuses: [200, 304],
  }))
  writeFileSync(join(folder, 'requests.json'), JSON.stringify(texts))
  return join(folder, 'requests.json')
}

test('An open loop counts a latency from when its request was due, of each kind, over connections that come and go.', async (t) => {
  const delayMs = 20
  const port = await slowServer(t, delayMs)
  const file = openFile(t, [
    { target: '200', kind: 0 },
    { target: 'chunked', kind: 1 },
    { target: '304', kind: 1 },
    { target: 'close', kind: 2, more: 'Connection: close\r\n' },
  ])
  // 200 a second over 2 connections that take 20 ms each: requests wait for a connection, longer and longer.
  const sample = await openLoop({ port, file, rate: 200, seconds: 1, connections: 2, processes: 1 })
  const counts = sample.latencies.map((times) => times.length)
  assert.equal(counts.length, 3)
  assert.equal(sample.failed, 0, sample.failures.join())
  assert.ok(Math.abs(counts[1] - 2 * counts[0]) <= 2 && Math.abs(counts[2] - counts[0]) <= 1, String(counts))
  assert.equal(sample.reconnected >= counts[2] - 2, true, `${sample.reconnected} connections came`)
  assert.ok(sample.all[0] >= delayMs - 1, `an answer came after ${sample.all[0]} ms`)
  // Of about 200 requests the last waits behind a hundred others' 20 ms on each connection, less its second.
  const last = quantile(sample.all, 0.99)
  assert.ok(last > (sample.all.length / 2) * delayMs - 1000 - 300, `${last} ms, as if it had been asked late`)
})

test('An open loop says what came in place of the answer that was due.', async (t) => {
  const port = await slowServer(t, 0)
  const file = openFile(t, [{ target: '503', kind: 0 }])
  const load = { port, file, rate: 50, seconds: 0.2, connections: 1, processes: 1 }
  await assert.rejects(openLoop(load), /requests failed: 503 to GET \/503 HTTP\/1\.1/)
})

const missing = missingTool('wrk', 'wrk')

test(
  'The mixture and the swaps of the bench run, upon answers that are the oracle’s.',
  { skip: missing },
  () => {
    const args = ['--data', 'tiny', '--quick', '--no-proxies', '--cli', join(ROOT, 'dist', 'cli.js')]
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'bench/http/run.ts', ...args, 'mixture', 'swap'],
      { cwd: ROOT, encoding: 'utf8', timeout: 600_000 },
    )
    assert.equal(status, 0, stderr)
    for (const pattern of [
      /, Node [\d.]+ --v8-pool-size=0 --single-threaded-gc, revision /,
      /^\| mixture, now: detail +\|/m,
      /^\| mixture, share of its ceiling by CPU time/m,
      /^\| mixture: two workers on two cores over one/m,
      /^\| CPU time of a new connection/m,
      /^\| all, of the ceiling at this rate/m,
      /^\| a swap a second: p99 of light requests over the p99 without \(now\)/m,
      /^\| a swap a second: capacity over that without, by CPU time \(now\) .*beside \d+ requests\/s at [\d.]+ µs/m,
    ]) {
      assert.match(stdout, pattern)
    }
  },
)
