/**
 * The forms of answers as JSON Schema 2020-12, under the names of the contract, each field with meaning and
 * unit. Objects require all their keys: a missing measurement is `null`.
 */
import { PERCENTS } from '../climate/periods.ts'
import { ITEMS } from '../dataset/buoy-table.ts'
import { ERRORS, type ErrorCode } from '../operation/errors.ts'

export type Schema = { readonly [keyword: string]: unknown }
type Properties = { readonly [name: string]: Schema }

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more })
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })
const idList = (description: string): Schema => list({ type: 'integer', description: 'An id.' }, description)
const flag = (description: string, more: Schema = {}): Schema => ({ type: 'boolean', ...more, description })
const natural = (description: string): Schema => ({ type: 'integer', minimum: 1, description })
const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description })
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const refOrNull = (name: string, description: string): Schema => ({
  anyOf: [ref(name), { type: 'null' }],
  description,
})

/** A number with a unit: in words for readers, in `x-unit` for programs. */
function measure(unit: string, description: string, more: Schema = {}): Schema {
  const [what, ...notes] = description.split('. ')
  const sentences = [`${what}, in ${unit}`, ...notes]
  return { type: 'number', description: `${sentences.join('. ')}.`, 'x-unit': unit, ...more }
}

const whole = (unit: string, description: string, more: Schema = {}): Schema =>
  measure(unit, description, { type: 'integer', ...more })

function orNull(schema: Schema): Schema {
  const { type, enum: words, description } = schema
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(words) ? { enum: [...(words as string[]), null] } : {}),
    description: `${String(description)} \`null\` where there is none.`,
  }
}

const each = (members: Properties, change: (member: Schema, name: string) => Schema): Properties =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member, name)]))

/** Marks members that come only if a parameter names them. */
const IS_OPTIONAL = Symbol('optional')
const optional = (members: Properties): Properties =>
  each(members, (member) => ({ ...member, [IS_OPTIONAL]: true }))

/** An object that requires all of `properties` but the optional ones. */
function object(description: string, properties: Properties): Schema {
  const required = Object.keys(properties).filter((member) => !(IS_OPTIONAL in properties[member]))
  return { type: 'object', required, properties, description }
}

/** Times in answers are in whole seconds, UTC unless a zone was asked for. */
const time = (description: string, more = ''): Schema =>
  text(`${description}, UTC${more}.`, { format: 'date-time' })
const OR_LOCAL = ', or with the offset of `timezone`'
const localTime = (description: string): Schema =>
  text(`${description}, with the offset of the series' time zone.`, { format: 'date-time' })
const height = (description: string): Schema => measure('m', description, { minimum: 0 })
const seconds = (description: string): Schema => measure('s', description, { minimum: 0 })
const degrees = (description: string): Schema =>
  measure('degrees', `${description}, clockwise from north`, { minimum: 0, maximum: 360 })
const speed = (description: string): Schema => measure('km/h', description, { minimum: 0 })
const distance = (description: string): Schema => measure('km', description, { minimum: 0 })
const energy = (description: string): Schema =>
  whole('kJ per metre of crest', `${description}. In deep water: 1/8 · 1025 · 9.81 · H² · 9.81 T² / 2π`, {
    minimum: 0,
  })
const zoneName = (description: string): Schema => text(description, { examples: ['Europe/Paris'] })

const fraction = (description: string): Schema => ({ type: 'number', minimum: 0, maximum: 1, description })
const percent = (description: string): Schema => ({
  type: 'integer',
  minimum: 0,
  maximum: 100,
  description,
})
/** A value of the metric that was asked for. */
const value = (description: string): Schema => ({
  type: 'number',
  description: `${description}, in the unit of the answer.`,
})
const yearNumber: Schema = { type: 'integer', description: 'Year (UTC).' }
const yearList = (description: string): Schema => list(yearNumber, description)
const gevParameters = {
  location: value('Location'),
  scale: value('Scale'),
  shape: { type: 'number', description: 'Shape ξ of Coles: positive for a heavy tail.' },
}
/** Members of all answers about the climate of a buoy. */
const climateMembers = {
  buoy: ref('IdentifiedBuoySummary'),
  metric: text('The requested metric.'),
  unit: text('Unit of its values.'),
  start: orNull(time('First sample')),
  end: orNull(time('Last sample')),
}
const sampleCount = { count: count('Samples.'), left_out: ref('ClimateLeftOut') }
const notes = list(text('A sentence.'), 'What to know of the numbers.')
const usualOrNull = refOrNull(
  'Usual',
  'With `include=usual`: how usual its last height is; `null` with fewer than three years.',
)
const quantileType = text('How quantiles are made.', { const: 'type 7 (Hyndman and Fan 1996)' })

const POINTS = ['N', 'NNE', 'NE', 'ENE', 'E', 'ESE', 'SE', 'SSE']
const OPPOSITE = ['S', 'SSW', 'SW', 'WSW', 'W', 'WNW', 'NW', 'NNW']
const compass = (description: string): Schema =>
  text(`${description}, one of 16 points of the compass.`, { enum: [...POINTS, ...OPPOSITE] })

