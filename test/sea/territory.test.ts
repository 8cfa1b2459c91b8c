/** Countries and time zones of positions that are known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { iso1A2Code } from '@rapideditor/country-coder'
import { countryAt, countryName, timezoneAt } from '../../src/sea/territory.ts'
import { isZone } from '../../src/sea/zones.ts'

test('Buoys at sea belong to the country whose waters or nearest coast they lie off.', () => {
  const places: [lat: number, lng: number, country: string | null][] = [
    [43.53, -1.62, 'FR'],
    [48.85, 2.35, 'FR'],
    [42.06, 4.66, 'FR'],
    [34.68, -72.66, 'US'],
    [20.0, -158.0, 'US'],
    [-16.8, 180, 'FJ'],
    [-16.8, -179.95, 'FJ'],
    [43.77, -9.2, 'ES'],
    // British platforms near the line to Norway's waters, and a Norwegian one.
    [61.6, 1.3, 'GB'],
    [61.1, 1, 'GB'],
    [61.2, 2.3, 'NO'],
    [57, 7, 'DK'],
    // Far from every coast.
    [-45, -120, null],
    [45, -35, null],
    [90, 0, null],
  ]
  for (const [lat, lng, country] of places) assert.equal(countryAt(lat, lng), country, `${lat}, ${lng}`)
})

test('Beyond 200 nautical miles of the nearest waters no country is found.', () => {
  // Westwards from Ireland along a parallel: the last point that the map itself gives to a country.
  const lat = 52
  let edge = -10
  while (iso1A2Code([edge - 0.001, lat]) !== null) edge -= 0.001
  const degreesOf = (km: number): number => km / ((Math.PI / 180) * 6371 * Math.cos((lat / 180) * Math.PI))
  assert.equal(iso1A2Code([edge, lat]), 'IE')
  // The rule in km, and the step of the search.
  assert.equal(countryAt(lat, edge - degreesOf(340)), 'IE')
  assert.equal(countryAt(lat, edge - degreesOf(385)), null)
})

test('Time zones are IANA names of the position, nautical ones far from land.', () => {
  const zones: [lat: number, lng: number, zone: string][] = [
    [48.85, 2.35, 'Europe/Paris'],
    [40.7, -74, 'America/New_York'],
    [-16.8, 179.9, 'Pacific/Fiji'],
    [-45, -120, 'Etc/GMT+8'],
    [45, -35, 'Etc/GMT+2'],
  ]
  for (const [lat, lng, zone] of zones) assert.equal(timezoneAt(lat, lng), zone, `${lat}, ${lng}`)
  for (const lat of [-90, 0, 90]) {
    for (const lng of [-180, 0, 180]) assert.ok(isZone(timezoneAt(lat, lng)), `${lat}, ${lng}`)
  }
})

test('A country is known by its code of ISO 3166-1 and no other, under its English name.', () => {
  assert.deepEqual(
    ['FR', 'US', 'FJ', 'MQ', 'TW'].map((code) => countryName(code)),
    ['France', 'United States', 'Fiji', 'Martinique', 'Taiwan'],
  )
  // Unions, reserved and withdrawn codes, placeholders, and what is not a code.
  for (const code of ['', ...'EU UN EZ QO XA ZZ UK SU AN QQ fr FRA F 12 __'.split(' ')]) {
    assert.equal(countryName(code), null, code)
  }
})
