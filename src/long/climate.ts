/** The climate of a buoy: answers of `handlers/climate.ts` from the numbers of `climate/`. */
import {
  fitGev,
  LEAST_QUARTER,
  LEAST_SHAPE,
  LEAST_YEARS,
  levelOf,
  MOST_EXTRAPOLATION,
  type Parameters,
  yearMaxima,
} from '../climate/extremes.ts'
import { firstMonthOf, type Month, monthsOf } from '../climate/months.ts'
import { climateOf, PERCENTS, type Period, SEASONS, sectorOf, SECTORS } from '../climate/periods.ts'
import { type HighestSince, type Pair, rankOfLast, type Record, recordsOf } from '../climate/records.ts'
import { countTable, distributionOf, QUANTILE_TYPE, type Samples, samplesOf } from '../climate/samples.ts'
import { stormsOf } from '../climate/storms.ts'
import { buoyBeside } from '../dataset/buoy-table.ts'
import { compassPoint } from '../dataset/number-text.ts'
import type { Dataset } from '../dataset/dataset.ts'
import type { View } from '../dataset/view.ts'
import {
  type climateParameters,
  type extremesParameters,
  perPageOf,
  type recordsParameters,
  type stormsParameters,
  type tableParameters,
} from '../handlers/climate.ts'
import { isDirection } from '../index/statistics.ts'
import { ApiError, refused } from '../operation/errors.ts'
import { type Metric, requireMetric } from '../operation/metrics.ts'
import type { Parameters as AnyParameters } from '../operation/parameters.ts'
import { requireBuoy, rowsOfPage, writePaging } from '../operation/operation.ts'
import { type Measure, MEASURES } from '../sea/columns.ts'
import { DAY, HOUR, MINUTE, monthStart, timestampText } from '../sea/time.ts'
import { type JsonRecord, type Maker, type MakeRequest, type RecordColumn, recordTable } from './maker.ts'

/** An answer as JSON, and as rows of other formats. */
interface Climate {
  readonly ordinal: number
  readonly name: string
  readonly data: JsonRecord
  readonly rows: readonly JsonRecord[]
  readonly columns: readonly RecordColumn[]
  /** For a list with pages: the number of all items; `rows` has those of the page. */
  readonly paged?: { readonly count: number; readonly page: number; readonly perPage: number }
}

/** Both forms of an answer. */
function makerOf<P extends AnyParameters>(answerOf: (request: MakeRequest<P>) => Climate): Maker {
  return {
    json(request) {
      const { ordinal, data, paged } = answerOf(request as MakeRequest<P>)
      const { identifiedSummary } = request.view.fragments
      const paging = paged && { page: paged.page, pages: Math.ceil(paged.count / paged.perPage) }
      return {
        ...(paging && { paging }),
        next(writer) {
          writer.text('{"buoy":')
          identifiedSummary.writeTo(writer, ordinal)
          writer.text(`,${JSON.stringify(data).slice(1)}`)
          if (paged) writePaging(writer, paged.count, paged.page, paged.perPage)
          return true
        },
      }
    },
    table(request) {
      const { ordinal, name, rows, columns, paged } = answerOf(request as MakeRequest<P>)
      const { dataset } = request.view
      const table = recordTable(rows, columns, {
        name: `${dataset.catalog.slugs[ordinal]}_${name}`,
        place: null,
        list: null,
      })
      const paging = paged && { ...paged, pages: Math.ceil(paged.count / paged.perPage) }
      return {
        ...table,
        columns: [...table.columns, ...buoyBeside(dataset, () => ordinal, true)],
        ...(paging && !request.isWhole && { paging }),
        total: paged?.count ?? rows.length,
      }
    },
  }
}

interface Years {
  readonly start_year: number | undefined
  readonly end_year: number | undefined
}

interface MetricSamples {
  readonly ordinal: number
  readonly samples: Samples
}

/**
 * The samples of a request. @param firstMonth of a year, 1 to 12, or 0 for December before it; @param beside
 * a measure of the same readings. @throws ApiError
 */
