/**
 * Builds a snapshot in a folder, upon what the folder holds. Read this file first: `build` below is the table
 * of contents, and each step has a file of its own.
 *
 * Rows that no source gives any more stay, and months without new rows keep their parts. A buoy that no
 * source mentions is left out but not forgotten: its id, slug and rows are there when it comes back. It stays
 * where its source mentions only who reported lately, or is silent. The same input upon the same folder gives
 * the same bytes: no clock, no random number and no order of arrival reaches them.
 */
import { join } from 'node:path'
import { lockFolder, makeOutput, TEMPORARY_PREFIX } from '../snapshot/write.ts'
import type { Lock } from '../system/lock.ts'
import { randomName } from '../system/random-name.ts'
import { readBase, type Base } from './base.ts'
import { checkBuild } from './check.ts'
import { gather } from './gather.ts'
import { keptApart } from './made-up.ts'
import { collectGarbage, removeLeftovers } from './garbage.ts'
import { DEFAULT_KEPT } from './kept.ts'
import { identify } from './identify.ts'
import { Journal, JOURNAL_FILE } from './journal.ts'
import type { BuildOptions } from './options.ts'
import { reportOutcome } from './outcome.ts'
import { writeParts } from './parts.ts'
import { publish, publishingOptions, type BuiltSnapshot } from './publish.ts'
import { Publishing } from './publishing/publishing.ts'
import { Spool } from './spool.ts'

/** @throws BuildError for faults in the input or a second builder, SnapshotError for faults in the folder */
export async function buildSnapshot(options: BuildOptions): Promise<BuiltSnapshot> {
  const { out, keep = DEFAULT_KEPT, now, report, fresh = false } = options
  makeOutput(out)
  const lock = lockFolder(out)
  try {
    // Before anything is written: on a full disk, what failed builds left would make every later one fail.
    removeLeftovers(out, JOURNAL_FILE)
    collectGarbage(out, keep, now, new Journal(out).files(), () => lock.isHeld())
    const elsewhere = publishingOptions(options)
    const publishing = elsewhere === null ? null : await Publishing.beginIfThere(elsewhere, lock)
    const found = await readBase(out, fresh, (message) => report.warn(message))
    const base = keptApart(options, found)
    return await build(options, base, lock, publishing)
  } finally {
    lock.release()
  }
}

async function build(
  options: BuildOptions,
  base: Base,
  lock: Lock,
  publishing: Publishing | null,
): Promise<BuiltSnapshot> {
  const { out, keep = DEFAULT_KEPT, now } = options
  const spool = new Spool(join(out, `${TEMPORARY_PREFIX}${randomName()}-spool`))
  const journal = new Journal(out)
  try {
    // 1. Gather what the sources give, and the data's time; silent sources give what they gave last.
    const gathered = await gather(options, base, spool)
    // 2. Identify each buoy: its id, slug, country and time zone; a duplicate in another network goes.
    const identified = await identify(options, base, gathered)
    // 3. Write the parts that are new; the others keep their files.
    const written = await writeParts(options, base, gathered, identified, { spool, journal })
    // 4. Check that little is lost, and that what is on the disk is what was written.
    await checkBuild(options, base, written.parts, journal)
    // 5. Publish, unless a rollback holds; then nothing needs what this build and dropped snapshots left.
    const built = await publish(options, base, gathered, identified, written, { lock, publishing })
    journal.remove()
    collectGarbage(out, keep, now, new Set(), () => lock.isHeld())
    // 6. Report what came of it.
    reportOutcome(options, base, gathered, identified, built)
    return built
  } finally {
    spool.close()
  }
}

/** Removes what a killed builder left half-written, unless another one is at work. */
export function clearLeftovers(dir: string): void {
  try {
    const lock = lockFolder(dir)
    try {
      removeLeftovers(dir, JOURNAL_FILE)
    } finally {
      lock.release()
    }
  } catch {
    // The next build does the same.
  }
}
