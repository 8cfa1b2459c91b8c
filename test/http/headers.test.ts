/** The headers of requests, against a list of all that came. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ACCEPT,
  AUTHORIZATION,
  CONNECTION,
  CONTENT_LENGTH,
  framingOf,
  IF_NONE_MATCH,
  TRANSFER_ENCODING,
  X_FORWARDED_FOR,
  type HeaderName,
} from '../../src/http/exchange.ts'
import { RequestHeaders } from '../../src/http/engines/uws-exchange.ts'

const NAMES: readonly HeaderName[] = [
  ACCEPT,
  AUTHORIZATION,
  CONNECTION,
  CONTENT_LENGTH,
  IF_NONE_MATCH,
  TRANSFER_ENCODING,
  X_FORWARDED_FOR,
]
/** Some are as long as one of ours, or longer than all. */
const OTHERS = ['host', 'user-agent', 'authorizatiom', 'x', '', 'x'.repeat(400)]
const VALUES = ['', 'a', '0', '12', 'chunked', 'keep-alive', 'close', 'Upgrade, Close', 'closed']

const requests = fc.array(
  fc.array(
    fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom(...OTHERS)), fc.constantFrom(...VALUES)),
    { maxLength: 9 },
  ),
  { maxLength: 4 },
)

test('Headers are those of their own request, in order, however often they come.', () => {
  fc.assert(
    fc.property(requests, (all) => {
      const headers = new RequestHeaders()
      for (const given of all) {
        headers.begin()
        for (const [name, value] of given) headers.take(name, value)
        const valuesOf = (wanted: string): string[] =>
          given.filter(([name]) => name === wanted).map(([, value]) => value)
        for (const name of NAMES) {
          assert.equal(headers.first(name), valuesOf(name).at(0) ?? '')
          assert.equal(headers.all(name), valuesOf(name).join(', '))
        }
        const lengths = valuesOf('content-length')
        const codings = valuesOf('transfer-encoding')
        assert.equal(headers.framing, framingOf(lengths, codings))
        const words = valuesOf('connection').flatMap((value) => value.split(','))
        assert.equal(
          headers.asksToClose,
          words.some((word) => word.trim().toLowerCase() === 'close'),
        )
      }
    }),
    { numRuns: 500 },
  )
})
