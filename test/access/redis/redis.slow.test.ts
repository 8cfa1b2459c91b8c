/** Counts in a real Redis: logins, rights, TLS, faults, and what is said of them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { parseRedisAddress, redisCounts, redisFault, type SharedCounts } from '../../../src/access/redis.ts'
import { until } from '../../until.ts'
import { aclOf } from './acl.ts'
import { startLyingRedis } from './lying.ts'
import { freePort, noRedis, startRedis } from './server.ts'

const SKIP = { skip: noRedis() }
const HASH = 'groundswell:{quota}:490000'
const REDIS = new URL('../../../src/access/redis.ts', import.meta.url).href

async function countsAt(t: TestContext, address: string): Promise<SharedCounts> {
  const counts = await redisCounts(parseRedisAddress(address), () => 0.5)
  t.after(() => counts.close())
  counts.connect()
  return counts
}

const isThere = (counts: SharedCounts): Promise<void> =>
  until(
    () => counts.fault === null,
    () => `${counts.fault}`,
  )

const add = (counts: SharedCounts, by: number): Promise<number[]> =>
  counts.add(
    HASH,
    [
      ['a', by],
      ['b', 2 * by],
    ],
    60,
  )

const faultOf = async (counts: SharedCounts): Promise<string> =>
  redisFault(
    await add(counts, 1).then(
      () => null,
      (error: unknown) => error,
    ),
  )

test(
  'The user that the documentation gives can do all that is needed, with its password, and nothing else.',
  SKIP,
  async (t) => {
    const redis = await startRedis(t)
    for (const words of aclOf('replica', 'p@ss/word')) await redis.command(...words)
    await redis.command('ACL', 'SETUSER', 'default', 'off')
    const counts = await countsAt(t, redis.address.replace('//', '//replica:p%40ss%2Fword@'))
    await isThere(counts)
    assert.deepEqual(await add(counts, 3), [3, 6])
    await assert.rejects(counts.add('other', [['a', 1]], 60), (error) => /NOPERM/.test(redisFault(error)))
    const other = await countsAt(t, redis.address.replace('//', '//replica:wrong@'))
    await until(() => /WRONGPASS/.test(other.fault ?? ''))
    assert.doesNotMatch(other.fault!, /wrong/)
  },
)

test('A server with TLS is used where its certificate is trusted, and nowhere else.', SKIP, async (t) => {
  const redis = await startRedis(t, { tls: true })
  const counts = await countsAt(t, redis.address)
  await until(() => /SELF_SIGNED|UNABLE_TO/.test(counts.fault ?? ''))
  assert.match(counts.fault!, /^cannot be reached \([A-Z_]+\)$/)
  const program = `
    const { parseRedisAddress, redisCounts } = await import(${JSON.stringify(REDIS)})
    const counts = await redisCounts(parseRedisAddress(${JSON.stringify(redis.address)}), () => 0.5)
    counts.connect()
    while (counts.fault !== null) await new Promise((resolve) => setTimeout(resolve, 10))
    console.log(await counts.add('hash', [['a', 7]], 60))
    counts.close()`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: redis.authority }, timeout: 60_000 },
  )
  assert.equal(stdout.trim(), '[ 7 ]')
})

test('Each fault is said in words, and is over when it is over.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const counts = await countsAt(t, redis.address)
  await isThere(counts)
  assert.deepEqual(await add(counts, 1), [1, 2])
  await redis.command('REPLICAOF', '127.0.0.1', '1')
  assert.match(await faultOf(counts), /^answers "READONLY /)
  await redis.command('REPLICAOF', 'NO', 'ONE')
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  assert.match(await faultOf(counts), /^answers "OOM /)
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await redis.command('SET', `${HASH}x`, 'theirs')
  await assert.rejects(counts.add(`${HASH}x`, [['a', 1]], 60), (error) =>
    redisFault(error).startsWith('answers "WRONGTYPE '),
  )
  // Nothing of a refused call was carried out.
  assert.deepEqual(await add(counts, 0), [1, 2])
  const { connections } = counts
  await redis.stop()
  await until(() => counts.fault !== null)
  assert.match(await faultOf(counts), /^(cannot be reached|does not answer)/)
  await redis.start()
  await isThere(counts)
  assert.ok(counts.connections > connections)
  assert.deepEqual(await add(counts, 5), [5, 10])
})

test('A connection without an answer ends after two seconds, and another one is made.', SKIP, async (t) => {
  const redis = await startRedis(t)
  const counts = await countsAt(t, redis.address)
  await isThere(counts)
  await redis.command('CLIENT', 'PAUSE', '5000', 'ALL')
  const from = performance.now()
  assert.match(await faultOf(counts), /does not answer|cannot be reached/)
  assert.ok(performance.now() - from < 30_000)
  await isThere(counts)
  await until(() =>
    add(counts, 1).then(
      () => true,
      () => false,
    ),
  )
})

test('A Redis that comes late is found, and an answer in another form is a failed call.', SKIP, async (t) => {
  const port = await freePort()
  const counts = await countsAt(t, `redis://127.0.0.1:${port}/0`)
  await until(() => counts.fault === 'cannot be reached (ECONNREFUSED)')
  await startRedis(t, { port })
  await isThere(counts)
  const lying = await startLyingRedis(t, port)
  const other = await countsAt(t, lying.address)
  await isThere(other)
  const form = (reply: string): string => `+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n${reply}`
  for (const reply of [
    '*3\r\n:2147483648\r\n:1\r\n:1\r\n',
    '*3\r\n+a\r\n+b\r\n:1\r\n',
    '*1\r\n:1\r\n',
    '*3\r\n_\r\n_\r\n:1\r\n',
  ]) {
    lying.lie = { word: 'HINCRBY', reply: form(reply) }
    await assert.rejects(add(other, 1), reply)
  }
  lying.lie = null
  assert.deepEqual(await add(other, 1), [1, 2])
})

test('Addresses are read, or refused without a word of the password.', () => {
  for (const [text, name, hasPassword] of [
    ['redis://host', 'redis://host', false],
    ['redis://user:p%40ss@host:6380/3', 'redis://host:6380/3', true],
    ['rediss://:secret@[::1]:6379/0', 'rediss://[::1]:6379/0', true],
  ] as const) {
    assert.deepEqual(parseRedisAddress(text), { url: text, name, hasPassword })
  }
  const bad =
    'host:6379 http://host redis:// redis://host:port/0 redis://host/db redis://a,b/0 redis://host/0?prefix=x redis://us@er:secret@host redis://:sec%ret@host'
  for (const text of bad.split(' ')) {
    assert.throws(
      () => parseRedisAddress(text),
      ({ message }: Error) => message.startsWith('an address of one Redis') && !message.includes('sec'),
      text,
    )
  }
})
