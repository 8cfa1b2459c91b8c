/** Made-up NetCDF files of platforms, as the Copernicus In Situ service has them. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeNetcdf, type Variable } from './netcdf_file.ts'

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
  const attributes = { platform_code: 'P1', platform_name: 'Platform  One', ...shape.attributes }
  const { times, timeUnits = 'days since 1950-01-01T00:00:00Z', depths } = shape
  const { lat = times.map(() => 64.352), lng = times.map(() => 7.779_15) } = shape
  const days = times.map((time) => (Date.parse(time) - Date.UTC(1950, 0, 1)) / DAY_MS)
  const levelsOf = (rows: readonly (number | readonly unknown[])[]): number =>
    typeof rows[0] === 'number' ? 1 : rows[0].length
  const flags = (name: string, rows: readonly (number | readonly number[])[]): Variable => ({
    name,
    data: Int8Array.from(rows.flat()),
    levels: levelsOf(rows),
  })
  const variables: Variable[] = [
    { name: 'TIME', data: Float64Array.from(days), attributes: { units: timeUnits } },
    flags('TIME_QC', shape.timeFlags ?? times.map(() => 1)),
    { name: 'LATITUDE', data: Float32Array.from(lat) },
    { name: 'LONGITUDE', data: Float32Array.from(lng) },
    flags('POSITION_QC', shape.positionFlags ?? lat.map(() => 1)),
  ]
  if (depths !== undefined) {
    const data = Float32Array.from(depths.flat())
    variables.push({ name: 'DEPH', data, levels: levelsOf(depths), attributes: { units: 'm' } })
  }
  for (const [name, { values, units, standard, flags: own, unflagged }] of Object.entries(
    shape.columns ?? {},
  )) {
    variables.push({
      name,
      data: Int32Array.from(values.flat(), (value) => value ?? FILL),
      levels: levelsOf(values),
      attributes: {
        units,
        ...(standard !== undefined && { standard_name: standard }),
        scale_factor: Float64Array.of(0.001),
        add_offset: Float64Array.of(0),
        _FillValue: Int32Array.of(FILL),
      },
    })
    if (unflagged === undefined)
      variables.push(
        flags(`${name}_QC`, own ?? values.map((row) => row.map((value) => (value === null ? -127 : 1)))),
      )
  }
  writeNetcdf(path, attributes, variables)
}
