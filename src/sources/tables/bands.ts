/**
 * Wave spectra in the rows of tables: columns such as `f_0 … f_38`, `varianceDensity_0 …`, `a1_0 …`, and in
 * JSON a list for each (`docs/sources-tables.md`). Names that are well known need no map.
 */
import type { Static } from 'typebox'
import { type Bands, bandsKey, between } from '../../sea/spectra.ts'
import {
  AXES,
  type Axes,
  bandsOf,
  type BandValues,
  momentsOf,
  nearerTo,
  SpectraBatch,
} from '../../sea/spectra-batch.ts'
import { object, Type } from '../../system/schema.ts'
import { entryOf } from '../../system/entry-of.ts'
import { BuildError } from '../../system/build-error.ts'
import { bandName, type BandQuantity } from '../reading/known-names.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import type { OpenTable } from '../reading/text-table.ts'
import type { FileReport, Sink } from '../source.ts'

const PLACE = Type.Optional(Type.String({ minLength: 1, maxLength: 300 }))

/** Names of the columns of a text before `_0`, `_1`, …; in JSON the places of the lists. */
export const SPECTRA = object({
  frequency: PLACE,
  bandwidth: PLACE,
  density: PLACE,
  a1: PLACE,
  b1: PLACE,
  a2: PLACE,
  b2: PLACE,
  direction: PLACE,
  principal: PLACE,
  r1: PLACE,
  r2: PLACE,
  axes: Type.Optional(Type.Enum([...AXES])),
})
type SpectraSpec = Static<typeof SPECTRA>

/** The columns of each quantity by band, or in JSON the field of its list. */
export interface BandFields {
  readonly fields: ReadonlyMap<BandQuantity, readonly number[] | number>
  readonly axes: Axes
  /** Whether a map names the columns. */
  readonly isTold: boolean
}

const NAMES = Object.keys(SPECTRA.properties).filter((name) => name !== 'axes') as BandQuantity[]

/** A table's columns of spectra; null without any, or a text that names the map's missing ones. */
export function bandFields(table: OpenTable, spec: SpectraSpec | undefined): BandFields | null | string {
  const { axes = 'east-towards', ...places } = spec ?? {}
  const isTold = spec !== undefined
  const fields = new Map<BandQuantity, readonly number[] | number>()
  const numbered = numberedColumns(table.labels)
  if (!isTold || table.numbers === undefined) {
    for (const [name, columns] of numbered) {
      const quantity = isTold ? NAMES.find((one) => places[one] === name) : bandName(name)
      if (quantity !== undefined && !fields.has(quantity)) fields.set(quantity, columns)
    }
  } else {
    for (const name of NAMES) {
      const place = places[name]
      if (place !== undefined) fields.set(name, table.column(place))
    }
  }
  const lacking = NAMES.filter((name) => places[name] !== undefined && !fields.has(name))
  if (lacking.length > 0) return `the header lacks the columns of ${lacking.join(', ')} by band`
  if (!fields.has('frequency') || !fields.has('density'))
    return isTold ? 'the map names no frequency or no density for the spectra' : null
  const counts = [...fields.values()].flatMap((columns) =>
    typeof columns === 'number' ? [] : columns.length,
  )
  if (new Set(counts).size > 1) return 'the quantities of a spectrum have different numbers of bands'
  return { fields, axes, isTold }
}

/** Columns with numbers from 0, or from 1, by the name before the number. */
function numberedColumns(labels: readonly string[]): Map<string, number[]> {
  const found = new Map<string, { number: number; field: number }[]>()
  labels.forEach((label, field) => {
    const [, name, digits] = /^(.+)_(\d{1,3})$/.exec(label) ?? []
    if (name !== undefined) entryOf(found, name, () => []).push({ number: Number(digits), field })
  })
  const whole = [...found].flatMap(([name, columns]): [string, number[]][] => {
    const ordered = columns.toSorted((a, b) => a.number - b.number)
    const first = ordered[0].number
    const isRun = first <= 1 && ordered.length > 1 && ordered.every(({ number }, i) => number === first + i)
    return isRun ? [[name, ordered.map(({ field }) => field)]] : []
  })
  return new Map(whole)
}

/** The columns of spectra, which are nothing else. */
export function bandColumns({ fields }: BandFields): number[] {
  return [...fields.values()].flatMap((columns) => (typeof columns === 'number' ? [] : columns))
}

/** The most that a table's own directions may differ from those of its a1 and b1, degrees. */
const AXES_TOLERANCE = 2
/** Below it rounding decides the direction of a1 and b1. */
const LEAST_R1 = 0.1
/** Sets of bands of one file. */
const MAX_SETS = 16

