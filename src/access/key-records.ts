/**
 * Keys: their records, their texts, and the changes that commands make to records.
 * The text of a key is `gsw_`, 256 random bits and a checksum for scanners that look for leaked keys. Only
 * what `issued` and `rotated` return, its owner and requests have it; all else holds its SHA-256 at most. A
 * fast hash is enough for 256 random bits.
 */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { timestampText } from '../sea/time.ts'
import { CHECKSUM_LENGTH, KEY_PREFIX, SECRET_LENGTH } from './key-ring.ts'

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
  /** Absent for a key that was never replaced. */
  readonly rotated?: string
}

export const MAX_KEYS = 100_000
export const MAX_QUOTA = 2 ** 30
export const DEFAULT_QUOTA = 1000
const MAX_OWNER_LENGTH = 200
const ID_PATTERN = /^k_[0-9A-Za-z]{10}$/
const HASH_PATTERN = /^[0-9a-f]{64}$/
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
// Control characters, halves of surrogate pairs, separators, and what reverses text on a terminal.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const isLike =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value)
const FIELDS: { readonly [field: string]: (value: unknown) => boolean } = {
  id: isLike(ID_PATTERN),
  owner: (value) => typeof value === 'string' && ownerFault(value) === null,
  hash: isLike(HASH_PATTERN),
  quota: isQuota,
  created: isTime,
  rotated: (value) => value === undefined || isTime(value),
}
const ID_LETTERS = 10
const ID_RANDOM_BYTES = 16

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const KEY_PATTERN = /gsw_[0-9A-Za-z]{49}/

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text
}

export function newKeyText(): string {
  const body = KEY_PREFIX + randomBase62(32, SECRET_LENGTH)
  return body + base62(BigInt(crc32(body)), CHECKSUM_LENGTH)
}

function randomBase62(bytes: number, length: number): string {
  return base62(BigInt(`0x${randomBytes(bytes).toString('hex')}`), length)
}

/** SHA-256 of a key's text, 64 lower-case hexadecimal digits. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export function recordFault(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return 'not an object'
  // The next command would drop unknown fields without a word.
  if (!Object.keys(item).every((field) => Object.hasOwn(FIELDS, field))) return 'an unknown field'
  const wrong = Object.keys(FIELDS).find(
    (field) => !FIELDS[field]((item as KeyRecord)[field as keyof KeyRecord]),
  )
  return wrong === undefined ? null : `"${wrong}" is malformed`
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

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value))
}

/** A key as it is printed once: `key` is kept nowhere. */
export interface IssuedKey {
  readonly record: KeyRecord
  readonly key: string
}

/** An unknown id, an owner that has a key, a quota outside its range. */
export class KeyCommandError extends Error {
  override readonly name = 'KeyCommandError'
}

export interface KeyRequest {
  readonly owner: string
  readonly quota?: number
  readonly now: number
}

export type Changed<Result> = [records: readonly KeyRecord[], result: Result]

/** @throws KeyCommandError for a malformed owner or one with a key, a quota out of range, too many keys */
export function issued(records: readonly KeyRecord[], request: KeyRequest): Changed<IssuedKey> {
  const owner = request.owner.trim().normalize('NFC')
  const fault = ownerFault(owner)
  if (fault !== null) throw new KeyCommandError(`owner ${fault}`)
  const quota = checkedQuota(request.quota ?? DEFAULT_QUOTA)
  const other = records.find((record) => record.owner === owner)?.id
  if (other !== undefined) {
    throw new KeyCommandError(
      `owner already has the key ${other}: "keys rotate ${other}" replaces it, "keys revoke ${other}" ends it`,
    )
  }
  if (records.length >= MAX_KEYS)
    throw new KeyCommandError(`there are ${MAX_KEYS} keys, the most allowed: revoke one first`)
  let id = ''
  do id = `k_${randomBase62(ID_RANDOM_BYTES, ID_LETTERS)}`
  while (records.some((record) => record.id === id))
  const key = newKeyText()
  const record = { id, owner, hash: hashOf(key), quota, created: timestampText(request.now) }
  return [[...records, record], { record, key }]
}

/** Another key for `id`; all else stays. `now` is epoch seconds. @throws KeyCommandError for an unknown id */
export function rotated(records: readonly KeyRecord[], id: string, now: number): Changed<IssuedKey> {
  const key = newKeyText()
  const record = { ...findKey(records, id), hash: hashOf(key), rotated: timestampText(now) }
  return [withRecord(records, record), { record, key }]
}

/** Removes a key by its id or its owner, who has one key. @throws KeyCommandError for neither */
export function revoked(records: readonly KeyRecord[], name: string): Changed<KeyRecord> {
  const record = records.find(({ owner }) => owner === name) ?? findKey(records, name)
  return [records.filter((other) => other !== record), record]
}

/** Calls per hour, from the next request on. @throws KeyCommandError for an unknown id or a bad quota */
export function withQuota(records: readonly KeyRecord[], id: string, quota: number): Changed<KeyRecord> {
  const record = { ...findKey(records, id), quota: checkedQuota(quota) }
  return [withRecord(records, record), record]
}

/** @throws KeyCommandError for an unknown id */
function findKey(records: readonly KeyRecord[], id: string): KeyRecord {
  // A message repeats only an id: a key given in its place by mistake must not end in a terminal's log.
  if (!ID_PATTERN.test(id))
    throw new KeyCommandError(
      'not an id of a key (k_ and ten letters or digits), nor the owner of one where a command takes that',
    )
  const record = records.find((record) => record.id === id)
  if (record === undefined) throw new KeyCommandError(`no key has the id ${id}`)
  return record
}

function checkedQuota(quota: number): number {
  if (!isQuota(quota)) throw new KeyCommandError(`quota must be an integer from 1 to ${MAX_QUOTA}`)
  return quota
}

function withRecord(records: readonly KeyRecord[], changed: KeyRecord): KeyRecord[] {
  return records.map((record) => (record.id === changed.id ? changed : record))
}
