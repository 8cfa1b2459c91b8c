/**
 * Exports a snapshot to a folder or bucket: each network's readings in a file for each past year and each
 * month of the last one, and all buoys. Read this file first. Unchanged files stay, and the list of files
 * comes last: a killed export leaves the export before or this one.
 */
import { COMMON_NAMES, MEASURE_NAMES, SWELL_NAMES } from '../../sea/columns.ts'
import { monthOf, monthText, timestampText } from '../../sea/time.ts'
import { readCatalog, type Catalog } from '../../snapshot/catalog.ts'
import {
  encodeList,
  pathOf,
  spanText,
  type ExportedFile,
  type ExportedNetwork,
  type FileList,
} from '../../snapshot/file-list.ts'
import { SnapshotError, type PartEntry } from '../../snapshot/snapshot-format.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { readMonth } from '../../snapshot/part-kinds.ts'
import { readPartHead } from '../../snapshot/read-parts.ts'
import { readPart } from '../../snapshot/read-snapshot.ts'
import { counted } from '../../system/text.ts'
import { collectGarbage } from '../../system/collect-garbage.ts'
import { networksOf, runsOf, type BulkNetwork } from './bulk-networks.ts'
import { metadataOf, ReadingsFile, unitsOf, writeBuoys } from './bulk-tables.ts'
import { StagedFileWriter, type Target } from './bulk-target.ts'
import type { LogLine } from '../../system/log.ts'

export interface ExportOptions {
  dir: string
  manifest: Manifest
  /** Paths of files that stay although this export does not have them: lists of kept snapshots name them. */
  named: ReadonlySet<string>
  log: LogLine
}

export interface Exported {
  list: FileList
  /** Files that were written, with their bytes and rows; the others were there. */
  written: { files: number; bytes: number; rows: number }
}

/** @throws SnapshotError, BuildError or StoreError; then the target has what it had */
export async function exportSnapshot(options: ExportOptions, target: Target): Promise<Exported> {
  try {
    const before = await target.begin()
    const job = new Export(options, target, before)
    const list = await job.all()
    const bytes = encodeList(list)
    const isSame = before !== null && encodeList(before).equals(bytes)
    // A file that somebody removed comes back under the list that named it.
    if (!isSame || job.written.files > 0) await target.publish(bytes, list.files)
    await target.collect(new Set([...options.named, ...list.files.map(({ path }) => path)]))
    return { list, written: job.written }
  } finally {
    await target.end()
  }
}

interface Side {
  networks: Map<string, BulkNetwork>
  /** Parts of readings by month. */
  parts: Map<number, PartEntry>
}

/** What one file of a network holds. */
interface Span {
  year: number
  /** Null for all months of the year. */
  month: string | null
  months: number[]
}

interface Draft {
  network: BulkNetwork
  writer: StagedFileWriter
  file: ReadingsFile
  rows: number
  start: number
  end: number
}

class Export {
  readonly #options: ExportOptions
  readonly #target: Target
  readonly #before: FileList | null
  /** Networks by name and parts by month, as they were at the export before. */
  readonly #networkBefore: Map<string, string>
  readonly #partBefore: Map<string, string>
  readonly written = { files: 0, bytes: 0, rows: 0 }
  #staged = 0

  constructor(options: ExportOptions, target: Target, before: FileList | null) {
    this.#options = options
    this.#target = target
    this.#before = before
    this.#networkBefore = new Map(before?.networks.map(({ name, made_from: madeFrom }) => [name, madeFrom]))
    this.#partBefore = new Map(before?.months.map(({ month, part }) => [month, part]))
  }

