/**
 * Exports a snapshot to a folder: each network's readings in a file for each past year and each month of the
 * last one, and all buoys. Read this file first. Unchanged files stay, and the list of files comes last: a
 * killed export leaves the export before or this one.
 */
import { readdirSync } from 'node:fs'
import type { MonthRows } from '../../index/segments.ts'
import { rowNames } from '../../sea/columns.ts'
import { monthOf, monthText, timestampText } from '../../sea/time.ts'
import { readCatalog } from '../../snapshot/catalog.ts'
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

interface ExportOptions {
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
  /** Files that were written, with their bytes and rows; the others were there before. */
  written: { files: number; bytes: number; rows: number }
}

/** @throws SnapshotError or BuildError; the folder is then unchanged */
export async function exportSnapshot({ dir, manifest, out, now }: ExportOptions): Promise<Exported> {
  const folder = new ExportFolder(out)
  try {
    const { before } = folder
    const catalog = await readPart(
      dir,
      manifest.parts.find(({ kind }) => kind === 'catalog')!,
      readCatalog,
    )
    const readings = manifest.parts.filter(({ kind }) => kind === 'readings')
    readings.sort((a, b) => b.month! - a.month!)
    // All files have the same columns, since programs read them as one table.
    const present = new Set(readings.flatMap((part) => columnsIn(dir, part)))
    const measures = rowNames((name) => present.has(name))
    const networks = networksOf(catalog, measures)
    const parts = new Map(readings.map((part) => [part.month!, part]))
    const basis = {
      as_of: timestampText(manifest.asOf),
      networks: networks.map(({ exported }) => exported),
      months: readings.map(({ month, sha256 }) => ({ month: monthText(month!), part: sha256 })),
    }
    const written = { files: 0, bytes: 0, rows: 0 }
    const files: ExportedFile[] = []
    /** Ends a file, which is dropped where the export before has the same bytes. */
    const add = (staged: StagedFile, name: string, about: About): void => {
      const { bytes, sha256 } = staged.end()
      const path = pathOf(name, sha256)
      const known = before?.files.find((file) => file.path === path)
      if (known !== undefined && folder.has(known)) {
        files.push(known)
        return
      }
      folder.add(staged, path)
      written.files++
      written.bytes += bytes
      written.rows += about.rows
      files.push({ ...about, path, format: 'parquet', bytes, sha256, snapshot: manifest.id })
    }
    for (const span of spansOf(new Set(parts.keys()), manifest.asOf)) {
      const changed = networks.filter(({ exported: { name } }) => {
        const known = before?.files.find(
          ({ network, year, month }) => network === name && year === span.year && month === span.month,
        )
        const isSame = before !== null && basisOf(before, name, span) === basisOf(basis, name, span)
        // No file: the network has no readings.
        if (!isSame || (known !== undefined && !folder.has(known))) return true
        if (known !== undefined) files.push(known)
        return false
      })
      const rows = async function* (): AsyncGenerator<MonthRows> {
        for (const month of span.months)
          yield await readPart(dir, parts.get(month)!, (part, name) => readMonth(part, month, name))
      }
      if (changed.length > 0) await writeSpan(span, changed, rows(), manifest.demo === true, folder, add)
    }
    const order = (file: ExportedFile): string => `${file.network} ${spanText(file)}`
    files.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    // The buoys of all networks take some 100 KB, so they are always written, and then compared.
    const staged = folder.create()
    try {
      writeBuoys(catalog, staged.write)
      const none = { network: null, year: null, month: null, start: null, end: null }
      add(staged, 'buoys', { kind: 'buoys', ...none, rows: catalog.id.length })
    } finally {
      staged.close()
    }
    const list: FileList = { address: null, snapshot: manifest.id, ...basis, files }
    folder.publish(encodeList(list))
    folder.collect(new Set([...filesOfLists(dir), ...files.map(({ path }) => path)]), now)
    return { list, written }
  } finally {
    folder.close()
  }
}

/** Paths of all exported files in the lists of kept snapshots. @throws BuildError */
function filesOfLists(dir: string): string[] {
  const ids = readdirSync(dir).flatMap((file) => listedSnapshot(file) ?? [])
  return ids.flatMap((id) => readSnapshotList(dir, id)?.files.map(({ path }) => path) ?? [])
}

/** The months of one file. */
interface Span {
  year: number
  /** Null for all months of the year. */
  month: string | null
  months: number[]
}

type About = Omit<ExportedFile, 'path' | 'format' | 'bytes' | 'sha256' | 'snapshot'>

/** All that the file of a network and span is made from: its months' parts, and whether its year is over. */
function basisOf(
  { as_of: asOf, networks, months }: Pick<FileList, 'as_of' | 'networks' | 'months'>,
  name: string,
  { year, month }: Span,
): string {
  const madeFrom = networks.find((network) => network.name === name)?.made_from
  const ofSpan = months.filter((each) => each.month.startsWith(month ?? `${year}-`))
  return JSON.stringify([madeFrom, Number(asOf.slice(0, 4)) > year, ofSpan])
}

/** Writes the files of networks side by side, a month after the other: one month of rows is in memory. */
async function writeSpan(
  span: Span,
  networks: readonly BulkNetwork[],
  months: AsyncIterable<MonthRows>,
  isDemo: boolean,
  folder: ExportFolder,
  add: (staged: StagedFile, name: string, about: About) => void,
): Promise<void> {
  const drafts = networks.map((network) => {
    const staged = folder.create()
    return { network, staged, file: new ReadingsFile(network, isDemo, staged.write) }
  })
  try {
    for await (const rows of months) {
      for (const { file } of drafts) await file.add(rows)
      // V8 does not see the memory of a month's part: ten years of months would wait to be collected.
      collectGarbage()
    }
    for (const { network, staged, file } of drafts) {
      const { rows, start, end } = file
      if (rows === 0) continue
      file.finish()
      const { year, month } = span
      const times = { start: timestampText(start), end: timestampText(end) }
      const about = { kind: 'readings' as const, network: network.exported.name, year, month, ...times, rows }
      add(staged, `readings/${network.folder}/${spanText(span)}`, about)
    }
  } finally {
    for (const { staged } of drafts) staged.close()
  }
}

function columnsIn(dir: string, part: PartEntry): string[] {
  try {
    return [...readUnchecked(dir, part).columns.keys()]
  } catch (error) {
    // A fault of a part is reported when its rows are read, which checks all of it.
    if (error instanceof SnapshotError) return []
    throw error
  }
}

/** Earlier years as a whole, the snapshot's own year by months. */
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
