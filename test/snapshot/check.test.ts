/** Every rule that a part has to hold, broken once. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkPart } from '../../src/snapshot/check-snapshot.ts'
import {
  pack,
  sha256,
  SnapshotError,
  type Part,
  type PartEntry,
  type PartKind,
} from '../../src/snapshot/snapshot-format.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { MEASURE_NAMES, type Column } from '../../src/sea/columns.ts'
import { loadSnapshot, verifyParts, type LoadedSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { everythingSource } from '../builder/everything_source.ts'
import { build } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()
const lies = join(folder, 'lies')
mkdirSync(lies)

let snapshot: LoadedSnapshot | null = null

/**
 * A part of a good snapshot, in memory of its own that a test may spoil; of readings the newest month, which
 * has all columns.
 */
async function goodPart(kind: PartKind): Promise<{ part: Part; entry: PartEntry }> {
  if (snapshot === null) {
    await build([everythingSource()], folder)
    snapshot = await loadSnapshot(folder)
  }
  const found = snapshot.parts.findLast(({ entry }) => entry.kind === kind) ?? assert.fail(kind)
  const part = decodePart(found.bytes.slice(), found.entry.file)
  finish(checkPart(part, found.entry))
  return { part, entry: { ...found.entry } }
}

type Spoil = (part: Part, entry: PartEntry) => void
/** For what changes the part alone. */
const ENTRY = {} as PartEntry

/**
 * Each rule by what its error says, the same of a part in memory and of one that is read from a file with the
 * right hash.
 */
async function eachIsRefused(kind: PartKind, rules: [why: RegExp, spoil: Spoil][]): Promise<void> {
  for (const [why, spoil] of rules) {
    const { part, entry } = await goodPart(kind)
    spoil(part, entry)
    let said = ''
    assert.throws(
      () => finish(checkPart(part, entry)),
      (error) => {
        said = (error as Error).message
        return error instanceof SnapshotError && why.test(said) && said.startsWith(entry.file)
      },
      `${why} ${String(spoil)}`,
    )
    if (entry.kind !== part.kind) continue
    const bytes = encodePart(part)
    writeFileSync(join(lies, entry.file), bytes)
    await assert.rejects(verifyParts(lies, [{ ...entry, bytes: bytes.length, sha256: sha256(bytes) }]), {
      name: 'SnapshotError',
      message: said,
    })
  }
}

const column = (part: Part, name: string): Column => part.columns.get(name) ?? assert.fail(name)

/** Sets one value of a column. */
const set =
  (name: string, at: number, value: number): Spoil =>
  (part) => {
    column(part, name)[at] = value
  }

/** Puts other values into a column. */
const put =
  (name: string, ...values: number[]): Spoil =>
  (part) => {
    const ColumnArray = column(part, name).constructor as Uint32ArrayConstructor
    part.columns.set(name, ColumnArray.from(values))
  }

const texts = (part: Part, name: string): string[] => part.meta[name] as string[]

const says =
  (name: string, value: unknown): Spoil =>
  (part) => {
    part.meta[name] = value
  }

/** Sets one member of a list, or a field of that member. */
const saysAt =
  (name: string, at: number, value: unknown, field?: string): Spoil =>
  (part) => {
    const members = part.meta[name] as { [field: string]: unknown }[]
    if (field === undefined) Object.assign(members, { [at]: value })
    else members[at][field] = value
  }

/** Repeats a value of columns where the next one stands. */
const repeat =
  (...names: string[]): Spoil =>
  (part) => {
    for (const name of names) column(part, name)[1] = column(part, name)[0]
  }

const KINDS = [
  'catalog',
  'readings',
  'weather',
  'aggregates',
  'spectra',
  'passes',
  'forecast',
  'tides',
] as const

for (const kind of KINDS) {
  test(`A part of kind ${kind} with a column missing, of another type or a value short is refused.`, async () => {
    const { part: good } = await goodPart(kind)
    for (const [name, { length }] of good.columns) {
      const isMeasure = (MEASURE_NAMES as readonly string[]).includes(name)
      const isDirection = ['direction', 'principal', 'r1', 'r2'].includes(name)
      const isOptional = (isDirection || isMeasure) && kind !== 'forecast' && name !== 'significantHeight'
      const rules: [RegExp, Spoil][] = [
        [
          new RegExp(`column ${name} `),
          (part) => {
            const Other = column(part, name) instanceof Int32Array ? Float64Array : Int32Array
            part.columns.set(name, Other.from(column(part, name) as Float64Array))
          },
        ],
      ]
      if (!isOptional) rules.push([/column|significant heights/, (part) => void part.columns.delete(name)])
      if (length > 0) rules.push([/./, (part) => put(name, ...column(part, name).subarray(1))(part, ENTRY)])
      await eachIsRefused(kind, rules)
    }
  })
}

