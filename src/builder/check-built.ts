/** Step 4 of a build: refuses a snapshot that loses much (its sources are broken) or is damaged on disk. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { PartEntry, PartKind } from '../snapshot/snapshot-format.ts'
import { verifyParts } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { type Base, type BuildOptions, DEFAULT_ALLOWED_LOSS, type Previous } from './build-base.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'

/** Kinds of parts with the names of their rows in messages. */
const COUNTED: readonly [PartKind, string][] = [
  ['readings', 'readings'],
  ['weather', 'rows of weather'],
  ['passes', 'passes'],
  ['forecast', 'rows of forecast'],
  ['tides', 'harbours'],
]

/** @throws BuildError when too much is lost or a part's size is wrong, SnapshotError for a damaged part */
export async function checkBuild(
  { out, allowLoss = DEFAULT_ALLOWED_LOSS }: BuildOptions,
  { folder }: Base,
  { input }: Gathered,
  { buoys }: Identified,
  parts: readonly PartEntry[],
): Promise<void> {
  const left = { ids: new Set(buoys.map(({ id }) => id)), spots: input.spots().length }
  if (folder !== null) refuseLoss(folder, parts, left, allowLoss)
  await checkParts(out, parts, folder)
}

/** New parts are read back whole; published parts must still be there, of their size. */
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

/**
 * @param left what the new catalogue has; a new buoy does not replace a lost one, so they count by id
 * @throws BuildError when more than the share `allowed` of anything that the folder has is missing
 */
function refuseLoss(
  { manifest, catalog }: Previous,
  now: readonly PartEntry[],
  left: { ids: ReadonlySet<number>; spots: number },
  allowed: number,
): void {
  const rows = (kind: PartKind, parts: readonly PartEntry[]): number =>
    parts.reduce((sum, entry) => (entry.kind === kind ? sum + entry.rows : sum), 0)
  const losses: [what: string, had: number, left: number][] = [
    ['buoys', catalog.id.length, catalog.id.filter((id) => left.ids.has(id)).length],
    ['spots', catalog.spots.length, left.spots],
    ...COUNTED.map(([kind, what]): [string, number, number] => [
      what,
      rows(kind, manifest.parts),
      rows(kind, now),
    ]),
  ]
  for (const [what, count, rest] of losses) {
    if (rest >= count * (1 - allowed)) continue
    throw new BuildError(
      `only ${rest} of the folder's ${count} ${what} are left in this build: at most ${allowed * 100} % may go (--allow-loss)`,
    )
  }
}
