/** The tools that assistants have: what each asks of the API, and what it answers. */
import type { Static, TSchema } from 'typebox'
import type {
  ClimateAnswer,
  ClimateExtremesAnswer,
  ClimateRecordsAnswer,
  ClimateStormsAnswer,
  ConditionsAnswer,
  ForecastAnswer,
  GetBuoyAnswer,
  LastReadingsAnswer,
  ListReadingsAnswer,
  ListSpectraAnswer,
  NearestBuoysAnswer,
  Place,
  ReadingSeriesAnswer,
  SearchBuoysAnswer,
  SearchPlacesAnswer,
  TidesAnswer,
} from '../../clients/typescript/groundswell.ts'
import { EXTRA_GROUPS, WIRE_NAMES } from '../dataset/reading-json.ts'
import { SWELL_NAMES, WEATHER_NAMES } from '../sea/columns.ts'
import { ageText, DAY, HOUR, parseDate, parseTimestamp, timestampText } from '../sea/time.ts'
import { localText, UTC, zone } from '../sea/zones.ts'
import { Type } from '../system/schema.ts'
import { AdviceError, ToolCall } from './call.ts'

const HOURS_OF_DAY = 24
/** Buoys of an answer, and rows of a history. */
const MOST_BUOYS = 15
const MOST_ROWS = 200
const MOST_PLACES = 3

const FIELDS = Object.values(WIRE_NAMES)
/** Parts of the sea, which few buoys tell apart. */
const PARTS = new Set(SWELL_NAMES.map((name) => WIRE_NAMES[name]))
/** Members that a reading omits if they are missing. */
const RARE = new Set([...PARTS, ...WEATHER_NAMES.map((name) => WIRE_NAMES[name])])
const INCLUDE = EXTRA_GROUPS.join(',')
interface Tool<Input extends TSchema> {
  readonly title: string
  readonly description: string
  readonly input: Input
  /** JSON schema of the answer. */
  readonly output: { readonly [keyword: string]: unknown }
  /** The answer; `notes` are sentences for the assistant. @param now epoch seconds */
  answer(
    asked: Static<Input>,
    call: ToolCall,
    now: number,
  ): Promise<{ [name: string]: unknown; notes: string[] }>
}

const defined = <const Input extends TSchema>(definition: Tool<Input>): Tool<TSchema> => definition
const optional = <const Value extends TSchema>(value: Value) => Type.Optional(value)
const object = <const Members extends { [name: string]: TSchema }>(members: Members) =>
  Type.Object(members, { additionalProperties: false })
const number = (minimum: number, maximum: number, description: string) =>
  Type.Number({ minimum, maximum, description })
const integer = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })
const time = (description: string) => Type.String({ maxLength: 35, description })
const [LAT, LNG] = [number(-90, 90, 'decimal degrees'), number(-180, 180, 'decimal degrees')]
const BUOY = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  minLength: 1,
  maxLength: 100,
  description: 'id or slug of a buoy, from find_buoys',
})

type Schema = Tool<TSchema>['output']
const [TEXT, NUMBER] = [{ type: 'string' }, { type: 'number' }]
const OBJECT = { type: 'object' }
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const [TEXTS, OBJECTS] = [listOf(TEXT), listOf(OBJECT)]
const ROWS = listOf({ type: 'array', items: { type: ['string', 'number', 'null'] } })
const CREDITS = {
  ...OBJECTS,
  description: 'whom to credit for the data: pass it on',
}
const COLUMNS = { ...TEXTS, description: 'names of the values of each row' }

/** Members of an answer with those of all answers. @param rest members that it may have */
function answerOf(members: { [name: string]: Schema }, rest: { [name: string]: Schema } = {}): Schema {
  const common = {
    notes: { ...TEXTS, description: 'what was cut, aggregated, not measured or made up' },
    units: { ...OBJECT, description: 'units of values by how their names end' },
    snapshot: { type: ['string', 'null'], description: 'the state of the data' },
  }
  const always = { ...members, ...common }
  return { type: 'object', properties: { ...always, ...rest }, required: Object.keys(always) }
}

interface WithReading {
  readonly id: number
  readonly last_reading?: object | null
}

