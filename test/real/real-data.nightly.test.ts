/**
 * Real files of two networks, served by the real server, against a naive reading of the same files and the
 * oracle: every 23rd of the seasonal series of two buoys with ten seasons, and random requests over all
 * operations that buoys have.
 *
 * The files are not part of the repository, so this file is skipped without them; what it tests is tested
 * with made-up data in test/sources and test/api as well.
 */
import assert from 'node:assert/strict'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import tzLookup from '@photostructure/tz-lookup'
import { iso1A2Code } from '@rapideditor/country-coder'
import * as fc from 'fast-check'
import { Client, startLive, temporaryFolder } from '../live.ts'
import { Chance } from '../chance.ts'
import { assertAnswer } from '../oracle/compare.ts'
import { makeOracle, type Answer, type Operation, type Question } from '../oracle/oracle.ts'
import { requestsFor, type ApiRequest } from '../oracle/requests.ts'
import type { World, WorldBuoy } from '../oracle/world.ts'
import {
  DATA,
  test,
  readBuoys,
  worldOf,
  type BuoyWithoutPlace,
  type Place,
  type RealFolders,
} from './read-files.ts'

const REAL: RealFolders = { ndbc: join(DATA, 'ndbc'), candhis: join(DATA, 'candhis') }

/** Failing runs print their seed; GROUNDSWELL_SEED repeats one, or tries another. */
const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
/**
 * The oracle goes through all rows of a buoy for each answer, which takes about a second where there are 14
 * years of them.
 */
/** Random requests over readings, half of them in each of two tests. */
const REQUESTS = 200

/** The buoys with ten seasons of rows, 2013 to 2022. */
const LONG = ['06403', '46240']
type Requests = ReturnType<typeof requestsFor>

interface Rehearsal {
  world: World
  /** Requests over all buoys, and such whose times come from the long ones. */
  requests: { wide: Requests; long: Requests }
  buoyId: (identifier: string) => string
  ask: (request: ApiRequest) => Promise<boolean>
}

/** Builds a snapshot of the folders, serves it, and reads the same files into an oracle. */
async function rehearse(t: TestContext, folders: RealFolders): Promise<Rehearsal> {
  const sources = ['--source', `ndbc:${folders.ndbc}`, '--source', `candhis:${folders.candhis}`]
  const live = await startLive(t, { sourceArgs: sources })
  const client = new Client(live)

  const countries = await countriesByIdentifier(client)
  const placeOf = ({ identifier, lat, lng }: BuoyWithoutPlace): Place => ({
    // In waters that are no country's the nearest counts, and for that we take the server's word.
    country: iso1A2Code([lng, lat]) ?? countries.get(identifier) ?? null,
    timezone: tzLookup(lat, lng),
  })
  const world = worldOf(readBuoys(folders), placeOf)
  const oracle = makeOracle(world)
  const ids = idsOf(oracle)
  return {
    world,
    requests: {
      wide: requestsFor(thinned(world, () => true)),
      long: requestsFor(thinned(world, ({ identifier }) => LONG.includes(identifier))),
    },
    buoyId: (identifier) => {
      const id = ids.get(identifier)
      assert.ok(id !== undefined, `${identifier} is not there`)
      return id
    },
    ask: async (request) => {
      const answer = oracle(request.question)
      const reply = await client.get(request.url)
      if (answer.unsure !== null) {
        assert.ok(reply.status === 200 || reply.status === 404, request.url)
        return false
      }
      assertAnswer(reply, answer, request.url.slice(0, 500))
      return true
    },
  }
}

interface Listed {
  id: number
  source_identifier: string
}

async function countriesByIdentifier(client: Client): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(65 + index))
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const { text } = await client.get(`/buoys?country=${code}&active_only=false`)
    const { data } = JSON.parse(text) as { data: { buoys: Listed[] } }
    for (const { source_identifier } of data.buoys) found.set(source_identifier, code)
  }
  return found
}

function idsOf(oracle: (question: Question) => Answer): Map<string, string> {
  const parameters = new Map([
    ['active_only', 'false'],
    ['per_page', '500'],
  ])
  const { data } = oracle({ operation: 'list', parameters }).body as unknown as { data: { buoys: Listed[] } }
  return new Map(data.buoys.map(({ id, source_identifier }) => [source_identifier, String(id)]))
}

const WAVES = ['significient_height', 'maximum_height', 'period', 'peak_period', 'direction']
const WEATHER = ['water_temperature', 'wind_speed', 'wind_direction', 'gust_speed']

/** Every metric in every bucket and aggregation that the network of a buoy offers. */
function allSeries(buoyId: string, metrics: string[], years: string): ApiRequest[] {
  return metrics.flatMap((metric) => {
    const aggregations = metric.endsWith('direction') ? ['median', 'avg'] : ['median', 'avg', 'min', 'max']
    return aggregations.flatMap((aggregation) =>
      ['day', 'week', 'hour'].map((bucket): ApiRequest => {
        const query = `metric=${metric}&aggregation=${aggregation}&bucket=${bucket}${years}`
        return {
          url: `/buoys/${buoyId}/readings/series?${query}`,
          question: { operation: 'series', buoyId, parameters: new Map(new URLSearchParams(query)) },
        }
      }),
    )
  })
}

