/** The networks of a snapshot, and the rows of each in a month. */
import { createHash } from 'node:crypto'
import type { MonthRows } from '../../index/segments.ts'
import type { MeasureName } from '../../sea/columns.ts'
import type { Catalog } from '../../snapshot/catalog.ts'
import type { ExportedNetwork } from '../../snapshot/file-list.ts'

/** Raised when the same rows are to give other bytes: every file is then written anew. */
const LAYOUT = 'groundswell-bulk 4'
const MAX_FOLDER_LENGTH = 60
const NAMELESS_DIGITS = 8

/** What the rows of a buoy share. */
export interface RunBuoy {
  readonly id: number
  readonly slug: string
  /** The network's name on the wire. */
  readonly source: string
}

/** Rows from `from` to before `to` of a month, all of one buoy. */
export interface Run {
  readonly buoy: RunBuoy
  readonly rows: MonthRows
  readonly from: number
  readonly to: number
}

export interface BulkNetwork extends ExportedNetwork {
  /** Folder below `readings/`. Networks may share one: their files differ by their hashes. */
  folder: string
  buoys: ReadonlyMap<number, RunBuoy>
  /** The measures that all files of an export have columns of. */
  measures: readonly MeasureName[]
}

export function networksOf(catalog: Catalog, measures: readonly MeasureName[]): BulkNetwork[] {
  const buoys = catalog.sources.map(() => new Map<number, RunBuoy>())
  catalog.id.forEach((id, i) => {
    const { name, label } = catalog.sources[catalog.source[i]]
    buoys[catalog.source[i]].set(id, { id, slug: catalog.slugs[i], source: label ?? name })
  })
  return catalog.sources.map(({ name, label, credit, licence }, i) => {
    const source = label ?? name
    const own = [LAYOUT, name, source, credit, licence, [...buoys[i].values()], measures]
    const made_from = createHash('sha256').update(JSON.stringify(own)).digest('hex')
    return { name, source, credit, licence, made_from, folder: folderOf(name), buoys: buoys[i], measures }
  })
}

/** A name as part of a path: small letters, digits and hyphens, whatever the name holds. */
export function folderOf(name: string): string {
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_FOLDER_LENGTH)
    .replaceAll(/^-+|-+$/g, '')
  if (plain !== '') return plain
  return `network-${createHash('sha256').update(name).digest('hex').slice(0, NAMELESS_DIGITS)}`
}

/** A network's rows in a month, by buoy and time; buoys outside the catalogue are left out, as in answers. */
export function runsOf({ buoys }: BulkNetwork, rows: MonthRows): Run[] {
  const runs: Run[] = []
  rows.buoys.forEach((id, i) => {
    const buoy = buoys.get(id)
    if (buoy !== undefined) runs.push({ buoy, rows, from: rows.start[i], to: rows.start[i + 1] })
  })
  return runs
}

/** Runs cut and joined to row groups of at most `size` rows. */
export function* groupsOf(runs: readonly Run[], size: number): Generator<Run[]> {
  let group: Run[] = []
  let count = 0
  for (const run of runs) {
    for (let from = run.from; from < run.to;) {
      const to = Math.min(run.to, from + size - count)
      group.push({ ...run, from, to })
      count += to - from
      from = to
      if (count < size) continue
      yield group
      group = []
      count = 0
    }
  }
  if (count > 0) yield group
}
