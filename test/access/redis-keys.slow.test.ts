/** Keys in a real Redis: commands that change them, replicas that follow them, and data that are lost. */
import assert from 'node:assert/strict'
import { statSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as testWithoutRedis, type TestContext } from 'node:test'
import { FollowedKeys } from '../../src/access/followed-keys.ts'
import { hashOf, type KeyRecord, merged } from '../../src/access/key-records.ts'
import { issueKey, loadKeys } from '../../src/access/keys-file.ts'
import { readCopy, writeCopy, type KeysCopy } from '../../src/access/keys-copy.ts'
import { compareText } from '../../src/system/text.ts'
import { lineText, type LogLine } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'
import { startLyingRedis } from './redis/lying.ts'
import { RedisStore } from './redis_store.ts'
import { connectTo, noRedis, startCluster, startRedis, type RedisServer } from './redis/server.ts'
import { testUnless } from '../programs.ts'
import { until } from '../until.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const nameOf = (part: string): string => `groundswell:{keys}:${part}`

const storeAt = (t: TestContext, address: string): RedisStore =>
  new RedisStore(connectTo(t, address)[0], () => {})

/** A test with a Redis of its own, and the commands of keys on it; left out where there is no Redis. */
const test = (
  name: string,
  run: (t: TestContext, redis: RedisServer, store: RedisStore) => Promise<void>,
): void =>
  void testUnless(noRedis())(name, async (t) => {
    const redis = await startRedis(t)
    await run(t, redis, storeAt(t, redis.address))
  })

interface Replica {
  /** Hashes in force, by id. */
  hashes(): Map<string, string>
  lines: string[]
  status(): {
    version: number
    problem: string | null
    redis_lost_changes: boolean
    unreadable_records: number
  }
  copy(): KeysCopy | null
  known: Promise<void>
}

/** What a server keeps of the keys. */
function follow(t: TestContext, address: string, copy: KeysCopy | null = null): Replica {
  const lines: string[] = []
  const log: LogLine = (...event) => void lines.push(lineText(...event))
  let hashes = new Map<string, string>()
  const followed = new FollowedKeys({
    connection: connectTo(t, address, { log })[0],
    copy,
    copyPath: 'COPY',
    log,
    onSet: (records) => (hashes = new Map([...records.values()].map(({ id, hash }) => [id, hash]))),
  })
  t.after(() => followed.close())
  return {
    hashes: () => hashes,
    lines,
    status: () => followed.status() as ReturnType<Replica['status']>,
    copy: () => followed.copy(),
    known: followed.known,
  }
}

const inOrder = (hashes: ReadonlyMap<string, string>): string[] =>
  [...hashes].map((pair) => pair.join(' ')).toSorted(compareText)

function recordOf(number: number): KeyRecord {
  return {
    id: `k_${String(number).padStart(10, '0')}`,
    owner: `Owner ${number}`,
    hash: hashOf(`key ${number}`),
    quota: 1000,
    created: '2026-03-27T12:00:00Z',
  }
}

/** A replica that has heard of the keys with these numbers, which are put into the store. */
async function followKeys(
  t: TestContext,
  store: RedisStore,
  address: string,
  numbers: number[],
): Promise<Replica> {
  await store.replaceAll(() => numbers.map(recordOf))
  const replica = follow(t, address)
  await until(() => replica.hashes().size === numbers.length)
  return replica
}

/** Puts keys in the layout of the version before. */
async function startOldKeys(redis: RedisServer): Promise<KeyRecord[]> {
  const old = [1, 2, 3].map(recordOf)
  for (const record of old) await redis.command('HSET', nameOf('records'), record.id, JSON.stringify(record))
  const state = ['format', 'groundswell-keys-1', 'generation', 'old', 'origin', 'imported', 'version', '1']
  await redis.command('HSET', nameOf('state'), ...state, 'stamp', 's')
  return old
}

