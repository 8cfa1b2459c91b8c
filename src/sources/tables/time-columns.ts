/** Finds a table's columns of times, their clock and their format. Nothing of their cells is left over. */
import { fieldOf, type HeaderCell, namesTime, readHeaderCell } from '../reading/header.ts'
import { formatOf, leadOf, rankOfRole } from '../reading/known-names.ts'
import { formatsOf } from '../reading/time-formats.ts'
import { leadSeconds, namesZone, type TimeReader, timeReader, timeUnit } from '../reading/times.ts'
import type { OpenTable } from '../reading/text-table.ts'
import { numberOf } from '../reading/units.ts'
import type { At, Clock, MappedTable } from './column-map.ts'
import type { Columns, Question } from './questions.ts'
import type { Sample } from './sample.ts'

export interface Times {
  readonly fields: readonly number[]
  readonly unit: string
  readonly reader: () => TimeReader
  /** Whether each station needs a reader of its own. */
  readonly isOfStation: boolean
}

/** The cells of several columns as one text. */
export const textOf = (table: OpenTable, fields: readonly number[]): string =>
  fields.length === 1 ? table.text(fields[0]) : fields.map((field) => table.text(field)).join(' ')

/**
 * The columns of the time: those of the map, else date and clock, or their parts, else one column. Times in
 * UTC come before others, and those of a local clock last.
 */
export function timeFields(
  cells: readonly HeaderCell[],
  at: At | readonly At[] | undefined,
  columnOf: (at: At) => number,
  isOfPeople: boolean,
): readonly number[] {
  if (at !== undefined) return [at].flat().map((one) => columnOf(one))
  const fieldIn = (role: Parameters<typeof fieldOf>[0]): number => fieldOf(role, cells)
  const [date, clock] = [fieldIn('date'), fieldIn('clock')]
  const isTime = cells[clock]?.roleWord.toLowerCase() === 'time'
  const plain = [isTime ? clock : fieldIn('time'), date, clock].find((field) => field >= 0)
  if (!isOfPeople) return [plain ?? -1]
  const [year, day] = [fieldIn('year'), fieldIn('day')]
  const middle = (year + day) / 2
  // Between year and day "mm" is the month.
  const isMonth = Math.abs(year - day) === 2 && cells[middle].roleWord === 'mm'
  const parts = [year, isMonth ? middle : fieldIn('month'), day]
  const whole = parts.every((field) => field >= 0) ? parts : []
  const others = cells.map((cell, i) => (whole.includes(i) ? readHeaderCell('') : cell))
  const finer = (['minute', 'second'] as const)
    .map((role) => fieldOf(role, others))
    .filter((field) => field >= 0)
  const days = date >= 0 ? [date] : whole
  const split = days.length > 0 && clock >= 0 && !days.includes(clock) ? [[...days, clock, ...finer]] : []
  const moments = cells.flatMap(({ roles, unknown }, i) =>
    roles.includes('time') && unknown.length === 0 ? [i] : [],
  )
  moments.sort((a, b) => rankOfRole('time', cells[a].roleWord) - rankOfRole('time', cells[b].roleWord))
  const found = [...split, ...moments.map((field) => [field]), ...(plain === undefined ? [] : [[plain]])]
  const rank = (fields: readonly number[]): number => {
    const times = fields.map((field) => cells[field])
    if (times.some(({ lead }) => lead === '+00:00')) return 0
    const isLocal = times.some(
      ({ qualifiers, roleWord }) => qualifiers.has('local') || roleWord === 'localtime',
    )
    return isLocal ? 2 : 1
  }
  return found.toSorted((a, b) => rank(a) - rank(b))[0] ?? [-1]
}

