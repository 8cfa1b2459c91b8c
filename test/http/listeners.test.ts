/** Streams of events: who hears what, in which order, and who is dropped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { LaterEvents, LaterReply, Retried } from '../../src/http/exchange.ts'
import { Listeners, type Feed, type Holder } from '../../src/http/listeners.ts'
import { fieldOf } from '../fields.ts'
import { until } from '../until.ts'

/** A client: what it was sent, and whether it reads. */
class Client implements LaterReply {
  isOver = false
  readonly isHead = false
  text = ''
  reads = true
  ends = 0
  events: LaterEvents | null = null

  send(): void {}
  begin(head: string | Uint8Array): void {
    this.text += `${String(head)}|`
  }
  write(bytes: Uint8Array): boolean {
    assert.equal(this.isOver, false)
    this.text += Buffer.from(bytes).toString()
    return this.reads
  }
  retry = (): Retried => ({ isRead: false, mayWrite: false })
  end(): void {
    this.isOver = true
    this.text += 'END'
  }
  cut(): void {
    this.isOver = true
    this.text += 'CUT'
  }
  go(): void {
    this.isOver = true
    this.events!.onGone()
  }
}

const FREE: Holder = { isGood: () => true, pay: () => true }
const COMMENT = Buffer.from('#,')

/**
 * Snapshots are named `0`, `1` and so on, and `changed[i]` are the buoys that distinguish `i` from the one
 * before. Says what it is asked for.
 */
function feedOf(id: number, changed: readonly (readonly number[])[]): Feed {
  return {
    id: String(id),
    comment: COMMENT,
    event: (since, buoys) => {
      const ids = new Set(changed.slice(Number(since) + 1, id + 1).flat())
      return buoys === null || buoys.some((buoy) => ids.has(buoy)) ? Buffer.from(`${since}>${id},`) : null
    },
  }
}

interface Options {
  buoys?: readonly number[] | null
  holder?: Holder
  client?: Client
}

function listen(
  listeners: Listeners,
  { buoys = null, holder = FREE, client = new Client() }: Options = {},
): Client {
  listeners.add('head', Buffer.from('first,'), { buoys, holder, onOver: () => client.ends++ }, (events) => {
    client.events = events
    return client
  })
  return client
}

function opened(options: { clock?: () => number; commentAfterMs?: number } = {}): Listeners {
  const listeners = new Listeners({ onSent: () => {}, ...options })
  listeners.serve(feedOf(0, [[]]))
  return listeners
}

const settle = (listeners: Listeners): Promise<void> =>
  until(() => !listeners.isBusy, 'some never heard of the last swap')

test('Everybody hears of what was swapped since it heard last, once, and filters hide what does not concern them.', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 4 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.record({ join: fc.option(ids, { nil: null }) }),
          fc.record({ swap: ids, settles: fc.boolean() }),
          fc.record({ leave: fc.nat(9) }),
        ),
        { maxLength: 25 },
      ),
      async (steps) => {
        const listeners = opened()
        const changed: number[][] = [[]]
        const here: { client: Client; buoys: readonly number[] | null; heardOf: number; expected: string }[] =
          []
        const settled = async (): Promise<void> => {
          await settle(listeners)
          const now = changed.length - 1
          for (const one of here) {
            const { client, buoys, heardOf } = one
            if (client.isOver || heardOf === now) continue
            const since = new Set(changed.slice(heardOf + 1).flat())
            if (buoys === null || buoys.some((buoy) => since.has(buoy))) one.expected += `${heardOf}>${now},`
            one.heardOf = now
          }
        }
        for (const step of steps) {
          if ('join' in step) {
            const client = listen(listeners, { buoys: step.join })
            here.push({ client, buoys: step.join, heardOf: changed.length - 1, expected: 'head|first,' })
          } else if ('swap' in step) {
            changed.push(step.swap)
            listeners.serve(feedOf(changed.length - 1, changed))
            if (step.settles) await settled()
          } else {
            // What was not sent by then does not come any more.
            await settled()
            const client: Client | undefined = here[step.leave]?.client
            if (client !== undefined && !client.isOver) client.go()
          }
        }
        await settled()
        for (const { client, expected } of here) assert.equal(client.text, expected)
        assert.equal(listeners.count, here.filter(({ client }) => !client.isOver).length)
        for (const { client } of here) assert.equal(client.ends, client.isOver ? 1 : 0)
        listeners.close()
        assert.equal(listeners.count, 0)
      },
    ),
    { numRuns: 40 },
  )
})