test('Keys are issued, rotated, changed and ended in Redis; replicas follow, and the database holds no key.', async (t, redis, store) => {
  const early = follow(t, redis.address)
  await early.known
  assert.match(
    early.lines.at(-1) ?? '',
    /^warning: no keys in redis:\S+: every keyed operation answers 401 until "keys issue --keys/,
  )
  const a = await store.issue({ owner: 'Surf Club', quota: 5, now: NOON })
  const b = await store.issue({ owner: 'Harbour', now: NOON })
  await assert.rejects(store.issue({ owner: ' Surf Club ', now: NOON }), /owner already has the key k_/)
  await assert.rejects(store.rotate('k_0000000000', NOON), /no key has the id k_0000000000/)
  await assert.rejects(store.find('gsw_secret'), /^KeyCommandError: not an id of a key/)
  assert.equal((await store.setQuota(b.record.id, 77)).quota, 77)
  const again = await store.rotate(a.record.id, NOON + 60)
  assert.notEqual(again.key, a.key)
  assert.deepEqual(await store.find(a.record.id), {
    ...a.record,
    hash: hashOf(again.key),
    rotated: '2026-03-27T12:01:00Z',
  })
  assert.deepEqual((await store.all()).map(({ owner, quota }) => `${owner} ${quota}`).toSorted(compareText), [
    'Harbour 77',
    'Surf Club 5',
  ])
  const expected = new Map([
    [a.record.id, hashOf(again.key)],
    [b.record.id, b.record.hash],
  ])
  await until(() => inOrder(early.hashes()).join() === inOrder(expected).join())
  const late = follow(t, redis.address)
  await until(() => late.hashes().size === 2)
  assert.deepEqual(late.hashes(), expected)
  assert.equal((await store.revoke(a.record.id))?.owner, 'Surf Club')
  for (const replica of [early, late]) await until(() => !replica.hashes().has(a.record.id))
  // An owner whose key has ended may have another one.
  await store.issue({ owner: 'Surf Club', now: NOON })
  const dump = JSON.stringify(
    await Promise.all(
      ((await redis.command('KEYS', '*')) as string[]).map((name) =>
        name.endsWith('changes') ? redis.command('ZRANGE', name, '0', '-1') : redis.command('HGETALL', name),
      ),
    ),
  )
  assert.ok(dump.includes(b.record.hash))
  for (const key of [a.key, b.key, again.key]) assert.ok(!dump.includes(key.slice(4)))
})

test('Of many commands at once for one owner one issues a key, and changes of one key are all carried out.', async (t, redis) => {
  const stores = Array.from({ length: 6 }, () => storeAt(t, redis.address))
  const issued = await Promise.allSettled(
    stores.map((store) => store.issue({ owner: 'Surf Club', now: NOON })),
  )
  assert.equal(issued.filter(({ status }) => status === 'fulfilled').length, 1)
  const [{ id }] = await stores[0].all()
  const rotated = await Promise.all(stores.map((store, at) => store.rotate(id, NOON + at)))
  const last = await stores[0].find(id)
  assert.ok(rotated.some(({ record }) => record.hash === last.hash))
})

test('Without publication the poll alone finds a change within two seconds; a thousand changes are followed.', async (t, redis) => {
  await redis.command('ACL', 'SETUSER', 'deaf', 'on', '>pw', '~groundswell:*', '+@all', 'resetchannels')
  const store = storeAt(t, redis.address)
  const { record } = await store.issue({ owner: 'first', now: NOON })
  const deaf = follow(t, redis.address.replace('//', '//deaf:pw@'))
  const hearing = follow(t, redis.address)
  await until(() => deaf.hashes().size === 1 && hearing.hashes().size === 1)
  assert.ok(deaf.lines.some((line) => line.includes('may not subscribe to groundswell:{keys}:changed')))
  const waits: number[] = []
  for (let round = 0; round < 5; round++) {
    const { hash } = (await store.rotate(record.id, NOON)).record
    const from = performance.now()
    await until(() => deaf.hashes().get(record.id) === hash)
    waits.push(performance.now() - from)
  }
  t.diagnostic(`poll alone: ${waits.map((wait) => wait.toFixed(0)).join(', ')} ms`)
  assert.ok(Math.min(...waits) < 2000)
  const from = performance.now()
  // As many commands of ours would take minutes.
  for (let number = 0; number < 1000; number += 50) {
    const some = Array.from({ length: 50 }, (_, i) => recordOf(number + i))
    // Above every version that was given before, within the same millisecond, too.
    const first = (Date.now() + 1) * 1000
    const versions = some.flatMap(({ id }, i) => [String(first + i), id])
    await redis.command('HSET', nameOf('records'), ...some.flatMap((one) => [one.id, JSON.stringify(one)]))
    await redis.command('ZADD', nameOf('changes'), ...versions)
    await store.setQuota(record.id, number + 1)
  }
  await until(() => deaf.hashes().size === 1001 && hearing.hashes().size === 1001)
  t.diagnostic(`1,000 changes: ${(performance.now() - from).toFixed(0)} ms`)
  const all = new Map((await store.all()).map(({ id, hash }) => [id, hash]))
  assert.deepEqual(inOrder(deaf.hashes()), inOrder(all))
})

