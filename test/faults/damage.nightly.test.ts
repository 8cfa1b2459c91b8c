/**
 * What a server's reloader makes of a folder that is not as it should be: what it says once, when it looks
 * again, and what it forgets. What else may befall a folder is in `damage-live.nightly.test.ts`.
 */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { type LoadedSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { Reloader } from '../../src/server/reload.ts'
import { lineText } from '../../src/system/log.ts'
import { preparedFolders, type PreparedFolder } from './folder.ts'

const { ids, copyFor } = preparedFolders()

interface Scene extends Omit<PreparedFolder, 'announce'> {
  log: string[]
  reloader: Reloader
  /** Announces the newer snapshot and looks. */
  announce(): Promise<void>
}

/** A server's reloader that serves the older of two snapshots. */
async function scene(
  t: TestContext,
  maxMemory = 0,
  clock: () => number = () => 1_800_000_000,
): Promise<Scene> {
  const at = copyFor(t)
  const log: string[] = []
  const reloader = new Reloader({
    dir: at.dir,
    maxMemory,
    threads: 2,
    clock,
    // What was read, and how long it took, is for those who look for a fault.
    log: (...event) => void (event[1] === 'debug' || log.push(lineText(...event))),
    serve: async (_held: readonly LoadedSnapshot[]) => {},
  })
  await reloader.poll()
  assert.equal(reloader.snapshot?.id, ids[0])
  return {
    ...at,
    log,
    reloader,
    async announce() {
      at.announce(1)
      await reloader.poll()
    },
  }
}

test('A clock that jumps at every look neither spoils a reload nor moves the next attempt at a refused one.', async (t) => {
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
  await at.reloader.poll()
  assert.equal(at.reloader.state.refused, refused)
  assert.equal(at.reloader.snapshot?.id, ids[0])
  while (at.reloader.snapshot?.id !== ids[1]) {
    assert.ok(performance.now() - began < 10_000, 'it is not tried again')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await at.reloader.poll()
  }
  assert.equal(at.reloader.state.error, null)
})
