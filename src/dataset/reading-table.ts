/** Readings as columns, under their names on the wire. */
import { type MeasureName, MEASURES } from '../sea/columns.ts'
import type { MeasureColumn, MonthRows, Segments } from '../index/segments.ts'
import { Literal } from './literals.ts'
import { extraMeasures, READING_ID_FACTOR, waveEnergy, WIRE_NAMES } from './reading-json.ts'
import { compassIndex, compassPoint } from './number-text.ts'
import { type CodeColumn, type Column, integer, type Run, type Table, time, word } from './table.ts'

const UUID_MIDDLE = new Literal('-8000-8000-')
const METRE = new Literal('m')
const UUID_BYTES = 36
const COMPASS_BYTES = 8
const CIRCLE = 36000
/** Compass points by `compassIndex`: a full turn is north again. */
const COMPASS = Array.from({ length: 17 }, (_, index) => new Literal(compassPoint((index * 2250) % CIRCLE)))

export interface ReadingCursor {
  id: number
  month: MonthRows
}

export function measureColumn(cursor: ReadingCursor, measure: MeasureName): CodeColumn {
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
    value(row) {
      if (cursor.month !== seen) {
        seen = cursor.month
        column = seen.measures[measure]
      }
      return column.codes[row & column.mask]
    },
  }
}

export const idColumn = (cursor: ReadingCursor): Column => {
  const id = integer('id', (row) => cursor.id * READING_ID_FACTOR + cursor.month.time[row])
  return { ...id, isLong: true }
}

export const timeColumn = (cursor: ReadingCursor): Column => time('time', (row) => cursor.month.time[row])

const uuidColumn = (cursor: ReadingCursor): Column =>
  word('uuid', UUID_BYTES, (writer, row) => {
    writer.twelveHex(0, cursor.month.time[row], true)
    writer.literal(UUID_MIDDLE)
    writer.twelveHex(0, cursor.id)
  })

const UNIT = word('unit', 1, (writer) => writer.literal(METRE))

function measuredColumns(cursor: ReadingCursor): Column[] {
  return [
    measureColumn(cursor, 'significantHeight'),
    measureColumn(cursor, 'maximumHeight'),
    measureColumn(cursor, 'period'),
    timeColumn(cursor),
    measureColumn(cursor, 'waterTemperature'),
    measureColumn(cursor, 'direction'),
  ]
}

function extraColumns(cursor: ReadingCursor, included: number | undefined): Column[] {
  return extraMeasures(included).map((measure) => measureColumn(cursor, measure))
}

/** The full Reading; rows are of the cursor's month. */
export function readingColumns(cursor: ReadingCursor, included?: number): Column[] {
  return [
    idColumn(cursor),
    uuidColumn(cursor),
    ...measuredColumns(cursor),
    word('direction_compass', COMPASS_BYTES, (writer, row) => {
      const { codes, mask } = cursor.month.measures.direction
      const point = compassIndex(codes[row & mask])
      if (point < COMPASS.length) writer.literal(COMPASS[point])
    }),
    UNIT,
    integer(
      'energy_per_wave',
      (row) => {
        const { significantHeight, period } = cursor.month.measures
        const seconds = period.codes[row & period.mask]
        if (seconds === MEASURES.period.missing) return NaN
        const metres = significantHeight.codes[row & significantHeight.mask]
        return waveEnergy(metres / MEASURES.significantHeight.scale, seconds / MEASURES.period.scale) ?? NaN
      },
      'kJ/m',
    ),
    ...extraColumns(cursor, included),
  ]
}

/** The subset of a Reading in buoy lists and details. */
export function readingSubsetColumns(cursor: ReadingCursor, included?: number): Column[] {
  return [uuidColumn(cursor), ...measuredColumns(cursor), UNIT, ...extraColumns(cursor, included)]
}

/**
 * `count` rows from `position` on, forwards or backwards in time, month by month; `turnTo` the month makes
 * its cells ready.
 */
export function monthRuns(
  readings: Segments,
  ordinal: number,
  position: number,
  count: number,
  ascending: boolean,
  turnTo: (month: MonthRows) => void,
): Table['runs'] {
  const step = ascending ? 1 : -1
  const runs: (() => Run)[] = []
  for (let at = position, left = count; left > 0;) {
    const segment = readings.segmentOf(ordinal, at)
    const from = readings.from[segment]
    const row = from + at - readings.before[segment]
    const inSegment = Math.min(left, ascending ? readings.to[segment] - row : row - from + 1)
    const month = readings.months[readings.month[segment]]
    runs.push(() => {
      turnTo(month)
      return { from: row, step, count: inSegment }
    })
    left -= inSegment
    at += step * inSegment
  }
  return runs
}
