/** The checks of values: a sound sea has no doubt, and each fault has its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { askData, Sample, type SampledBuoy } from '../../src/builder/data-checks.ts'
import { askPositions } from '../../src/builder/position-check.ts'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { newestReport } from '../../src/builder/report-document.ts'
import type { COMMON_NAMES } from '../../src/sea/columns.ts'
import { isInland, kmFromWater } from '../../src/sea/inland.ts'
import demo from '../../src/sources/demo/stations.json' with { type: 'json' }
import { Chance } from '../chance.ts'
import { batchOf, type FakeRow, fakeSource, folderOf, northBuoy, silentReport } from './fake_source.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const START = Date.UTC(2024, 0, 1) / 1000
const ROOM = 1_000_000

type SoundRow = FakeRow & { [name in (typeof COMMON_NAMES)[number]]: number }

/** A year of a made-up sea in the Bay of Biscay, with wind that blows where the waves run. */
function soundSea(seed: number, hours = 24 * 365, step = HOUR): SoundRow[] {
  const chance = new Chance(seed)
  let height = 2000
  let from = 29_000
  return Array.from({ length: hours }, (_, i): SoundRow => {
    height = Math.round(Math.min(9000, Math.max(300, height * (0.95 + 0.1 * chance.next()) + 12)))
    from = Math.round(Math.min(33_000, Math.max(24_000, from + 400 * (chance.next() - 0.5))))
    const peak = Math.round(5000 + 2500 * Math.sqrt(height / 1000) + 2000 * chance.next())
    const wind = Math.round(height / 1.2 + 500 * chance.next())
    return {
      time: START + i * step,
      significantHeight: height,
      maximumHeight: Math.round(height * (1.45 + 0.4 * chance.next())),
      peakPeriod: peak,
      period: Math.round(peak * (0.75 + 0.2 * chance.next())),
      direction: from,
      windSpeed: wind,
      gustSpeed: Math.round(wind * (1.1 + 0.3 * chance.next())),
      windDirection: Math.round(from + 3000 * (chance.next() - 0.5)),
      waterTemperature: Math.round(1400 - 300 * Math.cos((2 * Math.PI * i * step) / (365 * DAY))),
    }
  })
}

function sampled(rows: readonly FakeRow[], place = { lat: 45, lng: -5 }, identifier = 'B1'): SampledBuoy {
  const sample = new Sample()
  sample.add(batchOf(rows), ROOM)
  return { record: { identifier, ...place }, rows: sample.rows }
}

const doubtsOf = (rows: readonly FakeRow[], ...others: SampledBuoy[]): string[] =>
  [...askData([sampled(rows), ...others])].map(({ what, examples }) => `${what}: ${examples![0]}`)

test('A sound sea makes nothing doubtful, whatever its interval and length.', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.constantFrom(HOUR, HOUR / 2, 3 * HOUR, 600),
      (seed, hours, step) => assert.deepEqual(doubtsOf(soundSea(seed, hours, step)), []),
    ),
    { numRuns: 30 },
  )
})

const sound = soundSea(7)
const changed = (change: (row: SoundRow, i: number) => Partial<SoundRow>): SoundRow[] =>
  sound.map((row, i) => ({ ...row, ...change(row, i) }))
const direction = (code: number): number => ((code % 36_000) + 36_000) % 36_000

