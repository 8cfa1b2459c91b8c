/** The script in a real Redis answers as the model does, call for call. */
import assert from 'node:assert/strict'
import { createClient } from '@redis/client'
import { test } from 'node:test'
import fc from 'fast-check'
import { LEASE_SCRIPT, leaseCall, readLeaseReply, type LeaseRequest } from '../../src/access/lease-script.ts'
import type { Reply } from '../../src/access/redis/redis-link.ts'
import { aclOf } from './redis/acl.ts'
import { noRedis, startRedis } from './redis/server.ts'
import { ModelRedis } from './lease_model.ts'

const PREFIX = 't'
const BEGUN = 't:{quota}:begun'

interface Call {
  replica: number
  isLate: boolean
  /** Whether the caller knows since when Redis has its data. */
  isNew: boolean
  requests: Omit<LeaseRequest, 'quota'>[]
}

const some = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.nat(max))
const CALL: fc.Arbitrary<Call> = fc.record({
  replica: fc.nat(2),
  isLate: fc.integer({ min: 0, max: 14 }).map((n) => n === 0),
  isNew: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  requests: fc.uniqueArray(
    fc.record({
      tag: fc.constantFrom('1:k0', '1:k1'),
      held: fc.nat(60),
      others: fc.oneof(fc.constant(-1), fc.nat(90)),
      want: some(50),
      need: some(10),
    }),
    { maxLength: 2, selector: ({ tag }) => tag },
  ),
})

test(
  'The script in Redis and the model of it answer the same, while Redis leases and after it has lost its data.',
  { skip: noRedis() },
  async (t) => {
    const redis = await startRedis(t)
    const client = createClient({ url: redis.address, RESP: 3 })
    client.on('error', () => {})
    await client.connect()
    t.after(() => client.destroy())
    const calls = fc.array(
      fc.oneof({ weight: 30, arbitrary: CALL }, { weight: 1, arbitrary: fc.constant('lost') }),
      { minLength: 5, maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.boolean(),
        fc.integer({ min: 1, max: 120 }),
        async (sequence, isSettled, quota) => {
          await client.sendCommand(['FLUSHDB'])
          const model = new ModelRedis()
          if (isSettled) {
            await client.sendCommand(['SET', BEGUN, '1 1000'])
            model.data.since = 1000
          }
          let [seen, seenOfModel] = ['', '']
          let number = 0
          for (const call of sequence) {
            if (call === 'lost') {
              await client.sendCommand(['FLUSHDB'])
              model.empty()
              continue
            }
            const replica = `r${call.replica}`
            if (!call.isLate) number++
            const requests = call.requests.map((request) => ({
              ...request,
              quota,
              need: Math.min(request.want, request.need),
            }))
            const { keys, args } = leaseCall(PREFIX, replica, {
              number,
              seen: call.isNew ? '' : seen,
              requests,
            })
            const expected = model.call(replica, {
              number,
              seen: call.isNew ? '' : seenOfModel,
              requests,
            })
            const asked = client.sendCommand(['EVAL', LEASE_SCRIPT, String(keys.length), ...keys, ...args])
            if (expected === null) {
              await assert.rejects(asked, /GSWLATE/)
              continue
            }
            const reply = readLeaseReply((await asked) as unknown as Reply, requests)
            assert.deepEqual(reply.grants, expected.grants)
            assert.equal(reply.since === seen, expected.since === seenOfModel, 'both have begun')
            assert.equal(reply.settlingMs > 0, expected.settlingMs > 0, 'both settle')
            assert.equal(reply.replicas, expected.replicas)
            seen = reply.since
            seenOfModel = expected.since
            model.now++
          }
        },
      ),
      { numRuns: 120 },
    )
  },
)

test('Names that another program uses are left alone, and said so.', { skip: noRedis() }, async (t) => {
  const redis = await startRedis(t)
  const { keys, args } = leaseCall(PREFIX, 'r', { number: 1, seen: '', requests: [] })
  const call = (): Promise<unknown> => redis.command('EVAL', LEASE_SCRIPT, '3', ...keys, ...args)
  for (const theirs of [
    ['HSET', BEGUN, 'id', 'theirs'],
    ['SET', BEGUN, 'theirs'],
    ['SET', BEGUN, '2 1000'],
  ]) {
    await redis.command('DEL', BEGUN)
    await redis.command(...theirs)
    await assert.rejects(call(), /GSWFOREIGN/)
    assert.deepEqual(await redis.command('KEYS', '*'), [BEGUN])
  }
  assert.equal(await redis.command('GET', BEGUN), '2 1000')
})

test('A user with the rights that the documents give can lease.', { skip: noRedis() }, async (t) => {
  const redis = await startRedis(t)
  for (const words of aclOf('replica', 'secret')) await redis.command(...words)
  await redis.command('SET', 'groundswell:{quota}:begun', '1 1000')
  const client = createClient({ url: redis.address, username: 'replica', password: 'secret', RESP: 3 })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.destroy())
  const requests = [{ tag: '1:k', quota: 10, held: 0, others: -1, want: 10, need: 10 }]
  const { keys, args } = leaseCall('groundswell', 'a', { number: 1, seen: '', requests })
  const reply = await client.sendCommand(['EVAL', LEASE_SCRIPT, String(keys.length), ...keys, ...args])
  assert.deepEqual(readLeaseReply(reply as unknown as Reply, requests).grants, [
    { give: 10, pool: 0, others: 0 },
  ])
  // A call after the data were lost begins anew, which takes further rights.
  await redis.command('DEL', 'groundswell:{quota}:begun')
  const again = leaseCall('groundswell', 'a', { number: 2, seen: '', requests })
  await client.sendCommand(['EVAL', LEASE_SCRIPT, String(keys.length), ...again.keys, ...again.args])
})

test('An answer of another shape is refused, and so is one with a number that cannot be.', () => {
  const requests: LeaseRequest[] = [{ tag: '1:k', quota: 10, held: 0, others: -1, want: 4, need: 1 }]
  const good = ['1774612800000000', 0, 2, 4, 6, 0]
  assert.deepEqual(readLeaseReply(good, requests).grants, [{ give: 4, pool: 6, others: 0 }])
  const wrong: { [at: number]: unknown[] } = {
    0: ['', 'now', 1, null, []],
    1: ['0', -1, 1.5, NaN, null],
    2: ['2', -1, null, Infinity],
    3: ['4', 5, -1, 0.5, NaN, undefined, true, []],
    4: ['6', 11, 1e300, 0.5, null],
    5: ['0', -1, 2 ** 53, false, {}],
  }
  for (const [at, values] of Object.entries(wrong)) {
    for (const value of values) {
      const reply = good.with(Number(at), value as number)
      assert.throws(() => readLeaseReply(reply, requests), TypeError, JSON.stringify(reply))
    }
  }
  for (const reply of [
    null,
    'OK',
    3,
    [],
    good.slice(0, 5),
    [...good, 0],
    { 0: good[0] },
    [good[0], 0, 2],
  ] as const)
    assert.throws(() => readLeaseReply(reply as never, requests), TypeError)
})