function askedOf(
  view: View,
  buoyId: string,
  metric: Metric,
  { start_year: startYear, end_year: endYear }: Years,
  { firstMonth = 1, beside = null }: { firstMonth?: number; beside?: Measure | null } = {},
): MetricSamples {
  const ordinal = requireBuoy(view, buoyId)
  const measure = requireMetric(view, ordinal, metric)
  if (startYear !== undefined && endYear !== undefined && startYear > endYear) {
    const problem = 'is after end_year. Allowed: a start_year that is not after end_year'
    throw refused('start_year', problem, 'validation_failed')
  }
  const { readings, weather } = view.dataset
  const range = {
    from: startYear === undefined ? 0 : monthStart(firstMonthOf(startYear, firstMonth)),
    to: endYear === undefined ? Infinity : monthStart(firstMonthOf(endYear + 1, firstMonth)),
  }
  return { ordinal, samples: samplesOf({ readings, weather, ordinal }, measure, range, beside ?? measure) }
}

/** @throws ApiError 422 for a direction */
function refuseDirection({ samples }: MetricSamples): void {
  if (!isDirection(samples.measure)) return
  throw refused(
    'metric',
    'does not fit a direction. Allowed: a metric with least and greatest values',
    'validation_failed',
  )
}

const DECIMALS = 1e5
const SHARE_DECIMALS = 1e6

/** Finer than any unit of the data. */
const rounded = (value: number, decimals = DECIMALS): number => Math.round(value * decimals) / decimals
const roundedOrNull = (value: number | null, decimals?: number): number | null =>
  value === null ? null : rounded(value, decimals)

const timeOrNull = (epoch: number | undefined): string | null =>
  epoch === undefined ? null : timestampText(epoch)

/** Members about the samples, which all answers have. */
function aboutSamples(metric: Metric, { time, length, measure, leftOut }: Samples): JsonRecord {
  return {
    metric,
    unit: measure.unit,
    start: timeOrNull(length === 0 ? undefined : time[0]),
    end: timeOrNull(length === 0 ? undefined : time[length - 1]),
    count: length,
    left_out: leftOut,
  }
}

const valueAt = ({ code, measure }: Samples, at: number): number => code[at] / measure.scale
const valueAndTime = (samples: Samples, at: number): JsonRecord => {
  return { value: valueAt(samples, at), time: timestampText(samples.time[at]) }
}

/** Columns of `NAME`, a number in `unit`, `NAME:KIND`, and `NAME:UNIT`, a number in another unit. */
const columnsOf = (members: string, unit: string): RecordColumn[] =>
  members.split(' ').map((member) => {
    const [name, kind = 'number'] = member.split(':')
    const ownUnit = kind === 'time' ? 'UTC' : ''
    const of = kind === 'number' ? unit : ownUnit
    const isKind = ['integer', 'time', 'text', 'flag', 'number'].includes(kind)
    return { name, kind: isKind ? (kind as RecordColumn['kind']) : 'number', unit: isKind ? of : kind }
  })

// `GET …/climate`

const SECTOR_CODES = (360 * MEASURES.direction.scale) / SECTORS
const PERCENT_NAMES = PERCENTS.map((percent) => `p${percent}`)

function climateAnswer({ view, query, path: [buoyId] }: MakeRequest<typeof climateParameters>): Climate {
  const { metric, by, min_coverage: minCoverage } = query
  const { ordinal, samples } = askedOf(view, buoyId, metric, query, {
    firstMonth: by === 'season' ? 0 : 1,
  })
  const months = monthsOf(samples, minCoverage)
  const { periods, overall } = climateOf(samples, months, by)
  const named = periods.map((period, i) => {
    const name = by === 'month' ? { month: i + 1 } : { season: SEASONS[i] }
    return { ...name, ...periodOf(samples, period) }
  })
  const all = periodOf(samples, overall)
  const isDifferent = overall.intervals.length > 1
  const data = {
    ...aboutSamples(metric, samples),
    by,
    min_coverage: minCoverage,
    quantiles: QUANTILE_TYPE,
    periods: named,
    overall: all,
    notes: isDifferent
      ? ['Years differ in their interval: samples weigh alike in all but mean, where years do.']
      : [],
  }
  const { unit } = samples.measure
  const isCircular = isDirection(samples.measure)
  const values = isCircular
    ? 'mean resultant_length:'
    : `mean standard_deviation ${PERCENT_NAMES.join(' ')} minimum.value minimum.time:time maximum.value maximum.time:time`
  const columns = columnsOf(`period:text count:integer coverage: years:text ${values}`, unit)
  return {
    ordinal,
    name: `${metric}_climate`,
    data,
    rows: [...named, all].map((row) => {
      const { month, season } = row as { month?: number; season?: string }
      return {
        ...row,
        period: season ?? (month === undefined ? 'year' : String(month)),
        years: row.years.join(' '),
      }
    }),
    columns,
  }
}

