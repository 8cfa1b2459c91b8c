/**
 * Publishes a folder's snapshots to a store. Read this file first.
 *
 * `begin` compares folder and store under the folder's lock: a folder that is behind takes over what the
 * store has, so that the next build is built upon it. `publish` puts what the store lacks, then commits under
 * the next number. Of two builders one gets it; the other takes over the winner's snapshot. Only what the
 * store has accepted becomes the folder's own current snapshot, so that no reader of either sees ids that
 * move.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { commitText, encodeCommit, filesNamed, type Commit, type StoredFile } from '../../snapshot/commit.ts'
import { encodeList, readSnapshotList, snapshotList } from '../../snapshot/file-list.ts'
import { sha256 } from '../../snapshot/snapshot-format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES } from '../../snapshot/manifest.ts'
import { lostLock, publishManifest } from '../../snapshot/write-snapshot.ts'
import { StoreError } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { errorCode } from '../../system/file-faults.ts'
import type { Lock } from '../../system/lock.ts'
import { randomName } from '../../system/random-name.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { givenFile, stateParts } from '../source-state.ts'
import { listKept, manifestOf, readHold } from '../../snapshot/retained.ts'
import { MAX_STATE_BYTES } from '../state-file.ts'
import { REGISTRY_FILE } from '../registry.ts'
import { readAgreed, writeAgreed, type Agreed } from './agreed.ts'
import { collectObjects } from './collect.ts'
import { expectStored, storeFiles, type FileToStore } from './prefix-files.ts'
import { CHANGING, type Prefix } from './prefix.ts'
import { newestSequence, takeOver } from './take-over.ts'

export interface PublishingOptions {
  dir: string
  prefix: Prefix
  /** Commits that stay in the store. */
  keep: number
  /** Epoch seconds. */
  now: number
  /** Takes what happened, one line at a time. */
  log: (line: string) => void
}

/** What became of a snapshot that was to be published. */
export type Outcome =
  | { kind: 'published'; number: number; files: number; bytes: number }
  /** The store has it already. */
  | { kind: 'same'; number: number }
  /** Another builder's snapshot came first and was taken over. */
  | { kind: 'lost'; number: number; id: string }

/** What an operator should know of a snapshot that was published, or was there already. */
export function outcomeLines(outcome: Outcome, address: string): string[] {
  switch (outcome.kind) {
    case 'published':
      return [
        `${address} has it as number ${outcome.number}: ${outcome.files} files of ${outcome.bytes} bytes were put there`,
      ]
    case 'same':
      return [`${address} has it already, as number ${outcome.number}`]
    case 'lost':
      return []
  }
}

export class Publishing {
  readonly #options: PublishingOptions
  readonly #lock: Lock
  readonly #newest: Commit | null
  readonly #agreed: Agreed
  /** The newest commit that was taken over at the beginning; null where the folder was not behind. */
  readonly takenOver: Commit | null

  private constructor(
    options: PublishingOptions,
    lock: Lock,
    { newest, agreed, takenOver }: { newest: Commit | null; agreed: Agreed; takenOver: Commit | null },
  ) {
    this.#options = options
    this.#lock = lock
    this.#newest = newest
    this.#agreed = agreed
    this.takenOver = takenOver
  }

  /**
   * Brings the folder up to the store. Run under the folder's lock.
   * @throws StoreError, BuildError or SnapshotError where they cannot be brought together
   */
  static async begin(options: PublishingOptions, lock: Lock): Promise<Publishing> {
    const { dir, prefix, now, log } = options
    const known = readAgreed(dir)
    const before = known?.to === prefix.address ? known : null
    const newest = await prefix.newest()
    await prefix.probe()
    if (newest === null) {
      const agreed = await beginEmpty(options, before, lock)
      return new Publishing(options, lock, { newest, agreed, takenOver: null })
    }
    const agreed = standingOf(dir, prefix, newest, before)
    const isBehind = newest.number > agreed.number
    const settled = isBehind ? await takeOver(dir, prefix, newest, before, now, lock) : agreed
    if (!isBehind && before === null) writeAgreed(dir, agreed, lock)
    if (isBehind) log(`took over ${commitText(newest)} of ${prefix.address}`)
    // A builder may have died between its commit and the pointer.
    if (await prefix.settlePointer(newest))
      log(`${prefix.address}: ${MANIFEST_FILE} was made to follow number ${newest.number}`)
    return new Publishing(options, lock, { newest, agreed: settled, takenOver: isBehind ? newest : null })
  }

