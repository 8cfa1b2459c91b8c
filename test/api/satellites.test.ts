/** Satellites, their passes and the map's fields of passes, against a look at every record. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fieldsOf } from '../fields.ts'
import { Client, runCli, startLive, temporaryFolder, type Reply } from '../live.ts'
import { Chance } from '../chance.ts'
import { rounds } from '../rounds.ts'

const DAY = 86_400
const AS_OF = Date.parse('2026-03-27T09:00:00Z') / 1000
const iso = (epoch: number) => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z')

/** By slug: index in ids, name, code in names; as the catalogue has them for ever. */
const MISSIONS = {
  'sentinel-3a': [1, 'Sentinel-3A', 'S3A'],
  'sentinel-3b': [2, 'Sentinel-3B', 'S3B'],
  'sentinel-6a': [3, 'Sentinel-6A Michael Freilich', 'S6A'],
  'jason-3': [4, 'Jason-3', 'J3'],
  saral: [5, 'SARAL/AltiKa', 'SARAL'],
  'cryosat-2': [6, 'CryoSat-2', 'C2'],
  swot: [7, 'SWOT', 'SWOT'],
  cfosat: [8, 'CFOSAT', 'CFO'],
} as const
type Slug = keyof typeof MISSIONS
const SLUGS = Object.keys(MISSIONS) as Slug[]
/** Missions that the made-up passes are of; the others have none. */
const FLYING: Slug[] = ['sentinel-3a', 'sentinel-3b', 'swot', 'cryosat-2']

interface Observation {
  buoy: number
  time: number
}

interface Pass {
  mission: Slug
  cycle: number
  number: number
  started: number
  ended: number
  bounds: { south: number; west: number; north: number; east: number }
  observations: Observation[]
}

const VIRTUAL_BUOYS = 12
const IDENTIFIERS = Array.from({ length: VIRTUAL_BUOYS }, (_, i) => `V${String(i).padStart(2, '0')}`)
/** The last virtual buoy gets readings without any pass. */
const WITHOUT_PASS = VIRTUAL_BUOYS - 1

function makePasses(): Pass[] {
  const chance = new Chance(7)
  const upTo = (count: number) => chance.below(count)
  const passes: Pass[] = []
  for (let i = 0; i < 150; i++) {
    // Several begin in the same second, some within the last day, some exactly at its border.
    const started = AS_OF - (i < 60 ? upTo(30) * 3600 : upTo(40 * DAY)) - 1200
    const ended = started + 600 + upTo(600)
    const observations: Observation[] = []
    for (let k = upTo(5); k > 0; k--) {
      observations.push({ buoy: upTo(WITHOUT_PASS), time: Math.min(started + upTo(600), AS_OF) })
    }
    const [south, west] = [-upTo(80) - 0.5, Number((upTo(360) - 179.123456).toFixed(6))]
    const bounds = { south, west, north: upTo(80), east: upTo(360) - 180 }
    passes.push({
      mission: FLYING[upTo(FLYING.length)],
      cycle: 81,
      number: i + 1,
      started,
      ended,
      bounds,
      observations,
    })
  }
  const at = (number: number, time: number): Pass => ({
    ...passes[0],
    number,
    mission: 'swot',
    cycle: 1,
    started: time - 10,
    ended: time + 10,
    observations: [{ buoy: 3, time }],
  })
  return [...passes, at(1000, AS_OF - DAY), at(1001, AS_OF - DAY - 1), at(1002, AS_OF)]
}

