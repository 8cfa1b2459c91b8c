/** The check of answers finds faults that are planted in a good answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXAMPLE_ANSWERS } from '../../src/openapi/operation-texts.ts'
import { conformanceAt, type Answer } from './conformance.ts'

const conformance = conformanceAt('/v2')
const TARGET = '/v2/buoys/anglet'

interface Detail {
  data: { buoy: { [field: string]: unknown } }
  meta: { [field: string]: unknown }
}

function answer(change: (body: Detail, answer: Answer) => void = () => {}): Answer {
  const body = structuredClone(EXAMPLE_ANSWERS['/buoys/anglet']) as Detail
  const good: Answer = {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-snapshot-id': 'abc',
      'x-snapshot-as-of': '2026-11-01T06:00:00Z',
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': '1795240800',
      etag: 'W/"abc"',
      'cache-control': 'private, max-age=57',
      vary: 'Accept-Encoding, Authorization',
    },
    text: '',
  }
  change(body, good)
  return { ...good, text: good.text === '' ? JSON.stringify(body) : good.text }
}

test('A good answer passes.', () => {
  conformance.check('GET', TARGET, answer())
})

const PLANTED: { [fault: string]: Parameters<typeof answer>[0] } = {
  'a field too many': ({ data }) => (data.buoy.colour = 'yellow'),
  'a field too few': ({ data }) => delete data.buoy.dtz,
  'a number as text': ({ data }) => (data.buoy.lat = '43.5'),
  'a null that is not documented': ({ data }) => (data.buoy.slug = null),
  'a time without a zone': ({ meta }) => (meta.timestamp = '2026-11-01T06:00:00'),
  'a header too few': (_body, { headers }) => delete headers.etag,
  'a header of another form': (_body, { headers }) => (headers['x-ratelimit-limit'] = 'many'),
  'a header that is not documented': (_body, { headers }) => (headers['x-powered-by'] = 'groundswell'),
  'a status that is not documented': (_body, answer) => (answer.status = 418),
  'the body of an error under 200': (_body, answer) => (answer.text = '{"error":"bad_request"}'),
  'a body that is not JSON': (_body, answer) => (answer.text = '{"status":"success"'),
}

for (const [fault, plant] of Object.entries(PLANTED)) {
  test(`An answer with ${fault} is found.`, () => {
    assert.throws(() => conformance.check('GET', TARGET, answer(plant)), assert.AssertionError)
  })
}

test('A body under 304 and under HEAD is found.', () => {
  assert.throws(() => conformance.check('GET', TARGET, { ...answer(), status: 304 }), assert.AssertionError)
  assert.throws(() => conformance.check('HEAD', TARGET, answer()), assert.AssertionError)
})
