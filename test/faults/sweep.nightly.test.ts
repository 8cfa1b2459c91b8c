/**
 * A sweep that fails the first call, then the second, and so on, of the files, the bucket and the network,
 * until a run passes without a failure. After each failure the folder has the old snapshot or the new one,
 * whole, nothing is left over, and the next run heals. By day each place of the program fails once, at night
 * every call. The idea is SQLite's ("How SQLite is tested", 3.1 and 3.2).
 */
import assert from 'node:assert/strict'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { SnapshotError } from '../../src/snapshot/snapshot-format.ts'
import type { Manifest } from '../../src/snapshot/manifest.ts'
import { loadSnapshot, readManifest } from '../../src/snapshot/read-snapshot.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { isSystemFault } from '../../src/system/file-faults.ts'
import { build, fakeSource, LATER_WORLD, SMALL_WORLD } from '../builder/fake_source.ts'
import { Builder, buoyAt, commitsOf, currentId, expectSound } from '../builder/publishing/builders.ts'
import { temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { faultsOf, mirrorOf, publish, serveFolder } from '../snapshot/mirror/world.ts'
import { stubFor, type Fault } from '../snapshot/store/stub_s3.ts'
import { failingCalls, type Failing } from './failing_calls.ts'

/** What a fault of the system may become: an error with words for an operator, or the fault itself. */
const isExpected = (error: unknown): boolean =>
  error instanceof BuildError || error instanceof SnapshotError || isSystemFault(error)

/** Aggregates that cannot be read are made anew, of more days than a build that adds to them has. */
const dataOf = ({ parts }: Manifest): string[] =>
  parts.filter(({ kind }) => kind !== 'aggregates').map(({ file }) => file)

/** The empty folder of a lock that was given back and could not be removed: a later process removes it. */
const LEFT_OF_LOCK = /^builder\.lock(\.|$)/

/** Names without numbers and hashes, so that folders can be compared. */
const kindsOf = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => !LEFT_OF_LOCK.test(name))
    .map((name) => name.replaceAll(/[0-9a-f]{24,32}/g, 'ID').replaceAll(/\d{6}/g, 'N'))
    .toSorted()

interface Sweep {
  /** Brings about the state that the work begins with, in a folder of its own. */
  prepare: (dir: string) => unknown
  work: (dir: string) => Promise<unknown>
  /** After the failure, which `error` tells of; null where the work went on. */
  check: (dir: string, error: unknown) => Promise<unknown>
}

/** @returns how many calls failed, and how many of them the work survived */
async function sweep(
  t: TestContext,
  failing: Failing,
  { prepare, work, check }: Sweep,
): Promise<{ failed: number; survived: number; ofAll: number }> {
  const folder = temporaryFolder(t)
  const done = new Set<string>()
  let [failed, survived] = [0, 0]
  // What is loaded at the first use only is not a call of the work.
  const warm = join(folder, 'warm')
  await prepare(warm)
  await work(warm)
  const plain = join(folder, 'plain')
  await prepare(plain)
  await failing.during(Infinity, () => work(plain))
  const sites = [...failing.sites]
  for (let n = 0; ; n++) {
    const site = sites[n]
    if (n < sites.length && done.has(site) && rounds(1, 2) === 1) continue
    done.add(site)
    const dir = join(folder, String(n))
    await prepare(dir)
    let error: unknown = null
    const wasMade = await failing.during(n, async () => {
      try {
        await work(dir)
      } catch (thrown) {
        error = thrown
      }
    })
    if (!wasMade) {
      assert.equal(error, null, 'a run without a failure passes')
      return { failed, survived, ofAll: sites.length }
    }
    failed++
    if (error === null) survived++
    else assert.ok(isExpected(error), `call ${n}, ${site}: ${(error as Error).stack}`)
    try {
      await check(dir, error)
    } catch (thrown) {
      const what = `call ${n}, ${failing.sites[n]}, after ${String(error)}: ${String(thrown)}`
      throw new Error(what, { cause: thrown })
    }
  }
}

test('Whatever call of the file system fails a build, the folder has a whole snapshot, and the next build heals it.', async (t) => {
  const failing = await failingCalls()
  t.after(() => failing.restore())
  const folder = temporaryFolder(t)
  const before = join(folder, 'before')
  const first = await build([fakeSource(SMALL_WORLD)], before, { fresh: true })
  const later = (dir: string) => build([fakeSource(LATER_WORLD)], dir, { allowLoss: 1 })
  const clean = join(folder, 'clean')
  cpSync(before, clean, { recursive: true })
  const second = await later(clean)
  await later(clean)
  const counts = await sweep(t, failing, {
    prepare: (dir) => cpSync(before, dir, { recursive: true }),
    work: later,
    async check(dir, error) {
      const now = (await readManifest(dir))!
      if (now.id === first.id) assert.ok(error !== null, 'a build that ended well published nothing')
      else assert.deepEqual(dataOf(now), dataOf(second))
      assert.deepEqual(await checkFolder(dir), [])
      await loadSnapshot(dir)
      assert.deepEqual(dataOf(await later(dir)), dataOf(second))
      assert.deepEqual(await checkFolder(dir), [])
      assert.deepEqual(kindsOf(dir), kindsOf(clean))
    },
  })
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.failed > 30, JSON.stringify(counts))
})

