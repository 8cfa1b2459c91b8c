/** The headers of requests as the engine on uWebSockets.js reads them, against a list of all that came. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Exchange } from '../../src/http/exchange.ts'
import { getOf } from './modelled_uws.ts'

const NAMES = ['accept', 'authorization', 'if-none-match', 'x-forwarded-for'] as const
/** Some are as long as one of ours, or longer than all. */
const OTHERS = ['host', 'user-agent', 'authorizatiom', 'x', '', 'x'.repeat(400)]
const VALUES = ['', 'a', '0', '12', 'Upgrade, Close', 'closed']

const requests = fc.array(
  fc.array(
    fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom(...OTHERS)), fc.constantFrom(...VALUES)),
    { maxLength: 9 },
  ),
  { maxLength: 4 },
)

test('Headers are those of their own request, in order, however often they come.', () => {
  let seen: string[][] = []
  const get = getOf((exchange: Exchange) => {
    seen = NAMES.map((name) => [exchange.header(name), exchange.headerValues(name)])
    exchange.send('204 No Content', null)
  })
  fc.assert(
    fc.property(requests, (all) => {
      for (const given of all) {
        get(given)
        const expected = NAMES.map((wanted) => {
          const values = given.filter(([name]) => name === wanted).map(([, value]) => value)
          return [values.at(0) ?? '', values.join(', ')]
        })
        assert.deepEqual(seen, expected)
      }
    }),
    { numRuns: 500 },
  )
})