const id = natural('Identifier of the buoy; it never changes.')
const name = text('Name of the buoy. It is plain text from the source: escape it before it becomes HTML.')
const slug = text('Readable identifier, for use in paths like the `id`; it never changes.', {
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
})
const position = {
  lat: measure('degrees', 'Latitude', { minimum: -90, maximum: 90 }),
  lng: measure('degrees', 'Longitude', { minimum: -180, maximum: 180 }),
}
const measured = {
  significient_height: height(
    'Significant wave height. H1/3 (Candhis: H13D) or Hm0, as the source gives it. The name of this field has this spelling',
  ),
  maximum_height: orNull(height('Maximum wave height. It is measured, never estimated')),
  period: orNull(
    seconds(
      'Significant wave period (Candhis: TH13D). The dominant or peak period where a network has no other',
    ),
  ),
  time: time('When the waves were measured', OR_LOCAL),
  water_temperature: orNull(measure('°C', 'Temperature of the water')),
  direction: orNull(degrees('Direction the waves come from')),
}
const uuid = text('UUID of the reading, made of buoy and time. It stays the same in every later snapshot.', {
  format: 'uuid',
})
const unit = { type: 'string', const: 'm', description: 'Unit of the heights.' }
const reading = {
  id: {
    type: 'integer',
    minimum: 0,
    description:
      'Identifier of the reading, made of buoy and time. It stays the same in every later snapshot.',
  },
  uuid,
  ...measured,
  direction_compass: orNull(compass('`direction` as text')),
  unit,
  energy_per_wave: orNull(energy('Energy of one wave of this height and period')),
}
function swellOf(when: string): Properties {
  return {
    swell_height: orNull(height(`${when}significant height of the swell`)),
    swell_period: orNull(seconds(`${when}period of the swell`)),
    swell_direction: orNull(degrees(`${when}direction the swell comes from`)),
    wind_wave_height: orNull(height(`${when}significant height of the wind sea`)),
    wind_wave_period: orNull(seconds(`${when}period of the wind sea`)),
    wind_wave_direction: orNull(degrees(`${when}direction the wind sea comes from`)),
  }
}
function windOf(when: string): Properties {
  return {
    wind_speed: orNull(speed(`${when}speed of the wind`)),
    wind_direction: orNull(degrees(`${when}direction the wind comes from`)),
    gust_speed: orNull(speed(`${when}speed of gusts`)),
  }
}
function weatherOf(when: string): Properties {
  return {
    air_temperature: orNull(measure('°C', `${when}temperature of the air`)),
    dew_point: orNull(measure('°C', `${when}dew point`)),
    pressure: orNull(measure('hPa', `${when}air pressure at sea level`)),
    humidity: orNull(
      measure('%', `${when}relative humidity; sensors exceed 100 in fog`, { minimum: 0, maximum: 105 }),
    ),
    visibility: orNull(measure('km', `${when}visibility. Sensors of many buoys end at 2.96`, { minimum: 0 })),
  }
}
const extras = {
  peak_period: orNull(seconds('With `include=peak_period`: period at the peak of the spectrum')),
  ...windOf('With `include=wind`: '),
  ...swellOf('With `include=swell`: '),
  ...weatherOf('With `include=weather`: '),
}
const rights = {
  credit: orNull(text("With `include=credit`: the credit line that the data's owner asks for.")),
  licence: orNull(text('With `include=credit`: the licence of the data.')),
}
const spans = {
  ...object('With `include=available`: the fields that the buoy has had, in readings or in series.', {}),
  additionalProperties: object('Times of the first and the last value.', {
    first: time('When it had its first value'),
    last: time('When it had its last value'),
  }),
}
/** Members of buoys, under their names on the wire. */
const MEMBERS: Properties = {
  id,
  name,
  slug,
  ...position,
  source: text('Name of the network that the data come from.'),
  source_identifier: text('Identifier of the buoy at its source.'),
  timezone: zoneName('IANA name of the time zone at the buoy.'),
  dtz: zoneName("The buoy's IANA time zone again, under a name that some clients expect."),
  country: orNull(text('English name of the country that the buoy belongs to.')),
  last_reading_time: orNull(time('Time of the newest reading')),
  readings_count: count('Readings of this buoy in the snapshot.'),
  last_reading: refOrNull('ReadingSummary', 'The newest reading; `null` while the buoy has none.'),
}
/** @param names as in `ITEMS` */
const membersOf = (names: string): Properties =>
  Object.fromEntries(names.split(' ').map((member) => [member, MEMBERS[member]]))

const missionSlug = text('Identifier of the mission: a value of the parameter `mission`.')
const missionName = text('Name of the mission.')
const passId = natural('Identifier of the pass; it never changes.')
const passTexts = {
  name: text('Label for people: satellite, cycle and pass.'),
  external: text('Satellite, cycle and pass as agencies write them: `S3A_C145_P0687`.'),
  satellite: text('Satellite, cycle and pass in short: `s3a-145-687`.'),
  platform: text('Name of the satellite.'),
}
const mapped = membersOf('id name slug lat lng timezone source last_reading_time last_reading')
const range = (description: string): Schema =>
  object(description, { start: time('First moment'), end: time('Last moment, included') })

/** Arrays of values that may be missing, by name. */
const hourly = (values: Properties): Properties =>
  each(values, (value) => list(orNull(value), 'One value for each hour of `time`.'))

const CHART_ARRAYS = {
  significant_height: orNull(height('Significant wave height. The name of this array has this spelling')),
  maximum_height: orNull(height('Maximum wave height')),
  period: orNull(seconds('Wave period')),
  forecast_wave_height: orNull(height('Forecast of the significant wave height, at full hours')),
  tide_level: orNull(measure('m', "Water level above the harbour's chart datum, at full hours")),
}
/** Each group only with its word of `include`. */
const MEASURE_ARRAYS = {
  direction: orNull(degrees('Direction that waves come from')),
  peak_period: orNull(seconds('Peak period')),
  water_temperature: orNull(measure('°C', 'Water temperature')),
  wind_speed: orNull(speed('Wind speed')),
  wind_direction: orNull(degrees('Direction that wind comes from')),
  gust_speed: orNull(speed('Speed of gusts')),
  forecast_wind_speed: orNull(speed('Forecast of the wind speed, at full hours')),
  forecast_wind_direction: orNull(degrees('Forecast of the direction that wind comes from, at full hours')),
  forecast_wave_period: orNull(seconds('Forecast of the wave period, at full hours')),
  forecast_wave_direction: orNull(degrees('Forecast of the direction that waves come from, at full hours')),
}
const SWELL_ARRAYS = swellOf('Of the sea in two parts: ')
const WEATHER_ARRAYS = weatherOf('Of the air: ')
const chartArrays = (arrays: Properties, when: string): Properties =>
  each(arrays, (item) => list(item, `${String(item.description)} As long as \`time\`.${when}`))
const chartFields = (arrays: Properties): Properties =>
  each(arrays, (_item, name) => ({ ...ref('ChartField'), description: `About \`${name}\`.` }))
const waterLevel = measure('m', "Water level above the harbour's chart datum")
const harbor = orNull(text('Name of the harbour.'))
const tideSource = orNull(
  text("Source of the harbour's constituents, with the credit that its licence requires."),
)
const modelRun = orNull(time('Run of the forecast model'))
const monthAndDay = (description: string): Schema =>
  object(description, {
    month: { type: 'integer', minimum: 1, maximum: 12, description: 'Month.' },
    day: { type: 'integer', minimum: 1, maximum: 31, description: 'Day of the month.' },
  })

/** Only requests that name a snapshot get this error, so it has a schema of its own. */
const PINNED_ERROR = 'snapshot_gone' satisfies ErrorCode

/** An error of EDR alone, which describes itself. */
const OTHER_DOORS_ERROR = 'too_large' satisfies ErrorCode

const ANSWERED = time('Time of the answer')
const error = {
  error: text('The code for programs. Codes never change; messages may.', {
    enum: Object.keys(ERRORS).filter((code) => code !== PINNED_ERROR && code !== OTHER_DOORS_ERROR),
  }),
  message: text('Text for people. It names the parameter, what is wrong with it and what is allowed.'),
  timestamp: ANSWERED,
  request_id: text('The `X-Request-Id` of the request if that is a UUID, else a new one.', {
    format: 'uuid',
  }),
}

const CHANGE_WORDS = { enum: ['added', 'changed', 'removed'] }
const differing = {
  passes: flag('Whether the satellite passes differ.'),
  forecast: flag('Whether the forecast differs.'),
}

const GEOJSON_POSITION = { type: 'array', items: { type: 'number' } }
const geojson = (of: string): Schema => ({ type: 'string', const: of, description: 'Says what it is.' })

