/**
 * When a reloader tries a refused snapshot again; what else may befall a folder is in
 * `damage-live.nightly.test.ts`.
 */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { Reloader } from '../../src/server/reload.ts'
import { folderSupply } from '../../src/server/supply.ts'
import { preparedFolders } from './folder.ts'

const { ids, copyFor } = preparedFolders()

test('A clock that jumps at every look neither spoils a reload nor moves the next attempt at a refused one.', async (t) => {
  let now = 1_800_000_000
  // A year back, a century forth, a year back …
  const jump = (): number => (now += now > 1_800_000_000 ? -101 * 31_557_600 : 100 * 31_557_600)
  const at = copyFor(t)
  // A server's reloader that serves the older of two snapshots.
  const reloader = new Reloader({
    dir: at.dir,
    supply: folderSupply(at.dir),
    maxMemory: 0,
    threads: 2,
    clock: jump,
    log: () => {},
    serve: async () => {},
  })
  await reloader.poll()
  assert.equal(reloader.snapshot?.id, ids[0])
  const [part] = at.fresh
  renameSync(at.path(part), at.path('later'))
  at.announce(1)
  await reloader.poll()
  const { refused, took } = reloader.state
  assert.ok(took !== null && took >= 0 && took < 20, `it took ${took} s`)
  renameSync(at.path('later'), at.path(part))
  const began = performance.now()
  // It is not its time yet, whatever the clock says.
  await reloader.poll()
  assert.equal(reloader.state.refused, refused)
  assert.equal(reloader.snapshot?.id, ids[0])
  while (reloader.snapshot?.id !== ids[1]) {
    assert.ok(performance.now() - began < 10_000, 'it is not tried again')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await reloader.poll()
  }
  assert.equal(reloader.state.error, null)
})
