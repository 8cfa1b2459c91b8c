/**
 * What a build would lose of what its folder has, by kind. Sources that suddenly give much less are taken for
 * broken.
 */
import { BuildError } from '../system/build-error.ts'
import { readCatalog } from '../snapshot/catalog.ts'
import { readForecast } from '../snapshot/forecast.ts'
import { SnapshotError, type Part, type PartEntry, type PartKind } from '../snapshot/format.ts'
import { decodePart } from '../snapshot/part.ts'
import { readPasses } from '../snapshot/passes.ts'
import { loadPart } from '../snapshot/read.ts'

/** Counts by what the message calls them; buoys by id: a new one does not make up for one that is gone. */
interface Tally {
  buoys: ReadonlySet<number>
  counts: { readonly [what: string]: number }
}

/** @throws BuildError when more than the share `allowed` of anything that `before` has is missing in `now` */
export async function refuseLoss(
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
    return entry === undefined || shared.has(entry.file) ? null : readWhole(out, entry, reading)
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

/** Null for a damaged part: what it held is lost already. */
async function readWhole<T>(
  out: string,
  entry: PartEntry,
  reading: (part: Part, file: string) => T,
): Promise<T | null> {
  try {
    const { bytes } = await loadPart(out, entry)
    return reading(decodePart(bytes, entry.file), entry.file)
  } catch (error) {
    if (error instanceof SnapshotError) return null
    throw error
  }
}
