/**
 * Exports a snapshot to a folder or bucket: a file of readings for each network and month, and all buoys.
 * Read this file first.
 *
 * What the target has of the same data stays as it is. Of a month whose part has not changed nothing is read.
 * The list of all files comes last: whatever is killed, the target has the export before or this one.
 */
import type { MonthRows } from '../index/segments.ts'
import { monthText } from '../sea/time.ts'
import { readCatalog, type Catalog } from '../snapshot/catalog.ts'
import type { PartEntry } from '../snapshot/format.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { readMonth } from '../snapshot/months.ts'
import { decodePart } from '../snapshot/part.ts'
import { loadPart } from '../snapshot/read.ts'
import { BuildError } from '../system/build-error.ts'
import { collectGarbage } from '../system/collect.ts'
import type { Run } from '../parquet/columns.ts'
import { writeBuoys, writeGeoJson } from './buoys-file.ts'
import {
  buoysPath,
  encodeList,
  readingsPath,
  type ExportedFile,
  type ExportFormat,
  type FileList,
} from '../snapshot/file-list.ts'
import { contentHash, networksOf, runsOf, type BulkNetwork } from './networks.ts'
import { metadataOf, UNITS, writeReadings } from './readings-file.ts'
import { StagedFileWriter, type StagedFile } from './staged-file.ts'
import type { Target } from './target.ts'

export interface ExportOptions {
  /** The folder of the snapshot. */
  dir: string
  manifest: Manifest
  format: ExportFormat
  /** Exports only what changed after this snapshot, which the folder still keeps; null for everything. */
  since: Manifest | null
  /** Paths of files that stay although this export does not have them: lists of kept snapshots name them. */
  named: ReadonlySet<string>
  /** Takes what happens, one line at a time. */
  log: (line: string) => void
}

export interface Exported {
  list: FileList
  /** Files that were written, and their bytes and rows; the others were there. */
  written: { files: number; bytes: number; rows: number }
}

