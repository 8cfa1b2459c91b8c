import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompressionBudget } from '../../src/serving/compression-budget.ts'

/** Compresses answers of one length, one after the other, for as long as it may. */
class Compressor {
  now = 1000
  idle = 300
  readonly #budget = new CompressionBudget(
    () => this.now,
    () => this.idle,
  )

  /** @returns ms that compressing took, of which the clock knows nothing */
  spends(answerMs: number, most = Infinity): number {
    let spent = 0
    while (spent < most && this.#budget.allows()) {
      this.#budget.spend(answerMs)
      spent += answerMs
    }
    return spent
  }

  during(ms: number): number {
    return this.#budget.during(() => (this.now += ms))
  }
}

test('A thread without a rest compresses for 20 ms at first, and then for an eighth of its time.', () => {
  const one = new Compressor()
  assert.equal(one.spends(0.5), 20)
  assert.equal(one.spends(0.5), 0, 'without time passing')
  one.now += 160
  assert.equal(one.spends(0.5), 20)
  let spent = 0
  for (let ms = 0; ms < 16_000; ms++) {
    one.now += 1
    spent += one.spends(0.25)
  }
  assert.ok(Math.abs(spent - 2000) <= 1, `${spent} ms of 16 s`)
})

test('What a thread has nothing to do in it may compress in.', () => {
  const one = new Compressor()
  one.spends(0.5)
  let spent = 0
  for (let ms = 0; ms < 1000; ms++) {
    one.now += 1
    one.idle += 0.5
    spent += one.spends(0.25)
  }
  assert.ok(Math.abs(spent - 625) <= 1, `${spent} ms of a second, half of it idle`)
})

test('However long nobody asks, no more than 20 ms are saved up.', () => {
  const one = new Compressor()
  one.now += 3_600_000
  one.idle += 3_599_000
  assert.equal(one.spends(0.5), 20)
})

test('An answer that takes longer than what is left is compressed, and paid for before the next one.', () => {
  const one = new Compressor()
  one.spends(0.5, 19.5)
  assert.equal(one.spends(8), 8)
  // 7.5 ms are owed.
  one.now += 59
  assert.equal(one.spends(0.5), 0)
  one.now += 2
  assert.equal(one.spends(0.5), 0.5)
})

test('What work takes by the clock is spent, and its result handed on.', () => {
  const one = new Compressor()
  const before = one.now
  assert.equal(one.during(25), before + 25)
  // 20 less 25, and an eighth of 25.
  assert.equal(one.spends(1), 0)
  one.now += 16
  assert.equal(one.spends(1), 1)
})
