/**
 * Every operation on the demo snapshot, held against the contract's field tables: each key is there, under
 * its name, with a value of its type or null, and nothing is named that the contract and the decisions do not
 * know.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client, runCliWell, startLive, temporaryFolder } from '../live.ts'

/** Types of the contract; a trailing `?` allows null, since a measurement may be missing. */
type Fields = { readonly [key: string]: string | Fields | readonly [Fields] | null }

const READING_SUBSET: Fields = {
  uuid: 'uuid',
  significient_height: 'number',
  maximum_height: 'number?',
  period: 'number?',
  time: 'timestamp',
  water_temperature: 'number?',
  direction: 'number?',
  unit: 'string',
}
const READING: Fields = {
  id: 'integer',
  ...READING_SUBSET,
  direction_compass: 'compass?',
  energy_per_wave: 'integer?',
}
const LIST_ITEM: Fields = {
  id: 'integer',
  name: 'string',
  slug: 'string',
  lat: 'number',
  lng: 'number',
  source: 'string',
  source_identifier: 'string',
  last_reading_time: 'timestamp',
  readings_count: 'integer',
  last_reading: READING_SUBSET,
  timezone: 'string',
}
const NEAREST_ITEM: Fields = {
  id: 'integer',
  name: 'string',
  lat: 'number',
  lng: 'number',
  source: 'string',
  source_identifier: 'string',
  distance_km: 'number',
  last_reading: READING_SUBSET,
}
const SUMMARY: Fields = { name: 'string', lat: 'number', lng: 'number', source: 'string', dtz: 'string' }
const PAGED: Fields = { page: 'integer', per_page: 'integer', total_pages: 'integer', timestamp: 'timestamp' }
const META: Fields = { timestamp: 'timestamp' }
const BUCKET: Fields = {
  bucket_index: 'integer',
  label: 'string',
  bucket_start: 'local',
  bucket_end: 'local',
  value: 'number',
  sample_count: 'integer',
}
const CHART_FIELD: Fields = { label: 'string', unit: 'string', field: 'string?' }

/** What operation 9's arrays hold is looked at apart from their names. */
const ARRAYS = [
  'time',
  'significant_height',
  'maximum_height',
  'period',
  'forecast_wave_height',
  'tide_level',
]

