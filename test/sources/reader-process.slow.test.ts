/** Sources in processes of their own give the same, and what they do there harms nothing here. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type * as Reports from '../../src/builder/build-report.ts'
import { newestReport, type ReportDocument } from '../../src/builder/report-document.ts'
import type * as Builds from '../../src/builder/run-build.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type * as Kinds from '../../src/sources/kinds.ts'
import { type Source, type SourceTerms } from '../../src/sources/source.ts'
import type * as Errors from '../../src/system/build-error.ts'
import { lineText, type LogLine } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'
import { plainMap } from './json_maps.ts'
import { type Recording, FIXTURES, folderOf, recordSource } from './recorder.ts'
import { until } from '../until.ts'
import { fieldsOf } from '../fields.ts'

/** Compiled, since each reader would compile its own for a second otherwise. */
const DIST = new URL('../../dist/', import.meta.url).href
const { buildSnapshot } = (await import(`${DIST}builder/run-build.js`)) as typeof Builds
const { BuildReport } = (await import(`${DIST}builder/build-report.js`)) as typeof Reports
const { openKind, openSource } = (await import(`${DIST}sources/kinds.js`)) as typeof Kinds
const { BuildError } = (await import(`${DIST}system/build-error.js`)) as typeof Errors

const HANG_UP = 1

/** Whether a process has a handler for the signal of this number. */
function catches(pid: number, signal: number): boolean {
  const [, caught] = /^SigCgt:\t([0-9a-f]+)$/m.exec(systemFile(pid, 'status')) ?? []
  return (BigInt(`0x${caught}`) >> BigInt(signal - 1)) % 2n === 1n
}

/** A file of a process, empty when that is gone. */
function systemFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

/** Readers that the process `parent` runs now. */
function readersOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    const [, state, ppid] = / ([A-Z]) (\d+) /.exec(systemFile(pid, 'stat')) ?? []
    return state !== 'Z' && Number(ppid) === parent && /reader\.[jt]s/.test(systemFile(pid, 'cmdline'))
  })
}

/** The reader that this process has started, once it is there. */
async function readerOf(pid: number): Promise<number> {
  await until(() => readersOf(pid).length > 0)
  return readersOf(pid)[0]
}

const isRefused =
  (text: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof BuildError, String(error))
    assert.match(error.message, text)
    return true
  }

const LINES = Array.from({ length: 100_000 }, (_, i) => `S,b,${1_700_000_000 + i},1.5`)
const READINGS = gzipSync(`source,identifier,time,significant_height\n${LINES.join('\n')}\n`, { level: 1 })

/** Tables of a hundred thousand lines: long enough to be met while they are read. */
async function longTable(t: TestContext): Promise<string> {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`readings/${i}.csv.gz`, READINGS]))
  return folderOf(t, {
    'sources.csv': 'name,network\nS,national\n',
    'buoys.csv': 'source,identifier,name,lat,lng\nS,b,Buoy,45,-5\n',
    ...files,
  })
}

test('A source gives the same in a reader process as in this one, refusals and counts included', async () => {
  for (const [kind, folder] of [
    ['csv', 'small'],
    ['csv', 'broken/csv'],
    ['ndbc', 'broken/ndbc'],
    ['candhis', 'broken/candhis'],
    ['cmems', 'hostile/netcdf'],
    ['csv', 'nowhere'],
  ]) {
    const path = join(FIXTURES, folder)
    // The process tells doubts after the stations without a position.
    const sorted = (one: Recording) => ({ ...one, doubts: one.doubts.sort(), examples: one.examples.sort() })
    const outcome = (source: Source): Promise<unknown> =>
      recordSource(source).then(sorted, (error: unknown) => {
        assert.ok(error instanceof BuildError)
        return error.message
      })
    assert.deepEqual(await outcome(openSource(kind, path)), await outcome(openKind(kind, path)), folder)
  }
})

test('More rows than a frame holds, of several buoys and feeds, arrive as they were sent', async (t) => {
  const lines = Array.from(
    { length: 50_000 },
    (_, i) => `S,${i % 3},${1_700_000_000 + i},${(i % 20_000) / 1000}`,
  )
  const folder = await folderOf(t, {
    'sources.csv': 'name,network\nS,national\n',
    'buoys.csv': `source,identifier,name,lat,lng\n${[0, 1, 2].map((id) => `S,${id},Buoy “${id}” é,45,-5\n`).join('')}`,
    'readings/a.csv': `source,identifier,time,significant_height\n${lines.join('\n')}\n`,
  })
  const [here, there] = [openKind('csv', folder), openSource('csv', folder)]
  assert.deepEqual(await recordSource(there), await recordSource(here))
})

test('A source that needs more memory than it may have is refused, with the file that it was at', async (t) => {
  const rows = `[${'{"a":[1.5,"text"]},'.repeat(1_500_000)}{}]`
  const folder = await folderOf(t, {
    'a.json': '[]',
    'bomb.json.gz': gzipSync(rows),
  })
  await assert.rejects(
    recordSource(openSource('json', folder, { ...plainMap('', '/b', '/t', '/h') }, { megabytes: 150 })),
    isRefused(/^json: it needs more than 150 MiB of memory, its limit; it was at .*bomb\.json\.gz$/),
  )
})

