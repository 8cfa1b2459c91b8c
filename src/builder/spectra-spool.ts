/**
 * Wave spectra on their way from the sources to the monthly parts; past a budget of memory they go to files.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import { BAND_NAMES, type Spectra } from '../sea/spectra.ts'
import { slice } from '../sea/spectra-batch.ts'
import { monthOf, monthStart } from '../sea/time.ts'
import { entryOf } from '../system/entry-of.ts'

const DEFAULT_BUDGET_BYTES = 512 * 2 ** 20

/** Spectra of one month of a buoy in order of time; at an equal time the later one counts. */
export interface SpectraRun {
  readonly handle: number
  readonly feed: number
  readonly spectra: Spectra
}

// Columns must stay typed arrays.
const PACKED = { useRecords: false, moreTypes: true }

export class SpectraSpool {
  readonly #dir: string
  readonly #budgetBytes: number
  readonly #packr = new Packr(PACKED)
  readonly #months = new Map<number, SpectraRun[]>()
  readonly #spilled = new Set<number>()
  #memoryBytes = 0

  /** `budgetBytes` of spectra are held in memory; `dir` is made only when they are more. */
  constructor(dir: string, budgetBytes = DEFAULT_BUDGET_BYTES) {
    this.#dir = dir
    this.#budgetBytes = budgetBytes
  }

  add(handle: number, feed: number, given: Spectra): void {
    const spectra = inOrder(given)
    const { time } = spectra
    for (let from = 0; from < time.length;) {
      const month = monthOf(time[from])
      const end = monthStart(month + 1)
      let to = from + 1
      while (to < time.length && time[to] < end) to++
      const part = slice(spectra, from, to)
      entryOf(this.#months, month, () => []).push({ handle, feed, spectra: part })
      this.#memoryBytes += bytesOf(part)
      from = to
    }
    if (this.#memoryBytes > this.#budgetBytes) this.#spill()
  }

  months(): number[] {
    return [...new Set([...this.#months.keys(), ...this.#spilled])].sort((a, b) => a - b)
  }

  /** Takes a month out, in the order in which its runs came. */
  take(month: number): SpectraRun[] {
    const waiting = this.#months.get(month) ?? []
    this.#months.delete(month)
    for (const { spectra } of waiting) this.#memoryBytes -= bytesOf(spectra)
    if (!this.#spilled.delete(month)) return waiting
    const runs: SpectraRun[] = []
    new Unpackr(PACKED).unpackMultiple(readFileSync(this.#file(month)), (run: unknown) => {
      runs.push(run as SpectraRun)
    })
    rmSync(this.#file(month), { force: true })
    return [...runs, ...waiting]
  }

  close(): void {
    this.#months.clear()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #file(month: number): string {
    return join(this.#dir, `spectra-${month}`)
  }

  #spill(): void {
    mkdirSync(this.#dir, { recursive: true })
    for (const [month, runs] of this.#months) {
      const bytes = Buffer.concat(runs.map((run) => this.#packr.pack(run)))
      appendFileSync(this.#file(month), bytes, { mode: 0o600 })
      this.#spilled.add(month)
    }
    this.#months.clear()
    this.#memoryBytes = 0
  }
}

function bytesOf({ time, peak, ...codes }: Spectra): number {
  return time.byteLength + peak.byteLength + BAND_NAMES.reduce((sum, name) => sum + codes[name].byteLength, 0)
}

/** The spectra by time, each time once: the later one counts. */
function inOrder(spectra: Spectra): Spectra {
  const { time } = spectra
  const isAscending = time.every((one, i) => i === 0 || one > time[i - 1])
  if (isAscending) return spectra
  const order = Array.from(time, (_, i) => i)
    .sort((a, b) => time[a] - time[b])
    .filter((row, i, sorted) => time[row] !== time[sorted[i + 1]])
  return picked(spectra, order)
}

/** Spectra of one set of bands in the order of `rows`. */
export function picked(spectra: Spectra, rows: readonly number[]): Spectra {
  const { bands, time, peak } = spectra
  const count = bands.frequency.length
  const codes = <C extends Uint8Array | Uint16Array>(column: C): C => {
    const ColumnArray = column.constructor as new (length: number) => C
    const into = new ColumnArray(rows.length * count)
    rows.forEach((row, i) => into.set(column.subarray(row * count, (row + 1) * count), i * count))
    return into
  }
  return {
    bands,
    time: Uint32Array.from(rows, (row) => time[row]),
    peak: Float32Array.from(rows, (row) => peak[row]),
    density: codes(spectra.density),
    direction: codes(spectra.direction),
    principal: codes(spectra.principal),
    r1: codes(spectra.r1),
    r2: codes(spectra.r2),
  }
}
