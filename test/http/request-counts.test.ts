/** Counts and durations of requests: exact counts, buckets that never fall, sums without bias. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'node:test'
import {
  DURATION_BOUNDS_S,
  METHODS,
  OTHER,
  readRequests,
  RequestCounts,
  STATUSES,
} from '../../src/http/request-counts.ts'

const ROUTES = ['/a', '/b', 'static', 'unmatched', 'none']

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const request = fc.record({
  worker: fc.nat({ max: 2 }),
  route: fc.nat({ max: ROUTES.length - 1 }),
  method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'get', ''),
  status: fc.constantFrom(...STATUSES, 299, 418, 599),
  bytes: fc.nat({ max: 100_000 }),
  isTimed: fc.boolean(),
})

test('Whatever is asked of any worker, each request is counted once in its series, timed or not, and no bucket ever falls.', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
      const buffer = RequestCounts.allocate(3, ROUTES.length)
      const workers = [0, 1, 2].map((worker) => new RequestCounts(buffer, ROUTES.length, worker))
      const expected = new Map<string, { count: number; bytes: number }>()
      let before = new Map<string, number[]>()
      for (const { worker, route, method, status, bytes, isTimed } of requests) {
        workers[worker].count(route, method, status, bytes, isTimed ? performance.now() - 1 : 0)
        const key = [
          ROUTES[route],
          (METHODS as readonly string[]).includes(method) ? method : OTHER,
          (STATUSES as readonly number[]).includes(status) && status !== 0 ? String(status) : OTHER,
        ].join()
        const known = expected.get(key) ?? { count: 0, bytes: 0 }
        expected.set(key, { count: known.count + 1, bytes: known.bytes + bytes })
        const now = new Map(
          readRequests(buffer, ROUTES).map((series) => [
            `${series.route},${series.method},${series.status}`,
            series.buckets,
          ]),
        )
        for (const [name, buckets] of before) {
          buckets.forEach((count, i) => assert.ok(now.get(name)![i] >= count, `${name} fell`))
        }
        before = now
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

test('Few requests are all timed; of many one in sixty-four is, at distances that nobody can foresee.', () => {
  const counts = new RequestCounts(RequestCounts.allocate(1, ROUTES.length), ROUTES.length, 0)
  const isTimed = (): boolean => counts.begin() !== 0
  assert.ok(Array.from({ length: 256 }, isTimed).every((each) => each))
  const timed = Array.from({ length: 640_000 }, isTimed)
  const at = timed.flatMap((each, i) => (each ? [i] : []))
  assert.ok(at.length > 9_000 && at.length < 11_000, `${at.length}`)
  assert.ok(new Set(at.map((each, i) => each - (at[i - 1] ?? 0))).size > 100)
  counts.refill()
  assert.ok(Array.from({ length: 256 }, isTimed).every((each) => each))
})

test('What is not timed is spread like what is: shares of buckets and the mean come out right.', () => {
  const buffer = RequestCounts.allocate(1, ROUTES.length)
  const counts = new RequestCounts(buffer, ROUTES.length, 0)
  // One in four takes 2 ms, the others 20 µs, by a generator of its own.
  let seed = 1
  const count = 200_000
  for (let i = 0; i < count; i++) {
    seed = (Math.imul(seed, 48271) >>> 0) % 2147483647
    const ms = seed % 4 === 0 ? 2 : 0.02
    const isTimed = counts.begin() !== 0
    counts.count(0, 'GET', 200, 0, isTimed ? performance.now() - ms : 0)
  }
  const [{ buckets, seconds }] = readRequests(buffer, ROUTES)
  assert.equal(sum(buckets), count)
  const slow = sum(buckets.slice(DURATION_BOUNDS_S.indexOf(1e-3) + 1)) / count
  assert.ok(Math.abs(slow - 0.25) < 0.03, `${slow} of them are slow`)
  // A thread that was held up adds to the mean, so there is no close bound above.
  assert.ok(seconds / count > 0.00045 && seconds / count < 0.005, `${seconds / count} s`)
})