const share = (description: string): Schema => ({
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: `${description}, 0 to 1.`,
})
const spread = (description: string): Schema =>
  orNull(measure('degrees', `${description}, (180/π)√(2(1−r1))`, { minimum: 0, maximum: 81.03 }))

/** Parameters of a whole spectrum, by its moments from 0.0325 Hz on. */
const spectrumOfBuoy = {
  time: time('When the spectrum was measured'),
  reading_time: orNull(time('The nearest reading within 30 minutes')),
  hm0: height('Significant wave height of the spectrum, 4√m0'),
  tm01: orNull(seconds('Mean period m0/m1')),
  tm02: orNull(seconds('Mean zero-crossing period √(m0/m2)')),
  te: orNull(seconds('Energy period m₋₁/m0')),
  peak_period: orNull(seconds('Period of the lowest band of greatest density')),
  direction_at_peak: orNull(degrees('Mean direction of that band that waves come from')),
  spread_at_peak: spread('Directional spread of that band'),
  mean_direction: orNull(degrees('Mean direction of all bands, weighted by energy')),
  mean_spread: spread('Directional spread of all bands'),
  power: measure('kW per metre of crest', 'Power of the waves in deep water, 0.490 hm0² te', { minimum: 0 }),
}

const newestSpectrum = refOrNull(
  'NewestSpectrum',
  'With `include=spectrum`: the newest wave spectrum without its bands; `null` where the buoy has none.',
)

