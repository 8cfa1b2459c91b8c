/** Keys in a bucket and behind a web server: followed, kept through faults, and changed by several at once. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { FollowedKeys, LOOK_LIMITS, checkKeysAddress, KeysObject } from '../../src/access/keys-object.ts'
import { issued, KeyCommandError, revoked, rotated, type KeyRecord } from '../../src/access/key-records.ts'
import { keysText } from '../../src/access/keys-file.ts'
import type { StoreLimits } from '../../src/snapshot/store/store.ts'
import { lineText } from '../../src/system/log.ts'
import { listening } from '../listening.ts'
import { temporaryFolder } from '../live.ts'
import { SHORT_LIMITS } from '../snapshot/store/opened.ts'
import { stubFor, type StubS3 } from '../snapshot/store/stub_s3.ts'
import { until } from '../until.ts'

const NOW = Date.parse('2026-03-27T12:00:00Z') / 1000
const NAME = 'sea/keys.json'

function objectIn(
  t: TestContext,
  stub: StubS3,
  limits: Partial<StoreLimits> = SHORT_LIMITS,
  random = (): number => 0.5,
): KeysObject {
  const object = new KeysObject(`s3://${stub.options.bucket}/${NAME}`, {
    environment: stub.environment,
    random,
    limits,
  })
  t.after(() => object.close())
  return object
}

const issue = (
  object: KeysObject,
  owner: string,
): ReturnType<typeof object.change<ReturnType<typeof issued>[1]>> =>
  object.change((records) => issued(records, { owner, now: NOW }))

interface Follower {
  readonly followed: FollowedKeys
  readonly lines: string[]
  readonly copyPath: string
  readonly records: () => readonly KeyRecord[]
  readonly owners: () => readonly string[]
}

function follow(
  t: TestContext,
  object: KeysObject,
  copyPath = join(temporaryFolder(t), 'data', 'copy.json'),
): Follower {
  let records: readonly KeyRecord[] = []
  const lines: string[] = []
  const followed = new FollowedKeys({
    object,
    copyPath,
    onKeys: (keys) => (records = keys),
    log: (...event) => lines.push(lineText(...event)),
    pauseMs: 50,
  })
  t.after(() => followed.close())
  return {
    followed,
    lines,
    copyPath,
    records: () => records,
    owners: () => records.map(({ owner }) => owner),
  }
}

test('A key that is issued, rotated or revoked in a bucket is so for who follows it, within seconds.', async (t) => {
  const stub = await stubFor(t)
  const object = objectIn(t, stub)
  const { followed, lines, owners, copyPath } = follow(t, objectIn(t, stub, LOOK_LIMITS))
  await followed.known
  assert.match(lines[0], /^warning: no keys in s3:\/\/bucket\/sea\/keys\.json: .* answers 401/)
  const first = await issue(object, 'surf club')
  await until(() => owners().length === 1)
  const second = await object.change((records) => rotated(records, first.record.id, NOW))
  assert.notEqual(second.key, first.key)
  await issue(object, 'sailing club')
  await until(() => owners().length === 2)
  await object.change((records) => revoked(records, first.record.id))
  await until(() => owners().join() === 'sailing club')
  assert.equal(statSync(copyPath).mode & 0o777, 0o600)
  assert.doesNotMatch(readFileSync(copyPath, 'utf8') + stub.bytesOf(NAME)!.toString(), /gsw_/)
  await assert.rejects(issue(object, 'sailing club'), KeyCommandError)
  // An object that has not changed is not sent again.
  const before = stub.log.length
  await until(() => stub.log.slice(before).filter((line) => line === `GET ${NAME} 304`).length > 1)
  assert.ok(!stub.log.slice(before).includes(`GET ${NAME} 200`), stub.log.slice(before).join('\n'))
})

test('Two that issue at once both get their key, and a key that is revoked meanwhile stays revoked.', async (t) => {
  const stub = await stubFor(t)
  const { record } = await issue(objectIn(t, stub), 'gone')
  let at = 0
  const commands = Array.from({ length: 6 }, (_, i) => {
    const object = objectIn(t, stub, SHORT_LIMITS, () => ((at += 7) % 11) / 11)
    return i === 3 ? object.change((records) => revoked(records, record.id)) : issue(object, `owner ${i}`)
  })
  await Promise.all(commands)
  const owners = (await objectIn(t, stub).all()).map(({ owner }) => owner)
  assert.deepEqual(owners.toSorted(), ['owner 0', 'owner 1', 'owner 2', 'owner 4', 'owner 5'])
  assert.ok(stub.log.some((line) => line === `PUT ${NAME} 412 PreconditionFailed`))
})

test('A key is issued once, and printed, where the answer to its PUT is lost.', async (t) => {
  const stub = await stubFor(t)
  const object = objectIn(t, stub)
  await issue(object, 'first')
  let isLost = false
  stub.faultOf = ({ method, headers }) => {
    // Not the probe of the condition.
    if (method !== 'PUT' || isLost || headers['if-match']?.includes('groundswell') === true) return null
    isLost = true
    return 'lost'
  }
  const { record, key } = await issue(object, 'second')
  assert.ok(isLost && key.startsWith('gsw_'))
  const records = await object.all()
  assert.deepEqual(
    records.map(({ owner }) => owner),
    ['first', 'second'],
  )
  assert.deepEqual(records[1], record)
})

test('A store that ignores or refuses conditions is not written to, and neither is a web server.', async (t) => {
  for (const conditions of ['ignore', 'refuse', 'only If-None-Match'] as const) {
    const stub = await stubFor(t, { conditions })
    stub.set(NAME, keysText([]))
    await assert.rejects(issue(objectIn(t, stub), 'surf club'), /ignores the condition If-Match/)
    assert.equal(stub.bytesOf(NAME)!.toString(), keysText([]))
  }
  const web = new KeysObject('https://files.example/keys.json', { environment: {}, random: () => 0 })
  await assert.rejects(issue(web, 'surf club'), /a web server is only read/)
})

test('The last good keys serve through an outage and a restart, and a key that was revoked meanwhile ends after it.', async (t) => {
  const stub = await stubFor(t)
  const object = objectIn(t, stub)
  const { record } = await issue(object, 'revoked')
  await issue(object, 'stays')
  const first = follow(t, objectIn(t, stub, LOOK_LIMITS))
  await until(() => first.owners().length === 2 && existsSync(first.copyPath))
  stub.faultOf = () => '503'
  await until(() => !first.followed.figures().isUp)
  assert.match(first.lines.at(-1)!, /503 .*; the last good keys, 2 of them, stay in force$/)
  first.followed.close()
  const second = follow(t, objectIn(t, stub, LOOK_LIMITS), first.copyPath)
  await second.followed.known
  assert.deepEqual(second.owners(), ['revoked', 'stays'])
  await until(() => !second.followed.figures().isUp)
  const [left] = revoked(first.records(), record.id)
  stub.set(NAME, keysText(left))
  stub.faultOf = () => null
  await until(() => second.owners().join() === 'stays' && second.followed.figures().isUp)
  assert.match(second.lines.at(-1)!, /the keys are followed again, 1 of them$/)
})

test('Damaged, foreign and vanished objects end no key, and are said once.', async (t) => {
  const stub = await stubFor(t)
  await issue(objectIn(t, stub), 'stays')
  const good = stub.bytesOf(NAME)!
  const { followed, lines, owners } = follow(t, objectIn(t, stub, LOOK_LIMITS))
  await until(() => owners().length === 1)
  for (const [fault, text] of [
    [/not valid JSON/, good.subarray(0, 50)],
    [/not valid JSON/, '<html>'],
    [/"format" is not 1/, '{"keys":[]}'],
    [/has vanished/, null],
  ] as const) {
    if (text === null) stub.objects.delete(NAME)
    else stub.set(NAME, text)
    const before = lines.length
    await until(() => !followed.figures().isUp, String(fault))
    assert.match(lines[before], fault)
    assert.match(
      lines[before],
      /^warning: s3:\/\/bucket\/sea\/keys\.json: .*; the last good keys, 1 of them, stay/,
    )
    // The same fault, seen again, is not said again.
    const asked = stub.log.length
    await until(() => stub.log.length > asked + 1)
    assert.equal(lines.length, before + 1)
    assert.deepEqual(owners(), ['stays'])
    stub.set(NAME, good)
    await until(() => followed.figures().isUp)
  }
})

test('A copy of another address, or of nothing known, is not taken; a damaged one is said.', async (t) => {
  const stub = await stubFor(t)
  const { record } = await issue(objectIn(t, stub), 'surf club')
  stub.faultOf = () => '503'
  const copyPath = join(temporaryFolder(t), 'copy.json')
  for (const text of [
    keysText([record]),
    keysText([record], '"copy_of":"s3://other/keys.json",'),
    keysText([record], '"copy_of":{"address":"redis://host:6379/0"},'),
  ]) {
    writeFileSync(copyPath, text)
    const { followed, owners, lines } = follow(t, objectIn(t, stub, LOOK_LIMITS), copyPath)
    await until(() => !followed.figures().isUp)
    assert.deepEqual(owners(), [])
    assert.match(lines[0], /no requests are taken until the keys are known$/)
    followed.close()
  }
  const whole = keysText([record], `"copy_of":"s3://${stub.options.bucket}/${NAME}",`)
  writeFileSync(copyPath, whole.slice(0, -20))
  assert.throws(() => follow(t, objectIn(t, stub), copyPath), /copy\.json: not valid JSON; remove it/)
})

test('Keys behind a web server are followed by their ETag, or by their bytes where there is none.', async (t) => {
  const [, { record }] = issued([], { owner: 'surf club', now: NOW })
  for (const etag of ['"1"', null]) {
    let text = keysText([record])
    let asked = 0
    const server = createServer((request, response) => {
      asked++
      if (etag !== null && request.headers['if-none-match'] === etag) response.writeHead(304).end()
      else response.writeHead(200, etag === null ? {} : { etag }).end(text)
    })
    const address = `http://127.0.0.1:${await listening(t, server)}/data/keys.json`
    const object = new KeysObject(address, { environment: {}, random: () => 0, limits: LOOK_LIMITS })
    const { owners, followed } = follow(t, object)
    await until(() => owners().join() === 'surf club')
    await until(() => asked > 1)
    assert.equal(followed.figures().backend, 'web')
    if (etag !== null) continue
    text = keysText([])
    await until(() => owners().length === 0)
  }
})

test('Addresses that cannot be those of keys are refused, without a word of what they hold.', () => {
  for (const good of [
    's3://bucket/keys.json',
    's3://bucket/a/b/k-1.json',
    'https://host/keys.json',
    'http://[::1]:80/a/k.json',
  ])
    checkKeysAddress(good)
  for (const bad of [
    's3://bucket',
    's3://keys.json',
    's3://bucket/keys',
    's3://bucket/../keys.json',
    'https://host/keys.json?secret=1',
    'https://user:secret@host/keys.json',
    'https://host/secret',
    'ftp://host/secret/keys.json',
    'redis://:secret@host:6379/0',
  ]) {
    assert.throws(
      () => checkKeysAddress(bad),
      ({ message }: Error) => message.startsWith('a path, s3://BUCKET') && !message.includes('secret'),
      bad,
    )
  }
})
