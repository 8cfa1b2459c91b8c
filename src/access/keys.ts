/**
 * API keys: the file that holds them (main thread and command line) and the ring that requests look them up
 * in (every serving thread).
 *
 * The text of a key exists in three places only: in the answer of `issueKey` and `rotateKey`, in the hands of
 * its owner, and in the request that carries it. The file, the ring, the messages of errors and everything
 * logged hold its SHA-256 at most, and what a serving thread remembers of a request is a fingerprint of its
 * key (`known-keys.ts`). A fast hash is enough: what it protects is 256 random bits, not a password
 * (contract, "Authentication").
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { errorCode, lock, LockError, randomName, type Lock } from '../system/lock.ts'

// --- The text of a key ---

const PREFIX = 'gsw_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 62^43 is just above 2^256, 62^6 above 2^32.
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
/** Characters of a key's text: `gsw_`, 256 random bits and a CRC-32, both in base 62. */
export const KEY_LENGTH = PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH
const KEY_PATTERN = /gsw_[0-9A-Za-z]{49}/

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_LENGTH)
}

function newKeyText(): string {
  const body = PREFIX + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH)
  return body + checksum(body)
}

/** Whether `text` can be a key at all: a typing error is told apart without any keys file. */
export function keyShape(text: string): 'ok' | 'malformed' {
  if (text.length !== KEY_LENGTH || !KEY_PATTERN.test(text)) return 'malformed'
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return text.slice(-CHECKSUM_LENGTH) === checksum(body) ? 'ok' : 'malformed'
}

// --- The keys file ---

export interface KeyRecord {
  /** `k_` and ten letters or digits; stays when the key is rotated. */
  readonly id: string
  /** Trimmed, NFC, 1 to 200 characters. An owner has one key. */
  readonly owner: string
  /** SHA-256 of the key's text, 64 lower-case hexadecimal digits. */
  readonly hash: string
  /** Calls per clock hour. */
  readonly quota: number
  /** ISO 8601, UTC, whole seconds. */
  readonly created: string
  /** When the key was last replaced; absent when it never was. */
  readonly rotated?: string
}

/** A key as it is printed once: `key` is kept nowhere. */
export interface IssuedKey {
  readonly record: KeyRecord
  readonly key: string
}

export const MAX_KEYS = 100_000
export const DEFAULT_QUOTA = 1000
export const MAX_QUOTA = 2 ** 30
const FORMAT = 1
const MAX_FILE_BYTES = 64 * 1024 * 1024
const MAX_OWNER_LENGTH = 200
const ID_PATTERN = /^k_[0-9A-Za-z]{10}$/
const HASH_PATTERN = /^[0-9a-f]{64}$/
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
// Control characters, halves of surrogate pairs, line and paragraph separators, and what reverses the order
// of text: none of them survives a list in a terminal.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const FIELDS = new Set(['id', 'owner', 'hash', 'quota', 'created', 'rotated'])

/**
 * The keys file (or its lock) cannot be read, understood or written. Names the file and what is wrong, never
 * its content.
 */
export class KeysFileError extends Error {
  override readonly name = 'KeysFileError'
}

/** What was asked for cannot be done: unknown id, an owner that has a key, a quota outside its range. */
export class KeyCommandError extends Error {
  override readonly name = 'KeyCommandError'
}

interface KeysFile {
  readonly records: KeyRecord[]
  /** Changes whenever the file does. */
  readonly stamp: string
}

const NO_FILE = 'none'

function stampOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
}

function stampAt(path: string): string {
  try {
    return stampOf(statSync(path, { bigint: true }))
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' ? NO_FILE : code
  }
}

function readKeysFile(path: string): KeysFile {
  let text: string
  let stamp: string
  try {
    if (!statSync(path).isFile()) throw new KeysFileError(`${path}: not a regular file`)
    const file = openSync(path, 'r')
    try {
      // From the open file: what is read below is this version or a later one, never an earlier one.
      const stat = fstatSync(file, { bigint: true })
      stamp = stampOf(stat)
      if (stat.size > MAX_FILE_BYTES) throw new KeysFileError(`${path}: larger than 64 MiB`)
      text = readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof KeysFileError) throw error
    const code = errorCode(error)
    if (code === 'ENOENT') return { records: [], stamp: NO_FILE }
    throw new KeysFileError(`${path}: cannot be read (${code})`)
  }
  return { records: parseKeys(path, text), stamp }
}

