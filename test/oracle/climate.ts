/**
 * The climate of a buoy by brute force: lists of plain numbers, sorted and searched anew for each question.
 * Written from the description of the operations alone.
 */
import { compass, DAY, HOUR, isoTime, type Json, type JsonObject, MEASURE_OF } from './known.ts'
import type { Measures } from './plans.ts'

/** A row in units of the contract; a measure that is missing has no value. */
export type ClimateRow = { time: number } & { [measure in keyof Measures]?: number }

export type ClimateQuestion = { readonly [parameter: string]: string }

interface Sample {
  time: number
  value: number
  year: number
  month: number
}

const yearOf = (time: number): number => new Date(time * 1000).getUTCFullYear()
const monthOf = (time: number): number => new Date(time * 1000).getUTCMonth() + 1
const dayOf = (time: number): number => Math.floor(time / DAY)
const monthLength = (year: number, month: number): number =>
  (Date.UTC(year, month, 1) - Date.UTC(year, month - 1, 1)) / 1000

const OF_WAVES = new Set(['significient_height', 'maximum_height', 'period', 'peak_period', 'direction'])
const UNITS: { [metric: string]: string } = {
  significient_height: 'm',
  maximum_height: 'm',
  period: 's',
  peak_period: 's',
  direction: 'degree',
  water_temperature: '°C',
  wind_speed: 'km/h',
  wind_direction: 'degree',
  gust_speed: 'km/h',
}

const valueOf = (row: ClimateRow, metric: string): number | undefined => row[MEASURE_OF[metric]]

/** The reason why each reading is suspect, by its time. */
function suspects(rows: readonly ClimateRow[]): Map<number, string> {
  const readings = rows.filter(({ significantHeight }) => significantHeight !== undefined)
  const found = new Map<number, string>()
  const height = (i: number): number => readings[i].significantHeight!
  for (let i = 1; i + 1 < readings.length; i++) {
    const [before, at, after] = [i - 1, i, i + 1].map((place) => readings[place].time)
    if (at - before > 2 * HOUR || after - at > 2 * HOUR) continue
    const [down, up] = [height(i) - height(i - 1), height(i) - height(i + 1)]
    const away = Math.min(Math.abs(down), Math.abs(up))
    const most = Math.max(1, (height(i - 1) + height(i + 1)) / 4)
    if (down > 0 === up > 0 && away > most + 1e-9) found.set(at, 'spike')
  }
  const text = ({ significantHeight, maximumHeight, period, peakPeriod, direction }: ClimateRow): string =>
    [significantHeight, maximumHeight, period, peakPeriod, direction].join()
  const runs = (goesOn: (a: ClimateRow, b: ClimateRow) => boolean): ClimateRow[][] => {
    const all: ClimateRow[][] = []
    for (const [i, row] of readings.entries()) {
      if (i > 0 && goesOn(readings[i - 1], row)) all.at(-1)!.push(row)
      else all.push([row])
    }
    return all
  }
  const lasts = (run: ClimateRow[], count: number, seconds: number): boolean =>
    run.length >= count && run.at(-1)!.time - run[0].time >= seconds
  for (const run of runs((a, b) => text(a) === text(b))) {
    const [{ significantHeight, period, direction }] = run
    const isKnown = period !== undefined || direction !== undefined
    if (significantHeight! > 0 && isKnown && lasts(run, 12, 6 * HOUR))
      for (const { time } of run) found.set(time, 'stuck')
  }
  const isCalm = ({ significantHeight }: ClimateRow): boolean => significantHeight! <= 0.05
  for (const run of runs((a, b) => isCalm(a) && isCalm(b))) {
    if (isCalm(run[0]) && lasts(run, 50, 7 * DAY)) for (const { time } of run) found.set(time, 'dead')
  }
  return found
}

interface Taken {
  samples: Sample[]
  leftOut: { [reason: string]: number }
}

