/** Loading on a thread of its own: what keeps a snapshot out is reported, and the next one is loaded. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { Loader, loadLimitMs } from '../../src/server/load.ts'
import { SnapshotError } from '../../src/snapshot/snapshot-format.ts'
import { encodeManifest, MANIFEST_FILE, type Manifest } from '../../src/snapshot/manifest.ts'
import { memoryLimit, refuseOverLimit } from '../../src/snapshot/catalog-summary.ts'
import { loadSnapshot, readManifest, type LoadedSnapshot } from '../../src/snapshot/read-snapshot.ts'
import type { IndexedSnapshot } from '../../src/dataset/view.ts'
import { indexSnapshot } from '../../src/server/index-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { Reloader } from '../../src/server/reload.ts'
import { folderSupply } from '../../src/server/supply.ts'
import { lineText } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'
import { everythingSource } from '../builder/everything_source.ts'
import { build } from '../builder/fake_source.ts'

const DAY = 86_400

let whole = ''
before(async (t) => {
  whole = join(temporaryFolder(t as TestContext), 'snapshots')
  await build([everythingSource()], whole)
})

/** What is published, and a loader of it. */
async function loaderOf(t: TestContext, heapMiB?: number) {
  const manifest = (await readManifest(whole)) ?? assert.fail('there is no manifest')
  const loader = new Loader({ dir: whole, activeWithin: DAY, ...(heapMiB !== undefined && { heapMiB }) })
  t.after(() => loader.end())
  return { manifest, loader }
}

/** A folder with the snapshot, and a server's reloader over it. */
function sceneOf(
  t: TestContext,
  loadLimit: (bytes: number) => number = loadLimitMs,
  maxMemory = 0,
): { dir: string; log: string[]; served: LoadedSnapshot[]; reloader: Reloader } {
  const dir = join(temporaryFolder(t), 'snapshots')
  cpSync(whole, dir, { recursive: true })
  const log: string[] = []
  const served: LoadedSnapshot[] = []
  const reloader = new Reloader({
    dir,
    supply: folderSupply(dir),
    maxMemory,
    threads: 2,
    limitMs: loadLimit,
    clock: () => 1_800_000_000,
    log: (...event) => void (event[1] === 'debug' || log.push(lineText(...event))),
    serve: (held) => {
      served.push(held.at(-1)!)
      return Promise.resolve()
    },
  })
  t.after(() => reloader.stop())
  return { dir, log, served, reloader }
}

function arraysIn(value: unknown): NodeJS.TypedArray[] {
  if (typeof value !== 'object' || value === null) return []
  if (ArrayBuffer.isView(value)) return [value as NodeJS.TypedArray]
  return (value instanceof Map ? [...value.values()] : Object.values(value)).flatMap(arraysIn)
}

/** Publishes the manifest with a change, its id right. */
async function publish(dir: string, change: (manifest: Manifest) => Omit<Manifest, 'id'>): Promise<void> {
  const manifest = (await readManifest(dir)) ?? assert.fail('there is no manifest')
  writeFileSync(join(dir, MANIFEST_FILE), encodeManifest(change(manifest)).bytes)
}

test('A snapshot loads the same on the thread as on this one, and parts in memory stay the same objects.', async (t) => {
  const { manifest, loader } = await loaderOf(t)
  const here = await loadSnapshot(whole)
  const there = await loader.load(manifest, null)
  const plain = ({ parts, ...rest }: IndexedSnapshot): unknown => ({
    ...rest,
    parts: parts.map(({ entry, bytes }) => [entry, Buffer.from(bytes).toString('base64')]),
  })
  assert.deepEqual(plain(there), plain(finish(indexSnapshot(here, DAY)).indexed))
  assert.ok(there.fragments.bytes.length > 1000)
  for (const array of [...arraysIn(there.indexes), ...arraysIn(there.fragments)])
    assert.ok(array.buffer instanceof SharedArrayBuffer)
  const again = await loader.load(manifest, there)
  assert.ok(again.parts.every((part, i) => part === there.parts[i]))
  assert.deepEqual(plain(again), plain(there))
})

test('A load that passes its time limit is ended, refused and reported, and the next attempt starts anew.', async (t) => {
  let limit = 1
  const { log, served, reloader } = sceneOf(t, () => limit)
  await reloader.poll()
  const { error, refused, loading } = reloader.state
  assert.match(error!, /^snapshot [0-9a-f]{24}: was not loaded within 1 s, and its loading was ended$/)
  assert.deepEqual([refused, loading, served.length], [1, null, 0])
  assert.match(
    log.join('\n'),
    /^warning: the snapshot in \S+ was refused: snapshot \S+ was not loaded within/,
  )
  limit = 60_000
  await reloader.poll(true)
  assert.deepEqual([reloader.state.error, served.length], [null, 1])
})