/** `components.schemas` without the answers as a whole. */
export const SCHEMAS: { readonly [name: string]: Schema } = {
  Reading: object('One measurement of the waves at a buoy.', { ...reading, ...optional(extras) }),
  ReadingOfBuoy: object('A reading with its buoy.', {
    ...reading,
    buoy_id: natural('The buoy that measured it.'),
    ...optional(extras),
  }),
  RowOfBuoy: object(
    'A row of a buoy: a reading, or weather at a time without waves, of which heights are `null`.',
    {
      ...reading,
      significient_height: orNull(measured.significient_height),
      ...optional(extras),
    },
  ),
  ReadingBucket: object(
    'The readings of a bucket, by `aggregation`; directions by their circular mean, in whole degrees.',
    {
      ...measured,
      time: time('First second of the bucket', OR_LOCAL),
      ...optional({
        label: text(
          'With `timezone`: what its clock shows then, `2026-10-25`, `2026-10` for months, or `2026-10-25 05:00` for hours.',
        ),
        partial: flag('With `timezone`, where the requested range cuts the bucket.', { const: true }),
      }),
      sample_count: count('Readings behind the values.'),
      ...optional({ ...extras, buoy_id: { ...id, description: 'In `/readings`: the buoy.' } }),
    },
  ),
  Place: object('A coastal town.', {
    name: text('Name of the town.'),
    region: orNull(text('State, province or region.')),
    country: text('English name of the country.'),
    ...position,
    buoys: list(ref('NearestBuoy'), 'The nearest three active buoys, however far they are.'),
  }),
  BuoyOfReadings: object('A buoy with readings on the page.', membersOf('id name slug lat lng source')),
  ReadingSummary: object('The part of a reading that lists and details of buoys contain.', {
    uuid,
    ...measured,
    unit,
    ...optional(extras),
  }),
  ClosestReading: object('A reading and its distance in time from the requested moment.', {
    ...reading,
    time_diff_minutes: whole('minutes', 'Time between the reading and the requested moment, never negative', {
      minimum: 0,
    }),
    ...optional(extras),
  }),
  Buoy: object('A buoy in a list.', membersOf(ITEMS.list)),
  BuoyDetail: object('Everything about a buoy.', {
    ...membersOf(ITEMS.detail),
    ...optional({
      last_weather: {
        ...orNull(
          object('With `include=weather`: the newest row without waves.', {
            time: time('When it was measured'),
            water_temperature: measured.water_temperature,
            ...windOf(''),
            ...weatherOf(''),
          }),
        ),
        description:
          'With `include=weather`: the newest row without waves; `null` unless it is newer than the last reading or has a value that the reading lacks.',
      },
      usual: usualOrNull,
      available: spans,
      ...rights,
      spectrum: newestSpectrum,
    }),
  }),
  BuoySearchItem: object('A buoy that a search found.', membersOf(ITEMS.search)),
  NearestBuoy: object('A buoy and its distance.', {
    ...membersOf('id name lat lng source source_identifier'),
    distance_km: distance('Great-circle distance from the point, on a sphere of 6371 km'),
    last_reading: MEMBERS.last_reading,
    ...optional({ usual: usualOrNull }),
  }),
  BuoyLastReading: object('A buoy and its newest reading in full.', {
    ...membersOf('id name lat lng source'),
    last_reading: refOrNull('Reading', 'The newest reading; `null` while the buoy has none.'),
    ...optional({ spectrum: newestSpectrum, usual: usualOrNull }),
  }),
  MapBuoy: object('A buoy on the map.', {
    ...mapped,
    virtual: flag('A buoy in the water.', { const: false }),
    ...optional({ usual: usualOrNull }),
  }),
  VirtualMapBuoy: object('A virtual buoy on the map.', {
    ...mapped,
    virtual: flag('A fixed point of the sea that gets its readings from satellite passes.', { const: true }),
    pass_id: orNull({ ...passId, description: 'The pass that gave the newest reading.' }),
    satellite_pass_id: orNull(passTexts.satellite),
    external_id: orNull(passTexts.external),
    pass_name: orNull(passTexts.name),
    pass_platform: orNull(passTexts.platform),
    ...optional({ usual: usualOrNull }),
  }),
  BuoySummary: object('The buoy that readings belong to.', membersOf(ITEMS.summary)),
  IdentifiedBuoySummary: object(
    'The buoy that a chart or series belongs to.',
    membersOf(ITEMS.identifiedSummary),
  ),
  BuoyName: object('The buoy that a reading belongs to.', membersOf(ITEMS.idAndName)),
  Spectrum: object('A wave spectrum. Lists are by band: their values belong to `data.frequencies`.', {
    ...spectrumOfBuoy,
    trains: list(
      ref('WaveTrain'),
      'The wave trains, of most energy first: at most three peaks of the density, parted by a valley below half of the lower peak, each with at least 5 % of the energy.',
    ),
    density: list(measure('m²/Hz', 'Density of a band', { minimum: 0 }), 'Energy density by band.'),
    direction: list(
      orNull(degrees('Mean direction that the waves of a band come from')),
      'By band (alpha1).',
    ),
    principal_direction: list(
      orNull(degrees('Principal direction, the end of its axis that is nearer to the mean direction')),
      'By band (alpha2).',
    ),
    r1: list(orNull(share('First polar coefficient of a band')), 'By band.'),
    r2: list(orNull(share('Second polar coefficient of a band')), 'By band.'),
    ...optional({
      directional_density: list(
        {
          type: ['array', 'null'],
          items: measure('m²/Hz/degree', 'Density of a direction', { minimum: 0 }),
          description:
            'By direction; `null` for a band without directions, or whose moments no distribution has.',
        },
        'With `include=directional`: density over directions by band. 5° times the sum of a band is its density.',
      ),
      impossible_bands: count('With `include=directional`: bands whose moments no distribution has.'),
    }),
  }),
  WaveTrain: object('A part of the sea around one peak of its spectrum.', {
    height: height('Height, 4√m0 of its bands'),
    period: seconds('Period at its peak'),
    direction: orNull(degrees('Mean direction that it comes from')),
  }),
  NewestSpectrum: object('The newest wave spectrum of a buoy, without its bands.', spectrumOfBuoy),
  SearchParameters: object('What was searched for.', {
    target_datetime: time('The requested moment'),
    tolerance_hours: measure('hours', 'How far from that moment a reading may be'),
    search_range: range('The range that was searched.'),
  }),
  FieldsOfChart: object('What each array of the chart holds.', {
    ...chartFields(CHART_ARRAYS),
    ...optional(chartFields({ ...MEASURE_ARRAYS, ...SWELL_ARRAYS, ...WEATHER_ARRAYS })),
  }),
  ChartField: object('What one array holds.', {
    label: text('Label for people.'),
    unit: text('Unit of the values.'),
    field: orNull(text('The field of a reading that the values come from.')),
  }),
  Chart: object('Parallel arrays over one time axis.', {
    buoy: ref('IdentifiedBuoySummary'),
    fields: ref('FieldsOfChart'),
    time: list(
      time('Time of this position in all arrays'),
      'The time axis that all arrays share, ascending.',
    ),
    ...chartArrays(CHART_ARRAYS, ''),
    ...optional({
      ...chartArrays(MEASURE_ARRAYS, ' Only with `include=measures`.'),
      ...chartArrays(SWELL_ARRAYS, ' Only with `include=swell`.'),
      ...chartArrays(WEATHER_ARRAYS, ' Only with `include=weather`.'),
    }),
  }),
  Usual: object(
    'How the last height compares with those within 15 days of its day of the year in all years, without those of the 60 days before it.',
    {
      higher_than_percent: percent('Share of them that are lower, rounded down.'),
      percentile: {
        type: 'number',
        minimum: 0,
        maximum: 100,
        description: 'Its place among them, in percent; equal ones count half.',
      },
      median: height('Their median'),
      p90: height('Their quantile of 90 %'),
      years: natural('Years with at least half of the readings that are expected then; three at least.'),
      first_year: yearNumber,
      highest_since: orNull(time('The last earlier reading that is at least as high')),
      highest_since_missing_days: count('Days (UTC) without a reading since then, or since the first one.'),
    },
  ),
  ClimateValue: object('A value and when it was measured.', {
    value: { type: 'number', description: 'In the unit of the answer.' },
    time: time('When it was measured'),
  }),
  ClimateLeftOut: object('Suspect readings that are left out, by reason.', {
    spike: count('Heights that leave both neighbours by a metre and half.'),
    stuck: count('Readings with the same wave values for six hours and more.'),
    dead: count('Heights of at most 0.05 m for seven days and more.'),
  }),
  ClimatePeriod: object('A month or season of the year, or all of it.', {
    ...optional({
      month: { type: 'integer', minimum: 1, maximum: 12, description: 'With `by=month`.' },
      season: text('With `by=season`.', { enum: ['djf', 'mam', 'jja', 'son'] }),
    }),
    count: count('Samples in all years.'),
    coverage: orNull(fraction('Share of the expected samples.')),
    years: yearList('Years that count.'),
    years_left_out: list(
      object('A year that does not count.', {
        year: yearNumber,
        reason: text('What it lacks.', { enum: ['coverage', 'gap', 'months'] }),
        coverage: orNull(fraction('Share of its expected samples.')),
      }),
      'Years with samples before and after that do not count.',
    ),
    intervals: list(
      object('An interval between samples.', {
        minutes: whole('minutes', 'The usual interval', { minimum: 1 }),
        years: yearList('Years with months of this interval.'),
      }),
      'More than one where years differ.',
    ),
    mean: orNull(value('Mean of the years that count, of a direction the circular mean of all samples')),
    ...optional({
      standard_deviation: orNull(value('Of all samples, around their own mean, of n − 1')),
      ...Object.fromEntries(
        PERCENTS.map((percent) => [`p${percent}`, orNull(value(`Quantile of ${percent} %`))]),
      ),
      minimum: refOrNull('ClimateValue', 'The least sample, the earliest of equal ones.'),
      maximum: refOrNull('ClimateValue', 'The greatest sample, the earliest of equal ones.'),
      resultant_length: orNull(fraction('Of a direction: length of the mean vector.')),
      sectors: list(
        object('A sector of 22.5°.', {
          direction: compass('Its middle'),
          share: orNull(fraction('Share of the samples.')),
        }),
        'Of a direction: 16 sectors, the first around north.',
      ),
    }),
  }),
  ClimateRecord: object('A greatest or least value, with the samples before and after it.', {
    value: value('The value'),
    time: time('When it was measured'),
    doubtful: flag('Whether it stands alone.'),
    before: refOrNull('ClimateValue', 'The sample before it.'),
    after: refOrNull('ClimateValue', 'The sample after it.'),
  }),
  ClimateRecords: object('Greatest and least values.', {
    ...optional({
      month: { type: 'integer', minimum: 1, maximum: 12, description: 'Of a month of the year.' },
      year: yearNumber,
    }),
    greatest: ref('ClimateRecord'),
    least: ref('ClimateRecord'),
  }),
  ClimateLast: object('The last sample among those of its month in all years.', {
    value: value('The value'),
    time: time('When it was measured'),
    rank: natural('1 is the highest.'),
    of: natural('Samples of its month.'),
    higher_than_percent: percent('Share of them that are lower, rounded down.'),
    highest_since: orNull(time('The last earlier sample that is at least as high')),
    highest_since_missing_days: count('Days (UTC) without a sample since then, or since the first one.'),
  }),
  ClimateBin: object('Heights by another metric.', {
    x: {
      type: 'number',
      description: 'Lower edge of a period, middle of a sector of directions, or a month.',
    },
    y: height('Lower edge of the heights'),
    count: natural('Readings in the bin.'),
    share: fraction('Share of all that are in bins.'),
  }),
  Storm: object('A run of heights above the threshold.', {
    start: time('First reading above the threshold'),
    end: time('Last reading above the threshold'),
    duration: measure('hours', 'From start to end, and one usual interval', { minimum: 0 }),
    peak: object('The highest reading.', {
      height: height('Height'),
      time: time('When it was measured'),
      period: orNull(seconds('Peak period, or else the period')),
      direction: orNull(degrees('Direction the waves come from')),
    }),
    energy: measure('m²h', 'Sum of the squares of the heights, times the usual interval', { minimum: 0 }),
    missing_hours: measure('hours', 'Time without readings within it', { minimum: 0 }),
    cut: flag('Whether it may have been longer.'),
  }),
  ReturnLevel: object('What is exceeded once in a number of years on average.', {
    return_period: whole('years', 'The return period', { minimum: 2 }),
    level: value('The level'),
    low: orNull(value('Lower end of its 95 % interval')),
    high: orNull(value('Upper end of its 95 % interval')),
    extrapolated: flag('Whether the period is above four times the years.'),
  }),
  GevParameters: object('Parameters of the distribution, or their standard errors.', gevParameters),
  Season: object(
    'The season that is compared. A season over New Year belongs to the year in which it starts.',
    { start: monthAndDay('First day.'), end: monthAndDay('Last day, included.') },
  ),
  SeriesPoint: object('One bucket of one year.', {
    bucket_index: {
      type: 'integer',
      minimum: 1,
      description:
        'Number of the bucket in its season, from 1. A bucket without a sample is left out, and the others keep their numbers. With buckets of a day, 29 February has a number in every year: equal numbers are equal calendar days.',
    },
    label: text('`Apr 01`; for hours `Apr 01 05:00`; for weeks their first day.'),
    bucket_start: localTime('First second of the bucket'),
    bucket_end: localTime('Last second of the bucket'),
    value: {
      type: ['number', 'null'],
      description:
        'The aggregated metric in its unit (m, s, degrees, °C or km/h), with two decimals. Directions are whole degrees, or `null` where they cancel out.',
    },
    sample_count: count('Samples behind the value.'),
  }),
  SeriesYear: object('One season. Every requested year has one, with or without data.', {
    year: { type: 'integer', description: 'The year in which the season starts.' },
    complete: flag("Whether the last day of the season is over at the snapshot's time."),
    point_count: count('Length of `points`.'),
    points: list(ref('SeriesPoint'), 'Buckets with samples, ascending.'),
  }),
  SatelliteMission: object('A satellite that measures waves with an altimeter.', {
    slug: missionSlug,
    name: missionName,
    agency: text('Agencies that operate the mission.'),
    instrument: text('The altimeter.'),
    description: text('Description of the mission, in English or French.'),
    image_url: text(
      'Address of a picture: a path from the root of this server, such as `/missions/saral.svg`, unless its operator has others.',
    ),
    pass_count: count('Passes in the snapshot.'),
  }),
  MissionName: object('The mission that a pass belongs to.', { slug: missionSlug, name: missionName }),
  Bounds: object('A box of latitudes and longitudes.', {
    south: measure('degrees', 'Latitude of the southern edge'),
    west: measure(
      'degrees',
      'Longitude of the western edge. It is greater than `east` if the box crosses the antimeridian',
    ),
    north: measure('degrees', 'Latitude of the northern edge'),
    east: measure('degrees', 'Longitude of the eastern edge'),
  }),
  SatellitePass: object('One crossing of a satellite over virtual buoys.', {
    id: passId,
    name: passTexts.name,
    external_id: passTexts.external,
    satellite_pass_id: passTexts.satellite,
    platform: passTexts.platform,
    mission: ref('MissionName'),
    started_at: time('First observation'),
    ended_at: time('Last observation'),
    buoy_count: count('Virtual buoys that have a reading of this pass.'),
    observation_count: count('Readings of this pass.'),
    bounds: ref('Bounds'),
  }),
  Location: object('The requested point.', {
    lat: measure('degrees', 'Latitude as it was sent'),
    lng: measure('degrees', 'Longitude as it was sent'),
    timezone: zoneName('IANA name of the time zone there.'),
  }),
  Forecast: object(
    'Forecast of the nearest forecast point within 50 km, interpolated in time. All fields are `null` without one.',
    {
      waves_height: orNull(height('Significant wave height')),
      waves_period: orNull(seconds('Wave period')),
      waves_direction: orNull(compass('Direction the waves come from')),
      wind_speed: orNull(speed('Wind speed')),
      wind_direction: orNull(compass('Direction the wind comes from')),
      swell_height: orNull(height('Height of the swell')),
      swell_period: orNull(seconds('Period of the swell')),
      swell_direction: orNull(compass('Direction the swell comes from')),
      wave_energy: orNull(energy('Energy of one wave of `waves_height` and `waves_period`')),
    },
  ),
  ConditionsReading: object(
    'The reading closest to `time` of the nearest buoy in the water, at most 50 km away, that has one within 3 hours; if none has, of the nearest that has one within 24 hours.',
    {
      exists: flag('A reading was found.', { const: true }),
      significient_height: measured.significient_height,
      maximum_height: measured.maximum_height,
      direction_degrees: measured.direction,
      period: measured.period,
      time: measured.time,
      wave_energy: reading.energy_per_wave,
      buoy: object('The buoy that measured it.', {
        id,
        name,
        distance_km: distance('Distance of the buoy from the point'),
      }),
      ...optional(weatherOf('With `include=weather`: ')),
      ...optional({ usual: usualOrNull }),
    },
  ),
  NoConditionsReading: object('No reading was found.', {
    exists: flag('No buoy that is near enough has a reading of that time.', { const: false }),
  }),
  Tide: object(
    'Tide of the nearest harbour within 100 km, predicted from its harmonic constituents. All fields are `null` without one.',
    {
      height: orNull(waterLevel),
      time: orNull(time('The requested moment')),
      direction: orNull(text('Whether the water rises or falls.', { enum: ['rising', 'falling'] })),
      seconds_to_next_tide_change: orNull(
        whole('s', 'Time until the next high or low water', { minimum: 0 }),
      ),
      next_tide: orNull(text('The next extreme: high or low water.', { enum: ['high', 'low'] })),
      next_tide_height: orNull(measure('m', 'Water level at the next high or low water')),
      harbor,
    },
  ),
  ConditionsMetadata: object('Age and source of the parts.', {
    forecast_updated_at: modelRun,
    reading_age_minutes: orNull(
      whole('minutes', 'Requested time minus time of the reading. It is negative if the reading is later'),
    ),
    tide_source: tideSource,
    ...optional({
      forecast_model: orNull(text('With `include=model`: the model of the forecast, or else its service.')),
      forecast_credit: orNull(
        text("With `include=model`: the credit line that the forecast's owner asks for."),
      ),
    }),
  }),
  PlaceForecast: object(
    'Parallel hourly arrays of one place. Values are `null`, and `tides` is empty, where nothing is in reach.',
    {
      location: ref('Location'),
      time: list(time('Full hour of this position in all arrays'), 'The hours, ascending.'),
      ...hourly({
        waves_height: height('Significant wave height'),
        waves_period: seconds('Wave period'),
        waves_direction: degrees('Direction the waves come from'),
        swell_height: height('Height of the swell'),
        swell_period: seconds('Period of the swell'),
        swell_direction: degrees('Direction the swell comes from'),
        wind_speed: speed('Wind speed'),
        wind_direction: degrees('Direction the wind comes from'),
        tide_level: waterLevel,
      }),
      tides: list(ref('TideExtreme'), 'High and low waters from the first hour to the last.'),
      metadata: ref('PlaceForecastMetadata'),
    },
  ),
  TideExtreme: object('A high or low water.', {
    time: time('Moment of the extreme'),
    type: text('High or low water.', { enum: ['high', 'low'] }),
    height: waterLevel,
  }),
  LocalTideExtreme: object('A high or low water, as tide tables have it.', {
    time: text('Moment of the extreme, with the offset of `timezone`.', { format: 'date-time' }),
    type: text('High or low water.', { enum: ['high', 'low'] }),
    height: waterLevel,
  }),
  Harbour: object('A harbour of which the tide is known.', {
    name: text('Name of the harbour.'),
    distance_km: distance('Distance of the harbour'),
  }),
  PlaceForecastMetadata: object('Where the parts come from.', {
    forecast_updated_at: modelRun,
    forecast_model: orNull(text('The model of the forecast, or else its service.')),
    forecast_credit: orNull(text("The credit line that the forecast's owner asks for.")),
    forecast_distance_km: orNull(distance('Distance of the forecast point')),
    tide_source: tideSource,
    harbor,
    harbor_distance_km: orNull(distance('Distance of the harbour')),
  }),
  UnitsOfConditions: object('Units of the answer.', {
    height: { type: 'string', const: 'm', description: 'Unit of heights.' },
    speed: { type: 'string', const: 'km/h', description: 'Unit of speeds.' },
  }),
  Spot: object('The named place of `spot_id`.', {
    id: natural('Identifier of the spot.'),
    name: text('Name of the spot.'),
    ...position,
  }),
  Conditions: {
    ...object('Forecast, reading and tide of one point and time.', {
      location: ref('Location'),
      forecast: ref('Forecast'),
      reading: {
        oneOf: [ref('ConditionsReading'), ref('NoConditionsReading')],
        description: 'The nearest reading. `exists` says whether one was found.',
      },
      tide: ref('Tide'),
      metadata: ref('ConditionsMetadata'),
      units: ref('UnitsOfConditions'),
      ...optional({
        spot: { ...ref('Spot'), description: 'Only with `spot_id`.' },
        nearby: object('Only with `spot_id`.', {
          buoys: list(
            ref('NearestBuoy'),
            'Up to five active buoys within 150 km of the spot, nearest first.',
          ),
        }),
      }),
    }),
    dependentRequired: { spot: ['nearby'], nearby: ['spot'] },
  },
  Country: object('A country that has active buoys.', {
    code: text('ISO 3166-1 alpha-2 code: a value of the parameter `country`.', { pattern: '^[A-Z]{2}$' }),
    name: text('English name.'),
    buoy_count: natural('Active buoys.'),
  }),
  ChangedBuoy: object('A buoy that differs.', {
    id,
    slug,
    change: text('What happened to it: new, changed itself or in its readings, or gone.', CHANGE_WORDS),
    readings: list(ref('ChangedSpan'), 'Its readings that differ, by months.'),
  }),
  ChangedSpan: object('Readings of a buoy that differ, in one month.', {
    from: time('The first reading that differs'),
    to: time('The last reading that differs'),
    added: count('Readings that are new.'),
    changed: count('Readings with other values.'),
    removed: count('Readings that are gone.'),
  }),
  BulkFile: object('A file of readings of a network in a year or month, or of all buoys.', {
    path: text('Its path below `address`.'),
    kind: text('What is in it.', { enum: ['readings', 'buoys'] }),
    format: text('How it is written.', { enum: ['parquet'] }),
    source: orNull(text('Name of the network of the readings. All buoys have none:')),
    year: orNull({ type: 'integer', description: 'Year of the readings (UTC).' }),
    month: orNull(
      text(
        'Month of the readings (UTC), such as `2026-03`. A year that is over has one file, without a month.',
      ),
    ),
    rows: count('Rows in it.'),
    bytes: count('Its length.'),
    sha256: text('SHA-256 of its bytes, in hexadecimal.', { pattern: '^[0-9a-f]{64}$' }),
    start: orNull(time('Time of the first reading')),
    end: orNull(time('Time of the last reading')),
    snapshot: text('The snapshot that it was first exported from: its data have not changed since.'),
  }),
  BulkSource: object('A network with readings in the files.', {
    source: text('Name of the network.'),
    credit: orNull(text('The credit line that the owner of the data asks for.')),
    licence: orNull(text('Licence of the data.')),
  }),
  ChangedReading: object('A reading that differs; one that is gone as it was.', {
    buoy_id: id,
    change: text('What happened to it: new, changed, or gone.', CHANGE_WORDS),
    reading: ref('Reading'),
  }),
  ChangeCounts: object('How many differ.', {
    added: count('Those that are new.'),
    changed: count('Those that differ.'),
    removed: count('Those that are gone.'),
  }),
  ShapedAnswer: object('An answer with `fields` or `layout=columns`.', {
    status: text('Marks a success.', { const: 'success' }),
    data: {
      type: 'object',
      description:
        'As usual, but the items of the list have the members of `fields` alone, nested ones with a dot; with `layout=columns` the list is an object of arrays by member.',
    },
    meta: { type: 'object', description: 'As usual.' },
  }),
  SnapshotEvent: object('The `data` of an event of `/events`.', {
    snapshot: text('The snapshot that is served now.'),
    as_of: time("The time of the snapshot's data"),
    since: {
      type: ['string', 'null'],
      description:
        'The snapshot that the changes are counted from; null where there is none, or the server no longer holds it.',
    },
    changes: refOrNull('SnapshotChanges', 'How the two differ; null where `since` is.'),
    ...optional({
      ids: {
        type: ['array', 'null'],
        items: { type: 'integer', minimum: 1 },
        description: 'With `buoy`: those of these buoys that changed; null where `since` is.',
      },
    }),
  }),
  SnapshotChanges: object('How much two snapshots differ; with `buoy` the counts are those of these buoys.', {
    buoys: ref('ChangeCounts'),
    readings: ref('ChangeCounts'),
    ...differing,
  }),
  Meta: object('About the answer.', { timestamp: ANSWERED }),
  ErrorAnswer: object('The body of every error.', {
    ...error,
    ...optional({
      details: {
        type: 'object',
        description: 'More about the error.',
        properties: {
          parameter: text('Name of the parameter that is wrong.'),
          did_you_mean: text('Slug of the buoy that was probably meant.'),
          complete_years: { type: 'integer', minimum: 0, description: 'Complete years that there are.' },
          needed_years: { type: 'integer', minimum: 1, description: 'Complete years that levels need.' },
        },
      },
    }),
  }),
  SnapshotGoneAnswer: object('The body of a 410.', {
    ...error,
    error: text('The code for programs.', { const: PINNED_ERROR }),
    details: object('The requested snapshot, and the current one.', {
      parameter: text('Name of the parameter that names the snapshot.'),
      current: text('The snapshot that is served now.'),
    }),
  }),
  FeatureCollection: object(
    'Features in WGS 84, longitude first (RFC 7946). The properties are the members of the items, without nesting.',
    {
      type: geojson('FeatureCollection'),
      features: list(
        object('An item.', {
          type: geojson('Feature'),
          ...optional({ id: { type: 'integer', description: 'The `id` of the item.' } }),
          geometry: {
            ...object('Where the item is. Of a pass: the virtual buoys that it saw, in their order.', {
              type: text('A line over the antimeridian is in parts.', {
                enum: ['Point', 'LineString', 'MultiLineString'],
              }),
              // A number in a point, a position in a line, a line in several lines.
              coordinates: list(
                { anyOf: [{ type: 'number' }, GEOJSON_POSITION, { type: 'array', items: GEOJSON_POSITION }] },
                'Longitude and latitude in degrees, of a line a list of them.',
              ),
            }),
            type: ['object', 'null'],
          },
          properties: {
            type: 'object',
            additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
            description: 'The members of the item, nested ones under a name with a dot.',
          },
        }),
        'One for each item, in the order of the list.',
      ),
      meta: object('What the collection is part of.', {
        snapshot: text('The snapshot that the answer comes from.'),
        ...optional({
          count: count('Items on all pages.'),
          page: natural('The page, from 1.'),
          per_page: natural('Items a page.'),
          total_pages: count('Pages in all.'),
        }),
        returned: count('Features in this answer.'),
      }),
    },
  ),
  RateLimitAnswer: object('The body of a 429.', {
    ...error,
    retry_after: whole('s', 'Time until the quota resets, the same as in `Retry-After`', { minimum: 0 }),
    reset_at: time('When the quota resets'),
  }),
}

