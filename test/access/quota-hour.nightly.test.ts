/** Quotas of keys and addresses under load when the hour turns, by itself or by a clock that is set. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { issueKey } from '../../src/access/keys-file.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { Load, smallSnapshot, startTurned, type Outcome } from './turned_clock.ts'

const HOUR = 3600
const snapshots = await smallSnapshot()
const NOON = Date.UTC(2026, 2, 27, 12) / 1000

/** Headers and body of one answer agree with each other and with the quota. */
function check(outcome: Outcome, quota: number): void {
  const { status, limit, remaining, reset, retryAfter } = outcome
  assert.ok(limit === quota && reset % HOUR === 0, JSON.stringify(outcome))
  if (status === 200) {
    assert.ok(remaining >= 0 && remaining < quota && Number.isNaN(retryAfter), JSON.stringify(outcome))
    return
  }
  const body = JSON.parse(outcome.body) as { [name: string]: unknown }
  // What is left is rounded up, the time of the answer down: both are whole seconds before a whole hour.
  const wait = reset - Date.parse(String(body.timestamp)) / 1000
  assert.deepEqual(
    [status, remaining, retryAfter, body.error, body.retry_after, body.reset_at],
    [429, 0, wait, 'rate_limit_exceeded', wait, `${new Date(reset * 1000).toISOString().slice(0, 19)}Z`],
  )
}

/** Successes and refusals of the hour that ends at `reset`. */
function counted(answers: readonly Outcome[][], reset: number): { successes: number; refusals: number } {
  let successes = 0
  let refusals = 0
  for (const outcome of answers.flat()) {
    if (outcome.reset !== reset) continue
    if (outcome.status === 200) successes++
    else refusals++
  }
  return { successes, refusals }
}

for (const engine of SLOW_ENGINES)
  test(
    `Over ${engine}, exactly the quota succeeds in each hour, from 64 connections over two workers while the hour turns and the clock is set.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      const callers = [
        { name: 'key', quota: 1000, connections: 64, path: '/v2/buoys/1' },
        { name: 'address', quota: 300, connections: 16, path: '/v2/buoys/search?query=alpha' },
      ]
      const keysFile = join(temporaryFolder(t), 'keys.json')
      const { key } = issueKey(keysFile, { owner: 'test', quota: callers[0].quota, now: NOON })
      const turned = await startTurned(t, NOON + 1, snapshots, keysFile, [
        `--engine=${engine}`,
        `--anonymous-quota=${callers[1].quota}`,
      ])
      const { port, adminPort } = turned.server
      const load = new Load()
      const groups = callers.map((caller) => ({
        ...caller,
        ...load.add(port, caller.connections, caller.path, () => (caller.name === 'key' ? key : null)),
      }))
      const all =
        (enough: (counts: ReturnType<typeof counted>, quota: number) => boolean, reset: number) => () =>
          groups.every(({ from, to, quota }) => enough(counted(load.answers.slice(from, to), reset), quota))
      const usedUp = (hour: number) =>
        until(
          all(({ refusals }) => refusals >= 128, NOON + (hour + 1) * HOUR),
          `hour ${hour} is not used up`,
        )
      const partlyUsed = (hour: number) =>
        until(
          all(({ successes }, quota) => successes >= quota / 4, NOON + (hour + 1) * HOUR),
          `hour ${hour} has not begun`,
        )

      // The clock goes on meanwhile: a slow machine needs the time that is left of each hour.
      await usedUp(0)
      // The hour turns by itself.
      turned.set(NOON + HOUR - 0.2)
      await partlyUsed(1)
      // Forward an hour before this one is used up, back to what it left, and forward again.
      turned.set(NOON + 2 * HOUR)
      await partlyUsed(2)
      turned.set(NOON + 2 * HOUR - HOUR / 2)
      await usedUp(1)
      turned.set(NOON + 3 * HOUR - HOUR / 2)
      await usedUp(2)
      turned.set(NOON + 3 * HOUR - 0.2)
      await usedUp(3)
      // Set back, nobody gets more out of the hour before, and nobody is the worse for it.
      turned.set(NOON + 3 * HOUR - HOUR / 2)
      const before = counted(load.answers, NOON + 3 * HOUR)
      await until(() => counted(load.answers, NOON + 3 * HOUR).refusals > before.refusals + 200)
      turned.set(NOON + 4 * HOUR)
      await usedUp(4)
      await load.stop()
      // They may be many behind one proxy: the operator hears of it.
      await until(() => turned.log.some((line) => line.includes('(--trusted-proxy 127.0.0.1)')))

      for (const { name, from, to, quota } of groups) {
        const answers = load.answers.slice(from, to)
        for (const outcome of answers.flat()) check(outcome, quota)
        for (let hour = 0; hour < 5; hour++) {
          const reset = NOON + (hour + 1) * HOUR
          assert.equal(counted(answers, reset).successes, quota, `${name}, hour ${hour}`)
          const seen = answers
            .flat()
            .filter((outcome) => outcome.status === 200 && outcome.reset === reset)
            .map(({ remaining }) => remaining)
          // Each number from the quota less one down to 0 was sent once.
          assert.equal(new Set(seen).size, quota, `${name}, hour ${hour}`)
          for (const own of answers) {
            const left = own.filter((outcome) => outcome.reset === reset).map(({ remaining }) => remaining)
            const rising = left.findIndex((remaining, i) => i > 0 && remaining > left[i - 1])
            assert.equal(rising, -1, `${name}, hour ${hour}: remaining rose to ${left[rising]}`)
          }
        }
      }

      const status = (await (await fetch(`http://127.0.0.1:${adminPort}/status`)).json()) as {
        answered: { [name: string]: number }
      }
      const outcome = load.answers.flat()
      assert.deepEqual(status.answered, {
        requests: outcome.length,
        unauthorized: 0,
        rate_limited: outcome.filter((one) => one.status === 429).length,
        faults: 0,
      })
    },
  )