test('A load that exhausts its heap, or meets a fault of the program, is refused, and the next one is unharmed.', async (t) => {
  const { manifest, loader } = await loaderOf(t)
  // Too little for the smallest snapshot: what exhausts a heap of a gigabyte takes a minute to build.
  const { loader: small } = await loaderOf(t, 6)
  // No bytes at all, which no snapshot can bring about: whoever opens it meets a TypeError.
  const bytes = null as unknown as Uint8Array
  const impossible = { parts: (await loadSnapshot(whole)).parts.map((part) => ({ ...part, bytes })) }
  for (const [load, code] of [
    [() => small.load(manifest, null), 'ERR_WORKER_OUT_OF_MEMORY'],
    [() => loader.load(manifest, impossible), 'TypeError'],
  ] as const) {
    const message = `snapshot ${manifest.id}: ended the thread that loaded it (${code})`
    await assert.rejects(load, new SnapshotError(message))
  }
  assert.equal((await loader.load(manifest, null)).id, manifest.id)
})

test('A pipe in place of the manifest or of a part is refused at once.', async (t) => {
  const { dir, reloader } = sceneOf(t)
  const [part] = ((await readManifest(dir)) ?? assert.fail()).parts
  for (const [file, why] of [
    [MANIFEST_FILE, /manifest\.msgpack: is not a regular file$/],
    [part.file, /catalog-[0-9a-f]+\.msgpack: is not a regular file$/],
  ] as const) {
    const path = join(dir, file)
    renameSync(path, `${path}-away`)
    assert.equal(spawnSync('mkfifo', [path]).status, 0)
    await reloader.poll(true)
    assert.match(reloader.state.error ?? '', why)
    await assert.rejects(loadSnapshot(dir), why)
    rmSync(path)
    renameSync(`${path}-away`, path)
  }
  await reloader.poll(true)
  assert.equal(reloader.state.error, null)
})

test('What a manifest says about a part has to agree with it, in memory and on the disk, before memory is taken.', async (t) => {
  const inMemory = /^readings-[0-9a-f]+\.msgpack: the manifest contradicts the part of this name/
  const cases: [kind: string, change: (sha256: string) => object, isServed: boolean, error: RegExp][] = [
    ['readings', () => ({ rows: 7 }), true, inMemory],
    ['readings', () => ({ month: 670 }), true, inMemory],
    // Its name holds half of the hash only.
    [
      'readings',
      (hash) => ({ sha256: hash.slice(0, 63) + (hash.endsWith('0') ? '1' : '0') }),
      true,
      inMemory,
    ],
    ['passes', () => ({ bytes: 2 ** 31 - 1 }), false, /has \d+ bytes, the manifest says 2147483647$/],
  ]
  for (const [kind, change, isServed, error] of cases) {
    const { dir, reloader } = sceneOf(t)
    if (isServed) await reloader.poll()
    await publish(dir, ({ asOf, parts }) => ({
      asOf: asOf + 1,
      parts: parts.map((part) =>
        part.kind === kind && [674, null].includes(part.month) ? { ...part, ...change(part.sha256) } : part,
      ),
    }))
    const before = process.memoryUsage().arrayBuffers
    await reloader.poll()
    assert.match(reloader.state.error ?? '', error)
    assert.ok(process.memoryUsage().arrayBuffers < before + 2 ** 22)
  }
})

test('A manifest that claims more than the machine or its container has is refused with the sums.', async (t) => {
  const { dir, reloader } = sceneOf(t)
  await publish(dir, ({ asOf, parts }) => {
    const month = parts.find(({ kind }) => kind === 'readings') ?? assert.fail('there are no readings')
    const { sha256 } = month
    return {
      asOf,
      parts: [
        ...parts.filter(({ kind }) => kind !== 'readings'),
        ...Array.from({ length: 1600 }, (_, i) => {
          const hash = String(i).padStart(32, '0') + sha256.slice(32)
          return {
            ...month,
            sha256: hash,
            file: `readings-${hash.slice(0, 32)}.msgpack`,
            bytes: 2 ** 31 - 1,
            month: i,
          }
        }),
      ],
    }
  })
  await reloader.poll()
  assert.match(
    reloader.state.error ?? '',
    /would take \d+ bytes of memory while it is loaded, the limit is \d+ \(the memory of this (machine|container); set one with --max-memory\): 0 of parts in memory, \d+ of new ones, and for each of 2 workers 0 for what is served and \d+ for the new snapshot$/,
  )
  assert.deepEqual(memoryLimit(0, 1000, 400), {
    bytes: 400,
    name: 'the memory of this container; set one with --max-memory',
  })
  // Without a limit of its own a container says a number beyond any machine's, or none.
  for (const none of [2 ** 64, 0]) assert.equal(memoryLimit(0, 1000, none).bytes, 1000)
  assert.deepEqual(memoryLimit(5, 1000, 400), { bytes: 5, name: '--max-memory' })
})

test('The limit counts parts once and what threads make of snapshots for each of them, twice during a swap.', async () => {
  const served = await loadSnapshot(whole)
  const parts = served.parts.map(({ entry }) => entry)
  const held = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  const next = { id: 'next', parts, threadBytes: 3000 }
  const cases: [before: LoadedSnapshot[], threads: number, needed: number][] = [
    [[], 1, held + 3000],
    [[], 4, held + 4 * 3000],
    [[served], 4, held + 4 * (3000 + served.threadBytes)],
  ]
  for (const [before, threads, needed] of cases) {
    const within = (bytes: number) => () =>
      refuseOverLimit(next, before, threads, { bytes, name: '--max-memory' })
    within(needed)()
    assert.throws(within(needed - 1), SnapshotError)
  }
})