test('A source that is not read in its time is refused, and its reader is gone', async (t) => {
  const folder = await longTable(t)
  const reading = recordSource(openSource('csv', folder, undefined, { seconds: 2 }))
  const refused = assert.rejects(reading, isRefused(/^csv: it was not read within 2 s, its limit/))
  const pid = await readerOf(process.pid)
  // From now on it would take for ever.
  process.kill(pid, 'SIGSTOP')
  await refused
  assert.deepEqual(readersOf(process.pid), [])
})

test('A reader that crashes, or is killed by the system, refuses its source', async (t) => {
  const folder = await longTable(t)
  for (const [signal, text] of [
    ['SIGSEGV', /^csv: its reader crashed \(SIGSEGV\)/],
    ['SIGKILL', /^csv: its reader was killed, as the system does when memory runs out/],
  ] as const) {
    const refused = assert.rejects(recordSource(openSource('csv', folder)), isRefused(text))
    process.kill(await readerOf(process.pid), signal)
    await refused
  }
})

test('A reader ignores the signals that its builder handles, and ends with it when that is killed', async (t) => {
  const folder = await longTable(t)
  const code = `
    import { openSource } from ${JSON.stringify(`${DIST}sources/kinds.js`)}
    const quiet = new Proxy({}, { get: (_, name) => name === 'file' ? () => quiet : name === 'maxBadShare' ? 1 : () => 0 })
    for (;;) await openSource('csv', ${JSON.stringify(folder)}).read(quiet, { asOf: null, now: 0, report: quiet })`
  const builder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  t.after(() => builder.kill('SIGKILL'))
  const reader = await readerOf(builder.pid!)
  const isThere = (): boolean => /^State:\t[^Z]/m.test(systemFile(reader, 'status'))
  // Before its handlers are there a signal ends it, as any process.
  await until(() => catches(reader, HANG_UP))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(reader, signal)
  await sleep(200)
  assert.ok(isThere())
  builder.kill('SIGKILL')
  await until(() => !isThere())
})

test('No variable of the environment reaches a reader', async (t) => {
  const folder = await longTable(t)
  process.env['GROUNDSWELL_TEST_SECRET'] = 'a secret'
  t.after(() => delete process.env['GROUNDSWELL_TEST_SECRET'])
  const refused = assert.rejects(recordSource(openSource('csv', folder)), isRefused(/killed/))
  const pid = await readerOf(process.pid)
  const names = readFileSync(`/proc/${pid}/environ`, 'latin1')
    .split('\0')
    .map((entry) => entry.split('=')[0])
    .filter((name) => name !== '')
  process.kill(pid, 'SIGKILL')
  await refused
  // The shell that starts it adds its own.
  assert.deepEqual(
    names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)),
    [],
  )
})

const terms = (name: string): SourceTerms => ({ name, info: {}, accepts: () => true })

/** Resolves to what the report says. */
async function build(sources: Source[], out: string, write: LogLine = () => {}): Promise<ReportDocument> {
  const report = new BuildReport({ maxBadShare: 0.5, write, clock: Date.now })
  await buildSnapshot({ sources, out, asOf: null, now: Math.floor(Date.now() / 1000), report })
  return newestReport(out)
}

test('Nothing of any file that a crafted one points to reaches the snapshot, the log or the report', async (t) => {
  const mark = 'mark-of-the-environment'
  process.env['GROUNDSWELL_TEST_SECRET'] = mark
  t.after(() => delete process.env['GROUNDSWELL_TEST_SECRET'])
  const out = temporaryFolder(t)
  const log: string[] = []
  const source = openSource('cmems', join(FIXTURES, 'hostile', 'netcdf'))
  const hostile = { ...source, terms: terms('hostile') }
  const document = await build([hostile], out, (...event) => void log.push(lineText(...event)))
  // Any byte would be a height in these files: those of the three whose own values are whole are 2.5 m.
  const manifest = await readManifest(out)
  assert.deepEqual(fieldsOf(document.networks, 'name', 'buoys'), [['Copernicus Marine', 3]])
  assert.equal(manifest?.parts.find((part) => part.kind === 'readings')?.rows, 72)
  const names = readdirSync(join(FIXTURES, 'hostile', 'netcdf')).filter((name) => name.endsWith('.nc'))
  const refusals = document.sources[0].doubts.flatMap(({ what, examples }) =>
    what === 'a file is left out whole' ? examples : [],
  )
  const whole = new Set(['plain.nc', 'link_in_group.nc', 'endless_groups.nc'])
  for (const name of names.filter((one) => !whole.has(one)))
    assert.match(refusals.join('\n'), new RegExp(`${name}: .*(leads to another file|is a virtual dataset)`))
  const files = readdirSync(out).map((name) => readFileSync(join(out, name), 'latin1'))
  for (const text of [...files, log.join(''), JSON.stringify(document)]) {
    for (const word of [mark, 'PATH=', hostname()]) assert.ok(!text.includes(word), word)
  }
})
