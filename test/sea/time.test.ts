/** Calendar arithmetic against `Date`, and every form of a timestamp that a request may have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ageText,
  civilFromDays,
  dateText,
  daysFromCivil,
  LOOSE_TIME,
  monthOf,
  monthStart,
  monthText,
  parseDate,
  parseTimestamp,
  readIsoTime,
  timestampText,
} from '../../src/sea/time.ts'

const DAY_MS = 86_400_000

test('Every day from 1900 to 2200 goes to its date and back as Date says.', () => {
  const last = Date.UTC(2201, 0, 1) / DAY_MS
  for (let days = Date.UTC(1900, 0, 1) / DAY_MS; days < last; days++) {
    const { year, month, day } = civilFromDays(days)
    const text = new Date(days * DAY_MS).toISOString().slice(0, 10)
    const isRight = Date.UTC(year, month - 1, day) === days * DAY_MS && dateText(days * 86_400) === text
    assert.ok(isRight && daysFromCivil(year, month, day) === days, text)
  }
})

test('Months counted from 1970 begin where Date says and hold their own instants.', () => {
  for (let month = -840; month <= 2760; month++) {
    const start = monthStart(month)
    assert.equal(start, Date.UTC(1970, month, 1) / 1000)
    assert.equal(monthOf(start), month)
    assert.equal(monthOf(start - 1), month - 1)
    assert.equal(monthText(month), new Date(start * 1000).toISOString().slice(0, 7))
  }
})

const fourDigitYears = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') }
const instants = fc.date({ ...fourDigitYears, noInvalidDate: true })

test('A timestamp is written in whole seconds as Date writes it.', () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const expected = `${instant.toISOString().slice(0, 19)}Z`
      assert.equal(timestampText(Math.floor(instant.getTime() / 1000)), expected)
      // A fraction of a second is cut, before 1970 too.
      assert.equal(timestampText(instant.getTime() / 1000), expected)
    }),
  )
})

test('A timestamp is read in every form that decisions names, to the instant that Date gives it.', () => {
  const offsets = fc.record({
    sign: fc.constantFrom('+', '-', ' '),
    hours: fc.integer({ min: 0, max: 23 }),
    minutes: fc.integer({ min: 0, max: 59 }),
    colon: fc.boolean(),
  })
  const lowered = fc.boolean()
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9998-12-30'), noInvalidDate: true }),
      fc.constantFrom('minute', 'second', 'milliseconds', 'tenths'),
      fc.oneof(fc.constant('Z'), fc.constant(''), offsets),
      lowered,
      (instant, precision, zone, lower) => {
        const iso = instant.toISOString()
        const length = { minute: 16, second: 19, milliseconds: 23, tenths: 21 }[precision]
        const wall = iso.slice(0, length)
        const full = `${wall}${precision === 'minute' ? ':00' : ''}`
        let text = wall
        let offsetMs = 0
        if (typeof zone === 'string') text += zone
        else {
          const pad = (value: number) => String(value).padStart(2, '0')
          // A plus that was not percent-encoded arrives as a blank.
          text += `${zone.sign}${pad(zone.hours)}${zone.colon ? ':' : ''}${pad(zone.minutes)}`
          offsetMs = (zone.hours * 60 + zone.minutes) * 60_000 * (zone.sign === '-' ? -1 : 1)
        }
        const parsed = parseTimestamp(lower ? text.toLowerCase() : text)
        assert.notEqual(parsed, null, text)
        assert.equal(parsed?.wholeDay, false)
        const expected = (Date.parse(`${full}Z`) - offsetMs) / 1000
        assert.ok(Math.abs((parsed?.epoch ?? NaN) - expected) < 1e-4, text)
        if (precision === 'second') assert.equal(parsed?.epoch, expected)
      },
    ),
  )
})

test('A date alone is its UTC midnight and stands for the whole day.', () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const text = instant.toISOString().slice(0, 10)
      const midnight = Date.parse(`${text}T00:00:00Z`) / 1000
      assert.equal(parseDate(text), midnight)
      assert.deepEqual(parseTimestamp(text), { epoch: midnight, wholeDay: true })
    }),
  )
})

test('What is not a timestamp is refused.', () => {
  const refused = `
    2026-03 2026-13-01 2026-02-29 1900-02-29 2026-03-32 20260327 2026-03-27T09 2026-03-27T24:00:00Z
    2026-03-27T09:60:00Z 2026-03-27T09:00:60Z 2026-03-27T09:00:00.Z 2026-03-27T09:00:00.1234567890Z
    2026-03-27T09:00.5Z 2026-03-27T09:00:00+01:0 2026-03-27T09:00:00+24:00 2026-03-27T09:00:00+01:60
    2026-03-27T09:00:00Z+01:00 ２０２６-03-27 now 0000-01-01T00:00:00+00:01 9999-12-31T23:59:59-00:01
`
  for (const text of ['', ' 2026-03-27', '2026-03-27 ', ...refused.trim().split(/\s+/)]) {
    assert.equal(parseTimestamp(text), null, JSON.stringify(text))
    assert.equal(parseDate(text), null, JSON.stringify(text))
  }
  for (const text of ['2026-03-27T09:00:00Z', '2026-03-27T00:00']) assert.equal(parseDate(text), null)
})

test('Any text is refused or read as an instant that has a text of four digits a year.', () => {
  const digits = fc.array(fc.constantFrom(...'0123456789-:TZtz+. '.split('')), { maxLength: 30 })
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), digits), (given) => {
      const parsed = parseTimestamp(typeof given === 'string' ? given : given.join(''))
      if (parsed !== null) assert.match(timestampText(parsed.epoch), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }),
  )
})

test('Liberties of files are refused in the contract.', () => {
  const zones = ['2024-03-01 00:00', '2024-03-01T00:00+01', '2024-03-01T00:00 Z', '2024-03-01T00:00utc']
  for (const text of [...zones, '2024-03-01T00:00:00,25Z']) assert.equal(readIsoTime(text), null, text)
  assert.equal(readIsoTime('2024-03-01T00:00:00,25Z', LOOSE_TIME)?.fraction, 0.25)
  assert.equal(readIsoTime('2024-03-01T01:30 01:30', LOOSE_TIME), null)
  assert.equal(parseTimestamp('2024-03-01T01:30 01:30')?.epoch, Date.UTC(2024, 2, 1) / 1000)
})

test('An age is told in its largest unit of which there are two.', () => {
  assert.deepEqual([5, 119, 121, 7300, 200_000].map(ageText), [
    '5 seconds',
    '119 seconds',
    '2 minutes',
    '2 hours',
    '2 days',
  ])
})
