/**
 * Snapshots from a liar: a whole small snapshot is taken apart, something about it is made wrong, and it is
 * put together again with right hashes and a right id. Written against the description of the format, not
 * with the program's own writer, which would not write such bytes.
 */
import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import { Chance } from '../chance.ts'

const packer = new Packr({ useRecords: false, variableMapSize: true })
const unpacker = new Unpackr({ useRecords: false, mapsAsObjects: true })

const ALIGNMENT = 64
const BIN32_HEADER = 5

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const
type Type = keyof typeof ARRAYS
type Values = InstanceType<(typeof ARRAYS)[Type]>

export interface TaleColumn {
  name: unknown
  type: Type
  values: Values
  /** What the header says instead of the truth. */
  claims: { [field: string]: unknown }
}

export interface TalePart {
  /** As the manifest has it. */
  entry: { [field: string]: unknown }
  /** What the manifest says instead of the truth. */
  claims: { [field: string]: unknown }
  header: { [field: string]: unknown }
  meta: unknown
  columns: TaleColumn[]
  /** Changes the bytes that were made. */
  spoil: ((bytes: Uint8Array) => Uint8Array)[]
}

/** A snapshot as a liar writes it. */
export interface Tale {
  asOf: unknown
  parts: TalePart[]
}

export interface Telling {
  manifest: Uint8Array
  /** Parts by file name. */
  files: Map<string, Uint8Array>
}

/** Takes a whole snapshot apart. */
export function taleOf(manifest: Uint8Array, read: (file: string) => Uint8Array): Tale {
  const body = unpacker.unpack(manifest) as { as_of: number; parts: { file: string }[] }
  return {
    asOf: body.as_of,
    parts: body.parts.map((entry) => {
      const bytes = Uint8Array.from(read(entry.file))
      let first: unknown
      unpacker.unpackMultiple(bytes, (value: unknown) => {
        first ??= value
        return false
      })
      const { meta, columns, ...header } = first as {
        meta: unknown
        columns: { name: string; type: Type; length: number; offset: number }[]
      }
      return {
        entry: { ...entry },
        claims: {},
        header,
        meta,
        columns: columns.map(({ name, type, length, offset }) => ({
          name,
          type,
          values: new ARRAYS[type](
            bytes.buffer.slice(offset, offset + length * ARRAYS[type].BYTES_PER_ELEMENT),
          ),
          claims: {},
        })),
        spoil: [],
      }
    }),
  }
}

/** Puts it together, everything that can be right with a lie being right. */
export function tell(tale: Tale): Telling {
  const files = new Map<string, Uint8Array>()
  const made = new Map<TalePart, { [field: string]: unknown }>()
  const parts = tale.parts.map((part) => {
    const known = made.get(part)
    if (known !== undefined) return known
    const bytes = part.spoil.reduce((all, spoil) => spoil(all), bytesOf(part))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const file = `${String(part.entry.kind)}-${sha256.slice(0, 32)}.msgpack`
    if (/^[\w.-]+$/.test(file)) files.set(file, bytes)
    const { kind, rows, month } = part.entry
    const entry = { kind, file, bytes: bytes.length, sha256, rows, month, ...part.claims }
    made.set(part, entry)
    return entry
  })
  const body = { format: 'groundswell-snapshot', version: 2, as_of: tale.asOf, parts }
  const id = createHash('sha256').update(packer.pack(body)).digest('hex').slice(0, 24)
  return { manifest: Uint8Array.from(packer.pack({ ...body, id })), files }
}

function bytesOf(part: TalePart): Uint8Array {
  let offsets = part.columns.map(() => 0)
  for (;;) {
    const header = packer.pack({
      ...part.header,
      meta: part.meta,
      columns: part.columns.map(({ name, type, values, claims }, i) => ({
        name,
        type,
        length: values.length,
        offset: offsets[i],
        ...claims,
      })),
    })
    let end = header.length
    const next = part.columns.map(({ values }) => {
      const offset = Math.ceil((end + BIN32_HEADER) / ALIGNMENT) * ALIGNMENT
      end = offset + values.byteLength
      return offset
    })
    if (next.some((offset, i) => offset !== offsets[i])) {
      offsets = next
      continue
    }
    const bytes = new Uint8Array(end).fill(0xc0, header.length)
    bytes.set(header)
    part.columns.forEach(({ values }, i) => {
      bytes[offsets[i] - BIN32_HEADER] = 0xc6
      new DataView(bytes.buffer).setUint32(offsets[i] - BIN32_HEADER + 1, values.byteLength)
      bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), offsets[i])
    })
    return bytes
  }
}