/** @throws SnapshotError, BuildError or StoreError; then the target has what it had */
export async function exportSnapshot(options: ExportOptions, target: Target): Promise<Exported> {
  try {
    const before = usable(await target.begin(), options, target.address)
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

/**
 * The list that an export goes on from; null for one in another format, all of which is written anew.
 * @throws BuildError where the new list would hide what the old one has
 */
function usable(before: FileList | null, { format, since }: ExportOptions, address: string): FileList | null {
  const [was, is] = [before?.since ?? null, since?.id ?? null]
  if (before !== null && was !== is) {
    throw new BuildError(
      was === null
        ? `${address}: has a whole export, and with --since only what changed is listed: export to another place`
        : `${address}: has what changed since ${was}${is === null ? ' alone' : `, not since ${is}`}: export to another place`,
    )
  }
  return before?.format === format ? before : null
}

/** One side of a comparison. */
interface Side {
  networks: Map<string, BulkNetwork>
  parts: Map<number, PartEntry>
}

class Export {
  readonly #options: ExportOptions
  readonly #target: Target
  readonly #before: FileList | null
  readonly #filesBefore: Map<string, ExportedFile>
  /** What networks and parts were at the export before, by name and month. */
  readonly #networkBefore: Map<string, string>
  readonly #partBefore: Map<string, string>
  readonly written = { files: 0, bytes: 0, rows: 0 }
  #staged = 0

  constructor(options: ExportOptions, target: Target, before: FileList | null) {
    this.#options = options
    this.#target = target
    this.#before = before
    this.#filesBefore = new Map(before?.files.map((file) => [keyOf(file.network, file.month), file]))
    this.#networkBefore = new Map(before?.networks.map(({ name, madeFrom }) => [name, madeFrom]))
    this.#partBefore = new Map(before?.months.map(({ month, part }) => [month, part]))
  }

  async all(): Promise<FileList> {
    const { manifest, since, format, log } = this.#options
    const catalog = await this.#catalogOf(manifest)
    const now = sideOf(catalog, manifest, format)
    const then = since === null ? null : sideOf(await this.#catalogOf(since), since, format)
    const files: ExportedFile[] = []
    const removed: FileList['removed'] = []
    const months = [...new Set([...now.parts.keys(), ...(then?.parts.keys() ?? [])])].toSorted(
      (a, b) => a - b,
    )
    for (const month of months) {
      const exported = await this.#month(month, now, then)
      files.push(...exported.files)
      removed.push(...exported.removed)
      if (exported.written > 0) log(`${monthText(month)}: ${exported.written} files`)
      // Of the memory of a month's part V8 knows nothing: ten years of months would wait to be collected.
      collectGarbage()
    }
    const order = (file: ExportedFile): string => `${file.network} ${file.month}`
    files.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    files.push(...(await this.#buoys(catalog)))
    return {
      address: this.#target.publicAddress,
      snapshot: manifest.id,
      asOf: manifest.asOf,
      format,
      since: since?.id ?? null,
      networks: [...now.networks.values()].map(({ name, source, credit, licence, madeFrom }) => ({
        name,
        source,
        credit,
        licence,
        madeFrom,
      })),
      months: [...now.parts].map(([month, { sha256 }]) => ({ month: monthText(month), part: sha256 })),
      files,
      removed,
    }
  }

  async #catalogOf({ parts }: Manifest): Promise<Catalog> {
    const { entry, bytes } = await loadPart(
      this.#options.dir,
      parts.find(({ kind }) => kind === 'catalog')!,
    )
    return readCatalog(decodePart(bytes, entry.file), entry.file)
  }

  /**
   * The files of a month, one for each network that has rows in it, and changed ones where `then` is given.
   */
  async #month(
    month: number,
    now: Side,
    then: Side | null,
  ): Promise<{ files: ExportedFile[]; removed: FileList['removed']; written: number }> {
    const [part, partThen] = [now.parts.get(month), then?.parts.get(month)]
    const files: ExportedFile[] = []
    const removed: FileList['removed'] = []
    const { dir, format } = this.#options
    const rowsOf = monthReader(dir, month)
    let written = 0
    const names = new Set([...now.networks.keys(), ...(then?.networks.keys() ?? [])])
    for (const name of names) {
      const network = now.networks.get(name)
      const networkThen = then?.networks.get(name)
      if (then !== null && isSame(part, partThen, network, networkThen)) continue
      if (then === null && this.#isUnread(name, month, part!, network!)) {
        const file = this.#filesBefore.get(keyOf(name, monthText(month)))
        if (file !== undefined) files.push(file)
        continue
      }
      const runs = await runsIn(rowsOf, part, network)
      const hash = network === undefined || runs.length === 0 ? null : contentHash(network, runs, format)
      if (then !== null) {
        const runsThen = await runsIn(rowsOf, partThen, networkThen)
        if (hash === null) {
          if (runsThen.length > 0) removed.push({ network: name, month: monthText(month) })
          continue
        }
        if (networkThen !== undefined && contentHash(networkThen, runsThen, format) === hash) continue
      }
      if (hash === null) continue
      const known = this.#filesBefore.get(keyOf(name, monthText(month)))
      if (known?.madeFrom === hash && this.#target.has(known)) files.push(known)
      else {
        files.push(await this.#readings(network!, month, runs, hash))
        written++
      }
    }
    return { files, removed, written }
  }

  /** Whether the export before has what this one would have, as the hashes of what it is made from show. */
  #isUnread(name: string, month: number, part: PartEntry, { madeFrom }: BulkNetwork): boolean {
    if (
      this.#networkBefore.get(name) !== madeFrom ||
      this.#partBefore.get(monthText(month)) !== part.sha256
    ) {
      return false
    }
    const file = this.#filesBefore.get(keyOf(name, monthText(month)))
    return file === undefined || this.#target.has(file)
  }

  async #readings(network: BulkNetwork, month: number, runs: Run[], madeFrom: string): Promise<ExportedFile> {
    const { manifest, format } = this.#options
    const staged = await this.#stage((writer) =>
      writeReadings(format, runs, metadataOf(network, manifest.id, manifest.demo === true), (bytes) =>
        writer.write(bytes),
      ),
    )
    const times = runs.map(({ rows, from, to }) => [rows.time[from], rows.time[to - 1]])
    return this.#add(staged, {
      path: readingsPath(network.folder, month, staged.sha256, format),
      kind: 'readings',
      format,
      network: network.name,
      month: monthText(month),
      rows: runs.reduce((sum, { from, to }) => sum + to - from, 0),
      start: times.reduce((first, [time]) => Math.min(first, time), Infinity),
      end: times.reduce((last, [, time]) => Math.max(last, time), 0),
      madeFrom,
    })
  }

  /** The buoys of all networks: some hundred kilobytes, so they are made to see whether they differ. */
  async #buoys(catalog: Catalog): Promise<ExportedFile[]> {
    const { format } = this.#options
    const rows = catalog.id.length
    const entry = { kind: 'buoys', network: null, month: null, rows, start: null, end: null } as const
    const table = await this.#stage((writer) =>
      writeBuoys(format, catalog, { units: UNITS }, (bytes) => writer.write(bytes)),
    )
    const map = await this.#stage((writer) => writeGeoJson(catalog, (bytes) => writer.write(bytes)))
    const files: ExportedFile[] = []
    for (const [staged, as] of [
      [table, format],
      [map, 'geojson'],
    ] as const) {
      const path = buoysPath(staged.sha256, as)
      const known = this.#before?.files.find((file) => file.path === path)
      if (known !== undefined && this.#target.has(known)) files.push(known)
      else files.push(await this.#add(staged, { ...entry, path, format: as, madeFrom: staged.sha256 }))
    }
    return files
  }

  async #stage(write: (writer: StagedFileWriter) => Promise<void> | void): Promise<StagedFile> {
    const writer = new StagedFileWriter(this.#target.staging, String(this.#staged++))
    try {
      await write(writer)
      return writer.end()
    } catch (error) {
      writer.drop()
      throw error
    }
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

const keyOf = (network: string | null, month: string | null): string => `${month} ${network}`

function sideOf(catalog: Catalog, { parts }: Manifest, format: ExportFormat): Side {
  return {
    networks: new Map(networksOf(catalog, format).map((network) => [network.name, network])),
    parts: new Map(parts.flatMap((part) => (part.kind === 'readings' ? [[part.month!, part]] : []))),
  }
}

/** Whether a network has the same rows in a month of two snapshots, as what they are made from shows. */
function isSame(
  part: PartEntry | undefined,
  partThen: PartEntry | undefined,
  network: BulkNetwork | undefined,
  networkThen: BulkNetwork | undefined,
): boolean {
  return part?.sha256 === partThen?.sha256 && network?.madeFrom === networkThen?.madeFrom
}

type MonthReader = (part: PartEntry) => Promise<MonthRows>

/** Reads each part of a month once, checked as a server would check it. */
function monthReader(dir: string, month: number): MonthReader {
  const known = new Map<string, MonthRows>()
  return async (part) => {
    const rows =
      known.get(part.file) ??
      readMonth(decodePart((await loadPart(dir, part)).bytes, part.file), month, part.file)
    known.set(part.file, rows)
    return rows
  }
}

async function runsIn(
  rowsOf: MonthReader,
  part: PartEntry | undefined,
  network: BulkNetwork | undefined,
): Promise<Run[]> {
  return part === undefined || network === undefined ? [] : runsOf(network, await rowsOf(part))
}
