/**
 * A live server against its own description. Good requests, made from the document, get the documented
 * answers. Requests with one fault get the documented error. Undocumented statuses, 5xx and bodies off their
 * schema are failures.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openApiDocument } from '../../src/openapi/document.ts'
import { OPERATION_TEXTS } from '../../src/openapi/operation-texts.ts'
import { OPERATIONS } from '../../src/routes.ts'
import { Client, startLive, type CallOptions, type Reply } from '../live.ts'
import { rounds } from '../rounds.ts'
import type { Json } from './conformance.ts'
import {
  faultsOf,
  faultyTarget,
  goodRequest,
  operationsOf,
  strangeTarget,
  type DocumentedOperation,
} from './requests.ts'

/** Good requests for each operation. The check of a long series takes a tenth of a second. */
const GOOD = rounds(40, 400)
const GOOD_OF_SERIES = rounds(15, 120)
/** Statuses of a good request: its parts may name nothing, or be impossible together. */
const MAY_BE_IMPOSSIBLE = new Set(['listReadings', 'chart', 'readingSeries'])

/** Ids of snapshots, which only the server knows. */
const ID = '^[0-9a-f]{24}$'
const AS_OF = '2026-11-01T06:00:00Z'
const BUOYS = ['6', 'anglet', 'saint-jean-de-luz', '32', 'atlantis', '%']
const READINGS = ['61793512800', '00006ae6-d560-8000-8000-000000000006', '61793512801', 'x']