/** A buoy with the age of its last reading, where one was asked for. @param now epoch seconds */
function aged(buoy: WithReading, now: number): object {
  const reading = buoy.last_reading as { readonly [field: string]: unknown } | null | undefined
  if (reading === null || reading === undefined) return buoy
  const { epoch } = parseTimestamp(String(reading['time']))!
  const shown = FIELDS.filter((field) => !RARE.has(field) || (reading[field] ?? null) !== null)
  const measured = Object.fromEntries(shown.map((field) => [field, reading[field] ?? null]))
  return {
    ...buoy,
    last_reading: { time: reading['time'], age: ageText(Math.max(0, now - epoch)), ...measured },
  }
}

const lastReadings = (call: ToolCall, ids: readonly number[]) =>
  call.data<LastReadingsAnswer>('/buoys/last_readings', {
    ids: ids.join(),
    limit: MOST_BUOYS,
    include: `${INCLUDE},spectrum`,
  })

/** The wave trains of a buoy's newest spectrum, the one with most energy first. */
async function trainsOf(call: ToolCall, id: number): Promise<object> {
  const { spectra } = await call.data<ListSpectraAnswer>(`/buoys/${id}/spectra`, {})
  return { time: spectra[0]?.time ?? null, trains: spectra[0]?.trains ?? [] }
}

const TRAINS_NOTE =
  'wave_trains are peaks of the wave spectrum, parted by a valley below half of the lower peak, each with at least 5 % of the energy: the squares of their heights add up to that of the sea or less.'

/** A buoy, and whom to credit for its data. */
async function aboutBuoy(call: ToolCall, idOrSlug: number | string) {
  const path = `/buoys/${encodeURIComponent(idOrSlug)}`
  const { buoy } = await call.data<GetBuoyAnswer>(path, { include: 'credit' })
  const { id, name, source, last_reading_time, credit, licence } = buoy
  return { buoy: { id, name, source, last_reading_time }, credits: [{ source, credit, licence }] }
}

/** Active buoys near a point with their last readings; none where the API finds none. */
async function nearBuoys(call: ToolCall, near: Parameters<ToolCall['data']>[1]): Promise<WithReading[]> {
  try {
    const found = await call.data<NearestBuoysAnswer>('/buoys/nearest', near)
    return 'buoys' in found ? found.buoys : []
  } catch (error) {
    if (error instanceof AdviceError && /No active buoy/.test(error.message)) return []
    throw error
  }
}

const BUOYS = listOf({
  type: 'object',
  properties: { id: { type: 'integer' }, name: TEXT, lat: NUMBER, lng: NUMBER, distance_km: NUMBER },
  required: ['id', 'name'],
})

const findBuoys = defined({
  title: 'Find buoys',
  description:
    'Finds wave buoys by a text (name, id of the network, or a coastal town such as "santa monica"), or the nearest active ones to a point with their last readings.',
  input: object({
    text: optional(Type.String({ minLength: 2, maxLength: 100, description: 'instead of lat and lng' })),
    lat: optional(LAT),
    lng: optional(LNG),
    within_km: optional(number(1, 20_100, 'of lat and lng; default 150')),
    measures: optional(
      Type.Array(Type.Enum(FIELDS), { description: 'with lat and lng: what the last reading must have' }),
    ),
    limit: optional(integer(1, MOST_BUOYS, 'default 5')),
  }),
  output: answerOf({ buoys: BUOYS }, { places: OBJECTS }),
  async answer({ text, lat, lng, within_km: reach = 150, measures = [], limit = 5 }, call, now) {
    if ((text === undefined) !== (lat !== undefined && lng !== undefined))
      throw new AdviceError('Give either text, or both lat and lng.')
    if (text !== undefined && measures.length > 0)
      throw new AdviceError('measures goes with lat and lng: find the place by text first.')
    // One buoy more than wanted shows whether there are more.
    const near = {
      lat,
      lng,
      max_distance: reach,
      has: measures.length === 0 ? undefined : measures.join(),
      include: INCLUDE,
      limit: limit + 1,
    }
    const buoys: WithReading[] =
      text === undefined
        ? await nearBuoys(call, near)
        : (
            await call.data<SearchBuoysAnswer>('/buoys/search', { query: text, limit: limit + 1 })
          ).buoys.slice()
    const notes = []
    const places: Place[] = []
    if (text !== undefined && buoys.length <= limit) {
      places.push(
        ...(await call.data<SearchPlacesAnswer>('/places', { query: text, limit: MOST_PLACES })).places,
      )
      const [place] = places
      if (place !== undefined) {
        const around = await nearBuoys(call, { ...near, lat: place.lat, lng: place.lng })
        const others = around.filter(({ id }) => !buoys.some((known) => known.id === id))
        buoys.push(...others)
        const name = [place.name, place.region, place.country].filter((part) => part !== null).join(', ')
        if (others.length > 0) notes.push(`Buoys with distance_km are near ${name}.`)
        else notes.push(`No other active buoy is within ${reach} km of ${name}.`)
      }
    }
    if (buoys.length > limit) notes.push(`Cut: there are more than these ${limit}.`)
    if (buoys.length > 0) notes.push('latest_readings has the credit to pass on with readings.')
    else if (text !== undefined) notes.push('No buoy has this name: try another spelling, or a point.')
    else {
      const fewer = measures.length === 0 ? '' : ', or fewer measures'
      notes.push(`No active buoy within ${reach} km: try a greater within_km${fewer}.`)
    }
    const others = places.map(({ name, region, country, lat, lng }) => ({ name, region, country, lat, lng }))
    return {
      ...(others.length > 0 && { places: others }),
      buoys: buoys.slice(0, limit).map((buoy) => aged(buoy, now)),
      notes,
    }
  },
})

