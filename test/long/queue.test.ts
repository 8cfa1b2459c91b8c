/**
 * The queue of long answers and how a serving thread sends them: how many, whose, for how long, in what
 * order, and that each arrives whole.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { LongAnswers, type Refused } from '../../src/http/long-answers.ts'
import type { FromLong, LongRequest } from '../../src/operation/long-messages.ts'
import { LongQueue, type Job, type QueueOptions } from '../../src/long/queue.ts'
import { ApiError } from '../../src/operation/errors.ts'
import { Reader } from '../http/reader.ts'
import { until } from '../until.ts'

interface Asked {
  read: Reader
  refused: Refused[]
  faults: string[]
  /** Pieces that were made. */
  made: number
}

interface Wanted {
  pieces?: number
  text?: string
  room?: number
  throwsAt?: number
  fault?: Error
  encoding?: LongRequest['encoding']
  isHead?: boolean
  snapshot?: string
}

const REQUEST: LongRequest = {
  operation: 0,
  path: [],
  texts: [],
  shape: null,
  isPaged: false,
  language: 'en',
  snapshot: '',
  isPinned: false,
  now: 0,
  encoding: null,
  isHead: false,
  client: '',
}

/** A queue and a serving thread that asks it, with the channel between them. */
function pairOf(options: Partial<QueueOptions> = {}) {
  const queue = new LongQueue({ faultText: String, ...options })
  const answers = new LongAnswers(setImmediate, options.clock)
  const jobs = new Map<number, Job>()
  let wanted: { made: () => ReturnType<Job['asked']['make']> } | null = null
  let take: (message: FromLong) => void = () => {}
  let close = (): void => {}
  answers.connect({
    postMessage(message) {
      const { number } = message
      const job = jobs.get(number)
      if (message.type === 'make') {
        const added = queue.add({
          number,
          request: message.request,
          make: wanted!.made,
          post: (said) => take(said),
        })
        if (added !== null) jobs.set(number, added)
      } else if (job === undefined) return
      else if (message.type === 'taken') queue.taken(job, message.bytes)
      else queue.leave(job)
    },
    on(event: string, listener: never) {
      if (event === 'message') take = listener
      else close = listener
    },
  })
  const ask = (
    client: number,
    { room = Infinity, encoding = null, isHead = false, snapshot = '', ...wantedMore }: Wanted = {},
  ): Asked => {
    const { pieces = 100, text = 'x'.repeat(1000), throwsAt, fault = new Error('a fault') } = wantedMore
    const asked: Asked = { read: null!, refused: [], faults: [], made: 0 }
    wanted = {
      made: () => ({
        headers: new TextEncoder().encode(`\r\nX-Client: ${client}`),
        next(writer) {
          if (asked.made === throwsAt) throw fault
          writer.text(text)
          return ++asked.made === pieces
        },
      }),
    }
    const headOf = (headers: Uint8Array): Uint8Array =>
      Buffer.concat([Buffer.from('200 OK'), Buffer.from(headers)])
    const said = {
      request: { ...REQUEST, client: String(client), encoding, isHead, snapshot },
      whole: ({ headers, pieces }: { headers: Uint8Array; pieces: readonly Uint8Array[] }) => ({
        head: headOf(headers),
        body: pieces,
      }),
      begun: ({ headers }: { headers: Uint8Array }) => headOf(headers),
      failed(why: Refused) {
        if (asked.read.head === '') asked.refused.push(why)
        else if (why.type === 'fault') asked.faults.push(why.fault)
        return { head: '503 Service Unavailable', body: new Uint8Array(0) }
      },
    }
    answers.ask({ later: (events) => (asked.read = new Reader(events, room, isHead)) }, said)
    return asked
  }
  return { queue, answers, ask, lose: () => close() }
}

/** Longer answers than this are not whole in these tests. */
const mostWholeBytes = 100_000