  /**
   * As `begin`; null where the store does not answer for now. The build goes on, and tries again at its end.
   */
  static async beginIfThere(options: PublishingOptions, lock: Lock): Promise<Publishing | null> {
    try {
      return await Publishing.begin(options, lock)
    } catch (error) {
      if (!(error instanceof RequestFault) || !error.passing) throw error
      const { dir, prefix, log } = options
      log(`warning: ${error.message}; the build goes on upon what ${dir} has`)
      const first = { to: prefix.address, number: 0, commit: '', after: 0, held: false }
      if (readAgreed(dir)?.to !== prefix.address) writeAgreed(dir, first, lock)
      return null
    }
  }

  /**
   * What the folder has for the store: the snapshot of a rollback that holds, else the newest that was built.
   * Null where it has nothing.
   */
  pending(): { id: string; bytes: Uint8Array } | null {
    const { dir } = this.#options
    const unpublished =
      readHold(dir) === null
        ? listKept(dir).findLast(
            ({ sequence, manifest }) => sequence > this.#agreed.after && manifest !== null,
          )
        : undefined
    const file = unpublished?.file ?? MANIFEST_FILE
    const manifest = manifestOf(join(dir, file))
    return manifest === null
      ? null
      : { id: manifest.id, bytes: readRegularFileSync(join(dir, file), MAX_MANIFEST_BYTES) }
  }

