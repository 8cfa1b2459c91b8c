/**
 * Quality control in the way of the QARTOD manual for waves (IOOS). Impossible values are taken out: maximum
 * below or far above the significant height, periods of 0. Suspect ones stay and are counted for the report:
 * too steep waves, values that do not change, a dead sea, spikes and jumps. Adapters keep the limits of
 * single measures.
 */
import { eachDead, eachSpike, eachStuck } from '../climate/suspect.ts'
import { type MeasureName, MEASURES, MISSING_U16, type Codes } from '../sea/columns.ts'
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import type { RowBatch } from '../sea/row-batch.ts'
import { JOINED_SECONDS, type Spectra, spectrumOf } from '../sea/spectra.ts'
import { HOUR, timestampText } from '../sea/time.ts'
import { waveParameters } from '../sea/wave-parameters.ts'
import type { TakenBack } from '../sources/source.ts'
import type { MonthTable } from './month-tables.ts'

/**
 * Maximum over significant height: 1.8 for 300 waves, below 3.7 in every record measured so far. The
 * significant height may be half a tenth of a metre higher than it is said to be, as many networks round
 * heights to tenths.
 */
const MOST_OVER_SIGNIFICANT = 3.7
const HEIGHT_ROUNDING_MM = 50

/** Steepness 2πH/(gT²) at which a sea with peak period T breaks, with a margin: most seas stay below 1/15. */
const STEEPEST = 0.1
/** No wind wave or swell has a period outside of these. */
const SHORTEST_PERIOD_S = 1
const LONGEST_PERIOD_S = 30
/** Sea water neither freezes above the lower bound nor gets warmer than the upper one. */
const COLDEST_WATER_C = -2.5
const WARMEST_WATER_C = 40

/** Seconds, metres and share of a change of height that is a jump. */
const JUMP_SECONDS = HOUR
const JUMP_METRES = 2
const JUMP_SHARE = 0.5

/** km/h. No mean wind over minutes has been measured above the first, no gust at sea above the second. */
const FASTEST_WIND = 300
const FASTEST_GUST = 350

/**
 * °C. Sensors of air and dew point differ by this much; air holds no more water than it can at its
 * temperature.
 */
const DEW_POINT_EXCESS_C = 0.5
/** %. Air over the sea is never that dry: a sensor gives a fraction in place of a percentage. */
const DRIEST_AIR = 1.05

export const SUSPECT_TEXTS = {
  steep: 'waves too steep for their period',
  period: 'period outside 1 to 30 s',
  water: 'water temperature outside -2.5 to 40 °C',
  stuck: 'the same wave values for six hours and more',
  spike: 'height a spike between its neighbours',
  dead: 'height of at most 0.05 m for seven days and more',
  spectrum: 'height of the spectrum more than 0.1 m and 5 % away from that of its reading',
  jump: 'height more than 2 m and half away from the one within the hour before',
  dew: 'dew point more than 0.5 °C above the air temperature',
} as const

export type SuspectReason = keyof typeof SUSPECT_TEXTS

const SUSPECT_REASONS = Object.keys(SUSPECT_TEXTS) as SuspectReason[]

export const IMPOSSIBLE = {
  low: 'highest wave below the significant height',
  high: 'highest wave beyond 3.7 times the significant height',
  zeroPeriod: 'period of 0 s',
  fraction: `humidity of at most ${DRIEST_AIR} %, as a fraction`,
  wind: `wind above ${FASTEST_WIND} or gusts above ${FASTEST_GUST} km/h`,
} as const

const NO_HEIGHT = MEASURES.significantHeight.missing
const NO_PERIOD = MEASURES.period.missing
const NO_WATER = MEASURES.waterTemperature.missing
const NO_AIR = MEASURES.airTemperature.missing
/** Codes of heights per metre and of periods per second. */
const MILLI = 1000
/** Codes of temperatures per degree, of speeds per km/h, and of humidity per cent. */
const CENTI = 100
/** Codes of height that are too steep, by the square of the period's code. */
const STEEP_CODES = (STEEPEST * 9.81) / (2 * Math.PI * MILLI)

/**
 * Takes impossible values out of a batch; `report` is called for each. Of rows that their operator controls
 * it takes only periods of 0 s, which no wave has.
 */
