/**
 * The report of a build as a document, `report-ID.json` next to the snapshot: whole counts with bounded
 * examples, times as on the wire. And its lines, for people.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../snapshot/write-snapshot.ts'
import { parseTimestamp } from '../sea/time.ts'
import type { CountedDoubt, Doubts } from '../sources/doubts.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { counted } from '../system/text.ts'

export const REPORT_HEAD = { format: 'groundswell-report', version: 2 } as const

export interface ReportDocument {
  format: (typeof REPORT_HEAD)['format']
  version: (typeof REPORT_HEAD)['version']
  snapshot: string
  /** Whether the build published it; false where it only kept it, since a rollback held. */
  announced: boolean
  as_of: string
  built_at: string
  seconds: number
  files: number
  rows: number
  bad_lines: number
  months_written: string[]
  sources: SourceDocument[]
  networks: NetworkDocument[]
  /** Buoys that are left out since a preferred network has the same. */
  duplicates: Remark[]
  losses: LossDocument
}

/** What the snapshot lacks of the one before it, whether or not that was wanted. */
export interface LossDocument {
  buoys: number
  /** Past readings of buoys that lost more than a hundredth of theirs. */
  readings: number
  /** The first twenty buoys, in quotes, each with what it lost. */
  first: string[]
}

/** Something that was counted, the first examples in quotes, and what to do about it. */
export interface Remark {
  what: string
  times: number
  examples: string[]
  remedy: string | null
  /** Values may be wrong, or a station is missing. */
  grave: boolean
}

export interface SourceDocument {
  /** Name in the configuration; "command line" for all sources without a configuration. */
  name: string
  /** Why the source is stale; null when it was read. */
  refused: string | null
  /** When a stale source was read last; null for a source that was read, or never was. */
  last_read: string | null
  files: number
  rows: number
  bad_lines: number
  /** Bad lines; examples are places with the beginning of the faulty text. */
  bad: Remark[]
  /** Rows or values left out by a rule of the format; examples are stations. */
  skipped: Remark[]
  /** Assumptions and omissions. */
  doubts: Remark[]
  fetch: FetchDocument | null
}

export interface FetchDocument {
  files: number
  /** How long it took, and how long it was allowed to take. */
  seconds: number
  seconds_allowed: number
  fetched: number
  unchanged: number
  /** Files that were not requested, since they were confirmed a short time ago. */
  not_due: number
  failed: number
  /** Files that were removed, since the configuration no longer names them. */
  removed: number
  bytes: number
  /** When the file confirmed longest ago was confirmed; null while a file has never come. */
  oldest: string | null
  /** The first failures; `used_from` is when the file still in use was confirmed, null without a file. */
  failures: { url: string; reason: string; used_from: string | null }[]
}

interface NetworkDocument {
  name: string
  /** 0 for a network that sources mention and that has no buoy in the snapshot. */
  buoys: number
  /** Buoys with a reading of the 24 hours before the build, as the explorer counts them. */
  reporting: number
  newest_reading: string | null
  /** Values that were taken out. */
  impossible: Remark[]
  /** Suspect readings in the months that were written, which stay; examples are buoys. */
  doubtful: Remark[]
}

const EXAMPLE_SHOWN = 200
const EXAMPLES_PRINTED = 3
/** Of values that were taken out and of suspect readings. */
const READINGS_PRINTED = 10

export function remarksOf(doubts: Doubts): Remark[] {
  return doubts.list().map(remarkOf)
}

export function remarkOf({ what, times, examples, remedy, isGrave = false }: CountedDoubt): Remark {
  const shown = examples.map((example) => quoted(example, EXAMPLE_SHOWN))
  return { what, times, examples: shown, remedy: remedy ?? null, grave: isGrave }
}

/** The beginning of a text in quotes; nothing in it steers a terminal or changes its direction of reading. */
export function quoted(text: string, most: number): string {
  const cut = text.slice(0, most)
  // Characters that change the direction (Cf) or show nothing (C: surrogates, private, unassigned).
  const visible = JSON.stringify(cut).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
  return text.length > most ? `${visible}…` : visible
}

/** How often a build had a doubt about each of its sources. */
export function doubtCounts(
  report: ReportDocument | null,
): { input: string; grave: number; other: number }[] {
  const timesOf = (doubts: readonly Remark[]): number => doubts.reduce((sum, { times }) => sum + times, 0)
  return (report?.sources ?? []).map(({ name, doubts }) => {
    const grave = timesOf(doubts.filter((doubt) => doubt.grave))
    return { input: name, grave, other: timesOf(doubts) - grave }
  })
}

/**
 * Sources that could not be read in the build: when they were read last, and the seconds from then to `now`.
 */
export function silentSources(report: ReportDocument | null, now: number): object[] {
  const silent = (report?.sources ?? []).filter(({ refused }) => refused !== null)
  return silent.map(({ name, refused, last_read: lastRead }) => {
    const epoch = parseTimestamp(lastRead ?? '')?.epoch
    const age = epoch === undefined ? null : Math.round(now - epoch)
    return { name, reason: refused, last_read: lastRead, age_seconds: age }
  })
}

