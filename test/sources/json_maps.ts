/** Maps of networks that publish JSON, for made-up rows and for real files of theirs. */
import type { MeasureName } from '../../src/sea/columns.ts'
import type { TableOptions, TableSpec } from '../../src/sources/tables/column-map.ts'

export type JsonMap = TableOptions & { tables: TableSpec[] }

export const IRISH_MAP: JsonMap = {
  source: 'Irish Marine Institute',
  network: 'national',
  tables: [
    {
      rows: '',
      station: '/station_id',
      lat: '/latitude',
      lng: '/longitude',
      time: { at: '/time', unit: 'UTC' },
      values: {
        significantHeight: { at: '/wave_height', unit: 'm' },
        maximumHeight: { at: '/hmax', unit: 'm' },
        period: { at: '/wave_period', unit: 's' },
        direction: { at: '/mean_wave_direction', unit: 'degree' },
        waterTemperature: { at: '/sea_temperature', unit: 'degree_C' },
        windSpeed: { at: '/wind_speed', unit: 'knots' },
        windDirection: { at: '/wind_direction', unit: 'degree' },
        gustSpeed: { at: '/gust', unit: 'knots' },
      },
    },
  ],
}

/** Rows of pairs of value and flag below a header that has the names of `columns`, in metres and seconds. */
export function portusMap(
  columns: { readonly [name in MeasureName]?: string },
  stations: NonNullable<TableOptions['stations']>,
): JsonMap {
  const values = Object.entries(columns).map(([measure, name]) => [
    measure,
    {
      at: `/@${name}/0`,
      missing: [-9999.9],
      quality: { at: `/@${name}/1`, good: [0, 1] },
      unit: measure.endsWith('eriod') ? 's' : 'm',
    },
  ])
  return {
    source: 'Puertos del Estado',
    network: 'coastal',
    stations,
    tables: [
      {
        files: '*StationData_{station}.json',
        rows: '/1',
        header: '/0',
        time: { at: '/@UTC', unit: 'seconds since 1970-01-01' },
        values: Object.fromEntries(values) as NonNullable<TableSpec['values']>,
      },
    ],
  }
}

/** Of objects with an identifier, a time in UTC and a height in metres. */
export const plainMap = (rows: string, station: string, time: string, height: string): JsonMap => ({
  source: 'S',
  network: 'national',
  tables: [
    {
      rows,
      station,
      time: { at: time, unit: 'UTC' },
      values: { significantHeight: { at: height, unit: 'm' } },
    },
  ],
})

export const SOFAR_SPECTRA = {
  rows: '/data/frequencyData',
  time: { at: '/timestamp' },
  values: {},
  spectra: {
    frequency: '/frequency',
    bandwidth: '/df',
    density: '/varianceDensity',
    a1: '/a1',
    b1: '/b1',
    a2: '/a2',
    b2: '/b2',
    direction: '/direction',
  },
}