  /**
   * Publishes a snapshot of the folder, in the store and then in the folder.
   * @throws StoreError; then the snapshot is kept, and the next build or `publish` tries again
   */
  async publish({ id, bytes }: { id: string; bytes: Uint8Array }): Promise<Outcome> {
    const { dir, prefix, keep, log } = this.#options
    const newest = this.#newest
    const hold = readHold(dir)
    const isSame = newest?.manifest.id === id && (newest.hold === null) === (hold === null)
    const listing = await prefix.listing()
    const { files, registry, states, parts } = this.#filesOf(id, bytes)
    const named = new Set(newest === null ? [] : filesNamed(newest))
    const needed = isSame ? files.filter(({ file }) => named.has(file)) : files
    const put = await storeFiles(prefix.store, listing, needed, named, prefix.singleWriter)
    await this.#putList(id)
    if (put.files > 0) expectStored(prefix.store, await prefix.listing(), needed)
    if (isSame) {
      this.#agree(newest, id, bytes)
      return { kind: 'same', number: newest.number }
    }
    if (!this.#lock.isHeld()) throw lostLock(dir)
    const number = (newest?.number ?? 0) + 1
    const record = {
      number,
      builder: randomName(),
      parent: newest?.builder ?? '',
      at: Math.floor(this.#options.now),
      registry,
      states,
      stateParts: parts,
      hold: hold === null ? null : { since: hold.since },
    }
    const commitBytes = encodeCommit(bytes, record)
    if (!(await prefix.put(number, record.builder, commitBytes))) return this.#lose(id)
    const commit: Commit = { ...record, manifest: decodeManifest(bytes, MANIFEST_FILE), bytes: commitBytes }
    await prefix.settlePointer(commit)
    this.#agree(commit, id, bytes)
    await collectObjects(prefix, commit, keep, log)
    return { kind: 'published', number, ...put }
  }

  /**
   * Readers find the list by the snapshot's id. Its content may change after an export that failed before.
   */
  async #putList(id: string): Promise<void> {
    const { dir, prefix } = this.#options
    const list = readSnapshotList(dir, id)
    if (list === null) return
    const type = 'application/json'
    await prefix.store.put(snapshotList(id), encodeList(list), { type, cacheControl: CHANGING })
  }

  /** Another builder was first: its snapshot is the folder's now. */
  async #lose(id: string): Promise<Outcome> {
    const { dir, prefix, now } = this.#options
    const winner = await prefix.newest()
    if (winner === null) throw new StoreError(`${prefix.address}: the store has lost its newest commit`)
    if (this.#agreed.number === 0 && hasHistory(dir)) throw grownApart(dir, prefix, winner.number)
    await takeOver(dir, prefix, winner, this.#agreed, now, this.#lock)
    await prefix.settlePointer(winner)
    return winner.manifest.id === id
      ? { kind: 'same', number: winner.number }
      : { kind: 'lost', number: winner.number, id: winner.manifest.id }
  }

  /** Makes the folder what the store is now. */
  #agree(commit: Commit, id: string, bytes: Uint8Array): void {
    const { dir, prefix } = this.#options
    const held = readHold(dir) !== null
    if (!held && manifestOf(join(dir, MANIFEST_FILE))?.id !== id) publishManifest(dir, bytes, this.#lock)
    const after = newestSequence(readdirSync(dir))
    const { number, builder } = commit
    writeAgreed(dir, { to: prefix.address, number, commit: builder, after, held }, this.#lock)
  }

  /** All that a snapshot is made of, and what the next builder needs with it. */
  #filesOf(
    id: string,
    manifest: Uint8Array,
  ): { files: FileToStore[]; registry: StoredFile; states: StoredFile | null; parts: StoredFile[] } {
    const { dir } = this.#options
    const entries = decodeManifest(manifest, MANIFEST_FILE).parts
    const own = new Set(entries.map(({ file }) => file))
    const parts = stateParts(dir, id).filter(({ file }) => !own.has(file))
    const registry = contentOf(dir, REGISTRY_FILE, 'registry')
    if (registry === null) {
      throw new BuildError(
        `${join(dir, REGISTRY_FILE)}: is missing, and the ids in it are published with a snapshot; the next build in this folder makes it anew`,
      )
    }
    const states = contentOf(dir, givenFile(id), 'given')
    const unique = new Map([...entries, ...parts].map((part) => [part.file, part]))
    const fromDisk = [...unique.values()].map(({ file, bytes, sha256 }) => ({
      file,
      bytes,
      sha256,
      from: join(dir, file),
    }))
    const made = states === null ? [registry] : [registry, states]
    return { files: [...fromDisk, ...made], registry, states, parts }
  }
}

/** Begins where the prefix has no commit: the first one is about to be made, or all are gone. */
async function beginEmpty(
  { dir, prefix }: PublishingOptions,
  before: Agreed | null,
  lock: Lock,
): Promise<Agreed> {
  await prefix.listing()
  if (before !== null && before.number > 0) {
    throw new BuildError(
      `${prefix.address}: has no snapshot, and ${dir} published number ${before.number} there; is it the right store? To begin anew there, remove ${join(dir, 'published.json')}`,
    )
  }
  const agreed = before ?? { to: prefix.address, number: 0, commit: '', after: 0, held: false }
  if (before === null) writeAgreed(dir, agreed, lock)
  return agreed
}

/** Where a folder stands against the newest commit. @throws BuildError where they do not belong together */
function standingOf(dir: string, prefix: Prefix, newest: Commit, before: Agreed | null): Agreed {
  const nothing = { to: prefix.address, number: 0, commit: '', after: 0, held: false }
  const { number, builder, manifest } = newest
  if (before !== null && before.number > 0) {
    if (before.number > number) {
      throw new BuildError(
        `${prefix.address}: its newest commit is number ${number}, and ${dir} has seen number ${before.number} there: the store shows an old state, or lost its newest objects; nothing is published`,
      )
    }
    if (before.number === number && before.commit !== builder) throw grownApart(dir, prefix, number)
    return before
  }
  const kept = listKept(dir)
  const same = kept.findLast(({ id }) => id === manifest.id)
  const isNew = kept.length === 0 || before !== null
  if ((isNew && !hasHistory(dir)) || (same !== undefined && same === kept.at(-1))) return nothing
  if (same === undefined) throw grownApart(dir, prefix, number)
  return { ...nothing, number, commit: builder, after: same.sequence, held: newest.hold !== null }
}

/** Whether anybody can have seen ids of this folder: it has published a snapshot. */
function hasHistory(dir: string): boolean {
  return existsSync(join(dir, MANIFEST_FILE))
}

function grownApart(dir: string, prefix: Prefix, number: number): BuildError {
  return new BuildError(
    `${dir} and ${prefix.address} have grown apart: the snapshots of the folder were not built upon number ${number}, which the store has newest, and the same buoys may have other ids; publish to an empty prefix, or build into an empty folder, which takes the store's snapshot over`,
  )
}

/** A file of the folder under a name by its content; null where there is none. */
function contentOf(dir: string, file: string, kind: 'registry' | 'given'): FileToStore | null {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(join(dir, file), MAX_STATE_BYTES)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new BuildError(`${join(dir, file)}: cannot be read (${errorCode(error)})`)
  }
  const hash = sha256(bytes)
  return { file: `${kind}-${hash.slice(0, 32)}.jsonl`, bytes: bytes.length, sha256: hash, from: bytes }
}