function writeWorld(folder: string, passes: readonly Pass[]): void {
  mkdirSync(join(folder, 'readings'), { recursive: true })
  const write = (name: string, lines: (string | number)[][]) =>
    writeFileSync(join(folder, name), lines.map((line) => line.join(',')).join('\n'))
  write('sources.csv', [
    ['name', 'network'],
    ['Altimetry', 'satellite'],
    ['NDBC', 'national'],
  ])
  write('buoys.csv', [
    ['source', 'identifier', 'name', 'lat', 'lng', 'virtual'],
    ['NDBC', '41001', 'Hatteras', 34.7, -72.2, ''],
    ...IDENTIFIERS.map((identifier, i) => ['Altimetry', identifier, `Virtual ${i}`, 20 + i, -40 - i, 'true']),
  ])
  const readings = passes.flatMap(({ observations }) => observations)
  write('readings/all.csv', [
    ['source', 'identifier', 'time', 'significant_height'],
    ['NDBC', '41001', AS_OF, 1.5],
    ['Altimetry', IDENTIFIERS[WITHOUT_PASS], AS_OF - 60, 2.5],
    ...readings.map(({ buoy, time }) => ['Altimetry', IDENTIFIERS[buoy], time, 2]),
  ])
  const key = ({ mission, cycle, number }: Pass) => [mission, cycle, number]
  write('passes.csv', [
    ['mission', 'cycle', 'number', 'started_at', 'ended_at', 'south', 'west', 'north', 'east'],
    ...passes.map((pass) => {
      const { south, west, north, east } = pass.bounds
      return [...key(pass), iso(pass.started), iso(pass.ended), south, west, north, east]
    }),
  ])
  write('pass_observations.csv', [
    ['mission', 'cycle', 'number', 'source', 'identifier', 'time'],
    ...passes.flatMap((pass) =>
      pass.observations.map(({ buoy, time }) => [...key(pass), 'Altimetry', IDENTIFIERS[buoy], iso(time)]),
    ),
  ])
}

const names = ({ mission, cycle, number }: Pass) => {
  const [index, name, code] = MISSIONS[mission]
  const [c, p] = [String(cycle).padStart(3, '0'), String(number).padStart(4, '0')]
  return {
    id: index * 10_000_000_000 + cycle * 100_000 + number,
    name: `${name} cycle ${cycle} pass ${number}`,
    external_id: `${code}_C${c}_P${p}`,
    satellite_pass_id: `${code.toLowerCase()}-${c}-${String(number).padStart(3, '0')}`,
    platform: name,
  }
}

/** An observation counts once, however often it was reported. */
const distinct = (pass: Pass) => new Map(pass.observations.map((o) => [`${o.buoy} ${o.time}`, o]))

function item(pass: Pass) {
  const [, name] = MISSIONS[pass.mission]
  const observations = [...distinct(pass).values()]
  return {
    ...names(pass),
    mission: { slug: pass.mission, name },
    started_at: iso(pass.started),
    ended_at: iso(pass.ended),
    buoy_count: new Set(observations.map(({ buoy }) => buoy)).size,
    observation_count: observations.length,
    bounds: pass.bounds,
  }
}

const VARY = 'Accept, Accept-Encoding, Authorization, Accept-Language'

const newestFirst = (a: Pass, b: Pass) => b.started - a.started || names(b).id - names(a).id

interface Question {
  mission: Slug | undefined
  activeOnly: boolean | undefined
  since: number | undefined
  limit: number | undefined
}

function answerOf(passes: readonly Pass[], { mission, activeOnly, since, limit }: Question) {
  const found = passes
    .filter((pass) => mission === undefined || pass.mission === mission)
    .filter(
      ({ observations }) => activeOnly === false || observations.some(({ time }) => time >= AS_OF - DAY),
    )
    .filter(({ started }) => since === undefined || started >= since)
    .toSorted(newestFirst)
    .slice(0, limit ?? 20)
  return { satellite_passes: found.map(item), count: found.length }
}

const dataOf = (reply: Reply): unknown => {
  assert.equal(reply.status, 200, reply.text.slice(0, 300))
  const body = JSON.parse(reply.text) as { status: string; data: unknown; meta: { [key: string]: unknown } }
  assert.deepEqual(Object.keys(body), ['status', 'data', 'meta'])
  assert.deepEqual([body.status, Object.keys(body.meta)], ['success', ['timestamp']])
  return body.data
}

