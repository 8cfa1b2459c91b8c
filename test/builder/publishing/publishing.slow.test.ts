/** Builders that publish to a bucket, one after the other and at once. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkFolder } from '../../../src/builder/folder-check.ts'
import { listKept, resume, rollback } from '../../../src/snapshot/retained.ts'
import type { Source } from '../../../src/sources/source.ts'
import { BuildError } from '../../../src/system/build-error.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { temporaryFolder } from '../../live.ts'
import { sometimes, StubS3, type StubOptions } from '../../snapshot/store/stub_s3.ts'
import { fakeSource } from '../fake_source.ts'
import { Builder, buoyAt, commitsOf, expectSound, idsOf, NOON } from './builders.ts'

async function stubFor(t: TestContext, options: StubOptions = {}): Promise<StubS3> {
  const stub = await new StubS3(options).listen()
  t.after(() => stub.close())
  return stub
}

const currentId = async (dir: string): Promise<string | undefined> => (await readManifest(dir))?.id

test('A build puts the parts that are missing, then commits, then the pointer, and its folder follows.', async (t) => {
  const stub = await stubFor(t)
  const one = new Builder(temporaryFolder(t), 'one', stub)
  const first = await one.build([buoyAt('A', 0)])
  assert.deepEqual(first.outcome?.kind, 'published')
  const puts = stub.log.filter((line) => line.startsWith('PUT sea/') && !line.includes('probe-'))
  assert.deepEqual(puts.slice(-2), [
    'PUT sea/manifests/0000000001.msgpack 200',
    'PUT sea/manifest.msgpack 200',
  ])
  assert.ok(puts.length >= 5, puts.join('\n'))
  assert.equal(await currentId(one.dir), first.id)
  stub.log.length = 0
  const second = await one.build([buoyAt('A', 0), buoyAt('B', 1)])
  assert.ok(second.outcome?.kind === 'published' && second.outcome.number === 2)
  const again = stub.log.filter((line) => line.startsWith('PUT sea/readings'))
  assert.equal(again.length, 1, 'only the part that changed')
  expectSound(stub)
  assert.deepEqual(await checkFolder(one.dir), [])
  // The same input gives the same snapshot, which is there already.
  const third = await one.build([buoyAt('A', 0), buoyAt('B', 1)])
  assert.deepEqual(third.outcome, { kind: 'same', number: 2 })
  assert.equal(commitsOf(stub).size, 2)
})

test('A builder in an empty folder takes over what the store has, and gives the same ids.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const one = new Builder(folder, 'one', stub)
  await one.build([buoyAt('A', 0), buoyAt('B', 0)])
  const two = new Builder(folder, 'two', stub)
  // B is silent, and C is new: B's id must not be given to it.
  const built = await two.build([buoyAt('C', 1), buoyAt('A', 1)])
  assert.ok(built.outcome?.kind === 'published' && built.outcome.number === 2)
  assert.ok(
    two.lines.some((line) => /^took over number 1, snapshot [0-9a-f]{24}, of s3:\/\/bucket\/sea$/.test(line)),
    two.lines.join('\n'),
  )
  // And back again.
  const back = await one.build([buoyAt('B', 2), buoyAt('D', 2)])
  assert.ok(back.outcome?.kind === 'published' && back.outcome.number === 3)
  expectSound(stub)
  assert.equal(idsOf(stub, back).size, 4)
  const readings = back.parts
    .filter(({ kind }) => kind === 'readings')
    .reduce((sum, { rows }) => sum + rows, 0)
  assert.equal(readings, 6, 'the rows of both builders')
  for (const { dir } of [one, two]) assert.deepEqual(await checkFolder(dir), [])
})

test('Of two builders at once one wins; the other takes over its snapshot, and drops its own.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  await one.build([buoyAt('A', 0)])
  await two.build([buoyAt('A', 0)])
  for (let step = 1; step <= 3; step++) {
    // Each has a new buoy, which gets the same free id in both.
    const built = await Promise.all([
      one.build([buoyAt('A', step), buoyAt(`one${step}`, step)]),
      two.build([buoyAt('A', step), buoyAt(`two${step}`, step)]),
    ])
    const kinds = built.map(({ outcome }) => outcome?.kind)
    assert.ok(kinds.includes('published'), kinds.join())
    for (const [i, builder] of [one, two].entries()) {
      if (kinds[i] !== 'lost') continue
      const winner = built[1 - i]
      assert.equal(await currentId(builder.dir), winner.id)
      assert.ok(!listKept(builder.dir).some(({ id }) => id === built[i].id), 'it is dropped')
      const line = builder.lines.find((text) => text.startsWith('did not publish'))
      assert.match(
        line ?? '',
        /^did not publish snapshot \w{24}, data as of \S+: another builder published number \d+ first, and .* has taken over its snapshot \w{24}$/,
      )
    }
    expectSound(stub)
  }
  for (const { dir } of [one, two]) assert.deepEqual(await checkFolder(dir), [])
})

test('A builder that finds the store gone keeps what it builds, and publishes all of it when the store is back.', async (t) => {
  const stub = await stubFor(t)
  const one = new Builder(temporaryFolder(t), 'one', stub)
  const first = await one.build([buoyAt('A', 0)])
  stub.faultOf = () => '503'
  for (const step of [1, 2]) {
    await assert.rejects(
      one.build([buoyAt('A', step)]),
      /^BuildError: s3:\/\/bucket\/sea\/manifests: the store answered 503 SlowDown \(4 attempts\); snapshot \w{24} is kept in .* and not published: the next build tries again, or: groundswell publish \S+ s3:\/\/bucket\/sea$/,
    )
    assert.equal(await currentId(one.dir), first.id, 'readers of the folder see what those of the store see')
  }
  stub.faultOf = () => null
  const outcome = await one.publish()
  assert.ok(outcome?.kind === 'published' && outcome.number === 2)
  const newest = commitsOf(stub).get(2)!
  assert.equal(
    newest.manifest.parts.find(({ kind }) => kind === 'readings')?.rows,
    3,
    'also what came meanwhile',
  )
  assert.equal(await currentId(one.dir), newest.manifest.id)
  expectSound(stub)
})

test('What was built while the store was gone gives way where another builder published meanwhile.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  await one.build([buoyAt('A', 0)])
  stub.faultOf = () => '503'
  await assert.rejects(one.build([buoyAt('A', 1), buoyAt('mine', 1)]))
  stub.faultOf = () => null
  await two.build([buoyAt('A', 1), buoyAt('theirs', 1)])
  const built = await one.build([buoyAt('A', 2), buoyAt('mine', 2)])
  assert.ok(built.outcome?.kind === 'published' && built.outcome.number === 3)
  expectSound(stub)
})

test('A rollback is published as a new number and holds for every builder, until one of them resumes.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  const good = await one.build([buoyAt('A', 0)])
  await two.build([buoyAt('A', 1)])
  const bad = await one.build([buoyAt('A', 2)])
  await rollback(one.dir, good.id, NOON)
  const outcome = await one.publish()
  assert.ok(outcome?.kind === 'published' && outcome.number === 4)
  assert.equal(commitsOf(stub).get(4)!.manifest.id, good.id)
  assert.notEqual(commitsOf(stub).get(4)!.hold, null)
  // The other builder takes the hold over: it keeps what it builds.
  const waiting = await two.build([buoyAt('A', 3)])
  assert.equal(waiting.published, false)
  assert.ok(
    two.lines.some((line) => line.startsWith('kept snapshot')),
    two.lines.join('\n'),
  )
  assert.equal(await currentId(two.dir), good.id)
  assert.equal(commitsOf(stub).size, 4)
  // So does the one that was rolled back.
  assert.equal((await one.build([buoyAt('A', 3)])).published, false)
  assert.equal(commitsOf(stub).size, 4)
  await resume(two.dir)
  const resumed = await two.publish()
  assert.ok(resumed?.kind === 'published' && resumed.number === 5)
  assert.equal(commitsOf(stub).get(5)!.hold, null)
  const after = await one.build([buoyAt('A', 4)])
  assert.ok(after.published && after.outcome?.kind === 'published' && after.outcome.number === 6)
  assert.notEqual(after.id, bad.id)
  expectSound(stub)
})

test('A store that ignores conditions needs --single-writer, with which the pointer follows all the same.', async (t) => {
  for (const conditions of ['ignore', 'refuse'] as const) {
    const stub = await stubFor(t, { conditions })
    const folder = temporaryFolder(t)
    await assert.rejects(
      new Builder(folder, 'one', stub).build([buoyAt('A', 0)]),
      /^BuildError: s3:\/\/bucket\/sea: the store ignores the condition "only where the name is free" \(If-None-Match: \*\), so two builders could overwrite each other; where this is the only one that publishes there, say so with --single-writer$/,
    )
    assert.deepEqual(stub.keys(), [], 'nothing is left')
    const single = new Builder(folder, 'single', stub, { singleWriter: true })
    for (const step of [0, 1]) await single.build([buoyAt('A', step)])
    assert.equal(commitsOf(stub).size, 2)
    expectSound(stub)
  }
})

test('A builder that died after its commit leaves a pointer that the next one mends.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const one = new Builder(folder, 'one', stub)
  await one.build([buoyAt('A', 0)])
  stub.faultOf = ({ method, key }) => (method === 'PUT' && key === 'sea/manifest.msgpack' ? '503' : null)
  await assert.rejects(one.build([buoyAt('A', 1)]), /manifest\.msgpack: the store answered 503/)
  stub.faultOf = () => null
  assert.equal(commitsOf(stub).size, 2)
  assert.throws(() => expectSound(stub), /the pointer/)
  const two = new Builder(folder, 'two', stub)
  await two.build([buoyAt('A', 1)])
  expectSound(stub)
  // Its own commit is no other builder's: it goes on from there.
  const next = await one.build([buoyAt('A', 2)])
  assert.equal(next.outcome?.kind, 'published')
  expectSound(stub)
})

test('A builder whose clock is an hour off publishes and collects as any other.', async (t) => {
  const folder = temporaryFolder(t)
  const now = NOON + 86_400 * 40
  for (const off of [-3600, 3600]) {
    const stub = await stubFor(t, { clock: () => now * 1000 })
    const one = new Builder(folder, `off${off}`, stub, { clock: () => now + off })
    await one.build([buoyAt('A', 0)])
    assert.ok(
      one.lines.some((line) => line.includes('the clock of this machine is 60 minutes')),
      one.lines.join('\n'),
    )
    await one.build([buoyAt('A', 1)])
    expectSound(stub)
    assert.equal(commitsOf(stub).size, 2)
  }
})

test('Objects that no kept commit names go a day after they came, by the clock of the store; others stay.', async (t) => {
  let day = 0
  const clock = (): number => NOON + day * 86_400
  const stub = await stubFor(t, { clock: () => clock() * 1000 })
  const folder = temporaryFolder(t)
  const one = new Builder(folder, 'one', stub, { keep: 2, clock })
  await one.build([buoyAt('A', 0)])
  stub.set('sea/notes.txt', 'not ours')
  stub.set('sea/readings-of-mine.msgpack', 'not ours')
  stub.set(`sea/readings-${'a'.repeat(32)}.msgpack`, 'left by a killed builder')
  const before = stub.keys()
  for (const step of [1, 2, 3]) await one.build([buoyAt('A', step)])
  for (const key of before) assert.ok(stub.bytesOf(key) !== undefined, `${key} is younger than a day`)
  assert.equal(commitsOf(stub).size, 4)
  day = 1.1
  stub.set(`sea/readings-${'b'.repeat(32)}.msgpack`, 'another builder is about to commit it')
  await one.build([buoyAt('A', 4)])
  assert.deepEqual([...commitsOf(stub).keys()], [4, 5])
  assert.ok(
    stub.bytesOf('sea/notes.txt') !== undefined && stub.bytesOf('sea/readings-of-mine.msgpack') !== undefined,
  )
  assert.equal(stub.bytesOf(`sea/readings-${'a'.repeat(32)}.msgpack`), undefined)
  assert.ok(stub.bytesOf(`sea/readings-${'b'.repeat(32)}.msgpack`) !== undefined)
  expectSound(stub)
  const two = new Builder(folder, 'two', stub, { keep: 2, clock })
  await two.build([buoyAt('A', 5)])
  expectSound(stub)
})

test('A part that could be collected before its commit is put anew.', async (t) => {
  let day = 0
  const clock = (): number => NOON + day * 86_400
  const stub = await stubFor(t, { clock: () => clock() * 1000 })
  const one = new Builder(temporaryFolder(t), 'one', stub, { clock })
  const first = await one.build([buoyAt('A', 0)])
  const part = first.parts.find(({ kind }) => kind === 'readings')!.file
  await one.build([buoyAt('A', 1)])
  day = 0.9
  await rollback(one.dir, first.id, clock())
  await one.publish()
  assert.equal(stub.objects.get(`sea/${part}`)!.at(-1)!.modified, clock() * 1000)
})

test('A builder that was stalled over many commits does not commit under a number that was collected.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  await one.build([buoyAt('A', 0)])
  await two.build([buoyAt('A', 0)])
  // While `one` puts number 2, the others come to number 4 and number 2 is collected.
  let isDone = false
  const original = stub.faultOf
  const others = async (): Promise<void> => {
    for (const step of [1, 2, 3]) await two.build([buoyAt('A', step), buoyAt('theirs', step)])
    stub.objects.delete('sea/manifests/0000000002.msgpack')
    isDone = true
  }
  const put = one.store.put.bind(one.store)
  one.store.put = async (name, body, options) => {
    if (name === 'manifests/0000000002.msgpack' && !isDone) await others()
    return put(name, body, options)
  }
  const built = await one.build([buoyAt('A', 9), buoyAt('mine', 9)])
  stub.faultOf = original
  assert.deepEqual(built.outcome?.kind, 'lost')
  assert.equal(await currentId(one.dir), commitsOf(stub).get(4)!.manifest.id)
  const next = await one.build([buoyAt('A', 10), buoyAt('mine', 10)])
  assert.ok(next.outcome?.kind === 'published' && next.outcome.number === 5)
  stub.objects.delete('sea/manifests/0000000001.msgpack')
  stub.objects.delete('sea/manifests/0000000002.msgpack')
  expectSound(stub)
})

test('With one call in ten failing, builders in turn and at once end on the same snapshot.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  stub.faultOf = sometimes(10, ['503', '500', 'reset', 'lost', 'truncate', 'wrong'])
  const settle = async (building: Promise<unknown>): Promise<void> => {
    await building.catch((error: unknown) => assert.match(String(error), /BuildError|StoreError/))
  }
  for (let step = 0; step < 4; step++) {
    await Promise.all(
      [one, two].map((builder, i) =>
        settle(builder.build([buoyAt('A', step), buoyAt(`n${i}${step}`, step)])),
      ),
    )
  }
  stub.faultOf = () => null
  for (const builder of [one, two, one]) await builder.build([buoyAt('A', 9)])
  assert.equal(await currentId(one.dir), await currentId(two.dir))
  expectSound(stub)
  for (const { dir } of [one, two]) assert.deepEqual(await checkFolder(dir), [])
})

test('A folder that has snapshots of its own does not mix with a store that has others.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const one = new Builder(folder, 'one', stub)
  await one.build([buoyAt('A', 0)])
  const other = new Builder(folder, 'other', stub)
  await other.build([buoyAt('B', 0)], { publish: false })
  const own = await currentId(other.dir)
  await assert.rejects(
    other.build([buoyAt('B', 1)]),
    /have grown apart: the snapshots of the folder were not built upon number 1/,
  )
  assert.equal(await currentId(other.dir), own)
  // A folder that only lost its note of what it published goes on.
  rmSync(join(one.dir, 'published.json'))
  const next = await one.build([buoyAt('A', 1)])
  assert.ok(next.outcome?.kind === 'published' && next.outcome.number === 2)
  expectSound(stub)
})

test('A source that is silent at one builder is carried over from what another one read last.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const feed = (identifier: string, step: number, isSilent = false): Source => ({
    ...fakeSource([buoyAt(identifier, step)]),
    terms: { name: `feed ${identifier}`, info: {}, accepts: () => true },
    ...(isSilent && { read: () => Promise.reject(new BuildError('it is away')) }),
  })
  const one = new Builder(folder, 'one', stub)
  await one.build([feed('A', 0), feed('B', 0)])
  const commit = commitsOf(stub).get(1)!
  const given = readFileSync(join(one.dir, `given-${commit.manifest.id}.jsonl`))
  assert.deepEqual(stub.bytesOf(`sea/${commit.states!.file}`), given)
  const two = new Builder(folder, 'two', stub)
  const built = await two.build([feed('A', 1), feed('B', 1, true)])
  assert.equal(built.outcome?.kind, 'published', two.lines.join('\n'))
  assert.equal(idsOf(stub, built).size, 2)
  assert.equal(
    built.parts.find(({ kind }) => kind === 'catalog')?.rows,
    2,
    'the buoy of the silent source stays',
  )
  expectSound(stub)
})
