/** The commands of somebody who sets a server up: doctor, init and health. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readOptions } from '../../src/commands/command.ts'
import { DOCTOR_SETTINGS, examine } from '../../src/commands/doctor.ts'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { fieldOf } from '../fields.ts'
import { adminOf, runCli, runCliWell, startLive, temporaryFolder } from '../live.ts'
import { CLI } from '../started_program.ts'
import { until } from '../until.ts'

const SMALL = ['--source', 'demo:scale,buoys=2,days=2']
/** A user that no system has an entry of. */
const STRANGER = 54_321

/** What the doctor finds, in this process: the findings of a check come as `level: found`. */
async function diagnose(...args: string[]) {
  const { config } = readOptions(DOCTOR_SETTINGS, args)
  const findings = await examine(config)
  for (const { level, advice } of findings) assert.equal(advice === null, level === 'ok')
  return {
    canStart: findings.every(({ level }) => level !== 'impossible'),
    of: (check: string) =>
      findings.filter((each) => each.check === check).map(({ level, found }) => `${level}: ${found}`),
  }
}

test('The doctor finds no fault in an empty folder, advises, and changes nothing.', async (t) => {
  const data = join(temporaryFolder(t), 'new')
  const { canStart, of } = await diagnose('--data', data)
  assert.ok(canStart)
  assert.match(of('snapshot')[0], /^advice: \S+snapshots has no snapshot$/)
  assert.match(of('keys')[0], /^advice: \S+keys\.json has no keys$/)
  assert.match(of('folder of snapshots')[0], /^ok: \S+ will be made$/)
  assert.equal(of('disk').length, 1)
  assert.ok(!existsSync(data))
  const plain = await runCli(['doctor', '--data', data])
  assert.equal(plain.code, 0)
  assert.match(plain.stdout, /^warning keys +\S+ has no keys\n +→ "groundswell run" issues a first one/m)
  assert.match(plain.stdout, /\nready to start \(\d+ warnings?\)\n$/)
})

test('The doctor sees what a folder has: snapshot, keys, and what is wrong with them.', async (t) => {
  const data = temporaryFolder(t)
  await runCliWell(['build', ...SMALL, '--data', data])
  await runCliWell(['keys', 'issue', '--owner=a', '--data', data])
  const good = await diagnose('--data', data)
  assert.ok(good.canStart)
  assert.match(good.of('snapshot')[0], /: [0-9a-f]{24}, \d+ parts, .* data as of 20/)
  assert.match(good.of('keys')[0], /^ok: 1 in /)

  writeFileSync(join(data, 'snapshots', 'manifest.msgpack'), 'x')
  const broken = await diagnose('--data', data)
  assert.ok(broken.canStart, 'a server starts, and answers 503')
  assert.match(broken.of('snapshot')[0], /^advice: manifest\.msgpack/)

  writeFileSync(join(data, 'keys.json'), '{')
  const faulty = await diagnose('--data', data)
  assert.ok(!faulty.canStart)
  assert.match(faulty.of('keys')[0], /^impossible: \S+keys\.json: not valid JSON$/)
  const { code, stdout, stderr } = await runCli(['doctor', '--json', '--data', data])
  assert.equal(code, 1)
  assert.deepEqual((JSON.parse(stdout) as { can_start: boolean }).can_start, false)
  assert.match(stderr, /^groundswell: not ready to start: keys: \S+ not valid JSON\n$/)
})

test(
  'A folder of somebody else is a fault where nothing can be built, and advice where there is a snapshot.',
  { skip: process.getuid?.() === 0 ? false : 'only root may start a process as another user' },
  async (t) => {
    const data = temporaryFolder(t)
    chmodSync(data, 0o755)
    const as = { encoding: 'utf8', uid: STRANGER, gid: STRANGER } as const
    const look = () => spawnSync(process.execPath, [CLI, 'doctor', '--data', data], as)
    const without = look()
    assert.equal(without.status, 1)
    assert.match(
      without.stdout,
      /^FAULT +folder of snapshots +\S+ belongs to user 0, and user 54321 cannot write to it/m,
    )
    await runCliWell(['build', ...SMALL, '--data', data])
    assert.equal(look().status, 0)
  },
)