function periodOf(samples: Samples, period: Period) {
  const { count, coverage, years, yearsLeftOut, intervals, scalar, circular } = period
  const { scale } = samples.measure
  const shared = {
    count,
    coverage: roundedOrNull(coverage),
    years,
    years_left_out: yearsLeftOut.map(({ year, lack, coverage: of }) => {
      return { year, reason: lack, coverage: roundedOrNull(of) }
    }),
    intervals: intervals.map((each) => ({ minutes: each.interval / MINUTE, years: each.years })),
  }
  if (circular !== null) {
    const { mean, resultant, sectors } = circular
    return {
      ...shared,
      mean: mean === null ? null : Math.round(mean) % 360,
      resultant_length: roundedOrNull(resultant),
      sectors: sectors.map((of, i) => {
        return {
          direction: compassPoint(i * SECTOR_CODES),
          share: count === 0 ? null : rounded(of / count, SHARE_DECIMALS),
        }
      }),
    }
  }
  const { mean, standardDeviation, quantiles, extremes } = scalar!
  const inUnits = (codes: number | null): number | null => (codes === null ? null : rounded(codes / scale))
  return {
    ...shared,
    mean: inUnits(mean),
    standard_deviation: inUnits(standardDeviation),
    ...Object.fromEntries(
      PERCENT_NAMES.map((name, i) => [name, quantiles.length === 0 ? null : quantiles[i] / (100 * scale)]),
    ),
    minimum: extremes === null ? null : valueAndTime(samples, extremes.least),
    maximum: extremes === null ? null : valueAndTime(samples, extremes.greatest),
  }
}

// `GET …/climate/records`

function recordsAnswer({ view, query, path: [buoyId] }: MakeRequest<typeof recordsParameters>): Climate {
  const asked = askedOf(view, buoyId, query.metric, query)
  refuseDirection(asked)
  const { ordinal, samples } = asked
  const months = monthsOf(samples, 0)
  const records = recordsOf(samples, months)
  const pairOf = ({ greatest, least }: Pair): JsonRecord => {
    return { greatest: recordOf(samples, greatest), least: recordOf(samples, least) }
  }
  const ever = records.ever === null ? null : pairOf(records.ever)
  const ofMonths = [...records.months].map(([month, pair]) => ({ month, ...pairOf(pair) }))
  const ofYears = [...records.years].map(([year, pair]) => ({ year, ...pairOf(pair) }))
  const data = {
    ...aboutSamples(query.metric, samples),
    ever,
    months: ofMonths,
    years: ofYears,
    last: lastOf(samples, months),
  }
  const members = 'value time:time doubtful:flag'.split(' ')
  const columns = ['greatest', 'least'].flatMap((name) => members.map((member) => `${name}.${member}`))
  return {
    ordinal,
    name: `${query.metric}_records`,
    data,
    rows: [
      ...(ever === null ? [] : [{ of: 'ever', ...ever }]),
      ...ofMonths.map((row) => ({ of: 'month', ...row })),
      ...ofYears.map((row) => ({ of: 'year', ...row })),
    ],
    columns: columnsOf(`of:text month:integer year:integer ${columns.join(' ')}`, samples.measure.unit),
  }
}

