/**
 * Step 4 of a build: nothing is published that would lose much, or that is not on the disk as it was written.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { PartEntry } from '../snapshot/format.ts'
import { verifyParts } from '../snapshot/read.ts'
import { BuildError } from '../system/build-error.ts'
import type { Base, Previous } from './base.ts'
import type { Journal } from './journal.ts'
import { refuseLoss } from './losses.ts'
import { DEFAULT_ALLOWED_LOSS, type BuildOptions } from './options.ts'

/** @throws BuildError when too much is lost or a part's size is wrong, SnapshotError for a damaged part */
export async function checkBuild(
  { out, allowLoss = DEFAULT_ALLOWED_LOSS }: BuildOptions,
  { folder }: Base,
  parts: readonly PartEntry[],
  journal: Journal,
): Promise<void> {
  if (folder !== null) await refuseLoss(out, folder.manifest.parts, parts, allowLoss)
  try {
    await checkParts(out, parts, folder)
  } catch (error) {
    // The next build makes a damaged month anew, instead of finding it in the journal again and again.
    journal.remove()
    throw error
  }
}

/** New parts are read back whole; parts that the folder has published must still be there, of their size. */
async function checkParts(out: string, parts: readonly PartEntry[], folder: Previous | null): Promise<void> {
  for (const { file, bytes } of parts) {
    const size = statSync(join(out, file), { throwIfNoEntry: false })?.size
    if (size !== bytes)
      throw new BuildError(
        `${file}: has ${size ?? 'no'} bytes instead of ${bytes}; run check, then build --fresh`,
      )
  }
  const published = new Set(folder?.manifest.parts.map(({ file }) => file))
  await verifyParts(
    out,
    parts.filter(({ file }) => !published.has(file)),
  )
}
