/**
 * Exports a snapshot to a folder or bucket: each network's readings in a file for each past year and each
 * month of the last one, and all buoys. Read this file first. Unchanged files stay, and the list of files
 * comes last: a killed export leaves the export before or this one.
 */
import { createHash } from 'node:crypto'
import type { MonthRows } from '../../index/segments.ts'
import { COMMON_NAMES, MEASURE_NAMES, SWELL_NAMES } from '../../sea/columns.ts'
import { monthOf, monthText, timestampText } from '../../sea/time.ts'
import { readCatalog, type Catalog } from '../../snapshot/catalog.ts'
import {
  buoysPath,
  encodeList,
  readingsPath,
  spanText,
  type ExportedFile,
  type ExportedNetwork,
  type ExportFormat,
  type FileList,
} from '../../snapshot/file-list.ts'
import { SnapshotError, type PartEntry } from '../../snapshot/snapshot-format.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { readMonth } from '../../snapshot/part-kinds.ts'
import { readPartHead } from '../../snapshot/read-parts.ts'
import { readPart } from '../../snapshot/read-snapshot.ts'
import { counted } from '../../system/text.ts'
import { collectGarbage } from '../../system/collect-garbage.ts'
import { contentHash, networksOf, runsOf, type BulkNetwork } from './bulk-networks.ts'
import { metadataOf, ReadingsFile, unitsOf, writeBuoys } from './bulk-tables.ts'
import { StagedFileWriter, type StagedFile, type Target } from './bulk-target.ts'
import type { LogLine } from '../../system/log.ts'

export interface ExportOptions {
  dir: string
  manifest: Manifest
  format: ExportFormat
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
    const found = await target.begin()
    // In another format everything is written anew.
    const before = found?.as === options.format ? found : null
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

/** Hashes of a network's rows by month of a span, without months that have none. */
type Contents = Map<number, string>

interface Draft {
  network: BulkNetwork
  madeFrom: string
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
  readonly #filesBefore: Map<string, ExportedFile>
  /** Networks by name and parts by month, as they were at the export before. */
  readonly #networkBefore: Map<string, string>
  readonly #partBefore: Map<string, string>
  /** The last parts that were read: a month is looked at first, and then written. */
  readonly #read = new Map<string, MonthRows>()
  readonly written = { files: 0, bytes: 0, rows: 0 }
  #staged = 0

  constructor(options: ExportOptions, target: Target, before: FileList | null) {
    this.#options = options
    this.#target = target
    this.#before = before
    this.#filesBefore = new Map(before?.files.map((file) => [keyOf(file.network, file), file]))
    this.#networkBefore = new Map(before?.networks.map(({ name, made_from: madeFrom }) => [name, madeFrom]))
    this.#partBefore = new Map(before?.months.map(({ month, part }) => [month, part]))
  }

