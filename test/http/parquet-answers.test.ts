/** Answers that another thread writes: for how long, what they hold, and how each of them ends. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { ParquetJob, ParquetRun } from '../../src/formats/parquet-job.ts'
import type { FromParquet, ToParquet } from '../../src/formats/parquet-thread.ts'
import { MOST_WRITE_BYTES } from '../../src/http/exchange.ts'
import { LaterAnswers } from '../../src/http/later-answers.ts'
import { ParquetAnswers, type ParquetAnswersOptions } from '../../src/http/parquet-answers.ts'
import { until } from '../until.ts'
import { Reader } from './reader.ts'

const GROUP_BYTES = 3 * MOST_WRITE_BYTES
const START = {
  buoy: { id: 1, slug: 'a', name: 'A', lat: 0, lng: 0, source: 'S', dtz: 'UTC' },
  columns: ['id'],
  metadata: {},
}

/** A thread that writes when the test says so. */
class Thread extends EventEmitter {
  readonly posted: ToParquet[] = []
  isUp = true

  postMessage(message: ToParquet): void {
    assert.ok(this.isUp)
    this.posted.push(message)
  }

  unref(): void {}

  terminate(): Promise<number> {
    this.die()
    return Promise.resolve(1)
  }

  die(): void {
    this.isUp = false
    this.emit('exit', 1)
  }

  /** Files whose next group is asked for. */
  get asked(): number[] {
    return this.posted.flatMap(({ type, file }) => (type === 'group' ? [file] : []))
  }

  write(file: number, byte: number): void {
    this.emit('message', { file, bytes: new Uint8Array(GROUP_BYTES).fill(byte) } satisfies FromParquet)
  }
}

interface Asked {
  reader: Reader
  faults: unknown[]
  refused: unknown[]
}

interface WorldOptions extends ParquetAnswersOptions {
  longestMs?: number
  longestUnreadMs?: number
}

function world({ longestMs, longestUnreadMs, ...options }: WorldOptions = {}) {
  const threads: Thread[] = []
  const parquet = new ParquetAnswers({
    start: () => threads[threads.push(new Thread()) - 1] as unknown as Worker,
    ...options,
  })
  const answers = new LaterAnswers(() => 0, { longestMs, longestUnreadMs })
  const ask = (client: number, { groups = 2, room = 1e9, isHead = false } = {}): Asked | null => {
    if (!answers.hasSlot(client)) return null
    const asked: Asked = { reader: null as unknown as Reader, faults: [], refused: [] }
    const job: ParquetJob = {
      start: START,
      bytes: groups * GROUP_BYTES,
      *groups() {
        for (let i = 0; i < groups; i++) yield [] as ParquetRun[]
      },
    }
    const isTaken = answers.add(
      {
        client,
        mostBytes: job.bytes,
        produce: (wake) => parquet.produce(job, wake),
        head: () => '200 OK',
        refuse: (reply, fault) => {
          asked.refused.push(fault)
          reply.send('503 Service Unavailable', null)
        },
        onFault: (fault) => asked.faults.push(fault),
      },
      (events) => (asked.reader = new Reader(events, room, isHead)),
    )
    assert.ok(isTaken)
    return asked
  }
  return { threads, answers, ask }
}

test('A group is asked for when the one before has gone out, so a reader that takes nothing holds one.', async () => {
  const { threads, answers, ask } = world()
  const { reader } = ask(1, { groups: 3, room: 1 })!
  await until(() => threads.length === 1)
  const [thread] = threads
  assert.deepEqual(thread.asked, [0])
  assert.equal(reader.head, '', 'nothing is sent before there are bytes')
  thread.write(0, 1)
  await until(() => reader.bytes === MOST_WRITE_BYTES)
  await wait(30)
  assert.equal(reader.bytes, MOST_WRITE_BYTES)
  assert.deepEqual(thread.asked, [0])
  reader.take(2)
  await until(() => reader.bytes === GROUP_BYTES)
  await wait(20)
  assert.deepEqual(thread.asked, [0], 'nothing is asked for while there is no room')
  reader.take(1e9)
  await until(() => thread.asked.length === 2)
  thread.write(0, 2)
  await until(() => thread.asked.length === 3)
  assert.equal(thread.posted.findLast((one) => one.type === 'group')!.isLast, true)
  thread.write(0, 3)
  await until(() => reader.ending === 'end')
  assert.deepEqual([reader.bytes, reader.length], [3 * GROUP_BYTES, null])
  assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
  const { reader: empty } = ask(1, { groups: 0 })!
  await until(() => thread.asked.at(-1) === 1)
  thread.write(1, 0)
  await until(() => empty.ending === 'end')
  const heads = world()
  const { reader: head } = heads.ask(1, { isHead: true })!
  await until(() => head.head === '200 OK')
  assert.equal(heads.threads.length, 0, 'a head needs no file and no thread')
})

