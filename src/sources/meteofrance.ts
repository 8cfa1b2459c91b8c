/**
 * Météo-France's marine observations, a file a day: `marine.20241209.csv` or `bouees.20241209.csv`. `period`
 * is PwaPwa, the period of measured waves; temperatures are in kelvin, speeds in m/s, the pressure at sea
 * level in pascals, the visibility in metres, times UTC, `mq` is missing.
 */
import { openText } from './reading/text-table.ts'
import type { FileReport, OpenSource } from './source.ts'
import { compileMap, type TableSpec } from './tables/column-map.ts'
import { type Form, readFolder } from './tables/rows.ts'

const COLUMNS: TableSpec = {
  station: 'numer_sta',
  values: {
    significantHeight: { at: 'HwaHwa', unit: 'm' },
    period: { at: 'PwaPwa', unit: 's' },
    direction: { at: 'dwadwa', unit: 'degree' },
    waterTemperature: { at: 'tmer', unit: 'K' },
    windSpeed: { at: 'ff', unit: 'm/s' },
    windDirection: { at: 'dd', unit: 'degree' },
    gustSpeed: { at: 'rafper', unit: 'm/s' },
    airTemperature: { at: 't', unit: 'K' },
    dewPoint: { at: 'td', unit: 'K' },
    pressure: { at: 'pmer', unit: 'Pa' },
    humidity: { at: 'u', unit: '%' },
    visibility: { at: 'vv', unit: 'm' },
  },
}

const NAMES = {
  '61001': "Côte d'Azur",
  '61002': 'Golfe du Lion',
  '62001': 'Gascogne',
  '62163': 'Bretagne',
}

const FORM: Form = {
  kind: 'meteofrance',
  files: /^(?:marine|bouees)\.\d{8}\.csv$/i,
  ignored: 'not marine.YYYYMMDD.csv',
  open(bytes, path, [map], file) {
    const table = openText(bytes, file)
    const isStamp = /[;,]\d{14}[;,]/.test(bytes.toString('latin1', 0, 4096))
    const time = { at: 'date', unit: isStamp ? 'YYYYMMDDHHmmss' : 'UTC' }
    const found = { map: { ...map, ...COLUMNS, time }, path, info: new Map(), look: null }
    return table === null ? [] : [{ table, ...found, identify: anchoredBuoy }]
  },
}

export const openMeteofrance: OpenSource = (folder) => {
  const credit = 'Météo-France'
  const map = compileMap('meteofrance', { source: credit, credit, licence: 'Licence Ouverte 2.0' })
  for (const [identifier, name] of Object.entries(NAMES)) map.known.set(identifier, { name })
  return { read: (sink, { report }) => readFolder(FORM, folder, map, sink, report) }
}

/**
 * The five digits of an anchored buoy. A WMO number of seven digits has two zeros after the area: 4100300 is
 * 41300. Ships have letters, and drifting buoys add 500 to the number after the area.
 */
function anchoredBuoy(station: string, file: FileReport): string | null {
  if (!/^[0-9A-Za-z]{1,12}$/.test(station)) return ''
  if (!/^(?:\d{5}|\d{7})$/.test(station) || Number(station.slice(-3)) >= 500) {
    file.skipped('a ship or a drifting buoy')
    return null
  }
  return station.length === 7 && station.slice(2, 4) === '00'
    ? station.slice(0, 2) + station.slice(4)
    : station
}