/** A record with the samples before and after it. */
function recordOf(samples: Samples, { at, isDoubtful }: Record): JsonRecord {
  const isThere = (other: number): boolean => other >= 0 && other < samples.length
  return {
    ...valueAndTime(samples, at),
    doubtful: isDoubtful,
    before: isThere(at - 1) ? valueAndTime(samples, at - 1) : null,
    after: isThere(at + 1) ? valueAndTime(samples, at + 1) : null,
  }
}

function lastOf(samples: Samples, months: readonly Month[]): JsonRecord | null {
  const found = rankOfLast(samples, months)
  if (found === null) return null
  const { at, rank, of, higherThanPercent, since } = found
  return {
    ...valueAndTime(samples, at),
    rank,
    of,
    higher_than_percent: higherThanPercent,
    ...sinceOf(samples, since),
  }
}

function sinceOf({ time }: Samples, { before, missingDays }: HighestSince): JsonRecord {
  return {
    highest_since: before === -1 ? null : timestampText(time[before]),
    highest_since_missing_days: missingDays,
  }
}

// `GET …/climate/table`

/** Codes in a tenth of a second or metre. */
const CODES_A_TENTH = MEASURES.peakPeriod.scale / 10
const SECTOR_DEGREES = 360 / SECTORS

/** @throws ApiError 422 for a width between tenths */
function tenthsOf(parameter: 'x_bin' | 'y_bin', width: number): number {
  const tenths = Math.round(width * 10)
  if (tenths / 10 === width) return tenths
  throw refused(parameter, 'is between two steps. Allowed: a number in steps of 0.1', 'validation_failed')
}

function tableAnswer({ view, query, path: [buoyId] }: MakeRequest<typeof tableParameters>): Climate {
  const { x, y } = query
  const isBinned = x === 'peak_period' || x === 'period'
  if (!isBinned && query.x_bin !== undefined) {
    throw refused(
      'x_bin',
      `does not go with x=${x}. Allowed: with x=peak_period or x=period`,
      'validation_failed',
    )
  }
  const xTenths = tenthsOf('x_bin', query.x_bin ?? 1)
  const yTenths = tenthsOf('y_bin', query.y_bin)
  const beside = x === 'month' ? null : requireMetric(view, requireBuoy(view, buoyId), x, 'x')
  const { ordinal, samples } = askedOf(view, buoyId, y, query, { beside })
  const { xOf, unit, width } = beside === null ? binsByMonth(samples) : binsBy(samples, x, beside, xTenths)
  const bins = countTable(samples, xOf, yTenths * CODES_A_TENTH)
  const count = bins.reduce((sum, bin) => sum + bin.count, 0)
  const rows = bins.map(({ x: column, y: row, count: there }) => ({
    x: rounded(column * width),
    y: (row * yTenths) / 10,
    count: there,
    share: rounded(there / count, SHARE_DECIMALS),
  }))
  const { count: _, ...about } = aboutSamples(y, samples)
  const data = {
    ...about,
    x,
    x_unit: unit,
    x_bin: width,
    y,
    y_bin: query.y_bin,
    bins: rows,
    count,
    without_x: samples.length - count,
  }
  const columns = columnsOf('y count:integer share:', 'm')
  return {
    ordinal,
    name: `${y}_by_${x}`,
    data,
    rows,
    columns: [{ name: 'x', kind: 'number', unit: unit ?? '' }, ...columns],
  }
}

/** Bins of the samples of a table, in units of `width`. */
interface Bins {
  /** −1 without an x. */
  readonly xOf: (at: number) => number
  readonly unit: string | null
  readonly width: number
}

function binsByMonth(samples: Samples): Bins {
  const ofYear = new Uint8Array(samples.length)
  for (const month of monthsOf(samples, 0)) ofYear.fill(month.ofYear, month.from, month.to)
  return { xOf: (at) => ofYear[at], unit: null, width: 1 }
}