const faultOf = (reply: Reply): [number, string] => [
  reply.status,
  (JSON.parse(reply.text) as { error: string }).error,
]

test('Satellites and their passes are answered as the records say.', async (t) => {
  const passes = makePasses()
  const folder = join(temporaryFolder(t), 'world')
  writeWorld(folder, passes)
  const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] })
  const client = new Client(live)

  await t.test('Passes, with every filter.', async () => {
    const given = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
    const question: fc.Arbitrary<Question> = fc.record({
      mission: given(fc.constantFrom(...SLUGS)),
      activeOnly: given(fc.boolean()),
      since: given(
        fc.oneof(
          fc.constantFrom(...passes.flatMap(({ started }) => [started, started + 1])),
          fc.integer({ min: AS_OF - 45 * DAY, max: AS_OF + DAY }),
        ),
      ),
      limit: given(fc.integer({ min: 1, max: 100 })),
    })
    await fc.assert(
      fc.asyncProperty(question, fc.nat({ max: 3 }), async (asked, form) => {
        const { mission, activeOnly, since, limit } = asked
        const parts = [
          mission && `mission=${mission}`,
          activeOnly !== undefined && `active_only=${form < 2 ? String(activeOnly) : Number(activeOnly)}`,
          since !== undefined &&
            `since=${form % 2 === 0 ? iso(since) : encodeURIComponent(iso(since + 7200).replace('Z', '+02:00'))}`,
          limit !== undefined && `limit=${limit}`,
        ].filter(Boolean)
        const reply = await client.get(`/buoys/satellite_passes?${parts.join('&')}`)
        const wanted = answerOf(passes, asked)
        assert.deepEqual(dataOf(reply), wanted)
        assert.ok(reply.text.includes(`"data":${JSON.stringify(wanted)}`), 'keys in another order')
      }),
      { numRuns: rounds(250, 1000), seed: 11 },
    )
  })

  await t.test('A date alone is its first second, and parts of a second count.', async () => {
    const day = iso(passes[70].started).slice(0, 10)
    const midnight = Date.parse(day) / 1000
    const all = { mission: undefined, activeOnly: false, limit: 100 }
    const dated = await client.get(`/buoys/satellite_passes?active_only=false&limit=100&since=${day}`)
    assert.deepEqual(dataOf(dated), answerOf(passes, { ...all, since: midnight }))
    const { started } = passes[0]
    const fraction = iso(started).replace('Z', '.500Z')
    const reply = await client.get(`/buoys/satellite_passes?active_only=false&limit=100&since=${fraction}`)
    assert.deepEqual(dataOf(reply), answerOf(passes, { ...all, since: started + 1 }))
  })

  await t.test(
    'A mission that is unknown is not found, and an empty parameter counts as absent.',
    async () => {
      const path = '/buoys/satellite_passes'
      for (const slug of ['apollo-11', 'Sentinel-3A', 's3a', 'hy-2b', '1', '__proto__', '..%2F']) {
        const reply = await client.get(`${path}?mission=${slug}`)
        assert.deepEqual(faultOf(reply), [404, 'resource_not_found'], slug)
      }
      for (const query of ['mission=', 'limit=', 'since=', 'active_only=', 'page=0', 'locale=de']) {
        const nothing = { mission: undefined, activeOnly: undefined, since: undefined, limit: undefined }
        assert.deepEqual(dataOf(await client.get(`${path}?${query}`)), answerOf(passes, nothing), query)
      }
    },
  )

  interface Satellite {
    slug: Slug
    description: string
    [key: string]: unknown
  }
  const satellites = async (query = '', headers: { [name: string]: string } = {}) => {
    const reply = await client.get(`/buoys/satellites${query}`, { headers })
    const data = dataOf(reply) as { satellites: Satellite[]; count: number }
    assert.equal(reply.headers.vary, VARY)
    return { ...data, etag: reply.headers.etag ?? '' }
  }

  await t.test('All missions are listed, each with the passes of this snapshot.', async () => {
    const { satellites: list, count } = await satellites()
    assert.equal(count, SLUGS.length)
    assert.deepEqual(
      fieldsOf(list, 'slug', 'name', 'image_url', 'pass_count'),
      SLUGS.map((slug) => [
        slug,
        MISSIONS[slug][1],
        `/missions/${slug}.svg`,
        passes.filter(({ mission }) => mission === slug).length,
      ]),
    )
    for (const satellite of list) {
      assert.deepEqual(Object.keys(satellite), [
        'slug',
        'name',
        'agency',
        'instrument',
        'description',
        'image_url',
        'pass_count',
      ])
      assert.equal((await client.get(`/buoys/satellite_passes?mission=${satellite.slug}`)).status, 200)
      const picture = await client.getAbsolute(String(satellite.image_url))
      assert.equal(picture.status, 200)
      assert.equal(picture.headers['content-type'], 'image/svg+xml')
      assert.ok(picture.text.includes(String(satellite.name)))
    }
  })

  await t.test('The locale decides the language, then the header, then English.', async () => {
    const [english, french] = [await satellites('?locale=en'), await satellites('?locale=fr')]
    english.satellites.forEach(({ description }, i) => {
      assert.ok(description.length > 60)
      assert.notEqual(description, french.satellites[i].description)
    })
    assert.match(french.satellites[0].description, /é/)
    // Which language a header prefers, `preferences.test.ts` asks.
    const cases: [query: string, header: string, wanted: typeof english][] = [
      ['', '', english],
      ['', 'de, fr;q=0.2, en;q=0.1', french],
      ['', 'fr;q=nonsense', english],
      ['?locale=en', 'fr', english],
      ['?locale=fr', 'en', french],
      ['?locale=', 'fr', french],
    ]
    for (const [query, header, wanted] of cases) {
      // Twice: the second may come out of a cache, which must not mix languages.
      for (let i = 0; i < 2; i++) {
        const { satellites: found } = await satellites(query, { 'accept-language': header })
        assert.deepEqual(found, wanted.satellites, `${query} ${header}`)
      }
    }
    const [plain, inFrench] = [await satellites(), await satellites('', { 'accept-language': 'fr' })]
    assert.notEqual(plain.etag, inFrench.etag)
    const condition = { 'if-none-match': inFrench.etag }
    const other = await client.get('/buoys/satellites', { headers: condition })
    const same = await client.get('/buoys/satellites', { headers: { ...condition, 'accept-language': 'fr' } })
    assert.deepEqual([other.status, same.status, same.headers.vary], [200, 304, VARY])
  })

  await t.test('The map names the pass that gave a virtual buoy its newest reading.', async () => {
    const data = dataOf(await client.get('/buoys/map')) as { buoys: { [key: string]: unknown }[] }
    const keys = ['pass_id', 'satellite_pass_id', 'external_id', 'pass_name', 'pass_platform']
    let named = 0
    for (const buoy of data.buoys) {
      if (buoy.virtual === false) {
        assert.ok(keys.every((key) => !(key in buoy)))
        continue
      }
      assert.deepEqual(Object.keys(buoy).slice(-5), keys)
      const index = Number(String(buoy.name).slice('Virtual '.length))
      const seen = passes
        .toSorted(newestFirst)
        .flatMap((pass) =>
          pass.observations.filter((o) => o.buoy === index).map(({ time }) => ({ pass, time })),
        )
      const newest = Math.max(...seen.map(({ time }) => time))
      const found = seen.find(({ time }) => time === newest)
      if (index === WITHOUT_PASS) assert.equal(found, undefined)
      const wanted = found && names(found.pass)
      assert.deepEqual(
        keys.map((key) => buoy[key]),
        wanted
          ? [wanted.id, wanted.satellite_pass_id, wanted.external_id, wanted.name, wanted.platform]
          : [null, null, null, null, null],
      )
      if (found === undefined) continue
      named++
      assert.equal(buoy.last_reading_time, iso(newest))
    }
    assert.ok(named >= 5)
    assert.equal(data.buoys.filter(({ virtual }) => virtual === false).length, 1)
  })
})