function parseKeys(path: string, text: string): KeyRecord[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text around the error, so it is dropped.
    throw new KeysFileError(`${path}: not valid JSON`)
  }
  if (typeof content !== 'object' || content === null) throw new KeysFileError(`${path}: not a JSON object`)
  const { format, keys } = content as Record<string, unknown>
  if (format !== FORMAT) throw new KeysFileError(`${path}: "format" is not ${FORMAT}`)
  if (!Array.isArray(keys)) throw new KeysFileError(`${path}: "keys" is not an array`)
  if (keys.length > MAX_KEYS) throw new KeysFileError(`${path}: more than ${MAX_KEYS} keys`)
  const seen = { id: new Set<string>(), owner: new Set<string>(), hash: new Set<string>() }
  return keys.map((item: unknown, at) => {
    const fault = recordFault(item)
    if (fault !== null) throw new KeysFileError(`${path}: keys[${at}]: ${fault}`)
    const record = item as KeyRecord
    for (const field of ['id', 'owner', 'hash'] as const) {
      if (seen[field].has(record[field])) {
        throw new KeysFileError(`${path}: keys[${at}]: the same "${field}" as an earlier key`)
      }
      seen[field].add(record[field])
    }
    return record
  })
}

function recordFault(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return 'not an object'
  // Unknown fields are refused because the next command would drop them without a word.
  if (!Object.keys(item).every((field) => FIELDS.has(field))) return 'a field that is not known'
  const { id, owner, hash, quota, created, rotated } = item as Record<string, unknown>
  if (typeof id !== 'string' || !ID_PATTERN.test(id)) return '"id" is malformed'
  if (typeof owner !== 'string' || ownerFault(owner) !== null) return '"owner" is malformed'
  if (typeof hash !== 'string' || !HASH_PATTERN.test(hash)) return '"hash" is malformed'
  if (!isQuota(quota)) return '"quota" is out of range'
  if (!isTime(created)) return '"created" is malformed'
  if (rotated !== undefined && !isTime(rotated)) return '"rotated" is malformed'
  return null
}

function ownerFault(owner: string): string | null {
  if (owner !== owner.trim().normalize('NFC')) return 'must be trimmed and in NFC'
  if (owner === '' || owner.length > MAX_OWNER_LENGTH) return `must have 1 to ${MAX_OWNER_LENGTH} characters`
  if (UNPRINTABLE.test(owner)) return 'must not hold control characters'
  if (KEY_PATTERN.test(owner)) return 'must not hold a key'
  return null
}

function isQuota(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_QUOTA
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value))
}

