/**
 * Each format of each operation says what the JSON answer to the same request says, which the oracle checks,
 * and columns, layouts and `Accept` do what a model of them does.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { duck } from '../builder/bulk/duck.ts'
import { worldSnapshots } from '../built_once.ts'
import { folderOfFile } from '../live.ts'
import { assertAnswer } from '../oracle/compare.ts'
import { makeOracle } from '../oracle/oracle.ts'
import { requestsFor } from '../oracle/requests.ts'
import { makeWorld } from '../oracle/world.ts'
import { rounds } from '../rounds.ts'
import { assertSameParquet } from './same.ts'
import {
  accepts,
  assertAccepted,
  assertSameFormats,
  assertShapes,
  fieldsTexts,
  onePage,
  type Get,
} from './shapes.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
/** Random requests in all. */
const REQUESTS = rounds(80, 2000)

const folder = folderOfFile()
const world = makeWorld(SEED)
const view = await viewOf(await worldSnapshots(SEED))
const oracle = makeOracle(world)
const requests = requestsFor(world)
const headers = KEYED

const OPERATIONS = [
  'list',
  'map',
  'last_readings',
  'search',
  'nearest',
  'readings',
  'readings_of',
  'chart',
  'series',
  'conditions',
  'forecast',
  'countries',
  'satellites',
  'satellite_passes',
] as const

const database = await duck()
after(() => database.close())
const file = join(folder, 'answer.parquet')

const runs = Math.ceil(REQUESTS / OPERATIONS.length)

for (const operation of OPERATIONS) {
  test(`Every format of ${operation} says what its JSON says, kept or not.`, async () => {
    const path = new AskedPath(view)
    const get: Get = (url, more, method) => path.get(`/v2${url}`, { ...headers, ...more }, method)
    let compared = 0
    const asked = requests[operation]
    const property = fc.asyncProperty(asked, fieldsTexts, accepts, async (request, fields, ranges) => {
      const { url: target, question } = request
      const answer = oracle(question)
      const url = target.includes('?') ? target : `${target}?`
      if (answer.unsure === null) assertAnswer(get(url), answer, url)
      const rows = assertSameFormats(get, url)
      if (rows === null) return
      compared++
      // Kept ones.
      assertSameFormats(get, url)
      assertShapes(get, url, fields)
      assertAccepted(get, url, ranges)
      if (operation !== 'readings' && operation !== 'readings_of') return
      const parquet = get(`${onePage(url)}&format=parquet`)
      assert.equal(parquet.headers['content-type'], 'application/vnd.apache.parquet')
      writeFileSync(file, parquet.bytes)
      const described = await database.ask(`DESCRIBE FROM '${file}'`)
      assertSameParquet(described, await database.ask(`FROM '${file}'`), rows, url)
    })
    await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
    assert.ok(compared >= runs * 0.2, `only ${compared} of ${runs} were compared`)
  })
}
