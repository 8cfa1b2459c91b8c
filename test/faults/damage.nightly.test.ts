/**
 * Damaged snapshots: whatever is wrong with the files, it is refused or harmless, and what was served before
 * goes on being served.
 */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import { SnapshotError, type PartEntry } from '../../src/snapshot/snapshot-format.ts'
import { decodeManifest, type Manifest } from '../../src/snapshot/manifest.ts'
import {
  loadSnapshot,
  readManifest,
  verifyParts,
  type LoadedSnapshot,
} from '../../src/snapshot/read-snapshot.ts'
import { Reloader } from '../../src/server/reload.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { amount, build } from './folder.ts'

/** A linear congruential generator: the same positions in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}

test('Every flipped bit is refused or harmless.', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  await runCliWell(['build', '--source', 'demo', '--out', folder, '--as-of', '2026-03-03T00:00:00Z'])
  const manifest = (await readManifest(folder))!
  // The smallest part of each kind, and the manifest: all kinds are hit equally often, and none takes long to
  // read.
  const smallest = new Map<string, PartEntry>()
  for (const part of manifest.parts) {
    const known = smallest.get(part.kind)
    if (known === undefined || part.bytes < known.bytes) smallest.set(part.kind, part)
  }
  assert.deepEqual([...smallest.keys()].toSorted(), [
    'aggregates',
    'catalog',
    'forecast',
    'passes',
    'readings',
    'tides',
    'weather',
  ])
  const targets = [null, ...smallest.values()]
  const random = numbers(5)
  const flips = amount(300, 10_000)
  let harmless = 0
  for (let flip = 0; flip < flips; flip++) {
    const part = targets[flip % targets.length]
    const path = join(folder, part === null ? 'manifest.msgpack' : part.file)
    const bytes = readFileSync(path)
    const bit = Math.floor(random.next().value * bytes.length * 8)
    const hurt = Uint8Array.from(bytes)
    hurt[bit >> 3] ^= 1 << (bit & 7)
    writeFileSync(path, hurt)
    try {
      if (part === null) {
        const { publishedAt, ...read } = (await readManifest(folder))!
        assert.ok(publishedAt > 0)
        assert.deepEqual(
          read,
          decodeManifest(bytes, 'manifest'),
          `bit ${bit} of the manifest changed what it says`,
        )
      } else await verifyParts(folder, [part])
      harmless++
    } catch (error) {
      assert.ok(error instanceof SnapshotError, `bit ${bit} of ${path}: ${String(error)}`)
    }
    writeFileSync(path, bytes)
  }
  t.diagnostic(`${flips} bits flipped, ${harmless} harmless, the others refused`)
})

/** Two snapshots in one folder, built once; each test damages a copy. */
let prepared: { folder: string; ids: string[] }
before(async (t) => {
  const folder = temporaryFolder(t as TestContext)
  prepared = { folder, ids: [await build(folder, 0), await build(folder, 48)] }
})

interface Scene {
  folder: string
  log: string[]
  reloader: Reloader
  /** The newer snapshot's manifest, not announced yet. */
  next: Manifest
  path(part: PartEntry | string): string
  /** Announces the newer snapshot and looks. */
  announce(): Promise<void>
  /** The parts that only the newer one has. */
  fresh: PartEntry[]
}

/** A server's reloader that serves the older of two snapshots. */
async function scene(
  t: TestContext,
  maxMemory = 0,
  clock: () => number = () => 1_800_000_000,
): Promise<Scene> {
  const folder = join(temporaryFolder(t), 'snapshots')
  cpSync(prepared.folder, folder, { recursive: true })
  const kept = readdirSync(folder)
    .filter((name) => name.startsWith('manifest-'))
    .toSorted()
  const [old, next] = kept.map((name) => decodeManifest(readFileSync(join(folder, name)), name))
  copyFileSync(join(folder, kept[0]), join(folder, 'manifest.msgpack'))
  const log: string[] = []
  const reloader = new Reloader({
    dir: folder,
    maxMemory,
    threads: 2,
    clock,
    // What was read, and how long it took, is for those who look for a fault.
    log: (line) => void (line.startsWith('debug: ') || log.push(line)),
    serve: async (_held: readonly LoadedSnapshot[]) => {},
  })
  await reloader.look()
  assert.equal(reloader.snapshot?.id, prepared.ids[0])
  const had = new Set(old.parts.map(({ file }) => file))
  return {
    folder,
    log,
    reloader,
    next,
    path: (part) => join(folder, typeof part === 'string' ? part : part.file),
    fresh: next.parts.filter(({ file }) => !had.has(file)),
    async announce() {
      copyFileSync(join(folder, kept[1]), join(folder, 'manifest.msgpack'))
      await reloader.look()
    },
  }
}

