/**
 * The months of wave spectra of a build. A buoy keeps its spectra of the last days before its newest one, in
 * whole days of UTC: cut at any second, the oldest month would be written again by each build.
 */
import type { MonthRows } from '../index/segments.ts'
import { MISSING_U16, type Column } from '../sea/columns.ts'
import { BAND_NAMES, bandsKey, JOINED_SECONDS, MISSING_U8, type Spectra } from '../sea/spectra.ts'
import { slice } from '../sea/spectra-batch.ts'
import { DAY, monthStart, monthText } from '../sea/time.ts'
import { readMonth } from '../snapshot/part-kinds.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import { sums } from '../snapshot/part-columns.ts'
import type { Part, PartEntry } from '../snapshot/snapshot-format.ts'
import { BuildError } from '../system/build-error.ts'
import { readSpectra, runOf, type SpectraMonth } from '../snapshot/spectra.ts'
import { writePart } from '../snapshot/write-snapshot.ts'
import { takeDoubts } from '../sources/reading/source-files.ts'
import { entryOf } from '../system/entry-of.ts'
import { type BuildOptions, DEFAULT_SPECTRA_DAYS, type Previous } from './build-base.ts'
import type { Gathered } from './gather.ts'
import type { Identified } from './identify.ts'
import { countDoubtfulSpectra } from './quality.ts'
import { picked, type SpectraRun, type SpectraSpool } from './spectra-spool.ts'

/**
 * Writes the months with spectra, newest first, as a buoy's newest spectrum decides which of its others are
 * kept. `readings` are the parts of readings of this build. @returns the parts, oldest month first
 */
export async function writeSpectra(
  { out, report, spectraDays = DEFAULT_SPECTRA_DAYS }: BuildOptions,
  previous: Previous | null,
  readings: readonly PartEntry[],
  { asOf, wantedAsOf }: Gathered,
  { mentioned, idOf }: Identified,
  spool: SpectraSpool,
): Promise<PartEntry[]> {
  const before = new Map<number, PartEntry>()
  for (const entry of previous?.manifest.parts ?? []) {
    if (entry.kind === 'spectra') before.set(entry.month!, entry)
  }
  // A spectrum may come a little after its reading, which may be the newest of all.
  const last = wantedAsOf ?? asOf + JOINED_SECONDS
  const doubt = takeDoubts(report)
  const oldest = new Map<number, number>()
  const entries: PartEntry[] = []
  const changed = new Set(spool.months())
  for (const month of [...new Set([...changed, ...before.keys()])].sort((a, b) => b - a)) {
    const entry = before.get(month)
    // A month that nothing is added to or cut from.
    if (entry !== undefined && !changed.has(month) && isKept(month)) {
      entries.push(entry)
      continue
    }
    const old =
      entry === undefined ? [] : await readPart(out, entry, (part, file) => oldRuns(part, month, file))
    const merged = mergedSpectra(old, spool.take(month), idOf)
    const kept = merged.flatMap(({ buoy, runs }) => {
      const { taken, later } = cut(runs, oldest.get(buoy) ?? 0, last)
      if (later > 0) doubt('later', monthText(month), later)
      if (taken.length === 0) return []
      entryOf(oldest, buoy, () => oldestKept(taken.at(-1)!.time.at(-1)!, spectraDays))
      const rest = cut(taken, oldest.get(buoy)!, last).taken
      return rest.length === 0 ? [] : [{ buoy, runs: rest }]
    })
    if (kept.length === 0) continue
    const { part, rows } = spectraPart(month, kept)
    entries.push(writePart(out, part, rows, month))
    if (!changed.has(month)) continue
    const own = readings.find((one) => one.kind === 'readings' && one.month === month)
    const heights =
      own === undefined ? null : await readPart(out, own, (each, file) => readMonth(each, month, file))
    doubtHeights(kept, heights)
  }
  return entries.reverse()

  function isKept(month: number): boolean {
    return spectraDays === Infinity && monthStart(month + 1) <= last + 1
  }

  function doubtHeights(kept: readonly BuoySpectra[], heights: MonthRows | null): void {
    for (const { buoy, runs } of kept) {
      const known = mentioned.get(buoy)
      const index = heights?.buoys.indexOf(buoy) ?? -1
      if (known === undefined || heights === null || index < 0) continue
      const times = countDoubtfulSpectra(runs, heights, index)
      if (times > 0) report.suspect(known.source, known.identifier, 'spectrum', times)
    }
  }
}

function oldestKept(newest: number, days: number): number {
  return days === Infinity ? 0 : Math.floor((newest - days * DAY) / DAY) * DAY
}

interface BuoyRuns {
  readonly buoy: number
  /** Of two spectra of one time the earlier run's counts. */
  readonly runs: readonly Spectra[]
}

function oldRuns(...[part, month, file]: Parameters<typeof readSpectra>): BuoyRuns[] {
  const read = readSpectra(part, month, file)
  return Array.from(read.buoys, (buoy, i) => ({ buoy, runs: runsOf(read, i) }))
}

