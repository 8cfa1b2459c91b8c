/** What a run found, as a table for people, JSON for programs and a plot for both. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BENCH_DATA } from './revisions.ts'
import { median } from './statistics.ts'

/** One line of the headline: a case in one manner of asking. */
export interface ShareRow {
  case: string
  mode: 'cold' | 'hot' | 'hot gzip'
  /** Requests that a connection sends together. */
  depth: number
  /** Bytes on the wire, head included. */
  bytes: number
  /** Requests a second. */
  rate: number
  ceilingRate: number
  /** Of the ceiling's requests a second: median over the rounds. */
  share: number
  /** Hot: the same of a ceiling that sends from as many places in memory as there are answers. */
  spreadShare?: number
  /** The same by CPU time a request, which a neighbour's load or a busy load generator touches less. */
  cpuShare: number
  /** Server CPU a request, µs. */
  cpu: number
  ceilingCpu: number
  /**
   * Share of its core that the server used, and the ceiling. Below 1 the load generator, or a neighbour, was
   * the limit.
   */
  busy: number
  ceilingBusy: number
  /** ms, at saturation. */
  p50: number
  p99: number
  /** Least share, or null for none. */
  bar: number | null
  note?: string
  /** The revision before, in the same rounds. */
  before?: {
    share: number
    cpuShare: number
    /** µs a request. */
    cpu: number
    /** Our CPU time over its. */
    cpuRatio: number
  }
}

/** A peer against us. */
export interface PeerRow {
  peer: string
  case: string
  rate: number
  /** Our requests a second over the peer's: median over the rounds. */
  ratio: number
  cpuRatio: number
  bar: number | null
  note?: string
}

/** Everything else: one quantity and what it may be. */
export interface LimitRow {
  name: string
  value: number
  unit: string
  bar: string
  holds: boolean
  note?: string
}

export interface Results {
  date: string
  revision: string
  machine: string
  /** Its version, and the options that servers were started with. */
  node: string
  command: string
  data: string
  /** Of each case: its distinct requests, cold and hot, and how many of their answers are the oracle's. */
  checked: {
    case: string
    requests: number
    compared: number
    /** Answers that two right programs may give differently: not compared. */
    unsure: number
    /** Answers of the hot server that were byte for byte, but for their timestamps, those of the cold one. */
    kept: { [mode in 'hot' | 'hot gzip']?: number }
  }[]
  shares: ShareRow[]
  peers: PeerRow[]
  limits: LimitRow[]
  /** Tables of sections, as Markdown. */
  texts: string[]
  /** What was asked for and not measured, and why. */
  notRun: string[]
}

export function checkTable(rows: Results['checked']): string {
  return table(
    ['case', 'distinct requests', 'as the oracle', 'unsure', 'kept as fresh', 'kept with gzip'],
    rows.map(({ case: name, requests, compared, unsure, kept }) => [
      name,
      whole(requests),
      whole(compared),
      whole(unsure),
      ...[kept.hot, kept['hot gzip']].map((count) => (count === undefined ? '' : whole(count))),
    ]),
  )
}

const verdict = (value: number, bar: number | null): string =>
  bar === null ? '' : value >= bar ? 'yes' : 'NO'
const rounded = (value: number, digits: number): string => value.toFixed(digits)
const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export function shareTable(rows: readonly ShareRow[]): string {
  return table(
    [
      'case',
      'mode',
      'depth',
      'bytes',
      'requests/s',
      'ceiling/s',
      'share',
      'spread',
      'CPU share',
      'bar',
      'met',
      'CPU µs',
      'busy',
      'ceiling busy',
      'p50 ms',
      'p99 ms',
      '',
    ],
    rows.map((row) => [
      row.case,
      row.mode,
      String(row.depth),
      whole(row.bytes),
      whole(row.rate),
      whole(row.ceilingRate),
      rounded(row.share, 2),
      row.spreadShare === undefined ? '' : rounded(row.spreadShare, 2),
      rounded(row.cpuShare, 2),
      row.bar === null ? '' : rounded(row.bar, 2),
      verdict(row.share, row.bar),
      rounded(row.cpu, 1),
      rounded(row.busy, 2),
      rounded(row.ceilingBusy, 2),
      rounded(row.p50, 2),
      rounded(row.p99, 2),
      row.note ?? '',
    ]),
  )
}

/** Shares of the ceiling before and now, of the same rounds. */
export function beforeTable(rows: readonly ShareRow[]): string {
  return table(
    [
      'case',
      'mode',
      'depth',
      'bytes',
      'CPU share before',
      'CPU share now',
      'share before',
      'share now',
      'CPU µs before',
      'CPU µs now',
      'now / before',
      'ceiling µs',
    ],
    rows.flatMap(({ before, ...row }) =>
      before === undefined
        ? []
        : [
            [
              row.case,
              row.mode,
              String(row.depth),
              whole(row.bytes),
              rounded(before.cpuShare, 2),
              rounded(row.cpuShare, 2),
              rounded(before.share, 2),
              rounded(row.share, 2),
              rounded(before.cpu, 1),
              rounded(row.cpu, 1),
              rounded(before.cpuRatio, 2),
              rounded(row.ceilingCpu, 1),
            ],
          ],
    ),
  )
}

export function peerTable(rows: readonly PeerRow[]): string {
  return table(
    ['peer', 'case', 'requests/s', 'we / peer', 'by CPU', 'bar', 'met', ''],
    rows.map((row) => [
      row.peer,
      row.case,
      whole(row.rate),
      rounded(row.ratio, 2),
      rounded(row.cpuRatio, 2),
      row.bar === null ? '' : rounded(row.bar, 2),
      verdict(row.ratio, row.bar),
      row.note ?? '',
    ]),
  )
}

