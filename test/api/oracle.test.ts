/** The operations, request by request against the oracle: contract, operations 1 to 10, 14, and the map. */
import { test } from 'node:test'
import { rounds } from '../rounds.ts'
import { rehearse } from './against_oracle.ts'

test('The server answers every request as the oracle does.', { timeout: 1_200_000 }, async (t) => {
  const { compare } = await rehearse(t)
  await t.test('Lists of buoys.', () => compare('list', rounds(800, 2500)))
  await t.test('Details of a buoy.', () => compare('detail', rounds(200, 500)))
  await t.test('Last readings of several buoys.', () => compare('last_readings', rounds(280, 700)))
  await t.test('Search.', () => compare('search', rounds(550, 1600)))
  await t.test('Nearest buoys.', () => compare('nearest', rounds(800, 2500)))
  await t.test('Countries.', () => compare('countries', 5))
  await t.test('The map.', () => compare('map', rounds(150, 450)))
  await t.test('Pages of readings.', () => compare('readings', rounds(550, 1600)))
  await t.test('The reading closest to a moment.', () => compare('readings_search', rounds(450, 1200)))
  await t.test('A reading by its id.', () => compare('reading', rounds(250, 600)))
  await t.test('Charts.', () => compare('chart', rounds(250, 650)))
  await t.test('Seasonal series.', () => compare('series', rounds(250, 1000)))
})
