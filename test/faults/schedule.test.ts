/** Building on schedule: aligned to the clock, sooner after failures, unmoved by a clock that is set, and reported. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, renameSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { nextBuild, Schedule } from '../../src/schedule.ts'
import { temporaryFolder } from '../live.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'
import { ended } from './folder.ts'

const HALF_HOUR = 1800
const NOON = Date.UTC(2026, 2, 27, 12) / 1000

test('A build is due at the next full half hour, never at the present one.', () => {
  assert.equal(nextBuild(NOON, HALF_HOUR, 0, 0), NOON + HALF_HOUR)
  assert.equal(nextBuild(NOON - 1, HALF_HOUR, 0, 0), NOON)
  assert.equal(nextBuild(NOON + 1799.9, HALF_HOUR, 0, 7), NOON + HALF_HOUR + 7)
})

test('After failures a build is due sooner, then less and less soon, and never later than at its regular time.', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 2000].map(
    (failures) => nextBuild(NOON, HALF_HOUR, failures, 0) - NOON,
  )
  assert.deepEqual(waits, [15, 30, 60, 120, 240, 480, 960, HALF_HOUR, HALF_HOUR])
})

interface Drill {
  schedule: Schedule
  builds: number[]
  log: string[]
  /** Lets time pass, for the clock and the timers. */
  pass: (seconds: number) => Promise<void>
  /** Sets the clock, as an operator or a time server would: timers do not notice. */
  setClock: (seconds: number) => void
}

function drill(
  t: TestContext,
  options: { every?: number; jitter?: number; lastBuilt?: number | null; fails?: () => boolean } = {},
): Drill {
  const { every = HALF_HOUR, jitter = 0, lastBuilt = NOON, fails = () => false } = options
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = NOON + 60
  const builds: number[] = []
  const log: string[] = []
  const schedule = new Schedule({
    every,
    jitter,
    lastBuilt,
    clock: () => now,
    random: () => 0.5,
    log: (line) => log.push(line),
    build: async () => {
      builds.push(now - NOON)
      if (fails()) throw new Error('the source is gone')
    },
  })
  t.after(() => schedule.stop())
  return {
    schedule,
    builds,
    log,
    async pass(seconds) {
      for (let second = 0; second < seconds; second++) {
        now++
        mock.timers.tick(1000)
        // Lets a build end and the next one be planned.
        await setImmediate()
      }
    },
    setClock(seconds) {
      now = NOON + seconds
    },
  }
}

test('Builds come at each full half hour, late by the jitter.', async (t) => {
  const { builds, pass, schedule } = drill(t, { jitter: 20 })
  await pass(2 * HALF_HOUR)
  assert.deepEqual(builds, [HALF_HOUR + 10, 2 * HALF_HOUR + 10])
  assert.equal(schedule.state.built, 2)
})

test('A build that is overdue at the start begins at once.', async (t) => {
  const { builds, pass } = drill(t, { lastBuilt: NOON - 60 })
  await pass(HALF_HOUR)
  assert.deepEqual(builds, [60, HALF_HOUR])
})

test('Failures are reported, retried ever less often, and forgotten after a success.', async (t) => {
  let failing = true
  const { builds, pass, schedule, log } = drill(t, { fails: () => failing })
  await pass(HALF_HOUR + 100)
  assert.deepEqual(builds, [HALF_HOUR, HALF_HOUR + 15, HALF_HOUR + 45, HALF_HOUR + 105])
  assert.equal(schedule.state.failures_in_row, 4)
  assert.equal(schedule.state.last_error, 'the source is gone')
  assert.match(log.at(-1)!, /^warning: build failed \(4 in a row\): the source is gone$/)
  failing = false
  await pass(200)
  assert.equal(schedule.state.failures_in_row, 0)
  assert.equal(schedule.state.last_error, null)
})

test('A clock that is set, back or forth, delays no build by more than its interval.', async (t) => {
  const { builds, pass, setClock } = drill(t)
  setClock(-86_400 + 60)
  await pass(HALF_HOUR)
  assert.deepEqual(builds, [-86_400 + HALF_HOUR])
  setClock(86_400 + 1500)
  await pass(400)
  assert.equal(builds.length, 3, 'the one that was passed over, then the regular one')
})

test('An interval longer than any timer holds does not build in a spin.', async (t) => {
  const { builds, pass } = drill(t, { every: 60 * 86_400 })
  await pass(600)
  assert.deepEqual(builds, [])
})

test('Nothing is built after the stop.', async (t) => {
  const { builds, pass, schedule } = drill(t)
  schedule.stop()
  await pass(HALF_HOUR * 2)
  assert.deepEqual(builds, [])
})

interface Status {
  snapshot: { id: string } | null
  build: { built: number; failures_in_row: number; last_error: string | null }
}

test(
  'A source that vanishes is reported while serving goes on, and a stop ends the builder too.',
  { timeout: 60_000 },
  async (t) => {
    const folder = temporaryFolder(t)
    const [source, away] = [join(folder, 'source'), join(folder, 'away')]
    mkdirSync(source)
    writeCsv(smallWorld(), source)
    const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
    const places = [
      `--source=csv:${source}`,
      `--snapshots=${join(folder, 'snapshots')}`,
      `--keys=${join(folder, 'keys.json')}`,
    ]
    const args = ['--port=0', '--admin-port=0', '--workers=1', '--every=1s', '--drain-time=0s']
    const server = spawn(process.execPath, [cli, 'run', ...places, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const end = ended(server)
    t.after(() => server.kill('SIGKILL'))
    let text = ''
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const find = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const found = pattern.exec(text)
        if (found !== null) return found[1]
        await setTimeout(20)
      }
    }
    const base = await find(/listening on (\S+)/)
    const admin = await find(/admin port on (\S+)/)
    const until = async (holds: (status: Status) => boolean): Promise<Status> => {
      for (;;) {
        const status = (await (await fetch(`${admin}/status`)).json()) as Status
        if (holds(status)) return status
        await setTimeout(50)
      }
    }
    await until(({ build }) => build.built >= 1)
    renameSync(source, away)
    const { build } = await until((status) => status.build.failures_in_row >= 2)
    assert.match(build.last_error ?? '', /the build ended with code 1/)
    assert.equal((await fetch(`${base}/buoys/search?query=alpha`)).status, 200)
    cpSync(away, source, { recursive: true })
    await until((status) => status.build.failures_in_row === 0 && status.build.last_error === null)
    server.kill('SIGTERM')
    assert.equal(await end, 0)
  },
)
