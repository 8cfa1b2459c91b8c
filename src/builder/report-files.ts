/** The report of a build: tables for a terminal, `report-ID.json`, `report-ID.html` without scripts. */
import { counted } from '../system/text.ts'
import { STATIONS_SHOWN } from './report-document.ts'
import { REPORT_FORMAT, REPORT_VERSION, type ReportDocument, type SourceDocument } from './report-document.ts'
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEMPORARY_PREFIX } from '../snapshot/write-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { randomName } from '../system/random-name.ts'

type Row = readonly (string | number)[]

/** What the table of fetched files shows of each source, in its order. */
const FETCHED = [
  'files',
  'fetched',
  'unchanged',
  'not_due',
  'failed',
  'bytes',
  'seconds',
  'seconds_allowed',
] as const

export interface Table {
  title: string
  head: readonly string[]
  rows: readonly Row[]
}

const countRows = (counts: { readonly [reason: string]: number }): Row[] =>
  Object.entries(counts).map(([reason, count]) => [reason, count])

function tablesOf({
  sources,
  networks,
  duplicates,
  duplicates_count: duplicateCount,
}: ReportDocument): Table[] {
  const tables: [title: string, head: readonly string[], rows: Row[]][] = [
    [
      'Sources',
      ['source', 'files', 'rows', 'bad lines', 'state'],
      sources.map(({ name, files, rows, bad_lines: bad, refused, last_read: lastRead }) => [
        name,
        files,
        rows,
        bad,
        refused === null ? 'read' : `${refused}${lastRead === null ? '' : `; in use: that of ${lastRead}`}`,
      ]),
    ],
    [
      'Networks',
      ['network', 'buoys', 'reporting', 'newest reading'],
      networks.map(({ name, buoys, reporting, newest_reading: newest }) => [
        name,
        buoys,
        reporting,
        newest ?? 'none',
      ]),
    ],
    [
      'Fetched',
      ['source', ...FETCHED.map((key) => key.replace('_', ' ').replace('seconds allowed', 'of')), 'oldest'],
      sources.flatMap(({ name, fetch }) =>
        fetch === null ? [] : [[name, ...FETCHED.map((key) => fetch[key]), fetch.oldest ?? 'never']],
      ),
    ],
    [
      'Not fetched',
      ['source', 'address', 'reason', 'in use: the file of'],
      sources.flatMap(({ name, fetch }) =>
        (fetch?.failures ?? []).map(({ url, reason, used_from: from }) => [
          name,
          url,
          reason,
          from ?? 'none',
        ]),
      ),
    ],
    [
      'Bad lines by reason',
      ['source', 'reason', 'lines'],
      sources.flatMap(({ name, bad_reasons: reasons }) => countRows(reasons).map((row) => [name, ...row])),
    ],
    [
      'The first bad lines',
      ['file', 'line', 'reason', 'text'],
      sources.flatMap(({ bad }) =>
        bad.map(({ file, line, reason, text }) => [file, line, reason, text ?? '']),
      ),
    ],
    [
      'Left out by rules of the format',
      ['source', 'reason', 'rows or values', 'most at'],
      sources.flatMap(({ name, skipped, skipped_stations: stations }) =>
        countRows(skipped).map(([reason, count]) => [
          name,
          reason,
          count,
          stationsText(stations?.[reason as string]),
        ]),
      ),
    ],
    [
      'Left out for lack of a position',
      ['source', 'stations', 'identifiers'],
      sources
        .filter(({ without_position: identifiers }) => identifiers.length > 0)
        .map(({ name, without_position: identifiers }) => [
          name,
          identifiers.length,
          `${identifiers.slice(0, STATIONS_SHOWN).join(' ')}${identifiers.length > STATIONS_SHOWN ? ' …' : ''}`,
        ]),
    ],
    [
      'Impossible values, taken out',
      ['network', 'reason', 'values'],
      networks.flatMap(({ name, impossible }) => countRows(impossible).map((row) => [name, ...row])),
    ],
    [
      'Suspect readings, which stay',
      ['network', 'reason', 'readings', 'buoys', 'of'],
      networks.flatMap(({ name, doubtful }) =>
        doubtful.map(({ reason, readings, buoys, identifiers }) => [
          name,
          reason,
          readings,
          buoys,
          `${identifiers.join(' ')}${buoys > identifiers.length ? ' …' : ''}`,
        ]),
      ),
    ],
    [
      `Buoys of two networks (${duplicateCount})`,
      ['left out', 'stays', 'km apart'],
      duplicates.map(({ left_out: leftOut, stays, km }) => [leftOut, stays, km]),
    ],
    [
      'Doubts',
      ['source', 'what was assumed or left out', 'times', 'grave', 'the first ones', 'what to do'],
      // Older reports have remarks in place of doubts.
      sources.flatMap(({ name, doubts = [] }: Partial<SourceDocument>) =>
        doubts
          .toSorted((a, b) => Number(b.grave) - Number(a.grave))
          .map(({ what, times, grave, examples, remedy }) => [
            name ?? '',
            what,
            times,
            grave ? 'yes' : '',
            examples.join(', '),
            remedy ?? '',
          ]),
      ),
    ],
  ]
  return tables.map(([title, head, rows]) => ({ title, head, rows })).filter(({ rows }) => rows.length > 0)
}