/** A copy that a lie may change. */
export function copyOf({ asOf, parts }: Tale): Tale {
  return {
    asOf,
    parts: parts.map((part) => ({
      ...part,
      entry: { ...part.entry },
      claims: { ...part.claims },
      header: { ...part.header },
      meta: structuredClone(part.meta),
      columns: part.columns.map((column) => ({
        ...column,
        values: column.values.slice(),
        claims: { ...column.claims },
      })),
      spoil: [...part.spoil],
    })),
  }
}

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

/** Values that are not what is expected nearly anywhere. */
const STRANGE: ((chance: Chance) => unknown)[] = [
  () => null,
  () => undefined,
  () => NaN,
  () => Infinity,
  () => -Infinity,
  () => -1,
  () => 0,
  () => -0,
  () => 0.5,
  () => 1e300,
  () => 2 ** 32,
  () => 2 ** 53,
  () => 10n ** 18n,
  () => '',
  () => 'x',
  () => '__proto__',
  () => 'constructor',
  () => '\u0000',
  () => '\ud800',
  () => 'Å'.repeat(70_000),
  () => true,
  () => [],
  () => ({}),
  () => [[], {}],
  () => ({ constructor: { prototype: 5 }, toString: 5, length: 7 }),
  () => new Date(0),
  () => new Map([[1, 2]]),
  () => new Set([1]),
  () => /x/,
  () => new Error('x'),
  () => Uint8Array.of(0xc1),
  () => new Float32Array(3),
  () => deep(50),
  () => deep(500),
  (chance) => Array.from({ length: 70_000 }, () => chance.below(9)),
  (chance) => chance.below(2 ** 32),
]

const strange = (chance: Chance): unknown => chance.pick(STRANGE)(chance)

/** Says what it has made wrong. */
type Lie = (tale: Tale, chance: Chance) => string
type Weighted = readonly [weight: number, lie: Lie]

function someColumn(tale: Tale, chance: Chance): { part: TalePart; column: TaleColumn } | null {
  const part = chance.pick(tale.parts)
  return part.columns.length === 0 ? null : { part, column: chance.pick(part.columns) }
}

/** A lie may have made it anything. */
const nameOf = ({ name }: TaleColumn): string => (typeof name === 'string' ? name.slice(0, 20) : typeof name)

const labelOf = ({ entry }: TalePart): string => `${String(entry.kind)} ${String(entry.month)}`

/** Changes something about one part. */
function ofPart(weight: number, change: (part: TalePart, chance: Chance, tale: Tale) => string): Weighted {
  const lie: Lie = (tale, chance) => {
    const part = chance.pick(tale.parts)
    return `${labelOf(part)} ${change(part, chance, tale)}`
  }
  return [weight, lie]
}

/** Changes something about one column. */
function ofColumn(
  weight: number,
  what: string,
  change: (column: TaleColumn, chance: Chance, part: TalePart) => string | void,
): Weighted {
  const lie: Lie = (tale, chance) => {
    const found = someColumn(tale, chance)
    if (found === null) return 'nothing'
    const more = change(found.column, chance, found.part)
    return `${labelOf(found.part)}, column ${nameOf(found.column)}: ${what} ${more ?? ''}`
  }
  return [weight, lie]
}

function someValue({ type, values }: TaleColumn, chance: Chance): number {
  const near = values.length === 0 ? 0 : values[chance.below(values.length)]
  const candidates = [0, 1, -1, near, near + 1, near - 1, 0xff, 0xffff, 0xffff_ffff, 0x7fff, -0x8000, 1e9]
  if (type === 'f64' || type === 'f32')
    candidates.push(NaN, Infinity, -Infinity, 1e300, -0, 90.0001, 180.0001)
  return chance.pick(candidates)
}

function resized(column: TaleColumn, length: number): void {
  const values = new ARRAYS[column.type](length)
  for (let i = 0; i < Math.min(length, column.values.length); i++) values[i] = column.values[i]
  column.values = values
}

/** A random place within a value of lists and maps, and its parent. */
function somePlace(root: unknown, chance: Chance): { parent: object; key: string | number } | null {
  let parent: object | null = null
  let key: string | number = ''
  let at = root
  for (;;) {
    if (typeof at !== 'object' || at === null || ArrayBuffer.isView(at)) break
    const keys: (string | number)[] = Array.isArray(at) ? [...at.keys()] : Object.keys(at)
    if (keys.length === 0 || (parent !== null && chance.percent(30))) break
    parent = at
    key = chance.pick(keys)
    at = (at as { [key: string]: unknown })[key]
  }
  return parent === null ? null : { parent, key }
}