/** The samples of a metric in years that `wanted` takes. */
function take(rows: readonly ClimateRow[], metric: string, wanted: (time: number) => boolean): Taken {
  const doubts = OF_WAVES.has(metric) ? suspects(rows) : new Map<number, string>()
  const leftOut: Taken['leftOut'] = { spike: 0, stuck: 0, dead: 0 }
  const samples: Sample[] = []
  for (const row of rows) {
    const value = valueOf(row, metric)
    if (value === undefined || !wanted(row.time)) continue
    const doubt = doubts.get(row.time)
    if (doubt === undefined)
      samples.push({ time: row.time, value, year: yearOf(row.time), month: monthOf(row.time) })
    else leftOut[doubt]++
  }
  return { samples, leftOut }
}

interface Month {
  year: number
  month: number
  samples: Sample[]
  /** Seconds. */
  interval: number
  expected: number
}

/**
 * The most frequent distance in whole minutes, the shortest of equally frequent ones; null for too few
 * samples.
 */
function intervalOf(samples: readonly Sample[]): number | null {
  if (samples.length < 10) return null
  const counts = new Map<number, number>()
  for (const [i, { time }] of samples.entries()) {
    if (i === 0) continue
    const minutes = Math.min(1440, Math.max(1, Math.round((time - samples[i - 1].time) / 60)))
    counts.set(minutes, (counts.get(minutes) ?? 0) + 1)
  }
  const [[minutes]] = [...counts].toSorted(([a, of], [b, other]) => other - of || a - b)
  return minutes * 60
}

function monthsOf(samples: readonly Sample[]): Month[] {
  const months: Month[] = []
  if (samples.length === 0) return months
  const [first, last] = [samples[0], samples.at(-1)!]
  let year = first.year
  for (let month = first.month; year < last.year || (year === last.year && month <= last.month);) {
    const own = samples.filter((sample) => sample.year === year && sample.month === month)
    months.push({ year, month, samples: own, interval: intervalOf(own) ?? 0, expected: 0 })
    year += month === 12 ? 1 : 0
    month = (month % 12) + 1
  }
  let known = months.find(({ interval }) => interval > 0)?.interval ?? DAY
  for (const month of months) {
    if (month.interval > 0) known = month.interval
    month.interval = known
    month.expected = monthLength(month.year, month.month) / known
  }
  return months
}

const coverage = (months: readonly Month[]): number | null => {
  const expected = months.reduce((sum, month) => sum + month.expected, 0)
  const there = months.reduce((sum, month) => sum + Math.min(month.expected, month.samples.length), 0)
  return expected === 0 ? null : there / expected
}

function lackOf({ year, month, samples, expected }: Month, least: number): string | null {
  if (samples.length < least * expected) return 'coverage'
  const days = new Set(samples.map(({ time }) => dayOf(time)))
  const first = dayOf(Date.UTC(year, month - 1, 1) / 1000)
  let empty = 0
  for (let day = 0; day < monthLength(year, month) / DAY; day++) {
    empty = days.has(first + day) ? 0 : empty + 1
    if (empty === 5) return 'gap'
  }
  return null
}

/** Hyndman and Fan's seventh. */
function quantile(sorted: readonly number[], percent: number): number {
  const position = ((sorted.length - 1) * percent) / 100
  const below = Math.floor(position + 1e-9)
  const share = Math.max(0, position - below)
  const [a, b] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]]
  return a + share * (b - a)
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
const at = ({ value, time }: Sample): JsonObject => ({ value, time: isoTime(time) })
const isDirection = (metric: string): boolean => metric.endsWith('direction')

const PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99]
const SEASONS: { [name: string]: number[] } = {
  djf: [12, 1, 2],
  mam: [3, 4, 5],
  jja: [6, 7, 8],
  son: [9, 10, 11],
}
const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

/** What all answers say of their samples. */
function about(metric: string, { samples, leftOut }: Taken): JsonObject {
  return {
    metric,
    unit: UNITS[metric],
    start: samples.length === 0 ? null : isoTime(samples[0].time),
    end: samples.length === 0 ? null : isoTime(samples.at(-1)!.time),
    count: samples.length,
    left_out: leftOut,
  }
}

