/** Readings as columns, under their names on the wire (contract, "Reading"). */
import { MEASURES, type MeasureName } from '../sea/columns.ts'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { extraMeasures, WIRE_NAMES } from '../dataset/wire-measures.ts'
import { compassIndex, compassPoint } from '../dataset/number-text.ts'
import { READING_ID_FACTOR } from '../dataset/reading-json.ts'
import { waveEnergy } from '../dataset/energy.ts'
import type { CodeColumn, Column } from './answer-table.ts'

const UUID_MIDDLE = new Literal('-8000-8000-')
const METRE = new Literal('m')
const UUID_BYTES = 36
const COMPASS_BYTES = 8
const CIRCLE = 36000
/** Compass points by `compassIndex`: a full turn is north again. */
const COMPASS = Array.from({ length: 17 }, (_, index) => new Literal(compassPoint((index * 2250) % CIRCLE)))

/** The rows that columns of readings read: of one month, of one buoy. */
export interface ReadingCursor {
  id: number
  month: MonthRows
}

/** A measured column as it is kept. */
function measureColumn(cursor: ReadingCursor, name: string, measure: MeasureName): CodeColumn {
  const { unit, scale, signed } = MEASURES[measure]
  // A month serves hundreds of rows, and looking a measure up by its name takes as long as writing it.
  let seen: MonthRows | null = null
  let column: MeasureColumn = { codes: new Uint16Array(0), mask: 0 }
  return {
    kind: 'code',
    name,
    unit,
    scale: scale as CodeColumn['scale'],
    signed,
    code(row) {
      if (cursor.month !== seen) {
        seen = cursor.month
        column = seen.measures[measure]
      }
      return column.codes[row & column.mask]
    },
  }
}

const timeColumn = (cursor: ReadingCursor): Column => ({
  kind: 'time',
  name: 'time',
  unit: 'UTC',
  epoch: (row) => cursor.month.time[row],
})

const uuidColumn = (cursor: ReadingCursor): Column => ({
  kind: 'word',
  name: 'uuid',
  unit: '',
  width: UUID_BYTES,
  write(writer: JsonWriter, row: number) {
    writer.twelveHex(cursor.month.time[row], true)
    writer.literal(UUID_MIDDLE)
    writer.twelveHex(cursor.id, false)
  },
})

const UNIT: Column = {
  kind: 'word',
  name: 'unit',
  unit: '',
  width: 1,
  write: (writer) => writer.literal(METRE),
}

/** What `include` adds to a reading, behind its other members. */
function extraColumns(cursor: ReadingCursor, included: number | undefined): Column[] {
  return extraMeasures(included).map((name) => measureColumn(cursor, WIRE_NAMES[name], name))
}

/** The full Reading; rows are those of the cursor's month. */
export function readingColumns(cursor: ReadingCursor, included?: number): Column[] {
  return [
    {
      kind: 'integer',
      name: 'id',
      unit: '',
      value: (row) => cursor.id * READING_ID_FACTOR + cursor.month.time[row],
    },
    uuidColumn(cursor),
    measureColumn(cursor, 'significient_height', 'significantHeight'),
    measureColumn(cursor, 'maximum_height', 'maximumHeight'),
    measureColumn(cursor, 'period', 'period'),
    timeColumn(cursor),
    measureColumn(cursor, 'water_temperature', 'waterTemperature'),
    measureColumn(cursor, 'direction', 'direction'),
    {
      kind: 'word',
      name: 'direction_compass',
      unit: '',
      width: COMPASS_BYTES,
      write(writer, row) {
        const { codes, mask } = cursor.month.measures.direction
        const point = compassIndex(codes[row & mask])
        if (point < COMPASS.length) writer.literal(COMPASS[point])
      },
    },
    UNIT,
    {
      kind: 'integer',
      name: 'energy_per_wave',
      unit: 'kJ/m',
      value(row) {
        const { significantHeight, period } = cursor.month.measures
        const seconds = period.codes[row & period.mask]
        if (seconds === MEASURES.period.missing) return NaN
        const metres = significantHeight.codes[row & significantHeight.mask]
        return waveEnergy(metres / MEASURES.significantHeight.scale, seconds / MEASURES.period.scale) ?? NaN
      },
    },
    ...extraColumns(cursor, included),
  ]
}

/** The subset of a Reading that is embedded in buoy lists and details. */
export function readingSubsetColumns(cursor: ReadingCursor, included?: number): Column[] {
  return [
    uuidColumn(cursor),
    measureColumn(cursor, 'significient_height', 'significantHeight'),
    measureColumn(cursor, 'maximum_height', 'maximumHeight'),
    measureColumn(cursor, 'period', 'period'),
    timeColumn(cursor),
    measureColumn(cursor, 'water_temperature', 'waterTemperature'),
    measureColumn(cursor, 'direction', 'direction'),
    UNIT,
    ...extraColumns(cursor, included),
  ]
}