const countsText = ({ files, rows, bad_lines: bad }: SourceDocument | ReportDocument): string =>
  `${counted(files, 'file')}, ${counted(rows, 'row')}, ${counted(bad, 'bad line')}`

export function remarkText({ what, times, examples, remedy }: Remark, most = EXAMPLES_PRINTED): string {
  const often = times === 1 ? '' : ` (${times} times)`
  const where = examples.length === 0 ? '' : `: ${examples.slice(0, most).join(', ')}`
  return `${what}${often}${where}${remedy === null ? '' : ` → ${remedy}`}`
}

const remarkLines = (remarks: readonly Remark[], most?: number): string[] =>
  remarks.map((remark) => `  ${remark.grave ? 'grave: ' : ''}${remarkText(remark, most)}`)

function fetchLines(document: FetchDocument): string[] {
  const { files, fetched, unchanged, not_due: notDue, failed, bytes, seconds, failures } = document
  return [
    `  fetched ${fetched} of ${counted(files, 'file')} (${counted(bytes, 'byte')}) in ${seconds} of at most ${document.seconds_allowed} s: ${unchanged} unchanged, ${notDue} not due, ${failed} failed`,
    ...failures.map(
      ({ url, reason, used_from: from }) => `  ${url}: ${reason}; in use: ${from ?? 'nothing'}`,
    ),
  ]
}

function sourceLines(source: SourceDocument): string[] {
  const { name, refused, last_read: lastRead, fetch, bad, skipped, doubts } = source
  const inUse = lastRead === null ? '' : `; in use: its data of ${lastRead}`
  return [
    `${name}: ${countsText(source)}${refused === null ? '' : `; left out: ${refused}${inUse}`}`,
    ...(fetch === null ? [] : fetchLines(fetch)),
    ...remarkLines([...doubts.filter(({ grave }) => grave), ...bad, ...skipped]),
    ...remarkLines(doubts.filter(({ grave }) => !grave)),
  ]
}

function networkLines(network: NetworkDocument): string[] {
  const { name, buoys, reporting, newest_reading: newest, impossible, doubtful } = network
  return [
    `${name}: ${counted(buoys, 'buoy')}, ${reporting} reporting in the last 24 hours, newest reading ${newest ?? 'none'}`,
    ...remarkLines([...impossible, ...doubtful], READINGS_PRINTED),
  ]
}

/** Losses for people, the counts first; none where nothing is lost. */
export function lossLines({ buoys, readings, first }: LossDocument): string[] {
  if (buoys + readings === 0) return []
  return [
    `lost since the snapshot before: ${counted(buoys, 'buoy')}, ${counted(readings, 'past reading')} → list a station, in stations.csv or in the configuration, for its history to stay; "groundswell rollback DIR" brings all back`,
    ...first.map((text) => `  ${text}`),
  ]
}

/** The counts of a build, for people; the document has more examples. */
export function reportLines(document: ReportDocument): string[] {
  const { snapshot, as_of: asOf, built_at: builtAt, announced, months_written: months } = document
  const held = announced ? '' : ', not published when it was built: a rollback held'
  return [
    `snapshot ${snapshot}, data as of ${asOf}, built ${builtAt}${held}`,
    `${countsText(document)}, ${counted(months.length, 'month')} written, ${document.seconds} s`,
    ...document.sources.flatMap(sourceLines),
    ...document.networks.flatMap(networkLines),
    ...remarkLines(document.duplicates),
    ...lossLines(document.losses),
    // Names come from files: their characters must not steer a terminal.
  ].map((line) => line.replace(/\p{Cc}/gu, '�'))
}

/** Bytes of a report with the longest texts and the most entries that its bounds allow. */
const MAX_REPORT_BYTES = 2 ** 27

const REPORT_FILE = /^report-[0-9a-f]{24}\.json$/

/** Puts a report next to its snapshot, in place of an earlier one. @throws BuildError when that fails */
export function writeReport(dir: string, document: ReportDocument): void {
  const text = `${JSON.stringify(document, null, 2)}\n`
  writeDurably(dir, `report-${document.snapshot}.json`, Buffer.from(text))
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
    const text = readRegularFileSync(join(dir, newest), MAX_REPORT_BYTES).toString('utf8')
    const document = JSON.parse(text) as ReportDocument
    const { format, version } = REPORT_HEAD
    // Reports of earlier programs name no losses.
    const { losses = { buoys: 0, readings: 0, first: [] } } = document as Partial<ReportDocument>
    if (document.format === format && document.version === version) return { ...document, losses }
  } catch {
    // A text that is not JSON gets the same error as a document of another form.
  }
  throw new BuildError(
    `${join(dir, newest)}: is not a report of a build by this version; the next build writes one`,
  )
}