test('A catalogue that breaks a rule is refused.', async () => {
  await eachIsRefused('catalog', [
    [/the manifest says readings/, (_, entry) => void (entry.kind = 'readings')],
    [/differ in length/, (_, entry) => void entry.rows++],
    ...['names', 'slugs', 'identifiers', 'timezones'].map((name): [RegExp, Spoil] => [
      /differ in length/,
      (part) => void texts(part, name).pop(),
    ]),
    [/holds something that is not text/, saysAt('names', 0, 5)],
    [/names: is not a list/, says('names', 'Alpha')],
    [/a source is malformed/, saysAt('sources', 0, 'other', 'network')],
    [/countries holds something that is not text/, saysAt('countries', 0, 5, 'code')],
    [/registry: an entry has no id/, says('registry', pack([['a', 'b', '1', 'c']]))],
    [/registry: is not a byte string/, says('registry', 5)],
    [/registry: is not a list/, says('registry', pack(5))],
    [/registry: is not MessagePack/, says('registry', Uint8Array.of(0x92))],
    [/ids do not ascend/, set('id', 0, 0)],
    [/ids do not ascend/, set('id', 1, 1)],
    [/ids do not ascend/, set('id', 3, 900_001)],
    [/not on the globe/, set('lat', 0, 90.001)],
    [/not on the globe/, set('lat', 0, NaN)],
    [/not on the globe/, set('lng', 2, -180.001)],
    [/not on the globe/, set('lng', 2, Infinity)],
    [/ids of spots do not ascend/, set('spot_id', 0, 0)],
    [/ids of spots do not ascend/, set('spot_id', 1, 7)],
    [/a spot is not on the globe/, set('spot_lat', 0, 91)],
    [/has no source/, set('source', 1, 3)],
    [/unknown country/, set('country', 1, 5)],
    [/a buoy is neither physical nor virtual/, set('virtual', 0, 2)],
    [/a buoy has no time zone/, saysAt('timezones', 0, '')],
    [/a buoy has no time zone/, saysAt('timezones', 0, 'Europe/Paris"')],
    [/holds a text of 2001 characters/, saysAt('names', 0, 'x'.repeat(2001))],
    [/or more than 64 names of one/, saysAt('sources', 0, Array.from({ length: 65 }, String), 'aliases')],
    [/codes of countries/, saysAt('countries', 1, 'FR', 'code')],
    [/codes of countries/, saysAt('countries', 0, '__proto__', 'code')],
    [/a source occurs twice/, saysAt('sources', 0, 'South', 'name')],
    [/sources holds something that is not text/, saysAt('sources', 0, 7, 'credit')],
    [/search text is not that of its names/, saysAt('names', 0, 'Other')],
    [/search text is not that of its names/, set('words_text', 0, 0)],
    [/search text is not that of its names/, set('words_owner', 0, 9)],
    [/search text is not that of its names/, set('words_place', 0, 255)],
    [/search index is not in order/, set('words_suffixes', 0, 4_000_000_000)],
    [/order of names/, set('words_rank', 0, 4_000_000_000)],
    [/tree of points is not that of its buoys/, set('lat', 0, 45.6)],
    ...[0, 4, 8, 20, 60].map((at): [RegExp, Spoil] => [
      /tree of points is not that of its buoys/,
      (part) => void (column(part, 'points')[at] ^= 5),
    ]),
    ...[0, 2, 4, 8, 100].map((at): [RegExp, Spoil] => [
      /tree of boxes is not that of its buoys/,
      (part) => void (column(part, 'boxes')[at] ^= 5),
    ]),
    [/tree of boxes is not that of its buoys/, (part) => void part.columns.set('boxes', new Uint8Array(0))],
    [/a slug occurs twice/, (part) => void (texts(part, 'slugs')[0] = texts(part, 'slugs')[1])],
  ])
})

test('A month of readings that breaks a rule is refused.', async () => {
  const march = Date.parse('2026-03-01T00:00:00Z') / 1000
  await eachIsRefused('readings', [
    [/rows, the manifest says/, (_, entry) => void entry.rows++],
    [/rows and buoys disagree/, set('start', 0, 1)],
    [/rows and buoys disagree/, (part) => set('start', column(part, 'start').length - 1, 2)(part, ENTRY)],
    [/rows and buoys disagree/, set('start', 1, 0)],
    [/rows and buoys disagree/, set('start', 1, 4_000_000_000)],
    [/buoys do not ascend/, repeat('buoy')],
    [/outside the month/, set('time', 0, march - 1)],
    [/is not of 2026-04/, (_, entry) => void (entry.month = (entry.month ?? 0) + 1)],
    [
      /outside the month/,
      (part) => set('time', column(part, 'time').length - 1, march + 31 * 86_400)(part, ENTRY),
    ],
    [/times of a buoy do not ascend/, repeat('time')],
    [/buoys do not ascend/, set('buoy', 0, 0)],
    [/is not of 2026-03/, (part) => void (part.meta.month = '2026-04')],
    [/aliases: is not a map/, (part) => void (part.meta.aliases = 'period')],
    ...[{ direction: 'windDirection' }, { peakPeriod: 'windSpeed' }, { constructor: 'period' }].map(
      (aliases): [RegExp, Spoil] => [
        /an alias is not of the peak period for the period/,
        (part) => void (part.meta.aliases = aliases),
      ],
    ),
    [/significantHeight has a value outside/, set('significantHeight', 0, 65_535)],
    [/waterTemperature has a value outside/, set('waterTemperature', 0, -501)],
  ])
})

