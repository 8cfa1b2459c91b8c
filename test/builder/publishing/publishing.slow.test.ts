/** Builders that publish to a bucket: one by itself, its successor in an empty folder, and two at once. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkFolder } from '../../../src/builder/folder-check.ts'
import { listKept, resume, rollback } from '../../../src/snapshot/retained.ts'
import type { Source } from '../../../src/sources/source.ts'
import { StoreError } from '../../../src/snapshot/store/store.ts'
import { BuildError } from '../../../src/system/build-error.ts'
import { plainManifest } from '../../../src/builder/publishing/prefix.ts'
import { pack } from '../../../src/snapshot/snapshot-format.ts'
import { temporaryFolder } from '../../live.ts'
import { sometimes, type StubRequest, stubFor } from '../../snapshot/store/stub_s3.ts'
import { fakeSource, readingsOf } from '../fake_source.ts'
import { Builder, buoyAt, commitsOf, expectSound, idsOf, NOON, sceneFor, currentId } from './builders.ts'

/** What a builder says that finds another one's snapshot. */
const ANOTHER =
  /^BuildError: s3:\/\/bucket\/sea: has snapshot \w{24}, published at 2026-03-27T12:00:00Z by process \d+ on \S+, which is not what \S+ published last: another builder publishes there, or the store shows an old state\. If it lags, wait some minutes and try again\. One builder publishes to a prefix, and nothing of this one is published: give it an empty prefix, or an empty folder, which continues what the store has$/

test('A build puts the parts that are missing, then the manifest, and its folder follows.', async (t) => {
  const { stub, one } = await sceneFor(t)
  const first = await one.build([buoyAt('A', 0)])
  assert.ok(first.outcome)
  const puts = stub.log.filter((line) => line.startsWith('PUT sea/') && !line.includes('probe-'))
  assert.equal(puts.at(-1), 'PUT sea/manifest.msgpack 200')
  assert.ok(puts.length >= 4, puts.join('\n'))
  assert.equal(await currentId(one.dir), first.id)
  stub.log.length = 0
  const second = await one.build([buoyAt('A', 0), buoyAt('B', 1)])
  assert.ok(second.outcome)
  const again = stub.log.filter((line) => line.startsWith('PUT sea/readings'))
  assert.equal(again.length, 1, 'only the part that changed')
  expectSound(stub)
  assert.deepEqual(await checkFolder(one.dir), [])
  // The same input gives the same snapshot, which is there already.
  const third = await one.build([buoyAt('A', 0), buoyAt('B', 1)])
  assert.equal(third.outcome, null)
  assert.equal(commitsOf(stub).length, 2)
})

test('A builder in an empty folder continues what the store has, gives the same ids, and the one before is refused.', async (t) => {
  const { stub, one, two } = await sceneFor(t)
  const first = await one.build([buoyAt('A', 0), buoyAt('B', 0)])
  // B is silent, and C is new: B's id must not be given to it.
  assert.ok((await two.build([buoyAt('C', 1), buoyAt('A', 1)])).outcome)
  assert.match(
    two.lines.join('\n'),
    /^continues snapshot [0-9a-f]{24}, published at 2026-03-27T12:00:00Z by process \d+ on \S+ at s3:\/\/bucket\/sea$/m,
  )
  const next = [buoyAt('B', 2), buoyAt('D', 2)]
  await assert.rejects(one.build(next), ANOTHER)
  assert.equal(await currentId(one.dir), first.id)
  rmSync(one.dir, { recursive: true })
  const back = await one.build(next)
  assert.ok(back.outcome)
  expectSound(stub)
  assert.equal(idsOf(stub, back).size, 4)
  assert.equal(readingsOf(back), 6, 'the rows of both builders')
  for (const { dir } of [one, two]) assert.deepEqual(await checkFolder(dir), [])
})

test('Of two builders at once one publishes; the other stops, says who was there, and leaves its folder as it was.', async (t) => {
  const { stub, one, two } = await sceneFor(t)
  const builders = [one, two]
  const all = [builders[0].build([buoyAt('A', 0)]), builders[1].build([buoyAt('B', 0)])]
  const [first, second] = await Promise.allSettled(all)
  const [winner, loser] = first.status === 'fulfilled' ? builders : builders.toReversed()
  const refusal = first.status === 'fulfilled' ? second : first
  assert.match(String(refusal.status === 'rejected' && refusal.reason), ANOTHER)
  assert.equal(await currentId(loser.dir), undefined)
  const commits = commitsOf(stub)
  assert.equal(commits.length, 1)
  assert.equal(commits[0].manifest.id, await currentId(winner.dir))
  for (let step = 1; step <= 3; step++) {
    await assert.rejects(loser.build([buoyAt('A', step)]), ANOTHER)
    await winner.build([buoyAt('A', step)])
  }
  assert.equal(commitsOf(stub).length, 4)
  expectSound(stub)
})