/**
 * That the newer snapshot was refused for `reason`, the older one serves, and a word from the operator heals
 * once `mend` is done.
 */
async function expectRefusal(
  { reloader, log, folder }: Scene,
  reason: RegExp,
  mend: (() => void) | null,
): Promise<void> {
  assert.equal(reloader.snapshot?.id, prepared.ids[0])
  assert.match(reloader.state.error ?? '', reason)
  assert.equal(log.length, 1)
  assert.match(log[0], /was refused: .*; snapshot [0-9a-f]{24} keeps serving$/)
  await reloader.look()
  assert.equal(log.length, 1, 'the same fault is reported once')
  if (mend === null) return
  mend()
  await reloader.look(true)
  assert.equal(reloader.snapshot?.id, prepared.ids[1])
  assert.equal(reloader.state.error, null)
  assert.equal((await loadSnapshot(folder)).id, prepared.ids[1])
}

const DAMAGES: [what: string, hurt: (path: string) => void, reason: RegExp][] = [
  ['cut short', (path) => truncateSync(path, 100), /has 100 bytes, the manifest says \d+/],
  ['empty', (path) => truncateSync(path, 0), /has 0 bytes/],
  ['gone', (path) => rmSync(path), /is missing/],
  ['a folder', (path) => (rmSync(path), mkdirSync(path)), /\.msgpack: /],
  ['a link to itself', (path) => (rmSync(path), symlinkSync(path, path)), /cannot be read \(ELOOP\)/],
  [
    'changed in one byte',
    (path) => {
      const bytes = readFileSync(path)
      bytes[bytes.length - 1] ^= 1
      writeFileSync(path, bytes)
    },
    /do not have the hash/,
  ],
]
for (const [what, hurt, reason] of DAMAGES) {
  test(`A new part that is ${what} leaves the old snapshot in service.`, async (t) => {
    const at = await scene(t)
    for (const part of at.fresh.slice(0, 1)) {
      const bytes = readFileSync(at.path(part))
      hurt(at.path(part))
      await at.announce()
      await expectRefusal(at, reason, () => {
        rmSync(at.path(part), { recursive: true, force: true })
        writeFileSync(at.path(part), bytes)
      })
    }
  })
}

test('Two parts whose names were exchanged are refused.', async (t) => {
  const at = await scene(t)
  const [a, b] = at.fresh
  const swap = (): void => {
    renameSync(at.path(a), at.path('between'))
    renameSync(at.path(b), at.path(a))
    renameSync(at.path('between'), at.path(b))
  }
  swap()
  await at.announce()
  await expectRefusal(at, /bytes, the manifest says|do not have the hash/, swap)
})

test(
  'A part that comes after its manifest, as in a copy under way, is taken when it is there.',
  { timeout: 600_000 },
  async (t) => {
    const at = await scene(t)
    const [part] = at.fresh
    renameSync(at.path(part), at.path('later'))
    await at.announce()
    assert.match(at.reloader.state.error ?? '', /is missing/)
    at.reloader.start()
    renameSync(at.path('later'), at.path(part))
    while (at.reloader.snapshot?.id !== prepared.ids[1])
      await new Promise((resolve) => setTimeout(resolve, 50))
    at.reloader.stop()
  },
)

test('A manifest that is half written, of another program or of a newer format is refused.', async (t) => {
  const whole = readFileSync(join(prepared.folder, 'manifest.msgpack'))
  const body = new Unpackr({ mapsAsObjects: true, useRecords: false }).unpack(whole) as object
  const packed = (changes: object): Uint8Array =>
    new Packr({ useRecords: false }).pack({ ...body, ...changes })
  const cases: [Uint8Array, RegExp][] = [
    [whole.subarray(0, whole.length / 2), /manifest\.msgpack: /],
    [new Uint8Array(0), /manifest\.msgpack: /],
    [Buffer.from('<html>'), /manifest\.msgpack: /],
    [packed({ version: 2 }), /format version 2, this program reads version 1/],
    [packed({ as_of: 7 }), /its id does not agree/],
    [packed({ format: 'other' }), /is not a manifest/],
  ]
  for (const [bytes, reason] of cases) {
    const at = await scene(t)
    writeFileSync(at.path('manifest.msgpack'), bytes)
    await at.reloader.look()
    await expectRefusal(at, reason, () => writeFileSync(at.path('manifest.msgpack'), whole))
  }
})

