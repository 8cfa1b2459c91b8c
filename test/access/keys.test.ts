/**
 * The keys file: what it holds, how commands change it at once and when they are killed, how servers follow
 * it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { KeyCommandError, revoked, rotated, withQuota } from '../../src/access/key-records.ts'
import { changeKeys, issueKey, KeysFileError, loadKeys } from '../../src/access/keys-file.ts'
import { KEY_LENGTH, KeyRing } from '../../src/access/key-ring.ts'
import { lock } from '../../src/system/lock.ts'
import { folderOfFile } from '../live.ts'

const NOON = Date.parse('2026-03-27T12:00:00Z') / 1000
const folder = folderOfFile()

let files = 0
/** Path of a keys file that is not there yet, in a folder of its own. */
function newPath(): string {
  const own = join(folder, String(files++))
  mkdirSync(own)
  return join(own, 'keys.json')
}

function thrown(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof Error)
    return error
  }
  assert.fail('nothing was thrown')
}

function ringOf(path: string): KeyRing {
  return new KeyRing(
    KeyRing.build(loadKeys(path).map(({ id, hash, quota }, slot) => ({ id, hash, quota, slot }))),
  )
}

function isLocked(path: string): boolean {
  return lstatSync(`${path}.lock`, { throwIfNoEntry: false }) !== undefined
}

// CRC-32 bit by bit, and base 62 in plain numbers: shares nothing with the product.
function crcText(body: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(body)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let value = (crc ^ 0xffffffff) >>> 0
  let text = ''
  while (text.length < 6) {
    text = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.charAt(value % 62) + text
    value = Math.floor(value / 62)
  }
  return text
}

test('an issued key, 256 random bits with their CRC-32, is kept as a hash with its owner and quota, and its text nowhere', () => {
  const path = newPath()
  const { record, key } = issueKey(path, { owner: '  Harbour Office  ', quota: 5000, now: NOON + 0.7 })
  assert.match(record.id, /^k_[0-9A-Za-z]{10}$/)
  assert.deepEqual(record, {
    id: record.id,
    owner: 'Harbour Office',
    hash: createHash('sha256').update(key).digest('hex'),
    quota: 5000,
    created: '2026-03-27T12:00:00Z',
  })
  assert.deepEqual(loadKeys(path), [record])
  const text = readFileSync(path, 'utf8')
  assert.ok(!text.includes(key) && !text.includes(key.slice(4, 20)) && !text.includes(key.slice(30)))
  const other = issueKey(path, { owner: 'b', now: NOON })
  assert.equal(other.record.quota, 1000)
  assert.notEqual(other.key.slice(4, 47), key.slice(4, 47))
  assert.match(key, /^gsw_[0-9A-Za-z]{49}$/)
  assert.equal(key.length, KEY_LENGTH)
  assert.equal(key.slice(-6), crcText(key.slice(0, -6)))
})

test('the file has mode 0600 whatever the mask, and nothing else is left in its folder', () => {
  const path = newPath()
  const mask = process.umask(0o277)
  try {
    issueKey(path, { owner: 'a', now: NOON })
  } finally {
    process.umask(mask)
  }
  assert.equal(statSync(path).mode & 0o777, 0o600)
  chmodSync(path, 0o644)
  writeFileSync(`${path}.00112233aabbccdd.tmp`, 'left by a killed writer')
  writeFileSync(`${path}.note.tmp`, 'somebody else’s')
  issueKey(path, { owner: 'b', now: NOON })
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(path, '..')).sort(), ['keys.json', 'keys.json.note.tmp'])
})

test('a link to the keys file stays a link and the file behind it is replaced', () => {
  const path = newPath()
  issueKey(path, { owner: 'a', now: NOON })
  const link = newPath()
  symlinkSync(path, link)
  issueKey(link, { owner: 'b', now: NOON })
  assert.ok(lstatSync(link).isSymbolicLink())
  assert.equal(loadKeys(path).length, 2)
})

test('an owner has one key: issuing again is refused with a hint to rotate', () => {
  const path = newPath()
  const { record } = issueKey(path, { owner: 'Caf\u00e9', now: NOON })
  assert.throws(() => issueKey(path, { owner: ' Cafe\u0301 ', now: NOON }), {
    name: 'KeyCommandError',
    message: new RegExp(`rotate ${record.id}`),
  })
  assert.deepEqual(loadKeys(path), [record])
  issueKey(path, { owner: 'caf\u00e9', now: NOON })
})

