/**
 * Exports a snapshot to a folder: each network's readings in a file for each past year and each month of the
 * last one, and all buoys. Read this file first. Unchanged files stay, and the list of files comes last: a
 * killed export leaves the export before or this one.
 */
import { readdirSync } from 'node:fs'
import { COMMON_NAMES, MEASURE_NAMES, SWELL_NAMES } from '../../sea/columns.ts'
import { monthOf, monthText, timestampText } from '../../sea/time.ts'
import { readCatalog, type Catalog } from '../../snapshot/catalog.ts'
import {
  encodeList,
  listedSnapshot,
  pathOf,
  readSnapshotList,
  spanText,
  type ExportedFile,
  type FileList,
} from '../../snapshot/file-list.ts'
import { SnapshotError, type PartEntry } from '../../snapshot/snapshot-format.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { readMonth } from '../../snapshot/part-kinds.ts'
import { readPart } from '../../snapshot/read-snapshot.ts'
import { readUnchecked } from '../../snapshot/read-parts.ts'
import { collectGarbage } from '../../system/thread.ts'
import { networksOf, ReadingsFile, writeBuoys, type BulkNetwork } from './bulk-tables.ts'
import { ExportFolder, type StagedFile } from './export-folder.ts'

export interface ExportOptions {
  /** The folder of snapshots. The files that lists of kept snapshots name stay. */
  dir: string
  manifest: Manifest
  /** The folder for the files. */
  out: string
  /** The clock, epoch seconds. */
  now: number
}

export interface Exported {
  list: FileList
  /** Files that were written, with their bytes and rows; the others were there. */
  written: { files: number; bytes: number; rows: number }
}

/** @throws SnapshotError or BuildError; then the folder has what it had */
export async function exportSnapshot(options: ExportOptions): Promise<Exported> {
  const { dir, manifest, out, now } = options
  const folder = new ExportFolder(out)
  try {
    const entry = manifest.parts.find(({ kind }) => kind === 'catalog')!
    const job = new Export(options, folder, await readPart(dir, entry, readCatalog))
    const list = await job.all()
    const bytes = encodeList(list)
    const isSame = folder.before !== null && encodeList(folder.before).equals(bytes)
    // A file that somebody removed comes back under the list that named it.
    if (!isSame || job.written.files > 0) folder.publish(bytes)
    folder.collect(new Set([...filesOfLists(dir), ...list.files.map(({ path }) => path)]), now)
    return { list, written: job.written }
  } finally {
    folder.close()
  }
}

/** Paths of all exported files in the lists of kept snapshots. @throws BuildError */
function filesOfLists(dir: string): string[] {
  const ids = readdirSync(dir).flatMap((file) => listedSnapshot(file) ?? [])
  return ids.flatMap((id) => readSnapshotList(dir, id)?.files.map(({ path }) => path) ?? [])
}

/** What one file of a network holds. */
interface Span {
  year: number
  /** Null for all months of the year. */
  month: string | null
  months: number[]
}

type Basis = Pick<FileList, 'as_of' | 'networks' | 'months'>

/** All that the file of a network and span is made from: its months' parts, and whether its year is over. */
function basisOf(
  { as_of: asOf, networks, months }: Basis,
  { name }: BulkNetwork,
  { year, month }: Span,
): string {
  const madeFrom = networks.find((network) => network.name === name)?.made_from
  const ofSpan = months.filter((each) => each.month.startsWith(month ?? `${year}-`))
  return JSON.stringify([madeFrom, Number(asOf.slice(0, 4)) > year, ofSpan])
}

class Export {
  readonly #options: ExportOptions
  readonly #folder: ExportFolder
  readonly #catalog: Catalog
  readonly #networks: readonly BulkNetwork[]
  /** Parts of readings by month. */
  readonly #parts: ReadonlyMap<number, PartEntry>
  readonly written = { files: 0, bytes: 0, rows: 0 }

  constructor(options: ExportOptions, folder: ExportFolder, catalog: Catalog) {
    const { dir, manifest } = options
    const readings = manifest.parts.filter(({ kind }) => kind === 'readings')
    readings.sort((a, b) => b.month! - a.month!)
    // All files have the same columns, since programs read them as one table.
    const measures = readings.some((part) => hasSwell(dir, part)) ? MEASURE_NAMES : COMMON_NAMES
    this.#options = options
    this.#folder = folder
    this.#catalog = catalog
    this.#networks = networksOf(catalog, measures)
    this.#parts = new Map(readings.map((part) => [part.month!, part]))
  }

