/** Pipes and devices in place of a snapshot's files: whoever reads it goes on or tells, and never waits. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listKept } from '../../src/snapshot/retained.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import { newestReport } from '../../src/builder/report-document.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { temporaryFolder } from '../live.ts'
import { build, fakeSource, SMALL_WORLD } from './fake_source.ts'

const PUTS = [
  (path: string): unknown => execFileSync('mkfifo', [path]),
  (path: string): unknown => symlinkSync('/dev/zero', path),
]

test('Builds and reports read no pipe and no device in the place of a kept manifest, a report or a part.', async (t) => {
  const folder = temporaryFolder(t)
  const good = join(folder, 'good')
  await build([fakeSource(SMALL_WORLD)], good)
  const { id } = (await readManifest(good))!
  const kept = listKept(good)[0].file
  const part = readdirSync(good).find((file) => file.startsWith('readings-')) ?? assert.fail('no readings')
  for (const [i, put] of PUTS.entries()) {
    for (const file of [kept, `report-${id}.json`, part]) {
      const dir = join(folder, `${i}-${file}`)
      cpSync(good, dir, { recursive: true })
      // A first build knows no part of the folder, and meets them when it writes its own.
      if (file === part)
        for (const name of readdirSync(dir)) {
          if (name.includes('manifest')) rmSync(join(dir, name))
        }
      rmSync(join(dir, file), { force: true })
      put(join(dir, file))
      if (file === kept) assert.equal(listKept(dir)[0].manifest, null)
      if (file.startsWith('report')) assert.throws(() => newestReport(dir), BuildError)
      await build([fakeSource(SMALL_WORLD)], dir)
      assert.equal((await readManifest(dir))?.id, id)
    }
  }
})
