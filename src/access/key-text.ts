/**
 * The text of a key: `gsw_`, 256 random bits and a checksum, so that a scanner for leaked keys can tell one
 * from other words.
 *
 * The text exists in three places only: in what `issueKey` and `rotateKey` return, with its owner, and in the
 * requests that carry it. The keys file, the key ring, messages and logs hold its SHA-256 at most, and a
 * serving thread remembers a fingerprint of it (`known-keys.ts`). A fast hash is enough: it protects 256
 * random bits, not a password (contract, "Authentication").
 */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const KEY_PREFIX = 'gsw_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 62^43 is just above 2^256, 62^6 above 2^32.
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
/** Characters of a key's text: the prefix, 256 random bits and a CRC-32, the last two in base 62. */
export const KEY_LENGTH = KEY_PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH
/** Finds a key within a text. */
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

/** `length` letters and digits made of `bytes` random bytes. */
export function randomBase62(bytes: number, length: number): string {
  return base62(BigInt(`0x${randomBytes(bytes).toString('hex')}`), length)
}

/** SHA-256 of a key's text, 64 lower-case hexadecimal digits. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
