/**
 * Damaged and hostile files for every kind of source, read as an operator's builds read them: beside a source
 * in order, which has to be published each time. `node --import tsx test/sources/siege.main.ts` is the long
 * form.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { buildSnapshot } from '../../src/builder/run-build.ts'
import type { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type { BuildReport } from '../../src/builder/build-report.ts'
import type { openKind, openSource } from '../../src/sources/kinds.ts'
import type { Source } from '../../src/sources/source.ts'
import { damaged } from './damage.ts'
import { FIXTURES } from './recorder.ts'
import { SAMPLES, type Files } from './samples.ts'

interface Product {
  buildSnapshot: typeof buildSnapshot
  BuildReport: typeof BuildReport
  openKind: typeof openKind
  openSource: typeof openSource
  readManifest: typeof readManifest
}

/** What the sources compile to (`npm run build`), whose readers start in a third of the time. */
async function compiledProduct(): Promise<Product> {
  const modules = [
    'builder/run-build',
    'snapshot/read-snapshot',
    'builder/build-report',
    'sources/kinds',
  ].map((path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href) as Promise<Partial<Product>>)
  return Object.assign({}, ...(await Promise.all(modules))) as Product
}

export interface Outcome {
  kind: string
  files: number
  builds: number
  /** Sources, of one or many files, that were refused, and why: numbers and paths are left out. */
  refused: Map<string, number>
  /** Longest time of one source, ms. */
  slowest: number
  /** Most memory of one reader, 2^20 bytes. */
  largest: number
}

const repeated = (text: string, times: number): Buffer => Buffer.from(text.repeat(times))

/** A file of a kind that nobody would send but to do harm, beginning as `good` does. */
function hostile(good: Uint8Array): fc.Arbitrary<Uint8Array> {
  const times = fc.integer({ min: 1, max: 200_000 })
  const whole = Buffer.from(good)
  return fc.oneof(
    fc.uint8Array({ maxLength: 20_000, size: 'max' }),
    fc
      .constantFrom('', '\ufeff', '\0', '\n'.repeat(500_000), '9'.repeat(1_000_000))
      .map((text) => Buffer.from(text)),
    fc
      .tuple(
        fc.constantFrom(
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
          '\n,',
          '-',
        ),
        times,
      )
      .map(([text, n]) => repeated(text, n)),
    fc
      .tuple(fc.constantFrom('[', '{"a":', '<a>', ',', ';', '"'), times, fc.nat({ max: good.length }))
      .map(([text, n, at]) => Buffer.concat([whole.subarray(0, at), repeated(text, n), whole.subarray(at)])),
    fc.integer({ min: 1, max: 2000 }).map((n) => Buffer.concat(Array.from({ length: n }, () => whole))),
    fc.nat({ max: 60 }).map((bytes) => gzipSync(whole).subarray(0, bytes)),
    fc
      .constantFrom('\0', '0', '[', 'a,b\n')
      .map((text) => gzipSync(repeated(text, 12_000_000 / text.length), { level: 1 })),
    fc.constant(Buffer.from(whole.toString('latin1'), 'utf16le')),
  )
}

