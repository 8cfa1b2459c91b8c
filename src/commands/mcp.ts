/** `mcp`: a server of the Model Context Protocol on standard input and output, for assistants. */
import { once } from 'node:events'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Static, TSchema } from 'typebox'
import type {
  ConditionsAnswer,
  GetBuoyAnswer,
  LastReadingsAnswer,
  ListReadingsAnswer,
  NearestBuoysAnswer,
  Place,
  ReadingSeriesAnswer,
  SearchBuoysAnswer,
  SearchPlacesAnswer,
} from '../../clients/typescript/groundswell.ts'
import { EXTRA_GROUPS, WIRE_NAMES } from '../dataset/reading-json.ts'
import { SWELL_NAMES, WEATHER_NAMES } from '../sea/columns.ts'
import { ageText, DAY, HOUR, parseTimestamp, timestampText } from '../sea/time.ts'
import { last, orNull, setting } from '../server/setting.ts'
import { Type } from '../system/schema.ts'
import { command } from './command.ts'
import { AdviceError, plainText, ToolCall } from './mcp-call.ts'
import { clock, note, programVersion } from './surroundings.ts'

/** Bytes of the longest message of a client, and its calls at a time. */
const MESSAGE_BYTES = 2 ** 20
const CALLS_AT_A_TIME = 8
/** Buoys of an answer, and rows of a history. */
const MOST_BUOYS = 15
const MOST_ROWS = 200
const MOST_PLACES = 3

const FIELDS = Object.values(WIRE_NAMES)
/** Parts of the sea, which few buoys tell apart. */
const PARTS = new Set(SWELL_NAMES.map((name) => WIRE_NAMES[name]))
/** Left out of a reading without them. */
const RARE = new Set([...PARTS, ...WEATHER_NAMES.map((name) => WIRE_NAMES[name])])
const INCLUDE = EXTRA_GROUPS.join(',')
const INSTRUCTIONS =
  'Waves measured by ocean buoys, forecasts and tides. Begin with find_buoys: other tools take its ids. Directions are where waves or wind come from. Times are UTC. null is a value that was not measured or is missing, never 0. Tell how old readings are, pass on credits, and say so where data are made up.'

const mcp = command({
  settings: {
    url: setting('URL', 'address of the API', 'http://127.0.0.1:8080/v2', apiAddress),
    key: setting('KEY', 'key of the API; in its variable other users cannot see it', '', orNull(apiKey)),
  },
  serve: async ({ url, key }, stops) => {
    const transport = new StdioServerTransport(process.stdin, process.stdout, {
      maxBufferSize: MESSAGE_BYTES,
    })
    const onerror = ({ message }: Error): void =>
      note(`the assistant's connection: ${plainText(message)}`, 'warning')
    const ended = once(process.stdin, 'close')
    const connection = serveStdio(() => serverOf(url, key), { transport, onerror })
    note(`tools for assistants, from ${url}${key === null ? '; without a key only find_buoys answers' : ''}`)
    await Promise.race([ended, stops.asked])
    await connection.close()
  },
})
export const COMMANDS = { mcp }

