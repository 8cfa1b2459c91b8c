/** The connection to a real Redis: one line for each change of its state, and no call without an end. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { RedisScript } from '../../../src/access/redis/redis-connection.ts'
import { RedisFault } from '../../../src/access/redis/redis-fault.ts'
import { connectTo as connect, freePort, noRedis, startCluster, startRedis } from './server.ts'
import { startLyingRedis } from './lying.ts'
import { testUnless } from '../../programs.ts'
import { until } from '../../until.ts'

const test = testUnless(noRedis())
const clock = (): number => Date.now() / 1000

const ECHO = new RedisScript(`redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])`)
const read = (reply: unknown): unknown => reply

const kindOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return 'none'
  } catch (error) {
    return error instanceof RedisFault ? error.kind : String(error)
  }
}

test('A Redis that is absent, comes, stalls, turns read-only, restarts and goes is said in one line each.', async (t) => {
  const port = await freePort()
  const [connection, lines] = connect(t, `redis://127.0.0.1:${port}/0`)
  await connection.tried
  assert.equal(await kindOf(connection.send(null, ['PING'])), 'away')
  const received: string[] = []
  await connection.subscribe('groundswell:test', (message) => received.push(message))
  const redis = await startRedis(t, { port })
  const name = `redis://127.0.0.1:${port}/0`
  await until(() => connection.isReady)
  assert.equal(
    await connection.runScript({ script: ECHO, keys: ['groundswell:a'], args: ['one'], read }),
    'one',
  )
  // A restart forgets the script, which is sent again, and the subscription, which is renewed.
  await redis.stop()
  await until(() => !connection.isReady)
  await redis.start()
  await until(() => connection.isReady)
  assert.equal(
    await connection.runScript({ script: ECHO, keys: ['groundswell:a'], args: ['two'], read }),
    'two',
  )
  await until(async () => {
    await redis.command('PUBLISH', 'groundswell:test', 'hello')
    return received.includes('hello')
  })
  const sleeping = redis.command('DEBUG', 'SLEEP', '2')
  const slow: string[] = []
  while (connection.state.state !== 'slow') {
    const from = performance.now()
    slow.push(await kindOf(connection.send(null, ['PING'])))
    assert.ok(performance.now() - from < 2000)
  }
  assert.ok(slow.includes('slow'))
  await sleeping
  await until(() => connection.state.state === 'connected')
  assert.equal(connection.isWritable, true)
  await redis.command('REPLICAOF', '127.0.0.1', String(await freePort()))
  await until(() => connection.state.state === 'read-only')
  assert.equal(connection.isWritable, false)
  await redis.command('REPLICAOF', 'NO', 'ONE')
  await until(() => connection.isWritable)
  await redis.stop()
  await until(() => !connection.isReady)
  assert.deepEqual(
    lines.map((line) =>
      line
        .replace(/redis \d.*/, 'VERSION')
        .replace(/cannot be reached \(E[A-Z]+\)|closed the connection/, 'FAULT')
        .replaceAll(name, 'NAME'),
    ),
    [
      'warning: Redis NAME: FAULT',
      'Redis NAME: connected, VERSION',
      'warning: Redis NAME: FAULT',
      'Redis NAME: connected, VERSION',
      'warning: Redis NAME: answers late or not at all',
      'Redis NAME: connected again',
      'warning: Redis NAME: is a read-only copy',
      'Redis NAME: connected again',
      'warning: Redis NAME: FAULT',
    ],
  )
})

test('A wrong password, a missing one and a clock that is an hour off are said, and no line has the password.', async (t) => {
  const redis = await startRedis(t)
  const [off, offLines] = connect(t, redis.address, { clock: () => clock() - 3600 })
  await until(() => offLines.length === 2)
  assert.match(
    offLines[1],
    /^warning: Redis \S+: its clock and that of this machine differ by (3600|3599)\.\d s: set both by NTP$/,
  )
  assert.ok(Math.abs((off.skew ?? 0) - 3600) < 2)
  off.close()
  await redis.command('ACL', 'SETUSER', 'rider', 'on', '>right', '+@all', '~*', '&*')
  await redis.command('ACL', 'SETUSER', 'default', 'resetpass', '>other')
  for (const [login, fault] of [
    ['rider:wrongpassword@', 'refuses the user or the password'],
    ['', 'requires a password'],
  ]) {
    const [connection, lines] = connect(t, redis.address.replace('//', `//${login}`))
    await connection.tried
    assert.equal(connection.state.state, 'login')
    assert.equal(lines.length, 1)
    assert.ok(lines[0].endsWith(fault), lines[0])
    assert.ok(!lines[0].includes('wrongpassword'))
    connection.close()
  }
  const [right] = connect(t, redis.address.replace('//', '//rider:right@'))
  await until(() => right.isWritable)
})

test('TLS is checked against the authority that is given.', async (t) => {
  const redis = await startRedis(t, { tls: true })
  const [unknown, lines] = connect(t, redis.address)
  await unknown.tried
  assert.equal(unknown.state.state, 'tls')
  assert.match(lines[0], /does not pass the check of its certificate/)
  unknown.close()
  const tls = { authorities: readFileSync(redis.authority, 'utf8'), own: null }
  const [trusted] = connect(t, redis.address, { tls })
  await trusted.tried
  assert.equal(await trusted.runScript({ script: ECHO, keys: ['groundswell:a'], args: ['x'], read }), 'x')
  const [plain] = connect(t, redis.address.replace('rediss', 'redis'))
  await plain.tried
  assert.notEqual(plain.state.state, 'connected')
})

test('A cluster is found by any of its nodes, and scripts run on the node of their names.', async (t) => {
  const nodes = await startCluster(t)
  const [connection] = connect(t, `redis://127.0.0.1:${nodes[1].port}`)
  await connection.tried
  const received: string[] = []
  await connection.subscribe('groundswell:test', (message) => received.push(message))
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    assert.equal(
      await connection.runScript({ script: ECHO, keys: [`groundswell:{${name}}:x`], args: [name], read }),
      name,
    )
  }
  await nodes[2].command('PUBLISH', 'groundswell:test', 'hello')
  await until(() => received.includes('hello'))
})

test('Of several hosts the one that takes writes is used.', async (t) => {
  const primary = await startRedis(t)
  const copy = await startRedis(t, { args: ['--replicaof', '127.0.0.1', String(primary.port)] })
  const absent = await freePort()
  const [connection, lines] = connect(
    t,
    `redis://127.0.0.1:${absent},127.0.0.1:${copy.port},127.0.0.1:${primary.port}`,
  )
  await until(() => connection.isReady)
  assert.equal(connection.isWritable, true)
  assert.equal(lines.length, 1)
})

test('A Redis that is silent about its time is still asked for other things.', async (t) => {
  const redis = await startRedis(t)
  const silent = await startLyingRedis(t, redis.port)
  silent.lie = { word: '\r\nTIME\r\n', reply: '' }
  const [connection] = connect(t, silent.address)
  await until(() => silent.lies > 0)
  // A later call is given up later. A rejection that nobody handles would end the process, and fails this test.
  assert.equal(await kindOf(connection.send(null, ['TIME'])), 'slow')
  silent.lie = null
  await until(async () => (await kindOf(connection.send(null, ['PING']))) === 'none')
})