test('A month of weather that breaks a rule is refused.', async () => {
  await eachIsRefused('weather', [
    [/the manifest says readings/, (_, entry) => void (entry.kind = 'readings')],
    [/windSpeed has a value outside/, set('windSpeed', 0, 50_001)],
  ])
})

test('A month of spectra that breaks a rule is refused.', async () => {
  await eachIsRefused('spectra', [
    [/rows, the manifest says/, (_, entry) => void entry.rows++],
    [/is not of 2026-04/, (_, entry) => void (entry.month = (entry.month ?? 0) + 1)],
    [/times of a buoy do not ascend/, repeat('time')],
    [/rows and buoys disagree/, set('start', 0, 1)],
    [/buoys do not ascend/, set('buoy', 0, 0)],
    [/spectra and bands disagree/, set('set', 0, 2)],
    [/spectra and bands disagree/, set('set', 0, 1)],
    [/spectra and bands disagree/, set('first', 0, 1)],
    [/spectra and bands disagree/, set('first', 1, 4_000_000_000)],
    ...[0, -1, NaN, Infinity, 100_001].map((peak): [RegExp, Spoil] => [
      /greatest density is outside its limits/,
      set('peak', 0, peak),
    ]),
    [/a spectrum has no greatest density/, set('density', 1, 65_534)],
    [/direction has a value outside its limits/, set('direction', 0, 36_000)],
    [/principal has a value outside its limits/, set('principal', 0, 65_534)],
    [/r1 has a value outside its limits/, set('r1', 2, 201)],
    [/r2 has a value outside its limits/, set('r2', 2, 254)],
    [/frequencies of the bands do not ascend/, set('frequency', 0, 0)],
    [/frequencies of the bands do not ascend/, set('frequency', 0, NaN)],
    [/frequencies of the bands do not ascend/, repeat('frequency')],
    [/have not each a width/, set('bandwidth', 0, 0)],
    [/fewer than 2 or more than 256 bands/, set('set_start', 1, 1)],
    [
      /a set of bands twice/,
      (part) => {
        put('set_start', 0, 3, 6)(part, ENTRY)
        put('frequency', 0.05, 0.1, 0.2, 0.05, 0.1, 0.2)(part, ENTRY)
        put('bandwidth', 0.01, 0.05, 0.1, 0.01, 0.05, 0.1)(part, ENTRY)
      },
    ],
  ])
})

test('A year of aggregates that breaks a rule is refused.', async () => {
  const streamOf = (part: Part, width: number): number => {
    const streams = column(part, 'streams')
    for (let at = 0; at < streams.length; at += 4) {
      if (streams[at + 2] === width) return at
    }
    return assert.fail(`no stream of ${width} bytes`)
  }
  const spoilStream =
    (width: number, word: number, value: number): Spoil =>
    (part) => {
      column(part, 'streams')[streamOf(part, width) + word] = value
    }
  await eachIsRefused('aggregates', [
    [/the manifest says weather/, (_, entry) => void (entry.kind = 'weather')],
    [/is not of the year that the manifest says/, (part) => void (part.meta.year = 2025)],
    [/is not of the year that the manifest says/, (_, entry) => void entry.month!++],
    [/made_from holds something that is not text/, (part) => void delete part.meta.made_from],
    [/zones: is not a list/, (part) => void (part.meta.zones = 'UTC')],
    [/zones holds something that is not text/, (part) => void (part.meta.zones = [['UTC', 1]])],
    [/buoys do not ascend/, set('buoy', 0, 0)],
    [/buoys do not ascend/, set('buoy', 1, 1)],
    [/a buoy has no zone/, set('zone', 0, 3)],
    [/a buoy has no zone/, set('zone', 0, 0xffff)],
    [/a day lies outside the year/, set('first', 0, 365)],
    [/a day lies outside the year/, set('days', 0, 400)],
    [/a stream lies outside its column/, spoilStream(1, 2, 3)],
    [/a stream lies outside its column/, spoilStream(1, 3, 1_000_000)],
    [/a stream lies outside its column/, spoilStream(1, 3, -1)],
    [/a stream has an impossible step/, spoilStream(1, 1, -1)],
    [/a stream has an impossible step/, spoilStream(1, 0, 2 ** 30)],
    [/has a value outside its limits/, spoilStream(0, 0, 2501)],
    [/has a value outside its limits/, spoilStream(0, 0, -1)],
    [/aggregates, the manifest says/, (_, entry) => void entry.rows++],
  ])
})

