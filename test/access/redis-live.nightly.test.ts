/** Servers with keys in Redis: a change is in force within two seconds, and clients see no fault of Redis. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IssuedKey } from '../../src/access/key-records.ts'
import { readOptions } from '../../src/commands/command.ts'
import { startServer, type RunningServer } from '../../src/server/server.ts'
import { openRedis } from '../../src/server/redis-clients.ts'
import { SERVE_SETTINGS } from '../../src/server/serve-settings.ts'
import { lineText } from '../../src/system/log.ts'
import { runCli, runCliWell, temporaryFolder } from '../live.ts'
import { freePort, noRedis, startRedis } from './redis/server.ts'
import { testUnless } from '../programs.ts'
import { until } from '../until.ts'
import { aclOf } from './redis/acl.ts'
import { RedisStore } from './redis_store.ts'
import { smallSnapshot } from './turned_clock.ts'

const skip = noRedis()
const test = testUnless(skip)
const snapshots = skip === false ? smallSnapshot() : Promise.resolve('')
/** Between two calls of one client: servers, clients and this test share a thread. */
const PAUSE_MS = 5
const clock = (): number => Date.now() / 1000

interface Replica {
  server: RunningServer
  log: string[]
  /** Status of an answer to a key. */
  ask(key: string): Promise<number>
  status(): Promise<{
    keys: { count: number; version: number; problem: string | null; redis: { state: string } }
  }>
}

/** Does not wait until the server listens. */
async function begin(
  t: TestContext,
  snapshots: string,
  args: string[],
  log: string[] = [],
): Promise<Replica> {
  const argv = [
    '--port=0',
    '--admin-port=0',
    '--drain-time=0s',
    '--workers=1',
    `--snapshots=${snapshots}`,
    ...args,
  ]
  const { config } = readOptions(SERVE_SETTINGS, argv)
  const server = await startServer(config, { log: (...event) => log.push(lineText(...event)), clock })
  t.after(() => server.stop())
  const ask = async (key: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/v2/countries`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const status: Replica['status'] = async () => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/status`)
    return (await answer.json()) as Awaited<ReturnType<Replica['status']>>
  }
  return { server, log, ask, status }
}

