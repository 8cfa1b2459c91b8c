/** A build as a whole: its time, that its bytes depend on the data alone, and what a failed one leaves. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { SnapshotError, type PartKind } from '../../src/snapshot/snapshot-format.ts'
import { MANIFEST_FILE } from '../../src/snapshot/manifest.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { loadSnapshot, readManifest } from '../../src/snapshot/read-snapshot.ts'
import { type Source } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { batchOf, build, fakeSource, NETWORKS, SMALL_WORLD, type FakeBuoy, catalogOf } from './fake_source.ts'
import { folderOfFile } from '../live.ts'

const root = folderOfFile()

let folders = 0
const newFolder = (): string => join(root, String(folders++))

const at = (text: string): number => Date.parse(text) / 1000

/** Every file of a folder and the hash of its bytes. */
function hashes(dir: string): { [file: string]: string } {
  const files = readdirSync(dir).toSorted()
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(dir, file)))
        .digest('hex'),
    ]),
  )
}

/** All rows of a kind of part as text, `IDENTIFIER TIME`, in order. */
async function rowsOf(dir: string, kind: PartKind): Promise<string[]> {
  const { parts } = await loadSnapshot(dir)
  const decoded = parts.map(({ entry, bytes }) => ({
    entry,
    part: decodePart(bytes, entry.file),
  }))
  const { id, identifiers } = await catalogOf(dir)
  return decoded
    .filter(({ entry }) => entry.kind === kind)
    .flatMap(({ entry, part }) => {
      const { buoys, start, time } = readMonth(part, entry.month ?? assert.fail('no month'), entry.file)
      return Array.from(buoys).flatMap((buoy, i) =>
        Array.from(time.subarray(start[i], start[i + 1]), (epoch) =>
          [identifiers[id.indexOf(buoy)], new Date(epoch * 1000).toISOString().slice(0, 16)].join(' '),
        ),
      )
    })
}

const READINGS = [
  'N1 2026-02-28T23:30',
  'N1 2026-03-01T00:00',
  'N1 2026-03-27T09:00',
  '02B 2026-03-02T12:00',
  'V1 2026-03-26T00:00',
]

test('Without --as-of a snapshot is of the newest reading, and later rows without waves are left out.', async () => {
  const dir = newFolder()
  const [alpha, ...others] = SMALL_WORLD
  const windy = { ...alpha, rows: [...alpha.rows, { time: at('2026-03-27T09:10:00Z'), windSpeed: 100 }] }
  const { asOf } = await build([fakeSource([windy, ...others])], dir)
  assert.equal(asOf, at('2026-03-27T09:00:00Z'))
  assert.deepEqual(await rowsOf(dir, 'readings'), READINGS)
  assert.deepEqual(await rowsOf(dir, 'weather'), ['N1 2026-03-01T00:30'])
})

test('Rows after the time asked for are left out, rows at it are not.', async () => {
  const cases: [asOf: string, readings: number][] = [
    ['2026-03-27T09:00:00Z', 5],
    ['2026-03-27T08:59:59Z', 4],
    ['2026-03-02T12:00:00Z', 3],
    ['2026-03-01T00:00:00Z', 2],
    ['2026-02-28T23:29:59Z', 0],
    ['2030-01-01T00:00:00Z', 5],
  ]
  for (const [asOf, count] of cases) {
    const dir = newFolder()
    const manifest = await build([fakeSource(SMALL_WORLD)], dir, { asOf: at(asOf) })
    assert.equal(manifest.asOf, at(asOf))
    const expected = READINGS.filter((row) => Date.parse(`${row.slice(-16)}:00Z`) / 1000 <= at(asOf))
    assert.equal(expected.length, count)
    assert.deepEqual(await rowsOf(dir, 'readings'), expected)
  }
})

test('Rows of the folder after the time asked for go, also in months of which no new row comes.', async () => {
  const dir = newFolder()
  await build([fakeSource(SMALL_WORLD)], dir)
  const early = SMALL_WORLD.map((buoy) => ({ ...buoy, rows: buoy.rows.slice(0, 1) }))
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  const options = { asOf: at('2026-03-01T00:00:00Z'), allowLoss: 1, write }
  await build([fakeSource([early[0], early[2]])], dir, options)
  assert.ok(lines.some((line) => line.includes('no mirror takes this one')))
  assert.deepEqual(await rowsOf(dir, 'readings').then((rows) => rows.length), 2)
})

