/** Builds on schedule: by the clock, sooner after failures, unmoved by a clock that is set, and reported. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Schedule } from '../../src/server/build-schedule.ts'
import { lineText } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'
import { BY_NIGHT } from '../rounds.ts'
import { until } from '../until.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'
import { startProgram, type Program } from '../started_program.ts'

const HALF_HOUR = 1800
const NOON = Date.UTC(2026, 2, 27, 12) / 1000

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
  options: {
    every?: number
    jitter?: number
    lastBuilt?: number | null
    failedFirst?: string | null
    fails?: () => boolean
    changedAt?: () => number | null
    /** What a build takes. */
    builds?: () => Promise<void>
  } = {},
): Drill {
  const { every = HALF_HOUR, jitter = 0, lastBuilt = NOON, failedFirst = null } = options
  const { fails = () => false, builds: takes = () => Promise.resolve() } = options
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = NOON + 60
  const builds: number[] = []
  const log: string[] = []
  const schedule = new Schedule({
    every,
    jitter,
    lastBuilt,
    first: failedFirst === null ? null : { failure: failedFirst },
    clock: () => now,
    random: () => 0.5,
    ...(options.changedAt !== undefined && { changedAt: options.changedAt }),
    log: (...event) => log.push(lineText(...event)),
    build: async () => {
      builds.push(now - NOON)
      if (fails()) throw new Error('the source is gone')
      await takes()
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
  assert.ok(log.includes('warning: build failed (4 in a row): the source is gone'))
  assert.equal(log.at(-1), 'the next build is at 2026-03-27T12:33:45Z')
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

test('A configuration that is newer than the snapshot begins a build at once, and one that has been built does not.', async (t) => {
  let changed = NOON - 5
  const { builds, pass, log } = drill(t, { changedAt: () => changed, fails: () => builds.length < 2 })
  await pass(200)
  assert.deepEqual(builds, [])
  assert.deepEqual(log, ['the next build is at 2026-03-27T12:30:00Z'])
  changed = NOON + 250
  await pass(100)
  assert.deepEqual(
    builds.map((at) => at > 250 && at < 350),
    [true, true],
    'at once, and a retry after the failure',
  )
  assert.match(log.join('\n'), /the configuration is newer than the snapshot: a build begins/)
  await pass(HALF_HOUR)
  assert.equal(builds.length, 3, 'the regular one')
})

test('At the start a configuration that is newer than the snapshot is built at once.', async (t) => {
  const { builds, pass } = drill(t, { lastBuilt: NOON, changedAt: () => NOON + 1 })
  await pass(HALF_HOUR)
  assert.deepEqual(builds, [60, HALF_HOUR])
})

interface Status {
  snapshot: { id: string } | null
  failed_build: { at: string; reason: string } | null
  build: {
    built: number
    failures_in_row: number
    last_error: string | null
    running_since: string | null
    limit_seconds: number
  }
}

/** The command `run` in a process of its own. */
function startRun(t: TestContext, folder: string, args: string[]): Program {
  const places = [`--snapshots=${join(folder, 'snapshots')}`, `--keys=${join(folder, 'keys.json')}`]
  const usual = ['--port=0', '--admin-port=0', '--workers=1', '--drain-time=0s']
  return startProgram(t, ['run', ...places, ...usual, ...args])
}

/** Looks at `/status` until it is as wanted. */
async function statusWhen(admin: string, holds: (status: Status) => boolean): Promise<Status> {
  let status: Status | null = null
  await until(async () => {
    status = (await (await fetch(`${admin}/status`)).json()) as Status
    return holds(status)
  })
  return status!
}

test('A source that vanishes is reported while serving goes on, and a stop ends the builder too.', async (t) => {
  const folder = temporaryFolder(t)
  const [source, away] = [join(folder, 'source'), join(folder, 'away')]
  mkdirSync(source)
  writeCsv(smallWorld(), source)
  const run = startRun(t, folder, [`--source=csv:${source}`, '--every=1s'])
  const [, base] = await run.says(/listening on (\S+)/)
  const [, admin] = await run.says(/admin port on (\S+)/)
  await statusWhen(admin, ({ build }) => build.built >= 1)
  renameSync(source, away)
  const { build } = await statusWhen(admin, (status) => status.build.failures_in_row >= 2)
  assert.match(build.last_error ?? '', /csv: there is no folder .*source$/)
  const { failed_build: failed } = await statusWhen(admin, () => true)
  assert.match(failed?.reason ?? '', /csv: there is no folder .*source$/)
  const answer = await fetch(`${base}/buoys/search?query=alpha`)
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('cache-control') ?? '', /max-age=[01]$/, 'not past the next build')
  cpSync(away, source, { recursive: true })
  const { failed_build: now } = await statusWhen(
    admin,
    ({ build: { failures_in_row: row, last_error: error } }) => row === 0 && error === null,
  )
  assert.equal(now, null)
  assert.equal(await run.stop(), 0)
})

test('A source that is away at the very start is served once it comes.', { skip: BY_NIGHT }, async (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'source')
  const run = startRun(t, folder, [`--source=csv:${source}`, '--every=2s'])
  const [, base] = await run.says(/listening on (\S+)/)
  const [, admin] = await run.says(/admin port on (\S+)/)
  await run.says(/(warning: the first build failed: csv: there is no folder \S+; the build is tried again)/)
  const { build, snapshot } = await statusWhen(admin, () => true)
  assert.equal(snapshot, null)
  assert.ok(build.failures_in_row >= 1, String(build.failures_in_row))
  assert.match(build.last_error ?? '', /csv: there is no folder/)
  assert.equal((await fetch(`${base}/buoys/search?query=alpha`)).status, 503)
  assert.equal((await fetch(`${admin}/readyz`)).status, 503)
  assert.equal((await fetch(`${admin}/livez`)).status, 200)
  mkdirSync(join(folder, 'coming'))
  writeCsv(smallWorld(), join(folder, 'coming'))
  renameSync(join(folder, 'coming'), source)
  await statusWhen(admin, (status) => status.snapshot !== null && status.build.failures_in_row === 0)
  assert.equal((await fetch(`${admin}/readyz`)).status, 200)
  assert.equal((await fetch(`${base}/buoys/search?query=alpha`)).status, 200)
  assert.equal(await run.stop(), 0)
})

test('A first build that nobody would repeat, or whose arguments are wrong, ends the command.', async (t) => {
  const folder = temporaryFolder(t)
  const once = startRun(t, folder, [`--source=csv:${join(folder, 'nowhere')}`, '--every=0'])
  assert.equal(await once.ended, 1)
  const unknown = startRun(t, folder, ['--source=demo:nonsense', '--every=2s'])
  assert.equal(await unknown.ended, 2)
})

test('A build that takes too long is ended, reported, and tried again, and leaves neither a lock nor half-written files.', async (t) => {
  const folder = temporaryFolder(t)
  const snapshots = join(folder, 'snapshots')
  // It takes some minutes.
  const run = startRun(t, folder, [
    '--source=demo:scale,buoys=2000,days=3652',
    '--every=3s',
    '--build-timeout=2s',
  ])
  const [, admin] = await run.says(/admin port on (\S+)/)
  const { build } = await statusWhen(admin, (status) => status.build.failures_in_row >= 2)
  assert.equal(build.last_error, 'the build took longer than 2 s (--build-timeout) and was ended')
  assert.equal(build.limit_seconds, 2)
  const { build: running } = await statusWhen(admin, (status) => status.build.running_since !== null)
  assert.match(running.running_since ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.equal(await run.stop(), 0)
  const left = existsSync(snapshots) ? readdirSync(snapshots) : []
  assert.deepEqual(
    left.filter((name) => !/^readings-|^weather-|^registry|^failure\.json$/.test(name)),
    [],
  )
})
