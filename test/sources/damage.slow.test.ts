/**
 * Files of every kind of source that are cut, swapped and filled with what does not belong there, or made to
 * do harm: read one kind at a time, and as an operator's builds read them, beside a source in order.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type * as Builds from '../../src/builder/run-build.ts'
import type * as Reports from '../../src/builder/build-report.ts'
import { newestReport } from '../../src/builder/report-document.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type * as Kinds from '../../src/sources/kinds.ts'
import { KINDS, openKind } from '../../src/sources/kinds.ts'
import type { OpenSource, Source } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { temporaryFolder } from '../live.ts'
import { EXPECTED } from '../measures.ts'
import { rounds } from '../rounds.ts'
import { FIXTURES, record, type Recording } from './recorder.ts'
import { SAMPLES } from './samples.ts'

/** Bytes and texts that formats are made of, and some that they are not. */
const PIECES = [
  ['', ',', ';', '"', '\n', '\r\n', '\0', '\ufeff', '[', '{', ']', '}', ':', '-', '.', 'NaN', 'null', 'é'],
  ['1e309', '-1e9', '<html>', 'Error', '[[[[[[[[', '{"a":', '9'.repeat(400), '2024-02-30T25:61:00Z'],
  ['__proto__', ',,,,,,,,,,,,', '\ud800'],
]
  .flat()
  .map((text) => Buffer.from(text))

/** One to six cuts, swaps and insertions in a good file. */
function damaged(good: Uint8Array): fc.Arbitrary<Buffer> {
  const place = fc.nat({ max: good.length })
  const change = fc.record({
    at: place,
    length: fc.oneof(fc.nat({ max: 3 }), place),
    put: fc.oneof(
      fc.constantFrom(...PIECES),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record({ from: place, length: fc.nat({ max: 200 }) })
        .map(({ from, length }) => Buffer.from(good.subarray(from, from + length))),
    ),
  })
  return fc.array(change, { minLength: 1, maxLength: 6 }).map((changes) => {
    let bytes = Buffer.from(good)
    for (const { at, length, put } of changes) {
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(Math.min(bytes.length, at + length))])
    }
    return bytes
  })
}

/**
 * Reads a folder of such files: it gives sound rows of buoys with positions, or is refused with a message.
 */