/** Files that are damaged, one in eight of them on purpose. */
const anyFile = (good: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc.oneof({ weight: 7, arbitrary: damaged(good) }, { weight: 1, arbitrary: hostile(good) })

export interface SiegeOptions {
  kinds: readonly string[]
  /** Files of each kind. */
  files: number
  /** Files of one source. */
  batch: number
  seed: number
  folder: string
  log?: (line: string) => void
}

/** Reads damaged files of every kind. @throws AssertionError when the source in order is not published */
export async function besiege(options: SiegeOptions): Promise<Outcome[]> {
  const product = await compiledProduct()
  const outcomes: Outcome[] = []
  for (const kind of options.kinds) {
    const outcome: Outcome = { kind, files: 0, builds: 0, refused: new Map(), slowest: 0, largest: 0 }
    for (let at = 0; at < options.files; at += options.batch) {
      const count = Math.min(options.batch, options.files - at)
      const files = damagedFiles(SAMPLES[kind].damaged, count, options.seed + at)
      outcome.files += count
      // One file may hide the others of its source: what was refused is read again in parts, down to single
      // files.
      for (let lists = [files]; lists.length > 0;) {
        const refused = await build(product, kind, lists, options, outcome)
        lists = lists
          .filter((list, i) => refused[i] !== null && list.length > 1)
          .flatMap((list) => parts(list, 10))
      }
    }
    outcomes.push(outcome)
    options.log?.(lineOf(outcome))
  }
  return outcomes
}

function lineOf({ kind, files, builds, refused, slowest, largest }: Outcome): string {
  const reasons = [...refused].sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} × ${reason}`)
  const count = [...refused.values()].reduce((sum, n) => sum + n, 0)
  return `${kind}: ${files} files, ${builds} builds, ${count} sources refused, slowest ${Math.round(slowest)} ms, largest ${Math.round(largest)} MiB${reasons.map((reason) => `\n    ${reason}`).join('')}`
}

function parts<T>(list: readonly T[], count: number): T[][] {
  const length = Math.ceil(list.length / count)
  return Array.from({ length: Math.ceil(list.length / length) }, (_, i) =>
    list.slice(i * length, (i + 1) * length),
  )
}

type DamagedFile = readonly [path: string, bytes: Uint8Array]

function damagedFiles(good: Files, count: number, seed: number): DamagedFile[] {
  const templates = Object.entries(good)
  return Array.from({ length: count }, (_, i): DamagedFile => {
    const [template, content] = templates[i % templates.length]
    const [bytes] = fc.sample(anyFile(Buffer.from(content)), { numRuns: 1, seed: seed + i })
    return [template.replace('#', String(10_000 + i)), bytes]
  })
}

/**
 * Builds once from a source for each list of files and one in order; says of each why it was refused, or
 * null.
 */
async function build(
  { buildSnapshot, BuildReport, openKind, openSource, readManifest }: Product,
  kind: string,
  lists: readonly DamagedFile[][],
  { folder }: SiegeOptions,
  outcome: Outcome,
): Promise<(string | null)[]> {
  const sample = SAMPLES[kind]
  rmSync(folder, { recursive: true, force: true })
  const sources = lists.map((list, i): Source => {
    const path = join(folder, String(i))
    for (const [name, content] of [...Object.entries(sample.sound), ...list]) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    const source = openSource(kind, path, sample.options, { seconds: 60, megabytes: 1024 })
    return { ...source, ...terms(`hostile ${i}`), read: (...of) => timed(() => source.read(...of), outcome) }
  })
  const out = join(folder, 'out')
  const report = new BuildReport({ maxBadShare: 1, write: () => {}, terminal: false, clock: Date.now })
  await buildSnapshot({
    sources: [...sources, { ...openKind('csv', join(FIXTURES, 'small')), ...terms('in order') }],
    out,
    asOf: null,
    now: 1_800_000_000,
    report,
  })
  outcome.builds++
  const manifest = await readManifest(out)
  assert.ok((manifest?.parts.find((part) => part.kind === 'catalog')?.rows ?? 0) >= 10)
  const document = report.document()
  assert.equal(document.sources.find(({ name }) => name === 'in order')?.refused, null)
  const refused = lists.map(
    (_, i) => document.sources.find(({ name }) => name === `hostile ${i}`)?.refused ?? null,
  )
  for (const reason of refused) {
    if (reason === null) continue
    const known = reason.replaceAll(/\/\S*/g, '…').replaceAll(/\d+/g, 'N').slice(0, 120)
    outcome.refused.set(known, (outcome.refused.get(known) ?? 0) + 1)
  }
  return refused
}

const terms = (name: string): Pick<Source, 'terms'> => ({ terms: { name, info: {}, accepts: () => true } })

/** Notes how long a source takes and, on Linux, how much memory its reader has had at most. */
async function timed(read: () => Promise<void>, outcome: Outcome): Promise<void> {
  const began = performance.now()
  const watch = setInterval(() => {
    outcome.largest = Math.max(outcome.largest, ...readersOf(process.pid).map(peakOf))
  }, 20)
  try {
    await read()
  } finally {
    clearInterval(watch)
    outcome.slowest = Math.max(outcome.slowest, performance.now() - began)
  }
}

/** Readers that the process `parent` runs now. */
export function readersOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [, state, ppid] = / ([A-Z]) (\d+) /.exec(systemFile(pid, 'stat')) ?? []
      return state !== 'Z' && Number(ppid) === parent && /reader\.[jt]s/.test(systemFile(pid, 'cmdline'))
    })
}

/** 2^20 bytes. */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(systemFile(pid, 'status'))?.[1] ?? 0) / 1024
}

/** A file of a process, empty when that is gone. */
function systemFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