function binsBy({ beside }: Samples, x: string, { scale, unit, missing }: Measure, tenths: number): Bins {
  const isSector = x === 'direction'
  const codes = tenths * CODES_A_TENTH
  const binOf = isSector
    ? (code: number): number => sectorOf(code, scale)
    : (code: number): number => Math.floor(code / codes)
  const xOf = (at: number): number => (beside[at] === missing ? -1 : binOf(beside[at]))
  return { xOf, unit, width: isSector ? SECTOR_DEGREES : tenths / 10 }
}

// `GET …/climate/storms`

const DEFAULT_GAP = DAY
const LONGEST_GAP = 30 * DAY
const STORM_COLUMNS =
  'start:time end:time duration:h peak.height:m peak.time:time peak.period:s peak.direction:degree energy:m²h ' +
  'missing_hours:h cut:flag'

function stormsAnswer({
  view,
  query,
  path: [buoyId],
  isWhole,
}: MakeRequest<typeof stormsParameters>): Climate {
  const gap = query.gap ?? DEFAULT_GAP
  if (gap > LONGEST_GAP) throw refused('gap', 'is too long. Allowed: at most 30d', 'validation_failed')
  const { ordinal, samples } = askedOf(view, buoyId, query.metric, query)
  const { scale } = samples.measure
  const threshold = thresholdOf(samples, query.threshold)
  const rule = { threshold: threshold ?? Infinity, gap, minDuration: query.min_duration ?? 0 }
  const storms = stormsOf(samples, monthsOf(samples, 0), rule)
  const perPage = perPageOf(query.per_page)
  const { from, to } = isWhole
    ? { from: 0, to: storms.length }
    : rowsOfPage(storms.length, query.page, perPage)
  const rows = storms.slice(from, to).map((storm) => ({
    start: timestampText(samples.time[storm.from]),
    end: timestampText(samples.time[storm.to]),
    duration: rounded(storm.duration / HOUR),
    peak: {
      height: valueAt(samples, storm.peak),
      time: timestampText(samples.time[storm.peak]),
      ...wavesAt(view.dataset, ordinal, samples.time[storm.peak]),
    },
    energy: rounded(storm.energy),
    missing_hours: rounded(storm.missingHours),
    cut: storm.isCut,
  }))
  const { count: _, ...about } = aboutSamples(query.metric, samples)
  const data = {
    ...about,
    threshold: threshold === null ? null : threshold / (100 * scale),
    quantiles: QUANTILE_TYPE,
    gap_hours: gap / HOUR,
    storms: rows,
    count: storms.length,
  }
  return {
    ordinal,
    name: `${query.metric}_storms`,
    data,
    rows,
    columns: columnsOf(STORM_COLUMNS, ''),
    paged: { count: storms.length, page: query.page, perPage },
  }
}

/** The threshold in hundredths of a code; null for a quantile of no samples. */
function thresholdOf({ code, measure }: Samples, text: string): number | null {
  if (!text.startsWith('p')) return Math.round(Number(text) * measure.scale) * 100
  return distributionOf(code)?.quantiles([Number(text.slice(1))])[0] ?? null
}

/** Peak period, or else the period, and direction of the reading at a time. */
function wavesAt({ readings }: Dataset, ordinal: number, time: number): JsonRecord {
  const { month, row } = readings.rowOf(ordinal, time)!
  const valueOf = (name: 'peakPeriod' | 'period' | 'direction'): number | null => {
    const { codes, mask } = month.measures[name]
    const code = codes[row & mask]
    return code === MEASURES[name].missing ? null : code / MEASURES[name].scale
  }
  return { period: valueOf('peakPeriod') ?? valueOf('period'), direction: valueOf('direction') }
}

// `GET …/climate/extremes`

const MOST_PERIODS = 20
const [SHORTEST_PERIOD, LONGEST_PERIOD] = [2, 10_000]