test('A forecast that breaks a rule is refused.', async () => {
  await eachIsRefused('forecast', [
    [/the manifest says 241/, (_, entry) => void entry.rows++],
    [/not on the globe/, set('lat', 1, 91)],
    [/not in order/, set('lat', 0, 50)],
    [/not in order/, repeat('lat', 'lng')],
    [/rows and points disagree/, set('start', 1, 0)],
    [/rows and points disagree/, set('start', 2, 241)],
    [/a point do not ascend/, repeat('time')],
    [/of no model/, set('model', 0, 1)],
    [/waveHeight has a value outside/, set('waveHeight', 0, 25_001)],
    [/windDirection has a value outside/, set('windDirection', 0, 36_000)],
  ])
})

test('Passes that break a rule are refused.', async () => {
  /** Sets a value so much above that of another column. */
  const above =
    (name: string, at: number, other: string, by: number): Spoil =>
    (part) => {
      column(part, name)[at] = column(part, other)[at] + by
    }
  /** Gives the first pass two observations of these buoys at one time. */
  const observed =
    (...buoys: number[]): Spoil =>
    (part, entry) => {
      const time = column(part, 'time')[0]
      put('first', 0, 2, 2, 2)(part, entry)
      put('buoy', ...buoys)(part, entry)
      put('time', time, time)(part, entry)
    }
  await eachIsRefused('passes', [
    [/the manifest says 4/, (_, entry) => void entry.rows++],
    [/a mission that this program does not know/, set('mission', 1, 99)],
    [/impossible numbers/, set('cycle', 1, 100_000)],
    [/impossible numbers/, set('number', 1, 0)],
    [/not newest first/, (part) => set('started', 1, column(part, 'started')[0] + 1)(part, ENTRY)],
    [/impossible time or position/, above('ended', 1, 'started', -1)],
    [/impossible time or position/, set('south', 1, 67)],
    [/impossible time or position/, set('north', 1, NaN)],
    [/impossible time or position/, set('west', 1, 181)],
    [/passes and observations disagree/, set('first', 3, 2)],
    [/passes and observations disagree/, set('first', 1, 3)],
    [/passes and observations disagree/, set('first', 0, 1)],
    [/observations of a pass do not ascend/, observed(2, 1)],
    [/observations of a pass do not ascend/, observed(2, 2)],
    [/observations of a pass do not ascend/, set('buoy', 0, 0)],
    [/outside its pass/, above('time', 0, 'started', -1)],
    [/outside its pass/, above('time', 0, 'ended', 1)],
  ])
})

test('Harbours that break a rule are refused.', async () => {
  const names = ['K1', 'M2', 'M4', 'O1']
  await eachIsRefused('tides', [
    [/rows and harbours disagree/, set('start', 1, 0)],
    [/rows and harbours disagree/, set('start', 1, 4_000_000_000)],
    [/rows and harbours disagree/, set('start', 3, 14)],
    [/identifiers do not ascend/, says('identifiers', ['h0', 'h2', 'h1'])],
    [/names of constituents do not ascend/, says('constituents', ['M2', 'K1', 'M4', 'O1', 'S2'])],
    ...['Y7Z', 's2', '9O9O9O27', 'M98'].map((name): [RegExp, Spoil] => [
      new RegExp(`"${name}" is not known`),
      says('constituents', [...names, name]),
    ]),
    [/names 513 constituents, at most 512/, says('constituents', Array<string>(513).fill('M2'))],
    [
      /a harbour has 600 constituents, at most 512 are read/,
      (part, entry) => {
        put('start', 0, 1, 2, 602)(part, entry)
        for (const name of ['constituent', 'amplitude', 'phase'])
          put(name, ...Array<number>(602).fill(0))(part, entry)
      },
    ],
    [/a constituent has no name/, set('constituent', 0, 5)],
    [/a harbour has no credit/, set('credit', 1, 7)],
    [/not on the globe/, set('lat', 1, 91)],
    [/impossible datum/, set('datum_offset', 1, NaN)],
    [/impossible datum/, set('datum_offset', 1, 1e300)],
    [/value outside its limits/, set('amplitude', 1, NaN)],
    [/value outside its limits/, set('amplitude', 1, 21)],
    [/value outside its limits/, set('phase', 1, -1)],
  ])
})
