/** A rollback holds: later builds are kept, listed and reported, and published only by `resume`. */
import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MANIFEST_FILE } from '../../src/snapshot/manifest.ts'
import { listKept, readHold, removeHold, resume, rollback } from '../../src/snapshot/retained.ts'
import { lockFolder } from '../../src/snapshot/write-snapshot.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import { startDrill } from '../faults/drill.ts'
import { build as buildDemo } from '../faults/folder.ts'
import { runCli, runCliWell } from '../live.ts'
import { startProgram } from '../started_program.ts'
import { until } from '../until.ts'
import { build, fakeSource, type FakeBuoy, folderOf, northBuoy } from './fake_source.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const HALF_HOUR = 1800

/** A feed that gives its newest row only. */
const latest = (step: number): FakeBuoy =>
  northBuoy('A', [{ time: NOON + step * HALF_HOUR, significantHeight: 1000 + step }])

/** Builds what a feed gives at a step, and returns the snapshot's id. */
const buildAt = async (dir: string, step: number): Promise<string> =>
  (await build([fakeSource([latest(step)])], dir, { now: NOON })).id

const publishedId = async (dir: string): Promise<string | undefined> => (await readManifest(dir))?.id

test('A command that stalled while its lock was taken over ends no hold.', async (t) => {
  const dir = folderOf(t)
  const ids = [await buildAt(dir, 0), await buildAt(dir, 1)]
  const stale = lockFolder(dir)
  // As a process does that takes it for dead.
  rmSync(stale.folder, { recursive: true })
  await rollback(dir, null, NOON)
  assert.throws(() => removeHold(dir, stale), /another builder took over while this one stood still/)
  assert.equal(readHold(dir)?.snapshot, ids[0])
  stale.release()
  assert.equal((await resume(dir))?.id, ids[1])
  assert.equal(readHold(dir), null)
})

test('A rollback and its end wait for a build that is at work, and say so.', async (t) => {
  const dir = folderOf(t)
  const [first, second] = [await buildAt(dir, 0), await buildAt(dir, 1)]
  for (const [command, id] of [
    ['rollback', first],
    ['resume', second],
  ]) {
    const builder = lockFolder(dir)
    const waiting = startProgram(t, [command, dir])
    await waiting.says(/a build is at work in \S+: waiting for it, up to 30 s/)
    assert.ok(!waiting.hasEnded())
    builder.release()
    await waiting.says(new RegExp(`published snapshot ${id}`))
    assert.equal(await waiting.ended, 0)
    assert.equal(await publishedId(dir), id)
  }
})

test('A hold file that cannot be understood holds too.', async (t) => {
  const dir = folderOf(t)
  const first = await buildAt(dir, 0)
  await buildAt(dir, 1)
  await rollback(dir, null, NOON)
  writeFileSync(join(dir, 'hold.json'), 'half')
  await buildAt(dir, 2)
  assert.equal(await publishedId(dir), first)
  assert.notEqual((await resume(dir))?.id, first)
})

test('Rollback repairs a lost or broken manifest: the published snapshot comes back, and the hold stays as it was.', async (t) => {
  for (const isHeld of [false, true]) {
    for (const content of [null, 'broken']) {
      const dir = folderOf(t)
      const [first, second] = [await buildAt(dir, 0), await buildAt(dir, 1)]
      if (isHeld) await rollback(dir, null, NOON)
      rmSync(join(dir, MANIFEST_FILE))
      if (content !== null) {
        writeFileSync(join(dir, MANIFEST_FILE), content)
        await assert.rejects(buildAt(dir, 2), /comes back with: groundswell rollback/)
      }
      const { id, held } = await rollback(dir, null, NOON)
      assert.deepEqual([id, held], isHeld ? [first, true] : [second, false])
      const third = await buildAt(dir, 2)
      assert.equal(await publishedId(dir), isHeld ? first : third)
    }
  }
})

test('Rollback ends at the oldest snapshot, and neither it nor resume publishes what is not whole; the hold stays.', async (t) => {
  const dir = folderOf(t)
  const [first, second] = [await buildAt(dir, 0), await buildAt(dir, 1)]
  await rollback(dir, null, NOON)
  await assert.rejects(rollback(dir, null, NOON), /no earlier snapshot/)
  const { parts } = listKept(dir).at(-1)!.manifest!
  writeFileSync(join(dir, parts.at(-1)!.file), 'x')
  for (const publish of [() => resume(dir), () => rollback(dir, second, NOON)]) {
    await assert.rejects(publish, new RegExp(parts.at(-1)!.file))
  }
  assert.equal(await publishedId(dir), first)
  assert.ok(readdirSync(dir).includes('hold.json'))
})

test('The commands, the log of a server and its status show a hold, and builds end with code 0.', async (t) => {
  const dir = folderOf(t)
  const [first, second] = [await buildDemo(dir, 0), await buildDemo(dir, 1)]
  const drill = await startDrill(t, dir)
  const status = async (): Promise<{ [name: string]: unknown }> => ({ ...(await drill.status()) })
  assert.equal((await status()).hold, null)
  assert.match(await runCliWell(['rollback', dir]), /not published, until: groundswell resume/)
  const logged = new RegExp(`serving snapshot ${first}, data as of .*, held since .* groundswell resume`)
  await until(
    () => logged.test(drill.output()),
    () => drill.output(),
  )
  const { code, stderr } = await runCli(['build', '--source', 'demo:scale,buoys=20,days=60', '--out', dir])
  assert.equal(code, 0)
  assert.match(stderr, /kept snapshot [0-9a-f]{24}, .* did not publish it: held since/)
  const lines = (await runCliWell(['list', dir])).trimEnd().split('\n')
  assert.equal(lines.length, 4)
  assert.ok(lines[0].startsWith(first) && lines[0].endsWith('  current'))
  assert.ok(lines[1].startsWith(second) && lines[1].endsWith(' parts'))
  assert.match(lines[2], / {2}not published$/)
  assert.match(lines[3], /^held since \S+ by a rollback, until: groundswell resume /)
  const { hold } = await status()
  assert.equal((hold as { snapshot: string }).snapshot, first)
  const report = JSON.parse(await runCliWell(['report', dir, '--json'])) as { announced: boolean }
  assert.equal(report.announced, false)
  assert.match(await runCliWell(['report', dir]), /not published when it was built: a rollback held$/m)
  assert.match(await runCliWell(['resume', dir]), new RegExp(`published snapshot ${lines[2].slice(0, 24)}`))
  assert.match(await runCliWell(['resume', dir]), /no rollback holds/)
  assert.equal((await status()).hold, null)
  await drill.stop()
})