function timeText(now: number): string {
  return `${new Date(Math.floor(now) * 1000).toISOString().slice(0, 19)}Z`
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function keysText(records: readonly KeyRecord[]): string {
  // One line per key: a person can read it, and a difference between two versions shows the key that changed.
  const lines = records.map((record) => JSON.stringify(record))
  return `{"format":${FORMAT},"keys":[\n${lines.join(',\n')}\n]}\n`
}

/**
 * The keys in the file at `path`; a missing file has none.
 *
 * @throws KeysFileError when it cannot be read or is not a whole keys file.
 */
export function loadKeys(path: string): KeyRecord[] {
  return readKeysFile(path).records
}

/**
 * Makes a key for an owner that has none. `now` is epoch seconds.
 *
 * @throws KeyCommandError for an owner that is malformed or has a key, a quota out of range, a full file.
 * @throws KeysFileError
 */
export function issueKey(
  path: string,
  request: { readonly owner: string; readonly quota?: number; readonly now: number },
): IssuedKey {
  const owner = request.owner.trim().normalize('NFC')
  const fault = ownerFault(owner)
  if (fault !== null) throw new KeyCommandError(`owner ${fault}`)
  const quota = checkedQuota(request.quota ?? DEFAULT_QUOTA)
  return changeKeys(path, (records) => {
    const other = records.find((record) => record.owner === owner)
    if (other !== undefined) {
      throw new KeyCommandError(
        `owner already has the key ${other.id}: "keys rotate ${other.id}" replaces it, "keys revoke ${other.id}" ends it`,
      )
    }
    if (records.length >= MAX_KEYS)
      throw new KeyCommandError(`${MAX_KEYS} keys are the most a keys file holds`)
    const key = newKeyText()
    const record = { id: newId(records), owner, hash: hashOf(key), quota, created: timeText(request.now) }
    return [[...records, record], { record, key }]
  })
}

/**
 * Replaces the key of `id`: the old one ends, id, owner, quota and the hour's count stay. Returns when the
 * file is replaced.
 *
 * @throws KeyCommandError for an unknown id.
 * @throws KeysFileError
 */
export function rotateKey(path: string, id: string, now: number): IssuedKey {
  return changeKeys(path, (records) => {
    const key = newKeyText()
    const record = { ...findKey(records, id), hash: hashOf(key), rotated: timeText(now) }
    return [withRecord(records, record), { record, key }]
  })
}

/**
 * Ends the key of `id` and forgets its owner; returns what was there.
 *
 * @throws KeyCommandError for an unknown id.
 * @throws KeysFileError
 */
export function revokeKey(path: string, id: string): KeyRecord {
  return changeKeys(path, (records) => {
    const record = findKey(records, id)
    return [records.filter((other) => other !== record), record]
  })
}

/**
 * Changes the calls per hour of `id`; it counts from the next request on, with what is used already.
 *
 * @throws KeyCommandError for an unknown id or a quota out of range.
 * @throws KeysFileError
 */
export function setQuota(path: string, id: string, quota: number): KeyRecord {
  checkedQuota(quota)
  return changeKeys(path, (records) => {
    const record = { ...findKey(records, id), quota }
    return [withRecord(records, record), record]
  })
}

function checkedQuota(quota: number): number {
  if (!isQuota(quota)) throw new KeyCommandError(`quota must be an integer from 1 to ${MAX_QUOTA}`)
  return quota
}

function newId(records: readonly KeyRecord[]): string {
  for (;;) {
    const id = `k_${base62(BigInt(`0x${randomBytes(16).toString('hex')}`), 10)}`
    if (!records.some((record) => record.id === id)) return id
  }
}

/** The record of an id. @throws KeyCommandError when there is none. */
export function findKey(records: readonly KeyRecord[], id: string): KeyRecord {
  // Only what has the form of an id is repeated: a key given in its place by mistake must not end in a
  // terminal's log.
  if (!ID_PATTERN.test(id)) throw new KeyCommandError('not an id of a key (k_ and ten letters or digits)')
  const record = records.find((record) => record.id === id)
  if (record === undefined) throw new KeyCommandError(`no key has the id ${id}`)
  return record
}

function withRecord(records: readonly KeyRecord[], changed: KeyRecord): KeyRecord[] {
  return records.map((record) => (record.id === changed.id ? changed : record))
}

function changeKeys<Result>(
  path: string,
  change: (records: readonly KeyRecord[]) => [KeyRecord[], Result],
): Result {
  const target = followed(path)
  const held = lockFile(target)
  try {
    removeLeftovers(target)
    const [records, result] = change(loadKeys(target))
    const text = keysText(records)
    if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw new KeyCommandError('the keys file would pass 64 MiB')
    try {
      replaceFile(target, text, held.folder)
    } catch (error) {
      throw new KeysFileError(
        existsSync(held.folder)
          ? `${path}: cannot be written (${errorCode(error)})`
          : `${path}: is unchanged: another command took over while this one stood still; run it again`,
      )
    }
    return result
  } finally {
    held.release()
  }
}

// Five seconds: a change of the largest file takes less than one.
const LOCK_PATIENCE_MS = 5000

function lockFile(target: string): Lock {
  try {
    return lock(`${target}.lock`, { patienceMs: LOCK_PATIENCE_MS })
  } catch (error) {
    if (!(error instanceof LockError)) throw error
    if (!existsSync(dirname(target))) {
      throw new KeysFileError(`${target}: cannot be written: there is no folder ${dirname(target)}`)
    }
    throw new KeysFileError(error.message)
  }
}

// A link to the keys file stays one: the file that it names is replaced, not the link.
function followed(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

// --- Replacing a file whole ---

/**
 * Replaces a file so that readers, and whoever comes after a crash, see the whole old or the whole new one.
 * Mode 0600; root leaves the file to the account that owned it, so that a server under that account can go on
 * reading it. Throws the error of the file system, and then leaves the old file as it was.
 *
 * @param folder where the new one is written first, on the same file system; a lock's, so that it counts only
 * while the lock is held.
 */
export function replaceFile(path: string, text: string, folder = dirname(path)): void {
  const temporary = join(folder, `${basename(path)}.${randomName()}.tmp`)
  const before = process.geteuid?.() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      // The mask of the process may have taken away more than it should.
      fchmodSync(file, 0o600)
      if (before !== undefined) fchownSync(file, before.uid, before.gid)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  const holding = openSync(dirname(path), 'r')
  try {
    fsyncSync(holding)
  } finally {
    closeSync(holding)
  }
}

const LEFTOVER = /^\.[0-9a-f]{16}\.tmp$/

/** Removes what writers of `path` left behind when they were killed. Only for the one that may write now. */
export function removeLeftovers(path: string): void {
  const name = basename(path)
  let entries: string[]
  try {
    entries = readdirSync(dirname(path))
  } catch {
    // The write that follows meets the same fault and reports it.
    return
  }
  for (const entry of entries) {
    if (entry.startsWith(name) && LEFTOVER.test(entry.slice(name.length))) {
      rmSync(join(dirname(path), entry), { force: true })
    }
  }
}

// --- Watching the file ---

// A change is to be in force within a second, and the largest file takes 0.3 s to read and turn into a ring:
// this leaves as long again for a busy machine. A look costs some microseconds.
const WATCH_INTERVAL_MS = 200

/**
 * Reads the keys and hands them to `onChange`, at once and after every change of the file (looked for every
 * `intervalMs`). A file that has become broken or has vanished leaves the last good keys in force, and is
 * reported to `onError` once per change: an editor that writes in two steps must not lock everybody out.
 *
 * @throws KeysFileError when the first read fails.
 */
export function watchKeys(
  path: string,
  onChange: (records: KeyRecord[]) => void,
  onError: (error: KeysFileError) => void,
  intervalMs = WATCH_INTERVAL_MS,
): { close(): void } {
  const first = readKeysFile(path)
  let { stamp } = first
  onChange(first.records)
  const look = (): void => {
    const found = stampAt(path)
    if (found === stamp) return
    stamp = found
    let file: KeysFile
    try {
      file = readKeysFile(path)
      if (file.stamp === NO_FILE) throw new KeysFileError(`${path}: has vanished`)
    } catch (error) {
      if (!(error instanceof KeysFileError)) throw error
      onError(error)
      return
    }
    stamp = file.stamp
    onChange(file.records)
  }
  // Stat and read on a timer, not a subscription: those miss changes on network and container mounts.
  const timer = setInterval(look, intervalMs).unref()
  return {
    close() {
      clearInterval(timer)
    },
  }
}

// --- Looking up the key of a request ---

/** A key as the serving threads need it. */
export interface KeyEntry {
  readonly id: string
  readonly hash: string
  readonly quota: number
  /** Where its calls are counted (`quota.ts`). */
  readonly slot: number
}

// Rows of 32-bit words: eight of the hash, the slot, the quota. A quota of 0 marks an empty row.
const ROW_WORDS = 10
const SLOT = 8
const QUOTA = 9

/**
 * All keys of the moment, in shared memory: an open hash table by the SHA-256 of the key. The main thread
 * builds it once, and a serving thread takes it over by wrapping the buffer, whatever the number of keys. A
 * key that was rotated or revoked is gone with the ring that held it.
 *
 * It holds no texts. Hashing one costs 0.3 µs here, against 1.3 µs and an allocation through `node:crypto`.
 */
export class KeyRing {
  readonly #words: Int32Array
  readonly #mask: number

  /** At most half full: 80 to 160 bytes a key. */
  static build(entries: readonly KeyEntry[]): SharedArrayBuffer {
    const rows = 2 ** Math.ceil(Math.log2(2 * entries.length + 2))
    const words = new Int32Array(new SharedArrayBuffer(rows * ROW_WORDS * Int32Array.BYTES_PER_ELEMENT))
    for (const { hash, slot, quota } of entries) {
      const digest = Buffer.from(hash, 'hex')
      let row = digest.readInt32BE(0) & (rows - 1)
      while (words[row * ROW_WORDS + QUOTA] !== 0) row = (row + 1) & (rows - 1)
      for (let word = 0; word < 8; word++) words[row * ROW_WORDS + word] = digest.readInt32BE(4 * word)
      words[row * ROW_WORDS + SLOT] = slot
      words[row * ROW_WORDS + QUOTA] = quota
    }
    return words.buffer
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#mask = this.#words.length / ROW_WORDS - 1
  }

  /**
   * The row of a key, for `slot` and `quota`, or -1. Allocates nothing, takes any text.
   *
   * Which rows are looked at depends on the hash of the text that the client sent, and so does the time; it
   * can tell at most which hashes are taken, and no hash leads back to one of 2^256 keys. Within a row all
   * words are compared.
   */
  find(text: string): number {
    if (text.length !== KEY_LENGTH || !text.startsWith(PREFIX) || !digestKey(text)) return -1
    const words = this.#words
    for (let row = DIGEST[0] & this.#mask; ; row = (row + 1) & this.#mask) {
      const at = row * ROW_WORDS
      if (words[at + QUOTA] === 0) return -1
      let difference = 0
      for (let word = 0; word < 8; word++) difference |= words[at + word] ^ DIGEST[word]
      if (difference === 0) return row
    }
  }

  /** Slot of the counter of a row that `find` gave. */
  slot(row: number): number {
    return this.#words[row * ROW_WORDS + SLOT]
  }

  /** Calls per hour of a row that `find` gave. */
  quota(row: number): number {
    return this.#words[row * ROW_WORDS + QUOTA]
  }
}

const PRIMES = Array.from({ length: 310 }, (_, at) => at + 2).filter((n) => {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false
  return true
})

function fraction(value: number): number {
  return Math.floor((value % 1) * 2 ** 32)
}

// FIPS 180-4, 4.2.2 and 5.3.3: fractions of the cube roots of the first 64 primes, of the square roots of the
// first 8.
const ROUND_CONSTANTS = Int32Array.from(PRIMES.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))
const INITIAL = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const SCHEDULE = new Int32Array(64)
const DIGEST = new Int32Array(8)

/**
 * SHA-256 (FIPS 180-4) of a text of `KEY_LENGTH` ASCII characters into `DIGEST`; false where it is not ASCII.
 * 53 bytes with their padding are one block, so this is the compression function alone.
 */
function digestKey(text: string): boolean {
  const w = SCHEDULE
  w.fill(0, 0, 16)
  for (let at = 0; at < KEY_LENGTH; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) return false
    w[at >> 2] |= code << (24 - 8 * (at & 3))
  }
  w[KEY_LENGTH >> 2] |= 0x80 << (24 - 8 * (KEY_LENGTH & 3))
  w[15] = KEY_LENGTH * 8
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15]
    const y = w[t - 2]
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[t] = s0 + w[t - 7] + s1 + w[t - 16]
  }
  let a = INITIAL[0]
  let b = INITIAL[1]
  let c = INITIAL[2]
  let d = INITIAL[3]
  let e = INITIAL[4]
  let f = INITIAL[5]
  let g = INITIAL[6]
  let h = INITIAL[7]
  for (let t = 0; t < 64; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const first = (h + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[t] + w[t]) | 0
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  DIGEST[0] = INITIAL[0] + a
  DIGEST[1] = INITIAL[1] + b
  DIGEST[2] = INITIAL[2] + c
  DIGEST[3] = INITIAL[3] + d
  DIGEST[4] = INITIAL[4] + e
  DIGEST[5] = INITIAL[5] + f
  DIGEST[6] = INITIAL[6] + g
  DIGEST[7] = INITIAL[7] + h
  return true
}