test('Whatever sizes, readers and moments, each answer arrives whole and in order, with a length if it is short.', async () => {
  const job = fc.record({
    client: fc.nat({ max: 3 }),
    pieces: fc.integer({ min: 1, max: 60 }),
    length: fc.integer({ min: 0, max: 12_000 }),
    room: fc.constantFrom(1, 2, 5, Infinity),
    leaves: fc.boolean(),
    encoding: fc.constantFrom(null, null, 'gzip', 'br'),
    isHead: fc.constantFrom(false, false, false, true),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 24 }), async (jobs) => {
      const { answers, ask } = pairOf({ mostWholeBytes })
      const all = jobs.map(({ client, pieces, length, room, leaves, encoding, isHead }, n) => {
        const text = String(n % 10).repeat(length)
        return {
          asked: ask(client, { pieces, text, room, encoding, isHead }),
          whole: text.repeat(pieces),
          leaves,
          encoding,
          isHead,
        }
      })
      const isThrough = ({ asked, leaves }: (typeof all)[number]): boolean => {
        const { read } = asked
        if (!read.isOver && leaves && read.pieces.length >= 2) read.go()
        else if (!read.isOver && read.room <= 0) read.take(3)
        return read.isOver
      }
      await until(() => all.filter((each) => !isThrough(each)).length === 0, 'not all ended')
      for (const { asked, whole, leaves, encoding, isHead } of all) {
        assert.deepEqual([asked.refused, asked.faults], [[], []])
        const { read } = asked
        if (encoding === null) {
          assert.equal(read.length, whole.length > mostWholeBytes ? null : whole.length)
        }
        if (isHead || read.ending !== 'end') {
          assert.ok(isHead || leaves)
          continue
        }
        const bytes = Buffer.concat(read.pieces)
        const unpacked = encoding === 'gzip' ? gunzipSync : brotliDecompressSync
        const text = encoding === null ? bytes : unpacked(bytes)
        assert.equal(text.length, whole.length)
        assert.ok(text.toString() === whole)
      }
      assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
    }),
    { numRuns: 15 },
  )
})

test('A client has a quarter of the places, and as many are given as there are clients for.', () => {
  const { ask } = pairOf()
  const taken = (clients: readonly number[]): Asked[] =>
    clients.map((client) => ask(client)).filter(({ refused }) => refused.length === 0)
  const own = taken(Array.from({ length: 200 }, () => 7))
  // Nothing has begun yet: only as many as may wait.
  const others = taken(Array.from({ length: 400 }, (_, i) => 100 + i))
  assert.deepEqual([own.length, own.length + others.length], [136, 512])
  own[0].read.go()
  assert.equal(ask(500).refused.length, 0, 'a place that is free again')
})

test('A client gets hundreds of answers one after the other: each leaves its place.', async () => {
  const { ask, answers } = pairOf({ mostWholeBytes })
  for (let i = 0; i < 200; i++) {
    // Some are whole, some begun, some without a body.
    const { read, refused } = ask(1, { pieces: i % 2 === 0 ? 3 : 101, isHead: i % 5 === 0 })
    await until(() => read.isOver || refused.length > 0, `answer ${i} never comes`)
    assert.deepEqual(refused, [])
  }
  assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
})

test('What a client has at work counts among its quarter of the places.', async () => {
  const { ask } = pairOf({ mostWholeBytes })
  const many = Array.from({ length: 30 }, () => ask(7, { pieces: 2000, room: 1 }))
  await until(() => many.filter(({ made }) => made > 0).length === 8, 'not as many as its share')
  const more = Array.from({ length: 200 }, () => ask(7, { pieces: 2000, room: 1 }))
  assert.equal(more.filter(({ refused }) => refused.length === 0).length, 136 - 30)
  for (const { read } of [...many, ...more]) read.go()
})

