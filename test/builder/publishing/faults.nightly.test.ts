/** What builders say and do when a store, a disk or a command line is wrong. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkFolder } from '../../../src/builder/folder-check.ts'
import { listKept } from '../../../src/snapshot/retained.ts'
import { onSmallDisk } from '../../faults/folder.ts'
import { runCli, temporaryFolder } from '../../live.ts'
import { rounds } from '../../rounds.ts'
import { IMPATIENT } from '../../snapshot/store/opened.ts'
import { type Fault, stubFor } from '../../snapshot/store/stub_s3.ts'
import { readingsOf } from '../fake_source.ts'
import { Builder, buoyAt, commitsOf, expectSound, sceneFor, currentId } from './builders.ts'

test('A bucket with something else in it is refused before anything is put there.', async (t) => {
  const manifest = 'manifest.msgpack'
  const cases: [keys: { [key: string]: string }, message: RegExp][] = [
    [
      { 'sea/photos/me.jpg': 'x' },
      /^BuildError: s3:\/\/bucket\/sea: holds other objects, such as "photos\/me\.jpg", and no manifest\.msgpack; name an empty prefix, such as s3:\/\/bucket\/sea\/snapshots$/,
    ],
    [
      { [`sea/${manifest}`]: 'of another program' },
      /^BuildError: s3:\/\/bucket\/sea\/manifest\.msgpack: .*, so no builder of this version wrote it; nothing is published there: name an empty prefix/,
    ],
  ]
  for (const [keys, message] of cases) {
    const stub = await stubFor(t)
    for (const [key, text] of Object.entries(keys)) stub.set(key, text)
    const builder = new Builder(temporaryFolder(t), 'one', stub)
    await assert.rejects(builder.build([buoyAt('A', 0)]), message)
    assert.deepEqual(stub.keys(), Object.keys(keys))
    for (const [key, text] of Object.entries(keys)) assert.equal(stub.bytesOf(key)?.toString(), text)
  }
})

test('A store that shows an old state, was emptied, or has another history is not written to.', async (t) => {
  const { stub, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const first = new Map(stub.objects)
  await one.build([buoyAt('A', 1)])
  const current = await currentId(one.dir)
  const all = new Map(stub.objects)
  const set = (objects: typeof all): void => {
    stub.objects.clear()
    for (const [key, versions] of objects) stub.objects.set(key, versions)
  }
  set(first)
  await assert.rejects(
    one.build([buoyAt('A', 2)]),
    /which is not what \S+ published last: another builder publishes there, or the store shows an old state\./,
  )
  set(new Map())
  await assert.rejects(
    one.build([buoyAt('A', 2)]),
    /has no snapshot, and .* has published there; is it the right store\?/,
  )
  const other = new Builder(temporaryFolder(t), 'other', stub)
  await other.build([buoyAt('B', 0)])
  await other.build([buoyAt('B', 1)])
  await assert.rejects(one.build([buoyAt('A', 2)]), /another builder publishes there/)
  assert.equal(await currentId(one.dir), current)
  set(all)
  assert.ok((await one.build([buoyAt('A', 2)])).outcome)
  expectSound(stub)
})

test('A store that loses or changes what it takes is found out before readers see it.', async (t) => {
  const { stub, one } = await sceneFor(t)
  await one.build([buoyAt('A', 0)])
  const pointer = stub.bytesOf('sea/manifest.msgpack')
  const put = one.store.put.bind(one.store)
  // It says that all is well.
  for (const [lost, message] of [
    [
      /^readings-/,
      /sea\/readings-\w+\.msgpack: the store took it and does not list it; nothing is published/,
    ],
    [/^manifest\.msgpack/, /sea\/manifest\.msgpack: the store does not show what was put there/],
  ] as const) {
    one.store.put = (name, body, options) =>
      lost.test(name) ? Promise.resolve('stored') : put(name, body, options)
    await assert.rejects(one.build([buoyAt('A', 1)]), message)
    assert.deepEqual(stub.bytesOf('sea/manifest.msgpack'), pointer)
    assert.equal(commitsOf(stub).length, 1)
  }
  one.store.put = (name, body, options) =>
    put(name, name.startsWith('readings-') ? Buffer.from('half') : body, {
      ...options,
      ...(name.startsWith('readings-') && { sha256: 'UNSIGNED-PAYLOAD' }),
    })
  await assert.rejects(
    one.build([buoyAt('A', 2)]),
    /the store took \d+ bytes and lists 4; nothing is published/,
  )
  one.store.put = put
  assert.ok((await one.build([buoyAt('A', 2)])).outcome)
  expectSound(stub)
})

test('Wrong bytes are not taken over: the folder stays empty, and the line names the object.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  await new Builder(folder, 'one', stub).build([buoyAt('A', 0)])
  const two = new Builder(folder, 'two', stub)
  for (const kind of ['readings', 'registry', 'catalog']) {
    stub.faultOf = ({ method, key }) => (method === 'GET' && key.startsWith(`sea/${kind}-`) ? 'wrong' : null)
    await assert.rejects(
      two.build([buoyAt('A', 2)]),
      new RegExp(`s3://bucket/sea: ${kind}-\\w+\\.\\w+ has other bytes than the manifest says`),
    )
    assert.equal(await currentId(two.dir), undefined)
    assert.deepEqual(listKept(two.dir), [])
    // Parts that came whole stay, and would not be asked for again.
    rmSync(two.dir, { recursive: true })
  }
  stub.faultOf = () => null
  await two.build([buoyAt('A', 4)])
  assert.deepEqual(await checkFolder(two.dir), [])
  expectSound(stub)
})

test('A builder that is cut off at any of its calls, taken or not, goes on from there, and so does its successor.', async (t) => {
  const { stub, folder, one } = await sceneFor(t)
  let step = 0
  await one.build([buoyAt('A', step)])
  const next = (): Builder => new Builder(folder, `successor${step}`, stub)
  const ends = [
    ['reset', () => one],
    ['lost', () => one],
    ['lost', next],
  ] as const
  for (const [i, [last, builderOf]] of ends.entries()) {
    // Each call is cut off by one of the three ends, in the nightly tier by all of them.
    const apart = rounds(ends.length, 1)
    for (let cutAt = 1 + (i % apart), isWhole = false; !isWhole; cutAt += apart) {
      step++
      let calls = 0
      stub.faultOf = () => {
        if (++calls < cutAt) return null
        return calls === cutAt ? last : 'reset'
      }
      const builder = builderOf()
      const given = [buoyAt('A', step), buoyAt(`N${step}`, step)]
      const fault = await builder.build(given).then(
        () => '',
        (error: unknown) => String(error),
      )
      assert.match(fault, /^$|the server cut the connection|does not show what was put/)
      isWhole = calls < cutAt
      if (isWhole) assert.ok(cutAt > 10, `${cutAt} calls`)
      stub.faultOf = () => null
      await builder.build(given)
      expectSound(stub)
      assert.equal(await currentId(builder.dir), commitsOf(stub).at(-1)!.manifest.id)
    }
  }
})

const WAITING: [fault: Fault, method: string, message: RegExp][] = [
  ['503', 'PUT', /the store answered 503 SlowDown \(4 attempts\)/],
  ['hang', 'GET', /the server did not answer in time \(4 attempts\)/],
]

test('A store that answers 503 or hangs leaves the folder as it was, with one line.', async (t) => {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const first = await new Builder(folder, 'one', stub).build([buoyAt('A', 0)])
  const one = new Builder(folder, 'one', stub, { limits: IMPATIENT })
  for (const [i, [fault, method, message]] of WAITING.entries()) {
    stub.faultOf = (request) => (request.method === method ? fault : null)
    await assert.rejects(one.build([buoyAt('A', i + 1)]), (error: Error) => {
      assert.match(error.message, message)
      assert.match(
        error.message,
        /is kept in .* and not published: the next build tries again, or: groundswell publish/,
      )
      assert.ok(!error.message.includes('\n'))
      return true
    })
    assert.equal(await currentId(one.dir), first.id)
  }
  stub.faultOf = () => null
  assert.ok(await new Builder(folder, 'one', stub).publish())
  assert.equal(readingsOf(commitsOf(stub)[1].manifest), 1 + WAITING.length, 'also what came meanwhile')
  expectSound(stub)
})

test('The command publishes a folder, and says in one line what is wrong with its arguments.', async (t) => {
  const stub = await stubFor(t)
  const dir = join(temporaryFolder(t), 'out')
  const env = stub.environment
  const given = ['build', '--source', 'demo:scale,buoys=3,days=2', '--out', dir, '--as-of']
  const build = await runCli([...given, '2026-03-27T12:00:00Z'])
  assert.equal(build.code, 0, build.stderr)
  const cli = (args: string[], environment = env): ReturnType<typeof runCli> => runCli(args, environment)
  const done = await cli(['publish', dir, 's3://bucket/sea/'])
  assert.equal(done.code, 0, done.stderr)
  assert.match(
    done.stdout,
    /^published snapshot \w{24}\ns3:\/\/bucket\/sea has it: \d+ files of \d+ bytes were put there\n$/,
  )
  expectSound(stub)
  const again = await cli(['publish', dir, 's3://bucket/sea'])
  assert.match(again.stdout, /^s3:\/\/bucket\/sea has it already\n$/)
  const more = await cli([...given, '2026-03-27T12:30:00Z', '--publish', 's3://bucket/sea'])
  assert.equal(more.code, 0, more.stderr)
  assert.match(more.stderr, /s3:\/\/bucket\/sea has it: \d+ files of \d+ bytes were put there/)
  expectSound(stub)
  const wrong: [args: string[], environment: { [name: string]: string }, code: number, message: RegExp][] = [
    [
      ['publish', dir, 'https://bucket.s3.eu-west-3.amazonaws.com/sea'],
      env,
      2,
      /can be read and not written to; expected s3:\/\/BUCKET\/PREFIX\n$/,
    ],
    [
      ['publish', dir, 's3://bucket/sea'],
      { ...env, AWS_ACCESS_KEY_ID: 'wrong' },
      1,
      /^groundswell: s3:\/\/bucket\/sea\/manifest\.msgpack: the store refuses access \(403 InvalidAccessKeyId\); check .*AWS_SECRET_ACCESS_KEY.*\n$/,
    ],
  ]
  for (const [args, environment, code, message] of wrong) {
    const answer = await cli(args, environment)
    assert.equal(answer.code, code, answer.stderr)
    assert.match(answer.stderr, message)
    assert.equal(answer.stderr.trimEnd().split('\n').length, 1, answer.stderr)
    assert.doesNotMatch(answer.stderr, new RegExp(stub.options.secretAccessKey.slice(0, 12)))
  }
})

test('A disk that is full takes nothing over, and the line says so.', (t) =>
  onSmallDisk(t, '256k', async (folder) => {
    const stub = await stubFor(t)
    const one = new Builder(temporaryFolder(t), 'one', stub)
    await one.build([buoyAt('A', 0)])
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(248 * 1024))
    const two = new Builder(folder, 'two', stub)
    await assert.rejects(
      two.build([buoyAt('A', 1)]),
      /: (cannot be written: )?(no space is left on the disk|this folder cannot be made|ENOSPC).*/,
    )
    assert.equal(commitsOf(stub).length, 1)
    expectSound(stub)
    writeFileSync(join(folder, 'ballast'), '')
    await two.build([buoyAt('A', 1)])
    expectSound(stub)
  }))