test('Of sources that know the time of their data the latest counts, unless a time is asked for.', async () => {
  const known = (time: string): Source => ({
    ...fakeSource(SMALL_WORLD),
    defaultAsOf: (now) => now + at(time),
  })
  const times = ['2026-03-05T00:00:00Z', '2026-03-07T00:00:00Z']
  const sources = [known(times[0]), known(times[1]), fakeSource(SMALL_WORLD)]
  assert.equal((await build(sources, newFolder(), { now: 60 })).asOf, at(times[1]) + 60)
  assert.equal((await build(sources, newFolder(), { asOf: at(times[0]) })).asOf, at(times[0]))
})

test('The same data gives the same bytes, whatever the folder and the order and size of deliveries.', async () => {
  const first = newFolder()
  const manifest = await build([fakeSource(SMALL_WORLD)], first)
  const expected = hashes(first)
  assert.ok(Object.keys(expected).length >= 4)
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(SMALL_WORLD, { minLength: SMALL_WORLD.length }),
      fc.shuffledSubarray(NETWORKS, { minLength: NETWORKS.length }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      fc.boolean(),
      async (buoys, networks, batch, reversed, apart) => {
        const turned = buoys.map((buoy) => ({ ...buoy, rows: reversed ? buoy.rows.toReversed() : buoy.rows }))
        const sources = apart
          ? turned.map((buoy) => fakeSource([buoy], networks, batch))
          : [fakeSource(turned, networks, batch)]
        const dir = newFolder()
        const { id } = await build(sources, dir, { now: 12_345 })
        assert.equal(id, manifest.id)
        assert.deepEqual(hashes(dir), expected)
      },
    ),
    { numRuns: 12 },
  )
})

test('A folder that grew by builds, with rows that came late or were corrected, holds what one build of all rows makes.', async () => {
  const row = fc.record({ buoy: fc.nat(2), day: fc.nat(70), significantHeight: fc.nat(25_000) })
  const worldOf = (rows: { buoy: number; day: number; significantHeight: number }[]): FakeBuoy[] =>
    SMALL_WORLD.slice(0, 3).map((one, i) => ({
      ...one,
      rows: rows
        .filter(({ buoy }) => buoy === i)
        .map(({ day, significantHeight }) => ({
          time: at('2026-01-30T00:00:00Z') + day * 86_400,
          significantHeight,
        })),
    }))
  const steps = fc.array(fc.array(row, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const grown = newFolder()
      for (const rows of all) await build([fakeSource(worldOf(rows))], grown)
      const { id, parts } = await build([fakeSource(worldOf(all.flat()))], newFolder())
      const found = (await readManifest(grown))!
      assert.deepEqual([found.parts, found.id], [parts, id])
    }),
    { numRuns: 12 },
  )
})

test('A buoy that two sources know is one, and the later one only fills what the earlier one left out.', async () => {
  const dir = newFolder()
  const rows = [{ time: 1_774_602_000, significantHeight: 1000 }]
  const one: FakeBuoy = {
    source: 'North',
    identifier: 'X',
    name: '  Two\u0000 \n words ',
    lat: 43.5,
    lng: -1.6,
    rows,
  }
  const two: FakeBuoy = {
    ...one,
    name: 'Other',
    lat: 0,
    country: 'ES',
    rows: [{ time: 1_774_600_200, significantHeight: 900 }],
  }
  await build([fakeSource([one]), fakeSource([two])], dir)
  const catalog = await catalogOf(dir)
  assert.deepEqual(catalog.names, ['Two words'])
  assert.deepEqual([catalog.lat[0], catalog.countries[catalog.country[0]].code], [43.5, 'ES'])
  assert.equal((await rowsOf(dir, 'readings')).length, 2)
})

test('The time of publication is that of the manifest file.', async () => {
  const dir = newFolder()
  await build([fakeSource(SMALL_WORLD)], dir)
  utimesSync(join(dir, MANIFEST_FILE), 1_800_000_000.9, 1_800_000_000.9)
  assert.equal((await loadSnapshot(dir)).publishedAt, 1_800_000_000)
})

/** Reads the small world and then meets a fault. */
function failing(fault: Error): Source {
  return {
    async read(sink, context) {
      await fakeSource(SMALL_WORLD).read(sink, context)
      throw fault
    },
  }
}

