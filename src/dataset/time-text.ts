/** Dates and times as text, a few digits a store. */
import { FOUR_DIGITS } from './number-text.ts'
import { civilFromDays, DAY, MINUTE } from '../sea/time.ts'

const COLON = 0x3a
const Z = 0x5a
/** `-` before and behind two digits, and `T` before and `:` behind them. */
const DASHES = 0x2d00002d
const HOUR_FRAME = 0x3a000054

/** The day that was written last: most times of an answer are of a few days. */
let knownDay = -1
let yearWord = 0
let monthWord = 0
let dayWord = 0

function know(day: number): void {
  const { year, month, day: dayOfMonth } = civilFromDays(day)
  knownDay = day
  yearWord = FOUR_DIGITS[year]
  monthWord = DASHES | (twoDigits(month) << 8)
  dayWord = twoDigits(dayOfMonth)
}

function twoDigits(value: number): number {
  return FOUR_DIGITS[value] >>> 16
}

/** `2026-03-27T09:00:00Z`, 20 bytes, of whole epoch seconds from 0 to 2^32 − 1. */
export function writeTime(view: DataView, at: number, epoch: number): void {
  const day = (epoch / DAY) >>> 0
  if (day !== knownDay) know(day)
  const second = epoch - day * DAY
  const minute = (second / MINUTE) >>> 0
  const hour = (minute / 60) >>> 0
  view.setUint32(at, yearWord, true)
  view.setUint32(at + 4, monthWord, true)
  view.setUint16(at + 8, dayWord, true)
  view.setUint32(at + 10, HOUR_FRAME | (twoDigits(hour) << 8), true)
  view.setUint16(at + 14, twoDigits(minute - hour * 60), true)
  view.setUint8(at + 16, COLON)
  view.setUint16(at + 17, twoDigits(second - minute * MINUTE), true)
  view.setUint8(at + 19, Z)
}

/** `05:00` of a number of minutes. */
export function clockText(minutes: number): string {
  const text = (value: number): string => String(value).padStart(2, '0')
  return `${text(Math.floor(minutes / 60))}:${text(minutes % 60)}`
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `Mar 27` of a day since 1970. */
export function dayLabel(day: number): string {
  const { month, day: dayOfMonth } = civilFromDays(day)
  return `${MONTHS[month - 1]} ${String(dayOfMonth).padStart(2, '0')}`
}
