/**
 * Variables and attributes of NetCDF-4 (HDF5) files; sizes are known before anything is read. HDF5 follows
 * links to any file of the process (`/proc/self/environ`). So the library runs on a file system in memory
 * with one file, and a file that tries to open another is refused.
 */
import type { Attribute, Dataset, File } from 'h5wasm'
import { entryOf } from '../../system/entry-of.ts'
import { UnusableFile, wholeFile } from './source-files.ts'

/** Larger than any day of any platform or mission; a file is held in memory whole. */
const MAX_FILE_BYTES = 2 ** 29
/** Temporary files to which the library writes what went wrong. */
const OWN_FILES = /^\/tmp\/tmpfile_/
/** "No such file" among the library's numbers of errors. */
const NO_SUCH_FILE = 44
/** Integers and floating-point numbers among the classes of HDF5's types. */
const FLOAT_CLASS = 1
const NUMBER_CLASSES: ReadonlySet<number> = new Set([0, FLOAT_CLASS])
const TEXT_CLASS = 3
/** Longest text of one value. */
const MAX_TEXT_BYTES = 100
const MAX_NUMBER_BYTES = 8
const STRAYED = 'leads to another file, by a link or with values there'

interface MemoryFiles {
  open(path: unknown, ...rest: unknown[]): unknown
  getPath(node: unknown): string
  writeFile(path: string, bytes: Uint8Array, options: { canOwn: boolean }): void
  unlink(path: string): void
  ErrnoError: new (errno: number) => Error
}

/** The library, and what it does with files. */
interface Library {
  readonly h5: typeof import('h5wasm')
  readonly memory: MemoryFiles
  /** The only path that may be opened. */
  present: string
  /** Files opened so far: a file that the library could not close keeps its path for ever. */
  opened: number
  hasStrayed: boolean
}

/** An open file. */
export interface NetcdfFile {
  /** Names of its variables and groups, without the contents of groups. */
  readonly names: readonly string[]
  /** An attribute of the file that is text. */
  attribute(name: string): string | undefined
  /** An attribute of a variable that is text. */
  attributeOf(variable: string, name: string): string | undefined
  /**
   * Reads a variable: a value, a list, or with `rank` 2 also a table, of `maxValues` numbers at most.
   * @throws UnusableFile when it is anything else
   */
  read(variable: string, wanted: Wanted): Variable
  /**
   * Trimmed texts: the cells of a list or table where there are `count` of them, else rows of a table of
   * characters; null for a variable of numbers.
   */
  texts(variable: string, count: number): string[] | null
}

/** Opens the file for as long as `use` takes. @throws UnusableFile, also for any fault of a damaged file */
type OpenNetcdf = <T>(path: string, use: (file: NetcdfFile) => T) => T

let loading: Promise<OpenNetcdf> | null = null

/** Two megabytes of WebAssembly, loaded once, by the first source that needs them. */
export function loadNetcdf(): Promise<OpenNetcdf> {
  return (loading ??= load())
}

async function load(): Promise<OpenNetcdf> {
  const h5 = await import('h5wasm')
  const module = await h5.ready
  // Faults would otherwise be printed, and reading go on.
  module.activate_throwing_error_handler()
  const memory = h5.FS as unknown as MemoryFiles
  const library: Library = { h5, memory, present: '', opened: 0, hasStrayed: false }
  const open = memory.open.bind(memory)
  memory.open = (path, ...rest) => {
    const wanted = typeof path === 'string' ? path : memory.getPath(path)
    if (wanted !== library.present && !OWN_FILES.test(wanted)) {
      library.hasStrayed = true
      throw new memory.ErrnoError(NO_SUCH_FILE)
    }
    return open(path, ...rest)
  }
  return (path, use) => withFile(library, path, use)
}

