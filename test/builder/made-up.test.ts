/** Made-up data are marked for good, and never mixed with measured ones unasked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rollback } from '../../src/snapshot/retained.ts'
import { openSnapshot } from '../../src/server/open-snapshot.ts'
import { inspectSnapshot } from '../../src/snapshot/inspection.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type { Source } from '../../src/sources/source.ts'
import { lineText } from '../../src/system/log.ts'
import { build, fakeSource, type FakeBuoy, folderOf, northBuoy, readingsOf } from './fake_source.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000

const buoy = (identifier: string, hour: number): FakeBuoy =>
  northBuoy(identifier, [{ time: NOON + hour * 3600, significantHeight: 1000 + hour }])

const measured = (...buoys: FakeBuoy[]): Source => fakeSource(buoys)
const madeUp = (...buoys: FakeBuoy[]): Source => ({ ...measured(...buoys), isMadeUp: true })

const rowsOf = async (dir: string): Promise<number> => readingsOf((await readManifest(dir))!)

const isDemo = async (dir: string): Promise<boolean> => (await readManifest(dir))?.demo ?? false

test('A demo is marked, its increments and a rollback keep the mark, and inspect says it.', async (t) => {
  const dir = folderOf(t)
  await build([madeUp(buoy('A', 0))], dir)
  const first = (await readManifest(dir))!.id
  assert.equal(await isDemo(dir), true)
  await build([madeUp(buoy('A', 1))], dir)
  assert.equal(await rowsOf(dir), 2)
  assert.equal(await isDemo(dir), true)
  await rollback(dir, first, NOON)
  assert.equal((await readManifest(dir))?.id, first)
  assert.equal(await isDemo(dir), true)
  assert.ok((await inspectSnapshot(dir)).some((line) => /^demo\s+yes/.test(line)))
})

test('One made-up source marks the whole snapshot, and measured data alone have no mark.', async (t) => {
  const [mixed, real] = [folderOf(t), folderOf(t)]
  await build([measured(buoy('A', 0)), madeUp(buoy('B', 0))], mixed)
  assert.equal(await isDemo(mixed), true)
  await build([measured(buoy('A', 0))], real)
  assert.equal('demo' in (await readManifest(real))!, false)
  assert.ok((await inspectSnapshot(real)).every((line) => !line.startsWith('demo')))
})

test('Measured data after a demo start over: no made-up row stays, the ids do, and the build says so.', async (t) => {
  const dir = folderOf(t)
  await build([madeUp(buoy('B', 0), buoy('A', 0), buoy('C', -1))], dir)
  const idOfA = async (): Promise<number | undefined> =>
    (await openSnapshot(dir)).buoys.find(({ sourceIdentifier }) => sourceIdentifier === 'A')?.id
  const idBefore = await idOfA()
  const lines: string[] = []
  await build([measured(buoy('A', 1))], dir, { write: (...event) => void lines.push(lineText(...event)) })
  assert.equal(await rowsOf(dir), 1)
  assert.equal(await isDemo(dir), false)
  assert.ok(idBefore !== undefined)
  assert.equal(await idOfA(), idBefore)
  assert.match(lines.join(''), /warning: .* holds a demo: none of its made-up data are kept/)
  await build([measured(buoy('A', 2))], dir)
  assert.equal(await rowsOf(dir), 2)
})

test('A demo upon measured data is refused and changes nothing, unless the build is fresh.', async (t) => {
  const dir = folderOf(t)
  await build([measured(buoy('A', 0))], dir)
  const before = (await readManifest(dir))!.id
  await assert.rejects(
    build([madeUp(buoy('A', 1))], dir),
    /^BuildError: .*holds measured data, .* give the demo a folder of its own/,
  )
  assert.equal((await readManifest(dir))!.id, before)
  await build([madeUp(buoy('A', 1))], dir, { fresh: true })
  assert.equal(await isDemo(dir), true)
  assert.equal(await rowsOf(dir), 1)
})