/** Spectra of the files of a source, by station. */
export class TableSpectra {
  readonly #kept: { station: number; feed: number; batch: SpectraBatch }[] = []
  #waiting = new Map<string, { station: number; batch: SpectraBatch }>()
  /** Sets of bands of the file. */
  readonly #sets = new Set<string>()
  #worst = { difference: 0, row: 0 }

  /** Reads the spectrum of a row. False without one; a faulty spectrum is reported. */
  read(
    table: OpenTable,
    { fields, axes }: BandFields,
    station: number,
    time: number,
    file: FileReport,
  ): boolean {
    const list = (name: BandQuantity): number[] | null => {
      const columns = fields.get(name)
      if (columns === undefined) return null
      if (typeof columns === 'number') return table.numbers?.(columns) ?? []
      return columns.map((field) => table.number(field) ?? NaN)
    }
    const density = list('density') ?? []
    if (density.every((value) => Number.isNaN(value))) return false
    const bands = bandsOf(list('frequency') ?? [], list('bandwidth'))
    const fault =
      typeof bands === 'string' ? bands : this.#add(bands, density, list, axes, station, time, table)
    if (fault !== null) file.skipped(fault)
    return true
  }

  #add(
    bands: Bands,
    density: readonly number[],
    list: (name: BandQuantity) => number[] | null,
    axes: Axes,
    station: number,
    time: number,
    table: OpenTable,
  ): string | null {
    if (density.length !== bands.frequency.length)
      return 'a spectrum with another number of densities than of bands'
    const set = bandsKey(bands)
    this.#sets.add(set)
    if (this.#sets.size > MAX_SETS) return `more than ${MAX_SETS} sets of bands`
    const { batch } = entryOf(this.#waiting, `${station} ${set}`, () => ({
      station,
      batch: new SpectraBatch(bands),
    }))
    const own = list('direction')
    const [a1, b1, a2, b2] = (['a1', 'b1', 'a2', 'b2'] as const).map(list)
    if (a1 === null || b1 === null) {
      const principal = list('principal')?.map((one, i) => nearerTo(own?.[i] ?? NaN, one)) ?? null
      return batch.add(time, { density, direction: own, principal, r1: list('r1'), r2: list('r2') })
    }
    const moments = density.map((_, i) => momentsOf(axes, a1[i], b1[i], a2?.[i] ?? NaN, b2?.[i] ?? NaN))
    for (const [i, { direction, r1 }] of moments.entries()) {
      const difference = r1 >= LEAST_R1 ? between(direction, own?.[i] ?? direction) : 0
      if (difference > this.#worst.difference) this.#worst = { difference, row: table.row() }
    }
    const values: BandValues = {
      density,
      direction: moments.map(({ direction }) => direction),
      principal: moments.map(({ principal }) => principal),
      r1: moments.map(({ r1 }) => r1),
      r2: moments.map(({ r2 }) => r2),
    }
    return batch.add(time, values)
  }

  /**
   * Ends a file, and keeps its spectra if it counts. @throws BuildError where the axes of the map are not
   * those of the table's own directions
   */
  end(
    counts: boolean,
    file: FileReport,
    feed: number,
    doubt: TakeDoubt,
    path: string,
    isTold: boolean,
  ): void {
    const [waiting, worst] = [[...this.#waiting.values()], this.#worst]
    this.#waiting = new Map()
    this.#sets.clear()
    this.#worst = { difference: 0, row: 0 }
    if (!counts) return
    if (worst.difference > AXES_TOLERANCE) {
      const example = `row ${worst.row}: by ${Math.round(worst.difference)}°`
      if (!isTold) {
        doubt('otherAxes', example)
        return
      }
      throw new BuildError(
        `${path}: its own directions are not those of a1 and b1, ${example}; set "axes" of "spectra" to ${AXES.join(' or ')}`,
      )
    }
    for (const { station, batch } of waiting) {
      if (batch.outside > 0) file.skipped('r1 or r2 outside 0 to 1', undefined, batch.outside)
      if (batch.length > 0) this.#kept.push({ station, feed, batch })
    }
  }

  /** Sends the spectra of the stations that have a handle. */
  send(sink: Sink, handleOf: (station: number) => number | undefined): void {
    for (const { station, feed, batch } of this.#kept) {
      const handle = handleOf(station)
      if (handle !== undefined) sink.spectra(handle, batch.taken(), feed)
    }
  }
}