test('Of those that wait, the client with the fewest at work comes first, and none has more than its share at work.', async () => {
  const { answers, ask } = pairOf({ mostWholeBytes })
  // Their readers take one piece each.
  const many = Array.from({ length: 30 }, () => ask(1, { pieces: 2000, room: 1 }))
  await until(() => many.filter(({ made }) => made > 0).length === 8, 'not as many as its share')
  await wait(30)
  assert.equal(many.filter(({ made }) => made > 0).length, 8)
  const one = ask(2)
  await until(() => one.read.isOver, 'one of another client waits behind them')
  assert.equal(one.read.text.length, 100_000)
  assert.deepEqual(answers.counts, { waiting: 22, begun: 8 })
  // One that goes leaves its place to the next.
  many[0].read.go()
  await until(() => many.filter(({ made }) => made > 0).length === 9, 'its place was not given on')
})

test('Of a long answer no more is made than its reader takes, and readers that take nothing hold nobody up.', async () => {
  const { ask } = pairOf({ mostWholeBytes })
  const stuck = Array.from({ length: 24 }, (_, i) => ask(i % 3, { pieces: 1000, room: 1 }))
  await until(() => stuck.every(({ made }) => made > 100), 'not all begun')
  const others = Array.from({ length: 20 }, () => ask(4))
  await until(() => others.every(({ read }) => read.isOver), 'held up')
  for (const { read, made } of stuck) {
    assert.ok(read.pieces.length === 1 && made <= 265, `${made} pieces of 1 KB were made`)
    read.take(Infinity)
  }
  await until(() => stuck.every(({ read }) => read.isOver), 'not gone on with')
  for (const { read } of stuck) assert.equal(read.text.length, 1_000_000)
})

test('Answers that nobody reads take no more than a bounded memory: others wait, and go on when there is room.', async () => {
  const { ask, answers } = pairOf({ clock: () => 0 })
  const text = 'x'.repeat(1_000_000)
  const unread = Array.from({ length: 20 }, (_, i) => ask(i, { pieces: 8, text, room: 1 }))
  await until(() => answers.counts.begun >= 8, 'none begun')
  for (let i = 0; i < 50; i++) await turn()
  // 64 MB, and what was begun before they were reached.
  const begun = unread.filter(({ made }) => made > 0)
  assert.ok(begun.length < 16, `${begun.length} answers of 8 MB are held`)
  for (const { read } of begun) read.take(Infinity)
  await until(() => unread.filter(({ made }) => made > 0).length > begun.length, 'none went on')
})

test('Clients that read nothing hold a quarter of the bytes each, and answers of others are made at once.', async () => {
  const { ask } = pairOf({ clock: () => 0 })
  const text = 'x'.repeat(1_000_000)
  const long = { pieces: 8, text }
  const unread = [1, 2].flatMap((client) =>
    Array.from({ length: 8 }, () => ({ client, read: ask(client, { ...long, room: 1 }) })),
  )
  for (let n = 0; n < 5; n++) {
    const other = ask(3, long)
    await until(() => other.read.isOver, 'another client waits')
    assert.equal(other.read.bytes, 8_000_000)
  }
  for (const who of [1, 2]) {
    const own = unread.filter(({ client }) => client === who)
    const megabytes = own.reduce((sum, { read }) => sum + read.made, 0)
    // 16 MiB, and of each that has begun a piece of 1 MB at most.
    assert.ok(megabytes >= 14 && megabytes <= 24, `${megabytes} MB are held for one client`)
  }
  for (const { read } of unread) {
    read.read.room = Infinity
    if (read.read.bytes > 0) read.read.take(Infinity)
  }
  await until(() => unread.every(({ read }) => read.read.isOver), 'the others do not follow')
})

