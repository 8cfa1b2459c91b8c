/** The columns of `GET /conditions` as a table: its members by their names on the wire. */
import type { RecordColumn } from './record-table.ts'

const columnsOf = (
  member: string,
  names: { readonly [name: string]: readonly [RecordColumn['kind'], string?] },
): RecordColumn[] =>
  Object.entries(names).map(([name, [kind, unit = kind === 'time' ? 'UTC' : '']]) => ({
    name: `${member}.${name}`,
    kind,
    unit,
  }))

export const COLUMNS: readonly RecordColumn[] = [
  ...columnsOf('location', { lat: ['number', 'degree'], lng: ['number', 'degree'], timezone: ['text'] }),
  ...columnsOf('forecast', {
    waves_height: ['number', 'm'],
    waves_period: ['number', 's'],
    waves_direction: ['text'],
    wind_speed: ['number', 'km/h'],
    wind_direction: ['text'],
    swell_height: ['number', 'm'],
    swell_period: ['number', 's'],
    swell_direction: ['text'],
    wave_energy: ['number', 'kJ/m'],
  }),
  ...columnsOf('reading', {
    exists: ['flag'],
    significient_height: ['number', 'm'],
    maximum_height: ['number', 'm'],
    direction_degrees: ['number', 'degree'],
    period: ['number', 's'],
    time: ['time'],
    wave_energy: ['number', 'kJ/m'],
  }),
  ...columnsOf('reading.buoy', { id: ['integer'], name: ['text'], distance_km: ['number', 'km'] }),
  ...columnsOf('tide', {
    height: ['number', 'm'],
    time: ['time'],
    direction: ['text'],
    seconds_to_next_tide_change: ['integer', 's'],
    next_tide: ['text'],
    next_tide_height: ['number', 'm'],
    harbor: ['text'],
  }),
  ...columnsOf('metadata', {
    forecast_updated_at: ['time'],
    reading_age_minutes: ['number', 'min'],
    tide_source: ['text'],
  }),
  ...columnsOf('units', { height: ['text'], speed: ['text'] }),
]

export const MODEL_COLUMNS = columnsOf('metadata', { forecast_model: ['text'], forecast_credit: ['text'] })

export const SPOT_COLUMNS = columnsOf('spot', {
  id: ['integer'],
  name: ['text'],
  lat: ['number', 'degree'],
  lng: ['number', 'degree'],
})
