/** Times copied from the axis against times written one by one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { renderTimeAxis, writeTimes } from '../../src/dataset/fragments.ts'

const HALF_HOUR = 1800
const WEEK = 336

/** Half-hours with gaps, of one phase or of several. */
const reports = fc
  .array(
    fc.record({
      count: fc.integer({ min: 1, max: 60 }),
      step: fc.constantFrom(HALF_HOUR, HALF_HOUR, HALF_HOUR, 3600, 60, 1801),
      gap: fc.constantFrom(HALF_HOUR, 3600, 7200, 1, 599),
    }),
    { maxLength: 9 },
  )
  .map((runs) => {
    const times: number[] = []
    let time = 0
    for (const { count, step, gap } of runs) {
      for (let i = 0; i < count; i++) times.push((time += i === 0 ? gap : step))
    }
    return times
  })

test('Times are the same bytes, on the axis, beside it, before and behind it.', () => {
  for (const asOf of [1_793_491_200, 1_793_491_199, 5000, 4_294_967_295]) {
    const [copied, written] = [new JsonWriter(64), new JsonWriter(64)]
    copied.text('something before')
    const axis = renderTimeAxis(copied, asOf)
    copied.mark()
    fc.assert(
      fc.property(reports, fc.integer({ min: -40, max: WEEK + 40 }), fc.nat(3), (since, place, skipped) => {
        const begin = Math.max(0, axis.first + (place - 1) * HALF_HOUR)
        const times = Uint32Array.from(since, (time) => Math.min(4_294_967_295, begin + time))
        const to = Math.max(0, times.length - skipped)
        copied.begin()
        copied.ensure(24 * times.length)
        writeTimes(copied, axis, times, Math.min(skipped, to), to)
        written.at = 0
        written.ensure(24 * times.length)
        written.timestamps(times, Math.min(skipped, to), to)
        const [got, expected] = [copied.answer(), written.bytes.subarray(0, written.at)]
        assert.equal(Buffer.from(got).toString(), Buffer.from(expected).toString())
      }),
      { numRuns: 200 },
    )
  }
})