async function assertWithstands(
  open: OpenSource,
  files: { readonly [name: string]: fc.Arbitrary<string | Uint8Array> },
  { runs = rounds(12, 400), hasEmptyRows = false } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'damage-'))
  try {
    for (const name of Object.keys(files)) mkdirSync(dirname(join(folder, name)), { recursive: true })
    await fc.assert(
      fc.asyncProperty(fc.record({ ...files }), async (contents) => {
        for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content)
        const recording = await record(open, folder).catch((error: unknown) => {
          assert.ok(error instanceof BuildError, `no refusal but a fault of the program: ${String(error)}`)
          assert.ok(error.message.length < 2000, 'a refusal that carries the file')
        })
        if (recording !== undefined) assertSound(recording, hasEmptyRows)
      }),
      { numRuns: runs },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function assertSound({ buoys, rows, bad, examples }: Recording, hasEmptyRows: boolean): void {
  for (const { identifier, name, lat, lng } of buoys) {
    assert.match(identifier, /^[^"\p{Cc}]{1,64}$/u)
    assert.ok(name !== '' && name.length <= 200, `the name of ${identifier}`)
    assert.ok(Math.abs(lat) <= 90 && Math.abs(lng) <= 180, `the position of ${identifier}`)
  }
  for (const [key, list] of rows) {
    for (const row of list) {
      assert.ok(hasEmptyRows || Object.keys(row).length > 1, `a row of ${key} without a value`)
      for (const [measure, [, least, most]] of Object.entries(EXPECTED)) {
        const value = row[measure as keyof typeof row] as number | undefined
        assert.ok(value === undefined || (value >= least && value <= most), `${measure} of ${key}: ${value}`)
      }
    }
  }
  for (const text of [...bad, ...examples]) assert.ok(text.length < 1000, 'a remark that carries the file')
}

for (const [kind, { options, sound, damaged: others }] of Object.entries(SAMPLES)) {
  test(`Any damage to files of ${kind} leads to sound rows or a clear refusal`, async () => {
    const files = Object.entries({ ...sound, ...others }).map(([name, content]) => {
      const bytes = Buffer.from(content)
      // Where all are damaged nothing would be read.
      return [name.replace('#', '10000'), fc.oneof(fc.constant(bytes), damaged(bytes))] as const
    })
    await assertWithstands((folder) => openKind(kind, folder, options), Object.fromEntries(files), {
      // A repeat of which nothing is left takes back what an earlier build said of its time.
      hasEmptyRows: kind === 'ndbc',
      // NetCDF takes long.
      ...(['cmems', 'altimetry'].includes(kind) && { runs: rounds(6, 150) }),
    })
  })
}

const repeated = (text: string, times: number): Buffer => Buffer.from(text.repeat(times))

/** A file of a kind that nobody would send but to do harm, beginning as `good` does. */
function hostile(good: Uint8Array): fc.Arbitrary<Uint8Array> {
  const times = fc.integer({ min: 1, max: 200_000 })
  const whole = Buffer.from(good)
  const opening = fc.constantFrom(
    '[',
    '{"a":',
    '<a>',
    '[{},',
    '{},',
    '"',
    ',',
    ';',
    '|',
    ' ',
    '<a b="',
    '&x;',
    '-',
  )
  const endless = fc.constantFrom('', '\ufeff', '\0', '\n'.repeat(500_000), '9'.repeat(1_000_000))
  return fc.oneof(
    fc.uint8Array({ maxLength: 20_000, size: 'max' }),
    endless.map((text) => Buffer.from(text)),
    fc.tuple(opening, times).map(([text, n]) => repeated(text, n)),
    fc
      .tuple(opening, times, fc.nat({ max: good.length }))
      .map(([text, n, at]) => Buffer.concat([whole.subarray(0, at), repeated(text, n), whole.subarray(at)])),
    fc.integer({ min: 1, max: 2000 }).map((n) => Buffer.concat(Array.from({ length: n }, () => whole))),
    fc.nat({ max: 60 }).map((bytes) => gzipSync(whole).subarray(0, bytes)),
    fc
      .constantFrom('\0', '0', '[', 'a,b\n')
      .map((text) => gzipSync(repeated(text, 12_000_000 / text.length), { level: 1 })),
    fc.constant(Buffer.from(whole.toString('latin1'), 'utf16le')),
  )
}

/** Files of each kind, one in eight of them harmful on purpose, and so many of one source. */
const FILES = rounds(3, 120)
const BATCH = 12
const SEED = Number(process.env.GROUNDSWELL_SEED ?? 20_261_121)

type DamagedFile = readonly [path: string, bytes: Uint8Array]

function damagedFiles(kind: string, from: number): DamagedFile[] {
  const templates = Object.entries(SAMPLES[kind].damaged)
  return Array.from({ length: BATCH }, (_, i): DamagedFile => {
    const [template, content] = templates[i % templates.length]
    const good = Buffer.from(content)
    const any = fc.oneof<fc.MaybeWeightedArbitrary<Uint8Array>[]>(
      { weight: 7, arbitrary: damaged(good) },
      { weight: 1, arbitrary: hostile(good) },
    )
    const [bytes] = fc.sample(any, { numRuns: 1, seed: SEED + from + i })
    return [template.replace('#', String(10_000 + i)), bytes]
  })
}

const terms = (name: string): Pick<Source, 'terms'> => ({ terms: { name, info: {}, accepts: () => true } })

/**
 * Builds once from a source for each list of files and one in order; says of each why it was refused, or
 * null.
 */
async function refusedOf(
  folder: string,
  kind: string,
  lists: readonly DamagedFile[][],
): Promise<(string | null)[]> {
  // Compiled, as its readers start in a third of the time.
  const dist = new URL('../../dist/', import.meta.url).href
  const { buildSnapshot } = (await import(`${dist}builder/run-build.js`)) as typeof Builds
  const { BuildReport } = (await import(`${dist}builder/build-report.js`)) as typeof Reports
  const product = (await import(`${dist}sources/kinds.js`)) as typeof Kinds
  const { sound, options } = SAMPLES[kind]
  rmSync(folder, { recursive: true, force: true })
  const sources = lists.map((list, i): Source => {
    const path = join(folder, String(i))
    for (const [name, content] of [...Object.entries(sound), ...list]) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    const source = product.openSource(kind, path, options, { seconds: 60, megabytes: 1024 })
    return { ...source, ...terms(`hostile ${i}`) }
  })
  sources.push({ ...product.openKind('csv', join(FIXTURES, 'small')), ...terms('in order') })
  const out = join(folder, 'out')
  const report = new BuildReport({ maxBadShare: 1, write: () => {}, clock: Date.now })
  await buildSnapshot({ sources, out, asOf: null, now: 1_800_000_000, report })
  const manifest = await readManifest(out)
  assert.ok((manifest?.parts.find((part) => part.kind === 'catalog')?.rows ?? 0) >= 10)
  const told = new Map(newestReport(out).sources.map(({ name, refused }) => [name, refused]))
  assert.equal(told.get('in order'), null)
  return lists.map((_, i) => told.get(`hostile ${i}`) ?? null)
}

test('Damaged and hostile files of every kind fail their source at most, and the others are published', async (t) => {
  const kinds = Object.keys(SAMPLES)
  // Only made-up data come from no files.
  assert.deepEqual(
    kinds.toSorted(),
    Object.keys(KINDS)
      .filter((kind) => kind !== 'demo')
      .sort(),
  )
  const folder = join(temporaryFolder(t), 'siege')
  for (const kind of kinds) {
    for (let from = 0; from < FILES; from += BATCH) {
      // One file may hide the others of its source: those of a source that was refused are read again, one by
      // one.
      for (let lists = [damagedFiles(kind, from)]; lists.length > 0;) {
        const refused = await refusedOf(folder, kind, lists)
        for (const reason of refused)
          assert.doesNotMatch(reason ?? '', /its reader failed|crashed|stalled/, kind)
        const again = lists.filter((list, i) => refused[i] !== null && list.length > 1)
        lists = again.flatMap((list) => list.map((file) => [file]))
      }
    }
  }
})
