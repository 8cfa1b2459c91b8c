/** Builders that are killed, meet, or fill the disk: the folder holds a whole snapshot, and recovers. */
import assert from 'node:assert/strict'
import { readdirSync, statfsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { collectGarbage } from '../../src/snapshot/garbage.ts'
import { listKept } from '../../src/snapshot/retained.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { Client, runCli, runCliWell, startLive, temporaryFolder } from '../live.ts'
import { until } from '../until.ts'
import { amount, asOf, build, names, onSmallDisk, startBuilder } from './folder.ts'
import { ended } from '../started_program.ts'

/** Names that a folder may hold when no builder is at work. */
const OWN_NAME =
  /^(registry\.jsonl|(manifest(-\d{6}-[0-9a-f]{24})?|(catalog|readings|weather|aggregates|passes|forecast|tides)-[0-9a-f]{32})\.msgpack|report-[0-9a-f]{24}\.(json|html))$/

test('A builder killed at any moment leaves a whole snapshot, and the next build leaves nothing behind.', async (t) => {
  const folder = join(temporaryFolder(t), 'snapshots')
  await build(folder, 0)
  const live = await startLive(t, { snapshots: folder })
  const client = new Client(live)
  const kills = amount(25, 500)
  // An unhindered build takes as long as it takes on this machine; the first third of it is only Node's
  // start.
  const began = performance.now()
  await ended(startBuilder(folder, 1))
  const whole = performance.now() - began
  let struck = 0
  let step = 2
  for (; struck < kills; step++) {
    assert.ok(step < kills * 5, `only ${struck} of ${step} builders were hit while they worked`)
    const builder = startBuilder(folder, step)
    const end = ended(builder)
    await setTimeout(whole * (0.3 + 0.7 * ((step * 0.618034) % 1)))
    builder.kill('SIGKILL')
    if ((await end) === 'SIGKILL') struck++
    const { id } = await loadSnapshot(folder)
    const { status, headers } = await client.get('/buoys?per_page=1')
    assert.equal(status, 200)
    assert.match(String(headers['x-snapshot-id']), /^[0-9a-f]{24}$/)
    if (step % 25 === 24) {
      assert.match(await runCliWell(['check', folder]), /whole/, `after ${struck} kills, at ${id}`)
    }
  }
  // As if the grace that young files have were over.
  const past = Date.now() / 1000 - 3600
  for (const file of readdirSync(folder)) {
    if (OWN_NAME.test(file)) utimesSync(join(folder, file), past, past)
  }
  const id = await build(folder, step)
  assert.deepEqual(
    readdirSync(folder).filter((name) => !OWN_NAME.test(name)),
    [],
  )
  const named = new Set(
    listKept(folder).flatMap(({ id, manifest }) => [
      ...manifest!.parts.map(({ file }) => file),
      ...['json', 'html'].map((kind) => `report-${id}.${kind}`),
    ]),
  )
  const others = readdirSync(folder).filter((name) => !/^(manifest|registry)/.test(name))
  assert.deepEqual(
    others.filter((name) => !named.has(name)),
    [],
  )
  assert.match(await runCliWell(['check', folder]), /whole/)
  await until(async () => (await client.get('/buoys?per_page=1')).headers['x-snapshot-id'] === id)
  t.diagnostic(
    `${struck} builders killed at work, ${step - 2 - struck} were faster; ${live.output().stderr.match(/refused/g)?.length ?? 0} refusals by the server`,
  )
})

test('A full disk fails the build, not the snapshot that is there.', (t) =>
  onSmallDisk(t, '8m', async (folder) => {
    const first = await build(folder, 0)
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(join(folder, 'ballast'), new Uint8Array(bavail * bsize - 500_000))
    const args = ['build', '--source', 'demo:scale,buoys=60,days=60', '--out', folder, '--as-of', asOf(48)]
    const { code, stderr } = await runCli(args)
    assert.equal(code, 1)
    assert.match(stderr, /no space is left on the disk \(ENOSPC\)/)
    assert.equal((await loadSnapshot(folder)).id, first)
    assert.deepEqual(names(folder, '.tmp-'), [])
    assert.match(await runCliWell(['check', folder]), /whole/)
    writeFileSync(join(folder, 'ballast'), '')
    assert.notEqual(await build(folder, 48), first)
    assert.deepEqual(names(folder, '.tmp-'), [])
  }))

test('Parts of a build that failed make room again before the next one writes.', async (t) => {
  const folder = temporaryFolder(t)
  const orphan = `readings-${'0'.repeat(32)}.msgpack`
  for (const name of [orphan, 'notes.txt']) writeFileSync(join(folder, name), 'x')
  const now = Date.now() / 1000
  collectGarbage(folder, 5, now)
  assert.equal(readdirSync(folder).length, 2, 'young files stay')
  // A clock that was set back makes files seem to come from the future: nothing is taken for old.
  collectGarbage(folder, 5, now - 86_400)
  assert.equal(readdirSync(folder).length, 2)
  // Nor by one that lost the lock meanwhile.
  collectGarbage(folder, 5, now + 3600, () => false)
  assert.equal(readdirSync(folder).length, 2)
  collectGarbage(folder, 5, now + 3600)
  assert.deepEqual(readdirSync(folder).toSorted(), ['notes.txt'])
})