test('Every bad line of the tables of passes is named.', async (t) => {
  const out = temporaryFolder(t)
  const folder = join(out, 'world')
  writeWorld(folder, makePasses().slice(0, 60))
  const head = 'mission,cycle,number,started_at,ended_at,south,west,north,east'
  const times = '2026-03-27T08:00:00Z,2026-03-27T08:40:00Z'
  const good = 'swot,5,7,2026-03-27T08:00:00Z,2026-03-27T08:40:00+00:00,-10,170,10,-170'
  const bad: [string, string][] = [
    [`apollo,5,8,${times},-10,0,10,1`, 'mission is not the slug'],
    [`swot,x,8,${times},-10,0,10,1`, 'cycle is not a whole number'],
    [`swot,100000,8,${times},-10,0,10,1`, 'cycle is not a whole number'],
    [`swot,5,0,${times},-10,0,10,1`, 'number is not a whole number'],
    ['swot,5,8,yesterday,2026-03-27T08:40:00Z,-10,0,10,1', 'started_at is neither ISO 8601'],
    ['swot,5,8,2026-03-27T08:40:00Z,2026-03-27T08:00:00Z,-10,0,10,1', 'started_at and ended_at'],
    [`swot,5,8,${times},10,0,-10,1`, 'south and north'],
    [`swot,5,8,${times},-10,0,91,1`, 'north is not a number from -90 to 90'],
    [`swot,5,8,${times},-10,181,10,1`, 'west is not a number from -180 to 180'],
    [`swot,05,007,${times},-10,0,10,1`, 'is listed above'],
  ]
  const badObservations: [string, string][] = [
    ['swot,5,8,Altimetry,V00,2026-03-27T08:10:00Z', 'not in passes.csv'],
    ['swot,5,7,Altimetry,V99,2026-03-27T08:10:00Z', 'not in buoys.csv'],
    ['swot,5,7,Altimetry,V00,2026-03-27T07:59:59Z', 'time is not within the pass'],
    ['swot,5,7,Altimetry,V00,soon', 'time is neither ISO 8601'],
  ]
  const write = (name: string, lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'))
  write('pass_observations.csv', [
    'mission,cycle,number,source,identifier,time',
    'swot,5,7,Altimetry,V00,2026-03-27T08:10:00Z',
    ...badObservations.map(([line]) => line),
  ])
  const assertNamed = (stderr: string, file: string, faults: typeof bad) => {
    for (const [i, [line, reason]] of faults.entries()) {
      const isNamed = stderr
        .split('\n')
        .some((text) => text.includes(`${file}:${i + 3}: `) && text.includes(reason))
      assert.ok(isNamed, `${line}: ${stderr}`)
    }
  }
  // Five lines of a file are named, and the others are counted.
  for (const named of [bad.slice(0, 5), bad.slice(5)]) {
    write('passes.csv', [head, good, ...named.map(([line]) => line), ...bad.map(([line]) => line)])
    const { code, stderr } = await runCli([
      'build',
      '--source',
      `csv:${folder}`,
      '--out',
      join(out, 'snapshots'),
      '--max-bad=100%',
    ])
    assert.equal(code, 0, stderr)
    assertNamed(stderr, 'passes.csv', named)
    assertNamed(stderr, 'pass_observations.csv', badObservations)
    assert.match(stderr, /passes\.csv: 10 more bad lines/)
  }
})