const latestReadings = defined({
  title: 'Latest readings',
  description:
    'The newest reading of several buoys: waves, water temperature, wind and weather; of buoys with wave spectra also the wave trains in the newest one: at most three, swells or wind sea, each with height, period and direction.',
  input: object({ ids: Type.Array(BUOY, { minItems: 1, maxItems: MOST_BUOYS }) }),
  output: answerOf({ buoys: BUOYS, credits: CREDITS }),
  async answer({ ids: given }, call, now) {
    const { ids, unknown } = await idsOf(call, given)
    const { buoys, missing_ids: missing } = await lastReadings(call, ids)
    const credits = []
    for (const id of new Map(buoys.map(({ id, source }) => [source, id])).values())
      credits.push(...(await aboutBuoy(call, id)).credits)
    const notes = [...unknown, ...missing.map((id) => `No buoy has the id ${id}: find_buoys finds ids.`)]
    const told: object[] = []
    for (const { spectrum = null, ...buoy } of buoys) {
      const trains = spectrum === null ? {} : { wave_trains: await trainsOf(call, buoy.id) }
      told.push({ ...aged(buoy, now), ...trains })
    }
    if (buoys.some(({ spectrum = null }) => spectrum !== null)) notes.push(TRAINS_NOTE)
    return { buoys: told, credits, notes }
  },
})

/** Ids of ids and slugs, and a note about unknown slugs. @throws AdviceError where none is left */
async function idsOf(call: ToolCall, given: readonly (number | string)[]) {
  const ids: number[] = []
  const unknown: string[] = []
  for (const one of given) {
    if (/^[1-9][0-9]{0,14}$/.test(String(one))) ids.push(Number(one))
    else {
      try {
        ids.push((await aboutBuoy(call, one)).buoy.id)
      } catch (error) {
        if (!(error instanceof AdviceError)) throw error
        unknown.push(error.message)
      }
    }
  }
  if (ids.length === 0) throw new AdviceError(unknown.join(' '))
  return { ids, unknown }
}

/** The steps of a history, with their length in seconds and the API's word. */
const STEPS = {
  reading: [0, undefined],
  hour: [HOUR, '1h'],
  day: [DAY, '1d'],
  month: [28 * DAY, '1mo'],
} as const
type Step = keyof typeof STEPS

/** Fewer rows than the API has of a buoy at most. */
const MOST_BUCKETS = 3600

