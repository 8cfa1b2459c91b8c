/** Exports that are killed or fill the disk: one export, old or new, is whole. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { build, fakeSource, SMALL_WORLD } from '../fake_source.ts'
import { onSmallDisk } from '../../faults/folder.ts'
import { runCli, runCliWell, temporaryFolder } from '../../live.ts'
import { CLI } from '../../started_program.ts'
import { assertWhole, filesIn } from './exporting.ts'

/** Exports that are killed at moments spread over the time of one. GROUNDSWELL_KILLS sets how many. */
const KILLS = Number(process.env['GROUNDSWELL_KILLS'] ?? 3)

/** A folder with a few months of made-up readings. */
async function snapshots(t: TestContext): Promise<{ folder: string; dir: string }> {
  const folder = temporaryFolder(t)
  const dir = join(folder, 'snapshots')
  const months = ['--source=demo:scale,buoys=20,days=150', '--as-of=2026-03-10']
  await runCliWell(['build', ...months, '--out', dir])
  return { folder, dir }
}

test('An export that is killed at any moment leaves the one before, or is whole, and the next one ends it.', async (t) => {
  const { folder, dir } = await snapshots(t)
  const out = join(folder, 'out')
  const began = performance.now()
  await runCliWell(['export', dir, '--out', join(folder, 'timed')])
  const took = performance.now() - began
  let killed = 0
  for (let i = 0; i < KILLS; i++) {
    const child = spawn(process.execPath, [CLI, 'export', dir, '--out', out], { stdio: 'ignore' })
    const ended = new Promise<NodeJS.Signals | null>((resolve) => {
      child.once('exit', (_code, signal) => resolve(signal))
    })
    await sleep((took * (i + 0.5)) / KILLS)
    child.kill('SIGKILL')
    if ((await ended) === 'SIGKILL') killed++
    assertWhole(out)
  }
  assert.ok(killed > 0)
  await runCliWell(['export', dir, '--out', out])
  assert.deepEqual(assertWhole(out)?.files, assertWhole(join(folder, 'timed'))!.files)
  assert.deepEqual(filesIn(out), filesIn(join(folder, 'timed')))
})

test('A full disk ends an export with a sentence, and the next one on a larger disk succeeds.', (t) =>
  onSmallDisk(t, '400k', async (disk) => {
    const { dir } = await snapshots(t)
    const { code, stderr } = await runCli(['export', dir, '--out', disk])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /no space is left on the disk \(ENOSPC\); the export before this one stays as it was/,
    )
    assert.equal(assertWhole(disk), null)
    assert.deepEqual(readdirSync(disk), [])
    spawnSync('mount', ['-o', 'remount,size=20m', disk])
    await runCliWell(['export', dir, '--out', disk])
    assert.ok(assertWhole(disk)!.files.length > 5)
  }))

test('An export must not lie in the folder of snapshots, and goes to no bucket or web server.', async (t) => {
  const folder = temporaryFolder(t)
  const dir = join(folder, 'snapshots')
  await build([fakeSource(SMALL_WORLD)], dir)
  mkdirSync(join(folder, 'snapshots-2'))
  for (const out of [dir, join(dir, 'bulk'), `${dir}/../snapshots/x`]) {
    const { code, stderr } = await runCli(['export', dir, '--out', out])
    assert.equal(code, 2, out)
    assert.match(
      stderr,
      /^groundswell: --out: .* is or lies in the folder of snapshots .*; name a folder outside it/,
    )
  }
  for (const out of ['s3://bucket/bulk', 'https://example.org/bulk/']) {
    const { code, stderr } = await runCli(['export', dir, '--out', out])
    assert.deepEqual([code, stderr.includes(`--out: ${out} is not a folder`)], [2, true])
  }
  await runCliWell(['export', dir, '--out', join(folder, 'snapshots-2')])
  assertWhole(join(folder, 'snapshots-2'))
})