const inYears =
  (question: ClimateQuestion, yearAt: (time: number) => number = yearOf) =>
  (time: number): boolean =>
    yearAt(time) >= Number(question['start_year'] ?? -1) &&
    yearAt(time) <= Number(question['end_year'] ?? 9999)

export function climate(rows: readonly ClimateRow[], question: ClimateQuestion): JsonObject {
  const metric = question['metric'] ?? 'significient_height'
  const by = question['by'] ?? 'month'
  const least = Number(question['min_coverage'] ?? 0.75)
  const seasonYear = (time: number): number => yearOf(time) + (monthOf(time) === 12 ? 1 : 0)
  const taken = take(rows, metric, inYears(question, by === 'season' ? seasonYear : yearOf))
  const months = monthsOf(taken.samples)
  const yearIn = ({ year, month }: Month): number => (by === 'season' && month === 12 ? year + 1 : year)
  const monthMean = (month: number): number | null => {
    const years = months.filter((one) => one.month === month && lackOf(one, least) === null)
    return years.length === 0
      ? null
      : mean(years.map(({ samples }) => mean(samples.map(({ value }) => value))))
  }
  const period = (wanted: readonly number[]): JsonObject => {
    const own = months.filter(({ month }) => wanted.includes(month))
    const years = [...new Set(own.map(yearIn))]
    const of = (year: number): Month[] => own.filter((month) => yearIn(month) === year)
    const counts = (year: number): boolean =>
      of(year).filter((month) => lackOf(month, least) === null).length === wanted.length
    const there = own.filter(({ samples }) => samples.length > 0)
    const intervals = [...new Set(there.map(({ interval }) => interval))].toSorted((a, b) => a - b)
    const samples = own.flatMap((month) => month.samples)
    const shared = {
      count: samples.length,
      coverage: coverage(own),
      years: years.filter(counts),
      years_left_out: years
        .filter((year) => !counts(year))
        .map((year) => ({
          year,
          reason: wanted.length === 1 ? lackOf(of(year)[0], least) : 'months',
          coverage: coverage(of(year)),
        })),
      intervals: intervals.map((interval) => ({
        minutes: interval / 60,
        years: [...new Set(there.filter((month) => month.interval === interval).map(yearIn))],
      })),
    }
    if (isDirection(metric)) return { ...shared, ...circular(samples) }
    const values = samples.map(({ value }) => value).toSorted((a, b) => a - b)
    const centre = mean(values)
    const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
    const means = wanted.map(monthMean)
    const [lowest] = samples.toSorted((a, b) => a.value - b.value || a.time - b.time)
    const [highest] = samples.toSorted((a, b) => b.value - a.value || a.time - b.time)
    return {
      ...shared,
      mean: means.includes(null) ? null : mean(means as number[]),
      standard_deviation: values.length < 2 ? null : Math.sqrt(squares / (values.length - 1)),
      ...Object.fromEntries(
        PERCENTS.map((percent) => [`p${percent}`, values.length === 0 ? null : quantile(values, percent)]),
      ),
      minimum: lowest === undefined ? null : at(lowest),
      maximum: highest === undefined ? null : at(highest),
    }
  }
  const overall = period(ALL)
  const periods: JsonObject[] = []
  if (by === 'month') periods.push(...ALL.map((month) => ({ month, ...period([month]) })))
  if (by === 'season')
    periods.push(...Object.keys(SEASONS).map((season) => ({ season, ...period(SEASONS[season]) })))
  return {
    ...about(metric, taken),
    by,
    min_coverage: least,
    quantiles: 'type 7 (Hyndman and Fan 1996)',
    periods,
    overall,
    notes:
      (overall['intervals'] as Json[]).length > 1
        ? ['Years differ in their interval: samples weigh alike in all but mean, where years do.']
        : [],
  }
}

