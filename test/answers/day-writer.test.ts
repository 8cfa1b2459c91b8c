import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { daysText, keepText, MOST_DAYS, MOST_TEXTS, SEASON_DAYS } from '../../src/answers/day-writer.ts'
import { NO_VALUE } from '../../src/index/statistics.ts'
import { codeFile, codeText, SOURCES } from '../../scripts/wasm/assemble.ts'

test('the code of WebAssembly is what its sources assemble to', async () => {
  const code = (text: string): string => text.replaceAll(/[\s'+]/g, '')
  // The formatter may break its lines elsewhere.
  for (const source of SOURCES) {
    assert.equal(code(readFileSync(codeFile(source), 'utf8')), code(await codeText(source)))
  }
})

test('days are written with any value and number of samples, from any day on, in the last place as in the first', () => {
  const day = fc.record({
    head: fc.string({
      unit: fc.constantFrom('a', '"', ':', '0'),
      minLength: 1,
      maxLength: 144,
      size: 'max',
    }),
    value: fc.oneof(
      fc.integer({ min: -9999, max: 65_535 }),
      fc.constantFrom(0, -1, 5, 10, 99, 100, -100, 65_535, NO_VALUE),
    ),
    count: fc.oneof(
      fc.constantFrom(0, 1, 9, 10, 48, 9999, 10_000, 10_001, 172_800),
      fc.integer({ min: 0, max: 200_000 }),
    ),
  })
  fc.assert(
    fc.property(
      fc.array(day, { minLength: 1, maxLength: 366, size: 'max' }),
      fc.constantFrom(0, 1, MOST_TEXTS - 1),
      fc.nat(),
      (days, slot, skipped) => {
        const heads = days.map(({ head }) => head)
        const start = new Uint32Array(days.length + 1)
        heads.forEach((head, i) => (start[i + 1] = start[i] + head.length))
        const text = keepText(slot, Buffer.from(heads.join('')), start)
        SEASON_DAYS.value.set(days.map((one) => one.value))
        SEASON_DAYS.count.set(days.map((one) => one.count))
        const from = skipped % days.length
        const to = Math.min(days.length, from + MOST_DAYS)
        const expected = days
          .slice(from, to)
          .filter((one) => one.count > 0)
          .map((one) => {
            const number = one.value === NO_VALUE ? 'null' : String(one.value / 100)
            return `${one.head}${number},"sample_count":${one.count}}`
          })
        const got = Buffer.from(daysText(text, 1, from, to)).toString('latin1')
        assert.equal(got, expected.join(''))
      },
    ),
    { numRuns: 150 },
  )
  const whole = keepText(0, Buffer.from('abc'), Uint32Array.of(0, 1, 2, 3))
  SEASON_DAYS.value.set([0, 7, 359])
  SEASON_DAYS.count.set([1, 2, 3])
  const got = daysText(whole, 100, 0, 3)
  assert.equal(Buffer.from(got).toString(), 'a0,"sample_count":1}b7,"sample_count":2}c359,"sample_count":3}')
  assert.throws(() => keepText(0, new Uint8Array(145), Uint32Array.of(0, 145)), RangeError)
})