test(
  'The server keeps to its description, and the description to the server.',
  { timeout: 3_600_000 },
  async (t) => {
    const document = JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, '/v2'))) as Json
    const operations = operationsOf(document)
    const live = await startLive(t, { sourceArgs: ['--source', 'demo', '--as-of', AS_OF] })
    const client = new Client(live)
    const stranger = new Client(live, null)
    t.after(() => [client, stranger].forEach((each) => each.close()))
    let requests = 0
    const call = async (target: string, options: CallOptions = {}, by = client): Promise<Reply> => {
      requests++
      const reply = await by.getAbsolute(target, options)
      assert.ok(reply.status < 500, `${target} → ${reply.status}`)
      return reply
    }

    await t.test(
      'Every example of every operation, as GET, HEAD and OPTIONS, conditional, and without a key.',
      async () => {
        for (const { id, isPublic } of operations) {
          for (const request of Object.values(OPERATION_TEXTS[id].examples)) {
            const target = `/v2${request.replaceAll(/[{}":]/g, encodeURIComponent)}`
            const reply = await call(target)
            assert.equal(reply.status, 200, target)
            assert.equal((await call(target, { method: 'HEAD' })).status, 200, target)
            assert.equal((await call(target, { method: 'OPTIONS' })).status, 204, target)
            assert.equal((await call(target, { method: 'POST' })).status, 405, target)
            const again = await call(target, { headers: { 'if-none-match': String(reply.headers.etag) } })
            assert.equal(again.status, 304, target)
            assert.equal((await call(target, {}, stranger)).status, isPublic ? 200 : 401, target)
            for (const headers of ODD_HEADERS)
              assert.equal((await call(target, { headers })).status, 200, target)
          }
        }
      },
    )

    await t.test('Good requests.', async (t) => {
      const { headers } = await call('/v2/countries')
      const held = { enum: [String(headers['x-snapshot-id'])] }
      for (const documented of operations) {
        const query = documented.query.map((one) =>
          one.schema.pattern === ID ? { ...one, schema: held } : one,
        )
        const operation = { ...documented, query }
        let answered = 0
        let asked = 0
        const property = fc.asyncProperty(
          goodRequest(operation, { buoy_id: BUOYS, reading_id: READINGS }),
          async (request) => {
            const reply = await call(request.target)
            asked++
            if (reply.status === 200) answered++
            const allowed = MAY_BE_IMPOSSIBLE.has(operation.id) ? [200, 404, 422] : [200, 404]
            assert.ok(
              allowed.includes(reply.status),
              `${request.target} → ${reply.status} ${reply.text.slice(0, 300)}`,
            )
          },
        )
        await fc.assert(property, {
          numRuns: operation.id === 'readingSeries' ? GOOD_OF_SERIES : GOOD,
          includeErrorInReport: true,
        })
        t.diagnostic(`${operation.id}: ${answered} of ${asked} answered with 200`)
        assert.ok(
          answered >= asked * 0.1,
          `${operation.id} answered ${answered} of ${asked} good requests with 200`,
        )
      }
    })

    let parameters = 0
    let faults = 0
    await t.test('Requests with one fault.', async () => {
      for (const operation of operations) {
        for (const parameter of operation.query) {
          parameters++
          for (const fault of faultsOf(parameter)) {
            faults++
            const target = faultyTarget(operation, parameter, fault)
            const reply = await call(target)
            const outcome = `${target.slice(0, 200)} → ${reply.status} ${reply.text.slice(0, 200)}`
            const what = `${fault.word} of ${operation.id}.${parameter.name}: ${outcome}`
            assert.equal(reply.status, expectedStatus(operation, parameter.name, fault.word), what)
            if (reply.status === 404) continue
            assert.equal(
              (JSON.parse(reply.text) as { details: { parameter: string } }).details.parameter,
              parameter.name,
              what,
            )
          }
        }
      }
    })

    await t.test('Windows that end outside the years of a timestamp.', async () => {
      for (const query of [
        'readings?timestamp=253402300799',
        'readings?timestamp=0',
        'readings/search?date=9999-12-31&time=23:59&tolerance_hours=24',
        'readings/search?date=0000-01-01&time=00:00&tolerance_hours=24',
        'readings/chart?start_date=9999-12-31&end_date=9999-12-31',
        'readings/chart?start_date=0000-01-01&end_date=0000-01-01',
        'readings/chart?start_date=1969-12-31&end_date=1970-01-01',
        'readings/chart?start_date=2106-02-07&end_date=2106-02-08',
      ]) {
        await call(`/v2/buoys/anglet/${query}`)
      }
      for (const time of ['9999-12-31', '0000-01-01', '9999-12-31T23:59:59Z']) {
        assert.equal((await call(`/v2/conditions?lat=43.4&lng=-1.7&time=${time}`)).status, 200, time)
      }
    })

    await t.test('Paths that name nothing.', async () => {
      const odd = [
        '%00',
        '%ff',
        '%',
        '%2e%2e',
        '..',
        '9'.repeat(400),
        '-1',
        '1.5',
        'a'.repeat(8000),
        '%f0%9f%8c%8a',
        '<script>',
        '%3Cscript%3E',
      ]
      for (const operation of operations) {
        for (const { name } of operation.inPath) {
          for (const word of odd) {
            const target = strangeTarget(operation, name, word)
            faults++
            assert.equal((await call(target)).status, 404, target.slice(0, 200))
          }
        }
      }
    })
    t.diagnostic(
      `${requests} requests; ${operations.length} operations, ${parameters} parameters, ${faults} faults`,
    )
  },
)

const ODD_HEADERS = [
  { 'if-none-match': '"' },
  { 'x-request-id': 'no uuid' },
  { 'x-request-id': '6f9619ff-8b86-4d01-b42d-00cf4fc964ff' },
  { 'accept-language': 'x'.repeat(3000) },
  { 'accept-language': 'fr;q=nonsense' },
]

const SHAPES = new Set(['format', 'fields', 'layout', 'units'])

/** A word that could be a mission is a 404. Other faults get the refusal of the operation. */
function expectedStatus(operation: DocumentedOperation, parameter: string, fault: string): number {
  const isWord = parameter === 'mission' && /^value "(?!abc|a{20}|9{20})/.test(fault)
  if (SHAPES.has(parameter) || parameter === 'snapshot') return 400
  return isWord ? 404 : operation.refusal
}
