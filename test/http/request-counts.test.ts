/** Counts and durations of requests: each in its series and its bucket. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'node:test'
import type { Exchange } from '../../src/http/exchange.ts'
import {
  DURATION_BOUNDS_S,
  METHODS,
  OTHER,
  RequestCounts,
  RequestRecorder,
  STATUSES,
} from '../../src/http/request-counts.ts'
import { readRequests } from '../../src/server/metrics.ts'

const ROUTES = ['/a', '/b', 'static', 'unmatched', 'none']

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const request = fc.record({
  worker: fc.nat({ max: 2 }),
  route: fc.nat({ max: ROUTES.length - 1 }),
  method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'get', ''),
  status: fc.constantFrom(...STATUSES, 299, 418, 599),
  bytes: fc.nat({ max: 100_000 }),
  ms: fc.double({ min: 0, max: 5000, noNaN: true }),
})

test('Whatever is asked of any worker, each request is counted once in its series.', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
      const buffer = RequestCounts.allocate(3, ROUTES.length)
      const workers = [0, 1, 2].map((worker) => new RequestCounts(buffer, ROUTES.length, worker))
      const expected = new Map<string, { count: number; bytes: number }>()
      for (const { worker, route, method, status, bytes, ms } of requests) {
        workers[worker].count(route, method, status, bytes, ms)
        const key = [
          ROUTES[route],
          (METHODS as readonly string[]).includes(method) ? method : OTHER,
          (STATUSES as readonly number[]).includes(status) && status !== 0 ? String(status) : OTHER,
        ].join()
        const known = expected.get(key) ?? { count: 0, bytes: 0 }
        expected.set(key, { count: known.count + 1, bytes: known.bytes + bytes })
      }
      const found = readRequests(buffer, ROUTES)
      assert.deepEqual(
        new Map(
          found.map(({ route, method, status, buckets, bytes }) => [
            `${route},${method},${status}`,
            { count: sum(buckets), bytes },
          ]),
        ),
        expected,
      )
    }),
    { numRuns: 60 },
  )
})

test('A worker that takes the place of another goes on with its counts.', () => {
  const buffer = RequestCounts.allocate(1, ROUTES.length)
  new RequestCounts(buffer, ROUTES.length, 0).count(0, 'GET', 200, 5, 0)
  new RequestCounts(buffer, ROUTES.length, 0).count(0, 'GET', 200, 6, 0)
  const [series] = readRequests(buffer, ROUTES)
  assert.deepEqual([sum(series.buckets), series.bytes], [2, 11])
})

test('Every request is timed: its bucket is the first whose bound it does not pass, and the sum is that of all.', () => {
  const buffer = RequestCounts.allocate(1, ROUTES.length)
  const counts = new RequestCounts(buffer, ROUTES.length, 0)
  const seconds = [0, ...DURATION_BOUNDS_S, ...DURATION_BOUNDS_S.map((bound) => bound * 1.01)]
  for (const each of seconds) counts.count(0, 'GET', 200, 0, each * 1000)
  const [series] = readRequests(buffer, ROUTES)
  const expected = [...DURATION_BOUNDS_S, Infinity].map(
    (bound, i, bounds) => seconds.filter((each) => each <= bound && each > (bounds[i - 1] ?? -1)).length,
  )
  assert.deepEqual(series.buckets, expected)
  assert.ok(Math.abs(series.seconds - sum(seconds)) < 1e-9)
})

test('Of an answer that comes later the request is counted when it begins, and its bytes when it is over.', () => {
  const buffer = RequestCounts.allocate(1, ROUTES.length)
  const recorder = new RequestRecorder(new RequestCounts(buffer, ROUTES.length, 0), ROUTES.length, null)
  const later = recorder.deferred({ method: 'GET', route: 1 } as Exchange, performance.now())
  const seen = (): unknown[] =>
    readRequests(buffer, ROUTES).map(({ route, status, buckets, bytes }) => [
      route,
      status,
      sum(buckets),
      bytes,
    ])
  assert.deepEqual(seen(), [])
  later.begun(200)
  assert.deepEqual(seen(), [['/b', '200', 1, 0]])
  later.ended(70_000)
  assert.deepEqual(seen(), [['/b', '200', 1, 70_000]])
})