test('Whatever call of the file system fails a mirror, it keeps a whole snapshot, and its next look brings the newest.', async (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'source')
  await publish(source, 0)
  const old = join(folder, 'old')
  const web = await serveFolder(t, source)
  const look = (dir: string): Promise<void> => mirrorOf(t, web.url, dir).mirror.look()
  await look(old)
  const first = (await readManifest(old))!.id
  const second = await publish(source, 1)
  const failing = await failingCalls()
  t.after(() => failing.restore())
  const counts = await sweep(t, failing, {
    prepare: (dir) => cpSync(old, dir, { recursive: true }),
    work: look,
    async check(dir) {
      const id = (await readManifest(dir))!.id
      assert.ok(id === first || id === second, id)
      assert.deepEqual(await checkFolder(dir), [])
      await look(dir)
      assert.equal((await readManifest(dir))!.id, second)
      assert.deepEqual(
        (await faultsOf(dir)).filter((name) => !LEFT_OF_LOCK.test(name)),
        [],
      )
    },
  })
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.failed > 15, JSON.stringify(counts))
})

test('Whatever call of the file system fails a server that loads a snapshot, the next load brings it.', async (t) => {
  const failing = await failingCalls()
  t.after(() => failing.restore())
  const counts = await sweep(t, failing, {
    prepare: (dir) => build([fakeSource(SMALL_WORLD)], dir, { fresh: true }),
    work: (dir) => loadSnapshot(dir),
    check: (dir) => loadSnapshot(dir),
  })
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.failed > 3, JSON.stringify(counts))
})

/** By day one way to fail, at night all that end at once. */
const FAULTS: readonly Fault[] = rounds(1, 2) === 1 ? ['lost'] : ['500', 'reset', 'lost', 'truncate']

test('Whatever request to a bucket fails, a builder publishes whole snapshots in their order, and heals at its next build.', async (t) => {
  const folder = temporaryFolder(t)
  let failed = 0
  for (const fault of FAULTS) {
    for (let n = 0; ; n++) {
      const stub = await stubFor(t)
      // Each request once: what is tried again would hide the failure.
      const builder = new Builder(folder, `${fault}${n}`, stub, { limits: { attempts: 1 } })
      const first = await builder.build([buoyAt('A', 0)])
      let asked = 0
      stub.faultOf = () => (asked++ === n ? fault : null)
      const error: unknown = await builder.build([buoyAt('A', 1)]).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      stub.faultOf = () => null
      if (asked <= n) {
        assert.equal(error, null)
        break
      }
      failed++
      if (error !== null) assert.ok(isExpected(error), `request ${n}, ${fault}: ${(error as Error).stack}`)
      const ids = (): string[] => commitsOf(stub).map(({ manifest }) => manifest.id)
      assert.equal(ids()[0], first.id)
      expectSound(stub)
      await builder.build([buoyAt('A', 2)])
      assert.equal(ids().at(-1), await currentId(builder.dir), `request ${n}, ${fault}`)
      expectSound(stub)
      assert.deepEqual(await checkFolder(builder.dir), [])
      await stub.close()
    }
  }
  t.diagnostic(`${failed} requests failed`)
  assert.ok(failed > 5)
})

test('Whatever request of a mirror fails, it keeps a whole snapshot, and its next look brings the newest.', async (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'source')
  await publish(source, 0)
  const web = await serveFolder(t, source)
  const old = join(folder, 'old')
  await mirrorOf(t, web.url, old).mirror.look()
  const first = (await readManifest(old))!.id
  const second = await publish(source, 1)
  for (let n = 0; ; n++) {
    const dir = join(folder, String(n))
    cpSync(old, dir, { recursive: true })
    const { mirror } = mirrorOf(t, web.url, dir)
    let asked = 0
    web.faultOf = () => {
      // It tries again once.
      const fails = asked === n || asked === n + 1
      asked++
      return fails ? (response) => response.destroy() : null
    }
    await mirror.look()
    web.faultOf = () => null
    if (asked <= n) break
    const id = (await readManifest(dir))!.id
    assert.ok(id === first || id === second, id)
    assert.deepEqual(await checkFolder(dir), [])
    await mirror.look()
    assert.equal((await readManifest(dir))!.id, second, `request ${n}`)
    assert.deepEqual(await faultsOf(dir), [])
  }
})