function withFile<T>(library: Library, path: string, use: (file: NetcdfFile) => T): T {
  const { h5, memory } = library
  const bytes = wholeFile(path, MAX_FILE_BYTES)
  if (isNetcdf3(bytes))
    throw new UnusableFile('is NetCDF-3 (classic); convert it to NetCDF-4, as with: nccopy -k nc4 FILE NEW')
  library.present = `/${++library.opened}.nc`
  memory.writeFile(library.present, bytes, { canOwn: true })
  let file: File | null = null
  try {
    file = new h5.File(library.present, 'r')
    // The library tries a damaged file as the first of a family of files.
    library.hasStrayed = false
    const result = use(openedFile(library, file))
    if (library.hasStrayed) throw new UnusableFile(STRAYED)
    return result
  } catch (error) {
    if (file !== null && library.hasStrayed) throw new UnusableFile(STRAYED)
    throw error instanceof UnusableFile ? error : new UnusableFile('is not a whole NetCDF-4 (HDF5) file')
  } finally {
    try {
      file?.close()
    } catch {
      // A damaged file may not even close.
    }
    memory.unlink(library.present)
  }
}

function openedFile({ h5 }: Library, file: File): NetcdfFile {
  const variables = new Map<string, { found: Dataset; attrs: Dataset['attrs'] } | null>()
  /** Looking at attributes takes as long as reading values. */
  const variableOf = (name: string): { found: Dataset; attrs: Dataset['attrs'] } | null =>
    entryOf(variables, name, () => {
      const found = file.get(name)
      return found instanceof h5.Dataset ? { found, attrs: found.attrs } : null
    })
  return {
    names: file.keys(),
    attribute: (name) => textAttribute(file.attrs[name]),
    attributeOf: (variable, name) => textAttribute(variableOf(variable)?.attrs[name]),
    read(name, wanted) {
      const variable = variableOf(name)
      if (variable === null) throw new UnusableFile(`${name} is not a variable`)
      return readVariable(variable.found, variable.attrs, name, wanted)
    },
    texts: (name, count) => textsOf(variableOf(name)?.found, name, count),
  }
}

function isNetcdf3(bytes: Uint8Array): boolean {
  return bytes[0] === 0x43 && bytes[1] === 0x44 && bytes[2] === 0x46 && [1, 2, 5].includes(bytes[3])
}

export interface Variable {
  values: ArrayLike<number>
  /** A single value has the shape of a list of one. */
  shape: readonly number[]
  /** The name of the first dimension, such as `TIME`; empty where the file has none. */
  along: string
  units: string
  /** Values beyond the valid range that the file gives; they count as missing. */
  invalid: number
  /** The value in units, NaN where it is missing. */
  readonly valueAt: (index: number) => number
  /** The attribute's text, empty where there is none. */
  readonly text: (attribute: string) => string
  /** The attribute's numbers: one, a list, or text such as "99.9, 98". */
  readonly numbers: (attribute: string) => number[]
}

interface Wanted {
  rank: 1 | 2
  maxValues: number
  /** Coordinates often have the valid range of another form, such as longitudes up to 180. */
  isCoordinate?: boolean
}