test('An emptied Redis ends no key; an import puts all back, and replicas take it.', async (t, redis, store) => {
  await store.replaceAll((there) => merged(there, [1, 2, 3].map(recordOf), false).records)
  const replica = follow(t, redis.address)
  await until(() => replica.hashes().size === 3)
  await redis.command('FLUSHALL')
  await until(() => replica.status().problem !== null)
  assert.equal(replica.hashes().size, 3)
  assert.match(
    replica.lines.at(-1) ?? '',
    /holds no keys any more; the last good ones \(3\) stay in force until "keys import COPY --keys redis:/,
  )
  // A key issued by mistake begins another set, which does not end the others.
  await store.issue({ owner: 'new', now: NOON })
  await until(() => replica.status().problem?.includes('another set of keys') === true)
  assert.equal(replica.hashes().size, 3)
  const copy = replica.copy()
  assert.ok(copy !== null)
  await store.replaceAll((there) => merged(there, copy.records, false).records)
  await until(() => replica.hashes().size === 4 && replica.status().problem === null)
  assert.match(replica.lines.at(-1) ?? '', /keys are followed again, 4 of them/)
  // A restart without persistence empties it, too, and so it may be found at the start of a replica.
  await redis.stop()
  const late = follow(t, redis.address, replica.copy())
  assert.equal(late.hashes().size, 4)
  await redis.start()
  await until(() => late.status().problem?.includes('holds no keys any more') === true)
  assert.equal(late.hashes().size, 4)
})

test('When a copy that lags takes over, what it lost stays in force, and what changes on it is followed.', async (t, first, store) => {
  await store.replaceAll(() => [1, 2, 3, 4].map(recordOf))
  const lagging = await startRedis(t, { args: ['--replicaof', '127.0.0.1', String(first.port)] })
  await until(async () =>
    String(await lagging.command('INFO', 'replication')).includes('master_link_status:up'),
  )
  await until(async () => (await lagging.command('HLEN', nameOf('records'))) === 5)
  await lagging.command('REPLICAOF', 'NO', 'ONE')
  const replica = follow(t, `redis://127.0.0.1:${first.port},127.0.0.1:${lagging.port}`)
  await until(() => replica.hashes().size === 4)
  // The copy never hears of these.
  await store.revoke(recordOf(1).id)
  const issued = await store.issue({ owner: 'late', now: NOON })
  await until(() => replica.hashes().has(issued.record.id) && !replica.hashes().has(recordOf(1).id))
  await first.stop()
  const after = storeAt(t, lagging.address)
  await after.revoke(recordOf(2).id)
  await after.issue({ owner: 'later', now: NOON })
  await until(() => replica.status().redis_lost_changes)
  await until(() => !replica.hashes().has(recordOf(2).id))
  assert.ok(!replica.hashes().has(recordOf(1).id), 'a revoked key came back')
  assert.ok(replica.hashes().has(issued.record.id), 'an issued key was lost')
  await until(() => replica.hashes().size === 4)
  assert.match(
    replica.lines.filter((line) => line.includes('has lost')).join(),
    /has lost the newest changes of keys.*"keys import COPY --replace --keys/,
  )
  const copy = replica.copy()
  assert.ok(copy !== null && copy.isForked)
  await after.replaceAll((there) => merged(there, copy.records, true).records)
  await until(() => !replica.status().redis_lost_changes)
  const fresh = follow(t, lagging.address)
  await until(() => fresh.hashes().size === 4)
  assert.deepEqual(inOrder(fresh.hashes()), inOrder(replica.hashes()))
})

