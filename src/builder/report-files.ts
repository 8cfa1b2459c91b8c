/** The report of a build: lines for a terminal, and `report-ID.json` next to the snapshot. */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEMPORARY_PREFIX } from '../snapshot/write-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { randomName } from '../system/random-name.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { counted } from '../system/text.ts'
import {
  EXAMPLES_PRINTED,
  REPORT_FORMAT,
  REPORT_VERSION,
  type DoubtDocument,
  type FetchDocument,
  type NetworkDocument,
  type ReportDocument,
  type SourceDocument,
} from './report-document.ts'

export function readText(files: number, rows: number, bad: number): string {
  return `${counted(files, 'file')}, ${counted(rows, 'row')}, ${counted(bad, 'bad line')}`
}

export function doubtText({ what, times, examples, remedy }: DoubtDocument): string {
  const often = times === 1 ? '' : ` (${times} times)`
  const where = examples.length === 0 ? '' : `: ${examples.slice(0, EXAMPLES_PRINTED).join(', ')}`
  return `${what}${often}${where}${remedy === null ? '' : ` → ${remedy}`}`
}

export function fetchLine(source: string, document: FetchDocument): string {
  const { files, fetched, unchanged, not_due: notDue, failed, bytes, seconds } = document
  const counts = [
    `${fetched} fetched (${bytes} bytes)`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(notDue > 0 ? [`${notDue} not due`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return `${source}: ${counted(files, 'file')} in ${seconds} of at most ${document.seconds_allowed} s: ${counts.join(', ')}`
}

const countLines = (counts: { readonly [reason: string]: number }): string[] =>
  Object.entries(counts).map(([reason, count]) => `  ${count} × ${reason}`)

function sourceLines(source: SourceDocument): string[] {
  const { name, files, rows, bad_lines: bad, refused, last_read: lastRead, fetch, doubts } = source
  const inUse = lastRead === null ? '' : `; in use: what it gave at ${lastRead}`
  const graveFirst = doubts.toSorted((a, b) => Number(b.grave) - Number(a.grave))
  return [
    `${name}: ${readText(files, rows, bad)}${refused === null ? '' : `; left out: ${refused}${inUse}`}`,
    ...(fetch === null ? [] : [fetchLine(name, fetch)]),
    ...(fetch?.failures ?? []).map(
      ({ url, reason, used_from: from }) =>
        `  ${url}: ${reason}; in use: ${from === null ? 'nothing' : `that of ${from}`}`,
    ),
    ...countLines(source.bad_reasons),
    ...countLines(source.skipped),
    ...graveFirst.map((doubt) => `  ${doubt.grave ? 'grave: ' : ''}${doubtText(doubt)}`),
  ]
}

function networkLines(network: NetworkDocument): string[] {
  const { name, buoys, reporting, newest_reading: newest, impossible, doubtful } = network
  return [
    `${name}: ${counted(buoys, 'buoy')}, ${reporting} reporting, newest reading ${newest ?? 'none'}`,
    ...countLines(impossible),
    ...doubtful.map(
      ({ reason, readings, buoys: of }) => `  ${readings} × ${reason}, of ${counted(of, 'buoy')}; they stay`,
    ),
  ]
}

/** What a build counted, for people; the document has files, lines and lists. */
export function reportLines(document: ReportDocument): string[] {
  const { snapshot, as_of: asOf, built_at: builtAt, announced, files, rows, bad_lines: bad } = document
  const held = announced ? '' : ', not published when it was built: a rollback held'
  const months = counted(document.months_written.length, 'month')
  const duplicates = document.duplicates_count
  return [
    `snapshot ${snapshot}, data as of ${asOf}, built ${builtAt}${held}`,
    `${readText(files, rows, bad)}, ${months} written, ${document.seconds} s`,
    ...document.sources.flatMap(sourceLines),
    ...document.networks.flatMap(networkLines),
    ...(duplicates === 0
      ? []
      : [`${counted(duplicates, 'buoy')} left out because another network has the same`]),
    // Names come from files: their characters must not steer a terminal.
  ].map((line) => line.replace(/\p{Cc}/gu, '�'))
}

/** Bytes of a report with the longest texts and the most entries that its bounds allow. */
const MAX_REPORT_BYTES = 2 ** 27
const WRITE_ATTEMPTS = 5

const REPORT_FILE = /^report-[0-9a-f]{24}\.json$/

/** Puts a report next to its snapshot, in place of an earlier one. @throws BuildError when that fails */
export function writeReport(dir: string, document: ReportDocument): void {
  const file = `report-${document.snapshot}.json`
  try {
    putInPlace(dir, file, `${JSON.stringify(document, null, 2)}\n`)
  } catch (error) {
    throw new BuildError(`${join(dir, file)}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The builder's lock is released by now: the next builder may remove the temporary file as a dead one's. */
function putInPlace(dir: string, file: string, text: string): void {
  for (let made = 1; ; made++) {
    const temporary = join(dir, `${TEMPORARY_PREFIX}${randomName()}-${file}`)
    try {
      writeFileSync(temporary, text)
      renameSync(temporary, join(dir, file))
      return
    } catch (error) {
      rmSync(temporary, { force: true })
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || made === WRITE_ATTEMPTS) throw error
    }
  }
}

/** The report of the newest build in a folder. @throws BuildError when there is none or it cannot be read */
export function newestReport(dir: string): ReportDocument {
  const files = readdirSync(dir)
    .filter((file) => REPORT_FILE.test(file))
    .map((file) => ({ file, time: statSync(join(dir, file), { throwIfNoEntry: false })?.mtimeMs ?? -1 }))
    .sort((a, b) => a.time - b.time)
  const newest = files.at(-1)?.file
  if (newest === undefined) throw new BuildError(`${dir}: there is no report in this folder`)
  try {
    const document = JSON.parse(
      readRegularFileSync(join(dir, newest), MAX_REPORT_BYTES).toString('utf8'),
    ) as ReportDocument
    if (document.format === REPORT_FORMAT && document.version === REPORT_VERSION) return document
  } catch {
    // A text that is not JSON gets the same error as a document of another form.
  }
  throw new BuildError(`${join(dir, newest)}: is not a report of a build`)
}
