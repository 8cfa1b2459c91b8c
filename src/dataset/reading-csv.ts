/** Readings as lines of CSV. The code is flat because histories have hundreds of thousands of rows. */
import { MEASURES, MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import { LAST_SECOND } from '../sea/time.ts'
import type { JsonWriter } from './json-writer.ts'
import { Literal, ShortTexts, wordsOf } from './literals.ts'
import {
  compassIndex,
  compassPoint,
  FOUR_DIGITS,
  fourHex,
  HUNDREDTHS,
  SHORT_INTEGERS,
  SIGNED_HUNDREDTHS,
  THOUSANDTHS,
  writeTime,
} from './number-text.ts'
import { READING_ID_FACTOR, roundedEnergy } from './reading-json.ts'
import type { ReadingRun } from './reading-table.ts'
import type { BulkWriter } from './table.ts'

/** Bytes: more than a line without its beginning and end takes. */
const LINE_BYTES = 160
const COMMA = 0x2c
const DASH = 0x2d
const CIRCLE = 36000
/** Compass points by `compassIndex`, each with its comma; the missing code falls on the last. */
const COMPASS = ShortTexts.make(30, (index) => (index > 16 ? '' : compassPoint((index * 2250) % CIRCLE)))
const [METRE] = wordsOf('m,')
const NO_TEMPERATURE = MISSING_I16 & 0xffff

/** Readings of the buoy `id`. Each line ends with `common`, the CSV that all of them share. */
export function csvReadings(id: number, common: string): BulkWriter {
  if (id * READING_ID_FACTOR + LAST_SECOND > Number.MAX_SAFE_INTEGER) throw new RangeError('id out of range')
  const start = new Literal(String(id))
  // The end takes exactly three words.
  const uuidEnd = wordsOf(`-8000-8000-${id.toString(16).padStart(12, '0')},`)
  const end = new Literal(`,${common}\r\n`)
  return {
    rowBytes: LINE_BYTES + start.length + end.length,
    write: (writer, run: ReadingRun) => writeLines(writer, run, { start, uuidEnd, end }),
  }
}

interface Frame {
  readonly start: Literal
  readonly uuidEnd: Float64Array
  readonly end: Literal
}

function writeLines(
  out: JsonWriter,
  { month: { time: times, measures }, from: first, step, count }: ReadingRun,
  { start, uuidEnd, end }: Frame,
): void {
  const { significantHeight, maximumHeight, period, waterTemperature, direction } = measures
  const [heights, heightMask] = [significantHeight.codes, significantHeight.mask]
  const [maximums, maximumMask] = [maximumHeight.codes, maximumHeight.mask]
  const [periods, periodMask] = [period.codes, period.mask]
  const [temperatures, temperatureMask] = [waterTemperature.codes, waterTemperature.mask]
  const [directions, directionMask] = [direction.codes, direction.mask]
  const [thousandths, thousandthsLength] = [THOUSANDTHS.words, THOUSANDTHS.lengths]
  const [start1, start2] = [start.words[0], start.words.length > 1 ? start.words[1] : 0]
  const startLength = start.length
  const [uuid1, uuid2, uuid3] = uuidEnd
  const view = out.view
  let at = out.at
  for (let i = 0, row = first; i < count; i++, row += step) {
    const time = times[row]
    view.setFloat64(at, start1, true)
    view.setFloat64(at + 8, start2, true)
    at += startLength
    const upper = (time / 1e4) >>> 0
    const top = (upper / 1e4) >>> 0
    view.setUint16(at, FOUR_DIGITS[top] >>> 16, true)
    view.setUint32(at + 2, FOUR_DIGITS[upper - top * 1e4], true)
    view.setUint32(at + 6, FOUR_DIGITS[time - upper * 1e4], true)
    view.setUint8(at + 10, COMMA)
    // The times before 2106 have 32 bits: the first four of twelve hexadecimal digits are 0.
    view.setUint32(at + 11, fourHex(0), true)
    view.setUint32(at + 15, fourHex(time >>> 16), true)
    view.setUint8(at + 19, DASH)
    view.setUint32(at + 20, fourHex(time & 0xffff), true)
    view.setFloat64(at + 24, uuid1, true)
    view.setFloat64(at + 32, uuid2, true)
    view.setFloat64(at + 40, uuid3, true)
    at += 48
    // Entries end with their comma.
    const height = heights[row & heightMask]
    view.setFloat64(at, thousandths[height], true)
    at += thousandthsLength[height] + 1
    const maximum = maximums[row & maximumMask]
    if (maximum === MISSING_U16) view.setUint8(at++, COMMA)
    else {
      view.setFloat64(at, thousandths[maximum], true)
      at += thousandthsLength[maximum] + 1
    }
    const periodCode = periods[row & periodMask]
    if (periodCode === MISSING_U16) view.setUint8(at++, COMMA)
    else {
      view.setFloat64(at, thousandths[periodCode], true)
      at += thousandthsLength[periodCode] + 1
    }
    writeTime(view, at, time)
    view.setUint8(at + 20, COMMA)
    at += 21
    const temperature = temperatures[row & temperatureMask] & 0xffff
    if (temperature === NO_TEMPERATURE) view.setUint8(at++, COMMA)
    else {
      view.setFloat64(at, SIGNED_HUNDREDTHS.words[temperature], true)
      at += SIGNED_HUNDREDTHS.lengths[temperature] + 1
    }
    const from = directions[row & directionMask]
    if (from === MISSING_U16) view.setUint8(at++, COMMA)
    else {
      view.setFloat64(at, HUNDREDTHS.words[from], true)
      at += HUNDREDTHS.lengths[from] + 1
    }
    const point = compassIndex(from)
    view.setFloat64(at, COMPASS.words[point], true)
    at += COMPASS.lengths[point] + 1
    view.setFloat64(at, METRE, true)
    at += 2
    if (height !== 0 && periodCode !== 0 && periodCode !== MEASURES.period.missing) {
      let energy = roundedEnergy(height / 1000, periodCode / 1000)
      if (energy >= 1e4) {
        const tenThousands = (energy / 1e4) >>> 0
        view.setUint32(at, SHORT_INTEGERS.words[tenThousands], true)
        at += SHORT_INTEGERS.lengths[tenThousands]
        energy -= tenThousands * 1e4
        view.setUint32(at, FOUR_DIGITS[energy], true)
        at += 4
      } else {
        view.setUint32(at, SHORT_INTEGERS.words[energy], true)
        at += SHORT_INTEGERS.lengths[energy]
      }
    }
    const { words, length } = end
    for (let word = 0; word < words.length; word++) view.setFloat64(at + word * 8, words[word], true)
    at += length
  }
  out.at = at
}
