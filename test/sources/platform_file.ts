/** Made-up NetCDF files of platforms, as the Copernicus In Situ service has them. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as h5 from 'h5wasm/node'

await h5.ready

const FILL = -2_147_483_647

export interface Column {
  /** Thousandths by row and level, null for the fill value. */
  values: (number | null)[][]
  units: string
  standard?: string
  /** Flags by row and level; 1 where they are left out. */
  flags?: number[][]
  /** No flags at all. */
  unflagged?: true
}

interface Shape {
  attributes?: { [name: string]: string }
  /** ISO 8601 times. */
  times: string[]
  timeFlags?: number[]
  timeUnits?: string
  lat?: number[]
  lng?: number[]
  positionFlags?: number[]
  /** By row and level, or by level. */
  depths?: number[] | number[][]
  columns?: { [name: string]: Column }
}

const DAY_MS = 86_400_000

export async function writePlatform(path: string, shape: Shape): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const file = new h5.File(path, 'w')
  const attributes = { platform_code: 'P1', platform_name: 'Platform  One', ...shape.attributes }
  for (const [name, text] of Object.entries(attributes)) file.create_attribute(name, text)
  const { times, timeUnits = 'days since 1950-01-01T00:00:00Z' } = shape
  const days = times.map((time) => (Date.parse(time) - Date.UTC(1950, 0, 1)) / DAY_MS)
  const time = file.create_dataset({ name: 'TIME', data: Float64Array.from(days) })
  time.create_attribute('units', timeUnits)
  const flags = (name: string, rows: readonly number[][]): void => {
    const data = Int8Array.from(rows.flat())
    file.create_dataset({
      name,
      data,
      shape: rows[0].length === 1 ? [rows.length] : [rows.length, rows[0].length],
    })
  }
  flags(
    'TIME_QC',
    (shape.timeFlags ?? times.map(() => 1)).map((flag) => [flag]),
  )
  const { lat = times.map(() => 64.352), lng = times.map(() => 7.779_15) } = shape
  file.create_dataset({ name: 'LATITUDE', data: Float32Array.from(lat) })
  file.create_dataset({ name: 'LONGITUDE', data: Float32Array.from(lng) })
  flags(
    'POSITION_QC',
    (shape.positionFlags ?? lat.map(() => 1)).map((flag) => [flag]),
  )
  if (shape.depths !== undefined) {
    const data = Float32Array.from(shape.depths.flat())
    const first = shape.depths[0]
    const dimensions = Array.isArray(first) ? [shape.depths.length, first.length] : [shape.depths.length]
    const depth = file.create_dataset({ name: 'DEPH', data, shape: dimensions })
    depth.create_attribute('units', 'm')
  }
  for (const [name, { values, units, standard, flags: own, unflagged }] of Object.entries(
    shape.columns ?? {},
  )) {
    const data = Int32Array.from(values.flat(), (value) => value ?? FILL)
    const levels = values[0].length
    const variable = file.create_dataset({
      name,
      data,
      shape: levels === 1 ? [values.length] : [values.length, levels],
    })
    variable.create_attribute('units', units)
    if (standard !== undefined) variable.create_attribute('standard_name', standard)
    variable.create_attribute('scale_factor', Float64Array.of(0.001))
    variable.create_attribute('add_offset', Float64Array.of(0))
    variable.create_attribute('_FillValue', Int32Array.of(FILL))
    if (unflagged === undefined)
      flags(`${name}_QC`, own ?? values.map((row) => row.map((value) => (value === null ? -127 : 1))))
  }
  file.close()
}