function circular(samples: readonly Sample[]): JsonObject {
  const radians = samples.map(({ value }) => (value * Math.PI) / 180)
  const [east, north] = [mean(radians.map(Math.sin)), mean(radians.map(Math.cos))]
  const length = samples.length === 0 ? null : Math.hypot(east, north)
  const degrees = ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
  const points = Array.from({ length: 16 }, (_, i) => compass(i * 22.5))
  return {
    mean: length === null || length < 1e-6 ? null : Math.round(degrees) % 360,
    resultant_length: length,
    sectors: points.map((direction) => ({
      direction,
      share:
        samples.length === 0
          ? null
          : samples.filter(({ value }) => compass(value) === direction).length / samples.length,
    })),
  }
}

export function records(rows: readonly ClimateRow[], question: ClimateQuestion): JsonObject {
  const metric = question['metric'] ?? 'significient_height'
  const taken = take(rows, metric, inYears(question))
  const { samples } = taken
  const place = new Map(samples.map((sample, i) => [sample, i]))
  const isAlone = (sample: Sample, sign: number): boolean => {
    const { value, time } = sample
    const near: Sample[] = []
    for (const step of [-1, 1]) {
      for (
        let i = place.get(sample)! + step;
        Math.abs((samples[i]?.time ?? Infinity) - time) <= 3 * HOUR;
        i += step
      ) {
        near.push(samples[i])
      }
    }
    return !near.some(
      (other) =>
        metric === 'water_temperature' ||
        other.value === value ||
        (sign === 1 ? other.value > value / 2 : other.value < 2 * value),
    )
  }
  const best = (own: readonly Sample[], sign: number): JsonObject => {
    const ordered = own.toSorted((a, b) => sign * (b.value - a.value) || a.time - b.time)
    const sound = ordered.find((sample) => !isAlone(sample, sign))
    const found = sound ?? ordered[0]
    const [before, after] = [-1, 1].map((step) => samples[place.get(found)! + step])
    return {
      ...at(found),
      doubtful: sound === undefined,
      before: before === undefined ? null : at(before),
      after: after === undefined ? null : at(after),
    }
  }
  const pair = (own: readonly Sample[]): JsonObject => ({ greatest: best(own, 1), least: best(own, -1) })
  const years = [...new Set(samples.map(({ year }) => year))]
  const months = ALL.filter((month) => samples.some((sample) => sample.month === month))
  return {
    ...about(metric, taken),
    ever: samples.length === 0 ? null : pair(samples),
    months: months.map((month) => ({ month, ...pair(samples.filter((one) => one.month === month)) })),
    years: years.map((year) => ({ year, ...pair(samples.filter((one) => one.year === year)) })),
    last: samples.length === 0 ? null : rankOf(samples),
  }
}

function rankOf(samples: readonly Sample[]): JsonObject {
  const last = samples.at(-1)!
  const own = samples.filter(({ month }) => month === last.month)
  return {
    ...at(last),
    rank: own.filter(({ value }) => value > last.value).length + 1,
    of: own.length,
    higher_than_percent: Math.floor(
      (100 * own.filter(({ value }) => value < last.value).length) / own.length,
    ),
    ...since(samples),
  }
}

/** When it was as high before, and the days without a sample from then on. */
export function since(samples: readonly { time: number; value: number }[]): JsonObject {
  const last = samples.at(-1)!
  const before = samples.slice(0, -1).findLast(({ value }) => value >= last.value)
  const begin = dayOf((before ?? samples[0]).time)
  const days = new Set(samples.map(({ time }) => dayOf(time)))
  let missing = 0
  for (let day = begin; day < dayOf(last.time); day++) {
    if (!days.has(day)) missing++
  }
  return {
    highest_since: before === undefined ? null : isoTime(before.time),
    highest_since_missing_days: missing,
  }
}