test('Another program’s data are refused in one line and not touched; broken records end no key.', async (t, redis, store) => {
  const foreign: { [words: string]: RegExp } = {
    'SET groundswell:{keys}:records hello': /has another type/,
    'HSET groundswell:{keys}:records :state groundswell-keys-9': /:records has no state of this format/,
    'HSET groundswell:{keys}:records k_0000000001 {}': /:records is a hash/,
    'LPUSH groundswell:{keys}:changes 1': /:changes is a list/,
    'SET groundswell:{keys}:state theirs': /:state is a string/,
  }
  for (const [words, message] of Object.entries(foreign)) {
    await redis.command(...words.split(' '))
    const before = await redis.command('KEYS', '*')
    for (const attempt of [
      store.all(),
      store.issue({ owner: 'x', now: NOON }),
      store.revoke('k_0000000001'),
    ]) {
      await assert.rejects(attempt, (error: Error) => {
        assert.match(error.message, message)
        assert.match(error.message, /used by another program or version.*nothing was changed.*\?prefix=NAME/)
        return !error.message.includes('\n')
      })
    }
    assert.deepEqual(await redis.command('KEYS', '*'), before)
    const replica = follow(t, redis.address)
    await until(() => replica.status().problem !== null)
    assert.equal(replica.lines.filter((line) => message.test(line)).length, 1)
    await redis.command('FLUSHALL')
  }
  const replica = await followKeys(t, store, redis.address, [1, 2, 3])
  await redis.command(
    'HSET',
    nameOf('records'),
    recordOf(1).id,
    'x'.repeat(10_000_000),
    recordOf(2).id,
    'not JSON',
    'x'.repeat(1000),
    '{}',
  )
  // A replica that never saw them passes them over, one that did keeps them; both go on.
  const late = follow(t, redis.address)
  await until(() => late.hashes().size === 1)
  assert.equal(late.status().unreadable_records, 3)
  assert.equal(late.lines.filter((line) => line.includes('cannot be read')).length, 1)
  for (const line of late.lines) assert.ok(line.length < 500)
  for (const number of [1, 2])
    await redis.command('ZADD', nameOf('changes'), String(Date.now() * 1000), recordOf(number).id)
  // A change tells the replica to look.
  await store.setQuota(recordOf(3).id, 7)
  await until(() => replica.status().unreadable_records === 2)
  assert.equal(replica.hashes().size, 3)
  await assert.rejects(store.find(recordOf(1).id), /no key has the id/)
  assert.equal(await store.revoke(recordOf(1).id), null)
  await until(() => !replica.hashes().has(recordOf(1).id))
  assert.equal((await store.revoke(recordOf(3).id))?.owner, 'Owner 3')
  await until(() => replica.hashes().size === 1 && late.hashes().size === 0)
})

test('Out of memory a key can still be ended; read-only and wrong logins are said, and nothing is half done.', async (t, redis, store) => {
  const replica = await followKeys(t, store, redis.address, [1, 2])
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  await assert.rejects(
    store.issue({ owner: 'x', now: NOON }),
    /^RedisKeysError: Redis redis:\S+: is out of memory$/,
  )
  await store.revoke(recordOf(1).id)
  await until(() => replica.hashes().size === 1)
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  const copy = await startRedis(t, { args: ['--replicaof', '127.0.0.1', String(redis.port)] })
  const onCopy = follow(t, copy.address)
  await until(() => onCopy.hashes().size === 1)
  await assert.rejects(storeAt(t, copy.address).revoke(recordOf(2).id), /is a read-only copy$/)
  await store.revoke(recordOf(2).id)
  await until(() => onCopy.hashes().size === 0)
  const wrong = storeAt(t, redis.address.replace('//', '//rider:password1@'))
  await assert.rejects(
    wrong.all(),
    (error: Error) =>
      /refuses the user or the password/.test(error.message) && !/password1/.test(error.message),
  )
})

