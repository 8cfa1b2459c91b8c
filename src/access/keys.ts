/** Issues, rotates and revokes keys, and sets their quotas. Each change replaces the keys file as a whole. */
import { timestampText } from '../sea/time.ts'
import {
  changeKeys,
  ID_PATTERN,
  isQuota,
  MAX_KEYS,
  MAX_QUOTA,
  ownerFault,
  type KeyRecord,
} from './keys-file.ts'
import { hashOf, newKeyText, randomBase62 } from './key-text.ts'

export const DEFAULT_QUOTA = 1000
/** Letters and digits behind the `k_` of an id, and the random bytes they are made of. */
const ID_LETTERS = 10
const ID_RANDOM_BYTES = 16

/** A key as it is printed once: `key` is kept nowhere. */
export interface IssuedKey {
  readonly record: KeyRecord
  readonly key: string
}

/**
 * A command that cannot be carried out: an unknown id, an owner that has a key, a quota outside its range.
 */
export class KeyCommandError extends Error {
  override readonly name = 'KeyCommandError'
}

/**
 * Makes a key for an owner that has none. `now` is epoch seconds.
 *
 * @throws KeyCommandError for an owner that is malformed or has a key, a quota out of range, a full file.
 * @throws KeysFileError
 */
export function issueKey(path: string, request: KeyRequest): IssuedKey {
  const { record: first, key } = newKey(request)
  return changeKeys(path, (records) => {
    const other = records.find(({ owner }) => owner === first.owner)
    if (other !== undefined) throw ownerHasKey(other.id)
    if (records.length >= MAX_KEYS) throw tooManyKeys()
    let { id } = first
    while (records.some((record) => record.id === id)) id = newId()
    const record = { ...first, id }
    return [[...records, record], { record, key }]
  })
}

export interface KeyRequest {
  readonly owner: string
  readonly quota?: number
  /** Epoch seconds. */
  readonly now: number
}

/**
 * A new key for an owner, kept nowhere yet. @throws KeyCommandError for a malformed owner, a quota out of
 * range
 */
export function newKey(request: KeyRequest): IssuedKey {
  const owner = request.owner.trim().normalize('NFC')
  const fault = ownerFault(owner)
  if (fault !== null) throw new KeyCommandError(`owner ${fault}`)
  const quota = checkedQuota(request.quota ?? DEFAULT_QUOTA)
  const key = newKeyText()
  return {
    record: { id: newId(), owner, hash: hashOf(key), quota, created: timestampText(request.now) },
    key,
  }
}

export function ownerHasKey(id: string): KeyCommandError {
  return new KeyCommandError(
    `owner already has the key ${id}: "keys rotate ${id}" replaces it, "keys revoke ${id}" ends it`,
  )
}

export function tooManyKeys(): KeyCommandError {
  return new KeyCommandError(`${MAX_KEYS} keys are the most that there can be`)
}

/** The record with another key. `now` is epoch seconds. */
export function withNewKey(record: KeyRecord, now: number): IssuedKey {
  const key = newKeyText()
  return { record: { ...record, hash: hashOf(key), rotated: timestampText(now) }, key }
}

/**
 * Replaces the key of `id`: the old one ends; id, owner, quota and the hour's count stay. Returns when the
 * file is replaced.
 *
 * @throws KeyCommandError for an unknown id.
 * @throws KeysFileError
 */
export function rotateKey(path: string, id: string, now: number): IssuedKey {
  return changeKeys(path, (records) => {
    const issued = withNewKey(findKey(records, id), now)
    return [withRecord(records, issued.record), issued]
  })
}

/**
 * Ends the key of `id` and forgets its owner. Returns the record that is gone.
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

/** @throws KeyCommandError */
export function checkedQuota(quota: number): number {
  if (!isQuota(quota)) throw new KeyCommandError(`quota must be an integer from 1 to ${MAX_QUOTA}`)
  return quota
}

function newId(): string {
  return `k_${randomBase62(ID_RANDOM_BYTES, ID_LETTERS)}`
}

/** The record of an id. @throws KeyCommandError when there is none. */
export function findKey(records: readonly KeyRecord[], id: string): KeyRecord {
  checkId(id)
  const record = records.find((record) => record.id === id)
  if (record === undefined) throw noSuchKey(id)
  return record
}

/** @throws KeyCommandError */
export function checkId(id: string): void {
  // Only an id is repeated in a message: a key given in its place by mistake must not end in a terminal's
  // log.
  if (!ID_PATTERN.test(id)) throw new KeyCommandError('not an id of a key (k_ and ten letters or digits)')
}

export function noSuchKey(id: string): KeyCommandError {
  return new KeyCommandError(`no key has the id ${id}`)
}

function withRecord(records: readonly KeyRecord[], changed: KeyRecord): KeyRecord[] {
  return records.map((record) => (record.id === changed.id ? changed : record))
}
