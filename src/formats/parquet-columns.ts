/**
 * Columns of readings in Parquet under their names on the wire: those that are kept, and what follows from
 * them.
 */
import { compassPoint } from '../answers/number-text.ts'
import { waveEnergy } from '../answers/energy.ts'
import type { ReadingsBuoy } from '../answers/table.ts'
import {
  integerElement,
  perBuoy,
  READING_COLUMNS,
  textElement,
  type ReadingColumn,
  type Run,
  type Values,
} from '../parquet/columns.ts'
import { MEASURES } from '../sea/columns.ts'

const DEGREE = 'degree'
const UUID_MIDDLE = '-8000-8000-'
/** Of a buoy's id. */
const HEX_DIGITS = 12
/** Where the digits of the time stand that are not always 0. */
const TIME_DIGITS_AT = [4, 5, 6, 7, 9, 10, 11, 12]
const HEX = Buffer.from('0123456789abcdef')

/** One value for each row, which `valueOf` reads. */
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

/** As the bytes of texts, all in one buffer: making and encoding texts took as long as all other columns. */
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
      // No two are the same: looking for a dictionary is in vain.
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

/** The columns of these names, in this order. */
export function parquetColumns(buoy: ReadingsBuoy, names: readonly string[]): ReadingColumn[] {
  const columns = new Map(columnsOf(buoy).map((column) => [column.name, column]))
  return names.map((name) => {
    const column = columns.get(name)
    if (column === undefined) throw new Error(`Parquet has no column ${name}`)
    return column
  })
}
