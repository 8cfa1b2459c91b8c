/**
 * The operations over buoys, request by request against the oracle: contract, operations 1 to 5, 14, and the
 * map.
 */
import { test } from 'node:test'
import { rehearse } from './against_oracle.ts'

test('The server answers every request over buoys as the oracle does.', { timeout: 600_000 }, async (t) => {
  const { compare } = await rehearse(t)
  await t.test('Lists of buoys.', () => compare('list', 3000))
  await t.test('Details of a buoy.', () => compare('detail', 500))
  await t.test('Last readings of several buoys.', () => compare('last_readings', 1000))
  await t.test('Search.', () => compare('search', 2000))
  await t.test('Nearest buoys.', () => compare('nearest', 3000))
  await t.test('Countries.', () => compare('countries', 5))
  await t.test('The map.', () => compare('map', 600))
})