test('owners and quotas outside their limits are refused and nothing is written', () => {
  const path = newPath()
  const other = newPath()
  const { key, record } = issueKey(other, { owner: 'a', now: NOON })
  const unprintable = ['a\nb', 'a\u0000', 'a\u2028b', 'a\u202eb', '\ud800']
  for (const owner of ['', '  ', ...unprintable, 'x'.repeat(201), `key ${key}`]) {
    const error = thrown(() => issueKey(path, { owner, now: NOON }))
    assert.ok(error instanceof KeyCommandError)
    assert.ok(!error.message.includes(key))
  }
  for (const quota of [0, -1, 1.5, 2 ** 30 + 1, Number.NaN, Infinity]) {
    assert.throws(() => issueKey(path, { owner: 'a', quota, now: NOON }), KeyCommandError)
    assert.throws(() => changeKeys(other, (records) => withQuota(records, record.id, quota)), KeyCommandError)
  }
  assert.ok(!existsSync(path))
  issueKey(path, { owner: 'x'.repeat(200), quota: 2 ** 30, now: NOON })
})

test('rotating keeps id, owner, quota and creation, and only the new key is found from then on', () => {
  const path = newPath()
  const first = issueKey(path, { owner: 'a', quota: 7, now: NOON })
  const other = issueKey(path, { owner: 'b', now: NOON })
  const second = changeKeys(path, (records) => rotated(records, first.record.id, NOON + 60))
  assert.notEqual(second.key, first.key)
  assert.deepEqual(second.record, {
    ...first.record,
    hash: createHash('sha256').update(second.key).digest('hex'),
    rotated: '2026-03-27T12:01:00Z',
  })
  assert.deepEqual(loadKeys(path), [second.record, other.record])
  const ring = ringOf(path)
  assert.equal(ring.find(first.key), -1)
  assert.equal(ring.slot(ring.find(second.key)), 0)
  assert.equal(ring.quota(ring.find(second.key)), 7)
  assert.equal(ring.slot(ring.find(other.key)), 1)
})

test('an unknown id is refused, and a key given in place of an id is not repeated in the message', () => {
  const path = newPath()
  const { key } = issueKey(path, { owner: 'a', now: NOON })
  const before = readFileSync(path, 'utf8')
  for (const id of ['k_0000000000', key, '', '../x', `k_${key}`]) {
    for (const run of [
      () => changeKeys(path, (records) => rotated(records, id, NOON)),
      () => changeKeys(path, (records) => revoked(records, id)),
      () => changeKeys(path, (records) => withQuota(records, id, 5)),
    ]) {
      const error = thrown(run)
      assert.ok(error instanceof KeyCommandError)
      assert.ok(!`${error.message}${error.stack ?? ''}`.includes(key))
    }
  }
  assert.equal(readFileSync(path, 'utf8'), before)
  assert.ok(!isLocked(path))
})

test('a key is revoked by its owner, also one who is called as an id, and nobody else loses theirs', () => {
  const path = newPath()
  const [club, other] = ['Surf Club', 'Harbour'].map((owner) => issueKey(path, { owner, now: NOON }))
  const named = issueKey(path, { owner: other.record.id, now: NOON })
  assert.equal(changeKeys(path, (records) => revoked(records, 'Surf Club')).id, club.record.id)
  assert.equal(changeKeys(path, (records) => revoked(records, other.record.id)).id, named.record.id)
  assert.deepEqual(loadKeys(path), [other.record])
  assert.equal(ringOf(path).find(club.key), -1)
  assert.throws(() => changeKeys(path, (records) => revoked(records, 'Surf Club')), KeyCommandError)
})