const history = defined({
  title: 'History of a buoy',
  description: `Readings of a buoy between two times, oldest first: at most ${MOST_ROWS} rows, aggregated by hour, day or month (UTC) if there are more readings.`,
  input: object({
    id: BUOY,
    start_date: time('UTC, such as 2026-03-27T09:00:00Z, 2026-03-27 or now-7d'),
    end_date: optional(time('as start_date, included; default: now')),
    by: optional(
      Type.Enum(Object.keys(STEPS) as Step[], {
        description: `default: the finest that fits into ${MOST_ROWS} rows`,
      }),
    ),
    aggregation: optional(Type.Enum(['mean', 'max', 'min', 'median'], { description: 'default: mean' })),
  }),
  output: answerOf({ buoy: OBJECT, credits: CREDITS, columns: COLUMNS, rows: ROWS }),
  async answer({ id, by, aggregation = 'mean', ...range }, call) {
    const about = await aboutBuoy(call, id)
    const path = `/buoys/${about.buoy.id}/readings`
    const oldest = { ...range, order: 'asc', per_page: 1 }
    const { readings, count } = await call.data<ListReadingsAnswer>(path, oldest)
    const newest = parseTimestamp(about.buoy.last_reading_time ?? '')?.epoch ?? 0
    const end = Math.min(newest, parseTimestamp(range.end_date ?? '')?.epoch ?? newest)
    const first = parseTimestamp(readings[0]?.time ?? '')?.epoch ?? end
    const fits = (step: Step): boolean =>
      step === 'reading' ? count <= MOST_ROWS : (end - first) / STEPS[step][0] < MOST_ROWS - 1
    const step = by ?? (Object.keys(STEPS) as Step[]).find(fits) ?? 'month'
    const [length, bucket] = STEPS[step]
    const start = length === 0 ? first : Math.max(first, end - MOST_BUCKETS * length)
    const csv = await call.text(path, {
      ...range,
      ...(count > 0 && { start_date: timestampText(start) }),
      bucket,
      aggregation,
      format: 'csv',
      order: 'asc',
      include: INCLUDE,
      fields: ['time', ...FIELDS, ...(bucket === undefined ? [] : ['sample_count'])].join(),
    })
    const lines = csv.split('\r\n').slice(1, -1)
    const all = lines.map((line) => {
      const [at, ...cells] = line.split(',')
      return [at, ...cells.map((text) => (text === '' ? null : Number(text)))]
    })
    const columns = [...FIELDS.keys()].filter((i) => all.some((row) => row[i + 1] !== null))
    const rows = all.slice(-MOST_ROWS).map((row) => {
      return [row[0], ...columns.map((i) => row[i + 1]), row[FIELDS.length + 1] ?? 1]
    })
    const missing = FIELDS.filter((_, i) => !columns.includes(i))
    const notes = [
      step === 'reading'
        ? 'Each row is a reading.'
        : `Aggregated by ${step}, which begins at time (UTC): each value is the ${aggregation}, of directions the circular mean.`,
    ]
    if (count === 0) notes.push(`No readings in this time: the newest is of ${about.buoy.last_reading_time}.`)
    else if (missing.length > 0) notes.push(`Not measured in this time: ${missing.join(', ')}.`)
    if (all.length > MOST_ROWS || start > first)
      notes.push(`Cut: the newest ${MOST_ROWS} rows; ask for less, or for a longer step.`)
    return { ...about, columns: ['time', ...columns.map((i) => FIELDS[i]), 'readings'], rows, notes }
  },
})

const conditions = defined({
  title: 'Conditions at a point',
  description:
    'Forecast, nearest reading and tide of a point of the sea at a time, which may be some days ahead.',
  input: object({
    lat: LAT,
    lng: LNG,
    time: optional(time('UTC, such as 2026-03-27T09:00:00Z; default: now')),
  }),
  output: answerOf({
    location: OBJECT,
    forecast: OBJECT,
    reading: OBJECT,
    tide: OBJECT,
    metadata: OBJECT,
    credits: CREDITS,
  }),
  async answer(asked, call) {
    const data = await call.data<ConditionsAnswer>('/conditions', {
      ...asked,
      include: 'model,weather',
    })
    const { forecast, reading, tide } = data
    const { credits = [] } = reading.exists ? await aboutBuoy(call, reading.buoy.id) : {}
    const notes = []
    if (forecast.waves_height === null)
      notes.push('No forecast within 50 km of the point, or none for that time.')
    if (!reading.exists)
      notes.push('No buoy within 50 km has a reading within 24 hours: find_buoys finds others.')
    if (tide.height === null) notes.push('No harbour within 100 km has a tide.')
    return { ...data, credits, notes }
  },
})