function inMeta(
  weight: number,
  what: string,
  change: (
    parent: { [key: string | number]: unknown },
    key: string | number,
    chance: Chance,
  ) => string | void,
): Weighted {
  return ofPart(weight, ({ meta }, chance) => {
    const place = somePlace(meta, chance)
    if (place === null) return 'nothing'
    const more = change(place.parent as { [key: string | number]: unknown }, place.key, chance)
    return `meta at ${place.key}: ${what} ${more ?? ''}`
  })
}

const TREES = ['points', 'boxes', 'words_text', 'words_owner', 'words_place', 'words_suffixes', 'words_rank']

function inTree(weight: number, what: string, change: (values: Values, chance: Chance) => void): Weighted {
  const lie: Lie = (tale, chance) => {
    const catalog = tale.parts.find(({ entry }) => entry.kind === 'catalog')
    const column = catalog?.columns.find(({ name }) => name === chance.pick(TREES))
    if (column === undefined || column.values.length === 0) return 'nothing'
    change(column.values, chance)
    return `catalog, ${nameOf(column)}: ${what}`
  }
  return [weight, lie]
}

const headerEnd = (bytes: Uint8Array): number => {
  // The padding before the first column begins where the header ends; bits of the header matter most.
  for (let at = 1; at < bytes.length; at++) if (bytes[at] === 0xc0 && bytes[at + 1] === 0xc0) return at
  return bytes.length
}

function inBytes(
  weight: number,
  what: string,
  change: (bytes: Uint8Array, chance: Chance) => Uint8Array,
): Weighted {
  return ofPart(weight, ({ spoil }, chance) => {
    spoil.push((bytes) => change(bytes, chance))
    return `bytes: ${what}`
  })
}

/**
 * Lists nested in lists, each of which says that it holds millions: room for them is gigabytes, their bytes
 * are few.
 */
function bomb(levels: number): Uint8Array {
  const bytes = new Uint8Array(levels * 5).fill(0)
  for (let i = 0; i < levels; i++) bytes.set([0xdd, 0x01, 0xc9, 0xc3, 0x80], i * 5)
  return bytes
}