export function table(rows: readonly ClimateRow[], question: ClimateQuestion): JsonObject {
  const x = question['x'] ?? 'peak_period'
  const y = question['y'] ?? 'significient_height'
  const [xBin, yBin] = [Number(question['x_bin'] ?? 1), Number(question['y_bin'] ?? 0.5)]
  const taken = take(rows, y, inYears(question))
  const others = new Map(
    x === 'month' ? [] : take(rows, x, () => true).samples.map(({ time, value }) => [time, value]),
  )
  /** Of a value with three decimals; no quotient of whole numbers is wrong here. */
  const lower = (value: number, width: number): number =>
    (Math.floor(Math.round(value * 1000) / Math.round(width * 1000)) * Math.round(width * 1000)) / 1000
  const xOf = ({ time, month }: Sample): number | undefined => {
    if (x === 'month') return month
    const value = others.get(time)
    if (value === undefined) return undefined
    return x === 'direction' ? (Math.floor((value + 11.25) / 22.5) % 16) * 22.5 : lower(value, xBin)
  }
  const counts = new Map<string, number>()
  let withoutX = 0
  for (const sample of taken.samples) {
    const at = xOf(sample)
    if (at === undefined) withoutX++
    else {
      const key = JSON.stringify([at, lower(sample.value, yBin)])
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  const count = taken.samples.length - withoutX
  const bins = [...counts].map(([key, of]) => {
    const [left, low] = JSON.parse(key) as [number, number]
    return { x: left, y: low, count: of, share: of / count }
  })
  const { count: _, ...rest } = about(y, taken)
  const units: { [x: string]: Json } = { month: null, direction: 'degree' }
  const widths: { [x: string]: number } = { month: 1, direction: 22.5 }
  return {
    ...rest,
    x,
    x_unit: x in units ? units[x] : 's',
    x_bin: widths[x] ?? xBin,
    y,
    y_bin: yBin,
    bins: bins.toSorted((a, b) => a.x - b.x || a.y - b.y),
    count,
    without_x: withoutX,
  }
}

const SECONDS: { [letter: string]: number } = { h: HOUR, d: DAY }
const seconds = (text: string): number => parseInt(text, 10) * SECONDS[text.at(-1)!]

export function storms(
  rows: readonly ClimateRow[],
  question: ClimateQuestion,
): { data: JsonObject; meta: JsonObject } {
  const metric = question['metric'] ?? 'significient_height'
  const threshold = question['threshold'] ?? 'p95'
  const gap = seconds(question['gap'] ?? '24h')
  const shortest = question['min_duration'] === undefined ? 0 : seconds(question['min_duration'])
  const taken = take(rows, metric, inYears(question))
  const { samples } = taken
  const months = monthsOf(samples)
  const sorted = samples.map(({ value }) => value).toSorted((a, b) => a - b)
  const ofSamples = sorted.length === 0 ? null : quantile(sorted, Number(threshold.slice(1)))
  const bound = threshold.startsWith('p') ? ofSamples : Number(threshold)
  const intervalAt = ({ year, month }: Sample): number =>
    months.find((one) => one.year === year && one.month === month)!.interval
  // What is as high as the threshold is not above it, whatever the last bit of the quantile is.
  const isAbove = ({ value }: Sample): boolean => value > bound! + 1e-9
  const places = [...samples.keys()].filter((i) => isAbove(samples[i]))
  const groups: number[][] = []
  for (const i of places) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && samples[i].time - samples[last].time <= gap) groups.at(-1)!.push(i)
    else groups.push([i])
  }
  const all = groups.map((group) => {
    const [first, last] = [group[0], group.at(-1)!]
    const [start, end] = [samples[first], samples[last]]
    const peak = group.map((i) => samples[i]).reduce((a, b) => (b.value > a.value ? b : a))
    const row = rows.find(({ time }) => time === peak.time)!
    let missing = 0
    for (let i = first + 1; i <= last; i++) {
      const [step, interval] = [samples[i].time - samples[i - 1].time, intervalAt(samples[i])]
      if (step > 1.5 * interval) missing += step - interval
    }
    const isFar = (a: Sample | undefined, b: Sample | undefined, interval: number): boolean =>
      a === undefined || b === undefined || b.time - a.time > 3 * interval
    const duration = end.time - start.time + intervalAt(end)
    return {
      start: isoTime(start.time),
      end: isoTime(end.time),
      duration: duration / HOUR,
      peak: {
        height: peak.value,
        time: isoTime(peak.time),
        period: row.peakPeriod ?? row.period ?? null,
        direction: row.direction ?? null,
      },
      energy: group.reduce((sum, i) => sum + samples[i].value ** 2 * (intervalAt(samples[i]) / HOUR), 0),
      missing_hours: missing / HOUR,
      cut:
        isFar(samples[first - 1], start, intervalAt(start)) || isFar(end, samples[last + 1], intervalAt(end)),
    }
  })
  const found = all.filter(({ duration }) => duration * HOUR >= shortest)
  const [page, perPage] = [Number(question['page'] ?? 1), Math.min(1000, Number(question['per_page'] ?? 100))]
  const { count: _, ...rest } = about(metric, taken)
  return {
    data: {
      ...rest,
      threshold: bound,
      quantiles: 'type 7 (Hyndman and Fan 1996)',
      gap_hours: gap / HOUR,
      storms: found.slice((page - 1) * perPage, page * perPage),
      count: found.length,
    },
    meta: { page, per_page: perPage, total_pages: Math.ceil(found.length / perPage) },
  }
}

