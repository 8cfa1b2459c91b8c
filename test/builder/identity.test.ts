/** Ids and slugs stay with their buoys: over rollbacks, dropped snapshots and lost files of the folder. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cataloguedBuoys } from '../../src/snapshot/catalog.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { listKept, resume, rollback } from '../../src/snapshot/retained.ts'
import {
  build,
  fakeSource,
  type FakeBuild,
  type FakeBuoy,
  catalogOf,
  folderOf,
  northBuoy,
} from './fake_source.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000

/** A buoy whose row is its own: the wave height is that of its letter. */
const buoy = (letter: string): FakeBuoy =>
  northBuoy(letter, [{ time: NOON, significantHeight: letter.charCodeAt(0) * 10 }], {
    lat: letter.charCodeAt(0) - 64,
  })

/** `LETTER ID SLUG` of the published snapshot, by id. */
async function published(dir: string): Promise<string[]> {
  return cataloguedBuoys(await catalogOf(dir)).map(
    ({ identifier, id, slug }) => `${identifier} ${id} ${slug}`,
  )
}

/** Builds from the buoys of these letters; whatever a rollback holds back is published. */
async function buildOf(dir: string, letters: string, options: FakeBuild = {}): Promise<string[]> {
  await build([fakeSource(letters.split('').map(buoy))], dir, { allowLoss: 1, now: NOON, ...options })
  await resume(dir)
  return published(dir)
}

/** As if all files had been there for an hour before `NOON`. */
function age(dir: string): void {
  for (const file of readdirSync(dir)) utimesSync(join(dir, file), NOON - 3600, NOON - 3600)
}

const A_AND_Z = ['A 1 buoy-a', 'Z 2 buoy-z']
/** M had 3 in a snapshot that was published. */
const WITH_C = ['A 1 buoy-a', 'Z 2 buoy-z', 'M 3 buoy-m', 'C 4 buoy-c']

test('Ids of a snapshot that was rolled back and then dropped by --keep stay given.', async (t) => {
  const dir = folderOf(t)
  await buildOf(dir, 'AZ')
  await buildOf(dir, 'AMZ')
  const [first, second] = listKept(dir)
  await rollback(dir, first.id, NOON)
  for (const letters of ['AZ', 'AYZ', 'AXYZ']) {
    age(dir)
    await buildOf(dir, letters, { keep: 1 })
  }
  assert.ok(!listKept(dir).some(({ id }) => id === second.id))
  assert.ok((await buildOf(dir, 'ACMXYZ')).includes('M 3 buoy-m'))
  assert.deepEqual(await checkFolder(dir), [])
})

test('The registry, when it is lost or damaged, is made anew from all kept snapshots.', async (t) => {
  for (const damage of ['lost', 'empty', 'cut', 'changed', 'other']) {
    const dir = folderOf(t)
    await buildOf(dir, 'AZ')
    await buildOf(dir, 'AMZ')
    await rollback(dir, null, NOON)
    const file = join(dir, 'registry.jsonl')
    const text = readFileSync(file, 'utf8')
    assert.match(text, /"North","M",3,"buoy-m"/)
    if (damage === 'lost') rmSync(file)
    if (damage === 'empty') writeFileSync(file, '')
    if (damage === 'cut') writeFileSync(file, text.slice(0, -20))
    if (damage === 'changed') writeFileSync(file, text.replace('"M",3', '"M",7'))
    if (damage === 'other') writeFileSync(file, '{"format":"something"}\n')
    const faults = await checkFolder(dir)
    assert.equal(faults.length, damage === 'lost' ? 0 : 1, faults.join())
    assert.deepEqual(await buildOf(dir, 'ACMZ'), WITH_C, damage)
    assert.deepEqual(await checkFolder(dir), [])
    assert.match(readFileSync(file, 'utf8'), /"North","C",4,"buoy-c"/)
  }
})

test('A build that fails leaves no id given.', async (t) => {
  const dir = folderOf(t)
  await buildOf(dir, 'AZ')
  const before = readFileSync(join(dir, 'registry.jsonl'), 'utf8')
  await assert.rejects(buildOf(dir, 'M', { allowLoss: 0 }), /are left/)
  assert.equal(readFileSync(join(dir, 'registry.jsonl'), 'utf8'), before)
  assert.deepEqual(await buildOf(dir, 'ACMZ'), [...A_AND_Z, 'C 3 buoy-c', 'M 4 buoy-m'])
})
