/**
 * A commit: what a builder puts into a store as `manifest.msgpack` to publish a snapshot. It is a manifest,
 * and behind it, as a second MessagePack value, what the next build has to know: the registry of ids, the
 * states of sources, and who published it. Version 1 also lay at `manifests/NNNNNNNNNN.msgpack`.
 */
import type { StoredFile } from './store/fetch-part.ts'
import { timestampText } from '../sea/time.ts'
import {
  firstValue,
  isCount,
  list,
  MAX_PART_BYTES,
  pack,
  record,
  SnapshotError,
  text,
  type Meta,
} from './snapshot-format.ts'
import { snapshotList } from './file-list.ts'
import { decodeManifest, MAX_MANIFEST_BYTES, type Manifest } from './manifest.ts'

const COMMIT_FORMAT = 'groundswell-commit'
const COMMIT_VERSION = 2
const READABLE_VERSIONS: ReadonlySet<unknown> = new Set([1, COMMIT_VERSION])

const SHA256 = /^[0-9a-f]{64}$/
/** Names of files other than the parts: no path, and nothing hidden. */
const FILE = /^[a-z][a-z0-9.-]{0,120}$/
/** The writer appears in messages. */
const WRITER = /^[ -~]{1,300}$/

/** The manifest, and as much again for the states' parts. */
export const MAX_COMMIT_BYTES = 2 * MAX_MANIFEST_BYTES

export interface CommitRecord {
  /** A random name of this commit. */
  name: string
  /** The machine and the process that published it, for people. */
  writer: string
  /** By the builder's clock, epoch seconds; for people only. */
  at: number
  registry: StoredFile
  /** The last known states of the sources; null for a build without a configuration. */
  states: StoredFile | null
  /** Files that the states name and the manifest does not. */
  stateParts: StoredFile[]
  /** Since when a rollback holds, as on the wire: builders keep what they build and do not publish it. */
  hold: { since: string | null } | null
}

export interface Commit extends CommitRecord {
  /** A number in version 1, null in later ones. */
  number: number | null
  manifest: Manifest
  /** Bytes of the whole commit. */
  bytes: Uint8Array
}

/** @param manifest the bytes of a manifest */
export function encodeCommit(manifest: Uint8Array, commit: CommitRecord): Uint8Array {
  const { name, writer, at, registry, states, stateParts, hold } = commit
  const file = ({ file: stored, bytes, sha256 }: StoredFile): Meta => ({ file: stored, bytes, sha256 })
  const behind = pack({
    format: COMMIT_FORMAT,
    version: COMMIT_VERSION,
    builder: name,
    writer,
    at,
    registry: file(registry),
    states: states === null ? null : file(states),
    state_parts: stateParts.map(file),
    hold: hold === null ? null : { since: hold.since },
  })
  return Buffer.concat([plainManifest(manifest), behind])
}

/** A manifest without what stands behind it. @throws SnapshotError */
export function plainManifest(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes.subarray(0, firstValue(bytes, 'manifest').end))
}

/** @throws SnapshotError naming the file, unless a manifest and a commit's record are there */
export function decodeCommit(bytes: Uint8Array, file: string): Commit {
  if (bytes.length > MAX_COMMIT_BYTES) {
    throw new SnapshotError(`${file}: ${bytes.length} bytes are too many for a commit`)
  }
  const { end } = firstValue(bytes, file)
  const manifest = decodeManifest(bytes.subarray(0, end), file)
  const body = end === bytes.length ? {} : record(firstValue(bytes.subarray(end), file).value, file)
  if (body.format !== COMMIT_FORMAT) throw new SnapshotError(`${file}: is not a commit of a builder`)
  if (!READABLE_VERSIONS.has(body.version)) {
    throw new SnapshotError(`${file}: is a commit of another version of this program`)
  }
  const { number, at, writer } = body
  if (!isCount(at)) throw new SnapshotError(`${file}: has no time`)
  const hold = body.hold === null ? null : record(body.hold, `${file}: hold`)
  return {
    number: isCount(number) ? number : null,
    name: text(body.builder, `${file}: builder`),
    writer: typeof writer === 'string' && WRITER.test(writer) ? writer : 'an older version of this program',
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
    bytes <= MAX_PART_BYTES &&
    typeof sha256 === 'string' &&
    SHA256.test(sha256) &&
    file.includes(sha256.slice(0, 32))
  if (!isWhole) throw new SnapshotError(`${commit}: a file's entry is malformed`)
  return { file, bytes, sha256 }
}

/** All files that a commit needs, and the list of exported files. */
export function filesNamed({ manifest, stateParts: parts, registry, states }: Commit): string[] {
  const stored = [...manifest.parts, ...parts, registry, ...(states === null ? [] : [states])]
  return [...stored.map(({ file }) => file), snapshotList(manifest.id)]
}

/** A commit for people. */
export function commitText({ writer, at, manifest }: Commit): string {
  return `snapshot ${manifest.id}, published at ${timestampText(at)} by ${writer}`
}
