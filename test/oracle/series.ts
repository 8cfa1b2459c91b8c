/** Buckets of the clock of a zone: the seasonal series (operation 10), and `bucket` of readings. */
import {
  buoySummary,
  DAY,
  dayStart,
  extras,
  failure,
  find,
  HOUR,
  instant,
  isDate,
  isoTime,
  MEASURE_OF,
  numberOr,
  success,
  WEATHER_FIELDS,
  wordsOf,
  type Answer,
  type Expected,
  type ExpectedObject,
  type Known,
  type Asked,
} from './known.ts'
import type { World, WorldRow } from './world.ts'

interface LocalDate {
  year: number
  month: number
  day: number
}

interface Local {
  /** Days since 1970. */
  serial: number
  hour: number
}

interface Clock {
  format: Intl.DateTimeFormat
  /** Offsets that were asked for before, by minute: the same hours come up in every request. */
  offsets: Map<number, number>
}

const clocks = new Map<string, Clock>()

function clockOf(zone: string): Clock {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const clock = { format, offsets: new Map<number, number>() }
  clocks.set(zone, clock)
  return clock
}

/** Seconds that the zone is ahead of UTC, to the minute. */
function offsetAt(zone: string, epoch: number): number {
  const { format, offsets } = clockOf(zone)
  const whole = Math.floor(epoch / 60) * 60
  const known = offsets.get(whole)
  if (known !== undefined) return known
  const [month, day, year, hour, minute] = format
    .format(whole * 1000)
    .match(/\d+/g)!
    .map(Number)
  const offset = Date.UTC(year, month - 1, day, hour, minute) / 1000 - whole
  offsets.set(whole, offset)
  return offset
}

/** Wall clock of a zone at an instant. */
function localAt(zone: string, epoch: number): Local {
  const wall = epoch + offsetAt(zone, epoch)
  return { serial: Math.floor(wall / DAY), hour: Math.floor(wall / 3600) % 24 }
}

/**
 * The first instant at which a zone's clock shows the given day and hour; where the clock skips them, the
 * instant after the gap; where it shows them twice, the first time.
 */
function firstInstant(zone: string, serial: number, hour = 0): number {
  const wall = serial * DAY + hour * 3600
  const offsets = [wall - DAY, wall, wall + DAY].map((epoch) => offsetAt(zone, epoch))
  const candidates = offsets
    .map((offset) => wall - offset)
    .filter((epoch) => epoch + offsetAt(zone, epoch) === wall)
    .toSorted((a, b) => a - b)
  if (candidates[0] !== undefined) return candidates[0]
  let [before, after] = [wall - DAY, wall + DAY]
  while (after - before > 60) {
    const middle = Math.floor((before + after) / 120) * 60
    if (offsetAt(zone, middle) === offsetAt(zone, wall - DAY)) before = middle
    else after = middle
  }
  return after
}

/** The last second at which the clock shows what `isIn` takes: before `next`, or after it went back. */
function lastSecond(zone: string, isIn: (local: Local) => boolean, next: number): number {
  const quarter = HOUR / 4
  let last = next - 1
  for (let at = next; at < next + 3 * HOUR; at += quarter) {
    if (isIn(localAt(zone, at))) last = at + quarter - 1
  }
  return last
}

/** A moment of a range: a date alone is a day of the zone's clock, by its first second or its last. */
export function localInstant(text: string, end: boolean, now: number, zone: string | null): number {
  if (zone === null || !isDate(text)) return instant(text, end, now)
  const serial = dayStart(text) / DAY
  return end ? firstInstant(zone, serial + 1) - 1 : firstInstant(zone, serial)
}

/** UTC has other names, too. */
const isUtc = (zone: string): boolean => clockOf(zone).format.resolvedOptions().timeZone === 'UTC'

export const zoneTime = (zone: string | null, epoch: number): string =>
  zone === null || isUtc(zone) ? isoTime(epoch) : offsetTime(zone, epoch)