export function limitTable(rows: readonly LimitRow[]): string {
  return table(
    ['measure', 'value', 'bar', 'met', ''],
    rows.map((row) => [
      row.name,
      `${Number(row.value.toPrecision(3))} ${row.unit}`,
      row.bar,
      row.bar === '' ? '' : row.holds ? 'yes' : 'NO',
      row.note ?? '',
    ]),
  )
}

/** A Markdown table with columns of even width; columns of numbers stand to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isNumber = head.map((_, column) => rows.every((row) => /^([\d.,-]+)?$/.test(row[column])))
  const width = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column].length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (isNumber[column] ? cell.padStart(width[column]) : cell.padEnd(width[column]))).join(' | ')} |`
  const rule = width.map((wide, column) => (isNumber[column] ? `${'-'.repeat(wide - 1)}:` : '-'.repeat(wide)))
  return [line(head), line(rule), ...rows.map((row) => line(row))].join('\n')
}

const BAR_HEIGHT = 7
const COLOURS = { cold: '#1f6f8b', hot: '#e0a458', 'hot gzip': '#99a8b2' }

/** Shares of the ceiling as bars, with the bar that each has to reach as a black stroke. */
export function plot(rows: readonly ShareRow[], title: string): string {
  const plain = rows.filter(({ depth }) => depth === 1)
  const names = [...new Set(plain.map((row) => row.case))]
  const groupHeight = 3 * BAR_HEIGHT + 9
  const [left, top, wide] = [150, 56, 560]
  const height = top + names.length * groupHeight + 30
  const x = (share: number): number => left + Math.min(share, 1.1) * (wide / 1.1)
  const marks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${x(share)}" y1="${top - 6}" x2="${x(share)}" y2="${height - 26}" stroke="#ccc"/>` +
      `<text x="${x(share)}" y="${height - 12}" text-anchor="middle">${share}</text>`,
  )
  const modes = ['cold', 'hot', 'hot gzip'] as const
  const legend = modes.map(
    (mode, i) =>
      `<rect x="${left + i * 110}" y="30" width="10" height="10" fill="${COLOURS[mode]}"/>` +
      `<text x="${left + i * 110 + 15}" y="39">${mode}</text>`,
  )
  const groups = names.map((name, i) => {
    const y = top + i * groupHeight
    const bars = plain
      .filter((row) => row.case === name)
      .map((row) => {
        const at = y + modes.indexOf(row.mode) * BAR_HEIGHT
        const bar =
          row.bar === null
            ? ''
            : `<line x1="${x(row.bar)}" y1="${at}" x2="${x(row.bar)}" y2="${at + BAR_HEIGHT}" stroke="#000" stroke-width="2"/>`
        return `<rect x="${left}" y="${at}" width="${(x(row.share) - left).toFixed(1)}" height="${BAR_HEIGHT - 1}" fill="${COLOURS[row.mode]}"/>${bar}`
      })
    return `<text x="${left - 8}" y="${y + 2 * BAR_HEIGHT}" text-anchor="end">${escaped(name)}</text>${bars.join('')}`
  })
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + wide + 20}" height="${height}" font-family="sans-serif" font-size="11">` +
    `<rect width="100%" height="100%" fill="#fff"/><text x="12" y="18" font-size="13">${escaped(title)}</text>` +
    [...legend, ...marks, ...groups].join('') +
    '</svg>\n'
  )
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Writes JSON, tables and, where there are shares, the plot; returns the files. */
export function writeResults(results: Results): string[] {
  const folder = join(BENCH_DATA, 'results')
  mkdirSync(folder, { recursive: true })
  const name = join(folder, `http-${results.data.split(' ', 1)[0]}-${results.date.replaceAll(/[:.]/g, '-')}`)
  writeFileSync(`${name}.json`, `${JSON.stringify(results, null, 1)}\n`)
  writeFileSync(`${name}.md`, `${tables(results)}\n`)
  if (results.shares.length === 0) return [`${name}.json`, `${name}.md`]
  writeFileSync(
    `${name}.svg`,
    plot(
      results.shares,
      `Share of the ceiling's requests/s, ${results.data}, ${results.date.slice(0, 10)}, ${results.revision}`,
    ),
  )
  return ['json', 'md', 'svg'].map((ending) => `${name}.${ending}`)
}

/** Below this share of its core a server was held up by something else than its requests and wrk. */
const OWN_CORE = 0.8

/** A warning when the machine was not ours. */
function crowded(shares: readonly ShareRow[]): string[] {
  const got = median(shares.map(({ busy, ceilingBusy }) => Math.max(busy, ceilingBusy)))
  if (got >= OWN_CORE) return []
  return [
    `Servers got ${Math.round(100 * got)} % of their core, the rest went to other work on this machine: read the CPU shares.`,
  ]
}

export function tables(results: Results): string {
  const { date, revision, machine, node, command, data, shares, peers, limits, texts, notRun, checked } =
    results
  return [
    `${date.slice(0, 16)}Z, ${machine}, Node ${node}, revision ${revision}, \`${command}\`, ${data}`,
    ...(checked.length > 0 ? [checkTable(checked)] : []),
    ...(shares.length > 0 ? [shareTable(shares), ...crowded(shares)] : []),
    ...(shares.some(({ before }) => before !== undefined) ? [beforeTable(shares)] : []),
    ...(peers.length > 0 ? [peerTable(peers)] : []),
    ...(limits.length > 0 ? [limitTable(limits)] : []),
    ...texts,
    ...(notRun.length > 0 ? [`Not run:\n${notRun.map((what) => `- ${what}`).join('\n')}`] : []),
  ].join('\n\n')
}