test('The doctor gives the reason of a failed build and of a hold, what was lost, and says whose snapshot it is.', async (t) => {
  const data = temporaryFolder(t)
  const snapshots = join(data, 'snapshots')
  const configure = (name: string): string => {
    const folder = join(data, name)
    mkdirSync(folder)
    for (const buoy of ['a', 'b', 'c', 'd'])
      writeFileSync(
        join(folder, `${buoy}.csv`),
        `time,Hs (m),lat,lng\n2026-03-01T00:00Z,1.5,50,-${buoy.charCodeAt(0) - 90}\n`,
      )
    const source = { name, kind: 'table', folder, options: { source: name } }
    writeFileSync(join(data, `${name}.json`), JSON.stringify({ sources: [source] }))
    return join(data, `${name}.json`)
  }
  const [north, south] = [configure('North'), configure('South')]
  await runCliWell(['build', '--config', north, '--data', data])
  const good = await diagnose('--data', data, '--config', north)
  assert.deepEqual(good.of('build'), [])
  const other = await diagnose('--data', data, '--config', south)
  assert.deepEqual(
    other.of('sources')[1],
    `advice: the snapshot in ${snapshots} is of other sources: "North"`,
  )

  rmSync(join(data, 'North', 'b.csv'))
  await runCliWell(['build', '--config', north, '--data', data])
  const less = await diagnose('--data', data, '--config', north)
  assert.deepEqual(less.of('build'), ['advice: lost since the snapshot before: 1 buoy, 0 past readings'])

  await runCliWell(['rollback', snapshots])
  const held = await diagnose('--data', data, '--config', north)
  assert.match(held.of('build')[0], /^advice: held since \S+ by a rollback, until: groundswell resume /)
  await runCliWell(['resume', snapshots])
  for (const buoy of ['a', 'c']) rmSync(join(data, 'North', `${buoy}.csv`))
  const { code } = await runCli(['build', '--config', north, '--data', data])
  assert.equal(code, 1)
  const failed = await diagnose('--data', data, '--config', north)
  assert.match(
    failed.of('build')[0],
    /^advice: failed at 20\S+: only 1 of the folder's 3 buoys are left in this build: at most 50 % may go \(--allow-loss\)$/,
  )
  await runCliWell(['build', '--config', north, '--data', data, '--allow-loss=100%'])
  const again = await diagnose('--data', data, '--config', north)
  assert.deepEqual(again.of('build'), ['advice: lost since the snapshot before: 2 buoys, 0 past readings'])
})

test('A configuration that cannot be read is a fault, and a folder that is missing advice.', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'c.json')
  writeFileSync(config, JSON.stringify({ sources: [{ name: 'B', kind: 'csv', folder: 'nowhere' }] }))
  const { canStart, of } = await diagnose('--data', folder, '--config', config)
  assert.ok(canStart)
  assert.match(of('sources')[1], /^advice: B: \S+nowhere does not exist$/)
  writeFileSync(config, '{"sources": 1}')
  const wrong = await diagnose('--data', folder, '--config', config)
  assert.ok(!wrong.canStart)
  assert.match(wrong.of('sources')[0], /^impossible: \S+c\.json: sources must be a list in \[ \]$/)
})

test('init writes a configuration that is valid as it is and with every comment taken off, and overwrites none.', async (t) => {
  const config = join(temporaryFolder(t), 'c.json')
  const { stdout, code } = await runCli(['init', '--config', config])
  assert.equal(code, 0)
  assert.match(stdout, /is written.*--dry-run/s)
  const { sources } = readConfiguration(config, {})
  assert.deepEqual(fieldOf(sources, 'name'), ['NDBC'])
  const dry = await runCliWell(['build', '--config', config, '--dry-run'])
  assert.match(dry, /^NDBC: would fetch 10 of 10 files$/m)

  const text = readFileSync(config, 'utf8')
  const again = await runCli(['init', '--config', config])
  assert.equal(again.code, 1)
  assert.equal(
    again.stderr,
    `groundswell: ${config}: exists already and is not changed; name another file with --config\n`,
  )
  assert.equal(readFileSync(config, 'utf8'), text)

  // What is commented out is JSON, what explains is not.
  writeFileSync(config, text.replaceAll(/^( *)\/\/ ( *["{}[\]])/gm, '$1$2'))
  const all = readConfiguration(config, { CANDHIS_KEY: 'x' })
  assert.deepEqual(fieldOf(all.sources, 'name'), ['NDBC', 'own', 'harbours', 'Candhis'])
  assert.deepEqual(all.prefer, ['Candhis', 'NDBC'])
})

test('health asks a server whether it is ready, or lives.', async (t) => {
  const empty = temporaryFolder(t)
  mkdirSync(join(empty, 'none'))
  const live = await startLive(t, {
    snapshots: join(empty, 'none'),
    args: ['--admin-port=0', '--admin-host=0.0.0.0', '--workers=1'],
  })
  const { port: admin } = new URL(await adminOf(live))
  const health = (...args: string[]) => runCli(['health', '--admin-host=0.0.0.0', ...args])
  const waiting = await health(`--admin-port=${admin}`)
  assert.deepEqual([waiting.code, waiting.stderr], [1, 'groundswell: not ready: no snapshot is loaded\n'])
  assert.deepEqual(await health(`--admin-port=${admin}`, '--live'), { code: 0, stdout: 'live\n', stderr: '' })
  await runCliWell(['build', ...SMALL, '--out', join(empty, 'none')])
  await until(async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).status === 200)
  assert.equal((await health(`--admin-port=${admin}`)).stdout, 'ready\n')
  await live.stop()
  const gone = await health(`--admin-port=${admin}`)
  assert.equal(gone.code, 1)
  assert.match(
    gone.stderr,
    /^groundswell: http:\/\/127\.0\.0\.1:\d+\/readyz does not answer .*ECONNREFUSED.*--admin-port\n$/,
  )
  assert.equal((await health('--admin-port=off')).code, 2)
})