test('a file that is broken in any way is refused by name and fault, and none of its content is repeated', () => {
  const path = newPath()
  const { record, key } = issueKey(path, { owner: 'a', now: NOON })
  const whole = readFileSync(path, 'utf8')
  const file = (keys: unknown, format: unknown = 1): string => JSON.stringify({ format, keys })
  const broken: [text: string, fault: RegExp][] = [
    ['', /not valid JSON/],
    [whole.slice(0, whole.length / 2), /not valid JSON/],
    [key, /not valid JSON/],
    ['null', /not a JSON object/],
    ['[]', /"format"/],
    [file([], 2), /"format"/],
    [file({}), /"keys"/],
    [file([null]), /keys\[0\]: not an object/],
    [file([{ ...record, key }]), /keys\[0\]: an unknown field/],
    [file([{ ...record, id: key }]), /"id"/],
    [file([{ ...record, owner: key }]), /"owner"/],
    [file([{ ...record, hash: record.hash.toUpperCase() }]), /"hash"/],
    [file([{ ...record, quota: key }]), /"quota"/],
    [file([{ ...record, created: key }]), /"created"/],
    [file([{ ...record, rotated: '2026-13-45T00:00:00Z' }]), /"rotated"/],
    [file([{ ...record, hash: undefined }]), /"hash"/],
    [file([record, { ...record, owner: 'b', hash: 'f'.repeat(64) }]), /keys\[1\]: the same "id"/],
    [file([record, { ...record, id: 'k_0000000000', hash: 'f'.repeat(64) }]), /the same "owner"/],
    [file([record, { ...record, id: 'k_0000000000', owner: 'b' }]), /the same "hash"/],
    [file(Array.from({ length: 100_001 }, () => 1)), /more than 100000 keys/],
  ]
  for (const [text, fault] of broken) {
    writeFileSync(path, text)
    for (const run of [() => loadKeys(path), () => issueKey(path, { owner: 'new', now: NOON })]) {
      const error = thrown(run)
      assert.ok(error instanceof KeysFileError, text)
      assert.ok(error.message.startsWith(path), error.message)
      assert.match(error.message, fault)
      assert.equal(error.cause, undefined)
      for (const secret of [key.slice(0, 12), record.hash.slice(0, 8)]) {
        assert.ok(!`${error.message}${error.stack ?? ''}`.includes(secret))
      }
    }
    // A command never replaces what it could not read.
    assert.equal(readFileSync(path, 'utf8'), text)
    assert.ok(!isLocked(path))
  }
})

test('a missing file has no keys; a folder, an oversized and a folderless file are faults', () => {
  const path = newPath()
  assert.deepEqual(loadKeys(path), [])
  assert.match(thrown(() => loadKeys(folder)).message, /is not a regular file/)
  writeFileSync(path, '')
  truncateSync(path, 65 * 1024 * 1024)
  assert.match(thrown(() => loadKeys(path)).message, /is larger than 67108864 bytes/)
  const nowhere = join(folder, 'missing', 'keys.json')
  assert.throws(() => issueKey(nowhere, { owner: 'a', now: NOON }), {
    name: 'KeysFileError',
    message: /missing\/keys\.json: cannot be written: there is no folder .*missing$/,
  })
})

test('processes that issue at the same time lose no key, and one killed at any moment leaves every key it announced', async () => {
  const path = newPath()
  const module = JSON.stringify(new URL('../../src/access/keys-file.ts', import.meta.url).href)
  const program = `const { writeSync } = await import('node:fs')
    const { issueKey } = await import(${module})
    for (let at = 0; ; at++) {
      writeSync(1, issueKey(process.argv[1], { owner: process.pid + '-' + at, now: ${NOON} }).key + '\\n')
    }`
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program, path]
  for (let round = 0; round < 2; round++) {
    const announced = await Promise.all(
      [20, 51].map(async (ms) => {
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        let printed = ''
        child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
        await once(child.stdout, 'data')
        await sleep(ms * (round + 1))
        child.kill('SIGKILL')
        await once(child, 'close')
        return printed
      }),
    )
    const ring = ringOf(path)
    for (const key of announced
      .join('')
      .split('\n')
      .filter((line) => line.length === KEY_LENGTH))
      assert.ok(ring.find(key) >= 0)
    // No lock is in the way, and nothing is left.
    issueKey(path, { owner: `after ${round}`, now: NOON })
    assert.deepEqual(readdirSync(join(path, '..')), ['keys.json'])
  }
})

test('a lock that is held is respected for five seconds, then named', (t) => {
  const path = newPath()
  const held = lock(`${path}.lock`, { patienceMs: 0 })
  t.after(() => held.release())
  const start = performance.now()
  const { message } = thrown(() => issueKey(path, { owner: 'a', now: NOON }))
  assert.ok(message.startsWith(`${path}.lock: held by `), message)
  assert.ok(performance.now() - start >= 4900)
  assert.ok(!existsSync(path) && existsSync(held.folder))
})
