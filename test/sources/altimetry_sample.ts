/** Files of altimeters, for tests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeNetcdf, type Variable } from './netcdf_file.ts'

/** Seconds of 1970 at the beginning of the year 2000, from which the files count. */
export const EPOCH_2000 = 946_684_800

export interface Point {
  time: number
  lat: number
  lng: number
  /** m; null for the fill value. */
  height: number | null
}

/** What is unusual about a file. */
export interface Shape {
  platform?: string | null
  units?: string
  /** Variables that are left out, or cut by one value. */
  without?: string[]
  shortened?: string[]
  heightUnits?: string
  heightScale?: number
  heightOffset?: number
}

/** Writes a file of a satellite's day as Copernicus Marine does. */
export function writeL3(
  path: string,
  points: readonly Point[],
  shape: Shape = {},
  extra: readonly Variable[] = [],
): void {
  const { platform = 'Sentinel-3A', units = 'seconds since 2000-01-01 00:00:00.0' } = shape
  const { without = [], shortened = [], heightUnits = 'm', heightScale = 0.001, heightOffset } = shape
  const micro = { scale_factor: Float64Array.of(1e-6) }
  const raw = ({ height }: Point) =>
    height === null ? -32_767 : Math.round((height - (heightOffset ?? 0)) / heightScale)
  const variables: Variable[] = [
    { name: 'time', data: Float64Array.from(points, ({ time }) => time - EPOCH_2000), attributes: { units } },
    {
      name: 'latitude',
      data: Int32Array.from(points, ({ lat }) => Math.round(lat * 1e6)),
      attributes: micro,
    },
    {
      name: 'longitude',
      data: Int32Array.from(points, ({ lng }) => Math.round((lng < 0 ? lng + 360 : lng) * 1e6)),
      attributes: micro,
    },
    {
      name: 'VAVH',
      data: Int16Array.from(points, raw),
      attributes: {
        units: heightUnits,
        scale_factor: Float64Array.of(heightScale),
        _FillValue: Int16Array.of(-32_767),
        ...(heightOffset !== undefined && { add_offset: Float64Array.of(heightOffset) }),
      },
    },
  ]
  const written = variables
    .filter(({ name }) => !without.includes(name))
    .map((each) => (shortened.includes(each.name) ? { ...each, data: each.data.slice(1) } : each))
  writeNetcdf(path, platform === null ? {} : { platform }, [...written, ...extra])
}

/** A small file of an altimeter, along one pass over a virtual buoy of the grid. */
export function altimetrySample(): Uint8Array {
  const points = Array.from({ length: 60 }, (_, i) => ({
    time: 1_643_700_000 + i,
    lat: 8 + (i - 30) * 0.06,
    lng: -36,
    height: 2.1,
  }))
  const folder = mkdtempSync(join(tmpdir(), 'altimetry-'))
  const path = join(folder, 'sample.nc')
  writeL3(path, points)
  const bytes = readFileSync(path)
  rmSync(folder, { recursive: true })
  return bytes
}
