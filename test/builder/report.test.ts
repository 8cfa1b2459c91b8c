/** The report of a build: what it counts, that it is bounded and escaped, and how long it lives. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { timestampText } from '../../src/sea/time.ts'
import { BuildReport } from '../../src/builder/build-report.ts'
import {
  newestReport,
  reportLines,
  type Remark,
  type ReportDocument,
} from '../../src/builder/report-document.ts'
import type { Source } from '../../src/sources/source.ts'
import { temporaryFolder } from '../live.ts'
import { NETWORKS, SMALL_WORLD, fakeSource, folderOf, northBuoy, silentReport } from './fake_source.ts'
import { fieldsOf } from '../fields.ts'

const ID = 'a'.repeat(24)
const START = Date.UTC(2026, 2, 27, 12)

/** @param step milliseconds from one look at the clock to the next */
function newReport(step = 500, maxBadShare = 1) {
  const lines: string[] = []
  let now = START
  const write = (text: string): void => void lines.push(text)
  return { report: new BuildReport({ maxBadShare, write, clock: () => (now += step) }), lines }
}

/** Whatever a file, a server or a network may be called. */
const EVIL = `<script>alert("x")</script>'&\u001b[31m`

/** A report with something of everything. */
function fullDocument(): ReportDocument {
  const { report } = newReport()
  report.begin('A')
  const file = report.file(`${EVIL}.txt`)
  file.rows(90)
  for (let line = 1; line <= 300; line++) {
    if (line % 2 === 0) file.bad(line, 'no valid date and time', `\u001b[31m\u202e"${'x'.repeat(100)}`)
    else file.bad(line, EVIL)
  }
  file.skipped('waves repeat a sample', '41001')
  file.skipped('waves repeat a sample', '41001')
  file.skipped('waves repeat a sample')
  file.end()
  report.warn(EVIL)
  report.withoutPosition(['41002', '41003'])
  report.withoutPosition([])
  report.begin('B')
  report.refused(EVIL)
  report.fetched({
    source: 'A',
    files: 5,
    fetched: 1,
    seconds: 3,
    seconds_allowed: 1800,
    unchanged: 1,
    not_due: 1,
    failed: 2,
    removed: 0,
    bytes: 1234,
    oldest: timestampText(START / 1000 - 3600),
    failures: [
      { url: `https://a.example/${EVIL}`, reason: 'HTTP status 500', used_from: null },
      { url: 'https://a.example/b', reason: 'the answer is a web page', used_from: null },
    ],
  })
  report.impossible('North', 'low')
  report.impossible('North', 'low')
  for (let i = 0; i < 30; i++) report.suspect('North', `N${i}`, 'spike', 2)
  report.network('North', { buoys: 40, reporting: 30, newest: START / 1000 })
  report.network('South', { buoys: 1, reporting: 0, newest: -1 })
  const [one, two] = SMALL_WORLD
  for (let i = 0; i < 250; i++) report.duplicate(one, two, 0.12345)
  report.month('2026-03', 2)
  return report.document({ id: ID, asOf: START / 1000, published: true })
}

const counts = (remarks: readonly Remark[]) =>
  remarks.map(({ what, times, examples }) => [what, times, examples.length])

