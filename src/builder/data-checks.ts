/**
 * Checks whether data make sense, whatever their headers say: a column that was taken for another, a wrong
 * unit, days and months in the wrong order or a turned direction shows in the values. `CHECKS` is the whole
 * list. A check only reports: values stay as they are.
 */
import { COMMON_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { haversineKm } from '../sea/geo.ts'
import { RowBatch } from '../sea/row-batch.ts'
import { civilFromDays, DAY, daysFromCivil, daysInMonth, HOUR, monthOf, monthText } from '../sea/time.ts'
import type { BuoyRecord } from '../sea/records.ts'
import type { Doubt } from '../sources/doubts.ts'

/** Rows that are kept of each buoy: its first ones, one after the other, and some of all others. */
const FIRST_ROWS = 512
const MOST_ROWS = 1536
/** Rows that are kept of all buoys of a source, some 35 bytes each; beyond, a buoy has only a few. */
export const MOST_SAMPLED = 2 ** 20
const FEW_OF_MANY = 64

/** The rows of one buoy that its checks look at, in the order of its files. */
export class Sample {
  readonly rows = new RowBatch(64)
  /** Of the rows after the first ones, one in 2 to this power is kept. */
  #power = 0

  /** Notes rows before anything is taken out of them. @param room rows that all buoys may still have */
  add(batch: RowBatch, room: number): void {
    const { rows } = this
    const most = room > 0 ? MOST_ROWS : FEW_OF_MANY
    const first = Math.min(FIRST_ROWS, most / 2)
    for (let row = 0; row < batch.length; row++) {
      if (rows.length >= first && !isDrawn(batch.time[row], this.#power)) continue
      while (rows.length >= most) this.#thin(first)
      copyRow(batch, row, rows, rows.add(batch.time[row]))
    }
  }

  #thin(first: number): void {
    const { rows } = this
    this.#power++
    let kept = first
    for (let row = first; row < rows.length; row++) {
      if (!isDrawn(rows.time[row], this.#power)) continue
      rows.time[kept] = rows.time[row]
      copyRow(rows, row, rows, kept++)
    }
    rows.clear(kept)
  }
}

function copyRow(from: RowBatch, row: number, to: RowBatch, at: number): void {
  for (const name of COMMON_NAMES) to.columns[name][at] = from.columns[name][row]
}

/**
 * One time in 2 to a power, by a hash of its hour: the same times for all buoys, so that they can be
 * compared, and of all hours of the day, which an even stride would miss.
 */
function isDrawn(time: number, power: number): boolean {
  return power === 0 || Math.imul(Math.floor(time / HOUR), 0x9e37_79b1) >>> (32 - power) === 0
}

/** A buoy with its sampled rows. */
export interface SampledBuoy {
  record: Pick<BuoyRecord, 'identifier' | 'lat' | 'lng'>
  rows: RowBatch
}

interface Check extends Pick<Doubt, 'what' | 'remedy' | 'isGrave'> {
  /** Says what was seen, or null where nothing is wrong. `others` are the buoys of the same network. */
  ask(this: void, buoy: SampledBuoy, others: readonly SampledBuoy[]): string | null
}

/** Codes per metre and second; per degree, km/h and °C. */
const MILLI = 1000
const CENTI = 100
/** Fewer rows than this prove nothing about a column. */
const FEW = 50

/** Steepness 2πH/(gT²) at which every sea has broken; most seas stay below 1/15. */
const STEEPEST = 0.1
const FEW_STEEP = 20
const MOST_STEEP = 0.5
/**
 * Median of maximum over significant height. Rayleigh's law gives 1.6 to 2.0 for records of 20 to 60 minutes;
 * the bounds leave room for heights that are rounded to tenths.
 */
const LEAST_RATIO = 1.2
const MOST_RATIO = 2.2
/** Share of maxima below the significant height that faults of single rows reach. */
const FEW_BELOW = 0.02
/** Share of peak periods below the other period in seas of swell and wind sea. */
const MANY_BELOW = 0.2
const PERIODS_APART = 0.9
/** Median height of a month over that of the month before: no season changes so much, but a unit does. */
const OTHER_UNIT = 8
const FEW_OF_A_MONTH = 15
/** A whole circle in radians, and the least that a column of them reaches if waves turn at all. */
const CIRCLE = 6.29
const HALF_CIRCLE = 3.2
/** Seas and winds in which waves come from where the wind does: metres, km/h. */
const STORM_M = 1.5
const STORM_KMH = 40
const FEW_STORMS = 20
/** Degrees apart that make two directions opposite, and the share of storms in which they are. */
const OPPOSITE = 120
const NINE_IN_TEN = 0.9
const NEIGHBOUR_KM = 200
/** Share of gusts below their wind that rounding reaches. */
const FEW_GUSTS_BELOW = 0.05
/** Share of water temperatures outside their limits that faults of a sensor reach. */
const FEW_ODD_WATERS = 0.1
/** 1975, epoch seconds. */
const FIRST_BUOYS = 157_766_400
/**
 * Water temperatures in °C that nobody measures at sea, up to a latitude, in the warm and the cold half of
 * the year. They are coarse: enclosed seas and lakes go far from the means of the ocean.
 */
const WATER_LIMITS = [
  { upTo: 20, warm: [12, 38], cold: [10, 37] },
  { upTo: 35, warm: [4, 38], cold: [0, 34] },
  { upTo: 50, warm: [-2, 35], cold: [-2.5, 27] },
  { upTo: 65, warm: [-2.5, 30], cold: [-2.5, 20] },
  { upTo: 90, warm: [-2.5, 24], cold: [-2.5, 15] },
] as const

export const CHECKS: readonly Check[] = [
  {
    what: 'most waves of a buoy are too steep for their periods',
    remedy: 'see in which units its heights and periods are',
    isGrave: true,
    ask: ({ rows }) => {
      const all = pairs(rows, 'significantHeight', 'peakPeriod', 'period')
      const isSteep = ([height, period]: Pair): boolean => {
        const seconds = period / MILLI
        return seconds > 0 && height / MILLI > (STEEPEST * 9.81 * seconds * seconds) / (2 * Math.PI)
      }
      return moreThan(MOST_STEEP, all, isSteep, FEW_STEEP)
    },
  },
  {
    what: 'the highest wave is below the significant height in many rows',
    remedy: 'see whether the two columns are exchanged, or one is of another kind of height',
    isGrave: true,
    ask: ({ rows }) =>
      moreThan(
        FEW_BELOW,
        pairs(rows, 'maximumHeight', 'significantHeight'),
        ([maximum, height]) => maximum < height,
      ),
  },
  {
    what: 'the highest wave is not 1.2 to 2.2 times the significant height',
    remedy: 'see of which wave, and in which unit, the column of the maximum is',
    isGrave: true,
    ask: ({ rows }) => {
      const all = pairs(rows, 'maximumHeight', 'significantHeight').filter(
        ([, height]) => height >= MILLI / 2,
      )
      const ratio = median(all.map(([maximum, height]) => maximum / height))
      const isUsual = ratio >= LEAST_RATIO && ratio <= MOST_RATIO
      return all.length < FEW || isUsual ? null : `half of them are below ${ratio.toFixed(2)} times`
    },
  },
  {
    what: 'the peak period is shorter than the other period in many rows',
    remedy: 'see whether the columns of the two periods are exchanged',
    isGrave: true,
    ask: ({ rows }) =>
      moreThan(
        MANY_BELOW,
        pairs(rows, 'peakPeriod', 'period'),
        ([peak, period]) => peak < PERIODS_APART * period,
      ),
  },
  {
    what: 'a month has heights of another size than the month before it',
    remedy: 'see whether the unit of the heights changes in mid-file',
    isGrave: true,
    ask: ({ rows }) => oddMonth(rows),
  },
  {
    what: 'two columns have the same values in all rows',
    remedy: 'see whether one column was taken for two measures',
    isGrave: true,
    ask: ({ rows }) => {
      const twins = [
        ['maximumHeight', 'significantHeight'],
        ['gustSpeed', 'windSpeed'],
        ['windDirection', 'direction'],
      ] as const
      const equal = twins.filter((names) => {
        const all = pairs(rows, names[0], names[1])
        const isVaried = all.some(([value]) => value !== all[0][0])
        return all.length >= FEW && isVaried && all.every(([a, b]) => a === b)
      })
      return equal.length === 0 ? null : equal.map((names) => names.join(' and ')).join(', ')
    },
  },
  {
    what: 'directions of waves end at 6.28: they may be radians',
    remedy: 'say the unit of the column',
    isGrave: true,
    ask: ({ rows }) => {
      const all = known(rows, 'direction').map((code) => code / CENTI)
      const isCircle = all.every((value) => value <= CIRCLE) && all.some((value) => value > HALF_CIRCLE)
      const isWhole = all.every((value) => Number.isInteger(value))
      return all.length >= FEW && isCircle && !isWhole ? `${all.length} rows` : null
    },
  },
  {
    what: 'directions of waves are opposite to the wind or to the neighbours in nine of ten storms',
    remedy: 'see whether they say where waves go to: then the column wants "direction": "to"',
    isGrave: true,
    ask: oppositeDirections,
  },
  {
    what: 'water temperatures that no sea of the latitude has',
    remedy: 'see whether the unit of the column, or the sign of the latitude, is right',
    ask: ({ rows, record: { lat } }) => {
      const { warm, cold } = WATER_LIMITS.find(({ upTo }) => Math.abs(lat) <= upTo) ?? WATER_LIMITS.at(-1)!
      const all = timed(rows, 'waterTemperature')
      return moreThan(FEW_ODD_WATERS, all, ([time, code]) => {
        const [least, most] = isWarmHalf(time, lat) ? warm : cold
        return code < least * CENTI || code > most * CENTI
      })
    },
  },
  {
    what: 'gusts are below the wind in many rows',
    remedy: 'see whether the columns of wind and gusts are exchanged',
    ask: ({ rows }) =>
      moreThan(FEW_GUSTS_BELOW, pairs(rows, 'gustSpeed', 'windSpeed'), ([gust, wind]) => gust < wind),
  },
  {
    what: 'rows before 1975, when hardly a buoy measured waves',
    remedy: 'see whether the unit of the times is right',
    ask: ({ rows }) => {
      const early = timesOf(rows).filter((time) => time < FIRST_BUOYS)
      return early.length === 0 ? null : `${early.length} of ${rows.length} rows`
    },
  },
  {
    what: 'all rows are at one hour of the day, though a day has several',
    remedy: 'see whether the column of the hours is read',
    ask: ({ rows }) => {
      const all = timesOf(rows)
      const hours = new Set(all.map((time) => Math.floor((time % DAY) / HOUR)))
      const days = new Set(all.slice(0, FIRST_ROWS).map((time) => Math.floor(time / DAY)))
      const isSeveral = Math.min(all.length, FIRST_ROWS) >= 3 * days.size
      return all.length >= FEW && hours.size === 1 && isSeveral ? `hour ${[...hours][0]}` : null
    },
  },
  {
    what: 'no row is of a day above the 12th: days and months may be exchanged',
    remedy: 'say the format of the times',
    ask: ({ rows }) => {
      const dates = timesOf(rows).map((time) => civilFromDays(Math.floor(time / DAY)))
      const months = new Set(dates.map(({ year, month }) => year * 12 + month))
      const isEarly = dates.every(({ day }) => day <= 12)
      return rows.length >= FEW && months.size >= 4 && isEarly ? `in ${months.size} months` : null
    },
  },
  {
    what: 'rows follow each other regularly only if days and months are exchanged',
    remedy: 'say the format of the times',
    ask: ({ rows }) => {
      const times = timesOf(rows).slice(0, FIRST_ROWS)
      const [read, exchanged] = [regularDays(times), regularDays(times.map(exchangedTime))]
      return read < 1 - NINE_IN_TEN && exchanged > NINE_IN_TEN
        ? `from ${monthText(monthOf(times[0]))} on`
        : null
    },
  },
]

/** Doubts about the rows of a source's buoys. */
export function* askData(buoys: readonly SampledBuoy[]): Generator<Doubt> {
  for (const buoy of buoys) {
    for (const { ask, ...check } of CHECKS) {
      const seen = ask(buoy, buoys)
      if (seen !== null) yield { ...check, examples: [`${buoy.record.identifier}: ${seen}`] }
    }
  }
}

type Pair = readonly [number, number]

/** Says how many rows are odd; null for fewer than `least` rows, or up to `share` of them odd. */
function moreThan(
  share: number,
  all: readonly Pair[],
  isOdd: (row: Pair) => boolean,
  least = FEW,
): string | null {
  const odd = all.filter(isOdd).length
  return all.length >= least && odd > share * all.length ? `${odd} of ${all.length} rows` : null
}

const timesOf = ({ time, length }: RowBatch): number[] => Array.from(time.subarray(0, length))

/** The codes of a measure in the rows that have it. */
const known = (rows: RowBatch, name: MeasureName): number[] => timed(rows, name).map(([, code]) => code)

function timed({ time, columns, length }: RowBatch, name: MeasureName): [time: number, code: number][] {
  const found: [number, number][] = []
  for (let row = 0; row < length; row++) {
    const code = columns[name][row]
    if (code !== MEASURES[name].missing) found.push([time[row], code])
  }
  return found
}

/** The codes of two measures in the rows that have both; `instead` fills gaps of the second. */
function pairs(
  { columns, length }: RowBatch,
  first: MeasureName,
  second: MeasureName,
  instead = second,
): [number, number][] {
  const found: [number, number][] = []
  for (let row = 0; row < length; row++) {
    const own = columns[second][row]
    const b = own === MEASURES[second].missing ? columns[instead][row] : own
    const a = columns[first][row]
    if (a !== MEASURES[first].missing && b !== MEASURES[instead].missing) found.push([a, b])
  }
  return found
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN
}

/** The first month that has heights of another size than the month before it. */
function oddMonth(rows: RowBatch): string | null {
  const months = new Map<number, number[]>()
  for (const [time, code] of timed(rows, 'significantHeight')) {
    const month = monthOf(time)
    months.set(month, [...(months.get(month) ?? []), code])
  }
  for (const [month, heights] of months) {
    const before = months.get(month - 1) ?? []
    if (Math.min(heights.length, before.length) < FEW_OF_A_MONTH) continue
    const [here, there] = [median(heights), median(before)]
    const isOther = here > OTHER_UNIT * there || there > OTHER_UNIT * here
    // A calm of a few centimetres is no unit.
    if (isOther && here > 0 && there > 0 && Math.max(here, there) >= MILLI / 2)
      return `${monthText(month)} has ${here / MILLI} m, ${monthText(month - 1)} ${there / MILLI} m`
  }
  return null
}

/** Degrees between two directions, 0…180. */
function apart(a: number, b: number): number {
  const turn = Math.abs(a - b) % 360
  return Math.min(turn, 360 - turn)
}

/** Rows of high seas, as indexes. */
function stormsOf({ columns: { significantHeight, direction }, length }: RowBatch): number[] {
  const storms: number[] = []
  for (let row = 0; row < length; row++) {
    const height = significantHeight[row]
    const isHigh = height !== MEASURES.significantHeight.missing && height >= STORM_M * MILLI
    if (isHigh && direction[row] !== MEASURES.direction.missing) storms.push(row)
  }
  return storms
}

function oppositeDirections(buoy: SampledBuoy, others: readonly SampledBuoy[]): string | null {
  const { columns } = buoy.rows
  const storms = stormsOf(buoy.rows)
  const windy = storms.filter((row) => {
    const wind = columns.windSpeed[row]
    const isStrong = wind !== MEASURES.windSpeed.missing && wind >= STORM_KMH * CENTI
    return isStrong && columns.windDirection[row] !== MEASURES.windDirection.missing
  })
  if (windy.length >= FEW_STORMS) {
    const against = windy.filter(
      (row) => apart(columns.direction[row] / CENTI, columns.windDirection[row] / CENTI) > OPPOSITE,
    )
    return against.length >= NINE_IN_TEN * windy.length
      ? `against the wind in ${against.length} of ${windy.length} rows`
      : null
  }
  const near = others.filter(({ record: { lat, lng }, rows }) => {
    return rows !== buoy.rows && haversineKm(buoy.record.lat, buoy.record.lng, lat, lng) <= NEIGHBOUR_KM
  })
  const compared = near
    .map((other) => againstAtOnce(storms, buoy.rows, other.rows))
    .filter((one) => one !== null)
  const against = compared.filter((isAgainst) => isAgainst)
  // One neighbour proves nothing: either of the two may be turned.
  return compared.length >= 2 && against.length >= NINE_IN_TEN * compared.length
    ? `against ${against.length} of ${compared.length} neighbours`
    : null
}

/**
 * Whether two buoys have opposite directions in the storms of one of them; null where few are at one hour.
 */
function againstAtOnce(storms: readonly number[], own: RowBatch, other: RowBatch): boolean | null {
  const hourOf = (time: number): number => Math.floor(time / HOUR)
  const directions = new Map(timed(other, 'direction').map(([time, code]) => [hourOf(time), code / CENTI]))
  const angles = storms.flatMap((row) => {
    const there = directions.get(hourOf(own.time[row]))
    return there === undefined ? [] : [apart(own.columns.direction[row] / CENTI, there)]
  })
  if (angles.length < FEW_STORMS) return null
  return angles.filter((angle) => angle > OPPOSITE).length >= NINE_IN_TEN * angles.length
}

/** May to October north of the equator, the other half of the year south of it. */
function isWarmHalf(time: number, lat: number): boolean {
  const { month } = civilFromDays(Math.floor(time / DAY))
  return (month >= 5 && month <= 10) === lat >= 0
}

/** A time with its day and month exchanged; NaN where there is no such date. */
function exchangedTime(time: number): number {
  const { year, month, day } = civilFromDays(Math.floor(time / DAY))
  const isDate = day <= 12 && month <= daysInMonth(year, day)
  return isDate ? daysFromCivil(year, day, month) * DAY + (time % DAY) : NaN
}

/** Share of the steps from one day to another that are as long as the usual step. */
function regularDays(times: readonly number[]): number {
  const steps = times.slice(1).map((time, i) => time - times[i])
  const usual = median(steps)
  const overnight = steps.filter((_, i) => Math.floor(times[i] / DAY) !== Math.floor(times[i + 1] / DAY))
  return overnight.length < 5 ? 0.5 : overnight.filter((step) => step === usual).length / overnight.length
}