export function removeImpossible(
  { columns, length }: RowBatch,
  isControlled: boolean,
  report: (what: keyof typeof IMPOSSIBLE) => void,
): void {
  const { significantHeight, maximumHeight, windSpeed, gustSpeed, humidity } = columns
  const takeOut = (what: keyof typeof IMPOSSIBLE, codes: Codes, isImpossible: IsImpossible): void => {
    for (let row = 0; row < length; row++) {
      if (codes[row] === MISSING_U16 || !isImpossible(codes[row], significantHeight[row])) continue
      report(what)
      codes[row] = MISSING_U16
    }
  }
  for (const name of ['period', 'peakPeriod', 'swellPeriod', 'windWavePeriod'] as const)
    takeOut('zeroPeriod', columns[name], (code) => code === 0)
  if (isControlled) return
  takeOut('wind', windSpeed, (code) => code > FASTEST_WIND * CENTI)
  takeOut('wind', gustSpeed, (code) => code > FASTEST_GUST * CENTI)
  takeOut('fraction', humidity, (code) => code <= DRIEST_AIR * CENTI)
  takeOut('low', maximumHeight, (code, height) => height !== NO_HEIGHT && code < height)
  takeOut(
    'high',
    maximumHeight,
    (code, height) => code > MOST_OVER_SIGNIFICANT * (height + HEIGHT_ROUNDING_MM),
  )
}

/** @param height the row's significant height, or `NO_HEIGHT`, which is above all others */
type IsImpossible = (code: number, height: number) => boolean

/** Time of the newest reading of a batch up to `latest`, −1 when there is none. */
export function newestReading(
  { time, columns: { significantHeight }, length }: RowBatch,
  latest: number,
): number {
  let newest = -1
  for (let row = 0; row < length; row++) {
    if (time[row] > newest && time[row] <= latest && significantHeight[row] !== NO_HEIGHT) newest = time[row]
  }
  return newest
}

type Counts = { [reason in SuspectReason]: number }

/**
 * Counts the suspect rows of a month, readings or weather: `report` gets the buoy's id, the reason, and how
 * many.
 */
export function countSuspect(
  table: MonthTable,
  report: (buoy: number, reason: SuspectReason, readings: number) => void,
): void {
  const { buoys, start } = table
  for (let i = 0; i < buoys.length; i++) {
    const counts: Counts = {
      steep: 0,
      period: 0,
      water: 0,
      stuck: 0,
      spike: 0,
      dead: 0,
      spectrum: 0,
      jump: 0,
      dew: 0,
    }
    const [first, end] = [start[i], start[i + 1]]
    countDew(table, first, end, counts)
    if (table.columns.significantHeight.length > 0) {
      countSingle(table, first, end, counts)
      countChanges(table, first, end, counts)
    }
    for (const reason of SUSPECT_REASONS) {
      if (counts[reason] > 0) report(buoys[i], reason, counts[reason])
    }
  }
}

/** How much the height of a spectrum may differ from that of its reading: networks round theirs to tenths. */
const HEIGHT_METRES = 0.1
const HEIGHT_SHARE = 0.05

/** Counts the spectra of a buoy whose height is not that of their reading, the one nearest in time. */
export function countDoubtfulSpectra(
  runs: readonly Spectra[],
  { time, start, measures: { significantHeight } }: MonthRows,
  index: number,
): number {
  const own = time.subarray(start[index], start[index + 1])
  let times = 0
  for (const run of runs) {
    for (let i = 0; i < run.time.length; i++) {
      const row = nearest(own, run.time[i])
      if (Math.abs(own[row] - run.time[i]) > JOINED_SECONDS) continue
      const height = significantHeight.codes[start[index] + row] / MILLI
      const { hm0 } = waveParameters(spectrumOf(run, i))
      if (Math.abs(hm0 - height) > HEIGHT_METRES + HEIGHT_SHARE * height) times++
    }
  }
  return times
}

/** The index of the time nearest to a moment, the earlier of two. */
function nearest(times: Uint32Array, moment: number): number {
  const after = lowerBound(times, moment)
  if (after === times.length) return after - 1
  return after > 0 && moment - times[after - 1] <= times[after] - moment ? after - 1 : after
}

function countDew(
  { columns: { airTemperature, dewPoint } }: MonthTable,
  first: number,
  end: number,
  counts: Counts,
): void {
  if (airTemperature.length === 0) return
  for (let row = first; row < end; row++) {
    const [air, dew] = [airTemperature[row], dewPoint[row]]
    if (air !== NO_AIR && dew !== NO_AIR && dew - air > DEW_POINT_EXCESS_C * CENTI) counts.dew++
  }
}