/** Hours between rows of a forecast of more than a day. */
const FORECAST_STEP = 3

const forecast = defined({
  title: 'Forecast and tides of a place',
  description:
    'Waves, swell and wind of a place hour by hour (by three hours for more than a day), and its high and low waters, by days of its own clock: "low tide on Saturday".',
  input: object({
    id: optional(BUOY),
    lat: optional(LAT),
    lng: optional(LNG),
    date: optional(
      Type.String({ maxLength: 10, description: 'first day there, such as 2026-03-28; default: today' }),
    ),
    days: optional(integer(1, 10, 'default 3')),
  }),
  output: answerOf({
    location: OBJECT,
    timezone: TEXT,
    columns: COLUMNS,
    rows: ROWS,
    tides: OBJECTS,
    metadata: OBJECT,
    credits: CREDITS,
  }),
  async answer({ id, lat, lng, date, days = 3 }, call) {
    const isPoint = lat !== undefined && lng !== undefined
    if ((id !== undefined) === isPoint || (lat === undefined) !== (lng === undefined))
      throw new AdviceError('Give either id, or both lat and lng.')
    const place = { buoy: id, lat, lng }
    const table = await call.data<TidesAnswer>('/tides', { ...place, start: date, days })
    const clock = zone(table.timezone) ?? UTC
    const start = clock.firstInstant(parseDate(table.start)!)
    const range = { start: timestampText(start), hours: days * HOURS_OF_DAY }
    const {
      time: times,
      location,
      metadata,
      tides: _,
      ...arrays
    } = await call.data<ForecastAnswer>('/forecast', { ...place, ...range })
    const step = days === 1 ? 1 : FORECAST_STEP
    const known = Object.entries(arrays).filter(([, values]) => values.some((value) => value !== null))
    const rows = times.flatMap((text, i) => {
      if (i % step !== 0 || known.length === 0) return []
      return [[localText(parseTimestamp(text)!.epoch, clock), ...known.map(([, values]) => values[i])]]
    })
    const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: clock.name })
    const tides = table.tides.map((turn) => ({ weekday: weekday.format(new Date(turn.time)), ...turn }))
    const notes = [`Times and days are those of ${clock.name}. Heights of tides are above chart datum.`]
    if (metadata.forecast_model === null) notes.push('No forecast within 50 km of the place.')
    else if (known.every(([name]) => name === 'tide_level'))
      notes.push('The forecast does not reach these days.')
    if (table.harbor === null) notes.push('No harbour within 100 km has a tide.')
    const credits = [metadata.forecast_credit, table.source].filter((credit) => credit !== null)
    return {
      location,
      timezone: clock.name,
      columns: ['time', ...known.map(([name]) => name)],
      rows,
      tides,
      metadata,
      credits: credits.map((credit) => ({ credit })),
      notes,
    }
  },
})

const compareSeasons = defined({
  title: 'Compare seasons',
  description:
    'One measure of a buoy in the same season of several years. Default: the last ten whole calendar years. A season over New Year ends in a month before start_month.',
  input: object({
    id: BUOY,
    metric: Type.Enum(FIELDS.filter((field) => !field.endsWith('direction') && !PARTS.has(field))),
    start_month: optional(integer(1, 12, 'default 1')),
    start_day: optional(integer(1, 31, 'default 1')),
    end_month: optional(integer(1, 12, 'default 12')),
    end_day: optional(integer(1, 31, 'included; default the last of the month')),
    start_year: optional(integer(1900, 2105, 'at most 13 seasons')),
    end_year: optional(integer(1900, 2105, 'default: the last that is over')),
  }),
  output: answerOf({
    buoy: OBJECT,
    credits: CREDITS,
    season: OBJECT,
    timezone: TEXT,
    seasons: OBJECTS,
  }),
  async answer({ id, metric, ...years }, call) {
    const about = await aboutBuoy(call, id)
    const path = `/buoys/${about.buoy.id}/readings/series`
    const series = await call.data<ReadingSeriesAnswer>(path, { metric, ...years })
    const seasons = series.years.map(({ year, complete, points }) => {
      const days = points.toSorted((a, b) => a.value! - b.value!)
      const highest = days.at(-1)
      return {
        year,
        is_over: complete,
        days_with_values: days.length,
        [`lowest_${metric}`]: days[0]?.value,
        [`median_${metric}`]: days[days.length >> 1]?.value,
        [`highest_${metric}`]: highest?.value,
        highest_on: highest?.bucket_start.slice(0, 10),
      }
    })
    const notes = ['Values are of daily medians: the lowest, the middle and the highest of a season.']
    return { ...about, season: series.season, timezone: series.timezone, seasons, notes }
  },
})

