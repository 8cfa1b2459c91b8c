/**
 * The operations over readings of one buoy, request by request against the oracle: contract, operations 6 to
 * 10.
 */
import { test } from 'node:test'
import { rehearse } from './against_oracle.ts'

test(
  'The server answers every request over readings as the oracle does.',
  { timeout: 600_000 },
  async (t) => {
    const { compare } = await rehearse(t)
    await t.test('Pages of readings.', () => compare('readings', 2000))
    await t.test('The reading closest to a moment.', () => compare('readings_search', 1500))
    await t.test('A reading by its id.', () => compare('reading', 600))
    await t.test('Charts.', () => compare('chart', 800))
    await t.test('Seasonal series.', () => compare('series', 300))
  },
)