function countSingle({ columns }: MonthTable, first: number, end: number, counts: Counts): void {
  const { significantHeight, period, peakPeriod, waterTemperature } = columns
  for (let row = first; row < end; row++) {
    const peak = peakPeriod[row] === NO_PERIOD ? period[row] : peakPeriod[row]
    if (peak !== NO_PERIOD) {
      if (peak < SHORTEST_PERIOD_S * MILLI || peak > LONGEST_PERIOD_S * MILLI) counts.period++
      else if (significantHeight[row] > STEEP_CODES * peak * peak) counts.steep++
    }
    const water = waterTemperature[row]
    if (water !== NO_WATER && (water < COLDEST_WATER_C * CENTI || water > WARMEST_WATER_C * CENTI))
      counts.water++
  }
}

/** Finds jumps; the other kinds by the rules of the climate, which leaves them out. */
function countChanges(table: MonthTable, first: number, end: number, counts: Counts): void {
  const { time, columns } = table
  const heights = columns.significantHeight
  for (let row = first + 1; row < end; row++) {
    if (time[row] - time[row - 1] > JUMP_SECONDS) continue
    const before = heights[row - 1]
    const change = Math.abs(heights[row] - before)
    if (change > Math.max(JUMP_METRES * MILLI, JUMP_SHARE * before)) counts.jump++
  }
  eachSpike(table, first, end, () => counts.spike++)
  eachDead(table, first, end, (from, to) => (counts.dead += to - from))
  eachStuck(table, first, end, (from, to) => (counts.stuck += to - from))
}

interface Spike {
  row: number
  buoy: number
  /** "2026-03-01T10:00:00Z: 12.3 m between 1.2 and 1.3 m" */
  text: string
}

/** The rows of a month's readings whose height is a spike between its neighbours. */
export function spikesOf(table: MonthTable): Spike[] {
  const { buoys, start, time, columns } = table
  const heights = columns.significantHeight
  const spikes: Spike[] = []
  for (let i = 0; i < buoys.length; i++) {
    eachSpike(table, start[i], start[i + 1], (row) => {
      const [before, height, after] = [row - 1, row, row + 1].map((one) => heights[one] / MILLI)
      const text = `${timestampText(time[row])}: ${height} m between ${before} and ${after} m`
      spikes.push({ row, buoy: buoys[i], text })
    })
  }
  return spikes
}

/**
 * A month without the rows and values that are taken back. `report` gets the buoy's id, how many rows, and
 * their time and measures.
 */
export function withoutTakenBack(
  table: MonthTable,
  ofBuoys: ReadonlyMap<number, readonly TakenBack[]>,
  report: (buoy: number, rows: number, text: string) => void,
): MonthTable {
  const gone = new Set<number>()
  const columns = { ...table.columns }
  for (const [i, buoy] of table.buoys.entries()) {
    const [first, end] = [table.start[i], table.start[i + 1]]
    for (const { from, until, measures } of ofBuoys.get(buoy) ?? []) {
      const rows = {
        from: lowerBound(table.time, from, first, end),
        to: lowerBound(table.time, until, first, end),
      }
      if (rows.from === rows.to) continue
      if (measures === null) {
        for (let row = rows.from; row < rows.to; row++) gone.add(row)
      }
      for (const name of measures ?? []) {
        // A copy, as the table may be another's.
        if (columns[name] === table.columns[name]) columns[name] = columns[name].slice()
        columns[name].fill(MEASURES[name].missing, rows.from, rows.to)
      }
      const what = measures === null ? 'rows' : measures.join(', ')
      report(buoy, rows.to - rows.from, `from ${timestampText(from)} until ${timestampText(until)}: ${what}`)
    }
  }
  return withoutRows({ ...table, columns }, gone)
}

/** A month without some rows; a buoy without any is left out. */
export function withoutRows(table: MonthTable, rows: ReadonlySet<number>): MonthTable {
  if (rows.size === 0) return table
  const { buoys, start, time, columns } = table
  const stays = (_: number, row: number): boolean => !rows.has(row)
  const counts = Array.from(buoys, (_, i) => {
    let count = 0
    for (let row = start[i]; row < start[i + 1]; row++) count += Number(!rows.has(row))
    return count
  })
  const left = counts.filter((count) => count > 0)
  let end = 0
  const names = Object.keys(columns) as MeasureName[]
  return {
    ...table,
    buoys: buoys.filter((_, i) => counts[i] > 0),
    start: Uint32Array.from([0, ...left.map((count) => (end += count))]),
    time: time.filter(stays),
    // A column that no row has is empty.
    columns: Object.fromEntries(
      names.map((name) => [name, columns[name].filter(stays)]),
    ) as MonthTable['columns'],
  }
}