const highWaves = SMALL_WORLD.map((buoy) => ({
  ...buoy,
  rows: [{ time: at('2026-03-27T09:00:00Z'), significantHeight: 25_001 }],
}))
const strange: Source = {
  async read(sink) {
    sink.rows(sink.buoy({ source: 'Nowhere', identifier: 'X', name: 'X', lat: 0, lng: 0 }), batchOf([]))
    await Promise.resolve()
  },
}
const otherNetwork = fakeSource([], [{ name: 'North', network: 'coastal' }])

const FAULTS: [what: string, sources: Source[], error: RegExp][] = [
  ['a fault of the input', [failing(new BuildError('garbled'))], /^BuildError: .*garbled/],
  ['a fault of ours', [failing(new RangeError('out of range'))], /^RangeError: out of range/],
  [
    'a value beyond its limits',
    [fakeSource(highWaves)],
    /^SnapshotError: .*significantHeight has a value outside/,
  ],
  [
    'most buoys gone',
    [fakeSource([SMALL_WORLD[0]])],
    /^BuildError: .*only 1 of the folder's 4 buoys are left/,
  ],
  [
    'a source of two kinds',
    [fakeSource(SMALL_WORLD), otherNetwork],
    /^BuildError: .*source North.*national.*coastal/,
  ],
  ['a buoy of no source', [strange], /^BuildError: .*buoy X names the unknown network Nowhere/],
]

for (const [what, sources, message] of FAULTS) {
  test(`A build that ends with ${what} leaves the old snapshot as it was and nothing temporary.`, async () => {
    const dir = newFolder()
    await build([fakeSource(SMALL_WORLD)], dir)
    const before = hashes(dir)
    await assert.rejects(build(sources, dir), message)
    const now = hashes(dir)
    for (const [file, hash] of Object.entries(before)) assert.equal(now[file], hash, file)
    const others = Object.keys(now).filter((file) => !(file in before))
    assert.deepEqual(
      others.filter((file) => !/^[a-z]+-[0-9a-f]{32}\.msgpack$/.test(file)),
      [],
    )
  })
}

test('A folder whose manifest is broken is not built into and loses no part, however old; the error names the file.', async () => {
  for (const content of ['', 'no manifest', Buffer.from([0x81, 0xa6])]) {
    const dir = newFolder()
    await build([fakeSource(SMALL_WORLD)], dir)
    // As a copy of the folder has it: without the manifests that are kept to go back to.
    for (const file of readdirSync(dir)) {
      if (file.startsWith('manifest-')) rmSync(join(dir, file))
    }
    writeFileSync(join(dir, MANIFEST_FILE), content)
    const before = hashes(dir)
    await assert.rejects(
      build([fakeSource(SMALL_WORLD)], dir, { now: 4e9 }),
      (error) => error instanceof SnapshotError && error.message.includes(MANIFEST_FILE),
    )
    assert.deepEqual(hashes(dir), before)
  }
  const dir = newFolder()
  mkdirSync(join(dir, MANIFEST_FILE), { recursive: true })
  await assert.rejects(build([fakeSource(SMALL_WORLD)], dir), /manifest\.msgpack: is not a regular file/)
})

test('A folder whose catalogue is gone is not built into: ids would be given anew.', async () => {
  const dir = newFolder()
  await build([fakeSource(SMALL_WORLD)], dir)
  const catalogue = readdirSync(dir).find((file) => file.startsWith('catalog')) ?? assert.fail('no catalogue')
  rmSync(join(dir, catalogue))
  await assert.rejects(
    build([fakeSource(SMALL_WORLD)], dir),
    (error) => error instanceof SnapshotError && error.message.startsWith(catalogue),
  )
})

test('A part that was damaged on disk is never carried over; a fresh build of the same data writes it anew.', async () => {
  const dir = newFolder()
  await build([fakeSource(SMALL_WORLD)], dir)
  const before = hashes(dir)
  const readings = readdirSync(dir).find((file) => file.startsWith('readings')) ?? assert.fail('no readings')
  writeFileSync(join(dir, readings), 'x')
  await assert.rejects(build([fakeSource(SMALL_WORLD)], dir), (error) =>
    (error as Error).message.startsWith(readings),
  )
  assert.equal(readFileSync(join(dir, readings), 'utf8'), 'x')
  await build([fakeSource(SMALL_WORLD)], dir, { fresh: true })
  assert.deepEqual(hashes(dir), before)
})
