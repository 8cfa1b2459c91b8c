/** A lock between processes: of one machine, and of containers that share neither pids nor host names. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lock, lockInTurn, LockError } from '../../src/system/lock.ts'
import { amount } from '../faults/folder.ts'
import { temporaryFolder } from '../live.ts'
import { noContainers, startHeld, startHolder } from './container.ts'
import { hammer } from './hammer.ts'

const missing = noContainers()
const inContainers = { skip: missing ?? false }

/** A holder's name with some of its parts changed. */
function nameWith(own: string, changes: { pid?: number; start?: string; space?: string }): string {
  const [pid, start, space, host] = own.split('.')
  const { pid: p = pid, start: s = start, space: n = space } = changes
  return [p, s, n, host, '0123456789abcdef'].join('.')
}

function newLock(t: TestContext): { path: string; own: string } {
  const path = join(temporaryFolder(t), 'some.lock')
  const held = lock(path, { patienceMs: 0 })
  const own = basename(held.folder)
  held.release()
  return { path, own }
}

test('One holds a lock at a time, and nothing is left when it is given back.', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'some.lock')
  const held = lock(path, { patienceMs: 0 })
  assert.throws(() => lock(path, { patienceMs: 50 }), {
    name: 'LockError',
    message: `${path}: held by another process (${process.pid} on ${hostname()})`,
  })
  await assert.rejects(lockInTurn(path, { patienceMs: 50 }), LockError)
  const next = lockInTurn(path, { patienceMs: 10_000 })
  await sleep(50)
  held.release()
  const other = await next
  assert.deepEqual([held.isHeld(), other.isHeld()], [false, true])
  // Once is enough: what somebody else holds stays.
  held.release()
  assert.throws(() => lock(path, { patienceMs: 0 }), LockError)
  other.release()
  assert.deepEqual(readdirSync(folder), [])
})

test('A lock that cannot be made says why, and makes no folders.', (t) => {
  const folder = temporaryFolder(t)
  assert.throws(
    () => lock(join(folder, 'nowhere', 'some.lock'), { patienceMs: 1000 }),
    /cannot be written \(ENOENT\)/,
  )
  symlinkSync('{"pid":1}', join(folder, 'old.lock'))
  assert.throws(
    () => lock(join(folder, 'old.lock'), { patienceMs: 1000 }),
    /old\.lock: cannot be written \(ENOTDIR\); if it is not a folder, remove it/,
  )
  assert.deepEqual(readdirSync(folder), ['old.lock'])
})

test('Whoever may write beside a lock may take it over, whatever mask its holder had.', (t) => {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o770)
  const mask = process.umask(0o277)
  t.after(() => process.umask(mask))
  const held = lock(join(folder, 'some.lock'), { patienceMs: 0 })
  for (const made of [held.folder, dirname(held.folder)]) assert.equal(statSync(made).mode & 0o777, 0o770)
  held.release()
})

test('The lock of a process that has died is passed over at once, also where its number is in use again.', async (t) => {
  const { path, own } = newLock(t)
  const { pid } = spawnSync(process.execPath, ['--version'])
  // A zombie: dead, but its parent has not looked.
  const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const zombie = Number(line.toString())
  const startOf = (of: number): string =>
    readFileSync(`/proc/${of}/stat`, 'latin1').split(') ')[1].split(' ')[19]
  const dead = [
    nameWith(own, { pid }),
    nameWith(own, { start: '1' }),
    nameWith(own, { pid: zombie, start: startOf(zombie) }),
  ]
  while (!readFileSync(`/proc/${zombie}/stat`, 'latin1').includes(') Z')) await sleep(10)
  for (const holder of dead) {
    mkdirSync(join(path, holder), { recursive: true })
    // It also died while it waited, and while it gave the lock back.
    mkdirSync(join(`${path}.${holder}`, holder), { recursive: true })
    lock(path, { patienceMs: 1000, quietMs: 60_000 }).release()
    assert.deepEqual(readdirSync(join(path, '..')), [], holder)
  }
})

test('A holder that cannot be asked is watched: with signs of life it keeps the lock, without them it loses it in time.', async (t) => {
  const { path, own } = newLock(t)
  for (const holder of [
    nameWith(own, { space: own.split('.')[2].replace(/^\d+/, '1') }),
    nameWith(own, { space: own.split('.')[2].replace(/-.*/, '-00000000-0000-0000-0000-000000000000') }),
    nameWith(own, { space: '' }),
    'what is this',
  ]) {
    mkdirSync(join(path, holder), { recursive: true })
    const began = performance.now()
    const held = lock(path, { patienceMs: 0, quietMs: 400 })
    assert.ok(performance.now() - began >= 400, holder)
    held.release()
    assert.deepEqual(readdirSync(join(path, '..')), [])
  }
})

test(
  'A lock holds between containers of one host name, however long the holder computes.',
  inContainers,
  async (t) => {
    const path = join(temporaryFolder(t), 'some.lock')
    const holder = await startHeld(t, path, { host: hostname(), blockMs: 4500 })
    const blocked = holder.ask('block')
    // Much longer than two beats are apart.
    await assert.rejects(lockInTurn(path, { patienceMs: 4000, quietMs: 3000 }), {
      message: new RegExp(`held by another process \\(\\d+ on ${hostname()}\\)`),
    })
    assert.equal(await blocked, 'blocked')
    assert.equal(await holder.ask('put'), 'put')
    assert.equal(await holder.ask('release'), 'released')
    ;(await lockInTurn(path, { patienceMs: 0 })).release()
  },
)

test(
  'A process that was stalled while its lock was taken over puts nothing into place and takes nothing away.',
  inContainers,
  async (t) => {
    const folder = temporaryFolder(t)
    const path = join(folder, 'some.lock')
    const holder = await startHeld(t, path, { host: 'asleep' })
    process.kill(holder.pid, 'SIGSTOP')
    const held = await lockInTurn(path, { patienceMs: 0, quietMs: 2000 })
    process.kill(holder.pid, 'SIGCONT')
    assert.equal(await holder.ask('put'), 'ENOENT')
    assert.equal(await holder.ask('release'), 'released')
    assert.ok(!existsSync(`${path}.put`) && existsSync(held.folder))
    assert.throws(() => lock(path, { patienceMs: 0 }), LockError)
    held.release()
    assert.deepEqual(readdirSync(folder), [])
  },
)

test(
  'A machine that sleeps with all that runs on it wakes up to the same holder.',
  inContainers,
  async (t) => {
    const path = join(temporaryFolder(t), 'some.lock')
    const holder = await startHeld(t, path, { host: 'one' })
    const contender = startHolder(t, path, { patienceMs: 2000, quietMs: 2000 })
    assert.equal(await contender.hear(), 'waiting')
    await sleep(300)
    const [one, other] = [holder.pid, contender.pid]
    for (const pid of [one, other]) process.kill(pid, 'SIGSTOP')
    await sleep(3000)
    // Who waits wakes up first.
    for (const pid of [other, one]) process.kill(pid, 'SIGCONT')
    assert.equal(await contender.hear(), 'LockError')
    assert.equal(await holder.ask('put'), 'put')
  },
)

test(
  'Of two containers of one host name whose processes are killed no two hold a lock, and no turn is lost.',
  inContainers,
  async (t) => {
    const { faults, ...tally } = await hammer(temporaryFolder(t), amount(8, 120))
    assert.deepEqual(faults, [])
    assert.ok(tally.turns > 0 && tally.kills > 2, JSON.stringify(tally))
    t.diagnostic(JSON.stringify(tally))
  },
)
