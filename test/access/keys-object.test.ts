/**
 * Keys in a bucket and behind a web server: followed, kept through faults, and changed by several at once.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkKeysAddress, FollowedKeys, keySource, keysObject } from '../../src/access/keys-object.ts'
import {
  issued,
  type IssuedKey,
  KeyCommandError,
  revoked,
  rotated,
  type KeyRecord,
} from '../../src/access/key-records.ts'
import { issueKey, KeysFileError, keysText, type KeySource } from '../../src/access/keys-file.ts'
import { lineText } from '../../src/system/log.ts'
import { listening } from '../listening.ts'
import { temporaryFolder } from '../live.ts'
import { SHORT_LIMITS } from '../snapshot/store/opened.ts'
import { stubFor, type StubS3 } from '../snapshot/store/stub_s3.ts'
import { until } from '../until.ts'

const NOW = Date.parse('2026-03-27T12:00:00Z') / 1000
const NAME = 'sea/keys.json'

type KeysObject = ReturnType<typeof keysObject>

function objectIn(t: TestContext, stub: StubS3, random = (): number => 0.5): KeysObject {
  const { bucket } = stub.options
  const object = keysObject(`s3://${bucket}/${NAME}`, {
    environment: stub.environment,
    random,
    limits: SHORT_LIMITS,
  })
  t.after(() => object.close())
  return object
}

/** As a server reads it. */
const sourceIn = (stub: StubS3): KeySource =>
  keySource(`s3://${stub.options.bucket}/${NAME}`, '', { environment: stub.environment, random: () => 0.5 })
    .source

const issue = (object: KeysObject, owner: string): Promise<IssuedKey> =>
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
  source: KeySource,
  copyPath = join(temporaryFolder(t), 'data', 'copy.json'),
): Follower {
  let records: readonly KeyRecord[] = []
  const lines: string[] = []
  const followed = new FollowedKeys({
    source,
    copyPath: source.kind === 'file' ? null : copyPath,
    onKeys: (keys) => (records = keys),
    log: (...event) => lines.push(lineText(...event)),
    pauseMs: 50,
  })
  t.after(() => followed.close())
  const owners = (): readonly string[] => records.map(({ owner }) => owner)
  return { followed, lines, copyPath, records: () => records, owners }
}

test('A key that is issued, rotated or revoked in a bucket is so for who follows it, within seconds.', async (t) => {
  const stub = await stubFor(t)
  const object = objectIn(t, stub)
  const { followed, lines, owners, copyPath } = follow(t, sourceIn(stub))
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
    const object = objectIn(t, stub, () => ((at += 7) % 11) / 11)
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
  const web = keysObject('https://files.example/keys.json', { environment: {}, random: () => 0 })
  await assert.rejects(issue(web, 'surf club'), /a web server is only read/)
})

test('The last good keys serve through an outage and a restart, and a key that was revoked meanwhile ends after it.', async (t) => {
  const stub = await stubFor(t)
  const object = objectIn(t, stub)
  const { record } = await issue(object, 'revoked')
  await issue(object, 'stays')
  const first = follow(t, sourceIn(stub))
  await until(() => first.owners().length === 2 && existsSync(first.copyPath))
  stub.faultOf = () => '503'
  await until(() => !first.followed.figures().isUp)
  assert.match(first.lines.at(-1)!, /503 .*; the last good keys, 2 of them, stay in force$/)
  first.followed.close()
  const second = follow(t, sourceIn(stub), first.copyPath)
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
  const { followed, lines, owners } = follow(t, sourceIn(stub))
  await until(() => owners().length === 1)
  for (const [fault, text] of [
    [/not valid JSON/, good.subarray(0, 50)],
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

test('A file is followed from change to change; broken or gone, the last good keys stay in force, which is said once.', async (t) => {
  const path = join(temporaryFolder(t), 'keys.json')
  const { source } = keySource(path, '', { environment: {}, random: () => 0 })
  const { followed, lines, owners, records } = follow(t, source)
  await followed.known
  assert.match(lines[0], /^warning: no keys in .*keys\.json: .* answers 401 until "keys issue/)
  issueKey(path, { owner: 'a', now: NOW })
  await until(() => owners().join() === 'a')
  const good = readFileSync(path, 'utf8')
  for (const text of [good.slice(0, 40), null]) {
    const before = lines.length
    if (text === null) rmSync(path)
    else writeFileSync(path, text)
    await until(() => !followed.figures().isUp)
    await until(() => lines.length > before)
    assert.match(
      lines[before],
      /keys\.json: (not valid JSON|has vanished); the last good keys, 1 of them, stay/,
    )
    assert.deepEqual(owners(), ['a'])
    writeFileSync(path, good)
    await until(() => followed.figures().isUp)
    assert.match(lines.at(-1)!, /the keys are followed again, 1 of them$/)
  }
  issueKey(path, { owner: 'b', now: NOW })
  await until(() => records().length === 2)
  assert.equal(lines.length, 5)
  writeFileSync(path, '{')
  assert.throws(() => follow(t, source), KeysFileError)
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
    const { followed, owners, lines } = follow(t, sourceIn(stub), copyPath)
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
    const { source } = keySource(address, '', { environment: {}, random: () => 0 })
    const { owners, followed } = follow(t, source)
    await until(() => owners().join() === 'surf club')
    await until(() => asked > 1)
    assert.equal(followed.figures().backend, 'web')
    if (etag !== null) continue
    text = keysText([])
    await until(() => owners().length === 0)
  }
})

test('Addresses that cannot be those of keys are refused, without a word of what they hold.', () => {
  const good =
    's3://bucket/keys.json s3://bucket/a/b/k-1.json https://host/keys.json http://[::1]:80/a/k.json'
  for (const address of good.split(' ')) checkKeysAddress(address)
  const bad =
    's3://bucket s3://keys.json s3://bucket/keys s3://bucket/../keys.json https://host/keys.json?secret=1 https://user:secret@host/keys.json https://host/secret ftp://host/secret/keys.json redis://:secret@host:6379/0'
  for (const address of bad.split(' ')) {
    assert.throws(
      () => checkKeysAddress(address),
      ({ message }: Error) => message.startsWith('a path, s3://BUCKET') && !message.includes('secret'),
      address,
    )
  }
})
