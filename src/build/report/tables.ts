/** The report of a build as tables, for a terminal and for a page. */
import { counted } from '../../system/counted.ts'
import { STATIONS_SHOWN } from './bounds.ts'
import type { ReportDocument } from './document.ts'

type Row = readonly (string | number)[]

export interface Table {
  title: string
  head: readonly string[]
  rows: readonly Row[]
}

const countRows = (counts: { readonly [reason: string]: number }): Row[] =>
  Object.entries(counts).map(([reason, count]) => [reason, count])

function sourcesTable({ sources }: ReportDocument): Table {
  return {
    title: 'Sources',
    head: ['source', 'files', 'rows', 'bad lines', 'state'],
    rows: sources.map(({ name, files, rows, bad_lines: bad, refused, last_read: lastRead }) => [
      name,
      files,
      rows,
      bad,
      refused === null ? 'read' : `${refused}${lastRead === null ? '' : `; in use: that of ${lastRead}`}`,
    ]),
  }
}

function networksTable({ networks }: ReportDocument): Table {
  return {
    title: 'Networks',
    head: ['network', 'buoys', 'reporting', 'newest reading'],
    rows: networks.map(({ name, buoys, reporting, newest_reading: newest }) => [
      name,
      buoys,
      reporting,
      newest ?? 'none',
    ]),
  }
}

function fetchedTable({ sources }: ReportDocument): Table {
  return {
    title: 'Fetched',
    head: [
      'source',
      'files',
      'fetched',
      'unchanged',
      'not due',
      'failed',
      'bytes',
      'seconds',
      'of',
      'oldest',
    ],
    rows: sources.flatMap(({ name, fetch }) =>
      fetch === null
        ? []
        : [
            [
              name,
              fetch.files,
              fetch.fetched,
              fetch.unchanged,
              fetch.not_due,
              fetch.failed,
              fetch.bytes,
              fetch.seconds,
              fetch.seconds_allowed,
              fetch.oldest ?? 'never',
            ],
          ],
    ),
  }
}

function notFetchedTable({ sources }: ReportDocument): Table {
  return {
    title: 'Not fetched',
    head: ['source', 'address', 'reason', 'in use: the file of'],
    rows: sources.flatMap(({ name, fetch }) =>
      (fetch?.failures ?? []).map(({ url, reason, used_from: from }) => [name, url, reason, from ?? 'none']),
    ),
  }
}

function badReasonsTable({ sources }: ReportDocument): Table {
  return {
    title: 'Bad lines by reason',
    head: ['source', 'reason', 'lines'],
    rows: sources.flatMap(({ name, bad_reasons: reasons }) =>
      countRows(reasons).map((row) => [name, ...row]),
    ),
  }
}

function badLinesTable({ sources }: ReportDocument): Table {
  return {
    title: 'The first bad lines',
    head: ['file', 'line', 'reason', 'text'],
    rows: sources.flatMap(({ bad }) =>
      bad.map(({ file, line, reason, text }) => [file, line, reason, text ?? '']),
    ),
  }
}

function skippedTable({ sources }: ReportDocument): Table {
  return {
    title: 'Left out by rules of the format',
    head: ['source', 'reason', 'rows or values', 'most at'],
    rows: sources.flatMap(({ name, skipped, skipped_stations: stations }) =>
      Object.entries(skipped).map(([reason, n]) => [name, reason, n, stationsText(stations?.[reason])]),
    ),
  }
}

function withoutPositionTable({ sources }: ReportDocument): Table {
  return {
    title: 'Left out for lack of a position',
    head: ['source', 'stations', 'identifiers'],
    rows: sources.flatMap(({ name, without_position: identifiers }) =>
      identifiers.length === 0
        ? []
        : [
            [
              name,
              identifiers.length,
              `${identifiers.slice(0, STATIONS_SHOWN).join(' ')}${identifiers.length > STATIONS_SHOWN ? ' …' : ''}`,
            ],
          ],
    ),
  }
}

function impossibleTable({ networks }: ReportDocument): Table {
  return {
    title: 'Impossible values, taken out',
    head: ['network', 'reason', 'values'],
    rows: networks.flatMap(({ name, impossible }) => countRows(impossible).map((row) => [name, ...row])),
  }
}

function suspectTable({ networks }: ReportDocument): Table {
  return {
    title: 'Suspect readings, which stay',
    head: ['network', 'reason', 'readings', 'buoys', 'of'],
    rows: networks.flatMap(({ name, doubtful }) =>
      doubtful.map(({ reason, readings, buoys, identifiers }) => [
        name,
        reason,
        readings,
        buoys,
        `${identifiers.join(' ')}${buoys > identifiers.length ? ' …' : ''}`,
      ]),
    ),
  }
}

function duplicatesTable({ duplicates, duplicates_count: duplicateCount }: ReportDocument): Table {
  return {
    title: `Buoys of two networks (${duplicateCount})`,
    head: ['left out', 'stays', 'km apart'],
    rows: duplicates.map(({ left_out: leftOut, stays, km }) => [leftOut, stays, km]),
  }
}

function remarksTable({ sources }: ReportDocument): Table {
  return {
    title: 'Remarks',
    head: ['source', 'remark'],
    rows: sources.flatMap(({ name, warnings }) => warnings.map((warning) => [name, warning])),
  }
}

const TABLES = [
  sourcesTable,
  networksTable,
  fetchedTable,
  notFetchedTable,
  badReasonsTable,
  badLinesTable,
  skippedTable,
  withoutPositionTable,
  impossibleTable,
  suspectTable,
  duplicatesTable,
  remarksTable,
]

/** The tables that the page and the terminal show. Empty ones are left out. */
export function tablesOf(document: ReportDocument): Table[] {
  return TABLES.map((table) => table(document)).filter(({ rows }) => rows.length > 0)
}

/** What was read, in words. */
export function readText(files: number, rows: number, bad: number): string {
  return `${counted(files, 'file')}, ${counted(rows, 'row')}, ${counted(bad, 'bad line')}`
}

export function headLine({
  files,
  rows,
  bad_lines: bad,
  seconds,
  months_written: months,
}: ReportDocument): string {
  return `${readText(files, rows, bad)}, ${counted(months.length, 'month')} written, ${seconds} s`
}

/** Older reports do not say it: then every build published. */
export function unpublishedText({ announced = true }: Partial<ReportDocument>): string {
  return announced ? '' : ', not published when it was built: a rollback held'
}

/** The stations with the highest counts, in words. */
function stationsText(counts: { readonly [identifier: string]: number } = {}): string {
  const stations = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const shown = stations.slice(0, STATIONS_SHOWN).map(([identifier, n]) => `${identifier} ${n}`)
  const rest = stations.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Names come from files: their characters must not steer a terminal. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, '�')
}