const ANSWERS: readonly { path: string; data: Fields; meta?: Fields }[] = [
  { path: '/buoys', data: { buoys: [LIST_ITEM], count: 'integer' }, meta: PAGED },
  {
    path: '/buoys/saint-jean-de-luz',
    data: { buoy: { ...LIST_ITEM, country: 'string', dtz: 'string' } },
  },
  {
    path: '/buoys/last_readings?ids=6,7,999999',
    data: {
      buoys: [
        {
          id: 'integer',
          name: 'string',
          lat: 'number',
          lng: 'number',
          source: 'string',
          last_reading: READING,
        },
      ],
      missing_ids: 'integers',
    },
  },
  {
    path: '/buoys/search?query=saint',
    data: {
      buoys: [
        {
          id: 'integer',
          name: 'string',
          slug: 'string',
          lat: 'number',
          lng: 'number',
          source: 'string',
          source_identifier: 'string',
          country: 'string?',
        },
      ],
      count: 'integer',
    },
  },
  { path: '/buoys/nearest?lat=43.5&lng=-1.6', data: { buoy: NEAREST_ITEM } },
  {
    path: '/buoys/nearest?lat=43.5&lng=-1.6&limit=5',
    data: { buoys: [NEAREST_ITEM], count: 'integer' },
  },
  {
    path: '/buoys/saint-jean-de-luz/readings',
    data: { buoy: SUMMARY, readings: [READING], count: 'integer' },
    meta: { ...PAGED, date_range: { start: 'timestamp', end: 'timestamp' } },
  },
  // Hours with decimals have ends of the range that are no whole seconds.
  ...['24', '11.1301'].map((hours) => ({
    path: `/buoys/saint-jean-de-luz/readings/search?date=2026-03-27&time=09:00&tolerance_hours=${hours}`,
    data: {
      closest_reading: { ...READING, time_diff_minutes: 'integer' },
      search_parameters: {
        target_datetime: 'timestamp',
        tolerance_hours: 'number',
        search_range: { start: 'timestamp', end: 'timestamp' },
      },
    },
  })),
  {
    path: '/buoys/saint-jean-de-luz/readings/{reading}',
    data: { reading: READING, buoy: { id: 'integer', name: 'string' } },
  },
  {
    path: '/buoys/saint-jean-de-luz/readings/chart',
    data: {
      buoy: { id: 'integer', ...SUMMARY },
      fields: Object.fromEntries(ARRAYS.slice(1).map((name) => [name, CHART_FIELD])),
      ...Object.fromEntries(ARRAYS.map((name) => [name, 'array'])),
    },
  },
  {
    path: '/buoys/saint-jean-de-luz/readings/series?metric=significient_height',
    data: {
      buoy: { id: 'integer', ...SUMMARY },
      metric: 'string',
      bucket: 'string',
      aggregation: 'string',
      timezone: 'string',
      season: {
        start: { month: 'integer', day: 'integer' },
        end: { month: 'integer', day: 'integer' },
      },
      years: [{ year: 'integer', complete: 'boolean', point_count: 'integer', points: [BUCKET] }],
      count: 'integer',
    },
  },
  {
    path: '/buoys/satellites',
    data: {
      satellites: [
        {
          slug: 'string',
          name: 'string',
          agency: 'string',
          instrument: 'string',
          description: 'string',
          image_url: 'string',
          pass_count: 'integer',
        },
      ],
      count: 'integer',
    },
  },
  {
    path: '/buoys/satellite_passes',
    data: {
      satellite_passes: [
        {
          id: 'integer',
          name: 'string',
          external_id: 'string',
          satellite_pass_id: 'string',
          platform: 'string',
          mission: { slug: 'string', name: 'string' },
          started_at: 'timestamp',
          ended_at: 'timestamp',
          buoy_count: 'integer',
          observation_count: 'integer',
          bounds: { south: 'number', west: 'number', north: 'number', east: 'number' },
        },
      ],
      count: 'integer',
    },
  },
  {
    path: '/conditions?lat=43.4&lng=-1.7&spot_id=1&time={as_of}',
    data: {
      location: { lat: 'number', lng: 'number', timezone: 'string' },
      forecast: {
        waves_height: 'number',
        waves_period: 'number',
        waves_direction: 'compass',
        wind_speed: 'number',
        wind_direction: 'compass',
        swell_height: 'number',
        swell_period: 'number',
        swell_direction: 'compass',
        wave_energy: 'integer',
      },
      reading: {
        exists: 'boolean',
        significient_height: 'number',
        maximum_height: 'number?',
        direction_degrees: 'number?',
        period: 'number?',
        time: 'timestamp',
        wave_energy: 'integer?',
        buoy: { id: 'integer', name: 'string', distance_km: 'number' },
      },
      tide: {
        height: 'number',
        time: 'timestamp',
        direction: 'string',
        seconds_to_next_tide_change: 'integer',
        next_tide: 'string',
        next_tide_height: 'number',
        harbor: 'string',
      },
      metadata: { forecast_updated_at: 'timestamp', reading_age_minutes: 'integer', tide_source: 'string' },
      units: { height: 'string', speed: 'string' },
      spot: { id: 'integer', name: 'string', lat: 'number', lng: 'number' },
      nearby: { buoys: [NEAREST_ITEM] },
    },
  },
  {
    path: '/countries',
    data: { countries: [{ code: 'string', name: 'string', buoy_count: 'integer' }], count: 'integer' },
  },
]

const MAP_ITEM: Fields = {
  id: 'integer',
  name: 'string',
  slug: 'string',
  lat: 'number',
  lng: 'number',
  timezone: 'string',
  source: 'string',
  virtual: 'boolean',
  last_reading_time: 'timestamp',
  last_reading: READING_SUBSET,
}
const VIRTUAL_MAP_ITEM: Fields = {
  ...MAP_ITEM,
  pass_id: 'integer',
  satellite_pass_id: 'string',
  external_id: 'string',
  pass_name: 'string',
  pass_platform: 'string',
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/
const COMPASS = /^(N|S|[NS]?[EW]|[NS]N?S?[EW]|[EW][NS][EW])$/

const IS: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string' && value !== '',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isSafeInteger(value),
  integers: (value) => Array.isArray(value) && value.every((item) => Number.isSafeInteger(item)),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value) && value.length > 0,
  uuid: (value) => typeof value === 'string' && UUID.test(value),
  timestamp: (value) => typeof value === 'string' && TIMESTAMP.test(value),
  local: (value) => typeof value === 'string' && LOCAL.test(value),
  compass: (value) => typeof value === 'string' && COMPASS.test(value),
}