test('Counts are whole, examples are bounded, and no text of others reaches a line with its control characters.', () => {
  const document = fullDocument()
  const [{ bad, doubts }, b] = document.sources
  assert.deepEqual(counts(bad), [
    [EVIL, 150, 50],
    ['no valid date and time', 150, 50],
  ])
  const quotedEvil = JSON.stringify(`${EVIL}.txt`).slice(0, -1)
  assert.equal(bad[0].examples[0], `${quotedEvil}:1"`)
  assert.ok(bad[1].examples[0].startsWith(`${quotedEvil}:2: \\u001b[31m\\u{202e}\\"xxx`), bad[1].examples[0])
  assert.deepEqual(fieldsOf(doubts, 'times', 'grave'), [
    [1, true],
    [2, true],
  ])
  assert.equal(b.refused, EVIL)
  assert.ok(document.seconds > 0 && document.seconds < 60, 'seconds')
  const lines = reportLines(document)
  assert.ok(!lines.join('').includes('\u001b'), 'no escape sequences')
  assert.ok(lines[0].startsWith(`snapshot ${ID}, data as of 2026-03-27T12:00:00Z, built 2026-`), lines[0])
  for (const line of [
    'A: 1 file, 90 rows, 300 bad lines',
    '  waves repeat a sample (3 times): "41001"',
    '  fetched 1 of 5 files (1234 bytes) in 3 of at most 1800 s: 1 unchanged, 1 not due, 2 failed',
    '  https://a.example/b: the answer is a web page; in use: nothing',
    '  grave: stations are left out for lack of a position (2 times): "41002", "41003" → list them with their positions',
    'North: 40 buoys, 30 reporting in the last 24 hours, newest reading 2026-03-27T12:00:00Z',
    'South: 1 buoy, 0 reporting in the last 24 hours, newest reading none',
    '  height a spike between its neighbours (60 times): "N0", "N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8", "N9"',
    '  highest wave below the significant height (2 times)',
    '  another network has the same buoy (250 times): "North N1: South 02B is 0.123 km away"',
  ])
    assert.ok(lines.includes(line), `${line}\n${lines.join('\n')}`)
})

test('A build shows files and rows while it reads, and months while it writes.', () => {
  const { report, lines } = newReport(5000)
  report.begin('A')
  for (const path of ['a.txt', 'below/b.txt']) {
    const file = report.file(path)
    file.rows(10)
    file.end()
  }
  report.begin(null)
  report.month('2026-03', 2)
  assert.deepEqual(lines, ['read 1 file, 10 rows', 'read 2 files, 20 rows', 'wrote 2026-03, 1 of 2 months'])
  const often = newReport()
  for (let i = 0; i < 9; i++) often.report.progress(`step ${i}`)
  assert.deepEqual(often.lines, ['step 0', 'step 4', 'step 8'])
})

const build = async (out: string, shift: number, keep: number, now: number): Promise<string> => {
  const { report } = newReport()
  const buoys = SMALL_WORLD.map((buoy) => ({
    ...buoy,
    rows: buoy.rows.map((row) => ({ ...row, time: row.time + shift })),
  }))
  const { id } = await buildSnapshot({
    sources: [fakeSource(buoys, NETWORKS)],
    out,
    asOf: null,
    now,
    report,
    keep,
  })
  return id
}

test('A report lies beside its snapshot as long as that is kept, and the newest is found.', async (t) => {
  const out = join(temporaryFolder(t), 'out')
  const now = Date.now() / 1000
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    // As if the builds lay hours apart: young files are kept in any case.
    if (existsSync(out))
      for (const file of readdirSync(out))
        utimesSync(join(out, file), now - 9000 + i * 600, now - 9000 + i * 600)
    ids.push(await build(out, i * 60, 2, now))
    assert.equal(newestReport(out).snapshot, ids[i])
  }
  const reported = new Set(readdirSync(out).flatMap((file) => /^report-(\w+)\.json$/.exec(file)?.[1] ?? []))
  // The one that has just been superseded is as young as its snapshot.
  assert.ok(!reported.has(ids[0]) && reported.has(ids[3]), [...reported].join())
  const kept = new Set(
    readdirSync(out).flatMap((file) => /^manifest-\d+-(\w+)\.msgpack$/.exec(file)?.[1] ?? []),
  )
  assert.deepEqual([...reported].toSorted(), [...kept].toSorted())
  // The same snapshot again: its report is replaced.
  assert.equal(await build(out, 180, 2, now), ids[3])
  assert.equal(newestReport(out).snapshot, ids[3])
})

test('A folder without a report, or with something else under its name, says so.', (t) => {
  const dir = temporaryFolder(t)
  assert.throws(() => newestReport(dir), /^BuildError: .*there is no report/)
  mkdirSync(join(dir, 'sub'))
  writeFileSync(join(dir, `report-${ID}.json`), '{"format":"other"}')
  assert.throws(() => newestReport(dir), /is not a report of a build by this version/)
  writeFileSync(join(dir, `report-${ID}.json`), '{')
  assert.throws(() => newestReport(dir), /is not a report of a build by this version/)
})

