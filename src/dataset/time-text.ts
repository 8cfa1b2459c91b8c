/** Dates and times as text, a few digits a store. */
import { wordsOf } from './literals.ts'
import { FOUR_DIGITS } from './number-text.ts'
import { civilFromDays, DAY, MINUTE } from '../sea/time.ts'

const Z = 0x5a
/** `-` before and behind two digits. */
const DASHES = 0x2d00002d
const MINUTES_A_DAY = DAY / MINUTE
/** `T09:30:0` of each minute of a day. */
const MINUTE_WORDS = wordsOf(
  Array.from({ length: MINUTES_A_DAY }, (_, minute) => `T${clockText(minute)}:0`).join(''),
)

/** The day that was written last: most times of an answer are of a few days. */
let knownDay = -1
/** `2026-03-` of it in eight bytes, and in two halves. */
const yearAndMonth = new Float64Array(1)
const yearAndMonthHalves = new Uint32Array(yearAndMonth.buffer)
let dayWord = 0

function know(day: number): void {
  const { year, month, day: dayOfMonth } = civilFromDays(day)
  knownDay = day
  yearAndMonthHalves[0] = FOUR_DIGITS[year]
  yearAndMonthHalves[1] = DASHES | (twoDigits(month) << 8)
  dayWord = twoDigits(dayOfMonth)
}

function twoDigits(value: number): number {
  return FOUR_DIGITS[value] >>> 16
}

/** `2026-03-27T09:00:00Z`, 20 bytes, of whole epoch seconds from 0 to 2^32 − 1. */
export function writeTime(view: DataView, at: number, epoch: number): void {
  const minutes = (epoch / MINUTE) >>> 0
  const day = (minutes / MINUTES_A_DAY) >>> 0
  if (day !== knownDay) know(day)
  view.setFloat64(at, yearAndMonth[0], true)
  view.setUint16(at + 8, dayWord, true)
  view.setFloat64(at + 10, MINUTE_WORDS[minutes - day * MINUTES_A_DAY], true)
  view.setUint16(at + 17, twoDigits(epoch - minutes * MINUTE), true)
  view.setUint8(at + 19, Z)
}

function clockText(minutes: number): string {
  const text = (value: number): string => String(value).padStart(2, '0')
  return `${text(Math.floor(minutes / 60))}:${text(minutes % 60)}`
}

const COLON = 0x3a
export const CLOCK_BYTES = 5

/** `05:00` of a whole number of minutes below 6,000. */
export function writeClock(view: DataView, at: number, minutes: number): void {
  const hours = (minutes / 60) >>> 0
  view.setUint16(at, twoDigits(hours), true)
  view.setUint8(at + 2, COLON)
  view.setUint16(at + 3, twoDigits(minutes - hours * 60), true)
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** `Mar ` in 32 bits. */
const MONTH_WORDS = MONTHS.map((month) => Buffer.from(`${month} `).readUInt32LE())
export const DAY_LABEL_BYTES = 6

/** The day that was labelled last: a day has the labels of its hours. */
let labelledDay = NaN
let monthWord = 0
let labelWord = 0

/** `Mar 27` of a day since 1970. */
export function writeDayLabel(view: DataView, at: number, day: number): void {
  if (day !== labelledDay) {
    const { month, day: dayOfMonth } = civilFromDays(day)
    labelledDay = day
    monthWord = MONTH_WORDS[month - 1]
    labelWord = twoDigits(dayOfMonth)
  }
  view.setUint32(at, monthWord, true)
  view.setUint16(at + 4, labelWord, true)
}
