/** The networks of a snapshot, and their readings and all buoys as the bytes of Parquet files. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { catalogMembers } from '../../dataset/buoy-table.ts'
import { ParquetFile, type ByteSink } from '../../dataset/parquet.ts'
import { ID, measureColumn, type ReadingRun, TIME } from '../../dataset/reading-table.ts'
import { integer, text, type Column } from '../../dataset/table.ts'
import type { MonthRows } from '../../index/segments.ts'
import { COMMON_NAMES, type MeasureName } from '../../sea/columns.ts'
import type { Catalog } from '../../snapshot/catalog.ts'
import type { ExportedNetwork } from '../../snapshot/file-list.ts'

/** Raised when the same rows are to give other bytes: every file is then written again. */
const LAYOUT = 'groundswell-bulk 4'
const MAX_FOLDER_LENGTH = 60
const NAMELESS_DIGITS = 8
/** Rows: some 5 MB of values in memory, and an eighth of a second of work. */
const GROUP_ROWS = 50_000

/** The facts of a buoy that its rows share. */
interface RowsBuoy {
  readonly id: number
  readonly slug: string
  /** The network's name on the wire. */
  readonly source: string
}

export interface BulkNetwork {
  exported: ExportedNetwork
  /** Folder below `readings/`. Networks may share one: their files differ by their hashes. */
  folder: string
  buoys: ReadonlyMap<number, RowsBuoy>
  /** The measures that all files of an export have columns of. */
  measures: readonly MeasureName[]
}

export function networksOf(catalog: Catalog, measures: readonly MeasureName[]): BulkNetwork[] {
  const buoys = catalog.sources.map(() => new Map<number, RowsBuoy>())
  catalog.id.forEach((id, i) => {
    const { name, label } = catalog.sources[catalog.source[i]]
    buoys[catalog.source[i]].set(id, { id, slug: catalog.slugs[i], source: label ?? name })
  })
  return catalog.sources.map(({ name, label, credit, licence }, i) => {
    const source = label ?? name
    const own = [LAYOUT, name, source, credit, licence, [...buoys[i].values()], measures]
    const made_from = createHash('sha256').update(JSON.stringify(own)).digest('hex')
    const exported = { name, source, credit, licence, made_from }
    return { exported, folder: folderOf(name), buoys: buoys[i], measures }
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

interface BulkRun extends ReadingRun {
  readonly buoy: RowsBuoy
}

/** Columns without derived ones (uuid, compass, energy). */
const columnsOf = (measures: readonly MeasureName[]): Column[] => [
  integer('buoy_id', (_row, { id }: BulkRun) => id),
  text('buoy_slug', (_row, { buoy }: BulkRun) => buoy.slug),
  text('source', (_row, { buoy }: BulkRun) => buoy.source),
  ID,
  TIME,
  ...measures.map(measureColumn),
]

/** Column names and units, as JSON. */
const unitsOf = (columns: readonly Column[]): string =>
  JSON.stringify(
    Object.fromEntries(
      columns.flatMap(({ name, unit }) =>
        unit === '' ? [] : [[name, unit === 'degree' ? 'degrees clockwise from north' : unit]],
      ),
    ),
  )

/** The readings of a network, month after month. */
export class ReadingsFile {
  readonly #buoys: BulkNetwork['buoys']
  readonly #file: ParquetFile
  rows = 0
  /** Times of the first and the last reading, epoch seconds. */
  start = Infinity
  end = 0

  constructor({ exported, buoys, measures }: BulkNetwork, isDemo: boolean, sink: ByteSink) {
    const { source, credit, licence } = exported
    const columns = columnsOf(measures)
    const metadata = {
      ...(isDemo && { demo: 'true' }),
      source,
      ...(credit !== null && { credit }),
      ...(licence !== null && { licence }),
      units: unitsOf(columns),
    }
    this.#buoys = buoys
    this.#file = new ParquetFile(columns, metadata, sink)
  }

  /**
   * Writes the network's rows of a month, by buoy and time; buoys outside the catalogue are left out, as in
   * answers. Lets timers and sockets in between.
   */
  async add(month: MonthRows): Promise<void> {
    let room = GROUP_ROWS
    for (const [i, id] of month.buoys.entries()) {
      const buoy = this.#buoys.get(id)
      if (buoy === undefined) continue
      const [first, end] = [month.start[i], month.start[i + 1]]
      for (let from = first; from < end;) {
        const count = Math.min(end - from, room)
        const run: BulkRun = { id, buoy, month, from, step: 1, count }
        this.#file.add(run)
        from += count
        room -= count
        if (room > 0) continue
        this.#file.group()
        room = GROUP_ROWS
        await setImmediate()
      }
      this.rows += end - first
      this.start = Math.min(this.start, month.time[first])
      this.end = Math.max(this.end, month.time[end - 1])
    }
    this.#file.group()
    await setImmediate()
  }

  finish(): void {
    this.#file.finish()
  }
}

const BUOY_MEMBERS = 'id name slug lat lng source source_identifier country timezone virtual'.split(
  ' ',
) as (keyof ReturnType<typeof catalogMembers>)[]

export function writeBuoys(catalog: Catalog, sink: ByteSink): void {
  const members = catalogMembers(catalog, (row) => row)
  const columns = BUOY_MEMBERS.map((name) => members[name]())
  const file = new ParquetFile(columns, { units: unitsOf(columnsOf(COMMON_NAMES)) }, sink)
  file.add({ from: 0, step: 1, count: catalog.id.length })
  file.finish()
}
