/**
 * What a builder puts into a bucket to publish a snapshot, and what the next build needs.
 *
 *   manifest.msgpack      a manifest, and behind it, as a second MessagePack value, the record of the commit
 *   state-HASH.jsonl      a head, then the folder's registry.jsonl and given-ID.jsonl:
 *                         {"format":"groundswell-build-state","version":1,"registry":BYTES,"states":BYTES|null,"parts":[…]}
 *
 * `states` is null for a build without a configuration. `parts` name what the states have beside the manifest.
 */
import { decodeManifest, MAX_MANIFEST_BYTES, type Manifest } from '../../snapshot/manifest.ts'
import {
  firstValue,
  isCount,
  MAX_PART_BYTES,
  pack,
  PART_KINDS,
  record,
  sha256,
  SnapshotError,
  text,
} from '../../snapshot/snapshot-format.ts'
import type { StoredFile } from '../../snapshot/store/fetch-part.ts'
import { timestampText } from '../../sea/time.ts'

const COMMIT_FORMAT = 'groundswell-commit'
const COMMIT_VERSION = 3
const STATE_FORMAT = 'groundswell-build-state'
const STATE_VERSION = 1

/** Files named by their content, which stay below the address. */
export const CONTENT = new RegExp(
  `^(?:(?:${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack|state-[0-9a-f]{32}\\.jsonl)$`,
)
const SHA256 = /^[0-9a-f]{64}$/
/** The writer appears in messages. */
const WRITER = /^[ -~]{1,300}$/

/** A manifest and a record of less than a thousand bytes. */
export const MAX_COMMIT_BYTES = MAX_MANIFEST_BYTES + 1000

export interface CommitRecord {
  /** A random name of this commit: the same snapshot may be published again. */
  name: string
  /** The machine and the process that published it, for people. */
  writer: string
  /** By the builder's clock, epoch seconds; for people only. */
  at: number
  /** Since when a rollback holds, as on the wire: builders keep what they build and do not publish it. */
  hold: { since: string | null } | null
  state: StoredFile
}

export interface Commit extends CommitRecord {
  manifest: Manifest
  /** Bytes of the whole commit. */
  bytes: Uint8Array
}

/** @param manifest the bytes of a manifest */
export function encodeCommit(manifest: Uint8Array, { state, ...rest }: CommitRecord): Uint8Array {
  const { file, bytes, sha256: hash } = state
  const behind = { format: COMMIT_FORMAT, version: COMMIT_VERSION, ...rest }
  return Buffer.concat([plainManifest(manifest), pack({ ...behind, state: { file, bytes, sha256: hash } })])
}

/** A manifest without the record that stands behind it. @throws SnapshotError */
export function plainManifest(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes.subarray(0, firstValue(bytes, 'manifest').end))
}

/** @throws SnapshotError naming the file, unless a manifest and a commit's record are there */
export function decodeCommit(bytes: Uint8Array, file: string): Commit {
  const { end } = firstValue(bytes, file)
  const manifest = decodeManifest(bytes.subarray(0, end), file)
  const body = end === bytes.length ? {} : record(firstValue(bytes.subarray(end), file).value, file)
  const { format, version, name, writer, at, hold, state } = body
  if (format !== COMMIT_FORMAT) throw new SnapshotError(`${file}: is not a commit of a builder`)
  if (version !== COMMIT_VERSION) {
    throw new SnapshotError(`${file}: is a commit of another version of this program`)
  }
  if (!isCount(at) || typeof writer !== 'string' || !WRITER.test(writer)) {
    throw new SnapshotError(`${file}: has no time, or no writer`)
  }
  const held = hold === null ? null : record(hold, `${file}: hold`)
  return {
    name: text(name, `${file}: name`),
    writer,
    at,
    hold: held === null ? null : { since: held.since === null ? null : text(held.since, `${file}: hold`) },
    state: storedFile(state, file),
    manifest,
    bytes,
  }
}

function storedFile(value: unknown, where: string): StoredFile {
  const { file, bytes, sha256: hash } = record(value, `${where}: file`)
  const isWhole =
    typeof file === 'string' &&
    CONTENT.test(file) &&
    isCount(bytes) &&
    bytes <= MAX_PART_BYTES &&
    typeof hash === 'string' &&
    SHA256.test(hash) &&
    file.includes(hash.slice(0, 32))
  if (!isWhole) throw new SnapshotError(`${where}: a file's entry is malformed`)
  return { file, bytes, sha256: hash }
}

/** A commit for people. */
export function commitText({ writer, at, manifest }: Commit): string {
  return `snapshot ${manifest.id}, published at ${timestampText(at)} by ${writer}`
}

/** The state that the next build needs: whole files of the folder, and parts that the states name. */
export interface BuildState {
  registry: Uint8Array
  states: Uint8Array | null
  parts: StoredFile[]
}

/** The object of a state, with its bytes. */
export function encodeState({ registry, states, parts }: BuildState): StoredFile & { from: Uint8Array } {
  const head = {
    format: STATE_FORMAT,
    version: STATE_VERSION,
    registry: registry.length,
    states: states?.length ?? null,
    parts: parts.map(({ file, bytes, sha256: hash }) => ({ file, bytes, sha256: hash })),
  }
  const from = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), registry, states ?? Buffer.alloc(0)])
  const hash = sha256(from)
  return { file: `state-${hash.slice(0, 32)}.jsonl`, bytes: from.length, sha256: hash, from }
}

/** @throws SnapshotError naming the file, for bytes that are not a state */
export function decodeState(bytes: Buffer, file: string): BuildState {
  const end = bytes.indexOf('\n') + 1
  let head: { [name: string]: unknown }
  try {
    head = record(JSON.parse(bytes.toString('utf8', 0, end)), file)
  } catch {
    throw new SnapshotError(`${file}: is not the state of a build`)
  }
  const { format, version, registry, states, parts } = head
  const isWhole =
    format === STATE_FORMAT &&
    version === STATE_VERSION &&
    isCount(registry) &&
    (states === null || isCount(states)) &&
    Array.isArray(parts) &&
    end + registry + (states ?? 0) === bytes.length
  if (!isWhole) throw new SnapshotError(`${file}: is not the state of a build of this version`)
  return {
    registry: bytes.subarray(end, end + registry),
    states: states === null ? null : bytes.subarray(end + registry),
    parts: parts.map((entry) => storedFile(entry, file)),
  }
}