const FAULTS: readonly [name: string, rows: FakeRow[], what: RegExp][] = [
  ['heights in feet', changed((row) => ({ significantHeight: row.significantHeight * 10 })), /too steep/],
  [
    'columns of heights exchanged',
    changed((row) => ({ significantHeight: row.maximumHeight, maximumHeight: row.significantHeight })),
    /highest wave is below/,
  ],
  [
    'a mean for the maximum',
    changed((row) => ({ maximumHeight: row.significantHeight + 10 })),
    /not 1\.2 to 2\.2 times/,
  ],
  [
    'a maximum of a day',
    changed((row) => ({ maximumHeight: row.significantHeight * 3 })),
    /not 1\.2 to 2\.2/,
  ],
  [
    'periods exchanged',
    changed((row) => ({ period: row.peakPeriod, peakPeriod: row.period * 0.85 })),
    /peak period is shorter/,
  ],
  [
    'centimetres from July on',
    changed((row, i) => ({
      significantHeight: i > 4400 ? Math.round(row.significantHeight / 100) : row.significantHeight,
      maximumHeight: i > 4400 ? Math.round(row.maximumHeight / 100) : row.maximumHeight,
    })),
    /another size than the month before it: B1: 2024-0/,
  ],
  [
    'one column for two',
    changed((row) => ({ gustSpeed: row.windSpeed })),
    /same values in all rows.*gustSpeed/,
  ],
  ['radians', changed((_, i) => ({ direction: (i * 37) % 628 })), /may be radians/],
  [
    'where waves go to',
    changed((row) => ({ direction: direction(row.direction + 18_000) })),
    /opposite to the wind.*against the wind in \d+ of \d+ rows/,
  ],
  ['Fahrenheit', changed(() => ({ waterTemperature: 4400 })), /no sea of the latitude/],
  [
    'gusts for wind',
    changed((row) => ({ gustSpeed: row.windSpeed, windSpeed: row.gustSpeed })),
    /gusts are below/,
  ],
  ['another unit of time', changed((row) => ({ time: Math.round(row.time / 1000) })), /before 1975/],
  [
    'an hour that is not read',
    changed((_, i) => ({ time: START + Math.floor(i / 24) * DAY + (i % 24) * 60 })),
    /one hour of the day/,
  ],
  [
    'days for months',
    sound.flatMap((row) => {
      const [date, clock] = new Date(row.time * 1000).toISOString().split('T')
      const [year, month, day] = date.split('-')
      return Number(day) > 12 ? [] : [{ ...row, time: Date.parse(`${year}-${day}-${month}T${clock}`) / 1000 }]
    }),
    /no row is of a day above the 12th/,
  ],
]

test('Each fault of a column shows in its values, and is named with a buoy and a count.', () => {
  assert.deepEqual(doubtsOf(sound), [])
  for (const [name, rows, what] of FAULTS) {
    const doubts = doubtsOf(rows)
    assert.ok(
      doubts.some((doubt) => what.test(doubt)),
      `${name}: ${doubts.join('; ') || 'nothing'}`,
    )
  }
})

test('Days and months that are exchanged show in the order of the rows.', () => {
  const early = sound.filter(
    ({ time }) => new Date(time * 1000).getUTCDate() <= 12 && time < START + 12 * DAY,
  )
  const turned = early.map((row) => {
    const date = new Date(row.time * 1000)
    return { ...row, time: Date.UTC(2024, date.getUTCDate() - 1, 1, date.getUTCHours()) / 1000 }
  })
  assert.match(doubtsOf(turned).join('\n'), /only if days and months are exchanged: B1: from 2024-01 on/)
})

test('A buoy without wind is compared with its neighbours in the same hours, of which one is not enough.', () => {
  const calm = sound.map(({ windSpeed: _wind, ...row }) => row)
  const turned = calm.map((row) => ({ ...row, direction: direction(row.direction + 18_000) }))
  const [near, nearToo] = [
    sampled(calm, { lat: 45.5, lng: -5 }, 'N1'),
    sampled(calm, { lat: 44.6, lng: -5 }, 'N2'),
  ]
  const far = sampled(calm, { lat: 20, lng: -40 }, 'F')
  const opposite = (...others: SampledBuoy[]): string[] =>
    doubtsOf(turned, ...others).filter((text) => text.includes('opposite'))
  assert.deepEqual(opposite(near), [])
  assert.deepEqual(opposite(near, far), [])
  assert.match(opposite(near, nearToo).join(), /B1: against 2 of 2 neighbours$/)
})