test('A client has eight under way, and one that goes lets the next one begin.', async () => {
  const { threads, answers, ask } = world()
  const own = Array.from({ length: 10 }, () => ask(1)!)
  await until(() => answers.counts.begun === 8 && threads[0].asked.length === 8)
  own[0].reader.go()
  await until(() => threads[0].asked.length === 9)
  assert.deepEqual(answers.counts, { waiting: 1, begun: 8 })
  assert.ok(threads[0].posted.some(({ type, file }) => type === 'drop' && file === 0))
})

test('With its thread every answer under way ends, and those that wait are written by another one.', async () => {
  const { threads, answers, ask } = world()
  const begun = ask(1)!
  const others = Array.from({ length: 9 }, () => ask(1)!)
  await until(() => threads.length === 1 && threads[0].asked.length === 8)
  threads[0].write(0, 1)
  await until(() => begun.reader.bytes > 0)
  threads[0].die()
  await until(() => begun.reader.ending === 'cut' && answers.counts.begun === 2)
  assert.equal(begun.faults.length, 1)
  const refused = others.filter(({ reader }) => reader.ending === 'refused')
  assert.equal(refused.length, 7)
  assert.ok(refused[0].refused[0] instanceof Error, 'as a fault, not as busy')
  await until(() => threads.length === 2 && threads[1].asked.length === 2)
  const left = others.filter(({ reader }) => !reader.isOver)
  for (const file of threads[1].asked) threads[1].write(file, 1)
  await until(() => threads[1].asked.length === 4)
  for (const file of new Set(threads[1].asked)) threads[1].write(file, 2)
  await until(() => left.every(({ reader }) => reader.ending === 'end'))
  // One that fails alone.
  const one = ask(1)!
  const two = ask(1)!
  await until(() => threads[1].asked.length === 6)
  const [a, b] = threads[1].asked.slice(-2)
  threads[1].write(b, 1)
  await until(() => two.reader.bytes > 0)
  threads[1].emit('message', { file: a, fault: new Error('no') } satisfies FromParquet)
  await until(() => threads[1].asked.filter((file) => file === b).length === 2)
  threads[1].emit('message', { file: b, fault: new Error('no') } satisfies FromParquet)
  await until(() => one.reader.ending === 'refused' && two.reader.ending === 'cut')
  assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
})

test('A reader that takes nothing, an answer that takes too long and a thread that hangs are given up.', async () => {
  const slow = world({ longestUnreadMs: 20 })
  const { reader } = slow.ask(1, { room: 1 })!
  await until(() => slow.threads[0]?.asked.length === 1)
  slow.threads[0].write(0, 1)
  await until(() => reader.ending === 'cut')
  assert.ok(slow.threads[0].posted.some(({ type }) => type === 'drop'))

  const long = world({ longestMs: 20 })
  const asked = long.ask(1, { groups: 1000 })!
  // Its bytes have the time that they need at 1.2 Mbit/s.
  await wait(1200)
  assert.equal(asked.reader.ending, null)
  const short = long.ask(1, { groups: 0 })!
  await until(() => short.reader.isOver)

  const hanging = world({ longestGroupMs: 20 })
  const hung = hanging.ask(1)!
  await until(() => hung.reader.ending === 'refused')
  assert.equal(hanging.threads[0].isUp, false)

  const idle = world({ longestIdleMs: 20 })
  const last = idle.ask(1, { groups: 1 })!
  await until(() => idle.threads[0]?.asked.length === 1)
  idle.threads[0].write(0, 1)
  await until(() => last.reader.ending === 'end')
  await until(() => !idle.threads[0].isUp)
  idle.ask(1)
  await until(() => idle.threads.length === 2)
})