test('A builder that was stalled while another one published is refused by the store, also after many snapshots.', async (t) => {
  const { stub, one, two } = await sceneFor(t)
  const first = await one.build([buoyAt('A', 0)])
  const put = one.store.put.bind(one.store)
  one.store.put = async (name, body, options) => {
    if (name === 'manifest.msgpack') {
      one.store.put = put
      for (const step of [1, 2, 3]) await two.build([buoyAt('A', step), buoyAt('theirs', step)])
    }
    return put(name, body, options)
  }
  await assert.rejects(one.build([buoyAt('A', 9), buoyAt('mine', 9)]), ANOTHER)
  assert.ok(stub.log.includes('PUT sea/manifest.msgpack 412 PreconditionFailed'))
  assert.equal(await currentId(one.dir), first.id)
  assert.equal(commitsOf(stub).at(-1)!.manifest.id, await currentId(two.dir))
  expectSound(stub)
})

test('A builder in an empty folder does not begin anew while the store does not answer.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  await new Builder(folder, 'one', stub).build([buoyAt('A', 0)])
  const two = new Builder(folder, 'two', stub)
  stub.faultOf = () => '503'
  await assert.rejects(two.build([buoyAt('B', 1)]), /^StoreError: .* the store answered 503 SlowDown/)
  assert.deepEqual(listKept(two.dir), [])
  stub.faultOf = () => null
  assert.ok((await two.build([buoyAt('B', 1)])).outcome)
  expectSound(stub)
})

test('A rollback is published and holds, also for the next builder, until it is resumed.', async (t) => {
  const { stub, one, two } = await sceneFor(t)
  const good = await one.build([buoyAt('A', 0)])
  const bad = await one.build([buoyAt('A', 1)])
  await rollback(one.dir, good.id, NOON)
  assert.ok(await one.publish())
  assert.equal(commitsOf(stub).at(-1)!.manifest.id, good.id)
  assert.notEqual(commitsOf(stub).at(-1)!.hold, null)
  // It keeps what it builds, and so does a builder that continues from the store.
  for (const builder of [one, two]) {
    const waiting = await builder.build([buoyAt('A', 2)])
    assert.equal(waiting.published, false)
    assert.match(builder.lines.join('\n'), /^kept snapshot/m)
    assert.equal(await currentId(builder.dir), good.id)
    assert.equal(commitsOf(stub).length, 3)
  }
  await resume(two.dir)
  assert.ok(await two.publish())
  assert.equal(commitsOf(stub)[3].hold, null)
  const after = await two.build([buoyAt('A', 3)])
  assert.ok(after.published && after.outcome)
  assert.notEqual(after.id, bad.id)
  assert.equal(commitsOf(stub).length, 5)
  expectSound(stub)
})

test('A store that ignores one of the conditions, or refuses them, needs --single-writer.', async (t) => {
  for (const conditions of ['ignore', 'refuse', 'only If-None-Match'] as const) {
    const stub = await stubFor(t, { conditions })
    const folder = temporaryFolder(t)
    await assert.rejects(
      new Builder(folder, 'one', stub).build([buoyAt('A', 0)]),
      /^BuildError: s3:\/\/bucket\/sea: the store ignores conditions \(If-None-Match, If-Match\), so two builders could overwrite each other; where this is the only one that publishes there, say so with --single-writer$/,
    )
    assert.deepEqual(stub.keys(), [], 'nothing is left')
    const single = new Builder(folder, 'single', stub, { singleWriter: true })
    for (const step of [0, 1]) await single.build([buoyAt('A', step)])
    assert.equal(commitsOf(stub).length, 2)
    expectSound(stub)
  }
})

test("A manifest that was taken, and whose answer was lost, is found again and not called another builder's.", async (t) => {
  const { stub, one } = await sceneFor(t)
  const isManifest = ({ key }: StubRequest): boolean => key === 'sea/manifest.msgpack'
  for (const step of [0, 1]) {
    let lost = 0
    stub.faultOf = (request) =>
      request.method === 'PUT' && isManifest(request) && lost++ === 0 ? 'lost' : null
    assert.ok((await one.build([buoyAt('A', step)])).outcome)
    assert.ok(stub.log.includes('PUT sea/manifest.msgpack 412 PreconditionFailed'))
  }
  // Nothing answers any more, and the builder ends without knowing.
  let isTaken = false
  stub.faultOf = (request) => {
    if (isTaken) return '503'
    isTaken = request.method === 'PUT' && isManifest(request)
    return isTaken ? 'lost' : null
  }
  await assert.rejects(
    one.build([buoyAt('A', 2)]),
    /is kept in .* and not published: the next build tries again/,
  )
  stub.faultOf = () => null
  assert.equal(commitsOf(stub).length, 3)
  assert.equal(await one.publish(), null)
  assert.equal(await currentId(one.dir), commitsOf(stub)[2].manifest.id)
  assert.ok((await one.build([buoyAt('A', 3)])).outcome)
  expectSound(stub)
})