/** The spectra of a month by buoy, in order of time, each time once: new ones go before old ones. */
function mergedSpectra(
  old: readonly BuoyRuns[],
  runs: readonly SpectraRun[],
  idOf: (handle: number) => number,
): BuoySpectra[] {
  const byBuoy = new Map<number, { rank: number; spectra: Spectra }[]>()
  runs.forEach(({ handle, feed, spectra }) => {
    const buoy = idOf(handle)
    if (buoy !== 0) entryOf(byBuoy, buoy, () => []).push({ rank: feed, spectra })
  })
  for (const { buoy, runs: own } of old) {
    entryOf(byBuoy, buoy, () => []).push(...own.map((spectra) => ({ rank: Infinity, spectra })))
  }
  return [...byBuoy].sort(([a], [b]) => a - b).map(([buoy, ranked]) => ({ buoy, runs: inOneOrder(ranked) }))
}

/**
 * Runs in order of time: of two spectra of a time the one of the lower rank stays, and of one rank the later
 * run's.
 */
function inOneOrder(ranked: readonly { rank: number; spectra: Spectra }[]): Spectra[] {
  const rows = ranked.flatMap(({ rank, spectra }, order) =>
    Array.from(spectra.time, (time, row) => ({ time, rank, order, row, spectra })),
  )
  rows.sort((a, b) => a.time - b.time || a.rank - b.rank || b.order - a.order)
  const kept = rows.filter(({ time }, i) => i === 0 || time !== rows[i - 1].time)
  const runs: { spectra: Spectra; rows: number[] }[] = []
  for (const { spectra, row } of kept) {
    const run = runs.at(-1)
    if (run?.spectra === spectra) run.rows.push(row)
    else runs.push({ spectra, rows: [row] })
  }
  return runs.map(({ spectra, rows: own }) =>
    own.length === spectra.time.length ? spectra : picked(spectra, own),
  )
}

/** The spectra from `oldest` on up to `last`, both included, and the number of later ones. */
function cut(runs: readonly Spectra[], oldest: number, last: number): { taken: Spectra[]; later: number } {
  let later = 0
  const taken = runs.flatMap((spectra) => {
    const { time } = spectra
    const from = time.findIndex((one) => one >= oldest)
    if (from < 0) return []
    let to = time.length
    while (to > from && time[to - 1] > last) to--
    later += time.length - to
    return to > from ? [slice(spectra, from, to)] : []
  })
  return { taken, later }
}

/** A month's sets have an index of 16 bits. */
const MAX_SETS = 2 ** 16

/** Spectra of one buoy that ascend in time, one after another. */
interface BuoySpectra {
  readonly buoy: number
  readonly runs: readonly Spectra[]
}

/** The part of a month of spectra, of buoys in ascending order, and the number of its spectra. */
export function spectraPart(month: number, buoys: readonly BuoySpectra[]): { part: Part; rows: number } {
  const runs = buoys.flatMap((buoy) => buoy.runs)
  const sets = new Map(runs.map(({ bands }) => [bandsKey(bands), bands]))
  const keys = [...sets.keys()].sort()
  if (keys.length > MAX_SETS) {
    throw new BuildError(`the spectra of ${monthText(month)} have more than ${MAX_SETS} sets of bands`)
  }
  const indexes = new Map(keys.map((key, i) => [key, i]))
  const ordered = keys.map((key) => sets.get(key)!)
  const rows = runs.reduce((sum, { time }) => sum + time.length, 0)
  const values = runs.reduce((sum, { density }) => sum + density.length, 0)
  const columns = {
    time: new Uint32Array(rows),
    set: new Uint16Array(rows),
    first: new Uint32Array(rows + 1),
    peak: new Float32Array(rows),
    density: new Uint16Array(values),
    direction: new Uint16Array(values),
    principal: new Uint16Array(values),
    r1: new Uint8Array(values),
    r2: new Uint8Array(values),
  }
  let row = 0
  let at = 0
  for (const run of runs) {
    const set = indexes.get(bandsKey(run.bands))!
    columns.time.set(run.time, row)
    columns.peak.set(run.peak, row)
    columns.set.fill(set, row, row + run.time.length)
    for (const name of BAND_NAMES) columns[name].set(run[name], at)
    at += run.density.length
    for (let i = 0; i < run.time.length; i++, row++) {
      columns.first[row + 1] = columns.first[row] + run.bands.frequency.length
    }
  }
  const { direction, principal, r1, r2, ...always } = columns
  const measured = Object.entries({ direction, principal, r1, r2 }).filter(([name, codes]) =>
    codes.some((code) => code !== (name.startsWith('r') ? MISSING_U8 : MISSING_U16)),
  )
  const all: [string, Column][] = [
    ['buoy', Uint32Array.from(buoys, ({ buoy }) => buoy)],
    ['start', sums(buoys.map((each) => each.runs.reduce((sum, { time }) => sum + time.length, 0)))],
    ...Object.entries(always),
    ...measured,
    ['set_start', sums(ordered.map(({ frequency }) => frequency.length))],
    ['frequency', Float64Array.from(ordered.flatMap(({ frequency }) => [...frequency]))],
    ['bandwidth', Float64Array.from(ordered.flatMap(({ bandwidth }) => [...bandwidth]))],
  ]
  return { part: { kind: 'spectra', meta: { month: monthText(month) }, columns: new Map(all) }, rows }
}

export function runsOf(month: SpectraMonth, index: number): Spectra[] {
  const { start, set } = month
  const runs: Spectra[] = []
  for (let row = start[index]; row < start[index + 1];) {
    const from = row
    while (row < start[index + 1] && set[row] === set[from]) row++
    runs.push(runOf(month, from, row))
  }
  return runs
}
