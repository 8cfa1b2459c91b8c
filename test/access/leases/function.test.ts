/** The function in a real Redis answers as the model does, call for call. */
import assert from 'node:assert/strict'
import { createClient } from '@redis/client'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { LEASE_FUNCTION, LEASE_LIBRARY, type SyncReply } from '../../../src/access/leases/function.ts'
import { redisLibrary } from '../../../src/redis/library.ts'
import { noRedis, startRedis } from '../../redis/server.ts'
import { ModelRedis } from './model.ts'

const LIBRARY = redisLibrary('quota', LEASE_LIBRARY)
const NAMES = ['t:{q}:generation', 't:{q}:members', 't:{q}:recalls']
const DAY_MS = 86_400_000

interface Call {
  replica: number
  /** Whether the caller knows the generation. */
  isNew: boolean
  leaves: boolean
  expected: number
  telling: number
  items: {
    key: number
    known: number
    returned: number
    self: number
    used: number
    want: number
    need: number
    total: number
  }[]
}

const some = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.nat(max))
const CALL: fc.Arbitrary<Call> = fc.record({
  replica: fc.nat(2),
  isNew: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  leaves: fc.integer({ min: 0, max: 14 }).map((n) => n === 0),
  expected: fc.nat(3),
  telling: some(2),
  items: fc.uniqueArray(
    fc.record({
      key: fc.nat(1),
      known: fc.nat(60),
      returned: fc.nat(30),
      self: some(20),
      used: fc.nat(40),
      want: some(50),
      need: some(10),
      total: some(90),
    }),
    { maxLength: 2, selector: ({ key }) => key },
  ),
})

test(
  'The function in Redis and the model of it answer the same, while Redis leases and while it learns.',
  { skip: noRedis() },
  async (t) => {
    const redis = await startRedis(t)
    const client = createClient({ url: redis.address, RESP: 3 })
    client.on('error', () => {})
    await client.connect()
    await client.sendCommand(['FUNCTION', 'LOAD', LIBRARY.code])
    const calls = fc.array(
      fc.oneof({ weight: 30, arbitrary: CALL }, { weight: 1, arbitrary: fc.constant('lost') }),
      {
        minLength: 5,
        maxLength: 40,
      },
    )
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.boolean(),
        fc.integer({ min: 1, max: 120 }),
        async (sequence, learns, quota) => {
          await client.sendCommand(['FLUSHDB'])
          const model = new ModelRedis(() => {})
          let [seen, seenOfModel] = ['', '']
          for (const call of sequence) {
            if (call === 'lost') {
              await client.sendCommand(['FLUSHDB'])
              model.empty()
              continue
            }
            const args = (generation: string): string[] => [
              `r${call.replica}`,
              call.isNew ? '' : generation,
              call.leaves ? '1' : '0',
              ...[call.expected, call.telling, 0, learns ? DAY_MS : 0, DAY_MS, 0].map(String),
              't:recall',
              ...call.items.flatMap(({ key, known, returned, self, used, want, need, total }) =>
                [`1:k${key}`, quota, known, returned, self, used, want, Math.min(want, need), total].map(
                  String,
                ),
              ),
            ]
            const keys = [...NAMES, ...call.items.map(({ key }) => `t:{q}:1:k${key}`)]
            const command = [
              'FCALL',
              LIBRARY.nameOf(LEASE_FUNCTION),
              String(keys.length),
              ...keys,
              ...args(seen),
            ]
            const reply = (await client.sendCommand(command)) as unknown as SyncReply
            const expected = model.call(keys, args(seenOfModel))
            assert.deepEqual(reply[5], expected[5])
            assert.equal(reply[0] === seen, expected[0] === seenOfModel, 'both begin a generation')
            assert.equal(reply[1] > 0, expected[1] > 0, 'both learn')
            assert.equal(reply[3], expected[3])
            assert.deepEqual([...reply[4]].toSorted(), [...expected[4]].toSorted())
            seen = reply[0]
            seenOfModel = expected[0]
          }
        },
      ),
      { numRuns: 120 },
    )
    client.destroy()
  },
)

test('Names that another program uses are left alone, and said so.', { skip: noRedis() }, async (t) => {
  const redis = await startRedis(t)
  await redis.command('FUNCTION', 'LOAD', LIBRARY.code)
  const call = (): Promise<unknown> => {
    const args = ['r', '', '0', '0', '0', '0', '0', '1000', '0', 't:recall']
    return redis.command('FCALL', LIBRARY.nameOf(LEASE_FUNCTION), '3', ...NAMES, ...args)
  }
  await redis.command('HSET', NAMES[0], 'id', 'theirs')
  await assert.rejects(call(), /FOREIGN/)
  await redis.command('HSET', NAMES[0], 'format', '2')
  await assert.rejects(call(), /FOREIGN/)
  await redis.command('DEL', NAMES[0])
  await redis.command('SET', NAMES[0], 'theirs')
  await assert.rejects(call(), /WRONGTYPE/)
  assert.equal(await redis.command('GET', NAMES[0]), 'theirs')
})

test(
  'A user with the rights that the documents give can lease and call leases back.',
  { skip: noRedis() },
  async (t) => {
    const redis = await startRedis(t)
    const page = readFileSync('docs/scaling.md', 'utf8')
    const rules = [...page.matchAll(/^ {4}ACL SETUSER replica (.*)$/gm)].map(([, rule]) => rule)
    assert.equal(rules.length, 2)
    for (const rule of rules) {
      // A selector in parentheses is one argument.
      const words = rule.match(/\([^)]*\)|\S+/g) ?? []
      await redis.command(
        'ACL',
        'SETUSER',
        'replica',
        ...words.map((word) => word.replace('PASSWORD', 'secret')),
      )
    }
    const client = createClient({ url: redis.address, username: 'replica', password: 'secret', RESP: 3 })
    client.on('error', () => {})
    await client.connect()
    await client.sendCommand(['FUNCTION', 'LOAD', LIBRARY.code])
    await client.subscribe('groundswell:recall', () => {})
    const lease = async (replica: string, want: number, leaves = false): Promise<SyncReply> => {
      const name = 'groundswell:{q3}'
      const head = [replica, '', leaves ? '1' : '0', '2', '0', '0', '0', '9999', '0', 'groundswell:recall']
      const keys = [`${name}:generation`, `${name}:members`, `${name}:recalls`, `${name}:1:k`]
      const item = ['1:k', 10, 0, 0, 0, 0, want, want, 0].map(String)
      const command = ['FCALL', LIBRARY.nameOf(LEASE_FUNCTION), '4', ...keys, ...head, ...item]
      return (await client.sendCommand(command)) as unknown as SyncReply
    }
    assert.deepEqual((await lease('a', 10))[5], [10, 0, -1, 0])
    // A recall is published, and its list kept.
    const recalling = await lease('b', 1)
    assert.deepEqual([recalling[4], recalling[5]], [['1:k'], [0, 0, 10, 0]])
    assert.equal((await lease('b', 0, true))[3], 1)
    client.destroy()
  },
)
