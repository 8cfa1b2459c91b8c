/** Several networks in one build: feeds of recent reports, sources that fail, buoys of two networks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cataloguedBuoys } from '../../src/snapshot/catalog.ts'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { leaveOut, pairsWithin } from '../../src/builder/identify.ts'
import { Forecast } from '../../src/index/forecast.ts'
import { readForecast, readPasses } from '../../src/snapshot/part-kinds.ts'
import { newestReport, type ReportDocument } from '../../src/builder/report-document.ts'
import { type Source, type SourceTerms } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { lineText } from '../../src/system/log.ts'
import {
  fakeSource,
  type FakeBuoy,
  catalogOf,
  folderOf,
  northBuoy,
  partOf,
  readingsOf,
  silentReport,
} from './fake_source.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000

function buoy(source: string, identifier: string, lat: number, time: number | null = NOON): FakeBuoy {
  const rows = time === null ? [] : [{ time, significantHeight: 1000, period: 8000 }]
  return northBuoy(identifier, rows, { source, name: `${source} ${identifier}`, lat })
}

const NORTH = { name: 'North', network: 'national' } as const
const SOUTH = { name: 'South', network: 'coastal' } as const

const terms = (name: string, more: Partial<SourceTerms> = {}): SourceTerms => ({
  name,
  info: {},
  accepts: () => true,
  ...more,
})

const configured = (
  name: string,
  buoys: FakeBuoy[],
  more: Partial<Source> = {},
  networks: Parameters<typeof fakeSource>[1] = [NORTH],
): Source => ({ ...fakeSource(buoys, networks), terms: terms(name), ...more })

function failing(name: string): Source {
  const whole = configured(name, [buoy('South', 'half', 10, NOON + 600)], {}, [SOUTH])
  return {
    ...whole,
    async read(sink, context) {
      await whole.read(sink, context)
      throw new BuildError('garbled')
    },
  }
}

interface Built {
  /** `SOURCE IDENTIFIER`, by id. */
  buoys: string[]
  ids: number[]
  readings: number
  asOf: number
  document: ReportDocument
}

async function build(
  out: string,
  sources: Source[],
  more: Partial<Parameters<typeof buildSnapshot>[0]> = {},
): Promise<Built> {
  const options = { sources, out, asOf: null, now: NOON, report: silentReport(), ...more }
  const { asOf, parts } = await buildSnapshot(options)
  const buoys = cataloguedBuoys(await catalogOf(out))
  return {
    buoys: buoys.map(({ source, identifier }) => `${source} ${identifier}`),
    ids: buoys.map(({ id }) => id),
    readings: readingsOf({ parts }),
    asOf,
    document: newestReport(out),
  }
}

test('Of an incomplete feed only the buoys that are wanted stay, and only those of its networks.', async (t) => {
  const out = folderOf(t)
  const both = configured(
    'both',
    [buoy('North', 'A', 10), buoy('North', 'B', 20), buoy('South', 'S', 30)],
    {},
    [NORTH, SOUTH],
  )
  await build(out, [both])
  const feed = configured('feed', [], {
    complete: false,
    terms: terms('feed', { accepts: ({ identifier }) => identifier !== 'B' }),
  })
  assert.deepEqual((await build(out, [feed], { allowLoss: 1 })).buoys, ['North A'])
  const south = configured('south', [buoy('South', 'S', 30)], {}, [SOUTH])
  assert.deepEqual((await build(out, [failing('feed'), south])).buoys, ['North A', 'South S'])
})

test('A buoy that was taken by its type stays when it is not mentioned, though no snapshot keeps types.', async (t) => {
  const out = folderOf(t)
  const accepts = ({ type }: BuoyRecord): boolean => type === undefined || type === 'buoy'
  const feed = (buoys: FakeBuoy[]): Source =>
    configured('feed', buoys, { complete: false, terms: terms('feed', { accepts }) })
  const [a, b, c] = ['A', 'B', 'C'].map((name, i) => buoy('North', name, 10 * i))
  const first = await build(out, [feed([{ ...a, type: 'buoy' }, { ...b, type: 'fixed' }, c])])
  assert.deepEqual(first.buoys, ['North A'])
  assert.deepEqual((await build(out, [feed([{ ...b, type: 'fixed' }])])).buoys, ['North A'])
})

test('A network reports with the buoys that have a reading of the last 24 hours, from this build or an earlier one.', async (t) => {
  const out = folderOf(t)
  const day = 86_400
  const ages = { now: 0, edge: day, late: day + 1, old: 1000 * day, never: null }
  const buoys = Object.entries(ages).map(([name, age], i) =>
    buoy('North', name, 10 * i, age === null ? null : NOON - age),
  )
  const reported = async (source: Source, now = NOON): Promise<[number, number, string | null][]> => {
    const { document } = await build(out, [source], { now })
    return document.networks.map(({ buoys: all, reporting, newest_reading: at }) => [all, reporting, at])
  }
  const noon = '2026-03-27T12:00:00Z'
  assert.deepEqual(await reported(configured('feed', buoys)), [[5, 2, noon]])
  // The next build gets one of them alone; the others are in the snapshot.
  const feed = configured('feed', [buoys[2]], { complete: false })
  assert.deepEqual(await reported(feed), [[5, 2, noon]])
  assert.deepEqual(await reported(feed, NOON + 1), [[5, 1, noon]])
})

