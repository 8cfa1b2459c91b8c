/**
 * NetCDF-4 files for tests: any variables, platforms as Copernicus In Situ has them, and tracks of
 * altimeters.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dataset, File, ready } from 'h5wasm/node'

await ready

type Numbers = Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | BigInt64Array
export type Attributes = { readonly [name: string]: string | Exclude<Numbers, BigInt64Array> }

export interface Variable {
  name: string
  /** Row by row. */
  data: Numbers | string[]
  /**
   * Values in a row; one and a single dimension where it is left out, 0 for a single value without
   * dimensions.
   */
  levels?: number
  /** The variables that are its dimensions, written before it. */
  scales?: string[]
  attributes?: Attributes
}

export function writeNetcdf(path: string, attributes: Attributes, variables: readonly Variable[]): void {
  const file = new File(path, 'w')
  for (const [name, value] of Object.entries(attributes)) file.create_attribute(name, value)
  for (const { name, data, levels = 1, attributes: own = {}, scales = [] } of variables) {
    const list = levels === 0 ? [] : [data.length]
    const shape = levels > 1 ? [data.length / levels, levels] : list
    const dtype = Array.isArray(data) ? `S${Math.max(...data.map(({ length }) => length))}` : undefined
    const variable = file.create_dataset({ name, data, shape, ...(dtype !== undefined && { dtype }) })
    for (const [key, value] of Object.entries(own)) variable.create_attribute(key, value)
    for (const [i, scale] of scales.entries()) {
      ;(file.get(scale) as Dataset).make_scale(scale)
      variable.attach_scale(i, scale)
    }
  }
  file.close()
}

/** Numbers in single precision, NaN for what is missing; `levels` of them in a row. */
export const variable = (
  name: string,
  values: ArrayLike<number>,
  attributes: Attributes = {},
  levels = 1,
): Variable => ({ name, data: Float32Array.from(values), attributes, levels })

export const flags = (name: string, values: number[], attributes: Attributes = {}): Variable => ({
  name,
  data: Int8Array.from(values),
  attributes,
})

/** Days since 1950, from ISO 8601. */
export const timesOf = (times: readonly string[], attributes: Attributes = {}): Variable => ({
  name: 'TIME',
  data: Float64Array.from(times, (time) => (Date.parse(time) - Date.UTC(1950, 0, 1)) / 86_400_000),
  attributes: { units: 'days since 1950-01-01T00:00:00Z', ...attributes },
})

/** Four hours. */
const HOURS = [0, 1, 2, 3].map((hour) => `2024-01-01T0${hour}:00Z`)

export interface Mooring {
  times?: Variable
  lat?: number[]
  lng?: number[]
  attributes?: Attributes
}

/** Writes a platform, by default four hours of a mooring; `variables` come after time and position. */
export function writePlatform(
  path: string,
  variables: readonly Variable[],
  { times = timesOf(HOURS), attributes, ...mooring }: Mooring = {},
): void {
  const each = (degrees: number): number[] => Array<number>(times.data.length).fill(degrees)
  const { lat = each(50), lng = each(-10) } = mooring
  const place = (name: string, values: number[]): Variable => ({
    name,
    data: Float64Array.from(values),
    ...(values.length === 1 && { levels: 0 }),
  })
  const about = { platform_code: 'P1', platform_name: 'Platform  One', ...attributes }
  writeNetcdf(path, about, [times, place('LATITUDE', lat), place('LONGITUDE', lng), ...variables])
}

/** Seconds of 1970 at the beginning of the year 2000, from which files of altimeters count. */
export const EPOCH_2000 = 946_684_800

export interface Point {
  time: number
  lat: number
  lng: number
  /** m; null for the fill value. */
  height: number | null
}

/** What is unusual about a file of an altimeter. */
export interface Shape {
  platform?: string | null
  units?: string
  /** Variables that are left out, or cut by one value. */
  without?: string
  shortened?: string
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
  const {
    platform = 'Sentinel-3A',
    units = 'seconds since 2000-01-01 00:00:00.0',
    without,
    shortened,
  } = shape
  const { heightUnits = 'm', heightScale = 0.001, heightOffset = 0 } = shape
  const degrees = (name: string, of: (point: Point) => number): Variable => ({
    name,
    data: Int32Array.from(points, (point) => Math.round(of(point) * 1e6)),
    attributes: { scale_factor: Float64Array.of(1e-6) },
  })
  const times = Float64Array.from(points, ({ time }) => time - EPOCH_2000)
  const heights = points.map(({ height }) =>
    height === null ? -32_767 : Math.round((height - heightOffset) / heightScale),
  )
  const attributes = {
    units: heightUnits,
    scale_factor: Float64Array.of(heightScale),
    add_offset: Float64Array.of(heightOffset),
    _FillValue: Int16Array.of(-32_767),
  }
  const written = [
    { name: 'time', data: times, attributes: { units } },
    degrees('latitude', ({ lat }) => lat),
    degrees('longitude', ({ lng }) => (lng < 0 ? lng + 360 : lng)),
    { name: 'VAVH', data: Int16Array.from(heights), attributes },
    ...extra,
  ]
    .filter(({ name }) => name !== without)
    .map((each) => (each.name === shortened ? { ...each, data: each.data.slice(1) } : each))
  writeNetcdf(path, platform === null ? {} : { platform }, written)
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
