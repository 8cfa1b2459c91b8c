/** What a new snapshot lacks of the folder's: buoys, and past readings of the buoys that stay. */
import { type CataloguedBuoy, cataloguedBuoys } from '../snapshot/catalog.ts'
import { readMonth } from '../snapshot/part-kinds.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import type { PartEntry } from '../snapshot/snapshot-format.ts'
import type { Previous } from './build-base.ts'
import type { Losses } from './build-report.ts'

/** A source may correct a few readings; a buoy that loses a larger share of them is named. */
const USUAL_SHARE = 0.01

/** Times of readings by buoy id. */
type Times = Map<number, Uint32Array>

/** Compares the months whose files differ. @throws SnapshotError for a damaged part */
export async function lossesOf(
  out: string,
  { manifest, catalog }: Previous,
  parts: readonly PartEntry[],
  buoys: readonly CataloguedBuoy[],
): Promise<Losses> {
  const known = cataloguedBuoys(catalog)
  const staying = new Set(buoys.map(({ id }) => id))
  const timesOf = async (entry: PartEntry | undefined): Promise<Times> => {
    if (entry === undefined) return new Map()
    const rows = await readPart(out, entry, (part, file) => readMonth(part, entry.month!, file))
    const { start, time } = rows
    return new Map(Array.from(rows.buoys, (id, i) => [id, time.subarray(start[i], start[i + 1])]))
  }
  const before = manifest.parts.filter(({ kind }) => kind === 'readings')
  const now = new Map(parts.filter(({ kind }) => kind === 'readings').map((entry) => [entry.month, entry]))
  const lost = new Map<number, number>()
  for (const entry of before) {
    const left = now.get(entry.month)
    if (left?.file === entry.file) continue
    const [had, has] = [await timesOf(entry), await timesOf(left)]
    for (const [id, times] of had) {
      if (staying.has(id)) lost.set(id, (lost.get(id) ?? 0) + missingIn(has.get(id), times))
    }
  }
  const counts = new Map<number, number>()
  // Only a loss is worth a look at all months.
  for (const entry of [...lost.values()].some((count) => count > 0) ? before : []) {
    for (const [id, times] of await timesOf(entry)) counts.set(id, (counts.get(id) ?? 0) + times.length)
  }
  return {
    buoys: known.filter(({ id }) => !staying.has(id)),
    readings: known.flatMap((buoy) => {
      const [count, of] = [lost.get(buoy.id) ?? 0, counts.get(buoy.id) ?? 0]
      return count > of * USUAL_SHARE ? [{ buoy, lost: count, of }] : []
    }),
  }
}

/** How many of some ascending times are not among others. */
function missingIn(others: Uint32Array = new Uint32Array(), times: Uint32Array): number {
  let at = 0
  let missing = 0
  for (const time of times) {
    while (at < others.length && others[at] < time) at++
    if (others[at] !== time) missing++
  }
  return missing
}