export function readText(files: number, rows: number, bad: number): string {
  return `${counted(files, 'file')}, ${counted(rows, 'row')}, ${counted(bad, 'bad line')}`
}

function headLine({ files, rows, bad_lines: bad, seconds, months_written: months }: ReportDocument): string {
  return `${readText(files, rows, bad)}, ${counted(months.length, 'month')} written, ${seconds} s`
}

/** Older reports have no `announced`: then every build published. */
function unpublishedText({ announced = true }: Partial<ReportDocument>): string {
  return announced ? '' : ', not published when it was built: a rollback held'
}

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

export function reportLines(document: ReportDocument): string[] {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  return [
    `snapshot ${snapshot}, data as of ${asOf}, built ${builtAt}${unpublishedText(document)}`,
    headLine(document),
    ...tablesOf(document).flatMap(({ title, head, rows }) => {
      const lines = [head, ...rows].map((row) => row.map((cell) => oneLine(String(cell))))
      const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column].length)))
      return [
        '',
        title,
        ...lines.map((row) =>
          `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd(),
        ),
      ]
    }),
  ]
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(value: string | number): string {
  return oneLine(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character])
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color-scheme:light dark}' +
  'table{border-collapse:collapse;margin:.5rem 0 1.5rem;display:block;overflow-x:auto}' +
  'th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8886;vertical-align:top}' +
  'td.n{text-align:right;font-variant-numeric:tabular-nums}'

export function reportPage(document: ReportDocument): string {
  const { snapshot, as_of: asOf, built_at: builtAt } = document
  const cell = (value: string | number): string =>
    typeof value === 'number' ? `<td class="n">${value}</td>` : `<td>${escaped(value)}</td>`
  const tables = tablesOf(document).map(
    ({ title, head, rows }) =>
      `<h2>${escaped(title)}</h2>\n<table>\n<thead><tr>${head.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>\n` +
      `<tbody>\n${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}\n</tbody>\n</table>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Build of snapshot ${escaped(snapshot)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Build of snapshot ${escaped(snapshot)}</h1>
<p>Data as of ${escaped(asOf)}, built ${escaped(builtAt)}${unpublishedText(document)}: ${escaped(headLine(document))}.</p>
${tables.join('\n')}
</body>
</html>
`
}

/** Bytes of a report with the longest texts and the most entries that its bounds allow. */
const MAX_REPORT_BYTES = 2 ** 27
const WRITE_ATTEMPTS = 5

const REPORT_FILE = /^report-([0-9a-f]{24})\.(json|html)$/

/** The snapshot that a file of reports belongs to; null for other files. */
export function reportedSnapshot(file: string): string | null {
  return REPORT_FILE.exec(file)?.[1] ?? null
}

/** Puts a report next to its snapshot, in place of an earlier one. @throws BuildError when that fails */
export function writeReport(dir: string, document: ReportDocument): void {
  const texts = { json: `${JSON.stringify(document, null, 2)}\n`, html: reportPage(document) }
  for (const [ending, text] of Object.entries(texts)) {
    const file = `report-${document.snapshot}.${ending}`
    try {
      putInPlace(dir, file, text)
    } catch (error) {
      throw new BuildError(`${join(dir, file)}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
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
    .filter((file) => file.endsWith('.json') && reportedSnapshot(file) !== null)
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