const LIES: readonly Weighted[] = [
  [
    2,
    (tale, chance) => {
      const impossible = [NaN, Infinity, -Infinity, -1, 1e300, 0.5, 2 ** 32]
      tale.asOf = chance.percent(50) ? chance.pick(impossible) : strange(chance)
      return `as_of ${typeof tale.asOf}`
    },
  ],
  ofPart(3, ({ claims }, chance) => {
    const field = chance.pick(['kind', 'file', 'bytes', 'sha256', 'rows', 'month'])
    claims[field] = strange(chance)
    return `has a ${field} in the manifest that is ${typeof claims[field]}`
  }),
  ofPart(2, (part, chance, { parts }) => {
    const times = chance.pick([1, 1, 5, 2000])
    for (let i = 0; i < times; i++) parts.push(part)
    return `is named ${times + 1} times`
  }),
  ofPart(1, (part, _chance, { parts }) => {
    parts.splice(parts.indexOf(part), 1)
    return 'is left out'
  }),
  ofPart(2, (original, chance, { parts }) => {
    const part = copyOf({ asOf: 0, parts: [original] }).parts[0]
    const column = part.columns[0]
    if (chance.percent(50) && column !== undefined && column.values.length > 0) column.values[0] ^= 1
    parts.push(part)
    return 'is there again, a little different'
  }),
  ofPart(1, (a, chance, { parts }) => {
    const b = chance.pick(parts)
    ;[a.entry.kind, b.entry.kind] = [b.entry.kind, a.entry.kind]
    return `and ${labelOf(b)} change their kinds in the manifest`
  }),
  ofPart(1, ({ entry }, chance) => {
    entry.month = chance.pick([null, 0, -1, 1633, 1634, 9999, 674.5, 1e9])
    return `is of month ${String(entry.month)}`
  }),
  ofPart(1, ({ entry }, chance) => {
    entry.rows = chance.pick([0, 1, Number(entry.rows) + 1, 2 ** 31, 2 ** 52])
    return `has ${String(entry.rows)} rows in the manifest`
  }),
  [
    1,
    (tale) => {
      tale.parts.reverse()
      return 'parts in another order'
    },
  ],
  ofPart(1, ({ header }, chance) => {
    const field = chance.pick(Object.keys(header))
    header[field] = field === 'kind' ? chance.pick(['readings', 'tides', 'catalog']) : strange(chance)
    return `header: ${field}`
  }),
  ofPart(1, (part, chance) => {
    part.meta = strange(chance)
    return `meta is ${typeof part.meta}`
  }),
  // Columns.
  ofColumn(12, 'one value', (column, chance) => {
    if (column.values.length === 0) return 'none'
    const at = chance.below(column.values.length)
    const value = someValue(column, chance)
    column.values[at] = value
    return `${value} at ${at}`
  }),
  ofColumn(3, 'all values alike', (column, chance) => void column.values.fill(someValue(column, chance))),
  ofColumn(2, 'two values exchanged', ({ values }, chance) => {
    const [a, b] = [chance.below(values.length), chance.below(values.length)]
    if (values.length > 1) [values[a], values[b]] = [values[b], values[a]]
  }),
  ofColumn(
    2,
    'left out',
    (column, _chance, part) => void part.columns.splice(part.columns.indexOf(column), 1),
  ),
  ofColumn(2, 'there twice', (column, chance, part) => {
    part.columns.splice(chance.below(part.columns.length), 0, { ...column, values: column.values.slice() })
  }),
  ofColumn(
    2,
    'renamed',
    (column, chance) => void (column.name = chance.percent(50) ? strange(chance) : 'time'),
  ),
  ofColumn(4, 'of another type', (column, chance) => {
    const type = chance.pick(Object.keys(ARRAYS) as Type[])
    column.values = ARRAYS[type].from(column.values as Float64Array)
    column.type = type
    return type
  }),
  ofColumn(3, 'of another length', (column, chance) => {
    const length = chance.pick([
      0,
      1,
      column.values.length - 1,
      column.values.length + 1,
      column.values.length * 2,
    ])
    resized(column, Math.max(0, length))
    return String(length)
  }),
  ofColumn(3, 'claims', (column, chance) => {
    const field = chance.pick(['name', 'type', 'length', 'offset'])
    column.claims[field] = chance.percent(50)
      ? strange(chance)
      : chance.pick([0, 64, 128, 192, 2 ** 31, 2 ** 40, 'u8', 'f64'])
    return field
  }),
  // What stands beside them.
  inMeta(8, 'changed', (parent, key, chance) => {
    parent[key] = strange(chance)
    return typeof parent[key]
  }),
  inMeta(
    2,
    'left out',
    (parent, key) => void (Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key]),
  ),
  inMeta(2, 'there twice', (parent, key) => {
    if (Array.isArray(parent)) parent.push(parent[Number(key)])
    else parent[`${key}x`] = parent[key]
  }),
  inMeta(1, 'with the key __proto__', (parent) => {
    Object.defineProperty(parent, '__proto__', { value: { polluted: true }, enumerable: true })
  }),
  inMeta(1, 'a million of it', (parent, key) => {
    if (!Array.isArray(parent)) return 'no list'
    const value: unknown = parent[Number(key)]
    for (let i = 0; i < 200_000; i++) parent.push(value)
    return ''
  }),
  ofPart(1, ({ meta }) => {
    if (typeof meta === 'object' && meta !== null) {
      Object.assign(meta, { more: Array.from({ length: 300_000 }, () => ({})) })
    }
    return 'meta: much that nobody asked for'
  }),
  // Stored indexes.
  inTree(6, 'a byte', (values, chance) => void (values[chance.below(values.length)] = chance.below(65_536))),
  inTree(
    3,
    'a byte of its head',
    (values, chance) => void (values[chance.below(Math.min(16, values.length))] = chance.below(256)),
  ),
  // Bytes.
  inBytes(8, 'a bit of the header', (bytes, chance) => {
    bytes[chance.below(headerEnd(bytes))] ^= 1 << chance.below(8)
    return bytes
  }),
  inBytes(4, 'a byte of the header', (bytes, chance) => {
    bytes[chance.below(headerEnd(bytes))] = chance.pick([
      0, 0x80, 0x90, 0xc0, 0xc1, 0xc7, 0xc9, 0xd4, 0xd6, 0xdd, 0xdf, 0xff,
    ])
    return bytes
  }),
  inBytes(1, 'a bomb of lists', (_bytes, chance) => bomb(chance.pick([3, 20, 200]))),
  inBytes(1, 'nothing', () => new Uint8Array(0)),
]

const WEIGHTED = LIES.flatMap(([weight, lie]) => Array.from({ length: weight }, () => lie))

/** A snapshot with one to three things about it made wrong, and what they are. The same for the same seed. */
export function lieAbout(truth: Tale, seed: number): { what: string; telling: Telling } {
  const chance = new Chance(seed)
  const tale = copyOf(truth)
  const count = chance.pick([1, 1, 1, 2, 3])
  const what: string[] = []
  for (let i = 0; i < count && tale.parts.length > 0; i++) what.push(chance.pick(WEIGHTED)(tale, chance))
  return { what: `seed ${seed}: ${what.join('; ')}`, telling: tell(tale) }
}