test('What is being sent counts by what its client has not taken.', async () => {
  const { ask, answers } = pairOf({ clock: () => 0 })
  const long = { pieces: 8, text: 'x'.repeat(1_000_000) }
  const slow = Array.from({ length: 7 }, () => ask(1, { ...long, room: 1 }))
  const next = ask(1, long)
  for (let i = 0; i < 200; i++) await turn()
  assert.equal(next.made, 0)
  // The first is taken up to its last MB, which is told at the next look.
  slow[0].read.take(110)
  await until(() => slow[0].read.bytes > 7_000_000, 'not taken')
  answers.look()
  await until(() => next.read.isOver, 'bytes that were taken still count')
  assert.ok(slow.every(({ read }) => !read.isOver))
})

test('A client that takes nothing for twenty seconds is cut; one of which a look shows that it reads is not.', async () => {
  let now = 0
  const { ask, answers } = pairOf({ mostWholeBytes, clock: () => now })
  const whole = { pieces: 90, room: 1 }
  const stream = { pieces: 200, text: 'x'.repeat(16_000), room: 1 }
  const silent = [ask(1, whole), ask(1, stream)]
  const reading = [ask(2, whole), ask(2, stream)]
  for (const { read } of reading) read.retried = { isRead: true, mayWrite: false }
  const finding = [ask(3, whole), ask(3, stream)]
  const all = [...silent, ...reading, ...finding]
  await until(() => all.every(({ read }) => read.bytes > 0), 'not begun')
  finding[0].read.retried = { isRead: true, mayWrite: true }
  finding[1].read.retried = { isRead: false, mayWrite: true }
  // The stream's client has room for a write at each third look.
  let looks = 0
  for (now = 2000; now <= 60_000; now += 2000) {
    finding[1].read.retriedRoom = ++looks % 3 === 0 ? 2 : 1
    answers.look()
    for (let i = 0; i < 5; i++) await turn()
    if (now === 18_000) assert.ok(silent.every(({ read }) => read.ending === null))
    if (now === 20_000) assert.ok(silent.every(({ read }) => read.ending === 'cut'))
  }
  assert.ok([...reading, ...finding].every(({ read }) => read.ending !== 'cut'))
  assert.equal(finding[0].read.ending, 'end')
})

test('Of a stream no write is short enough to say nothing of room, however short its pieces are.', async () => {
  const { ask } = pairOf({ mostWholeBytes })
  const read = ask(1, { pieces: 3001, text: 'y'.repeat(97) }).read
  await until(() => read.isOver, 'not ended')
  assert.equal(read.text, 'y'.repeat(97 * 3001))
  assert.ok(read.pieces.every(({ length }) => length > 16_384 && length <= 65_536 + 17_408))
})

test('An old answer goes on at 20 KB/s for ten minutes, takes no place of others, and only the newest snapshot alone.', async () => {
  let now = 0
  const held = new Set(['now', 'older', 'oldest'])
  const { queue, ask } = pairOf({ mostWholeBytes, clock: () => now, isHeld: (id) => held.has(id) })
  const stream = { pieces: 1000, text: 'x'.repeat(64_000), room: 1 }
  const askOld = (client: number, snapshot: string): Asked => ask(client, { ...stream, snapshot })
  const oldest = Array.from({ length: 8 }, () => askOld(1, 'oldest'))
  await until(() => oldest.every(({ read }) => read.bytes > 0), 'not begun')
  now = 1000
  const older = Array.from({ length: 24 }, (_, i) => askOld(2 + (i % 3), 'older'))
  await until(() => older.every(({ read }) => read.bytes > 0), 'not begun')
  const slow = older.pop()!
  const late = ask(5)
  /** All but one take more than 20 KB/s. */
  const goOn = async (seconds: number): Promise<void> => {
    const reading = [...oldest, ...older].filter(({ read }) => !read.isOver)
    for (const { read } of reading) read.take(Math.ceil(seconds / 3) + 1)
    await until(() => reading.every(({ read }) => read.isOver || read.room <= 0), 'not taken')
    now += seconds * 1000
    queue.expire()
  }
  await goOn(7)
  assert.ok(!late.read.isOver && late.made === 0, '32 are at work')
  await goOn(1)
  for (const { read } of older.splice(2)) read.go()
  for (let n = 0; n < 5; n++) await goOn(23)
  const kept = [...oldest, ...older]
  assert.deepEqual([slow.read.ending, ...new Set(kept.map(({ read }) => read.ending))], ['cut', null])
  const next = ask(5)
  await until(() => next.read.isOver, 'old answers keep others from beginning')
  assert.equal(next.read.text.length, 100_000)
  const own = ask(1)
  for (let i = 0; i < 50; i++) await turn()
  assert.equal(own.made, 0, 'a client with eight old ones begins another one')

  held.delete('oldest')
  await goOn(1)
  assert.ok(oldest.every(({ read }) => read.ending === null))
  held.delete('older')
  await goOn(1)
  assert.ok(oldest.every(({ read }) => read.ending === 'cut'))
  assert.ok(older.every(({ read }) => read.ending === null))
  for (let i = 0; i < 10; i++) await goOn(60)
  assert.ok(older.every(({ read }) => read.ending === 'cut'))
})

