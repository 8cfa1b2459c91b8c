/** `GET /events` on a live server, with both engines: what comes at each swap, and how streams end. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { startServer } from '../../tools/live_server.ts'
import { rollback } from '../../src/snapshot/retained.ts'
import { FULL_RETRY_SECONDS } from '../../src/http/event-streams.ts'
import { build, fakeSource, LATER_WORLD, SMALL_WORLD } from '../builder/fake_source.ts'
import { missing, SLOW_ENGINES } from '../http/server_for_tests.ts'
import { Client, folderOfFile, type Live } from '../live.ts'
import { EventClient, type EventData } from './event_client.ts'

const folder = folderOfFile()

/**
 * Streams at a time of one key; the tests before the last have fewer, and closed ones may take a moment to
 * leave.
 */
const MOST_OF_ONE = 24
const UNKNOWN = '0123456789abcdef01234567'
const dir = join(folder, 'snapshots')

const first = await build([fakeSource(SMALL_WORLD)], dir, { fresh: true })
const second = await build([fakeSource(LATER_WORLD)], dir, { fresh: true, allowLoss: 1 })

const swapTo = async (id: string): Promise<void> => {
  await rollback(dir, id, Date.now() / 1000)
}

/** The changes from the first to the second, which `GET /changes` lists (test/api/changes.test.ts). */
const CHANGES: EventData['changes'] = {
  buoys: { added: 1, changed: 2, removed: 1 },
  readings: { added: 3, changed: 1, removed: 1 },
  passes: false,
  forecast: false,
}
const NO_CHANGES: EventData['changes'] = {
  buoys: { added: 0, changed: 0, removed: 0 },
  readings: { added: 0, changed: 0, removed: 0 },
  passes: false,
  forecast: false,
}