/** The times of a table, or their fault in words. */
export function timesOf(
  named: readonly number[],
  { table, map, cells, sample, ask }: Columns & { table: OpenTable; map: MappedTable },
): Times | string {
  const { labels, written, units } = table
  const { at, unit: given } = map.time ?? {}
  // Programs such as pandas write no name over their index of times.
  const isIndex =
    at === undefined && named[0] < 0 && labels[0] === '' && formatsOf(sample?.texts(0) ?? []).length > 0
  const fields = isIndex ? [0] : named
  const [first] = fields
  const column = labels[first] ?? ''
  const unclear = (about: Question['about'], why: string, can: readonly string[] = []): string => {
    ask({ about, column, why, can })
    return why
  }
  if (first < 0 && at === undefined && labels.some(isPlain))
    return unclear('time', 'no line names the columns: say "header": false, and number the columns from 1')
  const half = cells.find((cell) => namesTime(cell) && cell.unknown.length > 0)
  if (first < 0 && at === undefined && half !== undefined)
    return unclear(
      'time',
      `what ${half.unknown.join(', ')} means in "${half.text}" is not known: name the time in "time"`,
    )
  if (first < 0)
    return at === undefined
      ? unclear(
          'time',
          `no column is the time: one of ${labels.join(', ')} must be called time, or named in "time"`,
        )
      : `the header lacks ${JSON.stringify(at)}, the time; it has ${labels.join(', ')}`
  const own = sample === null || written[first] === column ? (units[first] ?? '') : cells[first].unit
  let unit = given ?? own
  let wall: Clock = map.clock
  if (sample !== null) {
    const texts = sample
      .texts(first)
      .map((_, row) => fields.map((field) => sample.texts(field)[row]).join(' '))
    if (given === undefined && timeUnit(own) === null) {
      const order = fields.map((field) => cells[field]?.order ?? '').join('')
      const isCount = /epoch|unix/i.test(cells[first]?.text ?? '') || /^m?s$/.test(own)
      const formats = formatsOf(texts, sample.inOrder, { order, isCount })
      if (texts.length > 0 && formats.length !== 1)
        return unclear('timeFormat', unknownFormat(column, formats, texts), formats)
      unit = formats[0] ?? 'ISO'
      const finer = at === undefined ? finerThan(unit, fields, cells, sample) : -1
      if (finer >= 0)
        return unclear(
          'time',
          `"${labels[finer]}" (${sample.texts(finer)[0]}) seems to be a part of the time, which is read from ` +
            `"${fields.map((field) => labels[field]).join('", "')}" alone: name both in "time", or this one`,
        )
    }
    const leads = leadsOf(fields, cells, table, sample)
    if (wall === null && leads.length > 1)
      return unclear(
        'zone',
        `the times of "${column}" name two zones (${leads.join(', ')}): say "offset" in "time"`,
      )
    wall ??= leads.length === 0 ? null : leadSeconds(leads[0])
    const isTold = timeUnit(unit) !== null || texts.every((text) => namesZone(text, unit) !== false)
    if (wall === null && !isTold)
      return unclear(
        'zone',
        `the times of "${column}" name no zone: say "offset" ("+00:00" for UTC) or "zone" in "time"`,
      )
  }
  const moments = wall ?? 0
  if (timeReader(unit, moments) === null) return 'the column time is in an unknown unit'
  return { fields, unit, reader: () => timeReader(unit, moments)!, isOfStation: typeof moments !== 'number' }
}

/** The leads over UTC of the names of times, the line of units, a known format and a column of zones. */
function leadsOf(
  fields: readonly number[],
  cells: readonly HeaderCell[],
  { units, labels }: OpenTable,
  sample: Sample,
): string[] {
  const named = fields.flatMap((field) => [
    cells[field]?.lead ?? '',
    readHeaderCell(`(${units[field] ?? ''})`).lead ?? '',
  ])
  const leads = [...new Set(named.filter((lead) => lead !== ''))]
  if (leads.length === 0 && formatOf(labels) !== null) return ['+00:00']
  const zone = fieldOf('zone', cells)
  if (leads.length > 0 || zone < 0) return leads
  const zones = [...new Set(sample.texts(zone))]
  const lead = leadOf((zones[0] ?? '').replace(/^([+-])?(?=\d)/, (sign) => `UTC${sign || '+'}`))
  return zones.length === 1 && lead !== null ? [lead] : []
}

/** The column that seems to hold a finer part of the time than the format; −1 for none. */
function finerThan(
  unit: string,
  fields: readonly number[],
  cells: readonly HeaderCell[],
  sample: Sample,
): number {
  if (unit === 'ISO' || timeUnit(unit) !== null || unit.includes('mm')) return -1
  return cells.findIndex(({ unknown, meaning, can }, field) => {
    if (fields.includes(field) || unknown.length === 0 || meaning !== null || can.length > 0) return false
    const texts = sample.texts(field).filter((text) => text !== '')
    const isClock = texts.every(
      (text) => /^\d{1,2}[:.h]\d{2}([:.]\d{2})?( ?[ap]m)?$/i.test(text) && !isPlain(text),
    )
    const isPart = texts.every((text) => /^[0-5]?\d$/.test(text)) && texts.some((text) => Number(text) >= 10)
    return texts.length > 0 && (isClock || isPart)
  })
}

const isPlain = (text: string): boolean => text !== '' && numberOf(text) !== null

function unknownFormat(label: string, formats: readonly string[], texts: readonly string[]): string {
  const [example, last] = [texts[0], texts.at(-1)!].map((text) => JSON.stringify(text.slice(0, 40)))
  return formats.length === 0
    ? `the times of "${label}" are in no one format (${example} … ${last}): say it in "time", such as "unit": "DD/MM/YYYY HH:mm"`
    : `the times of "${label}" (${example}) can be ${formats.join(' or ')}: say which in "time" with "unit"`
}
