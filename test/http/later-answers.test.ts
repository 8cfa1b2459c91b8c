/**
 * The queue of answers that come later: how many, whose, for how long, and in what order; and that what is made
 * in slices is what is made at once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { LaterAnswers, type LaterRequest } from '../../src/http/later-answers.ts'
import { SlicedAnswer } from '../../src/http/sliced-answer.ts'
import { MOST_WRITE_BYTES } from '../../src/http/exchange.ts'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import type { Steps } from '../../src/system/steps.ts'
import { until } from '../until.ts'
import { Reader } from './reader.ts'

interface Asked {
  read: Reader
  refused: unknown[]
  faults: unknown[]
  kept: string[]
  /** Runs of its steps that were not let go of. */
  running: number
  /** Steps done, in all runs. */
  steps: number
}

/** What was written in a slice. */
const writer = new JsonWriter(2 * MOST_WRITE_BYTES)

/** Answers of `steps` steps, each of which writes `text`. */
function asker(answers: LaterAnswers) {
  return (
    client: number,
    {
      steps = 100,
      text = 'x'.repeat(1000),
      room = Infinity,
      throwsAt = Infinity,
      keeps = true,
      keptFor = Infinity,
    }: {
      steps?: number
      text?: string
      room?: number
      throwsAt?: number
      keeps?: boolean
      keptFor?: number
    } = {},
  ): Asked | null => {
    if (!answers.hasSlot(client)) return null
    const asked: Asked = { read: null!, refused: [], faults: [], kept: [], running: 0, steps: 0 }
    function* make(writer: JsonWriter): Steps<void> {
      try {
        asked.running++
        for (let step = 0; step < steps; step++, asked.steps++) {
          if (asked.steps === throwsAt) throw new Error('a fault')
          writer.text(text)
          yield
        }
      } finally {
        asked.running--
      }
    }
    let looks = 0
    const keep = keeps
      ? (answer: Uint8Array): (() => Uint8Array | null) | null => {
          asked.kept.push(Buffer.from(answer).toString())
          return keptFor === 0 ? null : () => (looks++ < keptFor ? answer : null)
        }
      : null
    const request: LaterRequest = {
      client,
      head: () => `200 OK\r\nX-Client: ${client}`,
      produce: () => new SlicedAnswer({ writer, steps: make, keep }),
      refuse(reply, fault) {
        asked.refused.push(fault)
        reply.send('503 Service Unavailable', null)
      },
      onFault: (error) => asked.faults.push(error),
    }
    assert.ok(answers.add(request, (events) => (asked.read = new Reader(events, room))))
    return asked
  }
}

const quiet = (): number => 0

test('Whatever sizes, readers and moments, each answer arrives whole and in order, and is kept so.', async () => {
  const job = fc.record({
    client: fc.nat({ max: 3 }),
    steps: fc.integer({ min: 1, max: 60 }),
    length: fc.integer({ min: 1, max: 12_000 }),
    room: fc.constantFrom(1, 2, 5, Infinity),
    leaves: fc.boolean(),
    keeps: fc.boolean(),
    keptFor: fc.constantFrom(0, 1, 2, 4, Infinity),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 24 }), fc.boolean(), async (jobs, busy) => {
      let requests = 0
      const answers = new LaterAnswers(() => (busy ? requests++ : 0))
      const ask = asker(answers)
      const all = jobs.map(({ client, steps, length, room, leaves, keeps, keptFor }, n) => {
        const text = String(n % 10).repeat(length)
        return {
          asked: ask(client, { steps, text, room, keeps, keptFor })!,
          whole: text.repeat(steps),
          leaves,
        }
      })
      const isThrough = ({ asked, leaves }: (typeof all)[number]): boolean => {
        const { read } = asked
        if (!read.isOver && leaves && read.pieces.length >= 2) read.go()
        else if (!read.isOver && read.room <= 0) read.take(3)
        return read.isOver
      }
      await until(() => all.filter((each) => !isThrough(each)).length === 0, 'not all ended')
      for (const { asked, whole, leaves } of all) {
        if (leaves) assert.ok(whole.startsWith(asked.read.text))
        else {
          assert.equal(asked.read.text.length, whole.length)
          assert.ok(asked.read.text === whole)
        }
        for (const kept of asked.kept) assert.ok(kept === whole)
        assert.deepEqual([asked.refused, asked.faults, asked.running], [[], [], 0])
      }
      assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
    }),
    { numRuns: 15 },
  )
})

