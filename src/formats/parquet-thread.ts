/** The thread that writes Parquet: on request one row group, uninterrupted work that nobody waits for. */
import { parentPort } from 'node:worker_threads'
import { waveEnergy } from '../dataset/energy.ts'
import { compassPoint } from '../dataset/number-text.ts'
import type { ReadingsBuoy } from '../operation/answer-table.ts'
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
import { MEASURES } from '../sea/columns.ts'
import { yieldToServing } from '../system/thread.ts'
import type { ParquetRun, ParquetStart } from './parquet-job.ts'

export type ToParquet =
  | { type: 'begin'; file: number; start: ParquetStart }
  /** The rows of the next row group; none where the file has no rows at all. */
  | { type: 'group'; file: number; runs: readonly ParquetRun[]; isLast: boolean }
  | { type: 'drop'; file: number }

/** The next bytes of a file, or the fault for which it is dropped. */
export type FromParquet = { file: number; bytes: Uint8Array } | { file: number; fault: Error }

interface OpenFile {
  readonly start: ParquetStart
  readonly columns: readonly ReadingColumn[]
  readonly file: ParquetFile
  readonly pieces: Uint8Array[]
}

const CREATED_BY = 'groundswell'

yieldToServing()

const files = new Map<number, OpenFile>()
const main = parentPort!

const DEGREE = 'degree'
const UUID_MIDDLE = '-8000-8000-'
/** Hexadecimal digits of a buoy's id. */
const HEX_DIGITS = 12
/** Places of the digits of the time that are not always 0. */
const TIME_DIGITS_AT = [4, 5, 6, 7, 9, 10, 11, 12]
const HEX = Buffer.from('0123456789abcdef')

function perRow(
  valueOf: (rows: Run['rows'], row: number) => number | string | null,
): ReadingColumn['values'] {
  return (runs, count) => {
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    for (const { rows, from, to } of runs) {
      for (let row = from; row < to; row++) values[at++] = valueOf(rows, row)
    }
    return values
  }
}

const sameText = (name: string, text: string): ReadingColumn => ({
  name,
  element: textElement(name),
  unit: null,
  encoding: 'RLE_DICTIONARY',
  values: perBuoy(() => text),
})

const degrees = (name: string, value: number): ReadingColumn => ({
  name,
  element: { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  unit: DEGREE,
  encoding: 'RLE_DICTIONARY',
  values: perBuoy(() => value),
})

/** Uuids as texts in one buffer: separate texts would take as long as all other columns. */
function uuids(id: number): ReadingColumn['values'] {
  const pattern = Buffer.from(`0000xxxx-xxxx${UUID_MIDDLE}${id.toString(16).padStart(HEX_DIGITS, '0')}`)
  return (runs, count) => {
    const bytes = new Uint8Array(count * pattern.length)
    const values: Values = Array.from({ length: count }, () => null)
    let at = 0
    let value = 0
    for (const { rows, from, to } of runs) {
      for (let row = from; row < to; row++, at += pattern.length) {
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
}

/** All columns that the readings of `buoy` can have, by their names. */
function columnsOf(buoy: ReadingsBuoy): readonly ReadingColumn[] {
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
      values: uuids(buoy.id),
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
    sameText('unit', 'm'),
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
    sameText('buoy.name', buoy.name),
    degrees('buoy.lat', buoy.lat),
    degrees('buoy.lng', buoy.lng),
    sameText('buoy.source', buoy.source),
    sameText('buoy.dtz', buoy.dtz),
    sameText('buoy_name', buoy.name),
  ]
}

function parquetColumns(buoy: ReadingsBuoy, names: readonly string[]): ReadingColumn[] {
  const columns = new Map(columnsOf(buoy).map((column) => [column.name, column]))
  return names.map((name) => {
    const column = columns.get(name)
    if (column === undefined) throw new Error(`Parquet has no column ${name}`)
    return column
  })
}

function begin(start: ParquetStart): OpenFile {
  const columns = parquetColumns(start.buoy, start.columns)
  const pieces: Uint8Array[] = []
  const file = new ParquetFile(columns, start.metadata, CREATED_BY, (bytes) => pieces.push(bytes.slice()))
  return { start, columns, file, pieces }
}

/** Bytes in a buffer of their own, which can be handed over. */
function write(
  { start, columns, file, pieces }: OpenFile,
  parts: readonly ParquetRun[],
  isLast: boolean,
): Uint8Array<ArrayBuffer> {
  const runs = parts.map((part): Run => {
    const rows = part.isBackwards ? backwards(part.rows) : part.rows
    return { buoy: start.buoy, rows, from: 0, to: rows.time.length }
  })
  const count = runs.reduce((sum, { to }) => sum + to, 0)
  if (count > 0) file.group(columns.map((column) => column.values(runs, count)))
  if (isLast) file.finish()
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces.splice(0)) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

function backwards({ time, measures }: ParquetRun['rows']): ParquetRun['rows'] {
  const parts = Object.entries(measures).map(([name, { codes, mask }]) => {
    return [name, { codes: mask === 0 ? codes : codes.slice().reverse(), mask }]
  })
  return {
    time: time.slice().reverse(),
    measures: Object.fromEntries(parts) as ParquetRun['rows']['measures'],
  }
}

function handle(message: ToParquet): void {
  const { type, file } = message
  if (type === 'begin') files.set(file, begin(message.start))
  else if (type === 'drop') files.delete(file)
  else {
    const open = files.get(file)
    // The file has failed, or its client has gone.
    if (open === undefined) return
    const bytes = write(open, message.runs, message.isLast)
    if (message.isLast) files.delete(file)
    main.postMessage({ file, bytes } satisfies FromParquet, [bytes.buffer])
  }
}

main.on('message', (message: ToParquet) => {
  try {
    handle(message)
  } catch (error) {
    files.delete(message.file)
    main.postMessage({ file: message.file, fault: error as Error } satisfies FromParquet)
  }
})
