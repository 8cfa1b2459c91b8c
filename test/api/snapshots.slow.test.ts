/**
 * What a snapshot promises from build to build: the same bytes for the same input, and ids that never change.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Client, runCliWell, startLive, temporaryFolder } from '../live.ts'
import { makeWorld, smallWorld, writeCsv, type World } from '../oracle/world.ts'

/** Every file of a snapshot folder and the hash of its bytes. */
function hashes(folder: string): [string, string][] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      // Reports tell when they were made, and how long it took.
      .filter((entry) => entry.isFile() && !entry.name.startsWith('report-'))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [path.slice(folder.length), createHash('sha256').update(readFileSync(path)).digest('hex')] as [
          string,
          string,
        ]
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

interface Item {
  id: number
  name: string
  slug: string
  source_identifier: string
  last_reading: { uuid: string }
}

test('The same input gives the same files, byte by byte.', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const world = makeWorld(11, 10)
  writeCsv(world, join(folder, 'one'))
  writeCsv({ ...world, buoys: world.buoys.toReversed() }, join(folder, 'turned'))
  const build = (from: string, out: string) =>
    runCliWell(['build', '--source', `csv:${join(folder, from)}`, '--out', join(folder, out)])
  await build('one', 'a')
  const first = hashes(join(folder, 'a'))
  assert.ok(first.length >= 3)
  await build('one', 'b')
  assert.deepEqual(hashes(join(folder, 'b')), first)
  await build('one', 'a')
  assert.deepEqual(hashes(join(folder, 'a')), first)
  await build('turned', 'c')
  assert.deepEqual(hashes(join(folder, 'c')), first)
})

test('Ids and slugs outlive other buoys that come and go.', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const snapshots = join(folder, 'snapshots')
  const world = smallWorld()
  // Sorts before all others, and has the name of one of them.
  const early = { ...world.buoys[0], identifier: 'A0', name: 'Bravo', lat: 29 }
  const renamed = { ...world.buoys[1], name: 'Zulu' }
  const steps: World[] = [
    world,
    { ...world, buoys: [early, world.buoys[0], renamed, world.buoys[2]] },
    { ...world, buoys: world.buoys.slice(1) },
    { ...world, buoys: [...world.buoys, early] },
  ]
  const seen: Map<string, Item>[] = []
  for (const [index, step] of steps.entries()) {
    const source = join(folder, String(index))
    writeCsv(step, source)
    await runCliWell(['build', '--source', `csv:${source}`, '--out', snapshots])
    seen.push(await listed(t, snapshots))
  }
  const of = (step: number, identifier: string) => seen[step].get(identifier)
  assert.deepEqual(
    ['S0', 'S1', 'S2'].map((identifier) => [of(0, identifier)?.id, of(0, identifier)?.slug]),
    [
      [1, 'alpha'],
      [2, 'bravo'],
      [3, 'charlie'],
    ],
  )
  assert.deepEqual([of(1, 'A0')?.id, of(1, 'A0')?.slug], [4, 'bravo-2'])
  assert.deepEqual([of(1, 'S1')?.id, of(1, 'S1')?.slug, of(1, 'S1')?.name], [2, 'bravo', 'Zulu'])
  assert.equal(of(2, 'S0'), undefined)
  assert.deepEqual([of(2, 'S2')?.id, of(2, 'S2')?.slug], [3, 'charlie'])
  assert.deepEqual([of(3, 'S0')?.id, of(3, 'S0')?.slug], [1, 'alpha'])
  assert.deepEqual([of(3, 'A0')?.id, of(3, 'A0')?.slug], [4, 'bravo-2'])
  for (const identifier of ['S1', 'S2']) {
    const uuids = new Set(seen.map((step) => step.get(identifier)?.last_reading.uuid))
    assert.equal(uuids.size, 1)
  }
})

async function listed(t: TestContext, snapshots: string): Promise<Map<string, Item>> {
  const live = await startLive(t, { snapshots })
  const client = new Client(live)
  const { text } = await client.get('/buoys?active_only=false')
  client.close()
  await live.stop()
  const { data } = JSON.parse(text) as { data: { buoys: Item[] } }
  return new Map(data.buoys.map((item) => [item.source_identifier, item]))
}