test('A client has a quarter of the slots, and as many are given as there are clients for.', () => {
  const answers = new LaterAnswers(quiet)
  const ask = asker(answers)
  const own = Array.from({ length: 200 }, () => ask(7)).filter((asked) => asked !== null)
  assert.equal(own.length, 40)
  let others = 0
  for (let client = 100; client < 400; client++) if (ask(client) !== null) others++
  // Nothing has begun yet: only as many as may wait.
  assert.equal(own.length + others, 128)
  own[0].read.go()
  assert.notEqual(ask(500), null, 'a slot that is free again')
})

test('Of those that wait, the client with the fewest at work comes first, and none has more than its share at work.', async () => {
  const answers = new LaterAnswers(quiet)
  const ask = asker(answers)
  // Their readers take one piece each.
  const many = Array.from({ length: 30 }, () => ask(1, { steps: 200, room: 1 })!)
  await until(() => many.filter(({ steps }) => steps > 0).length === 8, 'not as many as its share')
  await wait(30)
  assert.equal(many.filter(({ steps }) => steps > 0).length, 8)
  const one = ask(2)!
  await until(() => one.read.isOver, 'one of another client waits behind them')
  assert.equal(one.read.text.length, 100_000)
  assert.deepEqual(answers.counts, { waiting: 22, begun: 8 })
  // One that goes leaves its slot to the next.
  many[0].read.go()
  await until(() => many.filter(({ steps }) => steps > 0).length === 9, 'its slot was not given on')
  assert.equal(many[0].running, 0)
})

test('Readers that take nothing do not hold up those who wait.', async () => {
  const answers = new LaterAnswers(quiet)
  const ask = asker(answers)
  const stuck = [1, 2, 3].flatMap((client) =>
    Array.from({ length: 8 }, () => ask(client, { steps: 500, room: 1 })!),
  )
  await until(() => stuck.every(({ steps }) => steps > 0), 'not all begun')
  const others = Array.from({ length: 20 }, () => ask(4)!)
  await until(() => others.every(({ read }) => read.isOver), 'held up')
  for (const { read } of stuck) assert.equal(read.pieces.length, 1)
  for (const { read } of stuck) read.take(Infinity)
  await until(() => stuck.every(({ read }) => read.isOver), 'not gone on with')
  for (const { read, kept } of stuck) {
    assert.equal(read.text.length, 500_000)
    assert.equal(kept.length, 1)
  }
})

test('What waits too long is refused, and what goes on too long is cut.', async () => {
  let now = 0
  const answers = new LaterAnswers(quiet, { longestWaitMs: 300, longestMs: 1500, clock: () => now })
  const ask = asker(answers)
  const stuck = [1, 2, 3, 4].flatMap((client) =>
    Array.from({ length: 8 }, () => ask(client, { steps: 500, room: 1 })!),
  )
  await until(() => stuck.every(({ steps }) => steps > 0), 'not all begun')
  const late = ask(5)!
  now = 301
  await until(() => late.refused.length > 0, 'not refused')
  assert.deepEqual([late.refused, late.steps, late.read.head], [[null], 0, '503 Service Unavailable'])
  assert.ok(stuck.every(({ read }) => read.ending !== 'cut'))
  now = 1501
  await until(() => stuck.every(({ read }) => read.ending === 'cut'), 'not cut')
  assert.ok(stuck.every(({ running }) => running === 0))
  assert.deepEqual(answers.counts, { waiting: 0, begun: 0 })
  const after = ask(5)!
  await until(() => after.read.isOver, 'not answered after that')
})

test('An answer that fails is refused if none of it was sent, else cut, and the others go on.', async () => {
  const answers = new LaterAnswers(quiet)
  const ask = asker(answers)
  const early = ask(1, { throwsAt: 3 })!
  const late = ask(1, { throwsAt: 450, steps: 300, keeps: false })!
  const good = ask(1)!
  await until(() => [early, late, good].every(({ read }) => read.isOver), 'not all ended')
  assert.match(String(early.refused[0]), /a fault/)
  assert.deepEqual([early.read.head, early.faults], ['503 Service Unavailable', []])
  assert.equal(late.read.ending, 'cut')
  assert.match(String(late.faults[0]), /a fault/)
  assert.deepEqual([late.refused, late.kept, early.kept], [[], [], []])
  assert.equal(good.read.text.length, 100_000)
})