function readVariable(
  found: Dataset,
  attrs: Dataset['attrs'],
  name: string,
  { rank, maxValues, isCoordinate = false }: Wanted,
): Variable {
  const { metadata } = found
  // Values that the other files lack would be read as zeros.
  if (metadata.virtual_sources !== undefined) throw new UnusableFile(`${name} is a virtual dataset`)
  const shape = metadata.shape?.length === 0 ? [1] : (metadata.shape ?? [])
  if (shape.length < 1 || shape.length > rank) {
    throw new UnusableFile(`${name} is ${rank === 1 ? 'not a list' : 'neither a list nor a table'}`)
  }
  const text = (attribute: string): string => textAttribute(attrs[attribute]) ?? ''
  const numbers = (attribute: string): number[] => numbersOfAttribute(attrs[attribute])
  const values = numbersOf(found, metadata, name, shape, maxValues)
  const scale = numbers('scale_factor')[0] ?? 1
  const offset = numbers('add_offset')[0] ?? 0
  const stored = asStored(values, /^true$/i.test(text('_Unsigned')))
  const markers = new Set(['_FillValue', 'missing_value'].flatMap(numbers).map(stored))
  const isValid = isCoordinate ? null : validRange(attrs, values)
  let invalid = 0
  const storedAt = (index: number): number => {
    const value = stored(values[index])
    return markers.has(value) ? NaN : value * scale + offset
  }
  const checked = (index: number): number => {
    const value = storedAt(index)
    return isValid === null || isValid(values[index], value) ? value : NaN
  }
  if (isValid !== null) {
    for (let i = 0; i < values.length; i++) {
      if (!Number.isNaN(storedAt(i)) && Number.isNaN(checked(i))) invalid++
    }
  }
  const [along = ''] = shape.length === 2 ? found.get_attached_scales(0) : []
  const units = text('units')
  return { values, shape, along: along.replace(/^.*\//, ''), units, invalid, valueAt: checked, text, numbers }
}

/**
 * A value or marker in the stored type of the values: rounded, or without the sign that the classic model
 * adds.
 */
function asStored(values: ArrayLike<number>, isUnsigned: boolean): (value: number) => number {
  if (values instanceof Float32Array) return Math.fround
  if (isUnsigned && values instanceof Int8Array) return (value) => value & 0xff
  if (isUnsigned && values instanceof Int16Array) return (value) => value & 0xffff
  return (value) => value
}

/**
 * Whether a value, as it is stored and in units, lies in the variable's `valid_range`, or `valid_min` and
 * `valid_max`.
 */
function validRange(
  { valid_range: both, valid_min: least, valid_max: most }: File['attrs'],
  values: ArrayLike<number>,
): ((stored: number, unpacked: number) => boolean) | null {
  const [first, second] = numbersOfAttribute(both)
  const min = first ?? numbersOfAttribute(least)[0] ?? -Number.MAX_VALUE
  const max = second ?? numbersOfAttribute(most)[0] ?? Number.MAX_VALUE
  if (first === undefined && least === undefined && most === undefined) return null
  // CF: limits are stored like the values, unless they are floats and the values are integers.
  const isFloat = values instanceof Float32Array || values instanceof Float64Array
  const isInUnits = !isFloat && (both ?? least ?? most)?.metadata.type === FLOAT_CLASS
  // A scale factor of 32 bits makes 2.0000001 of 2.
  const near = isInUnits ? 1e-6 : 0
  return (stored, unpacked) => {
    const judged = isInUnits ? unpacked : stored
    return judged >= min - Math.abs(min) * near && judged <= max + Math.abs(max) * near
  }
}

/** Raw values, with their number and size checked before anything is read. */
function numbersOf(
  dataset: Dataset,
  { type, size }: Dataset['metadata'],
  name: string,
  shape: readonly number[],
  maxValues: number,
): ArrayLike<number> {
  const count = shape.reduce((product, length) => product * length, 1)
  if (!(count <= maxValues)) throw new UnusableFile(`has more than ${maxValues} points`)
  if (!NUMBER_CLASSES.has(type) || size > MAX_NUMBER_BYTES) throw new UnusableFile(`${name} holds no numbers`)
  const found: unknown = dataset.value
  // A single value is not in a list.
  const value = typeof found === 'number' ? Float64Array.of(found) : found
  const isNumbers = ArrayBuffer.isView(value) && !(value instanceof DataView)
  const numbers = value as ArrayLike<number>
  if (!isNumbers || numbers.length !== count || typeof (numbers[0] ?? 0) !== 'number')
    throw new UnusableFile(`${name} holds no numbers`)
  return numbers
}

function textsOf(found: Dataset | undefined, name: string, count: number): string[] | null {
  if (found === undefined) return null
  const { type, size, shape } = found.metadata
  if (type !== TEXT_CLASS) return null
  const cells = (shape ?? []).reduce((product, length) => product * length, 1)
  if (!(cells * Math.max(size, 1) <= Math.max(count, 1) * MAX_TEXT_BYTES))
    throw new UnusableFile(`${name} holds too much text`)
  const value: unknown = found.value
  const texts = (Array.isArray(value) ? value : [value]).map(String)
  const columns = cells === count ? 1 : (shape?.[1] ?? 1)
  return Array.from({ length: cells / columns }, (_, row) =>
    texts
      .slice(row * columns, (row + 1) * columns)
      .join('')
      .replaceAll(/^[\s\0]+|[\s\0]+$/g, ''),
  )
}

function textAttribute(attribute: Attribute | undefined): string | undefined {
  const value = attribute?.value
  return typeof value === 'string' ? value : undefined
}

function numbersOfAttribute(attribute: Attribute | undefined): number[] {
  const value: unknown = attribute?.value
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
  const list = isList ? Array.from(value as ArrayLike<unknown>) : [value]
  return list
    .flatMap((one) => (typeof one === 'string' ? one.split(/[\s,]+/).map(parseFloat) : Number(one ?? NaN)))
    .filter((number) => !Number.isNaN(number))
}
