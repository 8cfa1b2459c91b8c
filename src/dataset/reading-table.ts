/** Readings as columns, under their names on the wire. */
import { type MeasureName, MEASURES } from '../sea/columns.ts'
import type { MeasureColumn, MonthRows, MonthRun } from '../index/segments.ts'
import { Literal } from './literals.ts'
import { extraMeasures, READING_ID_FACTOR, waveEnergy, WIRE_NAMES } from './reading-json.ts'
import { compassIndex, compassPoint } from './number-text.ts'
import { type CodeColumn, type Column, integer, time, word } from './table.ts'

const UUID_MIDDLE = new Literal('-8000-8000-')
const METRE = new Literal('m')
const UUID_BYTES = 36
const COMPASS_BYTES = 8
const CIRCLE = 36000
/** Compass points by `compassIndex`: a full turn is north again. */
const COMPASS = Array.from({ length: 17 }, (_, index) => new Literal(compassPoint((index * 2250) % CIRCLE)))

/** A run that columns of readings read: rows of the buoy with this id. */
export interface ReadingRun extends MonthRun {
  readonly id: number
}

export function measureColumn(measure: MeasureName): CodeColumn {
  const { unit, scale, signed } = MEASURES[measure]
  // A month serves hundreds of rows, and looking a measure up by its name takes as long as writing it.
  let seen: MonthRows | null = null
  let column: MeasureColumn = { codes: new Uint16Array(0), mask: 0 }
  return {
    kind: 'code',
    name: WIRE_NAMES[measure],
    unit,
    scale: scale as CodeColumn['scale'],
    signed,
    value(row, { month }: ReadingRun) {
      if (month !== seen) {
        seen = month
        column = seen.measures[measure]
      }
      return column.codes[row & column.mask]
    },
  }
}

export const ID: Column = {
  ...integer('id', (row, { id, month }: ReadingRun) => id * READING_ID_FACTOR + month.time[row]),
  isLong: true,
}

export const TIME: Column = time('time', (row, { month }: ReadingRun) => month.time[row])

const UUID = word('uuid', UUID_BYTES, (writer, row, { id, month }: ReadingRun) => {
  writer.twelveHex(0, month.time[row], true)
  writer.literal(UUID_MIDDLE)
  writer.twelveHex(0, id)
})

const UNIT = word('unit', 1, (writer) => writer.literal(METRE))

const COMPASS_POINT = word('direction_compass', COMPASS_BYTES, (writer, row, { month }: ReadingRun) => {
  const { codes, mask } = month.measures.direction
  const point = compassIndex(codes[row & mask])
  if (point < COMPASS.length) writer.literal(COMPASS[point])
})

const ENERGY = integer(
  'energy_per_wave',
  (row, { month }: ReadingRun) => {
    const { significantHeight, period } = month.measures
    const seconds = period.codes[row & period.mask]
    if (seconds === MEASURES.period.missing) return NaN
    const metres = significantHeight.codes[row & significantHeight.mask]
    return waveEnergy(metres / MEASURES.significantHeight.scale, seconds / MEASURES.period.scale) ?? NaN
  },
  'kJ/m',
)

const measuredColumns = (): Column[] => [
  measureColumn('significantHeight'),
  measureColumn('maximumHeight'),
  measureColumn('period'),
  TIME,
  measureColumn('waterTemperature'),
  measureColumn('direction'),
]

/** The full Reading. */
export function readingColumns(included?: number): Column[] {
  const extras = extraMeasures(included).map(measureColumn)
  return [ID, UUID, ...measuredColumns(), COMPASS_POINT, UNIT, ENERGY, ...extras]
}

/** The subset of a Reading in buoy lists and details. */
export function readingSubsetColumns(included?: number): Column[] {
  return [UUID, ...measuredColumns(), UNIT, ...extraMeasures(included).map(measureColumn)]
}
