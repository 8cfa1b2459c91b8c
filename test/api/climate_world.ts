/** Buoys whose climate goes wrong easily, and questions about it. */
import { build, fakeSource, type FakeRow, northBuoy } from '../builder/fake_source.ts'
import { Chance } from '../chance.ts'
import type { ClimateQuestion, ClimateRow } from '../oracle/climate.ts'
import { MEASURES, type MeasureName } from '../../src/sea/columns.ts'

const HOUR = 3600
const DAY = 86_400
const at = (text: string): number => Date.parse(`${text}Z`) / 1000

interface ClimateBuoy {
  readonly name: string
  readonly rows: readonly FakeRow[]
}

const times = (from: string, to: string, every: number): number[] =>
  Array.from({ length: Math.ceil((at(to) - at(from)) / every) }, (_, i) => at(from) + i * every)

/** A sea that is higher in winter, in steps of a centimetre, with equal values now and then. */
function seaOf(chance: Chance, list: readonly number[]): FakeRow[] {
  let spell = 1000
  return list.map((time) => {
    const winter = 1 + 0.5 * Math.cos((2 * Math.PI * (time / DAY)) / 365.25)
    spell = Math.min(6000, Math.max(200, spell + (chance.next() - 0.5) * 300))
    const significantHeight = Math.round((spell * winter) / 10) * 10
    const period = 4000 + chance.below(80) * 100
    return {
      time,
      significantHeight,
      maximumHeight: Math.round(significantHeight * 1.6),
      period,
      ...(!chance.percent(10) && { peakPeriod: period + 100 * chance.below(30) }),
      ...(!chance.percent(5) && { direction: (35_000 + chance.below(30) * 100) % 36_000 }),
      waterTemperature: Math.round(300 + 600 * winter) - chance.below(1000),
    }
  })
}

/** Hourly, with spikes, a stuck sensor and a dead one, each once within its bounds and once beyond them. */
function faulty(chance: Chance): FakeRow[] {
  const rows = seaOf(chance, times('2025-01-20', '2025-04-10', HOUR))
  const change = (from: number, count: number, of: FakeRow): void => {
    // Other maxima would be taken out as impossible.
    const maximumHeight = Math.round(of.significantHeight! * 1.6)
    for (let i = from; i < from + count; i++)
      rows[i] = { ...rows[i], maximumHeight, ...of, time: rows[i].time }
  }
  const still = {
    time: 0,
    significantHeight: 1500,
    maximumHeight: 2400,
    period: 7000,
    peakPeriod: 8000,
    direction: 0,
  }
  change(100, 12, still)
  change(140, 6, still)
  change(195, 11, { time: 0, significantHeight: 2000 })
  change(200, 1, { time: 0, significantHeight: 9000 })
  change(225, 11, { time: 0, significantHeight: 2000 })
  change(230, 1, { time: 0, significantHeight: 10 })
  change(300, 170, { time: 0, significantHeight: 30 })
  change(600, 160, { time: 0, significantHeight: 30 })
  // A height over the neighbours by a metre and no more, and one that stands alone in a gap.
  change(900, 3, { time: 0, significantHeight: 1000 })
  change(901, 1, { time: 0, significantHeight: 2000 })
  change(1000, 1, { time: 0, significantHeight: 12_000 })
  return rows.filter((_, i) => i === 1000 || Math.abs(i - 1000) > 5)
}

/** A winter that is missing but for its highest hours. */
function withoutWinter(chance: Chance): FakeRow[] {
  const rows = seaOf(chance, times('2009-06-01', '2026-03-01', 12 * HOUR))
  const isMissing = (time: number): boolean => time >= at('2011-12-20') && time < at('2012-03-20')
  const storm = times('2012-01-10', '2012-01-12', 12 * HOUR).map((time) => ({
    time,
    significantHeight: 14_000,
  }))
  return [...rows.filter(({ time }) => !isMissing(time)), ...storm].toSorted((a, b) => a.time - b.time)
}

function withWind(chance: Chance): FakeRow[] {
  const rows = seaOf(chance, times('2025-11-01', '2025-12-20', HOUR))
  const wind = times('2025-11-02', '2025-12-24', 2 * HOUR).map((time) => {
    return {
      time: time + HOUR / 2,
      windSpeed: chance.below(9000),
      gustSpeed: 9000,
      windDirection: chance.below(36_000),
    }
  })
  const tail = rows.slice(100, 400).map((row) => ({ ...row, windSpeed: chance.below(9000) }))
  return [...rows.slice(0, 100), ...tail, ...rows.slice(400), ...wind].toSorted((a, b) => a.time - b.time)
}