/** Storms asked of the API; the highest are told. */
const MOST_STORMS = 1000
const TOLD_STORMS = 15

const climate = defined({
  title: 'Climate of a buoy',
  description:
    'Whether the sea is usual, from all years of a buoy: how the last height compares with those of the same time of the year, with what is usual in each month; or records, the highest storms, or return levels (heights that are exceeded once in so many years).',
  input: object({
    id: BUOY,
    about: optional(
      Type.Enum(['usual', 'records', 'storms', 'return_levels'], { description: 'default: usual' }),
    ),
    start_year: optional(integer(1900, 2105, 'default: the first with readings')),
    end_year: optional(integer(1900, 2105, 'default: the last')),
  }),
  output: answerOf(
    { buoy: OBJECT, credits: CREDITS },
    {
      last_reading: OBJECT,
      usual: OBJECT,
      months: OBJECTS,
      records: OBJECT,
      storms: OBJECTS,
      levels: OBJECTS,
    },
  ),
  async answer({ id, about: asked = 'usual', ...years }, call, now) {
    const about = await aboutBuoy(call, id)
    const path = `/buoys/${about.buoy.id}`
    const below = `${path}/climate`
    const notes = ['Heights are significant heights in m, times UTC.']
    if (asked === 'records') {
      const { ever, months, last } = await call.data<ClimateRecordsAnswer>(`${below}/records`, years)
      notes.push(
        'A doubtful value has no similar one within three hours. last is the last reading, ranked in its month.',
      )
      return { ...about, records: { ever, months, last }, notes }
    }
    if (asked === 'storms') {
      const query = { ...years, per_page: MOST_STORMS }
      const { storms, threshold, count } = await call.data<ClimateStormsAnswer>(`${below}/storms`, query)
      const highest = storms.toSorted((a, b) => b.peak.height - a.peak.height).slice(0, TOLD_STORMS)
      notes.push(
        `Of ${count} storms above ${threshold} m the ${highest.length} highest; duration is in hours.`,
      )
      return { ...about, storms: highest, notes }
    }
    if (asked === 'return_levels') {
      const data = await call.data<ClimateExtremesAnswer>(`${below}/extremes`, years)
      notes.push(`From the maxima of ${data.maxima.length} years; low and high are a 95 % interval.`)
      return { ...about, levels: data.levels, notes: [...notes, ...data.notes] }
    }
    const { buoy } = await call.data<GetBuoyAnswer>(path, { include: 'usual' })
    const { periods, overall, notes: more } = await call.data<ClimateAnswer>(below, years)
    const months = [...periods, { month: 'year', ...overall }].map((period) => {
      const { month, count, mean, p10, p50, p90, p99, maximum } = period
      return { month, readings: count, mean, p10, p50, p90, p99, maximum }
    })
    if (buoy.usual == null) notes.push('Three years of readings are needed to say whether the last is usual.')
    else notes.push('usual compares the last height with those within 15 days of its day of the year.')
    const last = (aged(buoy, now) as typeof buoy).last_reading
    return {
      ...about,
      ...(last !== null && { last_reading: last }),
      ...(buoy.usual != null && { usual: buoy.usual }),
      months,
      notes: [...notes, ...more],
    }
  },
})

export const TOOLS: { readonly [name: string]: Tool<TSchema> } = {
  find_buoys: findBuoys,
  latest_readings: latestReadings,
  history,
  conditions,
  forecast,
  compare_seasons: compareSeasons,
  climate,
}

/** Units of values by how their names end. */
export const UNITS: { readonly [ending: string]: string } = {
  height: 'm',
  period: 's',
  direction: '°',
  temperature: '°C',
  dew_point: '°C',
  pressure: 'hPa',
  humidity: '%',
  visibility: 'km',
  speed: 'km/h',
  energy: 'kJ/m',
}