test('The credit that the configuration gives a forecast stands in place of its own.', async (t) => {
  const record = { lat: 1, lng: 1, runAt: NOON, times: [NOON], values: { waveHeight: [1] }, credit: 'Own' }
  const whole = configured('sea', [buoy('North', 'A', 10)])
  const withForecast = (info: SourceTerms['info']): Source => ({
    ...whole,
    terms: terms('sea', { info }),
    async read(sink, context) {
      await whole.read(sink, context)
      sink.forecast(record)
    },
  })
  for (const [info, credit] of [
    [{}, 'Own'],
    [{ credit: 'The service' }, 'The service'],
  ] as const) {
    const out = folderOf(t)
    await build(out, [withForecast(info)])
    const columns = readForecast((await partOf(out, 'forecast')) ?? assert.fail('no forecast'), 'forecast')
    assert.equal(new Forecast(columns).modelOf(0).credit, credit)
  }
})

test('A source of the configuration fails alone: what it gave is discarded, and what it had stays.', async (t) => {
  const out = folderOf(t)
  const south = configured('south', [buoy('South', 'S', 30)], {}, [SOUTH])
  await build(out, [configured('north', [buoy('North', 'A', 10), buoy('North', 'B', 20)]), south])
  const { buoys, readings, asOf, document } = await build(out, [
    configured('north', [buoy('North', 'A', 10, NOON + 60)]),
    failing('south'),
  ])
  // North was read whole and does not mention B; for South nobody speaks.
  assert.deepEqual(buoys, ['North A', 'South S'])
  assert.deepEqual([readings, asOf], [4, NOON + 60])
  assert.deepEqual(
    document.sources.map(({ name, refused }) => `${name}: ${refused}`),
    ['north: null', 'south: garbled'],
  )
  await assert.rejects(build(out, [failing('a'), failing('b')]), /none of the sources could be read/)
  const { terms: _, ...commandLine } = failing('c')
  await assert.rejects(build(out, [south, commandLine]), /garbled/)
})

test('Quality control leaves the operator’s own rows as they are.', async (t) => {
  const strange = {
    ...buoy('North', 'A', 10),
    rows: [{ time: NOON, significantHeight: 2000, maximumHeight: 1000 }],
  }
  for (const isControlled of [true, false]) {
    const { document } = await build(folderOf(t), [configured('own', [strange], { isControlled })])
    assert.equal(Object.keys(document.networks[0].impossible).length, isControlled ? 0 : 1)
  }
})

test('A pass keeps its observations at the virtual buoys that are wanted.', async (t) => {
  const out = folderOf(t)
  const sky = { name: 'Sky', network: 'satellite' } as const
  const points = ['V1', 'V2'].map((name, i) => ({ ...buoy('Sky', name, 10 * i), virtual: true }))
  const source: Source = {
    terms: terms('sky', { accepts: ({ identifier }) => identifier === 'V2' }),
    async read(sink, context) {
      await fakeSource(points, [sky]).read(sink, context)
      const observations = points.map((point) => ({ buoy: sink.buoy(point), time: NOON }))
      const bounds = { south: -1, west: -4, north: 11, east: -2 }
      sink.pass({
        mission: 'sentinel-3a',
        cycle: 81,
        number: 5,
        startedAt: NOON - 60,
        endedAt: NOON + 60,
        bounds,
        observations,
      })
    },
  }
  const { buoys, ids } = await build(out, [source])
  assert.deepEqual(buoys, ['Sky V2'])
  assert.deepEqual([...readPasses((await partOf(out, 'passes'))!, 'f').buoy], ids)
})

test('The words of the configuration about a network replace the adapter’s own.', async (t) => {
  const out = folderOf(t)
  const info = { network: 'coastal', credit: 'thanks', licence: 'free' } as const
  await build(out, [configured('feed', [buoy('North', 'A', 10)], { terms: terms('feed', { info }) })])
  assert.deepEqual((await catalogOf(out)).sources, [{ name: 'North', label: null, aliases: [], ...info }])
})

test('Readings of a clock gone wrong neither set the time of the snapshot nor enter it.', async (t) => {
  const wrong = buoy('North', 'B', 20, NOON + 86_400 * 365)
  const { asOf, readings } = await build(folderOf(t), [configured('feed', [buoy('North', 'A', 10), wrong])], {
    latest: NOON + 3600,
  })
  assert.deepEqual([asOf, readings], [NOON, 1])
})