const PINNED = text('The snapshot of the answer, where the request pins one with `snapshot`.')

const PAGE = {
  page: natural('The requested page.'),
  per_page: natural('Items in a page, at most the maximum.'),
  total_pages: count('Number of pages; 0 for an empty result.'),
}
const pagedMeta = (more: Properties = {}): Schema =>
  object('About the answer and its page.', {
    ...PAGE,
    ...more,
    timestamp: ANSWERED,
    ...optional({ snapshot: PINNED }),
  })

const buckets = {
  timezone: zoneName('With `timezone`: IANA name of the zone of days and times.'),
  buckets: list(ref('ReadingBucket'), 'With `bucket`: the buckets of this page; `readings` is empty then.'),
}

const counted = (key: string, item: string, description: string, of: string): Schema =>
  object(description, { [key]: list(ref(item), description), count: count(of) })

const IN_ANSWER = 'Items in the answer.'

/** `data` of each operation's answer, and `meta` where there is more than the timestamp, by operation. */
export const ANSWERS: { readonly [operation: string]: { data: Schema; meta?: Schema } } = {
  listBuoys: {
    data: counted('buoys', 'Buoy', 'The buoys of this page.', 'Buoys that match, over all pages.'),
    meta: pagedMeta(),
  },
  getBuoy: { data: object('The buoy.', { buoy: ref('BuoyDetail') }) },
  lastReadings: {
    data: object('The buoys, and the ids without a buoy.', {
      buoys: list(ref('BuoyLastReading'), 'The buoys in the requested order, each once.'),
      missing_ids: idList('Processed ids that no buoy has.'),
    }),
  },
  searchBuoys: { data: counted('buoys', 'BuoySearchItem', 'The buoys found, best first.', IN_ANSWER) },
  searchPlaces: {
    data: counted(
      'places',
      'Place',
      'Places that the text names in full, then others; of each the larger ones first, where a buoy within 150 km counts as eight times the people.',
      IN_ANSWER,
    ),
  },
  nearestBuoys: {
    data: {
      description: 'One buoy, or several.',
      oneOf: [
        object('The nearest buoy: the answer if `limit` is 1.', { buoy: ref('NearestBuoy') }),
        counted(
          'buoys',
          'NearestBuoy',
          'The nearest buoys, nearest first: the answer if `limit` is above 1.',
          IN_ANSWER,
        ),
      ],
    },
  },
  listReadings: {
    data: object('A page of readings.', {
      buoy: ref('BuoySummary'),
      readings: list(ref('Reading'), 'The readings of this page.'),
      count: count('Readings, or buckets, that match, over all pages.'),
      ...optional({
        rows: list(ref('RowOfBuoy'), 'With `rows=all`: the rows of this page; `readings` is empty then.'),
        ...buckets,
      }),
    }),
    meta: pagedMeta({
      date_range: object(
        "The requested range. An open end is the time of the buoy's first or last reading, or `null` if it has no reading.",
        { start: orNull(time('First moment')), end: orNull(time('Last moment, included')) },
      ),
    }),
  },
  readingsOfBuoys: {
    data: object('A page of readings of many buoys.', {
      buoys: list(ref('BuoyOfReadings'), 'The buoys of the readings on this page.'),
      readings: list(ref('ReadingOfBuoy'), 'The readings of this page, by buoy id, then time.'),
      count: count('Readings, or buckets, that match, over all pages.'),
      missing_ids: idList('Requested ids that no buoy has.'),
      ...optional(buckets),
    }),
    meta: pagedMeta({ date_range: range('The requested range.') }),
  },
  closestReading: {
    data: object('The reading and the moment searched for.', {
      closest_reading: ref('ClosestReading'),
      search_parameters: ref('SearchParameters'),
    }),
  },
  getReading: {
    data: object('The reading and its buoy.', { reading: ref('Reading'), buoy: ref('BuoyName') }),
  },
  chart: { data: ref('Chart') },
  readingSeries: {
    data: object('Seasons side by side.', {
      buoy: ref('IdentifiedBuoySummary'),
      metric: text('The requested metric.'),
      bucket: text('Length of the buckets.', { enum: ['hour', 'day', 'week'] }),
      aggregation: text('How samples became the value of a bucket.', {
        enum: ['median', 'avg', 'min', 'max'],
      }),
      timezone: zoneName('IANA name of the time zone of the buckets.'),
      season: ref('Season'),
      years: list(ref('SeriesYear'), 'The seasons, oldest first.'),
      count: count('Points in all years together.'),
    }),
  },
  climate: {
    data: object('What is usual.', {
      ...climateMembers,
      ...sampleCount,
      by: text('The periods.', { enum: ['month', 'season', 'none'] }),
      min_coverage: fraction('Share of its samples that a month of a year needs to count.'),
      quantiles: quantileType,
      periods: list(ref('ClimatePeriod'), 'The months or seasons of the year.'),
      overall: ref('ClimatePeriod'),
      notes,
    }),
  },
  climateRecords: {
    data: object('Records.', {
      ...climateMembers,
      ...sampleCount,
      ever: refOrNull('ClimateRecords', 'Of all samples; `null` without one.'),
      months: list(ref('ClimateRecords'), 'Of each month of the year that has samples.'),
      years: list(ref('ClimateRecords'), 'Of each year that has samples.'),
      last: refOrNull('ClimateLast', 'How the last sample ranks; `null` without one.'),
    }),
  },
  climateTable: {
    data: object('Heights by another metric.', {
      ...climateMembers,
      left_out: ref('ClimateLeftOut'),
      x: text('What the heights are counted by.'),
      x_unit: orNull(text('Its unit; a month has none:')),
      x_bin: { type: 'number', description: 'Width of a bin.' },
      y: text('The heights.'),
      y_bin: measure('m', 'Width of a bin'),
      bins: list(ref('ClimateBin'), 'Bins with readings, by `x` and `y`.'),
      count: count('Readings in all bins.'),
      without_x: count('Readings of heights without an `x`.'),
    }),
  },
  climateStorms: {
    data: object('Storms.', {
      ...climateMembers,
      left_out: ref('ClimateLeftOut'),
      threshold: orNull(height('The threshold, not rounded')),
      quantiles: quantileType,
      gap_hours: measure('hours', 'Longest gap within a storm'),
      storms: list(ref('Storm'), 'The storms of this page, oldest first.'),
      count: count('Storms on all pages.'),
    }),
    meta: pagedMeta(),
  },
  climateExtremes: {
    data: object('Return levels.', {
      ...climateMembers,
      ...sampleCount,
      rule: text('Which years count.'),
      year_start: { type: 'integer', minimum: 1, maximum: 12, description: 'Month in which a year begins.' },
      levels: list(ref('ReturnLevel'), 'The levels, in the order that was asked for.'),
      parameters: object('The fitted distribution.', {
        ...gevParameters,
        errors: refOrNull('GevParameters', 'Standard errors; `null` where the shape is at its bound.'),
      }),
      negative_log_likelihood: { type: 'number', description: 'Of the maxima.' },
      maxima: list(
        object('The maximum of a year that counts.', {
          year: yearNumber,
          value: value('The maximum'),
          time: time('When it was measured'),
        }),
        'The maxima that the distribution is fitted to.',
      ),
      years_left_out: list(
        object('A year that does not count.', {
          year: yearNumber,
          reason: text('What it lacks.', { enum: ['coverage', 'quarter'] }),
          coverage: fraction('Share of its expected samples.'),
          maximum: orNull(value('Its maximum all the same')),
          time: orNull(time('When that was measured')),
        }),
        'The other years.',
      ),
      notes,
    }),
  },
  listSpectra: {
    data: object('A page of wave spectra with the same bands.', {
      buoy: ref('BuoySummary'),
      frequencies: list(measure('Hz', 'Middle of a band', { minimum: 0 }), 'The bands, lowest first.'),
      bandwidths: list(measure('Hz', 'Width of a band', { minimum: 0 }), 'By band.'),
      direction_convention: text('What directions mean.', { const: 'from, degrees true' }),
      spectra: list(ref('Spectrum'), 'The spectra of this page.'),
      other_bands: count(
        'Spectra of the range that are left out, since their bands are not those of its newest one.',
      ),
      count: count('Spectra that match, over all pages.'),
      ...optional({
        method: text('With `include=directional`: how the density over directions is estimated.'),
        estimate: flag('With `include=directional`: it is an estimate.', { const: true }),
        directions: list(degrees('Middle of a sector of 5°'), 'With `include=directional`: the directions.'),
      }),
    }),
    meta: pagedMeta(),
  },
  listSatellites: {
    data: counted('satellites', 'SatelliteMission', 'The missions.', IN_ANSWER),
  },
  listSatellitePasses: {
    data: counted(
      'satellite_passes',
      'SatellitePass',
      'The passes, newest first by `started_at`.',
      IN_ANSWER,
    ),
  },
  conditions: { data: ref('Conditions') },
  forecast: { data: ref('PlaceForecast') },
  tides: {
    data: object('High and low waters of the nearest harbour within 100 km, by days of a clock.', {
      location: ref('Location'),
      timezone: zoneName('IANA name of the zone of days and times.'),
      start: text('The first day.', { format: 'date' }),
      days: natural('Days of the table.'),
      tides: list(ref('LocalTideExtreme'), 'The high and low waters; empty without a harbour in reach.'),
      count: count(IN_ANSWER),
      left_out: count(
        'Turns of the water in that time that are no high or low water: it moved by less than 1 cm, or where the tide is small by less than 2 % of its amplitudes.',
      ),
      harbor: refOrNull('Harbour', 'The harbour; `null` where none is in reach.'),
      source: tideSource,
      datum: orNull(text('What heights are above.', { enum: ['chart datum'] })),
    }),
  },
  listChanges: {
    data: object('What differs.', {
      since: text('The snapshot that is compared with.'),
      until: text('The snapshot that the answer is of: ask since this one next time.'),
      buoys: list(ref('ChangedBuoy'), 'All buoys that differ, by id; with readings on the first page alone.'),
      ...differing,
      ...optional({
        readings: list(ref('ChangedReading'), 'With `include=readings`: the readings of this page.'),
        count: count('With `include=readings`: readings that differ, over all pages.'),
      }),
    }),
    meta: object('About the answer, and with readings its page.', {
      timestamp: ANSWERED,
      ...optional({ ...PAGE, snapshot: PINNED }),
    }),
  },
  listFiles: {
    data: object('The files that the snapshot was exported as.', {
      address: orNull(text('The bucket that the files are in.')),
      snapshot: orNull(text('The snapshot that the files are made from.')),
      as_of: orNull(time('Time of the data')),
      sources: list(ref('BulkSource'), 'Whose data they are: pass the credit on with them.'),
      files: list(ref('BulkFile'), 'The files; empty where nothing is exported.'),
      count: count(IN_ANSWER),
    }),
  },
  listCountries: { data: counted('countries', 'Country', 'The countries, by name.', IN_ANSWER) },
  mapBuoys: {
    data: object('Everything a map draws.', {
      buoys: {
        type: 'array',
        items: { oneOf: [ref('MapBuoy'), ref('VirtualMapBuoy')] },
        description: 'All active buoys. `virtual` separates buoys in the water from virtual ones.',
      },
      count: count('All buoys of the answer.'),
      real_count: count('Buoys in the water among them.'),
      virtual_count: count('Virtual buoys among them.'),
      decimals: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          additionalProperties: { type: 'integer', minimum: 0, maximum: 3 },
        },
        description:
          'By source and field: the most decimals in the newest 48 readings of the buoys of the source. JSON leaves closing zeros out, so a single number does not tell them.',
      },
    }),
  },
}