test('Over TLS and with the documented ACL, a key that ends is refused by every server within two seconds, under load, through every fault of Redis.', async (t) => {
  const redis = await startRedis(t, { tls: true })
  const makeUsers = async (): Promise<void> => {
    const commands = [...aclOf('replica', 'read-only-secret'), ...aclOf('operator', 'operator-secret')]
    assert.equal(commands.length, 3)
    for (const words of commands) await redis.command(...words)
  }
  const copies = temporaryFolder(t)
  await makeUsers()
  const folder = await snapshots
  const address = (user: string): string => redis.address.replace('//', `//${user}@`)
  const tls = { 'redis-ca': redis.authority, 'redis-cert': null, 'redis-password-file': null }
  const operator = openRedis(address('operator:operator-secret'), tls, { log: () => {}, clock })
  const store: RedisStore = new RedisStore(operator, () => {})
  t.after(() => store.close())
  const good = await store.issue({ owner: 'good', quota: 1_000_000, now: clock() })
  const ends: IssuedKey[] = []
  for (let at = 0; at < 8; at++)
    ends.push(await store.issue({ owner: `ends ${at}`, quota: 1_000_000, now: clock() }))
  const replicas = await Promise.all(
    [1, 2].map((number) =>
      begin(t, folder, [
        `--keys=${address('replica:read-only-secret')}`,
        `--keys-copy=${join(copies, `${number}.json`)}`,
        `--redis-ca=${redis.authority}`,
      ]),
    ),
  )
  const problems: string[] = []
  const over = new AbortController()
  // Clients with the good key, and with one that ends in the middle, ask all the time.
  let hammered = ends[0].key
  const load = replicas.flatMap((replica) => [
    (async () => {
      while (!over.signal.aborted) {
        const status = await replica.ask(good.key)
        await sleep(PAUSE_MS)
        if (status !== 200) problems.push(`the good key got ${status}`)
      }
    })(),
    (async () => {
      while (!over.signal.aborted) {
        await replica.ask(hammered)
        await sleep(PAUSE_MS)
      }
    })(),
  ])
  const waits: string[] = []
  /** Ends a key and waits until both servers refuse it; it must stay so. */
  const end = async (what: string): Promise<void> => {
    const key = ends.shift()
    assert.ok(key !== undefined)
    hammered = key.key
    for (const replica of replicas) assert.equal(await replica.ask(key.key), 200)
    const from = performance.now()
    await store.revoke(key.record.id)
    await until(
      async () =>
        (await Promise.all(replicas.map((replica) => replica.ask(key.key)))).every(
          (status) => status === 401,
        ),
      what,
    )
    waits.push(`${what} ${(performance.now() - from).toFixed(0)} ms`)
    for (const replica of replicas) assert.equal(await replica.ask(key.key), 401)
  }
  await end('with publication')
  await redis.command('ACL', 'SETUSER', 'replica', 'resetchannels')
  await end('by the poll alone')
  await redis.command('ACL', 'SETUSER', 'replica', '&groundswell:*')
  // Slow by two seconds.
  const sleeping = redis.command('DEBUG', 'SLEEP', '2')
  await until(() =>
    replicas.every(({ log }) => log.some((line) => line.includes('answers late or not at all'))),
  )
  await sleeping
  await end('after it was slow')
  // Read-only, then another program's, then emptied.
  await redis.command('REPLICAOF', '127.0.0.1', '1')
  await until(async () => (await replicas[0].status()).keys.redis.state === 'read-only')
  await redis.command('REPLICAOF', 'NO', 'ONE')
  await end('after it was read-only')
  const versionBefore = (await replicas[0].status()).keys.version
  await redis.command('FLUSHALL')
  await redis.command('SET', 'groundswell:{keys}:state', 'of another program')
  await until(
    async () => (await replicas[1].status()).keys.problem?.includes('used by another program') === true,
  )
  await redis.command('FLUSHALL')
  await until(
    async () => (await replicas[1].status()).keys.problem?.includes('holds no keys any more') === true,
  )
  assert.equal((await replicas[1].status()).keys.version, versionBefore)
  // Killed: the copy is there for a start without it.
  const copy = join(copies, '1.json')
  await until(() => existsSync(copy) && readFileSync(copy, 'utf8').includes(`"version":${versionBefore}`))
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  await redis.stop()
  await until(async () => (await replicas[0].status()).keys.redis.state === 'away')
  const third = await begin(t, folder, [
    `--keys=${address('replica:read-only-secret')}`,
    `--keys-copy=${copy}`,
    `--redis-ca=${redis.authority}`,
  ])
  assert.equal(await third.ask(good.key), 200)
  assert.equal(await third.ask(hammered), 401)
  // It comes back, empty and without users; the copy is imported.
  await redis.start()
  await makeUsers()
  const { records } = JSON.parse(readFileSync(copy, 'utf8').replace('"keys":', '"records":')) as {
    records: Awaited<ReturnType<RedisStore['all']>>
  }
  await until(() => operator.isWritable)
  await store.replaceAll(() => records)
  replicas.push(third)
  await until(async () =>
    (await Promise.all(replicas.map((replica) => replica.status()))).every(
      ({ keys }) => keys.problem === null && keys.redis.state === 'connected',
    ),
  )
  await end('after an import')
  over.abort()
  await Promise.all(load)
  assert.deepEqual(problems, [])
  for (const { log } of replicas) for (const line of log) assert.ok(!line.includes('secret'), line)
  t.diagnostic(waits.join(', '))
})

test('A server that has never known its keys does not answer until Redis was reached.', async (t) => {
  const folder = await snapshots
  const port = await freePort()
  const log: string[] = []
  const copy = join(temporaryFolder(t), 'copy.json')
  const beginning = begin(t, folder, [`--keys=redis://127.0.0.1:${port}/0`, `--keys-copy=${copy}`], log)
  let isListening = false
  void beginning.then(() => (isListening = true))
  await until(() => log.some((line) => line.startsWith('serving snapshot')))
  await until(() => log.some((line) => line.includes('cannot be reached (ECONNREFUSED)')))
  // Neither an ACL that is too narrow nor another program's data tell which keys there are.
  const narrow = ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-hget']
  const redis = await startRedis(t, { port, args: narrow })
  await redis.command('SET', 'groundswell:{keys}:log', 'x')
  await redis.command('ACL', 'SETUSER', 'default', '+hget')
  await until(() => log.some((line) => line.includes('another program')))
  assert.equal(isListening, false)
  await redis.command('DEL', 'groundswell:{keys}:log')
  const replica = await beginning
  assert.ok(isListening)
  assert.equal(await replica.ask(`gsw_${'a'.repeat(49)}`), 401)
  assert.ok(log.some((line) => line.includes('no keys in redis://')))
})