  async all(): Promise<FileList> {
    const { manifest, format, log } = this.#options
    const catalog = await this.#catalogOf(manifest)
    const now = this.#sideOf(catalog, manifest)
    const files: ExportedFile[] = []
    for (const span of spansOf(new Set(now.parts.keys()), manifest.asOf)) {
      const exported = await this.#span(span, now)
      files.push(...exported.kept, ...exported.written)
      if (exported.written.length > 0) log(`${spanText(span)}: ${counted(exported.written.length, 'file')}`)
    }
    const order = (file: ExportedFile): string => `${file.network} ${spanText(file)}`
    files.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    files.push(...(await this.#buoys(catalog)))
    return {
      address: this.#target.publicAddress,
      as: format,
      snapshot: manifest.id,
      as_of: timestampText(manifest.asOf),
      networks: [...now.networks.values()].map(exportedOf),
      months: [...now.parts].map(([month, { sha256 }]) => ({ month: monthText(month), part: sha256 })),
      files,
    }
  }

  async #catalogOf({ parts }: Manifest): Promise<Catalog> {
    const part = parts.find(({ kind }) => kind === 'catalog')!
    return await readPart(this.#options.dir, part, readCatalog)
  }

  #sideOf(catalog: Catalog, { parts }: Manifest): Side {
    const { dir, format } = this.#options
    const readings = parts.filter(({ kind }) => kind === 'readings').sort((a, b) => b.month! - a.month!)
    // All files have the same columns, since programs read them as one table.
    const measures = readings.some((part) => hasSwell(dir, part)) ? MEASURE_NAMES : COMMON_NAMES
    return {
      networks: new Map(networksOf(catalog, format, measures).map((network) => [network.name, network])),
      parts: new Map(readings.map((part) => [part.month!, part])),
    }
  }

  async #span(span: Span, now: Side): Promise<{ kept: ExportedFile[]; written: ExportedFile[] }> {
    const kept: ExportedFile[] = []
    const changed = [...now.networks.keys()].filter((name) => {
      if (!this.#isUnread(name, span, now)) return true
      const file = this.#filesBefore.get(keyOf(name, span))
      if (file !== undefined) kept.push(file)
      return false
    })
    const contents = await this.#contents(span, changed, now)
    const toWrite = new Map<string, string>()
    for (const [name, own] of contents) {
      if (own.size === 0) continue
      const madeFrom = madeFromOf(own)
      const known = this.#filesBefore.get(keyOf(name, span))
      if (known?.made_from === madeFrom && this.#target.has(known)) kept.push(known)
      else toWrite.set(name, madeFrom)
    }
    return { kept, written: await this.#write(span, toWrite, now) }
  }

  /** Whether the export before has what this one would have, by the hashes of what it is made from. */
  #isUnread(name: string, { year, month, months }: Span, { networks, parts }: Side): boolean {
    const isSameNetwork = this.#networkBefore.get(name) === networks.get(name)!.made_from
    const isSamePart = (each: number): boolean =>
      this.#partBefore.get(monthText(each)) === parts.get(each)!.sha256
    if (!isSameNetwork || !months.every(isSamePart)) return false
    // The year may have lost a month.
    const ofYear = [...this.#partBefore.keys()].filter((each) => each.startsWith(`${year}-`))
    if (month === null && ofYear.length > months.length) return false
    const file = this.#filesBefore.get(keyOf(name, { year, month }))
    if (file !== undefined) return this.#target.has(file)
    // Until the year was over its months had files of their own; without them the network has no readings.
    const isYear = month === null
    return !this.#before!.files.some(
      (each) => each.network === name && each.year === year && (each.month === null) !== isYear,
    )
  }

  /** Reads a part of a month, checked as a server would check it. */
  async #rowsOf(part: PartEntry, month: number): Promise<MonthRows> {
    const known = this.#read.get(part.file)
    if (known !== undefined) return known
    // V8 does not see the memory of a month's part: ten years of months would wait to be collected.
    if (this.#read.size > 1) {
      this.#read.clear()
      collectGarbage()
    }
    const rows = await readPart(this.#options.dir, part, (found, file) => readMonth(found, month, file))
    this.#read.set(part.file, rows)
    return rows
  }

  async #contents({ months }: Span, names: readonly string[], side: Side): Promise<Map<string, Contents>> {
    const contents = new Map(names.map((name): [string, Contents] => [name, new Map()]))
    for (const month of names.length === 0 ? [] : months) {
      const part = side.parts.get(month)
      if (part === undefined) continue
      const rows = await this.#rowsOf(part, month)
      for (const [name, own] of contents) {
        const network = side.networks.get(name)
        const runs = network === undefined ? [] : runsOf(network, rows)
        if (runs.length > 0) own.set(month, contentHash(network!, runs, this.#options.format))
      }
    }
    return contents
  }

  /** Writes files side by side, a month after the other: one month of rows is in memory. */
  async #write(span: Span, toWrite: ReadonlyMap<string, string>, now: Side): Promise<ExportedFile[]> {
    const { manifest, format } = this.#options
    const drafts: Draft[] = []
    try {
      for (const [name, madeFrom] of toWrite) {
        const network = now.networks.get(name)!
        const writer = this.#stage()
        const metadata = metadataOf(network, manifest.id, manifest.demo === true)
        const file = new ReadingsFile(format, network.measures, metadata, (bytes) => writer.write(bytes))
        drafts.push({ network, madeFrom, writer, file, rows: 0, start: Infinity, end: 0 })
      }
      for (const month of drafts.length === 0 ? [] : span.months) {
        const part = now.parts.get(month)
        if (part === undefined) continue
        const rows = await this.#rowsOf(part, month)
        for (const draft of drafts) {
          const runs = runsOf(draft.network, rows)
          await draft.file.add(runs)
          for (const { from, to } of runs) {
            draft.rows += to - from
            draft.start = Math.min(draft.start, rows.time[from])
            draft.end = Math.max(draft.end, rows.time[to - 1])
          }
        }
      }
      const files: ExportedFile[] = []
      for (const { network, madeFrom, writer, file, rows, start, end } of drafts) {
        file.finish()
        const staged = writer.end()
        files.push(
          await this.#add(staged, {
            path: readingsPath(network.folder, span, staged.sha256, format),
            kind: 'readings',
            format,
            network: network.name,
            year: span.year,
            month: span.month,
            rows,
            start: timestampText(start),
            end: timestampText(end),
            made_from: madeFrom,
          }),
        )
      }
      return files
    } catch (error) {
      for (const { writer } of drafts) writer.drop()
      throw error
    }
  }

  /** The buoys of all networks: some hundred kilobytes, made anew to see whether they differ. */
  async #buoys(catalog: Catalog): Promise<ExportedFile[]> {
    const { format } = this.#options
    const rows = catalog.id.length
    const none = { network: null, year: null, month: null, start: null, end: null } as const
    const files: ExportedFile[] = []
    for (const as of [format, 'geojson'] as const) {
      const writer = this.#stage()
      let staged: StagedFile
      try {
        writeBuoys(as, catalog, { units: unitsOf(COMMON_NAMES) }, (bytes) => writer.write(bytes))
        staged = writer.end()
      } catch (error) {
        writer.drop()
        throw error
      }
      const path = buoysPath(staged.sha256, as)
      const known = this.#before?.files.find((file) => file.path === path)
      if (known !== undefined && this.#target.has(known)) files.push(known)
      else {
        const entry = { ...none, kind: 'buoys' as const, path, format: as, rows, made_from: staged.sha256 }
        files.push(await this.#add(staged, entry))
      }
    }
    return files
  }

  #stage(): StagedFileWriter {
    return new StagedFileWriter(this.#target.staging, String(this.#staged++))
  }

  async #add(
    staged: StagedFile,
    file: Omit<ExportedFile, 'bytes' | 'sha256' | 'snapshot'>,
  ): Promise<ExportedFile> {
    const { bytes, sha256 } = staged
    const exported = { ...file, bytes, sha256, snapshot: this.#options.manifest.id }
    await this.#target.add(exported, staged)
    this.written.files++
    this.written.bytes += bytes
    this.written.rows += file.rows
    return exported
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

const keyOf = (network: string | null, span: { year: number | null; month: string | null }): string =>
  `${spanText(span)} ${network}`

function madeFromOf(contents: Contents): string {
  return createHash('sha256')
    .update(JSON.stringify([...contents]))
    .digest('hex')
}