test('A manifest of which the store took all and answered nothing is published.', async (t) => {
  const { stub, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const put = one.store.put.bind(one.store)
  one.store.put = async (name, body, options) => {
    const answer = await put(name, body, options)
    if (name === 'manifest.msgpack')
      throw new StoreError('the server did not answer in time', { passing: true })
    return answer
  }
  assert.ok((await one.build([buoyAt('A', 1)])).outcome)
  assert.equal(await currentId(one.dir), commitsOf(stub)[1].manifest.id)
  expectSound(stub)
})

test("A manifest that reaches the store late, when the builder has given it up, is not called another builder's.", async (t) => {
  const { stub, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const put = one.store.put.bind(one.store)
  let late = (): Promise<unknown> => Promise.resolve()
  one.store.put = (name, body, options) => {
    if (name !== 'manifest.msgpack') return put(name, body, options)
    late = () => put(name, body, options)
    throw new StoreError('the server did not answer in time', { passing: true })
  }
  await assert.rejects(one.build([buoyAt('A', 1)]), /did not answer in time/)
  one.store.put = async (name, body, options) => {
    if (name === 'manifest.msgpack') await late()
    return put(name, body, options)
  }
  await assert.rejects(
    one.build([buoyAt('A', 2)]),
    /manifest\.msgpack: the store does not show what was put there/,
  )
  one.store.put = put
  assert.equal(commitsOf(stub).length, 2)
  assert.ok((await one.build([buoyAt('A', 3)])).outcome)
  assert.equal(readingsOf(commitsOf(stub)[2].manifest), 4, 'also what came meanwhile')
  expectSound(stub)
})

test('Objects that neither the newest commit nor the one before names go a day after they came, by the clock of the store; others stay.', async (t) => {
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
  const parts = (): number =>
    stub.keys('sea/readings-').filter((key) => !/-(of|a{32}|b{32})/.test(key)).length
  assert.equal(parts(), 4)
  day = 1.1
  stub.set(`sea/readings-${'b'.repeat(32)}.msgpack`, 'another builder is about to name it')
  await one.build([buoyAt('A', 4)])
  assert.equal(parts(), 2, 'of the newest commit and the one before, for its readers')
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

test('With one call in ten failing, a builder and its successors end on the snapshot of the last one, and no id moves.', async (t) => {
  const { stub, one, two } = await sceneFor(t)
  const builders = [one, two]
  stub.faultOf = sometimes(10, ['503', '500', 'reset', 'lost', 'truncate', 'wrong', 'old'])
  const settle = async (builder: Builder, step: number): Promise<void> => {
    try {
      await builder.build([buoyAt('A', step), buoyAt(`n${builders.indexOf(builder)}${step}`, step)])
    } catch (error) {
      assert.match(String(error), /BuildError|StoreError|RequestFault|SnapshotError/)
      // As an operator would.
      if (String(error).includes('an empty folder')) rmSync(builder.dir, { recursive: true })
    }
  }
  for (let step = 0; step < 6; step++) await Promise.all(builders.map((builder) => settle(builder, step)))
  stub.faultOf = () => null
  for (const builder of builders) {
    rmSync(builder.dir, { recursive: true, force: true })
    assert.ok((await builder.build([buoyAt('A', 9 + builders.indexOf(builder))])).outcome)
    assert.deepEqual(await checkFolder(builder.dir), [])
  }
  expectSound(stub)
})

test('A folder that has snapshots of its own does not mix with a store that has others.', async (t) => {
  const { stub, folder, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const other = new Builder(folder, 'other', stub)
  await other.build([buoyAt('B', 0)], { publish: false })
  const own = await currentId(other.dir)
  await assert.rejects(other.build([buoyAt('B', 1)]), ANOTHER)
  assert.equal(await currentId(other.dir), own)
  // A folder that only lost its note of what it published goes on.
  rmSync(join(one.dir, 'published.json'))
  assert.ok((await one.build([buoyAt('A', 1)])).outcome)
  expectSound(stub)
})

test('A prefix and a folder of another version are refused, with a word on going on.', async (t) => {
  const { stub, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const behind = { format: 'groundswell-commit', version: 2, builder: 'x', writer: 'y', at: 1, hold: null }
  stub.set('sea/manifest.msgpack', Buffer.concat([plainManifest(commitsOf(stub)[0].bytes), pack(behind)]))
  const next = [buoyAt('A', 1)]
  await assert.rejects(one.build(next), /is a commit of another version of .* name an empty prefix/)
  writeFileSync(join(one.dir, 'published.json'), '{"format":"groundswell-published","version":2}')
  await assert.rejects(one.build(next), /published\.json: is not of this version; remove it/)
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
  const [commit] = commitsOf(stub)
  const given = readFileSync(join(one.dir, `given-${commit.manifest.id}.jsonl`))
  assert.deepEqual(stub.bytesOf(`sea/${commit.state[1].file}`), given)
  const two = new Builder(folder, 'two', stub)
  const built = await two.build([feed('A', 1), feed('B', 1, true)])
  assert.ok(built.outcome, two.lines.join('\n'))
  assert.equal(idsOf(stub, built).size, 2)
  assert.equal(
    built.parts.find(({ kind }) => kind === 'catalog')?.rows,
    2,
    'the buoy of the silent source stays',
  )
  expectSound(stub)
})