/** Which share of the random requests goes to which operation over the readings of one buoy. */
const READING_SHARES: [Operation, number][] = [
  ['readings', 0.3],
  ['readings_search', 0.3],
  ['reading', 0.1],
  ['chart', 0.25],
  ['series', 0.05],
]
const BUOY_SHARES: [Operation, number][] = [
  ['list', 0.25],
  ['detail', 0.1],
  ['last_readings', 0.2],
  ['search', 0.2],
  ['nearest', 0.15],
  ['countries', 0.02],
  ['map', 0.08],
]

/** Times that requests are made from, a buoy: any more would only make more of the same. */
const TIMES_OF_A_BUOY = 2000

/** The world with so few rows that requests can be drawn from it; `keep` says for which buoys it has any. */
function thinned(world: World, keep: (buoy: WorldBuoy) => boolean): World {
  const chance = new Chance(SEED)
  const buoys = world.buoys.map((buoy) => {
    if (!keep(buoy)) return { ...buoy, rows: [] }
    const share = TIMES_OF_A_BUOY / buoy.rows.length
    const edges = new Set([buoy.rows[0], buoy.rows.find((row) => row.significantHeight !== null)])
    return { ...buoy, rows: buoy.rows.filter((row) => edges.has(row) || chance.next() < share) }
  })
  return { ...world, buoys }
}

/**
 * Requests of an operation over all buoys and, as often, over the long ones with times at which those have
 * rows.
 */
function requestsOver({ requests, buoyId }: Rehearsal, operation: Operation): fc.Arbitrary<ApiRequest> {
  const [wide, long] = [requests.wide[operation], requests.long[operation]]
  // These are drawn over any buoy, whichever the times come from.
  if (!['readings_search', 'chart', 'series'].includes(operation)) return fc.oneof(wide, long)
  const redirected = fc
    .tuple(long, fc.constantFrom(...LONG))
    .map(([request, identifier]) => redirect(request, buoyId(identifier)))
  return fc.oneof(wide, redirected)
}

/** The same request of another buoy. */
function redirect(request: ApiRequest, buoyId: string): ApiRequest {
  return {
    url: request.url.replace(/^\/buoys\/[^/?]+/, `/buoys/${buoyId}`),
    question: { ...request.question, buoyId },
  }
}

async function compareRandom(rehearsal: Rehearsal, operation: Operation, runs: number): Promise<void> {
  let unsure = 0
  const property = fc.asyncProperty(requestsOver(rehearsal, operation), async (request) => {
    if (!(await rehearsal.ask(request))) unsure++
  })
  await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
  // An oracle that looks away too often proves nothing.
  assert.ok(unsure <= Math.max(1, runs * 0.03), `${unsure} of ${runs} answers could not be compared`)
}

async function compareShares(
  t: TestContext,
  rehearsal: Rehearsal,
  shares: [Operation, number][],
): Promise<void> {
  for (const [operation, share] of shares) {
    const runs = Math.ceil((REQUESTS / 2) * share)
    await t.test(`${runs} random requests: ${operation}.`, () => compareRandom(rehearsal, operation, runs))
  }
}

test('Real files up to their newest reading are answered as a naive reading of them says.', async (t) => {
  const rehearsal = await rehearse(t, { ...REAL, ndbc: linked(t) })
  const { ask, buoyId, world } = rehearsal
  // Nothing else here would notice a reading that loses files or rows.
  assert.equal(world.buoys.length, 80)
  assert.ok(world.buoys.reduce((sum, { rows }) => sum + rows.length, 0) > 740_000)
  await t.test('Every buoy has as many readings as its files, and the newest are theirs.', async () => {
    for (const { identifier } of world.buoys) {
      const id = buoyId(identifier)
      const question = { operation: 'readings', buoyId: id, parameters: new Map<string, string>() } as const
      await ask({ url: `/buoys/${id}/readings`, question })
    }
  })

  await t.test('Series of ten seasons, value by value.', async () => {
    const tenYears = '&start_year=2013&end_year=2022'
    const series = [
      ...allSeries(buoyId('06403'), WAVES, tenYears),
      ...allSeries(buoyId('46240'), [...WAVES, ...WEATHER], tenYears),
    ]
    for (const request of series.filter((_, index) => index % 23 === 0)) await ask(request)
  })
  await t.test('Series of the ten seasons that are answered unasked.', async () => {
    for (const identifier of LONG) await ask(allSeries(buoyId(identifier), WAVES, '')[0])
  })
  await compareShares(t, rehearsal, [...BUOY_SHARES, ...READING_SHARES])
})

/**
 * NDBC's folder, as links, without the newest rows of a thousand stations, which are of other years.
 */
function linked(t: TestContext): string {
  const folder = temporaryFolder(t)
  for (const name of readdirSync(REAL.ndbc)) {
    if (name !== 'latest_obs') symlinkSync(join(REAL.ndbc, name), join(folder, name))
  }
  return folder
}
