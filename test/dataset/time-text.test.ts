/** Times as text, against the engine's own calendar. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeClock, writeDayLabel, writeTime } from '../../src/dataset/time-text.ts'

test('Every day from 1970 to the last second of 32 bits is written as Date writes it, with its label.', () => {
  const bytes = Buffer.alloc(24)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let day = 0; day <= Math.floor(0xffff_ffff / 86_400); day++) {
    const date = new Date(day * 86_400_000 + 43_200_000)
    // As in `Fri, 27 Mar 2026 00:00:00 GMT`.
    const [, dayOfMonth, month] = date.toUTCString().split(' ')
    writeTime(view, 0, date.getTime() / 1000)
    assert.equal(bytes.toString('latin1', 0, 20), date.toISOString().replace('.000', ''))
    writeDayLabel(view, 0, day)
    assert.equal(bytes.toString('latin1', 0, 6), `${month} ${dayOfMonth}`)
  }
  for (let minutes = 0; minutes < 1440; minutes++) {
    writeClock(view, 0, minutes)
    const time = new Date(minutes * 60_000).toISOString()
    assert.equal(bytes.toString('latin1', 0, 5), time.slice(11, 16))
  }
})
