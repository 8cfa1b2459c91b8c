/**
 * The folder that a mirror fills as a builder would. It is marked, so that no builder works in it, and it is
 * written under the builder's lock.
 */
import { readdirSync, statSync, utimesSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { collectGarbage, removeLeftovers } from '../garbage.ts'
import { keepManifest, keptFiles, manifestOf, modifiedAt } from '../retained.ts'
import { nullIfDamaged, verifyParts } from '../read-snapshot.ts'
import type { PartEntry } from '../snapshot-format.ts'
import { MANIFEST_FILE, type Manifest } from '../manifest.ts'
import { makeOutput, publishManifest, writeDurably } from '../write-snapshot.ts'
import { MARK_FILE, mirrorMark, mirroredSource } from './mark.ts'
import { BuildError } from '../../system/build-error.ts'
import { lockInTurn, type Lock } from '../../system/lock.ts'

/** The current snapshot, and the two before it for programs that still read them. */
const KEPT = 3
/** When room is wanted, only the current snapshot stays. */
const KEPT_WITHOUT_ROOM = 1
/** Long enough to replace a holder that was killed. */
const LOCK_PATIENCE_MS = 200
/** Room on the disk that a mirror leaves to others. */
const SPARE_BYTES = 16 * 2 ** 20

/** Files that only a builder makes. */
const OF_A_BUILDER = /^(registry\.jsonl|hold\.json|given-[0-9a-f]{24}\.jsonl|report-[0-9a-f]{24}\.json)$/

/** A manifest as a source, or the folder, shows it. */
export interface Shown {
  manifest: Manifest
  bytes: Uint8Array
  /** When it was written, epoch seconds by the source's clock (`Last-Modified`), or null. */
  publishedAt: number | null
}

export class MirrorFolder {
  readonly dir: string
  readonly #source: string
  readonly #clock: () => number
  /** The source of the folder when this process began; null where it was not a mirror. */
  readonly #before: string | null

  /**
   * Makes the folder where it is missing.
   * @param source address of what is mirrored
   * @param clock epoch seconds
   * @throws BuildError when the folder cannot be made, or a builder works in it
   */
  constructor(dir: string, source: string, clock: () => number) {
    makeOutput(dir)
    this.dir = dir
    this.#source = source
    this.#clock = clock
    this.#before = mirroredSource(dir)
    this.#expectNoBuilder()
  }

  /** The snapshot in the folder; null without a manifest that can be read. */
  held(): Manifest | null {
    return manifestOf(join(this.dir, MANIFEST_FILE))
  }

  /** When the source published it, epoch seconds; null without one. */
  publishedAt(): number | null {
    return modifiedAt(join(this.dir, MANIFEST_FILE))
  }

  /** Whether the folder has mirrored anything from this source. */
  isOurs(): boolean {
    return mirroredSource(this.dir) === this.#source
  }

  /** @throws LockError while another process writes, BuildError when the folder became another one's */
  async lock(): Promise<Lock> {
    const held = await lockInTurn(join(this.dir, 'builder.lock'), {
      patienceMs: LOCK_PATIENCE_MS,
    })
    try {
      this.#expectNoBuilder()
      const marked = mirroredSource(this.dir)
      if (marked !== this.#source && marked !== this.#before) {
        throw new BuildError(
          `${this.dir}: another process mirrors ${marked === '' ? 'something else' : marked} into this folder since; give each source a folder of its own`,
        )
      }
      return held
    } catch (error) {
      held.release()
      throw error
    }
  }

  #expectNoBuilder(): void {
    if (mirroredSource(this.dir) !== null) return
    const names = readdirSync(this.dir)
    const sign = names.find((name) => OF_A_BUILDER.test(name)) ?? keptFiles(names)[0]?.file
    if (sign === undefined) return
    throw new BuildError(
      `${this.dir}: a builder publishes in this folder (it has ${sign}); a mirror of ${this.#source} needs a folder of its own: give another one with --snapshots`,
    )
  }

  /** The parts of a manifest that the folder lacks or has in another size. */
  missing({ parts }: Manifest): PartEntry[] {
    return parts.filter(({ file, bytes }) => {
      const info = statSync(join(this.dir, file), { throwIfNoEntry: false })
      return info === undefined || !info.isFile() || info.size !== bytes
    })
  }

  /** The parts of a manifest that are not whole, each read to its end. */
  async damaged({ parts }: Manifest, signal: AbortSignal): Promise<PartEntry[]> {
    const damaged: PartEntry[] = []
    for (const entry of parts) {
      signal.throwIfAborted()
      const found = await verifyParts(this.dir, [entry]).catch(nullIfDamaged)
      if (found === null) damaged.push(entry)
    }
    return damaged
  }

  /**
   * Makes room for parts that are about to come; old snapshots go first where there is too little.
   * @throws BuildError with the sums when they do not fit
   */
  async makeRoom(missing: readonly PartEntry[], lock: Lock): Promise<void> {
    const needed = missing.reduce((sum, { bytes }) => sum + bytes, 0)
    const free = async (): Promise<number> => {
      const { bavail, bsize } = await statfs(this.dir)
      return Math.max(0, bavail * bsize - SPARE_BYTES)
    }
    if (needed <= (await free())) return
    collectGarbage(this.dir, KEPT_WITHOUT_ROOM, this.#clock(), lock.isHeld)
    const found = await free()
    if (needed <= found) return
    throw new BuildError(
      `${this.dir}: no space is left on the disk: the next snapshot needs ${megabytes(needed)}, and ${megabytes(found)} are free for it beside ${megabytes(SPARE_BYTES)} that a mirror leaves to others`,
    )
  }

  /**
   * Makes a snapshot with all its parts the current one, and removes what no kept one needs.
   * @throws BuildError when the disk refuses it, or when the lock was taken over
   */
  publish({ manifest, bytes, publishedAt }: Shown, lock: Lock): void {
    const { dir } = this
    // The mark comes first, so that no builder takes the folder for its own.
    if (!this.isOurs()) writeDurably(dir, MARK_FILE, mirrorMark(this.#source), lock.folder)
    keepManifest(dir, manifest.id, bytes, lock)
    publishManifest(dir, bytes, lock)
    // The time of publication is the source's.
    if (publishedAt !== null && lock.isHeld()) utimesSync(join(dir, MANIFEST_FILE), publishedAt, publishedAt)
    removeLeftovers(dir)
    collectGarbage(dir, KEPT, this.#clock(), lock.isHeld)
  }
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