function offsetTime(zone: string, epoch: number): string {
  const offset = offsetAt(zone, epoch)
  const minutes = Math.abs(offset) / 60
  const two = (value: number) => String(value).padStart(2, '0')
  const sign = offset < 0 ? '-' : '+'
  return `${isoTime(epoch + offset).slice(0, 19)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

const serialOf = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / 1000 / DAY
const isLeap = (year: number) => new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29
const dateOf = (serial: number): LocalDate => {
  const date = new Date(serial * DAY * 1000)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}
/** Place of a date in a year that has 29 February. */
const leapPlace = (month: number, day: number) => serialOf(2000, month, day) - serialOf(2000, 1, 1)

interface SeasonDates {
  start: { month: number; day: number }
  end: { month: number; day: number }
}

function seasonDays({ start, end }: SeasonDates, year: number): { first: number; last: number } {
  const wraps = leapPlace(end.month, end.day) < leapPlace(start.month, start.day)
  const endYear = wraps ? year + 1 : year
  const startLost = start.month === 2 && start.day === 29 && !isLeap(year)
  const endLost = end.month === 2 && end.day === 29 && !isLeap(endYear)
  return {
    first: startLost ? serialOf(year, 3, 1) : serialOf(year, start.month, start.day),
    last: endLost ? serialOf(endYear, 2, 28) : serialOf(endYear, end.month, end.day),
  }
}

const OF_WAVES = new Set(['significient_height', 'maximum_height', 'period', 'peak_period', 'direction'])

/** Thousandths, exactly: no measured value has more digits. */
const thousandths = (value: number) => Math.round(value * 1000)

/** `sum` thousandths over `count`, to two decimals, halves away from zero. */
function twoDecimals(sum: number, count: number): number {
  const sign = sum < 0 ? -1 : 1
  return (sign * Math.floor((2 * Math.abs(sum) + 10 * count) / (20 * count))) / 100
}

interface Statistic {
  value: number | null
  other: number | null
}

/**
 * The statistic of one bucket, and the other right value where the first lies on a rounding tie of a circular
 * mean.
 */
export function statistic(values: number[], aggregation: string, circular: boolean): Statistic {
  if (circular) {
    const radians = values.map((value) => (value * Math.PI) / 180)
    const east = radians.reduce((sum, angle) => sum + Math.sin(angle), 0) / values.length
    const north = radians.reduce((sum, angle) => sum + Math.cos(angle), 0) / values.length
    if (Math.hypot(east, north) < 1e-6) return { value: null, other: null }
    const degrees = ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
    const tie = Math.abs((degrees % 1) - 0.5) < 1e-6
    return {
      value: Math.round(degrees) % 360,
      other: tie
        ? (Math.round(degrees) === Math.floor(degrees) ? Math.ceil(degrees) : Math.floor(degrees)) % 360
        : null,
    }
  }
  const ordered = values.map(thousandths).toSorted((a, b) => a - b)
  const middle = ordered.length / 2
  let value: number
  if (aggregation === 'min') value = twoDecimals(ordered[0], 1)
  else if (aggregation === 'max') value = twoDecimals(ordered.at(-1)!, 1)
  else if (aggregation === 'avg') {
    value = twoDecimals(
      ordered.reduce((sum, one) => sum + one, 0),
      ordered.length,
    )
  } else if (ordered.length % 2 === 1) value = twoDecimals(ordered[Math.floor(middle)], 1)
  else value = twoDecimals(ordered[middle - 1] + ordered[middle], 2)
  return { value: value === 0 ? 0 : value, other: null }
}

/** Of one bucket; on a rounding tie of a circular mean both neighbours are right. */
function together(values: number[], aggregation: string, circular: boolean): Expected {
  const { value, other } = statistic(values, aggregation, circular)
  return other === null ? value : (got) => (got === other ? other : value)
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

interface Bucket {
  index: number
  start: number
  end: number
  label: string
  values: number[]
}

export function series(buoys: Known[], question: Asked, { asOf, sources }: World): Answer {
  const { parameters } = question
  const buoy = find(buoys, question.buoyId)
  if (buoy === undefined) return failure(404)
  const metric = parameters.get('metric')!
  const measure = MEASURE_OF[metric]
  const [wave, circular] = [OF_WAVES.has(metric), metric.endsWith('direction')]
  const isMeasured = buoy.rows.some((row) => row[measure] !== null)
  const network = sources.find(({ name }) => name === buoy.record.source)?.network
  const isUsual = network === 'national' && !WEATHER_FIELDS.some((field) => field === metric)
  if (!wave && !isUsual && !isMeasured) return failure(422, ['metric'])
  const asked = parameters.get('bucket') ?? 'day'
  const bucket = { '1h': 'hour', '1d': 'day' }[asked] ?? asked
  const aggregation = (parameters.get('aggregation') ?? 'median').replace('mean', 'avg')
  if (circular && (aggregation === 'min' || aggregation === 'max')) return failure(422, ['aggregation'])
  const zone = parameters.get('timezone') ?? buoy.record.timezone
  const dayName = (name: string, otherwise: number) =>
    numberOr(parameters.get(name) ?? parameters.get(`season_${name}`), otherwise)
  const season: SeasonDates = {
    start: { month: dayName('start_month', 1), day: dayName('start_day', 1) },
    end: { month: dayName('end_month', 12), day: dayName('end_day', 31) },
  }
  const dateNames = ['start_month', 'start_day', 'end_month', 'end_day']
  for (const { month, day } of [season.start, season.end]) {
    if (new Date(Date.UTC(2000, month - 1, day)).getUTCMonth() !== month - 1) return failure(422, dateNames)
  }

  const isComplete = (year: number) => firstInstant(zone, seasonDays(season, year).last + 1) <= asOf
  let lastComplete = dateOf(Math.floor(asOf / DAY)).year + 1
  while (!isComplete(lastComplete)) lastComplete--
  const endYear = numberOr(parameters.get('end_year'), lastComplete)
  const startYear = numberOr(parameters.get('start_year'), endYear - 9)
  if (startYear > endYear || endYear - startYear + 1 > 13) return failure(422, ['start_year', 'end_year'])

  const rows: WorldRow[] = wave ? buoy.readings : buoy.rows
  const samples = rows
    .filter((row) => row[measure] !== null)
    .map((row) => ({ value: row[measure]!, ...localAt(zone, row.time) }))
  const years = []
  for (let year = startYear; year <= endYear; year++) {
    const { first, last } = seasonDays(season, year)
    const buckets = new Map<number, Bucket>()
    for (const { value, serial, hour } of samples) {
      if (serial < first || serial > last) continue
      const place = bucketPlace(bucket, { zone, first, last, serial, hour, season })
      const known = buckets.get(place.index)
      if (known === undefined) buckets.set(place.index, { ...place, values: [value] })
      else known.values.push(value)
    }
    const points = [...buckets.values()]
      .toSorted((a, b) => a.index - b.index)
      .map(({ index, label, start, end, values }) => {
        return {
          bucket_index: index,
          label,
          bucket_start: offsetTime(zone, start),
          bucket_end: offsetTime(zone, end),
          value: together(values, aggregation, circular),
          sample_count: values.length,
        }
      })
    years.push({ year, complete: isComplete(year), point_count: points.length, points })
  }
  return success({
    buoy: { id: buoy.id, ...buoySummary(buoy) },
    metric,
    bucket,
    aggregation,
    timezone: zone,
    season: { start: { ...season.start }, end: { ...season.end } },
    years,
    count: years.reduce((sum, one) => sum + one.point_count, 0),
  })
}

interface Moment {
  zone: string
  first: number
  last: number
  serial: number
  hour: number
  season: SeasonDates
}

function bucketPlace(bucket: string, moment: Moment): Omit<Bucket, 'values'> {
  const { zone, first, last, serial, hour, season } = moment
  const label = (day: number) => {
    const date = dateOf(day)
    return `${MONTHS[date.month - 1]} ${String(date.day).padStart(2, '0')}`
  }
  if (bucket === 'week') {
    const week = Math.floor((serial - first) / 7)
    const from = first + week * 7
    const until = Math.min(from + 7, last + 1)
    return {
      index: week + 1,
      start: firstInstant(zone, from),
      end: firstInstant(zone, until) - 1,
      label: label(from),
    }
  }
  const { month, day } = dateOf(serial)
  const place = (leapPlace(month, day) - leapPlace(season.start.month, season.start.day) + 366) % 366
  if (bucket === 'hour') {
    // Hours of the wall clock, 24 places to a day: one that the clock shows twice is one bucket.
    return {
      index: place * 24 + hour + 1,
      start: firstInstant(zone, serial, hour),
      end: lastSecond(
        zone,
        (local) => local.serial === serial && local.hour === hour,
        firstInstant(zone, serial, hour + 1),
      ),
      label: `${label(serial)} ${String(hour).padStart(2, '0')}:00`,
    }
  }
  return {
    index: place + 1,
    start: firstInstant(zone, serial),
    end: firstInstant(zone, serial + 1) - 1,
    label: label(serial),
  }
}

const BUCKET_HOURS: { [bucket: string]: number } = {
  '1h': 1,
  '3h': 3,
  '1d': 24,
  '1mo': 28 * 24,
  hour: 1,
  day: 24,
  month: 28 * 24,
}
const MOST_BUCKETS = 3660
const USUAL = ['significient_height', 'maximum_height', 'period', 'water_temperature', 'direction']

/** Whether so many buckets are refused, of each buoy or of all together. */
export function isTooMany(bucket: string, seconds: number, buoys: number): boolean {
  const most = Math.ceil(seconds / HOUR / BUCKET_HOURS[bucket])
  return most > MOST_BUCKETS || most * buoys > 100 * MOST_BUCKETS
}

interface RangeBucket {
  serial: number
  hour: number
  rows: WorldRow[]
}

/**
 * Readings by the bucket in which the clock of the zone shows their time, oldest first.
 * @param cut ends of the range that the request names, epoch seconds
 */
export function bucketsOf(
  readings: readonly WorldRow[],
  parameters: Asked['parameters'],
  named: string | null,
  cut: { start: number; end: number },
): ExpectedObject[] {
  const zone = named ?? 'UTC'
  const hours = BUCKET_HOURS[parameters.get('bucket')!]
  const aggregation = (parameters.get('aggregation') ?? 'mean').replace('mean', 'avg')
  const beginOf = ({ serial, hour }: Local): Local => {
    const { year, month } = dateOf(serial)
    if (hours > 24) return { serial: serialOf(year, month, 1), hour: 0 }
    return { serial, hour: hours < 24 ? Math.floor(hour / hours) * hours : 0 }
  }
  const buckets = new Map<string, RangeBucket>()
  for (const reading of readings) {
    const { serial, hour } = beginOf(localAt(zone, reading.time))
    const key = `${serial} ${hour}`
    const known = buckets.get(key) ?? { serial, hour, rows: [] }
    known.rows.push(reading)
    buckets.set(key, known)
  }
  const ordered = [...buckets.values()].toSorted((a, b) => a.serial - b.serial || a.hour - b.hour)
  return ordered.map(({ serial, hour, rows }) => {
    const of = (field: string): Expected => {
      const values = rows.flatMap((row) => row[MEASURE_OF[field]] ?? [])
      return values.length === 0 ? null : together(values, aggregation, field.endsWith('direction'))
    }
    const start = firstInstant(zone, serial, hour)
    const { year, month } = dateOf(serial)
    const next =
      hours > 24
        ? firstInstant(zone, serialOf(year, month + 1, 1))
        : firstInstant(zone, serial, hour + Math.min(24, hours))
    const isIn = (local: Local): boolean => {
      const begin = beginOf(local)
      return begin.serial === serial && begin.hour === hour
    }
    const isPartial = start < cut.start || lastSecond(zone, isIn, next) > cut.end
    const wall = isoTime(serial * DAY + hour * HOUR)
    const label =
      hours > 24 ? wall.slice(0, 7) : wall.slice(0, 10) + (hours < 24 ? ` ${wall.slice(11, 16)}` : '')
    return {
      time: zoneTime(named, start),
      ...(named !== null && { label, ...(isPartial && { partial: true }) }),
      ...Object.fromEntries(USUAL.map((field) => [field, of(field)])),
      ...extras(wordsOf(parameters.get('include')), of),
      sample_count: rows.length,
    }
  })
}
