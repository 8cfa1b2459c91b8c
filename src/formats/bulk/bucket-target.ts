/** A bucket as the target of an export: whole files get their final names, and their list comes last. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readObject, StoreError, type Store, type StoredObject } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { isContent, LIST_FILE, MAX_LIST_BYTES, type FileList } from '../../snapshot/file-list.ts'
import { faultsAt, listBefore, type StagedFile, type Target, type TargetFile } from './bulk-target.ts'
import type { LogLine } from '../../system/log.ts'

/** Age from which unnamed objects are collected, by the store's clock. */
const COLLECTED_AFTER_S = 86_400
const CHANGING = 'no-cache'
const NEVER_CHANGING = 'public, max-age=31536000, immutable'
const PARQUET_TYPE = 'application/vnd.apache.parquet'

export class BucketTarget implements Target {
  staging = ''
  readonly #store: Store
  readonly #temporary: string
  readonly #log: LogLine
  #before: Buffer | null = null
  #objects = new Map<string, StoredObject>()
  #storeNow: number | null = null
  /** Files that the list before names, which nobody collects. */
  #named = new Set<string>()

  /** @param temporary folder of this machine in which one file at a time is written before it is put */
  constructor(store: Store, temporary: string, log: LogLine) {
    this.#store = store
    this.#temporary = temporary
    this.#log = log
  }

  get address(): string {
    return this.#store.address
  }

  get publicAddress(): string {
    return this.#store.address
  }

  async begin(): Promise<FileList | null> {
    this.#before = await this.#listBytes()
    const before = listBefore(this.#before, this.address)
    this.#named = new Set(before?.files.map(({ path }) => path))
    await this.#look()
    this.staging = faultsAt(this.#temporary, () => mkdtempSync(join(this.#temporary, 'groundswell-export-')))
    return before
  }

  async #listBytes(): Promise<Buffer | null> {
    const object = await readObject(this.#store, LIST_FILE, { maxBytes: MAX_LIST_BYTES })
    return object === null || object === 'unchanged' ? null : object.bytes
  }

  async #look(): Promise<void> {
    const { objects, now } = await this.#store.list('')
    this.#objects = new Map(objects.map((object) => [object.name, object]))
    this.#storeNow = now
  }

  has({ path, bytes }: TargetFile): boolean {
    return this.#objects.get(path)?.bytes === bytes
  }

  async add({ path, bytes, sha256 }: TargetFile, staged: StagedFile): Promise<void> {
    const object = this.#objects.get(path)
    // Putting an old object again makes it young: it must not be collected before our list names it.
    const isSafe =
      object?.bytes === bytes &&
      (this.#named.has(path) ||
        (this.#storeNow !== null && this.#storeNow - object.modified < COLLECTED_AFTER_S / 2))
    if (!isSafe) {
      await this.#store.put(
        path,
        { path: staged.path, bytes },
        {
          sha256,
          type: PARQUET_TYPE,
          cacheControl: NEVER_CHANGING,
          ...(object === undefined && { ifNoneMatch: '*' as const }),
        },
      )
    }
    rmSync(staged.path, { force: true })
  }

  async publish(list: Buffer, files: readonly TargetFile[]): Promise<void> {
    await this.#look()
    for (const { path, bytes } of files) {
      const size = this.#objects.get(path)?.bytes
      if (size === bytes) continue
      throw new StoreError(
        `${this.address}/${path}: ${size === undefined ? 'the store took it and does not list it' : `the store took ${bytes} bytes and lists ${size}`}; the export before this one stays as it was`,
      )
    }
    await this.#store.put(LIST_FILE, list, { type: 'application/json', cacheControl: CHANGING })
    this.#before = list
  }

  async collect(named: ReadonlySet<string>): Promise<void> {
    const now = this.#storeNow
    // Ages are those of the store's clock alone: ours may be wrong.
    if (now === null) return
    const garbage = [...this.#objects.values()].filter(
      ({ name, modified }) =>
        isContent(name) && !named.has(name) && !this.#named.has(name) && now - modified > COLLECTED_AFTER_S,
    )
    if (garbage.length === 0) return
    try {
      // Another export may have come since, and named some of these objects.
      const current = await this.#listBytes()
      if (current === null || this.#before === null || !current.equals(this.#before)) return
      for (const { name } of garbage) await this.#store.remove(name)
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      this.#log(`old exported files stay for now: ${error.message}`, 'warning')
    }
  }

  end(): Promise<void> {
    if (this.staging !== '') rmSync(this.staging, { recursive: true, force: true })
    return Promise.resolve()
  }
}
