/**
 * The folder of a store that snapshots are published to: which of its objects are ours, its newest commit,
 * and whether its conditions can be relied upon.
 *
 *   manifest.msgpack         the newest commit
 *   manifests/ID.msgpack     a commit that was replaced, by the id of its snapshot, as long as it is kept
 *   KIND-HASH.msgpack        parts of snapshots, and of the states of sources
 *   registry-HASH.jsonl      all ids ever given, as of a commit
 *   given-HASH.jsonl         the last known states of sources, as of a commit
 *   files-ID.json            which files a snapshot was exported as
 *   probe-…                  for a moment, while conditions are probed
 *
 * Older versions of this program put commits at manifests/NNNNNNNNNN.msgpack, and copied the newest one to
 * manifest.msgpack.
 */
import { decodeCommit, MAX_COMMIT_BYTES, type Commit } from '../../snapshot/commit.ts'
import { PART_KINDS, SnapshotError } from '../../snapshot/snapshot-format.ts'
import { MANIFEST_FILE } from '../../snapshot/manifest.ts'
import { readObject, StoreError, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { randomName } from '../../system/random-name.ts'

/** Commits of older versions of this program. */
export const NUMBERED = /^manifests\/\d{10}\.msgpack$/
export const FORMER = /^manifests\/(?:\d{10}|[0-9a-f]{24})\.msgpack$/
/** Objects that collecting may remove where no commit names them. */
export const CONTENT = new RegExp(
  `^(?:(?:${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack|(?:registry|given)-[0-9a-f]{32}\\.jsonl|files-[0-9a-f]{24}\\.json|probe-[0-9a-f]{16})$`,
)
const NO_ETAG = '"00000000000000000000000000000000"'

/** Cache control of an object that changes: readers ask again each time. */
export const CHANGING = 'no-cache'
/** Cache control of objects named by their content. */
export const NEVER_CHANGING = 'public, max-age=31536000, immutable'

/** The name under which a replaced commit stays. */
export const formerFile = ({ manifest: { id } }: Commit): string => `manifests/${id}.msgpack`

export interface StoredCommit extends Commit {
  /** ETag of `manifest.msgpack`; null where the store has no such object, or gives no ETags. */
  etag: string | null
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

  /** The newest commit; null where there is none. @throws BuildError where it is not one of ours */
  async newest(): Promise<StoredCommit | null> {
    const shown = await this.commit(MANIFEST_FILE)
    if (shown?.number === null) return shown
    // A builder of an older version may have died before its manifest followed its numbered commit.
    const { objects } = await this.store.list('manifests/')
    const last = objects.findLast(({ name }) => NUMBERED.test(name))
    const numbered = last === undefined ? null : await this.commit(last.name)
    if ((numbered?.number ?? 0) <= (shown?.number ?? 0)) return shown
    return { ...numbered!, etag: shown?.etag ?? null }
  }

  /** The commit of that name, or null. @throws BuildError where it is not one of ours */
  async commit(name: string): Promise<StoredCommit | null> {
    const object = await readObject(this.store, name, { maxBytes: MAX_COMMIT_BYTES })
    if (object === null || object === 'unchanged') return null
    try {
      return { ...decodeCommit(object.bytes, name), etag: object.etag }
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      throw new BuildError(
        `${this.address}/${error.message}, so no builder of ours wrote it; nothing is published there: name another prefix, or remove what is wrong`,
      )
    }
  }

  /**
   * Puts a commit in the place of the one that it was built upon, and makes sure that it is there. @param own
   * names of commits that may be there without being another builder's
   * @returns null, or the commit of another builder that is there instead
   * @throws StoreError where the store has neither
   */
  async replace(
    before: StoredCommit | null,
    { bytes }: Commit,
    own: readonly string[],
  ): Promise<Commit | null> {
    const condition = before?.etag == null ? { ifNoneMatch: '*' as const } : { ifMatch: before.etag }
    await this.store.put(MANIFEST_FILE, bytes, {
      ...(!this.singleWriter && condition),
      cacheControl: CHANGING,
    })
    // An attempt of ours may have been taken before its answer was lost, whatever a later refusal tells.
    const there = await this.newest()
    if (there !== null && Buffer.from(bytes).equals(there.bytes)) return null
    if (there !== null && !own.includes(there.name)) return there
    throw new StoreError(`${this.address}/${MANIFEST_FILE}: the store does not show what was put there`)
  }

  /** @throws BuildError where something lies there that no killed builder of ours left */
  async expectEmpty(): Promise<void> {
    const { objects } = await this.store.list('')
    const other = objects.find(({ name }) => !CONTENT.test(name))?.name
    if (other === undefined) return
    const advice = FORMER.test(other)
      ? 'copy the newest object below manifests/ there, or name an empty prefix'
      : `name a prefix of its own, such as ${this.address}/snapshots`
    throw new BuildError(
      `${this.address}: holds other objects, such as ${JSON.stringify(other.slice(0, 100))}, and no ${MANIFEST_FILE}; ${advice}`,
    )
  }

  /**
   * Whether the store refuses puts whose condition fails, so that conditions decide between builders. Several
   * stores ignore conditions.
   * @throws BuildError where it does not, unless the operator states that there is one builder
   */
  async probe(): Promise<void> {
    if (this.singleWriter) return
    const name = `probe-${randomName()}`
    await this.store.put(name, Buffer.from('first'))
    let isObeyed = true
    try {
      for (const condition of [{ ifNoneMatch: '*' as const }, { ifMatch: NO_ETAG }]) {
        isObeyed &&= (await this.store.put(name, Buffer.from('second'), condition)) === 'refused'
      }
    } catch (error) {
      // Some stores refuse the header itself.
      if (!(error instanceof RequestFault) || ![400, 405, 501].includes(error.status ?? 0)) throw error
      isObeyed = false
    }
    await this.store.remove(name)
    if (isObeyed) return
    throw new BuildError(
      `${this.address}: the store ignores conditions (If-None-Match, If-Match), so two builders could overwrite each other; where this is the only one that publishes there, say so with --single-writer`,
    )
  }
}