test('Many bad lines and rows left out are counted in one call, and so are reasons without end in one.', () => {
  const { report } = newReport()
  report.begin('A')
  const file = report.file('a.txt')
  file.rows(1000)
  file.bad(1, 'no valid time')
  file.bad(2, 'no valid time', undefined, 99)
  for (let i = 0; i < 20_000; i++) file.skipped(`reason ${i}`, 'S', 2)
  file.end()
  const built = { id: '0'.repeat(24), asOf: START / 1000, published: true }
  const [{ bad_lines: lines, bad, skipped }] = report.document(built).sources
  assert.deepEqual([lines, counts(bad)], [100, [['no valid time', 100, 2]]])
  assert.deepEqual(counts(skipped).slice(-2), [
    ['reason 199', 2, 1],
    ['further reasons', 2 * 19_800, 1],
  ])
})

test('A file without a good line is left out and named, and too many of them refuse the source', () => {
  const { report, lines } = newReport(0, 0.1)
  const read = (path: string, rows: number): void => {
    const file = report.file(path)
    file.rows(rows)
    if (rows === 0) file.bad(1, 'not a table')
    file.end()
  }
  report.begin('A')
  read('404.txt', 0)
  assert.throws(() => report.endSource(), /^BuildError: 1 of 1 file cannot be used; 404\.txt: not a table$/)
  for (let i = 0; i < 19; i++) read(`${i}.txt`, 9)
  read('empty.txt', 0)
  report.endSource()
  read('wind.txt', 0)
  assert.throws(() => report.endSource(), /3 of 22 files cannot be used/)
  report.begin(null)
  assert.match(
    lines.at(-1)!,
    /^A: grave: a file is left out whole \(3 times\): "404\.txt: not a table", "empty\.txt: .* → repair/,
  )
  const inches = report.file('inches.csv')
  inches.rows(10)
  inches.skipped('height outside 0 to 25 m', undefined, 5)
  inches.skipped('period outside 0 to 60 s', undefined, 4)
  inches.end()
  report.warn('')
  assert.match(
    lines.join('\n'),
    /most values of a column are outside its limits.*: "inches\.csv: height outside 0 to 25 m" → /,
  )
  assert.doesNotMatch(lines.join('\n'), /period outside/)
  const half = report.file('half.txt')
  half.rows(8)
  half.bad(1, 'not a number', '', 2)
  assert.equal(half.end(), false)
  report.warn('')
  assert.match(lines.at(-1)!, /half\.txt: bad lines: 2 of 10, at most 10 % may be bad \(--max-bad\)/)
})

test('A build without a reading says what kept the rows out', async (t) => {
  const source: Source = {
    read: (_, { report }) => Promise.resolve(report.withoutPosition(['N1', 'N2'])),
  }
  await assert.rejects(
    buildSnapshot({ sources: [source], out: folderOf(t), asOf: null, now: 0, report: silentReport() }),
    /up to now; stations are left out for lack of a position \(2 times\): "N1" → list them/,
  )
})

test('Rows before 1975 or later than the data, and times that come twice with other values, are counted', async (t) => {
  const report = silentReport()
  const rows = [
    { time: 1_700_000, significantHeight: 1000 },
    { time: START / 1000, significantHeight: 1000, period: 8000 },
    { time: START / 1000, significantHeight: 1000 },
    { time: START / 1000 + 60, significantHeight: 2000, period: 8000 },
    { time: START / 1000 + 60, significantHeight: 1000 },
    { time: START / 1000 + 120, significantHeight: 1000 },
  ]
  const options = { out: folderOf(t), asOf: START / 1000 + 60, now: 0, report }
  const buoys = [northBuoy('N1', rows, { lng: -30 })]
  await buildSnapshot({ sources: [fakeSource(buoys)], ...options })
  assert.deepEqual(
    newestReport(options.out).sources[0].doubts.map(({ what, times, examples }) => [
      what.slice(0, 36),
      times,
      examples,
    ]),
    [
      ['rows before 1975, when hardly a buoy', 1, ['"N1: 1 of 6 rows"']],
      ['rows later than the time of the data', 1, ['"2026-03"']],
      // The period of the first row goes, too.
      ['a time comes twice with other values', 2, ['"N1 at 2026-03-27T12:00:00Z"']],
    ],
  )
})