export function climateBuoys(seed: number): ClimateBuoy[] {
  const chance = new Chance(seed)
  const sea = (...list: readonly number[][]): FakeRow[] => seaOf(chance, list.flat())
  return [
    { name: 'long', rows: withoutWinter(chance) },
    { name: 'faulty', rows: faulty(chance) },
    { name: 'wind', rows: withWind(chance) },
    {
      name: 'half-hours',
      rows: sea(
        times('2022-01-01', '2022-02-10', HOUR),
        times('2023-01-01', '2023-02-10', HOUR / 2),
        times('2024-01-01', '2024-02-10', HOUR),
      ),
    },
    { name: 'leap', rows: sea(times('2023-11-20', '2025-03-05', 6 * HOUR)) },
    {
      name: 'moved',
      rows: sea(
        times('2024-03-20', '2024-04-12', 600),
        times('2024-04-12T00:07:13', '2024-05-20', 3607),
        times('2024-07-01', '2024-08-01', 4 * DAY),
      ),
    },
    { name: 'two-years', rows: sea(times('2023-02-28', '2025-03-01', DAY)) },
    { name: 'few', rows: sea(times('2024-02-29', '2024-03-01', 6 * HOUR)) },
    { name: 'empty', rows: [] },
    // Heights alone, all of them the same.
    {
      name: 'bare',
      rows: times('2009-06-01', '2026-01-01', DAY).map((time) => ({ time, significantHeight: 700 })),
    },
  ]
}

export async function buildClimate(buoys: readonly ClimateBuoy[], dir: string): Promise<void> {
  const all = buoys.map(({ name, rows }) => northBuoy(name, [...rows], { name }))
  await build([fakeSource(all)], dir, { fresh: true })
}

/** The rows as the oracle has them, in units. */
export function rowsInUnits(rows: readonly FakeRow[]): ClimateRow[] {
  return rows.map(({ time, ...codes }) => {
    const values = Object.entries(codes).map(([name, code]) => [
      name,
      code / MEASURES[name as MeasureName].scale,
    ])
    return { time, ...Object.fromEntries(values) } as ClimateRow
  })
}

export type Asked = 'climate' | 'records' | 'table' | 'storms' | 'extremes'

/** A question that is well formed. */
export function questionOf(chance: Chance, asked: Asked): ClimateQuestion {
  const question: { [parameter: string]: string } = {}
  const maybe = (name: string, share: number, values: readonly string[]): void => {
    if (chance.percent(share)) question[name] = chance.pick(values)
  }
  const years = ['2009', '2011', '2012', '2023', '2024', '2025', '2026']
  maybe('start_year', 25, years)
  maybe(
    'end_year',
    25,
    years.filter((year) => year >= (question['start_year'] ?? '')),
  )
  const scalar =
    'significient_height maximum_height period peak_period water_temperature wind_speed gust_speed'.split(' ')
  const heights = ['significient_height', 'maximum_height']
  switch (asked) {
    case 'climate':
      maybe('metric', 60, [...scalar, 'direction', 'wind_direction'])
      maybe('by', 70, ['month', 'season', 'none'])
      maybe('min_coverage', 40, ['0', '0.3', '0.5', '0.95', '1'])
      break
    case 'records':
      maybe('metric', 60, scalar)
      break
    case 'table':
      maybe('x', 80, ['peak_period', 'period', 'direction', 'month'])
      maybe('y', 40, heights)
      maybe('y_bin', 50, ['0.1', '0.3', '1', '2.5'])
      if (!['direction', 'month'].includes(question['x'])) maybe('x_bin', 50, ['0.1', '0.7', '2'])
      break
    case 'storms':
      maybe('metric', 40, heights)
      maybe('threshold', 70, ['p95', 'p99', '0.7', '1', '1.5', '2.005', '30', '0'])
      maybe('gap', 60, ['1h', '6h', '36h', '3d', '30d'])
      maybe('min_duration', 40, ['1h', '12h', '5d'])
      maybe('page', 30, ['1', '2', '9'])
      maybe('per_page', 40, ['1', '3', '2000'])
      break
    case 'extremes':
      maybe('metric', 40, ['maximum_height', 'peak_period', 'water_temperature'])
      maybe('year_start', 50, ['4', '7', '12'])
      maybe('min_coverage', 40, ['0', '0.5', '0.9'])
      maybe('return_periods', 40, ['2', '100', '10,50,3', '10000'])
      break
  }
  return question
}

/** Some years of each buoy, which end on days that go wrong easily: around New Year, on leap days. */
export function usualBuoys(seed: number, count: number): ClimateBuoy[] {
  const chance = new Chance(seed + 1)
  const ends = [
    '2026-01-03',
    '2025-12-31',
    '2024-02-29',
    '2025-02-28',
    '2026-03-15',
    '2025-03-01',
    '2025-07-20',
  ]
  return Array.from({ length: count }, (_, i) => {
    const end = at(`${chance.pick(ends)}T12:00:00`)
    const every = chance.pick([3, 6, 12, 24]) * HOUR
    const begin = end - (2 + chance.below(5)) * 365 * DAY
    const list = Array.from(
      { length: Math.floor((end - begin) / every) + 1 },
      (_, k) => end - k * every,
    ).reverse()
    // Weeks without a reading, and years without the season.
    const gaps = Array.from(
      { length: chance.below(8) },
      () => begin + chance.below((end - begin) / DAY) * DAY,
    )
    const isThere = (time: number): boolean =>
      time === end || !gaps.some((gap) => time >= gap && time < gap + (4 + chance.below(20)) * DAY)
    const rows = seaOf(chance, list.filter(isThere))
    const last = rows.at(-1)!
    // As high as some before it, higher than all, or as low as it gets.
    last.significantHeight = chance.pick([last.significantHeight!, 10_000, 20, rows[5].significantHeight!])
    if (chance.percent(10)) for (const row of rows.slice(-60)) row.significantHeight = 20
    return { name: `usual-${i}`, rows }
  })
}
