/** Readings as Parquet, a row group in each piece. */
import { waveEnergy } from '../dataset/energy.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { compassPoint } from '../dataset/number-text.ts'
import type { Column, ReadingsBuoy, Table } from '../operation/answer-table.ts'
import type { Pieces } from '../operation/operation.ts'
import { MEASURES } from '../sea/columns.ts'
import {
  integerElement,
  ParquetFile,
  perBuoy,
  READING_COLUMNS,
  textElement,
  type ReadingColumn,
  type Run,
  type Values,
} from './parquet-file.ts'
import { TableRows } from './row-writers.ts'

/** Rows of 20 ms and, with all columns, 250 KB. */
const GROUP_ROWS = 10_000
const CREATED_BY = 'groundswell'

const DEGREE = 'degree'
const UUID_MIDDLE = '-8000-8000-'
/** Hexadecimal digits of a buoy's id. */
const HEX_DIGITS = 12
const UUID_BYTES = 36
/** Places of the digits of the time that are not always 0. */
const TIME_DIGITS_AT = [4, 5, 6, 7, 9, 10, 11, 12]
const HEX = Buffer.from('0123456789abcdef')

function perRow(
  valueOf: (rows: Run['rows'], row: number) => number | string | null,
): ReadingColumn['values'] {
  return (runs, count) => {
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    for (const { rows, from, to, step } of runs) {
      for (let row = from; row !== to; row += step) values[at++] = valueOf(rows, row)
    }
    return values
  }
}

/** The runs of an answer have whole buoys. */
const ofBuoy = (valueOf: (buoy: ReadingsBuoy) => number | string): ReadingColumn['values'] =>
  perBuoy((buoy) => valueOf(buoy as ReadingsBuoy))

const buoyText = (name: string, textOf: (buoy: ReadingsBuoy) => string): ReadingColumn => ({
  name,
  element: textElement(name),
  unit: null,
  encoding: 'RLE_DICTIONARY',
  values: ofBuoy(textOf),
})

const buoyDegrees = (name: string, valueOf: (buoy: ReadingsBuoy) => number): ReadingColumn => ({
  name,
  element: { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  unit: DEGREE,
  encoding: 'RLE_DICTIONARY',
  values: ofBuoy(valueOf),
})

/** Uuids as texts in one buffer: separate texts would take as long as all other columns. */
const uuids: ReadingColumn['values'] = (runs, count) => {
  const bytes = new Uint8Array(count * UUID_BYTES)
  const values: Values = Array.from({ length: count }, () => null)
  let at = 0
  let value = 0
  for (const { buoy, rows, from, to, step } of runs) {
    const id = buoy.id.toString(16).padStart(HEX_DIGITS, '0')
    const pattern = Buffer.from(`0000xxxx-xxxx${UUID_MIDDLE}${id}`)
    for (let row = from; row !== to; row += step, at += pattern.length) {
      bytes.set(pattern, at)
      const time = rows.time[row]
      // The times before 2106 have 32 bits, so eight digits.
      for (let digit = 0; digit < 8; digit++) {
        bytes[at + TIME_DIGITS_AT[digit]] = HEX[(time >>> (28 - 4 * digit)) & 15]
      }
      values[value++] = bytes.subarray(at, at + pattern.length)
    }
  }
  return values
}

/** All columns that readings can have. */
function allColumns(): readonly ReadingColumn[] {
  const { buoy_slug: _, source: __, ...kept } = READING_COLUMNS
  return [
    ...Object.values(kept).filter(({ name }) => name !== 'time'),
    // Readings of one buoy mostly come at equal intervals.
    { ...kept.time, encoding: 'DELTA_BINARY_PACKED' },
    {
      name: 'uuid',
      element: textElement('uuid'),
      unit: null,
      // Uuids are all different: looking for a dictionary is in vain.
      encoding: 'PLAIN',
      values: uuids,
    },
    {
      name: 'direction_compass',
      element: textElement('direction_compass'),
      unit: null,
      encoding: 'RLE_DICTIONARY',
      values: perRow(({ measures: { direction } }, row) => {
        const code = direction.codes[row & direction.mask]
        return code === MEASURES.direction.missing ? null : compassPoint(code)
      }),
    },
    buoyText('unit', () => 'm'),
    {
      name: 'energy_per_wave',
      element: integerElement('energy_per_wave'),
      unit: 'kJ/m',
      values: perRow(({ measures: { significantHeight, period } }, row) => {
        const seconds = period.codes[row & period.mask]
        if (seconds === MEASURES.period.missing) return null
        const metres = significantHeight.codes[row & significantHeight.mask]
        return waveEnergy(metres / MEASURES.significantHeight.scale, seconds / MEASURES.period.scale)
      }),
    },
    buoyText('buoy.name', ({ name }) => name),
    buoyDegrees('buoy.lat', ({ lat }) => lat),
    buoyDegrees('buoy.lng', ({ lng }) => lng),
    buoyText('buoy.source', ({ source }) => source),
    buoyText('buoy.dtz', ({ dtz }) => dtz),
    buoyText('buoy_name', ({ name }) => name),
  ]
}

function parquetColumns(names: readonly string[]): ReadingColumn[] {
  const columns = new Map(allColumns().map((column) => [column.name, column]))
  return names.map((name) => {
    const column = columns.get(name)
    if (column === undefined) throw new Error(`Parquet has no column ${name}`)
    return column
  })
}

export function parquetPieces(table: Table, columns: readonly Column[], snapshotId: string): Pieces {
  const { cursor } = table.readings!
  const written = parquetColumns(columns.map(({ name }) => name))
  const rows = new TableRows(table)
  // The writer of the piece that is being written.
  let into: JsonWriter | null = null
  const file = new ParquetFile(written, metadataOf(table, columns, snapshotId), CREATED_BY, (bytes) =>
    into!.take(bytes),
  )
  return {
    next(writer) {
      into = writer
      const runs: Run[] = []
      let count = 0
      while (count < GROUP_ROWS) {
        const run = rows.take(GROUP_ROWS - count)
        if (run === null) break
        const { from, step } = run
        runs.push({ buoy: cursor.buoy, rows: cursor.month, from, to: from + run.count * step, step })
        count += run.count
      }
      if (count > 0) file.group(written.map((column) => column.values(runs, count)))
      if (count === GROUP_ROWS) return false
      file.finish()
      return true
    },
  }
}

function metadataOf(
  { readings }: Table,
  columns: readonly Column[],
  snapshot: string,
): { readonly [key: string]: string } {
  const units = columns.flatMap(({ name, unit }) => (unit === '' ? [] : [[name, unit]]))
  return { snapshot, ...readings!.about, units: JSON.stringify(Object.fromEntries(units)) }
}