test('The private copy keeps keys and place, is readable by its owner alone, and replaces no keys file.', async (t, redis, store) => {
  const replica = await followKeys(t, store, redis.address, [1, 2])
  const copy = replica.copy()
  assert.ok(copy !== null)
  const path = join(temporaryFolder(t), 'copy.json')
  assert.equal(readCopy(path, 'redis://a'), null)
  writeCopy(path, 'redis://a', copy)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readCopy(path, 'redis://a'), copy)
  assert.equal(readCopy(path, 'redis://b'), null)
  // It is a keys file, for an import and for a server without Redis.
  assert.deepEqual(loadKeys(path), copy.records)
  issueKey(path, { owner: 'one more', now: NOON })
  assert.throws(
    () => readCopy(path, 'redis://a'),
    /is not a copy of keys from Redis, and would be replaced by one/,
  )
  assert.equal((JSON.parse(readFileSync(path, 'utf8')) as { keys: object[] }).keys.length, 3)
})

testWithoutRedis('An import adds, refuses what differs, or takes exactly what is imported.', () => {
  const there = [1, 2].map(recordOf)
  const changed = { ...recordOf(2), quota: 5 }
  assert.deepEqual(merged(there, [2, 3].map(recordOf), false), {
    records: [1, 2, 3].map(recordOf),
    counts: { added: 1, changed: 0, removed: 0, same: 1 },
  })
  assert.throws(
    () => merged(there, [changed], false),
    /k_0000000002 is there already and differs; nothing was imported/,
  )
  assert.throws(
    () => merged(there, [{ ...recordOf(3), owner: 'Owner 1' }], false),
    /the owner of k_0000000003 has the key k_0000000001/,
  )
  assert.deepEqual(merged(there, [changed, recordOf(3)], true), {
    records: [changed, recordOf(3)],
    counts: { added: 1, changed: 1, removed: 1, same: 0 },
  })
})

test('A cluster keeps all names of the keys together.', async (t) => {
  const nodes = await startCluster(t)
  const address = `redis://127.0.0.1:${nodes[0].port}/0?prefix=waves`
  const store = storeAt(t, address)
  const replica = await followKeys(t, store, address, [1, 2, 3])
  const { record } = await store.issue({ owner: 'x', now: NOON })
  await store.revoke(recordOf(1).id)
  await until(() => replica.hashes().has(record.id) && !replica.hashes().has(recordOf(1).id))
})

test('Keys in the layout of an earlier version are refused by name, and one command takes them over.', async (t, redis, store) => {
  const old = await startOldKeys(redis)
  for (const record of old) await redis.command('HSET', nameOf('owners'), record.owner, record.id)
  await redis.command('XADD', nameOf('log'), '1-0', 'id', '*', 'stamp', 's')
  // A server that was stopped before the upgrade has its copy, and one without never takes them for no keys.
  const copy: KeysCopy = {
    records: old,
    set: 'old',
    last: { id: '', version: 0 },
    seen: [],
    isForked: false,
  }
  const replica = follow(t, redis.address, copy)
  const fresh = follow(t, redis.address)
  let isKnown = false
  void fresh.known.then(() => (isKnown = true))
  const refusal =
    /holds keys in the layout of an earlier version; nothing was changed: "keys upgrade --keys redis:/
  for (const attempt of [store.all(), store.issue({ owner: 'x', now: NOON }), store.revoke(recordOf(1).id)])
    await assert.rejects(attempt, refusal)
  for (const server of [replica, fresh]) await until(() => refusal.test(server.status().problem ?? ''))
  assert.equal(replica.hashes().size, 3)
  assert.equal(isKnown, false)
  assert.equal(await store.upgrade(), 3)
  assert.equal(await store.upgrade(), null)
  assert.deepEqual(await store.all(), old)
  await until(() => fresh.hashes().size === 3 && replica.status().problem === null)
  assert.deepEqual(inOrder(fresh.hashes()), inOrder(replica.hashes()))
  await store.revoke(recordOf(1).id)
  for (const server of [replica, fresh]) await until(() => !server.hashes().has(recordOf(1).id))
  const names = (await redis.command('KEYS', '*')) as string[]
  assert.deepEqual(names.toSorted(compareText), [nameOf('changes'), nameOf('records')])
})

