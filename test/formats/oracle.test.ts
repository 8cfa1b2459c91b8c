/**
 * Each format of each operation says what the JSON answer to the same request says, which the oracle checks.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { LaterAnswers } from '../../src/http/later-answers.ts'
import { AskedPath, viewOf } from '../answered.ts'
import { duck } from './bulk/duck.ts'
import { runCliWell } from '../live.ts'
import { assertAnswer } from '../oracle/compare.ts'
import { makeOracle, type JsonObject } from '../oracle/oracle.ts'
import { requestsFor } from '../oracle/requests.ts'
import { makeWorld, writeCsv } from '../oracle/world.ts'
import { rounds } from '../rounds.ts'
import {
  assertSameColumns,
  assertSameCsv,
  assertSameGeojson,
  assertSameNdjson,
  assertSameParquet,
  rowsOf,
} from './same.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
/** Random requests in all. */
const REQUESTS = rounds(180, 2000)

const folder = mkdtempSync(join(tmpdir(), 'groundswell-formats-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const world = makeWorld(SEED)
writeCsv(world, join(folder, 'world'))
await runCliWell(['build', '--source', `csv:${join(folder, 'world')}`, '--out', join(folder, 'snapshots')])
const view = await viewOf(join(folder, 'snapshots'))
const key = `gsw_${'A'.repeat(49)}`
const headers = { authorization: `Bearer ${key}` }

const OPERATIONS = [
  'list',
  'map',
  'last_readings',
  'search',
  'nearest',
  'readings',
  'chart',
  'series',
  'countries',
] as const
const PAGED = new Set<string>(['list', 'readings'])
const WITH_PLACES = new Set<string>(['list', 'map', 'last_readings', 'search', 'nearest', 'readings'])
const WITH_PARQUET = new Set<string>(['readings'])
const NOT_LISTS = new Set<string>(['chart', 'series'])

const database = await duck()
after(() => database.close())
const file = join(folder, 'answer.parquet')

const dataOf = (text: string): unknown => (JSON.parse(text) as { data: unknown }).data

const runs = Math.ceil(REQUESTS / OPERATIONS.length)

for (const operation of OPERATIONS) {
  test(`Every format of ${operation} says what its JSON says, kept or not.`, async () => {
    const oracle = makeOracle(world)
    const path = new AskedPath(view, {}, [Buffer.from(key)])
    // Parquet comes later, always.
    const parquetPath = new AskedPath(view, { later: new LaterAnswers(() => 0) }, [Buffer.from(key)])
    let compared = 0
    const property = fc.asyncProperty(requestsFor(world)[operation], async (request) => {
      const answer = oracle(request.question)
      const url = `/v2${request.url}`
      const json = path.get(url, headers)
      if (answer.unsure === null) assertAnswer(json, answer, url)
      const shaped = `${url}${url.includes('?') ? '&' : '?'}`
      // Without a page the other formats have everything.
      const isPage = !PAGED.has(operation) || /[?&](page|per_page)=[^&]/.test(url)
      const paged = isPage ? shaped : `${shaped}page=1&`
      if (json.status !== 200) {
        const formats = WITH_PARQUET.has(operation) ? ['csv', 'ndjson', 'parquet'] : ['csv', 'ndjson']
        for (const format of formats) {
          assert.equal(path.get(`${shaped}format=${format}`, headers).status, json.status, url)
        }
        return
      }
      const rows = rowsOf(operation, JSON.parse(json.text) as JsonObject)!
      compared++
      if (WITH_PARQUET.has(operation)) {
        const parquet = await parquetPath.getLater(`${paged}format=parquet`, headers)
        assert.equal(parquet.headers['content-type'], 'application/vnd.apache.parquet')
        writeFileSync(file, parquet.bytes)
        assertSameParquet(
          await database.ask(`DESCRIBE FROM '${file}'`),
          await database.ask(`FROM '${file}'`),
          rows,
          url,
        )
      }
      // The second may be a kept one.
      for (let round = 0; round < 2; round++) {
        const csv = path.get(`${paged}format=csv`, headers)
        assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8; header=present')
        assertSameCsv(csv.text, rows, url)
        assertSameNdjson(path.get(`${paged}format=ndjson`, headers).text, rows, url)
        if (WITH_PLACES.has(operation)) {
          assertSameGeojson(path.get(`${paged}format=geojson`, headers).text, rows, url)
        }
        if (!NOT_LISTS.has(operation)) {
          assertSameColumns(path.get(`${shaped}layout=columns`, headers).text, rows, url)
        }
        const again = path.get(url, { ...headers, accept: 'text/html, */*;q=0.8' })
        assert.deepEqual(dataOf(again.text), dataOf(json.text), url)
        const accepted = path.get(paged.slice(0, -1), { ...headers, accept: 'text/csv' })
        assert.equal(accepted.text, csv.text, url)
        assert.notEqual(accepted.headers.etag, json.headers.etag, url)
      }
    })
    await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
    assert.ok(compared >= runs * 0.2, `only ${compared} of ${runs} were compared`)
  })
}