test('With the documented ACL a server leases quotas, too, and Redis has refused it nothing.', async (t) => {
  const redis = await startRedis(t)
  for (const words of [...aclOf('replica', 'r'), ...aclOf('operator', 'o')]) await redis.command(...words)
  const address = (login: string): string => redis.address.replace('//', `//${login}@`)
  const files = { 'redis-ca': null, 'redis-cert': null, 'redis-password-file': null }
  const store = new RedisStore(openRedis(address('operator:o'), files, { log: () => {}, clock }), () => {})
  t.after(() => store.close())
  const { key } = await store.issue({ owner: 'Surf Club', quota: 3, now: clock() })
  const args = [`--keys=${address('replica:r')}`, `--quota-store=${address('replica:r')}`]
  const copies = temporaryFolder(t)
  const replicas = await Promise.all(
    [1, 2].map(async (number) =>
      begin(t, await snapshots, [...args, `--keys-copy=${join(copies, `${number}.json`)}`]),
    ),
  )
  // Both together admit the quota, and not twice of it.
  const statuses: number[] = []
  for (let round = 0; round < 4; round++)
    for (const replica of replicas) statuses.push(await replica.ask(key))
  assert.ok(
    statuses.includes(200) && statuses.filter((status) => status === 200).length <= 3,
    statuses.join(),
  )
  // A call that the ACL does not allow is logged there.
  assert.deepEqual(await redis.command('ACL', 'LOG'), [])
  assert.equal(replicas.flatMap(({ log }) => log).filter((line) => /allow|refuse/.test(line)).length, 0)
})

test('The commands keep keys in Redis; a password among the arguments is warned of, one in a file is not.', async (t) => {
  const redis = await startRedis(t, { args: ['--requirepass', 'hunter2'] })
  const folder = temporaryFolder(t)
  const password = join(folder, 'password')
  writeFileSync(password, 'hunter2\n')
  const inFile = ['--keys', redis.address, '--redis-password-file', password]
  const open = await runCli([
    'keys',
    'issue',
    '--owner',
    'Surf Club',
    '--json',
    '--keys',
    redis.address.replace('//', '//:hunter2@'),
  ])
  assert.equal(open.code, 0, open.stderr)
  assert.match(
    open.stderr,
    /^warning: --keys holds a password, which every user of this machine can see: give the address in GROUNDSWELL_KEYS, or .*--redis-password-file/,
  )
  const { id } = JSON.parse(open.stdout) as { id: string }
  const listed = await runCli(['keys', 'list', ...inFile])
  assert.deepEqual([listed.code, listed.stderr], [0, ''])
  assert.match(listed.stdout, new RegExp(`^${id}  1000 per hour  issued \\S+  Surf Club\n$`))
  const exported = join(folder, 'exported.json')
  await runCliWell(['keys', 'export', exported, ...inFile])
  assert.equal(statSync(exported).mode & 0o777, 0o600)
  const imported = await runCliWell(['keys', 'import', exported, ...inFile])
  assert.match(
    imported,
    /^Imported into redis:\/\/127\.0\.0\.1:\d+\/0: 0 added, 0 replaced, 0 removed, 1 unchanged\.\n$/,
  )
  for (const [keys, fault] of [
    ['reddis://x:hunter2@h', /--keys: expected an address such as redis:\/\/host:6379\/0/],
    [redis.address.replace('//', '//:hunter3@'), /refuses the user or the password/],
  ] as const) {
    const { code, stderr } = await runCli(['keys', 'list', '--keys', keys])
    assert.notEqual(code, 0)
    assert.match(stderr, fault)
    assert.ok(!/hunter/.test(stderr), stderr)
  }
})