  async all(): Promise<FileList> {
    const { dir, manifest, log } = this.#options
    const catalog = await readPart(
      dir,
      manifest.parts.find(({ kind }) => kind === 'catalog')!,
      readCatalog,
    )
    const now = this.#sideOf(catalog)
    const files: ExportedFile[] = []
    for (const span of spansOf(new Set(now.parts.keys()), manifest.asOf)) {
      const before = this.written.files
      files.push(...(await this.#span(span, now)))
      if (this.written.files > before)
        log(`${spanText(span)}: ${counted(this.written.files - before, 'file')}`)
    }
    const order = (file: ExportedFile): string => `${file.network} ${spanText(file)}`
    files.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    files.push(await this.#buoys(catalog))
    return {
      address: this.#target.publicAddress,
      snapshot: manifest.id,
      as_of: timestampText(manifest.asOf),
      networks: [...now.networks.values()].map(exportedOf),
      months: [...now.parts].map(([month, { sha256 }]) => ({ month: monthText(month), part: sha256 })),
      files,
    }
  }

  #sideOf(catalog: Catalog): Side {
    const { dir, manifest } = this.#options
    const readings = manifest.parts.filter(({ kind }) => kind === 'readings')
    readings.sort((a, b) => b.month! - a.month!)
    // All files have the same columns, since programs read them as one table.
    const measures = readings.some((part) => hasSwell(dir, part)) ? MEASURE_NAMES : COMMON_NAMES
    return {
      networks: new Map(networksOf(catalog, measures).map((network) => [network.name, network])),
      parts: new Map(readings.map((part) => [part.month!, part])),
    }
  }

  async #span(span: Span, now: Side): Promise<ExportedFile[]> {
    const [kept, changed]: [ExportedFile[], BulkNetwork[]] = [[], []]
    for (const network of now.networks.values()) {
      const known = this.#before?.files.find(
        ({ network: name, year, month }) =>
          name === network.name && year === span.year && month === span.month,
      )
      if (!this.#isCurrent(network, span, known, now)) changed.push(network)
      else if (known !== undefined) kept.push(known)
    }
    return [...kept, ...(changed.length === 0 ? [] : await this.#write(span, changed, now))]
  }

  /** Whether the export before has what this one would have, by the hashes of what it is made from. */
  #isCurrent(
    { name, made_from: madeFrom }: BulkNetwork,
    { year, month, months }: Span,
    known: ExportedFile | undefined,
    { parts }: Side,
  ): boolean {
    const isSamePart = (each: number): boolean =>
      this.#partBefore.get(monthText(each)) === parts.get(each)!.sha256
    if (this.#networkBefore.get(name) !== madeFrom || !months.every(isSamePart)) return false
    // The year may have lost a month.
    const ofYear = [...this.#partBefore.keys()].filter((each) => each.startsWith(`${year}-`))
    if (month === null && ofYear.length > months.length) return false
    if (known !== undefined) return this.#target.has(known)
    // Until the year was over its months had files of their own; without them the network has no readings.
    const isYear = month === null
    return !this.#before!.files.some(
      (each) => each.network === name && each.year === year && (each.month === null) !== isYear,
    )
  }

  /** Writes files side by side, a month after the other: one month of rows is in memory. */
  async #write(span: Span, networks: readonly BulkNetwork[], { parts }: Side): Promise<ExportedFile[]> {
    const { dir, manifest } = this.#options
    const drafts = networks.map((network): Draft => {
      const writer = this.#stage()
      const metadata = metadataOf(network, manifest.demo === true)
      const file = new ReadingsFile(network.measures, metadata, (bytes) => writer.write(bytes))
      return { network, writer, file, rows: 0, start: Infinity, end: 0 }
    })
    const files: ExportedFile[] = []
    try {
      for (const month of span.months) {
        const rows = await readPart(dir, parts.get(month)!, (part, name) => readMonth(part, month, name))
        for (const draft of drafts) {
          const runs = runsOf(draft.network, rows)
          await draft.file.add(runs)
          for (const { from, to } of runs) {
            draft.rows += to - from
            draft.start = Math.min(draft.start, rows.time[from])
            draft.end = Math.max(draft.end, rows.time[to - 1])
          }
        }
        // V8 does not see the memory of a month's part: ten years of months would wait to be collected.
        collectGarbage()
      }
      for (const { network, writer, file, rows, start, end } of drafts) {
        file.finish()
        const { year, month } = span
        const times = { start: timestampText(start), end: timestampText(end) }
        const entry = { kind: 'readings' as const, network: network.name, year, month, ...times, rows }
        if (rows === 0) writer.drop()
        else files.push(await this.#add(writer, `readings/${network.folder}/${spanText(span)}`, entry))
      }
      return files
    } catch (error) {
      for (const { writer } of drafts) writer.drop()
      throw error
    }
  }

  /** The buoys of all networks: some hundred kilobytes, made anew to see whether they differ. */
  async #buoys(catalog: Catalog): Promise<ExportedFile> {
    const writer = this.#stage()
    try {
      writeBuoys(catalog, { units: unitsOf(COMMON_NAMES) }, (bytes) => writer.write(bytes))
      const none = { network: null, year: null, month: null, start: null, end: null }
      return await this.#add(writer, 'buoys', { kind: 'buoys', ...none, rows: catalog.id.length })
    } catch (error) {
      writer.drop()
      throw error
    }
  }

  #stage(): StagedFileWriter {
    return new StagedFileWriter(this.#target.staging, String(this.#staged++))
  }

  /** Ends a file, which goes where the export before has the same bytes. */
  async #add(
    writer: StagedFileWriter,
    name: string,
    entry: Omit<ExportedFile, 'path' | 'format' | 'bytes' | 'sha256' | 'snapshot'>,
  ): Promise<ExportedFile> {
    const staged = writer.end()
    const { bytes, sha256 } = staged
    const path = pathOf(name, sha256)
    const known = this.#before?.files.find((file) => file.path === path)
    if (known !== undefined && this.#target.has(known)) {
      writer.drop()
      return known
    }
    const snapshot = this.#options.manifest.id
    const file: ExportedFile = { ...entry, path, format: 'parquet', bytes, sha256, snapshot }
    await this.#target.add(file, staged)
    this.written.files++
    this.written.bytes += bytes
    this.written.rows += entry.rows
    return file
  }
}

function hasSwell(dir: string, part: PartEntry): boolean {
  try {
    return readPartHead(dir, part, SWELL_NAMES).columns.size > 0
  } catch (error) {
    // What is wrong with a part is told when its rows are read, which checks all of it.
    if (error instanceof SnapshotError) return false
    throw error
  }
}

function exportedOf(network: BulkNetwork): ExportedNetwork {
  const { folder: _, buoys: _1, measures: _2, ...exported } = network
  return exported
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
