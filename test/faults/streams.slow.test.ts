/** Streams of events when their keys go, their quota is used up, their thread dies, and the server stops. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type IssuedKey, revoked as withoutKey } from '../../src/access/key-records.ts'
import { changeKeys, issueKey } from '../../src/access/keys-file.ts'
import { EventClient } from '../api/event_client.ts'
import { SLOW_ENGINES, missing } from '../http/server_for_tests.ts'
import { fieldOf } from '../fields.ts'
import { temporaryFolder } from '../live.ts'
import { startDrill, statusWhen } from './drill.ts'
import { build } from './folder.ts'

const COUNT = 24
const QUOTA = 3
/** A change of keys is seen within a second, and streams are looked at every half. */
const KEY_MS = 10_000
/** The drain time is a second; the rest is for a busy machine. */
const STOP_MS = 10_000

let folder = ''
let step = 0
before(async (t) => {
  folder = join(temporaryFolder(t as TestContext), 'snapshots')
  await build(folder, step)
})

for (const engine of SLOW_ENGINES) {
  test(
    `Streams of the ${engine} engine end with their key, thread and server, and others go on.`,
    { skip: missing(engine) },
    async (t) => {
      const drill = await startDrill(t, folder, null, [
        `--engine=${engine}`,
        `--max-listeners-per-key=${COUNT}`,
      ])
      const issue = (owner: string, quota: number): IssuedKey =>
        issueKey(drill.keysFile, { owner, quota, now: Date.now() / 1000 })
      const [kept, revoked, small] = [issue('kept', 1000), issue('revoked', 1000), issue('small', QUOTA)]
      const open = (key: string): Promise<EventClient> => EventClient.open(`${drill.base}/events`, key)
      const listen = async (key: string, count: number): Promise<EventClient[]> => {
        const clients: EventClient[] = []
        for (let i = 0; i < count; i++) {
          let client = await open(key)
          // Each thread has to hear of the key first.
          for (; client.status === 401; client = await open(key)) await wait(100)
          clients.push(client)
          assert.equal(clients[i].status, 200)
          await clients[i].hasHeard(1)
        }
        return clients
      }
      const here = await listen(kept.key, COUNT)

      await t.test(
        'A quota that is used up refuses the next stream, and leaves those that are paid for.',
        async () => {
          const paid = await listen(small.key, QUOTA)
          const refused = await open(small.key)
          assert.equal(refused.status, 429)
          assert.ok(Number(refused.headers['retry-after']) > 0)
          await wait(1200)
          assert.deepEqual(fieldOf(paid, 'isOver'), Array<boolean>(QUOTA).fill(false))
          for (const one of paid) one.close()
          await statusWhen(drill, ({ listeners }) => listeners.open === COUNT, 'closed streams are counted')
        },
      )

      await t.test(
        'A key that is revoked ends its streams within seconds, whole, and no others.',
        async () => {
          const theirs = await listen(revoked.key, 6)
          const began = performance.now()
          assert.ok(changeKeys(drill.keysFile, (records) => withoutKey(records, revoked.record.id)))
          await Promise.all(theirs.map((one) => one.ended()))
          const took = performance.now() - began
          assert.ok(took < KEY_MS, `ended after ${took} ms`)
          assert.ok(theirs.every(({ isWhole }) => isWhole))
          assert.equal((await open(revoked.key)).status, 401)
          assert.ok(here.every(({ isOver }) => !isOver))
          await statusWhen(drill, (status) => status.listeners.open === COUNT)
        },
      )

      await t.test(
        'A thread that dies takes its streams with it; the count is true, and the others go on.',
        async () => {
          const { workers } = await drill.status()
          void drill.evaluate(0, "void setTimeout(() => { throw new Error('a drill') })")
          const { listeners } = await statusWhen(
            drill,
            (status) =>
              status.workers.replaced > workers.replaced &&
              status.workers.serving === status.workers.wanted &&
              status.listeners.open === here.filter(({ isOver }) => !isOver).length &&
              status.listeners.open < COUNT,
            'the thread is replaced and its streams are not counted',
          )
          const left = here.filter(({ isOver }) => !isOver)
          // The engine on node:http has one thread.
          if (workers.wanted > 1) assert.ok(left.length > 0, 'all streams were on one thread')
          assert.equal(listeners.open, left.length)
          const again = await listen(kept.key, COUNT - left.length)
          here.splice(0, COUNT, ...left, ...again)
          await build(folder, ++step)
          await drill.reload()
          await Promise.all(here.map((one) => one.hasHeard(2)))
          assert.equal((await drill.status()).listeners.open, COUNT)
        },
      )

      await t.test('A server that is asked to stop ends every stream whole, and exits in time.', async () => {
        const began = performance.now()
        drill.signal('SIGTERM')
        await Promise.all(here.map((one) => one.ended()))
        assert.equal(here.filter(({ isWhole }) => isWhole).length, COUNT)
        assert.equal(await drill.end, 0, drill.output())
        const took = performance.now() - began
        assert.ok(took < STOP_MS, `it took ${took} ms`)
      })
    },
  )
}