test('A sample holds the first rows whole and some of all later hours of the day, within its bound.', () => {
  const sample = new Sample()
  for (let at = 0; at < sound.length * 4; at += 1000) {
    sample.add(batchOf(soundSea(at, 1000).map((row, i) => ({ ...row, time: START + (at + i) * HOUR }))), ROOM)
  }
  const times = [...sample.rows.time.subarray(0, sample.rows.length)]
  assert.ok(times.length <= 1536 && times.length > 700, `${times.length} rows`)
  assert.deepEqual(
    times.slice(0, 512),
    Array.from({ length: 512 }, (_, i) => START + i * HOUR),
  )
  assert.equal(new Set(times.slice(512).map((time) => (time / HOUR) % 24)).size, 24)
  const few = new Sample()
  few.add(batchOf(sound), 0)
  assert.ok(few.rows.length <= 64)
})

const placed = demo.stations.map(({ record: { source, identifier, lat, lng } }) => ({
  source,
  identifier,
  lat,
  lng,
}))

test('No buoy of the demo lies inside land, and most are found there when they are turned, with the right turn.', () => {
  assert.deepEqual([...askPositions(placed)], [])
  const turns = [
    ['other sign of its longitude', ({ lat, lng }: Place) => ({ lat, lng: -lng })],
    ['latitude and longitude exchanged', ({ lat, lng }: Place) => ({ lat: lng, lng: lat })],
  ] as const
  for (const [words, turn] of turns) {
    const turned = placed.map((one) => ({ ...one, ...turn(one) })).filter(({ lat }) => Math.abs(lat) <= 90)
    const inland = turned.filter(({ lat, lng }) => isInland(lat, lng))
    const said = [...askPositions(turned)].map(({ examples }) => examples![0])
    assert.equal(said.length, inland.length)
    assert.ok(inland.length > 5, `${words}: ${inland.length}`)
    assert.ok(said.filter((text) => text.includes(words)).length >= 0.95 * said.length, said.join('\n'))
  }
})

interface Place {
  lat: number
  lng: number
}

test('Water is where people know it: lakes with buoys, seas inside continents, the poles and the antimeridian.', () => {
  const wet = [
    [41, 51],
    [47.7, -88],
    [-1, 33],
    [53.5, 108],
    [45.6, 10.7],
    [26, 52],
    [43, 34],
    [90, 0],
    [0, 180],
    [78, 15],
  ]
  for (const [lat, lng] of wet) assert.equal(isInland(lat, lng), false, `${lat} ${lng}`)
  const dry = [
    [46.1, 65],
    [40, -100],
    [-25, 135],
    [23, 10],
    [52, 30],
    [-80, 60],
    [60, 100],
  ]
  for (const [lat, lng] of dry) assert.equal(isInland(lat, lng), true, `${lat} ${lng}`)
  // The middle of Nebraska lies some 900 km from Lake Superior.
  assert.ok(kmFromWater(40, -100) > 700 && kmFromWater(40, -100) < 1300)
  assert.equal(isInland(40, 260), isInland(40, -100))
})

test('A build prints a grave doubt of the data with its remedy, counts it, and publishes all the same.', async (t) => {
  const lines: string[] = []
  const report = silentReport((text) => void lines.push(text))
  const rows = changed((row) => ({ maximumHeight: row.significantHeight * 3 })).slice(0, 300)
  const options = { out: folderOf(t), asOf: rows.at(-1)!.time, now: 0, report }
  const { id } = await buildSnapshot({ sources: [fakeSource([northBuoy('N1', rows)])], ...options })
  assert.equal(newestReport(options.out).snapshot, id)
  const said =
    /grave: the highest wave is not 1\.2 to 2\.2 times the significant height: "N1: half of them .*→ see/
  assert.ok(
    lines.some((line) => said.test(line)),
    lines.join('\n'),
  )
  const doubt = newestReport(options.out).sources[0].doubts.find(({ what }) =>
    what.startsWith('the highest wave'),
  )
  assert.deepEqual([doubt?.grave, doubt?.times], [true, 1])
})
