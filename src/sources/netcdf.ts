/** Variables and attributes of NetCDF-4 files, which are HDF5 files: read where they lie, nothing before its size was looked at. */
import type { Attribute, Dataset, File } from 'h5wasm/node'

export type Netcdf = typeof import('h5wasm/node')

/** A file that cannot be used; the message says why, without anything of its content. */
export class UnusableFile extends Error {}

/** Two megabytes of WebAssembly, loaded by the sources that need them when they do. */
export async function loadNetcdf(): Promise<Netcdf> {
  const netcdf = await import('h5wasm/node')
  const library = await netcdf.ready
  // Otherwise faults are printed, and reading goes on.
  library.activate_throwing_error_handler()
  return netcdf
}

/** Opens the file at `path` for as long as `use` takes. @throws UnusableFile, also for any fault that a damaged file makes. */
export function withFile<T>(netcdf: Netcdf, path: string, use: (file: File) => T): T {
  let file: File | null = null
  try {
    file = new netcdf.File(path, 'r')
    return use(file)
  } catch (error) {
    if (error instanceof UnusableFile) throw error
    throw new UnusableFile('is no whole NetCDF-4 (HDF5) file')
  } finally {
    try {
      file?.close()
    } catch {
      // A damaged file may not even close; what was read of a whole one is whole.
    }
  }
}

export interface Variable {
  values: ArrayLike<number>
  shape: readonly number[]
  units: string
  /** The value in units, NaN where it is missing. */
  at(index: number): number
}

/**
 * Reads the variable `name`: a list, or with `rank` 2 also a table, of `maxValues` numbers at most.
 * @throws UnusableFile when it is anything else
 */
export function readVariable(
  netcdf: Netcdf,
  file: File,
  name: string,
  { rank, maxValues }: { rank: 1 | 2; maxValues: number },
): Variable {
  const found = file.get(name)
  if (!(found instanceof netcdf.Dataset)) throw new UnusableFile(`${name} is no variable`)
  const shape = found.shape ?? []
  if (shape.length < 1 || shape.length > rank) {
    throw new UnusableFile(`${name} is no list${rank === 1 ? '' : ' and no table'}`)
  }
  const values = numbersOf(found, name, shape, maxValues)
  const { attrs } = found
  const scale = numberAttribute(attrs['scale_factor']) ?? 1
  const offset = numberAttribute(attrs['add_offset']) ?? 0
  const fill = numberAttribute(attrs['_FillValue'])
  const missing = numberAttribute(attrs['missing_value'])
  return {
    values,
    shape,
    units: textAttribute(attrs['units']) ?? '',
    at(index) {
      const value = values[index]
      return value === fill || value === missing ? NaN : value * scale + offset
    },
  }
}

/** The raw values; their number is looked at before anything is read. */
function numbersOf(
  dataset: Dataset,
  name: string,
  shape: readonly number[],
  maxValues: number,
): ArrayLike<number> {
  const count = shape.reduce((product, length) => product * length, 1)
  if (!(count <= maxValues)) throw new UnusableFile(`has more than ${maxValues} points`)
  const { value } = dataset
  const isNumbers = ArrayBuffer.isView(value) && !(value instanceof DataView) && value.length === count
  if (!isNumbers || typeof (value[0] ?? 0) !== 'number') throw new UnusableFile(`${name} holds no numbers`)
  return value as ArrayLike<number>
}

export function textAttribute(attribute: Attribute | undefined): string | undefined {
  const value = attribute?.value
  return typeof value === 'string' ? value : undefined
}

/** A number, or the first of a list of numbers. */
function numberAttribute(attribute: Attribute | undefined): number | undefined {
  const value: unknown = attribute?.value
  const first: unknown = ArrayBuffer.isView(value) ? (value as unknown as ArrayLike<unknown>)[0] : value
  return typeof first === 'number' ? first : undefined
}