test('A buoy of two networks is the preferred one’s, unless that has fallen silent.', async (t) => {
  const out = folderOf(t)
  // 0.008 degrees are 0.9 km.
  const pair = (north: number | null, south: number | null): Source[] => [
    configured('north', [buoy('North', 'N', 10, north), buoy('North', 'far', 50)]),
    configured('south', [buoy('South', 'S', 10.008, south)], {}, [SOUTH]),
  ]
  const prefer = ['South', 'North']
  const first = await build(out, pair(NOON, NOON - 3600), { prefer })
  assert.deepEqual(first.buoys, ['North far', 'South S'])
  const [{ times, examples }] = first.document.duplicates
  assert.deepEqual([times, examples, first.readings], [1, ['"North N: South S is 0.89 km away"'], 2])
  // South mentions its buoy without a reading: what the folder has of it counts.
  for (const [north, south, buoys, more] of [
    [NOON - 3600 + 86_400, null, 2, { prefer }],
    [NOON + 86_400, null, 3, { prefer }],
    [NOON + 86_400, NOON + 86_000, 2, { prefer }],
    [NOON, NOON, 3, { prefer, sameWithinKm: 0.8 }],
    [NOON, NOON, 3, { prefer: ['South'] }],
  ] as const)
    assert.equal(
      (await build(out, pair(north, south), { ...more, prefer: [...more.prefer] })).buoys.length,
      buoys,
    )
})

test('An order of networks that names one which no source has is a warning with the networks that there are.', async (t) => {
  const sources = [
    configured('feed of the south', [buoy('South', 'S', 10)], {}, [SOUTH]),
    configured('north', [buoy('North', 'N', 10.008)]),
  ]
  const out = folderOf(t)
  const said = async (given: Source[], prefer: string[]): Promise<string> => {
    const lines: string[] = []
    const report = silentReport((...event) => void lines.push(lineText(...event)))
    await build(out, given, { prefer, allowLoss: 1, report })
    return lines.join('\n')
  }
  const warning =
    /warning: grave: "prefer" .* names "feed of the south", but the networks of its sources are North, South: /
  assert.match(await said(sources, ['North', 'feed of the south']), warning)
  assert.doesNotMatch(await said(sources, ['South', 'North']), /"prefer"/)
  // A network that the folder has is known while nobody mentions it.
  assert.doesNotMatch(await said(sources.slice(1), ['South', 'North']), /"prefer"/)
})

test('What is left out has a preferred living neighbour that stays, and what stays has none.', () => {
  const records: fc.Arbitrary<BuoyRecord[]> = fc.array(
    fc.record({
      source: fc.constantFrom('A', 'B', 'C', 'D'),
      identifier: fc.uuid(),
      name: fc.constant('x'),
      lat: fc.integer({ min: 0, max: 30 }).map((step) => step * 0.004),
      lng: fc.constantFrom(179.999, -179.999),
      virtual: fc.boolean(),
    }),
    { maxLength: 25 },
  )
  fc.assert(
    fc.property(records, fc.func(fc.integer({ min: -1, max: 200_000 })), (buoys, newestOf) => {
      const newest = ({ identifier }: BuoyRecord): number => newestOf(identifier)
      const prefer = ['B', 'A', 'C']
      const out = leaveOut(pairsWithin(1, buoys, prefer), newest)
      const gone = new Set(out.map(({ leftOut }) => leftOut))
      assert.equal(gone.size, out.length, 'each once')
      for (const { leftOut, stays, km } of out) {
        assert.ok(!gone.has(stays) && km <= 1, 'for one that stays')
        assert.ok(prefer.indexOf(stays.source) < prefer.indexOf(leftOut.source), 'of a preferred network')
        assert.ok(newest(stays) + 86_400 >= newest(leftOut), 'that lives')
        assert.ok(leftOut.virtual !== true && stays.virtual !== true, 'both of them real')
      }
    }),
  )
})

test('A buoy that stays unmentioned is left out where a preferred network has it, and keeps another one out.', async (t) => {
  const out = folderOf(t)
  const feed = (source: string, network: typeof NORTH | typeof SOUTH, buoys: FakeBuoy[]): Source =>
    configured(source, buoys, { complete: false, terms: terms(source) }, [network])
  const [north, far] = [buoy('North', 'N', 10), buoy('North', 'far', 50)]
  const [south, away] = [buoy('South', 'S', 10.008), buoy('South', 'away', -40)]
  const both = [feed('north', NORTH, [north, far]), feed('south', SOUTH, [south, away])]
  const prefer = ['South', 'North']
  assert.equal((await build(out, both)).buoys.length, 4)
  // Nobody mentions the buoy of the north.
  const withoutNorth = [feed('north', NORTH, [far]), feed('south', SOUTH, [south, away])]
  const first = await build(out, withoutNorth, { prefer, allowLoss: 1 })
  assert.deepEqual(first.buoys, ['North far', 'South S', 'South away'])
  assert.deepEqual(first.document.duplicates[0].examples, ['"North N: South S is 0.89 km away"'])
  // Nobody mentions the buoy of the south, which stays and keeps the one of the north out.
  const withoutSouth = [feed('north', NORTH, [north, far]), feed('south', SOUTH, [away])]
  assert.deepEqual((await build(out, withoutSouth, { prefer, allowLoss: 1 })).buoys, first.buoys)
})
