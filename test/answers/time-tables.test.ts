/** The tables of dates, against the engine's own calendar. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DATE_HEAD,
  DATE_TAIL,
  DAY_LABEL,
  DAY_OF_MONTH,
  dayLabel,
  PLAIN_DATE_HEAD,
} from '../../src/answers/time-tables.ts'

const textOf = (word: number): string =>
  Buffer.from(Float64Array.of(word).buffer).toString('latin1').replaceAll('\0', '')

test('The tables have every day from 1970 to the last second of 32 bits.', () => {
  assert.equal(DATE_HEAD.length, Math.floor(0xffff_ffff / 86_400) + 1)
  for (let day = 0; day < DATE_HEAD.length; day++) {
    const date = new Date(day * 86_400_000)
    const [text] = date.toISOString().split('T')
    // As in `Fri, 27 Mar 2026 00:00:00 GMT`.
    const [, dayOfMonth, month] = date.toUTCString().split(' ')
    assert.equal(textOf(DATE_HEAD[day]), `"${text.slice(0, 7)}`)
    assert.equal(textOf(PLAIN_DATE_HEAD[day]), `${text.slice(0, 7)}-`)
    assert.equal(textOf(DATE_TAIL[day]), `${text.slice(7)}T`)
    assert.equal(DAY_OF_MONTH[day], date.getUTCDate())
    assert.equal(textOf(DAY_LABEL[day]), `${month} ${dayOfMonth}`)
    assert.equal(dayLabel(day), DAY_LABEL[day])
  }
})