  async all(): Promise<FileList> {
    const { manifest } = this.#options
    const list = {
      address: null,
      snapshot: manifest.id,
      as_of: timestampText(manifest.asOf),
      networks: this.#networks.map(
        ({ folder: _folder, buoys: _buoys, measures: _measures, ...exported }) => exported,
      ),
      months: [...this.#parts].map(([month, { sha256 }]) => ({ month: monthText(month), part: sha256 })),
    }
    const files: ExportedFile[] = []
    for (const span of spansOf(new Set(this.#parts.keys()), manifest.asOf)) {
      files.push(...(await this.#span(span, list)))
    }
    const order = (file: ExportedFile): string => `${file.network} ${spanText(file)}`
    files.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    return { ...list, files: [...files, this.#buoys()] }
  }

  async #span(span: Span, list: Basis): Promise<ExportedFile[]> {
    const { before } = this.#folder
    const [kept, changed]: [ExportedFile[], BulkNetwork[]] = [[], []]
    for (const network of this.#networks) {
      const known = before?.files.find(
        ({ network: name, year, month }) =>
          name === network.name && year === span.year && month === span.month,
      )
      const isSame = before !== null && basisOf(before, network, span) === basisOf(list, network, span)
      // Without a file the network has no readings.
      if (!isSame || (known !== undefined && !this.#folder.has(known))) changed.push(network)
      else if (known !== undefined) kept.push(known)
    }
    return [...kept, ...(changed.length === 0 ? [] : await this.#write(span, changed))]
  }

  /** Writes files side by side, a month after the other: one month of rows is in memory. */
  async #write(span: Span, networks: readonly BulkNetwork[]): Promise<ExportedFile[]> {
    const { dir, manifest } = this.#options
    const drafts = networks.map((network) => {
      const staged = this.#folder.create()
      return { network, staged, file: new ReadingsFile(network, manifest.demo === true, staged.write) }
    })
    try {
      for (const month of span.months) {
        const entry = this.#parts.get(month)!
        const rows = await readPart(dir, entry, (part, name) => readMonth(part, month, name))
        for (const { file } of drafts) await file.add(rows)
        // V8 does not see the memory of a month's part: ten years of months would wait to be collected.
        collectGarbage()
      }
      return drafts.flatMap(({ network, staged, file }) => {
        const { rows, start, end } = file
        if (rows === 0) return []
        file.finish()
        const { year, month } = span
        const times = { start: timestampText(start), end: timestampText(end) }
        const about = { kind: 'readings' as const, network: network.name, year, month, ...times, rows }
        return [this.#add(staged, `readings/${network.folder}/${spanText(span)}`, about)]
      })
    } finally {
      for (const { staged } of drafts) staged.close()
    }
  }

  /** The buoys of all networks: some hundred kilobytes, made anew to see whether they differ. */
  #buoys(): ExportedFile {
    const staged = this.#folder.create()
    try {
      writeBuoys(this.#catalog, staged.write)
      const none = { network: null, year: null, month: null, start: null, end: null }
      return this.#add(staged, 'buoys', { kind: 'buoys', ...none, rows: this.#catalog.id.length })
    } finally {
      staged.close()
    }
  }

  /** Ends a file, which is dropped where the export before has the same bytes. */
  #add(
    staged: StagedFile,
    name: string,
    about: Omit<ExportedFile, 'path' | 'format' | 'bytes' | 'sha256' | 'snapshot'>,
  ): ExportedFile {
    const { bytes, sha256 } = staged.end()
    const path = pathOf(name, sha256)
    const known = this.#folder.before?.files.find((file) => file.path === path)
    if (known !== undefined && this.#folder.has(known)) return known
    this.#folder.add(staged, path)
    this.written.files++
    this.written.bytes += bytes
    this.written.rows += about.rows
    return { ...about, path, format: 'parquet', bytes, sha256, snapshot: this.#options.manifest.id }
  }
}

function hasSwell(dir: string, part: PartEntry): boolean {
  try {
    const { columns } = readUnchecked(dir, part)
    return SWELL_NAMES.some((name) => columns.has(name))
  } catch (error) {
    // What is wrong with a part is told when its rows are read, which checks all of it.
    if (error instanceof SnapshotError) return false
    throw error
  }
}

/** Years before that of the snapshot as a whole, its own by months. */
function spansOf(months: ReadonlySet<number>, asOf: number): Span[] {
  const yearOf = (month: number): number => 1970 + Math.floor(month / 12)
  const spans = new Map<string, Span>()
  for (const each of [...months].toSorted((a, b) => a - b)) {
    const year = yearOf(each)
    const month = year < yearOf(monthOf(asOf)) ? null : monthText(each)
    const span = spans.get(spanText({ year, month })) ?? { year, month, months: [] }
    span.months.push(each)
    spans.set(spanText(span), span)
  }
  return [...spans.values()]
}