function extremesAnswer({ view, query, path: [buoyId] }: MakeRequest<typeof extremesParameters>): Climate {
  const { metric, return_periods: periods, min_coverage: minCoverage, year_start: yearStart } = query
  const isAllowed = (period: number): boolean => period >= SHORTEST_PERIOD && period <= LONGEST_PERIOD
  if (periods.length > MOST_PERIODS || !periods.every(isAllowed)) {
    throw refused(
      'return_periods',
      'is out of range. Allowed: 1 to 20 of 2 to 10000 years',
      'validation_failed',
    )
  }
  const asked = askedOf(view, buoyId, metric, query, { firstMonth: yearStart })
  refuseDirection(asked)
  const { ordinal, samples } = asked
  const all = yearMaxima(samples, monthsOf(samples, minCoverage), minCoverage, yearStart)
  const used = all.filter(({ reason }) => reason === null)
  const rule = `A year is complete with at least ${rounded(100 * minCoverage)} % of its samples and ${100 * LEAST_QUARTER} % of those of each quarter`
  refuseFewYears(
    used.map(({ year }) => year),
    rule,
  )
  const values = used.map(({ at }) => valueAt(samples, at))
  if (values.every((value) => value === values[0])) {
    throw refused(
      'metric',
      'has the same maximum in all years. Allowed: one with maxima that differ',
      'validation_failed',
    )
  }
  const fit = fitGev(values)
  const levels = periods.map((period) => {
    const { level, low, high } = levelOf(values, fit, period)
    return {
      return_period: period,
      level: rounded(level),
      low: roundedOrNull(low),
      high: roundedOrNull(high),
      extrapolated: period > MOST_EXTRAPOLATION * used.length,
    }
  })
  const { errors, negativeLogLikelihood, isAtBound } = fit
  const leftOut = all.filter(({ reason }) => reason !== null)
  const highest = Math.max(...values)
  const higher = leftOut.filter(({ at }) => at !== -1 && valueAt(samples, at) > highest)
  const data = {
    ...aboutSamples(metric, samples),
    rule,
    year_start: yearStart,
    levels,
    parameters: {
      ...parametersOf(fit.parameters),
      errors: errors === null ? null : parametersOf(errors),
    },
    negative_log_likelihood: rounded(negativeLogLikelihood, SHARE_DECIMALS),
    maxima: used.map(({ year, at }) => ({ year, ...valueAndTime(samples, at) })),
    years_left_out: leftOut.map(({ year, reason, coverage, at }) => ({
      year,
      reason,
      coverage: rounded(coverage),
      maximum: at === -1 ? null : valueAt(samples, at),
      time: timeOrNull(at === -1 ? undefined : samples.time[at]),
    })),
    notes: [
      ...higher.map(({ year, at }) => {
        const value = valueAt(samples, at)
        return `The maximum of ${year}, ${value} ${samples.measure.unit}, is above all that are used, but its year is not complete: the levels are probably too low.`
      }),
      ...(isAtBound ? [`The shape is at its bound of ${LEAST_SHAPE}: the levels are uncertain.`] : []),
    ],
  }
  return {
    ordinal,
    name: `${metric}_extremes`,
    data,
    rows: levels,
    columns: columnsOf('return_period:integer level low high extrapolated:flag', samples.measure.unit),
  }
}

/** @throws ApiError 422 that says which years are complete */
function refuseFewYears(years: readonly number[], rule: string): void {
  if (years.length >= LEAST_YEARS) return
  const list = years.length === 0 ? '' : `: ${years.join(', ')}`
  const message = `Return levels need ${LEAST_YEARS} complete years, and there are ${years.length}${list}. ${rule}`
  throw new ApiError('validation_failed', message, {
    complete_years: years.length,
    needed_years: LEAST_YEARS,
  })
}

const parametersOf = ({ location, scale, shape }: Parameters): JsonRecord => ({
  location: rounded(location, SHARE_DECIMALS),
  scale: rounded(scale, SHARE_DECIMALS),
  shape: rounded(shape, SHARE_DECIMALS),
})

export const CLIMATE_MAKERS: { readonly [operation: string]: Maker } = {
  climate: makerOf(climateAnswer),
  climateRecords: makerOf(recordsAnswer),
  climateTable: makerOf(tableAnswer),
  climateStorms: makerOf(stormsAnswer),
  climateExtremes: makerOf(extremesAnswer),
}
