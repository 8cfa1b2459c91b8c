/**
 * The folder of a store that snapshots are published to: which of its objects are ours, its newest commit,
 * and whether its conditions can be relied upon.
 *
 *   manifest.msgpack                for readers: a copy of the newest commit
 *   manifests/NNNNNNNNNN.msgpack    commits
 *   KIND-HASH.msgpack               parts of snapshots, and of the states of sources
 *   registry-HASH.jsonl             all ids ever given, as of a commit
 *   given-HASH.jsonl                the last known states of sources, as of a commit
 *   files-ID.json                   which files a snapshot was exported as
 *   probe-…                         for a moment, while conditions are probed
 */
import { decodeCommit, MAX_COMMIT_BYTES, type Commit } from '../../snapshot/commit.ts'
import { PART_KINDS, SnapshotError } from '../../snapshot/snapshot-format.ts'
import { MANIFEST_FILE } from '../../snapshot/manifest.ts'
import { StoreError, type Listing, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { randomName } from '../../system/random-name.ts'

/** Commits sort by their numbers, also as texts. */
const COMMIT = /^manifests\/(\d{10})\.msgpack$/
const CONTENT = new RegExp(
  `^(?:(?:${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack|(?:registry|given)-[0-9a-f]{32}\\.jsonl|files-[0-9a-f]{24}\\.json)$`,
)
const PROBE = /^probe-[0-9a-f]{16}$/
const HIGHEST_NUMBER = 9_999_999_999

/** For an object that changes: readers ask again each time. */
export const CHANGING = 'no-cache'
/** For objects named by their content, which caches may keep. */
export const NEVER_CHANGING = 'public, max-age=31536000, immutable'

const commitFile = (number: number): string => `manifests/${String(number).padStart(10, '0')}.msgpack`

/** Whether a name is that of a file named by its content, which collecting may remove. */
export const isContent = (name: string): boolean => CONTENT.test(name)
/** Whether a name is that of a probe's object. */
export const isProbe = (name: string): boolean => PROBE.test(name)

/** The number of a commit's name; null for other names. */
export function commitNumber(name: string): number | null {
  const digits = COMMIT.exec(name)?.[1]
  return digits === undefined ? null : Number(digits)
}

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

  /** The numbers of all commits, ascending. */
  async numbers(): Promise<number[]> {
    const { objects } = await this.store.list('manifests/')
    return objects.flatMap(({ name }) => commitNumber(name) ?? [])
  }

  /** The newest commit; null where there is none. @throws BuildError where it is not one of ours */
  async newest(): Promise<Commit | null> {
    for (;;) {
      const number = (await this.numbers()).at(-1)
      if (number === undefined) return null
      const commit = await this.commit(number)
      if (commit !== null) return commit
      // A newer commit came, and this one was collected.
    }
  }

  /** Null where there is no such commit. @throws BuildError where it is not one of ours */
  async commit(number: number): Promise<Commit | null> {
    const file = commitFile(number)
    const object = await this.store.read(file, { maxBytes: MAX_COMMIT_BYTES })
    if (object === null) return null
    const commit = object === 'unchanged' ? null : this.#decoded(object.bytes, file)
    if (commit?.number !== number) throw this.#foreign(file, 'is not the commit of this number')
    return commit
  }

  #decoded(bytes: Uint8Array, file: string): Commit | null {
    try {
      return decodeCommit(bytes, file)
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      throw this.#foreign(error.message, 'so no builder of ours wrote it')
    }
  }

  #foreign(what: string, why: string): BuildError {
    return new BuildError(
      `${this.address}/${what}, ${why}; nothing is published there: name another prefix, or remove what is wrong`,
    )
  }

  /**
   * Puts a commit under its number. False where that number is another builder's.
   * @throws StoreError also where the store gives something else back than it took
   */
  async put(number: number, builder: string, bytes: Uint8Array): Promise<boolean> {
    const file = commitFile(number)
    if (number > HIGHEST_NUMBER) throw new BuildError(`${this.address}: ${number} is too high for a commit`)
    if (((await this.numbers()).at(-1) ?? 0) >= number) return false
    await this.store.put(file, bytes, {
      ...(!this.singleWriter && { ifNoneMatch: '*' as const }),
      cacheControl: CHANGING,
    })
    // This holds after "present", too: an attempt with a lost answer may have put it.
    const there = await this.commit(number)
    if (there === null) {
      throw new StoreError(
        `${this.address}/${file}: the store took it and does not have it; nothing is published`,
      )
    }
    if (there.builder !== builder) return false
    if (!Buffer.from(bytes).equals(there.bytes)) {
      throw new StoreError(`${this.address}/${file}: the store has other bytes than it took`)
    }
    // A builder that was stalled for days would find a number free that was collected since.
    const newest = (await this.numbers()).at(-1) ?? 0
    return newest === number || (await this.commit(number + 1))?.parent === builder
  }

  /**
   * Makes the pointer a copy of the newest commit, whoever made that: a builder that stalled after its commit
   * must not leave an older one there. @returns whether it had to be written
   */
  async settlePointer(newest: Commit): Promise<boolean> {
    let commit = newest
    let isWritten = false
    for (;;) {
      const there = await this.#pointer()
      if (there === null || !there.equals(commit.bytes)) {
        await this.store.put(MANIFEST_FILE, commit.bytes, { cacheControl: CHANGING })
        isWritten = true
      }
      const number = (await this.numbers()).at(-1) ?? 0
      if (number <= commit.number) return isWritten
      commit = (await this.commit(number)) ?? commit
    }
  }

  async #pointer(): Promise<Buffer | null> {
    try {
      const object = await this.store.read(MANIFEST_FILE, { maxBytes: MAX_COMMIT_BYTES })
      return object === null || object === 'unchanged' ? null : object.bytes
    } catch (error) {
      // An object that is too large for a manifest is replaced.
      if (error instanceof RequestFault && error.status === null && !error.passing) return null
      throw error
    }
  }

  /**
   * All objects, where the prefix is ours or empty.
   * @param commits whether there are commits of ours
   * @throws BuildError where others keep something else there
   */
  async listing(): Promise<Listing> {
    const listing = await this.store.list('')
    const names = listing.objects.map(({ name }) => name)
    if (names.some((name) => commitNumber(name) !== null)) return listing
    const foreign = names.find((name) => !isContent(name) && !isProbe(name) && name !== MANIFEST_FILE)
    if (foreign !== undefined) {
      throw new BuildError(
        `${this.address}: holds other objects, such as ${JSON.stringify(foreign.slice(0, 100))}, and no snapshots; name a prefix of its own, such as ${this.address}/snapshots`,
      )
    }
    if (names.includes(MANIFEST_FILE)) {
      throw new BuildError(
        `${this.address}: holds a ${MANIFEST_FILE} that no builder published (there are no commits below manifests/); name an empty prefix, or remove that object first`,
      )
    }
    return listing
  }

  /**
   * Whether a condition decides between two builders: the store must refuse to put an object twice. Several
   * stores silently ignore the condition.
   * @throws BuildError where it does not, unless the operator states that there is one builder
   */
  async probe(): Promise<void> {
    if (this.singleWriter) return
    const name = `probe-${randomName()}`
    const isObeyed = await this.#putsOnce(name)
    await this.store.remove(name)
    if (isObeyed) return
    throw new BuildError(
      `${this.address}: the store ignores the condition "only where the name is free" (If-None-Match: *), so two builders could overwrite each other; where this is the only one that publishes there, say so with --single-writer`,
    )
  }

  async #putsOnce(name: string): Promise<boolean> {
    try {
      await this.store.put(name, Buffer.from('first'), { ifNoneMatch: '*' })
      return (await this.store.put(name, Buffer.from('second'), { ifNoneMatch: '*' })) === 'present'
    } catch (error) {
      // Some stores refuse the header itself.
      if (error instanceof RequestFault && [400, 405, 501].includes(error.status ?? 0)) return false
      throw error
    }
  }
}
