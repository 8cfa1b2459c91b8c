/** The grammar of date-times: what every reader takes, and the liberties that each may allow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIBERTIES, readIsoTime } from '../../src/sea/time.ts'

const ALL = Object.values(LIBERTIES).reduce((sum, liberty) => sum + liberty, 0)

/** Epoch seconds with a fraction, or null; a time without a zone is UTC. */
function read(text: string, allowed = 0): number | null {
  const bytes = Buffer.from(text)
  const time = readIsoTime(bytes, 0, bytes.length, allowed)
  return time === null ? null : time.local + time.fraction - (time.offset ?? 0)
}

test('Each liberty is refused unless it is allowed.', () => {
  const midnight = Date.UTC(2024, 2, 1) / 1000
  const cases: [text: string, liberty: number, seconds: number][] = [
    ['2024-03-01 00:00', LIBERTIES.blankForT, 0],
    ['2024-03-01T01:00+01', LIBERTIES.hoursAlone, 0],
    ['2024-03-01T00:00:00,25Z', LIBERTIES.comma, 0.25],
    ['2024-03-01T00:00 Z', LIBERTIES.looseZone, 0],
    ['2024-03-01T00:00utc', LIBERTIES.looseZone, 0],
    ['2024-03-01T01:30 01:30', LIBERTIES.blankForPlus, 0],
  ]
  for (const [text, liberty, seconds] of cases) {
    assert.equal(read(text, ALL - liberty), null, text)
    assert.equal(read(text, liberty), midnight + seconds, text)
  }
})

test('An impossible date is refused whatever date was read before.', () => {
  for (const before of ['2024-02-01T00:00Z', '2025-01-01T00:00Z', '0000-01-01T00:00Z']) {
    for (const text of ['2024-01-32', '2024-01-33', '2024-13-01', '2023-02-29', '2024-00-01', '2024-01-00']) {
      read(before)
      assert.equal(read(`${text}T00:00Z`, ALL), null, `${text} after ${before}`)
    }
  }
})