for (const engine of SLOW_ENGINES) {
  describe(`events of the ${engine} engine`, { skip: missing(engine) }, () => {
    const ends: (() => Promise<void>)[] = []
    let live: Live
    before(async () => {
      await swapTo(first.id)
      const args = [`--engine=${engine}`, `--max-listeners-per-key=${MOST_OF_ONE}`]
      live = await startServer({ snapshots: dir, args }, (end) => ends.push(end))
    })
    after(async () => {
      for (const end of ends) await end()
    })
    const open = (query = '', headers: { [name: string]: string } = {}): Promise<EventClient> =>
      EventClient.open(`${live.base}/events${query}`, live.key, headers)
    const listen = async (
      t: TestContext,
      query = '',
      headers: { [name: string]: string } = {},
    ): Promise<EventClient> => {
      const client = await open(query, headers)
      t.after(() => client.close())
      return client
    }

    it('says what is served, and at each swap what it changes; buoys that are asked for alone count', async (t) => {
      const all = await listen(t)
      assert.equal(all.status, 200)
      const { headers } = all
      assert.equal(headers['content-type'], 'text/event-stream')
      assert.equal(headers['cache-control'], 'no-store, no-transform')
      assert.equal(headers['x-accel-buffering'], 'no')
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.equal(headers['x-snapshot-id'], first.id)
      assert.equal(headers['content-encoding'], undefined)
      assert.ok(Number(headers['x-ratelimit-remaining']) > 0)
      const begin = { snapshot: first.id, as_of: '2026-03-27T09:00:00Z', since: null, changes: null }
      assert.deepEqual(await all.hasHeard(1), [begin])
      assert.ok(all.text.startsWith('retry: 5000\n\nevent: snapshot\n'), all.text)

      // Buoy 1 changes in its description alone, bravo (3) leaves, delta (5) is to come, far (4) stays as it
      // is.
      const some = await listen(t, '?buoy=5&buoy=bravo,alpha-2')
      const one = await listen(t, '?buoy=5')
      const none = await listen(t, '?buoy=4')
      assert.deepEqual(await none.hasHeard(1), [{ ...begin, ids: null }])
      await Promise.all([some.hasHeard(1), one.hasHeard(1)])

      await swapTo(second.id)
      const event = { snapshot: second.id, as_of: '2026-03-27T10:00:00Z', since: first.id, changes: CHANGES }
      assert.deepEqual((await all.hasHeard(2))[1], event)
      assert.deepEqual((await some.hasHeard(2))[1], {
        ...event,
        changes: { ...CHANGES, buoys: { added: 1, changed: 1, removed: 1 } },
        ids: [2, 3, 5],
      })
      assert.deepEqual((await one.hasHeard(2))[1], {
        ...event,
        changes: {
          ...CHANGES,
          buoys: { added: 1, changed: 0, removed: 0 },
          readings: { added: 1, changed: 0, removed: 0 },
        },
        ids: [5],
      })

      await swapTo(first.id)
      assert.deepEqual((await all.hasHeard(3))[2].changes, {
        ...CHANGES,
        readings: { added: 1, changed: 1, removed: 3 },
      })
      await Promise.all([some.hasHeard(3), one.hasHeard(3)])
      assert.equal(none.events.length, 1)
      assert.deepEqual([all.isOver, none.isOver], [false, false])
    })

    it('answers Last-Event-ID from the held snapshots, and any other as none', async (t) => {
      const before = await listen(t)
      await before.hasHeard(1)
      await swapTo(second.id)
      await before.hasHeard(2)
      const since = async (id: string, query = ''): Promise<EventData> => {
        const client = await listen(t, query, { 'last-event-id': id })
        const [event] = await client.hasHeard(1)
        client.close()
        return event
      }
      const { changes, since: from, snapshot } = await since(first.id)
      assert.deepEqual([changes, from, snapshot], [CHANGES, first.id, second.id])
      assert.deepEqual((await since(second.id)).changes, NO_CHANGES)
      assert.deepEqual((await since(first.id, '?buoy=4')).ids, [])
      for (const id of [UNKNOWN, '', 'x', `${first.id}0`, first.id.toUpperCase(), `é${'9'.repeat(8000)}`]) {
        const event = await since(id)
        assert.deepEqual([event.since, event.changes], [null, null], id)
      }
    })

    it('refuses what is no filter, and whoever has no key or too many streams, and says when to come again', async (t) => {
      const client = new Client(live)
      t.after(() => client.close())
      const refused = async (query: string, status: number, message: RegExp): Promise<void> => {
        const answer = await client.get(`/events${query}`)
        assert.equal(answer.status, status, answer.text)
        assert.match((JSON.parse(answer.text) as { message: string }).message, message)
      }
      const many = Array.from({ length: 1000 }, (_, id) => id + 1).join(',')
      await refused(`?buoy=${many}`, 400, /^Parameter buoy is out of range\. Allowed: up to 20 ids or slugs/)
      await refused('?buoy=1,,2', 400, /^Parameter buoy/)
      await refused('?buoy=%00', 400, /^Parameter buoy is malformed/)
      await refused('?buoy=nowhere', 404, /^Buoy not found$/)
      await refused(`?snapshot=${first.id}`, 400, /^Parameter snapshot does not apply to streams/)
      for (const key of [null, `gsw_${'A'.repeat(49)}`]) {
        const stranger = await EventClient.open(`${live.base}/events`, key)
        assert.equal(stranger.status, 401)
      }
      const byQuery = await EventClient.open(`${live.base}/events?api_key=${live.key}`, null)
      await byQuery.hasHeard(1)
      byQuery.close()

      const head = await EventClient.open(`${live.base}/events`, live.key, {}, 'HEAD')
      assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream'])
      await head.ended()
      assert.equal(head.text, '')
      // Those that were closed before may still be there.
      const here: EventClient[] = []
      let full = await open()
      for (; full.status === 200; full = await open()) here.push(full)
      assert.deepEqual([full.status, full.headers['retry-after']], [429, String(FULL_RETRY_SECONDS)])
      assert.ok(here.length <= MOST_OF_ONE)
      for (let again = full; again.status !== 200; again = await listen(t)) {
        assert.equal(again.status, 429)
        here.pop()?.close()
      }
      for (const one of here) one.close()
    })
  })
}