interface YearMaximum {
  year: number
  coverage: number
  reason: string | null
  best: Sample | null
}

/** Each year between the first sample and the last, and whether it is complete. */
export function maxima(
  rows: readonly ClimateRow[],
  question: ClimateQuestion,
): { taken: Taken; years: YearMaximum[] } {
  const metric = question['metric'] ?? 'significient_height'
  const begin = Number(question['year_start'] ?? 1)
  const least = Number(question['min_coverage'] ?? 0.75)
  const nameOf = (year: number, month: number): number => (month < begin ? year - 1 : year)
  const taken = take(
    rows,
    metric,
    inYears(question, (time) => nameOf(yearOf(time), monthOf(time))),
  )
  const months = monthsOf(taken.samples)
  const names = new Set(months.map(({ year, month }) => nameOf(year, month)))
  const years = [...names].map((year): YearMaximum => {
    const all = ALL.map((_, i): Month => {
      const month = ((begin - 1 + i) % 12) + 1
      const calendar = month < begin ? year + 1 : year
      const known = months.find((one) => one.year === calendar && one.month === month)
      if (known !== undefined) return known
      // Before the record and after it the nearest month tells what was to be expected.
      const isBefore = calendar * 12 + month < months[0].year * 12 + months[0].month
      return { ...months.at(isBefore ? 0 : -1)!, samples: [] }
    })
    const quarters = [0, 3, 6, 9].map((from) => coverage(all.slice(from, from + 3))!)
    const samples = all.flatMap((month) => month.samples)
    const [best] = samples.toSorted((a, b) => b.value - a.value || a.time - b.time)
    const of = coverage(all)!
    const thin = quarters.some((quarter) => quarter < 0.5) ? 'quarter' : null
    return { year, coverage: of, reason: of < least ? 'coverage' : thin, best: best ?? null }
  })
  return { taken, years }
}

type Point = readonly [location: number, scale: number, shape: number]

/** Minus the sum of the logarithms of the density, as Coles writes it in 3.2. */
export function costOf(values: readonly number[], [location, scale, shape]: Point): number {
  if (scale <= 0 || shape < -0.5) return Infinity
  let sum = 0
  for (const value of values) {
    const base = 1 + (shape * (value - location)) / scale
    if (base <= 0) return Infinity
    const t = Math.abs(shape) < 1e-9 ? Math.exp(-(value - location) / scale) : base ** (-1 / shape)
    sum += Math.log(scale) - (shape + 1) * Math.log(t) + t
  }
  return sum
}

