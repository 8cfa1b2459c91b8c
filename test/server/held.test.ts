/** Which snapshots are held: the newest, as many as the option says and memory allows. */
import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listKept, rollback } from '../../src/snapshot/retained.ts'
import { Reloader } from '../../src/server/reload.ts'
import { folderSupply } from '../../src/server/supply.ts'
import type { Changes } from '../../src/snapshot/row-changes.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { lineText } from '../../src/system/log.ts'
import { build, fakeSource, SMALL_WORLD } from '../builder/fake_source.ts'
import { temporaryFolder } from '../live.ts'
import { until } from '../until.ts'

/** Builds a snapshot with one more reading, `second` seconds past ten, and returns its id. */
async function buildOne(dir: string, second: number): Promise<string> {
  const [alpha, ...others] = SMALL_WORLD
  const time = Date.parse('2026-03-27T10:00:00Z') / 1000 + second
  const rows = [...alpha.rows, { time, significantHeight: 1 }]
  return (await build([fakeSource([{ ...alpha, rows }, ...others])], dir, { keep: 9 })).id
}

async function buildSome(dir: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let second = 0; second < count; second++) ids.push(await buildOne(dir, second))
  return ids
}

test('After a start the snapshots that the folder kept before are held again, but those that wait, are broken or do not fit.', async (t) => {
  const dir = join(temporaryFolder(t), 'snapshots')
  const ids = await buildSome(dir, 5)
  const heldAfterStart = async (
    hold: number,
    count: number,
  ): Promise<{ held: number[]; pairs: number; log: string[] }> => {
    const log: string[] = []
    let pairs = 0
    const fresh: string[] = []
    const reloader = new Reloader({
      dir,
      supply: folderSupply(dir),
      hold,
      maxMemory: 0,
      threads: 1,
      clock: () => 1_800_000_000,
      log: (text, level) => void (level === 'debug' || log.push(text)),
      serve: (_held, changes, { id }) => {
        pairs = changes.length
        fresh.push(id)
        return Promise.resolve()
      },
      letGo: () => Promise.resolve(),
    })
    await reloader.poll()
    assert.equal(reloader.held.length, 1, 'the port opens with one')
    reloader.start()
    await reloader.poll()
    await until(() => reloader.held.length === count || log.length > 0, 'no look back')
    await reloader.poll()
    reloader.stop()
    assert.equal(new Set(fresh).size, fresh.length, 'each is opened once')
    return { held: reloader.held.map(({ id }) => ids.indexOf(id)), pairs, log }
  }
  assert.deepEqual(await heldAfterStart(3, 3), { held: [2, 3, 4], pairs: 2, log: [] })
  assert.deepEqual(await heldAfterStart(1, 1), { held: [4], pairs: 0, log: [] })
  await rollback(dir, ids[2], 1_800_000_000)
  await buildOne(dir, 9)
  assert.deepEqual((await heldAfterStart(9, 5)).held, [0, 1, 3, 4, 2], 'not the one that waits')
  const kept = listKept(dir)
  const filesOfOthers = new Set(
    kept.flatMap(({ id, manifest }) => (id === ids[1] ? [] : manifest!.parts)).map(({ file }) => file),
  )
  rmSync(join(dir, kept[1].manifest!.parts.find(({ file }) => !filesOfOthers.has(file))!.file))
  const without = await heldAfterStart(9, 4)
  assert.ok(!without.held.includes(1) && without.held.at(-1) === 2, JSON.stringify(without))
  assert.match(without.log[0], new RegExp(`snapshot ${ids[1]} is not held for pinned reads: `))
})

test('The newest snapshots are held, fewer where memory is too small, and the log says so once.', async (t) => {
  const dir = join(temporaryFolder(t), 'snapshots')
  const ids = await buildSome(dir, 6)
  const files = listKept(dir).map(({ file }) => join(dir, file))
  const { parts, threadBytes } = await loadSnapshot(dir)
  const bytes = parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const follow = async (hold: number, maxMemory: number, order: readonly number[]) => {
    const log: string[] = []
    const held: string[][] = []
    let pairs: string[] = []
    const reloader = new Reloader({
      dir,
      supply: folderSupply(dir),
      hold,
      maxMemory,
      threads: 2,
      clock: () => 1_800_000_000,
      log: (...event) => log.push(lineText(...event)),
      serve: (now, changes: readonly Changes[]) => {
        held.push(now.map(({ id }) => id))
        pairs = changes.map(({ since, until }) => [since, until].toSorted().join(' '))
        return Promise.resolve()
      },
      letGo: () => Promise.resolve(),
    })
    for (const step of order) {
      copyFileSync(files[step], join(dir, 'manifest.msgpack'))
      await reloader.poll()
    }
    reloader.stop()
    return { log, held: held.map((each) => each.map((id) => ids.indexOf(id))), pairs }
  }
  const usual = await follow(3, 0, [0, 1, 2, 3, 2, 2])
  assert.deepEqual(usual.held, [[0], [0, 1], [0, 1, 2], [1, 2, 3], [1, 3, 2]])
  assert.equal(new Set(usual.pairs).size, 3, 'each pair is known once')
  assert.equal(usual.pairs.length, 3)
  assert.deepEqual((await follow(1, 0, [0, 1, 0])).held, [[0], [1], [0]])
  // Two views in each of two threads, and no third.
  const tight = await follow(3, 2 * bytes + 5 * threadBytes, [0, 1, 2, 3])
  assert.deepEqual(tight.held, [[0], [0, 1], [1, 2], [2, 3]])
  const said = tight.log.filter((line) => line.startsWith('warning: 2 snapshots are held'))
  assert.equal(said.length, 1, tight.log.join('\n'))
  assert.match(said[0], /--hold-snapshots says 3: more would pass \d+ bytes \(--max-memory\)$/)
})
