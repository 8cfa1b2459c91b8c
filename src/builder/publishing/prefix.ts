/**
 * The folder of a bucket that snapshots are published to: its newest commit, its objects, and
 * whether its conditions are reliable.
 *
 *   manifest.msgpack         the newest commit: a manifest and after it, as a second MessagePack value, a
 *   record KIND-HASH.msgpack        parts of snapshots, and of the states of sources
 *   registry-HASH.jsonl      the folder's registry.jsonl as of a commit
 *   given-HASH.jsonl         its given-ID.jsonl
 *   files-ID.json            the list of files that a snapshot was exported as
 *   probe-…                  for a moment, while conditions are probed
 */
import { performance } from 'node:perf_hooks'
import { MANIFEST_FILE, decodeManifest, MAX_MANIFEST_BYTES, type Manifest } from '../../snapshot/manifest.ts'
import {
  SnapshotError,
  firstValue,
  isCount,
  list,
  MAX_PART_BYTES,
  pack,
  PART_KINDS,
  record,
  text,
} from '../../snapshot/snapshot-format.ts'
import { fewAtATime, type StoredFile } from '../../snapshot/store/fetch-part.ts'
import { readObject, refuses, StoreError, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import type { LogLine } from '../../system/log.ts'
import { randomName } from '../../system/replace-file.ts'
import { timestampText } from '../../sea/time.ts'

const FILE_LIST = /^files-[0-9a-f]{24}\.json$/
const PROBE = /^probe-[0-9a-f]{16}$/
/** Objects that collecting may remove where no commit names them. */
const isOurs = (name: string): boolean => CONTENT.test(name) || FILE_LIST.test(name) || PROBE.test(name)
const NO_ETAG = '"00000000000000000000000000000000"'

/** Age from which unnamed objects are collected, by the store's clock. */
const COLLECTED_AFTER_S = 86_400
/** A name that was listed longer ago may be another builder's by now. */
const LISTING_HOLDS_MS = 60_000

/** Cache control of an object that changes: readers ask again each time. */
export const CHANGING = 'no-cache'
/** Cache control of objects named by their content. */
const NEVER_CHANGING = 'public, max-age=31536000, immutable'

export interface StoredCommit extends Commit {
  /** ETag of `manifest.msgpack`; null where the store gives none. */
  etag: string | null
}

/** A file of a folder that is to be in the store, or bytes made for it. */
export type FileToStore = StoredFile & { from: string | Uint8Array }

export class Prefix {
  readonly store: Store
  /** The operator states that no other builder publishes here. */
  readonly singleWriter: boolean

  constructor(store: Store, singleWriter: boolean) {
    this.store = store
    this.singleWriter = singleWriter
  }

  get address(): string {
    return this.store.address
  }

  /** The newest commit; null where there is none. @throws BuildError where it is not one of ours */
  async newest(): Promise<StoredCommit | null> {
    const object = await readObject(this.store, MANIFEST_FILE, { maxBytes: MAX_COMMIT_BYTES })
    if (object === null || object === 'unchanged') return null
    try {
      return { ...decodeCommit(object.bytes, MANIFEST_FILE), etag: object.etag }
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      throw new BuildError(
        `${this.address}/${error.message}, so no builder of this version wrote it; nothing is published there: name an empty prefix, which a build fills from its folder`,
      )
    }
  }

  /**
   * Replaces the commit `before`, which the new one was built on, and checks that the new one is there.
   * @param own names of this builder's commits, which may be there already
   * @returns null, or the commit of another builder that is there instead
   * @throws StoreError where the store has neither
   */
  async replace(
    before: StoredCommit | null,
    { bytes }: Commit,
    own: readonly string[],
  ): Promise<Commit | null> {
    const condition = before?.etag == null ? { ifNoneMatch: '*' as const } : { ifMatch: before.etag }
    const put = { ...(!this.singleWriter && condition), cacheControl: CHANGING }
    const lost = await this.store.put(MANIFEST_FILE, bytes, put).then(
      () => null,
      (error: unknown) => {
        if (error instanceof RequestFault) return error
        throw error
      },
    )
    // An attempt of ours may have been taken before its answer was lost, even if all later ones failed.
    const there = await this.newest().catch((error: unknown) => {
      throw lost ?? error
    })
    if (there !== null && Buffer.from(bytes).equals(there.bytes)) return null
    if (lost !== null) throw lost
    if (there !== null && !own.includes(there.name)) return there
    throw new StoreError(
      `${this.address}/${MANIFEST_FILE}: the store does not show what was put there; it may lag: wait some minutes, then build or publish again`,
    )
  }

  /** @throws BuildError where the prefix has an object that no killed builder of ours left */
  async expectEmpty(): Promise<void> {
    const { objects } = await this.store.list('')
    const other = objects.find(({ name }) => !isOurs(name))?.name
    if (other === undefined) return
    throw new BuildError(
      `${this.address}: holds other objects, such as ${JSON.stringify(other.slice(0, 100))}, and no ${MANIFEST_FILE}; name an empty prefix, such as ${this.address}/snapshots`,
    )
  }

  /**
   * Probes whether the store refuses a put if its condition fails: conditions decide between builders.
   * Several stores ignore them.
   * @throws BuildError where it does not, unless the operator states that there is one builder
   */
  async probe(): Promise<void> {
    if (this.singleWriter) return
    const name = `probe-${randomName()}`
    await this.store.put(name, Buffer.from('first'))
    const second = Buffer.from('second')
    const isObeyed =
      (await refuses(this.store, name, second, { ifNoneMatch: '*' })) &&
      (await refuses(this.store, name, second, { ifMatch: NO_ETAG }))
    await this.store.remove(name)
    if (isObeyed) return
    throw new BuildError(
      `${this.address}: the store ignores conditions (If-None-Match, If-Match), so two builders could overwrite each other; where this is the only one that publishes there, say so with --single-writer`,
    )
  }

  /**
   * Puts files that the store lacks, or that could be collected before a commit names them. `named` are the
   * files of the newest commit, which nobody collects. Returns number and bytes.
   * @throws StoreError, also where the store does not list them then
   */
  async add(
    files: readonly FileToStore[],
    named: ReadonlySet<string>,
  ): Promise<{ files: number; bytes: number }> {
    const { objects, now } = await this.store.list('')
    const there = new Map(objects.map((object) => [object.name, object]))
    const wanted = files.filter(({ file, bytes }) => {
      const object = there.get(file)
      if (object?.bytes !== bytes) return true
      return !named.has(file) && now !== null && now - object.modified > COLLECTED_AFTER_S / 2
    })
    await fewAtATime(wanted, async ({ file, bytes, sha256, from }, signal) => {
      const body = typeof from === 'string' ? { path: from, bytes } : from
      await this.store.put(file, body, { sha256, cacheControl: NEVER_CHANGING, signal })
    })
    const listed = wanted.length === 0 ? objects : (await this.store.list('')).objects
    const sizes = new Map(listed.map(({ name, bytes }) => [name, bytes]))
    for (const { file, bytes } of files) {
      const size = sizes.get(file)
      if (size === bytes) continue
      throw new StoreError(
        `${this.address}/${file}: ${size === undefined ? 'the store took it and does not list it' : `the store took ${bytes} bytes and lists ${size}`}; nothing is published`,
      )
    }
    return { files: wanted.length, bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /**
   * Removes objects with names of ours that are not `named`, and none younger than a day by the store's
   * clock: another builder or a reader may be about to need them. A fault of the store is only logged, since
   * the next build collects, too.
   */
  async collect(newest: Commit, named: ReadonlySet<string>, log: LogLine): Promise<void> {
    try {
      const { objects, now } = await this.store.list('')
      const listedAt = performance.now()
      // Ages are by the store's clock: ours may be wrong.
      const garbage = objects.filter(
        ({ name, modified }) =>
          isOurs(name) && !named.has(name) && now !== null && now - modified > COLLECTED_AFTER_S,
      )
      if (garbage.length === 0 || (await this.newest())?.name !== newest.name) return
      for (const { name } of garbage) {
        if (performance.now() - listedAt > LISTING_HOLDS_MS) return
        await this.store.remove(name)
      }
    } catch (error) {
      if (!(error instanceof RequestFault) && !(error instanceof BuildError)) throw error
      log(`old objects stay for now: ${error.message}`, 'warning')
    }
  }
}

const COMMIT_FORMAT = 'groundswell-commit'
const COMMIT_VERSION = 4

/** Files named by their content, which stay below the address. */
export const CONTENT = new RegExp(
  `^(?:(?:${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack|(?:registry|given)-[0-9a-f]{32}\\.jsonl)$`,
)
const SHA256 = /^[0-9a-f]{64}$/
/** The writer appears in messages. */
const WRITER = /^[ -~]{1,300}$/

/** A manifest and a record: two hundred bytes for each part of a source that others give, too. */
const MAX_COMMIT_BYTES = MAX_MANIFEST_BYTES + 2 ** 17

interface CommitRecord {
  /** A random name of this commit: the same snapshot may be published again. */
  name: string
  /** The machine and the process that published it, for people. */
  writer: string
  /** By the builder's clock, epoch seconds; for people only. */
  at: number
  /** Since when a rollback holds, as on the wire: builders keep new snapshots and do not publish them. */
  hold: { since: string | null } | null
  /**
   * The next build's files beside the manifest: first the registry, then source states and parts that they
   * name.
   */
  state: StoredFile[]
}

export interface Commit extends CommitRecord {
  manifest: Manifest
  /** Bytes of the whole commit. */
  bytes: Uint8Array
}

/** @param manifest the bytes of a manifest */
export function encodeCommit(manifest: Uint8Array, { state, ...rest }: CommitRecord): Uint8Array {
  const files = state.map(({ file, bytes, sha256 }) => ({ file, bytes, sha256 }))
  const behind = { format: COMMIT_FORMAT, version: COMMIT_VERSION, ...rest, state: files }
  return Buffer.concat([plainManifest(manifest), pack(behind)])
}

/** A manifest without the commit record that is appended to it. @throws SnapshotError */
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
  const files = list(state, `${file}: state`).map((entry) => storedFile(entry, file))
  if (!(files.at(0)?.file ?? '').startsWith('registry-')) throw new SnapshotError(`${file}: has no registry`)
  return {
    name: text(name, `${file}: name`),
    writer,
    at,
    hold: held === null ? null : { since: held.since === null ? null : text(held.since, `${file}: hold`) },
    state: files,
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