export const levelAt = ([location, scale, shape]: Point, period: number): number => {
  const y = -Math.log(1 - 1 / period)
  return Math.abs(shape) < 1e-9
    ? location - scale * Math.log(y)
    : location - (scale / shape) * (1 - y ** -shape)
}

/** The least cost by steps along each axis, which shrink where none goes down. */
export function leastCost(
  cost: (at: number[]) => number,
  start: readonly number[],
  step: number,
): { at: number[]; value: number } {
  let at = [...start]
  let value = cost(at)
  for (let width = step; width > 1e-7;) {
    const before = value
    for (const [i] of start.entries()) {
      for (const [j] of start.entries()) {
        for (const [a, b] of [
          [1, 0],
          [-1, 0],
          [1, 1],
          [1, -1],
          [-1, 1],
          [-1, -1],
        ] as const) {
          const next = [...at]
          next[i] += a * width
          if (i !== j) next[j] += b * width
          const found = cost(next)
          if (found < value) [at, value] = [next, found]
        }
      }
    }
    if (value >= before) width /= 2
  }
  return { at, value }
}

/** The day of a year without 29 February, which counts as the 28th; from 0. */
function placeInYear(time: number): number {
  const date = new Date(time * 1000)
  const [month, day] = [date.getUTCMonth(), date.getUTCDate()]
  return (Date.UTC(2001, month, month === 1 ? Math.min(28, day) : day) - Date.UTC(2001, 0, 1)) / 1000 / DAY
}

/** How usual the last height is; null where nothing is said. */
export function usual(rows: readonly ClimateRow[]): JsonObject | null {
  const doubts = suspects(rows)
  const readings = rows.filter(({ significantHeight }) => significantHeight !== undefined)
  const last = readings.at(-1)
  if (last === undefined || doubts.has(last.time)) return null
  const middle = placeInYear(last.time)
  /** Its year, if a reading is in the window around the day in some year. */
  const windowOf = (time: number): number | null => {
    const away = placeInYear(time) - middle
    // Over New Year the window is that of the year before or after.
    const turns = Number(away > 182) - Number(away < -182)
    return Math.abs(away - 365 * turns) > 15 ? null : yearOf(time) + turns
  }
  const windows = new Map(readings.map(({ time }) => [time, windowOf(time)]))
  const earlier = readings.filter(({ time }) => time < last.time - 60 * DAY && windows.get(time) !== null)
  const isSound = ({ time }: ClimateRow): boolean => !doubts.has(time)
  const years = [...new Set(earlier.map(({ time }) => windows.get(time)!))].filter((year) => {
    const own = earlier.filter(({ time }) => windows.get(time) === year)
    let days = 0
    for (
      let day = Date.UTC(year, 0, 1) / 1000 - 60 * DAY;
      day < Date.UTC(year + 1, 2, 1) / 1000;
      day += DAY
    ) {
      if (windowOf(day) === year) days++
    }
    const interval = intervalOf(own.map(({ time }) => ({ time, value: 0, year: 0, month: 0 }))) ?? DAY
    return own.filter(isSound).length >= (0.5 * days * DAY) / interval
  })
  if (years.length < 3) return null
  const heights = earlier.filter(isSound).map(({ significantHeight }) => significantHeight!)
  const height = last.significantHeight!
  const below = heights.filter((value) => value < height).length
  const equal = heights.filter((value) => value === height).length
  const sorted = heights.toSorted((a, b) => a - b)
  const sound = readings
    .filter(isSound)
    .map(({ time, significantHeight }) => ({ time, value: significantHeight! }))
  return {
    higher_than_percent: Math.floor((100 * below) / heights.length),
    percentile: Math.round((1000 * (below + equal / 2)) / heights.length) / 10,
    median: quantile(sorted, 50),
    p90: quantile(sorted, 90),
    years: years.length,
    first_year: years[0],
    ...since(sound),
  }
}