function assertFields(value: unknown, fields: Fields, where: string): void {
  assert.ok(typeof value === 'object' && value !== null, `${where} is not an object`)
  const object = value as { [key: string]: unknown }
  assert.deepEqual(Object.keys(object).sort(), Object.keys(fields).sort(), `keys of ${where}`)
  for (const [key, wanted] of Object.entries(fields)) {
    const found = object[key]
    const member = `${where}.${key}`
    if (typeof wanted === 'string') {
      const nullable = wanted.endsWith('?')
      const type = nullable ? wanted.slice(0, -1) : wanted
      assert.ok(
        (nullable && found === null) || IS[type](found),
        `${member} is not ${wanted}: ${JSON.stringify(found)}`,
      )
    } else if (Array.isArray(wanted)) {
      assert.ok(Array.isArray(found) && found.length > 0, `${member} is not a list, or is empty`)
      found.forEach((item, i) => assertFields(item, (wanted as readonly [Fields])[0], `${member}[${i}]`))
    } else assertFields(found, wanted as Fields, member)
  }
}

interface Envelope {
  status: string
  data: { [key: string]: unknown }
  meta: { [key: string]: unknown }
}

test(
  'Every operation on the demo snapshot has every key of the contract.',
  { timeout: 600_000 },
  async (t) => {
    const snapshots = join(temporaryFolder(t), 'snapshots')
    const asOf = '2026-11-01T06:00:00Z'
    await runCliWell(['build', '--source', 'demo', '--as-of', asOf, '--out', snapshots])
    const live = await startLive(t, { snapshots })
    const client = new Client(live)
    const ask = async (path: string): Promise<Envelope> => {
      const { status, text } = await client.get(path)
      assert.equal(status, 200, `${path}: ${text.slice(0, 300)}`)
      return JSON.parse(text) as Envelope
    }
    const list = await ask('/buoys/saint-jean-de-luz/readings?per_page=1')
    const [{ id }] = list.data.readings as { id: number }[]
    for (const { path, data, meta = META } of ANSWERS) {
      await t.test(path, async () => {
        const answer = await ask(path.replace('{reading}', String(id)).replace('{as_of}', asOf))
        assert.deepEqual(Object.keys(answer), ['status', 'data', 'meta'])
        assert.equal(answer.status, 'success')
        assertFields(answer.data, data, 'data')
        assertFields(answer.meta, meta, 'meta')
      })
    }
    await t.test('/buoys/map', async () => {
      const { data } = await ask('/buoys/map')
      const buoys = data.buoys as { virtual: boolean }[]
      for (const buoy of buoys) {
        assertFields(buoy, buoy.virtual ? VIRTUAL_MAP_ITEM : MAP_ITEM, 'data.buoys[]')
      }
      const virtual = buoys.filter((buoy) => buoy.virtual).length
      assert.ok(virtual > 0 && virtual < buoys.length)
      assert.deepEqual(
        [data.count, data.virtual_count, data.real_count],
        [buoys.length, virtual, buoys.length - virtual],
      )
    })
    await t.test('A chart with all measures has the wind of the conditions at its hours.', async () => {
      const buoy = '/buoys/san-francisco'
      const { data } = await ask(`${buoy}/readings/chart?include=measures`)
      const { lat, lng } = data.buoy as { lat: number; lng: number }
      const [time, speed] = [data.time, data.forecast_wind_speed] as [string[], (number | null)[]]
      const hours = time.flatMap((_, i) => (speed[i] === null ? [] : [i]))
      assert.ok(hours.length > 24)
      for (const i of [hours[0], hours[Math.floor(hours.length / 2)], hours[hours.length - 1]]) {
        const { data: there } = await ask(`/conditions?lat=${lat}&lng=${lng}&time=${time[i]}`)
        assert.equal((there.forecast as { wind_speed: number }).wind_speed, speed[i], time[i])
      }
      for (const array of ['direction', 'water_temperature', 'wind_speed', 'wind_direction', 'gust_speed']) {
        const values = data[array] as (number | null)[]
        assert.equal(values.length, time.length, array)
        assert.ok(
          values.some((value) => value !== null),
          `${array} is null throughout`,
        )
      }
    })
    await t.test('The arrays of a chart go along one axis and each holds a value somewhere.', async () => {
      const { data } = await ask('/buoys/saint-jean-de-luz/readings/chart')
      const arrays = ARRAYS.map((name) => data[name] as unknown[])
      for (const [i, array] of arrays.entries()) {
        assert.equal(array.length, arrays[0].length, ARRAYS[i])
        assert.ok(
          array.some((value) => value !== null),
          `${ARRAYS[i]} is null throughout`,
        )
      }
      const times = arrays[0] as string[]
      assert.ok(times.every((time, i) => i === 0 || time > times[i - 1]))
    })
    client.close()
  },
)