test('A client that has not read what it was sent is dropped at the next event, and not before.', async () => {
  const listeners = opened()
  const [reader, sleeper, late] = [listen(listeners), listen(listeners), listen(listeners)]
  sleeper.reads = late.reads = false
  listeners.serve(feedOf(1, [[], []]))
  await settle(listeners)
  late.events!.onRoom()
  listeners.serve(feedOf(2, [[], [], []]))
  await settle(listeners)
  assert.deepEqual([reader.text, late.text], ['head|first,0>1,1>2,', 'head|first,0>1,1>2,'])
  assert.deepEqual([sleeper.text, sleeper.ends], ['head|first,0>1,CUT', 1])
  assert.equal(listeners.count, 2)
  listeners.close()
  assert.deepEqual([reader.text, reader.ends], ['head|first,0>1,1>2,END', 1])
})

test('In a storm of swaps with 500 listeners each gets few events, the last of them the newest.', async () => {
  const listeners = opened()
  const clients = Array.from({ length: 500 }, () => listen(listeners))
  const changed: number[][] = [[]]
  for (let swap = 1; swap <= 2000; swap++) {
    changed.push([])
    listeners.serve(feedOf(swap, changed))
    if (swap % 20 === 0) await wait(0)
  }
  await settle(listeners)
  for (const { text } of clients) {
    const events = text.split(',').slice(1, -1)
    assert.match(events.at(-1)!, />2000$/)
    // Each goes on where the one before ended.
    const ends = ['0', ...events.map((event) => event.split('>')[1])]
    assert.deepEqual(
      events.map((event) => event.split('>')[0]),
      ends.slice(0, -1),
    )
    assert.ok(events.length < 1000, `${events.length} events`)
  }
  listeners.close()
})

test('Silence is broken by a comment, and an hour that is not paid for ends the stream.', async () => {
  let now = 0
  let isPaid = true
  let hours = 0
  const listeners = opened({ clock: () => now, commentAfterMs: 20_000 })
  const pay = (): boolean => {
    hours++
    return isPaid
  }
  const client = listen(listeners, { holder: { ...FREE, pay } })
  const untilSent = (text: string): Promise<void> =>
    until(
      () => client.text === text,
      () => `it was sent ${client.text}`,
    )
  now = 19_000
  await wait(600)
  assert.equal(client.text, 'head|first,')
  now = 21_000
  await untilSent('head|first,#,')
  listeners.serve(feedOf(1, [[], []]))
  now = 40_000
  await untilSent('head|first,#,0>1,')
  await until(() => hours === 0, 'paid too early')
  now = 3_600_001
  await until(() => hours === 1, 'not paid')
  assert.equal(client.isOver, false)
  isPaid = false
  now = 7_200_001
  await until(() => client.isOver, 'goes on')
  assert.match(client.text, /END$/)
  assert.deepEqual([client.ends, listeners.count], [1, 0])
})

test('Streams of keys that are revoked end soon after the keys have changed, and no others.', async () => {
  const listeners = opened()
  const good = [true, true, true]
  const clients = good.map((_, i) => listen(listeners, { holder: { ...FREE, isGood: () => good[i] } }))
  good[1] = false
  listeners.keysChanged()
  await until(() => clients[1].isOver, 'goes on')
  assert.deepEqual(fieldOf(clients, 'ends'), [0, 1, 0])
  listeners.close()
})

test('A holder that turns bad with a swap gets the end of its stream and no event of the swap.', async () => {
  const listeners = opened()
  let isGood = true
  const [bad, good] = [listen(listeners, { holder: { ...FREE, isGood: () => isGood } }), listen(listeners)]
  isGood = false
  listeners.serve(feedOf(1, [[], [1]]))
  await settle(listeners)
  assert.deepEqual([bad.text, good.text], ['head|first,END', 'head|first,0>1,'])
})

test('When the server stops, streams end one by one, and no other is to begin.', async () => {
  const listeners = opened()
  const clients = Array.from({ length: 300 }, () => listen(listeners))
  assert.equal(listeners.isEnding, false)
  listeners.drain()
  assert.equal(listeners.isEnding, true)
  await until(
    () => listeners.count === 0,
    () => `${listeners.count} go on`,
  )
  for (const { text, ends } of clients) assert.deepEqual([text, ends], ['head|first,END', 1])
})