test('What waits too long is refused, and what goes on too long is cut.', async () => {
  let now = 0
  const { answers, queue, ask } = pairOf({ mostWholeBytes, clock: () => now })
  const stuck = Array.from({ length: 32 }, (_, i) => ask(i % 4, { pieces: 500, room: 1 }))
  await until(() => stuck.every(({ made }) => made > 100), 'not all begun')
  const late = ask(5)
  now = 8001
  queue.expire()
  assert.deepEqual([late.refused[0]?.type, late.made, late.read.head], ['busy', 0, '503 Service Unavailable'])
  assert.ok(stuck.every(({ read }) => read.ending !== 'cut'))
  now = 120_001
  queue.expire()
  assert.ok(stuck.every(({ read, faults }) => read.ending === 'cut' && faults.length === 0))
  assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
  const after = ask(5)
  await until(() => after.read.isOver, 'not answered after that')
})

test('An answer that fails is refused if none of it was sent, else cut, and the others go on.', async () => {
  const { ask } = pairOf({ mostWholeBytes })
  const early = ask(1, { throwsAt: 3 })
  const late = ask(1, { throwsAt: 250, pieces: 300 })
  const wrong = ask(1, { throwsAt: 0, fault: new ApiError('bad_request', 'no such column') })
  const coded = ask(1, { throwsAt: 5, encoding: 'gzip' })
  const good = ask(1)
  const all = [early, late, wrong, coded, good]
  await until(() => all.every(({ read }) => read.isOver), 'not all ended')
  assert.match(JSON.stringify(early.refused), /"fault":"Error: a fault"/)
  assert.deepEqual([early.read.head, early.faults], ['503 Service Unavailable', []])
  assert.equal(late.read.ending, 'cut')
  assert.deepEqual([late.refused, late.faults], [[], ['Error: a fault']])
  assert.match(
    JSON.stringify(wrong.refused),
    /"type":"refused","code":"bad_request","message":"no such column"/,
  )
  assert.equal(coded.refused[0].type, 'fault')
  assert.equal(good.read.text.length, 100_000)
})

test('When the thread is lost, what has not begun is refused, what has begun is cut, and what has come whole is sent.', async () => {
  const { ask, lose } = pairOf({ mostWholeBytes })
  const whole = ask(1, { pieces: 90, room: 1 })
  const begun = ask(2, { pieces: 1000, room: 1 })
  await until(() => whole.read.head !== '' && begun.read.head !== '', 'not begun')
  const waiting = ask(3)
  lose()
  assert.equal(ask(4).refused[0].type, 'busy')
  assert.equal(waiting.refused[0].type, 'fault')
  assert.equal(begun.read.ending, 'cut')
  assert.match(begun.faults[0], /has ended/)
  whole.read.take(Infinity)
  await until(() => whole.read.ending !== null, 'not ended')
  assert.deepEqual([whole.read.ending, whole.read.text.length], ['end', 90_000])
})