/** The address of the operations, without a slash at its end. */
function apiAddress(texts: readonly string[]): string {
  const url = URL.canParse(last(texts)) ? new URL(last(texts)) : null
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}` !== '')
    throw new Error('an address such as http://127.0.0.1:8080/v2, without a key or a password')
  return url.origin + (url.pathname === '/' ? '/v2' : url.pathname.replace(/\/+$/, ''))
}

function apiKey(texts: readonly string[]): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(last(texts))) throw new Error('a key of visible characters')
  return last(texts)
}

interface Tool<Input extends TSchema> {
  readonly description: string
  readonly input: Input
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
const BUOY = integer(1, Number.MAX_SAFE_INTEGER, 'of a buoy, from find_buoys')

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
    include: INCLUDE,
  })

/** A buoy, and whom to credit for its data. */
async function aboutBuoy(call: ToolCall, id: number) {
  const { buoy } = await call.data<GetBuoyAnswer>(`/buoys/${id}`, { include: 'credit' })
  const { name, source, last_reading_time, credit, licence } = buoy
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

const findBuoys = defined({
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
        buoys.push(...around.filter(({ id }) => !buoys.some((known) => known.id === id)))
        notes.push(`Buoys with distance_km are near ${[place.name, place.region, place.country].join(', ')}.`)
      }
    }
    if (buoys.length > limit) notes.push(`Cut: there are more than these ${limit}.`)
    if (buoys.length === 0) notes.push('None: try another spelling, a point, or fewer measures.')
    else notes.push('latest_readings has the credit to pass on with readings.')
    const others = places.map(({ name, region, country, lat, lng }) => ({ name, region, country, lat, lng }))
    return {
      ...(others.length > 0 && { places: others }),
      buoys: buoys.slice(0, limit).map((buoy) => aged(buoy, now)),
      notes,
    }
  },
})

const latestReadings = defined({
  description: 'The newest reading of several buoys: waves, water temperature, wind and weather.',
  input: object({ ids: Type.Array(BUOY, { minItems: 1, maxItems: MOST_BUOYS }) }),
  async answer({ ids }, call, now) {
    const { buoys, missing_ids: missing } = await lastReadings(call, ids)
    const credits = []
    for (const id of new Map(buoys.map(({ id, source }) => [source, id])).values())
      credits.push(...(await aboutBuoy(call, id)).credits)
    const notes = missing.map((id) => `No buoy has the id ${id}: find_buoys finds ids.`)
    return { buoys: buoys.map((buoy) => aged(buoy, now)), credits, notes }
  },
})

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
  async answer({ id, by, aggregation = 'mean', ...range }, call) {
    const about = await aboutBuoy(call, id)
    const path = `/buoys/${id}/readings`
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
    if (count === 0) notes.push(`No readings then: its newest is of ${about.buoy.last_reading_time}.`)
    else if (missing.length > 0) notes.push(`Not measured then: ${missing.join(', ')}.`)
    if (all.length > MOST_ROWS || start > first)
      notes.push(`Cut: the newest ${MOST_ROWS} rows; ask for less, or for a longer step.`)
    return { ...about, columns: ['time', ...columns.map((i) => FIELDS[i]), 'readings'], rows, notes }
  },
})

const conditions = defined({
  description:
    'Forecast, nearest reading and tide of a point of the sea at a time, which may be some days ahead.',
  input: object({
    lat: LAT,
    lng: LNG,
    time: optional(time('UTC, such as 2026-03-27T09:00:00Z; default: now')),
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

const compareSeasons = defined({
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
  async answer({ id, metric, ...years }, call) {
    const about = await aboutBuoy(call, id)
    const path = `/buoys/${id}/readings/series`
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

const TOOLS: { readonly [name: string]: Tool<TSchema> } = {
  find_buoys: findBuoys,
  latest_readings: latestReadings,
  history,
  conditions,
  compare_seasons: compareSeasons,
}

function serverOf(url: string, key: string | null): McpServer {
  const about = { name: 'groundswell', title: 'Wave buoys', version: programVersion() }
  const server = new McpServer(about, { instructions: INSTRUCTIONS })
  let underWay = 0
  for (const [name, tool] of Object.entries(TOOLS)) {
    const { description, input } = tool
    const inputSchema = fromJsonSchema<never>(input)
    const annotations = { readOnlyHint: true, idempotentHint: true }
    server.registerTool(
      name,
      { description, inputSchema, annotations },
      async (asked, { mcpReq: { signal } }) => {
        if (underWay === CALLS_AT_A_TIME)
          throw new AdviceError('Too many calls at once: wait for the answers.')
        underWay++
        try {
          const call = new ToolCall(url, key, signal)
          const { notes, ...data } = await tool.answer(asked, call, clock())
          if (call.isDemo) notes.push('The data are made up: this is a demo.')
          if (call.quotaAdvice !== null) notes.push(call.quotaAdvice)
          const told = { ...data, notes, units: UNITS, snapshot: call.snapshot }
          return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told }
        } catch (error) {
          if (error instanceof AdviceError || signal.aborted) throw error
          note(`${(error as Error).stack}`, 'error')
          throw new AdviceError('This program has a fault, which its log describes: ask something else.')
        } finally {
          underWay--
        }
      },
    )
  }
  return server
}

/** Units of values by how their names end. */
const UNITS: { readonly [ending: string]: string } = {
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
