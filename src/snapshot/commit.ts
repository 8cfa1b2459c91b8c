/**
 * A commit: what a builder puts into a store to publish a snapshot. It is a manifest, which is all that a
 * reader needs, and behind it, as a second MessagePack value, what the next builder has to know.
 *
 *   manifests/NNNNNNNNNN.msgpack    commit N; it is put only where the name is free, so of two
 *                                   builders one wins
 *   manifest.msgpack                a copy of the newest one, for readers, written after it
 *
 * A commit names one registry of ids and one set of states, so whichever builder comes next gives the same
 * ids.
 */
import {
  expectVersion,
  firstValue,
  isCount,
  list,
  pack,
  record,
  SnapshotError,
  text,
  type Meta,
} from './snapshot-format.ts'
import { snapshotList } from './file-list.ts'
import { decodeManifest, MAX_MANIFEST_BYTES, type Manifest } from './manifest.ts'

const COMMIT_FORMAT = 'groundswell-commit'
const COMMIT_VERSION = 1

const SHA256 = /^[0-9a-f]{64}$/
/** Names of files other than the parts: no path, and nothing hidden. */
const FILE = /^[a-z][a-z0-9.-]{0,120}$/

/** The manifest, and as much again for the states' parts. */
export const MAX_COMMIT_BYTES = 2 * MAX_MANIFEST_BYTES

/** A file in a store, which never changes. */
export interface StoredFile {
  file: string
  bytes: number
  sha256: string
}

/** What stands behind the manifest. */
export interface CommitRecord {
  /** Number of the commit, from 1, without a gap. */
  number: number
  /** Chosen at random by the builder: which of two builders a commit is of. */
  builder: string
  /** The `builder` of the commit before; empty in the first. */
  parent: string
  /** By the builder's clock, epoch seconds; for people, nothing goes by it. */
  at: number
  registry: StoredFile
  /** The last known states of the sources; null for a build without a configuration. */
  states: StoredFile | null
  /** Files that the states name and the manifest does not. */
  stateParts: StoredFile[]
  /**
   * While a rollback holds: since when, as on the wire. Builders keep what they build and do not publish it.
   */
  hold: { since: string | null } | null
}

export interface Commit extends CommitRecord {
  manifest: Manifest
  /** Bytes of the whole commit. */
  bytes: Uint8Array
}

/** @param manifest the bytes of a manifest */
export function encodeCommit(manifest: Uint8Array, commit: CommitRecord): Uint8Array {
  const { number, builder, parent, at, registry, states, stateParts, hold } = commit
  const file = (stored: StoredFile): Meta => ({
    file: stored.file,
    bytes: stored.bytes,
    sha256: stored.sha256,
  })
  const behind = pack({
    format: COMMIT_FORMAT,
    version: COMMIT_VERSION,
    number,
    builder,
    parent,
    at,
    registry: file(registry),
    states: states === null ? null : file(states),
    state_parts: stateParts.map(file),
    hold: hold === null ? null : { since: hold.since },
  })
  return Buffer.concat([plainManifest(manifest), behind])
}

/** The bytes of a manifest without what stands behind it. @throws SnapshotError unless it is one */
export function plainManifest(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes.subarray(0, firstValue(bytes, 'manifest').end))
}

/**
 * The commit behind a manifest; null where nothing is behind it, because it was copied there from a folder.
 * @throws SnapshotError naming the file, when it is not a manifest or not a commit
 */
export function decodeCommit(bytes: Uint8Array, file: string): Commit | null {
  if (bytes.length > MAX_COMMIT_BYTES) {
    throw new SnapshotError(`${file}: ${bytes.length} bytes are too many for a commit`)
  }
  const { end } = firstValue(bytes, file)
  const manifest = decodeManifest(bytes.subarray(0, end), file)
  if (end === bytes.length) return null
  const body = record(firstValue(bytes.subarray(end), file).value, file)
  if (body.format !== COMMIT_FORMAT) throw new SnapshotError(`${file}: is not a commit of a builder`)
  expectVersion(body.version, file)
  const { number, at } = body
  if (!isCount(number) || number < 1 || !isCount(at)) {
    throw new SnapshotError(`${file}: has no number or no time`)
  }
  const hold = body.hold === null ? null : record(body.hold, `${file}: hold`)
  return {
    number,
    builder: text(body.builder, `${file}: builder`),
    parent: text(body.parent, `${file}: parent`),
    at,
    registry: storedFile(body.registry, file),
    states: body.states === null ? null : storedFile(body.states, file),
    stateParts: list(body.state_parts, file).map((entry) => storedFile(entry, file)),
    hold: hold === null ? null : { since: hold.since === null ? null : text(hold.since, `${file}: hold`) },
    manifest,
    bytes,
  }
}

function storedFile(value: unknown, commit: string): StoredFile {
  const { file, bytes, sha256 } = record(value, `${commit}: file`)
  const isWhole =
    typeof file === 'string' &&
    FILE.test(file) &&
    isCount(bytes) &&
    typeof sha256 === 'string' &&
    SHA256.test(sha256) &&
    file.includes(sha256.slice(0, 32))
  if (!isWhole) throw new SnapshotError(`${commit}: a file's entry is malformed`)
  return { file, bytes, sha256 }
}

/** All files that a commit needs, and the list of exported files, which it may have. */
export function filesNamed({ manifest, stateParts: parts, registry, states }: Commit): string[] {
  const stored = [...manifest.parts, ...parts, registry, ...(states === null ? [] : [states])]
  return [...stored.map(({ file }) => file), snapshotList(manifest.id)]
}

/** A commit for people. */
export function commitText({ number, manifest }: Commit): string {
  return `number ${number}, snapshot ${manifest.id},`
}