test('Parts of a newer format or of another byte order are refused by what they say, hash or not.', async (t) => {
  for (const [from, to, reason] of [
    ['little', 'bigger', /byte order is not little endian/],
    ['groundswell-part', 'groundswell-port', /is not a part of a snapshot/],
    ['\u00a7version\u0001', '\u00a7version\u0002', /format version 2, this program reads version 1/],
  ] as const) {
    const at = await scene(t)
    const [part] = at.fresh
    const bytes = readFileSync(at.path(part))
    const place = bytes.indexOf(Buffer.from(from, 'latin1'))
    assert.ok(place > 0, from)
    bytes.write(to, place, 'latin1')
    const { decodePart } = await import('../../src/snapshot/part-columns.ts')
    assert.throws(() => decodePart(Uint8Array.from(bytes), part.file), reason)
  }
})

test('A folder that is lost, unreadable or without its manifest is reported, and serving goes on.', async (t) => {
  for (const [harm, mend] of [
    [(dir: string) => rmSync(join(dir, 'manifest.msgpack')), () => {}],
    [(dir: string) => renameSync(dir, `${dir}-away`), (dir: string) => renameSync(`${dir}-away`, dir)],
    [
      (dir: string) => (renameSync(dir, `${dir}-away`), symlinkSync(dir, dir)),
      (dir: string) => (rmSync(dir), renameSync(`${dir}-away`, dir)),
    ],
  ] as const) {
    const at = await scene(t)
    harm(at.folder)
    await at.reloader.look()
    await expectRefusal(at, /manifest\.msgpack: (is missing|cannot be read \(ELOOP\))/, null)
    mend(at.folder)
    await at.announce()
    assert.ok(existsSync(at.folder))
    assert.equal(at.reloader.snapshot?.id, prepared.ids[1])
    assert.equal(at.reloader.state.error, null)
  }
})

test('A fault is forgotten when the folder announces again what is served.', async (t) => {
  const at = await scene(t)
  const old = readFileSync(at.path('manifest.msgpack'))
  writeFileSync(at.path('manifest.msgpack'), 'half')
  await at.reloader.look()
  assert.notEqual(at.reloader.state.error, null)
  writeFileSync(at.path('manifest.msgpack'), old)
  await at.reloader.look()
  assert.equal(at.reloader.state.error, null)
})

test('A snapshot that would pass the memory limit is refused with the sums, before it is read and after.', async (t) => {
  const { parts } = decodeManifest(readFileSync(join(prepared.folder, 'manifest.msgpack')), 'manifest')
  const bytesOf = (some: readonly PartEntry[]): number => some.reduce((sum, { bytes }) => sum + bytes, 0)
  const first = await scene(t)
  const served = first.reloader.snapshot!
  first.reloader.stop()
  const fresh = parts.filter(({ file }) => served.parts.every(({ entry }) => entry.file !== file))
  const held = bytesOf(served.parts.map(({ entry }) => entry))
  // Enough for the first and for the parts of both, not for what two workers make of the second beside the
  // first.
  const limit = held + bytesOf(fresh) + 2 * served.threadBytes
  const at = await scene(t, limit)
  for (const part of at.fresh) rmSync(at.path(part))
  await at.announce()
  await expectRefusal(
    at,
    new RegExp(
      `would take \\d+ bytes of memory while it is loaded, the limit is ${limit} \\(--max-memory\\): ` +
        `${held} of the parts that are served, ${bytesOf(fresh)} of new parts, ` +
        `2 workers with ${served.threadBytes} each for the served snapshot, 2 workers with \\d+ each for this one$`,
    ),
    null,
  )
})

test(
  'A clock that jumps at every look neither spoils a reload nor moves the next attempt at a refused one.',
  { timeout: 600_000 },
  async (t) => {
    let now = 1_800_000_000
    // A year back, a century forth, a year back …
    const jump = (): number => (now += now > 1_800_000_000 ? -101 * 31_557_600 : 100 * 31_557_600)
    const at = await scene(t, 0, jump)
    const [part] = at.fresh
    renameSync(at.path(part), at.path('later'))
    await at.announce()
    const { refused, took } = at.reloader.state
    assert.ok(took !== null && took >= 0 && took < 20, `it took ${took} s`)
    renameSync(at.path('later'), at.path(part))
    const began = performance.now()
    // It is not its time yet, whatever the clock says.
    await at.reloader.look()
    assert.equal(at.reloader.state.refused, refused)
    assert.equal(at.reloader.snapshot?.id, prepared.ids[0])
    while (at.reloader.snapshot?.id !== prepared.ids[1]) {
      assert.ok(performance.now() - began < 10_000, 'it is not tried again')
      await new Promise((resolve) => setTimeout(resolve, 50))
      await at.reloader.look()
    }
    assert.equal(at.reloader.state.error, null)
  },
)