test('A key that the earlier version ends during an upgrade does not come back.', async (t, redis) => {
  await startOldKeys(redis)
  const [connection] = connectTo(t, redis.address)
  let revocations = 0
  const runScript = connection.runScript.bind(connection)
  // All is read and staged, and nothing is swapped yet.
  connection.runScript = async (call) => {
    if (revocations++ === 0) {
      await redis.command('HDEL', nameOf('records'), recordOf(2).id)
      await redis.command('HSET', nameOf('state'), 'version', '2', 'stamp', 't')
    }
    return runScript(call)
  }
  const store = new RedisStore(connection, () => {})
  assert.equal(await store.upgrade(), 2)
  assert.deepEqual(await store.all(), [1, 3].map(recordOf))
})

test('An upgrade whose keys change without end gives up and changes nothing.', async (t, redis) => {
  await startOldKeys(redis)
  const [connection] = connectTo(t, redis.address)
  const runScript = connection.runScript.bind(connection)
  connection.runScript = async (call) => {
    await redis.command('HINCRBY', nameOf('state'), 'version', '1')
    return runScript(call)
  }
  const store = new RedisStore(connection, () => {})
  await assert.rejects(store.upgrade(), /other commands change the same keys; try again/)
  assert.equal(await redis.command('HLEN', nameOf('records')), 3)
})

test('An upgrade names a record that cannot be read, and changes nothing.', async (t, redis) => {
  await startOldKeys(redis)
  await redis.command('HSET', nameOf('records'), recordOf(2).id, '{"id":1}')
  const before = await redis.command('HGETALL', nameOf('records'))
  await assert.rejects(
    storeAt(t, redis.address).upgrade(),
    /1 records cannot be read: k_0000000002; nothing was changed/,
  )
  assert.deepEqual(await redis.command('HGETALL', nameOf('records')), before)
  assert.equal(await redis.command('HGET', nameOf('state'), 'version'), '1')
})

test('A Redis that lies about keys ends none; when it tells the truth again, it is followed.', async (t, redis, store) => {
  const lying = await startLyingRedis(t, redis.port)
  const replica = await followKeys(t, store, lying.address, [1, 2, 3])
  const garbled = (): number => replica.lines.filter((line) => line.includes('an unexpected form')).length
  const lies: [word: string, reply: string][] = [
    ['HGET', '*0\r\n'],
    ['HGET', ':7\r\n'],
    ['ZRANGE', '+OK\r\n'],
    ['ZRANGE', '*1\r\n*2\r\n$1\r\nk\r\n,nan\r\n'],
    ['HMGET', '*0\r\n'],
    ['HMGET', '*1\r\n:1\r\n'],
    ['HELLO', ':1\r\n'],
    ['TIME', '*1\r\n+soon\r\n'],
  ]
  for (const [at, [word, reply]] of lies.entries()) {
    const { closed } = lying
    const before = garbled()
    lying.lie = { word, reply }
    await store.setQuota(recordOf(1).id, 10 + at)
    await until(() => lying.closed > closed && garbled() > before, word)
    assert.equal(replica.hashes().size, 3)
    lying.lie = null
    const { record } = await store.rotate(recordOf(2).id, NOON)
    await until(() => replica.hashes().get(record.id) === record.hash, `${word}: healed`)
  }
})

test('A Redis whose pages never end is not read for ever.', async (t, redis, store) => {
  const lying = await startLyingRedis(t, redis.port)
  const replica = await followKeys(t, store, lying.address, [1, 2, 3])
  lying.lie = { word: 'ZRANGE', reply: `*200\r\n${'*2\r\n$1\r\nk\r\n,5\r\n'.repeat(200)}` }
  await store.setQuota(recordOf(1).id, 10)
  await until(() => replica.lines.some((line) => line.includes('another history')))
  assert.equal(replica.hashes().size, 3)
  lying.lie = { word: 'HSCAN', reply: '*2\r\n$1\r\n7\r\n*0\r\n' }
  await assert.rejects(storeAt(t, lying.address).all(), /in an unexpected form/)
})
