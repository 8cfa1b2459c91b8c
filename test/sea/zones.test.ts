/** Zones against the wall clock of Intl. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { zone, type Zone } from '../../src/sea/zones.ts'

const ZONES =
  'Europe/Paris America/St_Johns Australia/Lord_Howe Pacific/Apia Africa/Casablanca America/Sao_Paulo Asia/Beirut Etc/GMT+5 UTC Asia/Kolkata Asia/Gaza Africa/Monrovia Pacific/Kwajalein'.split(
    ' ',
  )

function known(name: string): Zone {
  const found = zone(name)
  assert.ok(found)
  return found
}

const epochOf = (text: string): number => Date.parse(text) / 1000

const SHORT = { dateStyle: 'short', timeStyle: 'medium' } as const
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The wall clock's reading as if it were UTC, by Intl: the oracle of this file. */
function wallClock(name: string, epoch: number): number {
  // Sweden writes dates as ISO 8601.
  const clock = clocks.get(name) ?? new Intl.DateTimeFormat('sv-SE', { ...SHORT, timeZone: name })
  clocks.set(name, clock)
  return epochOf(`${clock.format(epoch * 1000).replace(' ', 'T')}Z`)
}

test('An offset is what the wall clock of the zone shows more than UTC, at any instant from 1970 to 2106.', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 0, max: 2 ** 32 - 1 }), (name, epoch) => {
      assert.equal(known(name).offsetAt(epoch), wallClock(name, epoch) - epoch)
    }),
    { numRuns: 500 },
  )
})

test('Every change of the clock between 2000 and 2026 is found to the second.', () => {
  for (const name of ZONES) {
    const rules = known(name)
    let changes = 0
    for (let epoch = epochOf('2000-01-01T00:00:00Z'); epoch < epochOf('2026-01-01T00:00:00Z');) {
      const until = rules.steadyUntil(epoch)
      assert.ok(until > epoch)
      const offset = rules.offsetAt(epoch)
      assert.equal(wallClock(name, until - 1) - (until - 1), offset)
      assert.equal(wallClock(name, until) - until, rules.offsetAt(until))
      if (until < epochOf('2026-01-01T00:00:00Z') && rules.offsetAt(until) !== offset) changes++
      epoch = until
    }
    if (name === 'Europe/Paris') assert.equal(changes, 52)
    if (name === 'UTC' || name === 'Etc/GMT+5' || name === 'Asia/Kolkata') assert.equal(changes, 0)
    if (name === 'Australia/Lord_Howe') assert.equal(changes, 52)
  }
})

test('Two changes seven or twelve days apart are both found.', () => {
  const tucuman = known('America/Argentina/Tucuman')
  assert.equal(tucuman.offsetAt(epochOf('2004-05-31T12:00:00Z')), -3 * 3600)
  assert.equal(tucuman.offsetAt(epochOf('2004-06-07T12:00:00Z')), -4 * 3600)
  assert.equal(tucuman.offsetAt(epochOf('2004-06-14T12:00:00Z')), -3 * 3600)
  const recife = known('America/Recife')
  assert.equal(recife.offsetAt(epochOf('2000-10-07T12:00:00Z')), -3 * 3600)
  assert.equal(recife.offsetAt(epochOf('2000-10-10T12:00:00Z')), -2 * 3600)
  assert.equal(recife.offsetAt(epochOf('2000-10-15T12:00:00Z')), -3 * 3600)
})

test('The first instant of a local time is found where clocks skip or repeat it.', () => {
  const cases: [string, string, string][] = [
    ['Europe/Paris', '2026-03-29T00:00', '2026-03-28T23:00:00Z'],
    ['Europe/Paris', '2026-03-29T02:30', '2026-03-29T01:00:00Z'],
    ['Europe/Paris', '2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    // Samoa had no 30 December 2011.
    ['Pacific/Apia', '2011-12-30T00:00', '2011-12-30T10:00:00Z'],
    // Half an hour.
    ['Australia/Lord_Howe', '2025-10-05T02:00', '2025-10-04T15:30:00Z'],
    // Days that begin at one o'clock.
    ['America/Sao_Paulo', '2018-11-04T00:00', '2018-11-04T03:00:00Z'],
    // Midnight comes, and 23:01 again a minute later.
    ['America/St_Johns', '2010-11-07T00:00', '2010-11-07T02:30:00Z'],
  ]
  for (const [name, local, instant] of cases) {
    const found = known(name).firstInstant(epochOf(`${local}:00Z`))
    assert.equal(new Date(found * 1000).toISOString(), instant.replace('Z', '.000Z'), `${name} ${local}`)
  }
})

test('No instant before the first instant of a local time shows that time or later.', () => {
  const minute = fc.integer({
    min: epochOf('1975-01-01T00:00:00Z') / 60,
    max: epochOf('2037-01-01T00:00:00Z') / 60,
  })
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), minute, (name, minutes) => {
      const local = minutes * 60
      const first = known(name).firstInstant(local)
      assert.ok(wallClock(name, first) >= local)
      for (let earlier = 60; earlier <= 26 * 3600; earlier += earlier < 7200 ? 300 : 3600) {
        assert.ok(wallClock(name, first - earlier) < local)
      }
      assert.ok(wallClock(name, first - 1) < local)
    }),
    { numRuns: 150 },
  )
})

test('Names are the canonical and alias names of the tz database, in any case; nothing else is a zone.', () => {
  assert.equal(zone('Europe/Paris')?.name, 'Europe/Paris')
  assert.equal(zone('europe/PARIS')?.name, 'Europe/Paris')
  assert.equal(zone('utc')?.name, 'UTC')
  assert.equal(zone('Etc/GMT+5')?.name, 'Etc/GMT+5')
  for (const alias of 'Asia/Kolkata Asia/Calcutta US/Eastern GMT NZ GB-Eire CET EST5EDT'.split(' ')) {
    assert.equal(zone(alias)?.name, alias)
  }
  const none =
    '+02:00,Z,Mars/Olympus,Europe/Paris ,Europe,BST,PST,SystemV/PST8,Etc/GMT+15,../Europe/Paris,é'.split(',')
  for (const name of ['', ...none, 'Europe/Paris\n', 'A'.repeat(65)]) {
    assert.equal(zone(name), null, JSON.stringify(name))
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_+/-]{1,20}$/)), (name) => {
      const found = zone(name)
      assert.ok(found === null || found.name.toLowerCase() === name.toLowerCase())
    }),
  )
})
