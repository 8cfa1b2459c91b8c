/** Step 4 of a build: refuses a snapshot that loses much (its sources are broken) or is damaged on disk. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Part, PartEntry, PartKind } from '../snapshot/snapshot-format.ts'
import { nullIfDamaged, readPart, verifyParts } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { type Base, type BuildOptions, DEFAULT_ALLOWED_LOSS, type Previous } from './build-base.ts'
import { readCatalog } from '../snapshot/catalog.ts'
import { readForecast, readPasses } from '../snapshot/part-kinds.ts'

/** @throws BuildError when too much is lost or a part's size is wrong, SnapshotError for a damaged part */
export async function checkBuild(
  { out, allowLoss = DEFAULT_ALLOWED_LOSS }: BuildOptions,
  { folder }: Base,
  parts: readonly PartEntry[],
): Promise<void> {
  if (folder !== null) await refuseLoss(out, folder.manifest.parts, parts, allowLoss)
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

/** Counts under their names in messages. Buoys count by id: a new one does not replace a lost one. */
interface Tally {
  buoys: ReadonlySet<number>
  counts: { readonly [what: string]: number }
}

/** @throws BuildError when more than the share `allowed` of anything that `before` has is missing in `now` */
async function refuseLoss(
  out: string,
  before: readonly PartEntry[],
  now: readonly PartEntry[],
  allowed: number,
): Promise<void> {
  const [had, left] = [await tallyOf(out, before, now), await tallyOf(out, now, before)]
  const losses: [what: string, had: number, left: number][] = [
    ['buoys', had.buoys.size, [...had.buoys].filter((id) => left.buoys.has(id)).length],
    ...Object.entries(had.counts).map(([what, count]): [string, number, number] => [
      what,
      count,
      left.counts[what] ?? 0,
    ]),
  ]
  for (const [what, count, rest] of losses) {
    if (rest >= count * (1 - allowed)) continue
    throw new BuildError(
      `only ${rest} of the folder's ${count} ${what} are left in this build: at most ${allowed * 100} % may go (--allow-loss)`,
    )
  }
}

/** Parts that are in `others` too are not counted: nothing of them is lost. */
async function tallyOf(
  out: string,
  parts: readonly PartEntry[],
  others: readonly PartEntry[],
): Promise<Tally> {
  const shared = new Set(others.map(({ file }) => file))
  const rows = (kind: PartKind): number =>
    parts.reduce((sum, entry) => (entry.kind === kind ? sum + entry.rows : sum), 0)
  const read = async <T>(kind: PartKind, reading: (part: Part, file: string) => T): Promise<T | null> => {
    const entry = parts.find((part) => part.kind === kind)
    if (entry === undefined || shared.has(entry.file)) return null
    // What a damaged part held is lost already.
    return await readPart(out, entry, reading).catch(nullIfDamaged)
  }
  const catalog = await read('catalog', readCatalog)
  const passes = await read('passes', readPasses)
  const forecast = await read('forecast', readForecast)
  return {
    buoys: new Set(catalog?.id),
    counts: {
      readings: rows('readings'),
      'rows of weather': rows('weather'),
      spots: catalog?.spots.length ?? 0,
      passes: passes?.mission.length ?? 0,
      'satellite missions': new Set(passes?.mission).size,
      'forecast points': forecast?.lat.length ?? 0,
      harbours: rows('tides'),
    },
  }
}
