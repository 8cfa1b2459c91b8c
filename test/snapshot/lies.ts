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

interface TaleColumn {
  name: unknown
  type: Type
  values: Values
  /** What the header says instead of the truth. */
  claims: { [field: string]: unknown }
}

interface TalePart {
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
  return { manifest: Uint8Array.from(packer.pack({ ...body, id, earlier: [] })), files }
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
export const copyOf = ({ asOf, parts }: Tale): Tale => ({
  asOf,
  parts: parts.map((part) => ({ ...structuredClone({ ...part, spoil: [] }), spoil: [...part.spoil] })),
})

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

/** Values that are not what is expected nearly anywhere. */
const STRANGE: readonly unknown[] = [
  [null, undefined, true, 10n ** 18n],
  [NaN, Infinity, -Infinity, -1, 0, -0, 0.5, 1e300, 2 ** 32, 2 ** 53],
  ['', 'x', '__proto__', 'constructor', '\u0000', '\ud800', 'Å'.repeat(70_000)],
  [[], {}, [[], {}], { constructor: { prototype: 5 }, toString: 5, length: 7 }],
  [new Date(0), new Map([[1, 2]]), new Set([1]), /x/, new Error('x')],
  [Uint8Array.of(0xc1), new Float32Array(3), deep(50), deep(500)],
  [Array.from({ length: 70_000 }, (_, i) => i % 9)],
].flat(1)

const strange = (chance: Chance): unknown => structuredClone(chance.pick(STRANGE))

interface Lie {
  /** Of so many lies one is this. */
  weight: number
  what: string
  /** Makes it wrong; changes nothing where there is nothing to change. */
  tell: (tale: Tale, chance: Chance) => void
}

const aLie = (weight: number, what: string, tell: Lie['tell']): Lie => ({ weight, what, tell })

/** Changes something about one part. */
const ofPart = (
  weight: number,
  what: string,
  change: (part: TalePart, chance: Chance, parts: TalePart[]) => void,
): Lie => aLie(weight, what, ({ parts }, chance) => change(chance.pick(parts), chance, parts))

/** Changes something about one column. */
const ofColumn = (
  weight: number,
  what: string,
  change: (column: TaleColumn, chance: Chance, columns: TaleColumn[]) => void,
): Lie =>
  ofPart(weight, `column: ${what}`, ({ columns }, chance) => {
    if (columns.length > 0) change(chance.pick(columns), chance, columns)
  })

function someValue({ type, values }: TaleColumn, chance: Chance): number {
  const near = values.length === 0 ? 0 : values[chance.below(values.length)]
  const candidates = [0, 1, -1, near, near + 1, near - 1, 0xff, 0xffff, 0xffff_ffff, 0x7fff, -0x8000, 1e9]
  if (type === 'f64' || type === 'f32')
    candidates.push(NaN, Infinity, -Infinity, 1e300, -0, 90.0001, 180.0001)
  return chance.pick(candidates)
}

type Parent = { [key: string | number]: unknown }

/** Changes a random place within the lists and maps of a part's meta. */
const inMeta = (
  weight: number,
  what: string,
  change: (parent: Parent, key: string | number, chance: Chance) => void,
): Lie =>
  ofPart(weight, `meta: ${what}`, ({ meta }, chance) => {
    let place: [parent: Parent, key: string | number] | null = null
    let at = meta
    while (typeof at === 'object' && at !== null && !ArrayBuffer.isView(at)) {
      const keys: (string | number)[] = Array.isArray(at) ? [...at.keys()] : Object.keys(at)
      if (keys.length === 0 || (place !== null && chance.percent(30))) break
      place = [at as Parent, chance.pick(keys)]
      at = place[0][place[1]]
    }
    if (place !== null) change(...place, chance)
  })

const TREES = ['points', 'boxes', 'words_text', 'words_owner', 'words_place', 'words_suffixes', 'words_rank']

/** Changes a stored index: one of its first `most` values to one below `bound`. */
const inTree = (weight: number, what: string, most: number, bound: number): Lie =>
  aLie(weight, `index: ${what}`, ({ parts }, chance) => {
    const tree = chance.pick(TREES)
    const catalog = parts.find(({ entry }) => entry.kind === 'catalog')
    const values = catalog?.columns.find(({ name }) => name === tree)?.values ?? []
    if (values.length > 0) values[chance.below(Math.min(most, values.length))] = chance.below(bound)
  })

const headerEnd = (bytes: Uint8Array): number => {
  // The padding before the first column begins where the header ends; bits of the header matter most.
  for (let at = 1; at < bytes.length; at++) {
    if (bytes[at] === 0xc0 && bytes[at + 1] === 0xc0) return at
  }
  return bytes.length
}

const inBytes = (
  weight: number,
  what: string,
  change: (bytes: Uint8Array, chance: Chance) => Uint8Array | void,
): Lie =>
  ofPart(weight, `bytes: ${what}`, ({ spoil }, chance) => {
    spoil.push((bytes) => change(bytes, chance) ?? bytes)
  })

/** Heads and codes that mean something else. */
const HEADS = [0, 0x80, 0x90, 0xc0, 0xc1, 0xc7, 0xc9, 0xd4, 0xd6, 0xdd, 0xdf, 0xff]

/**
 * Lists nested in lists, each of which says that it holds millions: room for them is gigabytes, their bytes
 * are few.
 */
const bomb = (levels: number): Uint8Array =>
  Uint8Array.from(Array.from({ length: levels }, () => [0xdd, 0x01, 0xc9, 0xc3, 0x80]).flat())

const LIES: readonly Lie[] = [
  aLie(2, 'as_of', (tale, chance) => {
    const impossible = [NaN, Infinity, -Infinity, -1, 1e300, 0.5, 2 ** 32]
    tale.asOf = chance.percent(50) ? chance.pick(impossible) : strange(chance)
  }),
  aLie(1, 'parts in another order', ({ parts }) => void parts.reverse()),
  ofPart(3, 'a strange entry in the manifest', ({ claims }, chance) => {
    claims[chance.pick(['kind', 'file', 'bytes', 'sha256', 'rows', 'month'])] = strange(chance)
  }),
  ofPart(2, 'a part named more than once', (part, chance, parts) => {
    const times = chance.pick([1, 1, 5, 2000])
    for (let i = 0; i < times; i++) parts.push(part)
  }),
  ofPart(1, 'a part left out', (part, _chance, parts) => void parts.splice(parts.indexOf(part), 1)),
  ofPart(2, 'a part there again, a little different', (original, chance, parts) => {
    const [part] = copyOf({ asOf: 0, parts: [original] }).parts
    const values = part.columns[0]?.values ?? []
    if (chance.percent(50) && values.length > 0) values[0] ^= 1
    parts.push(part)
  }),
  ofPart(1, 'two parts with their kinds exchanged in the manifest', (a, chance, parts) => {
    const b = chance.pick(parts)
    ;[a.entry.kind, b.entry.kind] = [b.entry.kind, a.entry.kind]
  }),
  ofPart(1, 'a month', ({ entry }, chance) => {
    entry.month = chance.pick([null, 0, -1, 1633, 1634, 9999, 674.5, 1e9])
  }),
  ofPart(1, 'rows in the manifest', ({ entry }, chance) => {
    entry.rows = chance.pick([0, 1, Number(entry.rows) + 1, 2 ** 31, 2 ** 52])
  }),
  ofPart(1, 'a field of the header', ({ header }, chance) => {
    const field = chance.pick(Object.keys(header))
    header[field] = field === 'kind' ? chance.pick(['readings', 'tides', 'catalog']) : strange(chance)
  }),
  ofPart(1, 'a strange meta', (part, chance) => void (part.meta = strange(chance))),
  ofColumn(12, 'one value', (column, chance) => {
    if (column.values.length > 0)
      column.values[chance.below(column.values.length)] = someValue(column, chance)
  }),
  ofColumn(3, 'all values alike', (column, chance) => void column.values.fill(someValue(column, chance))),
  ofColumn(2, 'two values exchanged', ({ values }, chance) => {
    const [a, b] = [chance.below(values.length), chance.below(values.length)]
    if (values.length > 1) [values[a], values[b]] = [values[b], values[a]]
  }),
  ofColumn(2, 'left out', (column, _chance, columns) => void columns.splice(columns.indexOf(column), 1)),
  ofColumn(2, 'there twice', (column, chance, columns) => {
    columns.splice(chance.below(columns.length), 0, { ...column, values: column.values.slice() })
  }),
  ofColumn(2, 'renamed', (column, chance) => {
    column.name = chance.percent(50) ? strange(chance) : 'time'
  }),
  ofColumn(4, 'of another type', (column, chance) => {
    column.type = chance.pick(Object.keys(ARRAYS) as Type[])
    column.values = ARRAYS[column.type].from(column.values as Float64Array)
  }),
  ofColumn(3, 'of another length', (column, chance) => {
    const { type, values } = column
    const length = chance.pick([0, 1, Math.max(0, values.length - 1), values.length + 1, values.length * 2])
    column.values = new ARRAYS[type](length)
    column.values.set(values.subarray(0, length))
  }),
  ofColumn(3, 'claims', ({ claims }, chance) => {
    claims[chance.pick(['name', 'type', 'length', 'offset'])] = chance.percent(50)
      ? strange(chance)
      : chance.pick([0, 64, 128, 192, 2 ** 31, 2 ** 40, 'u8', 'f64'])
  }),
  // What stands beside them.
  inMeta(8, 'changed', (parent, key, chance) => void (parent[key] = strange(chance))),
  inMeta(2, 'left out', (parent, key) => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  }),
  inMeta(2, 'there twice', (parent, key) => {
    if (Array.isArray(parent)) parent.push(parent[Number(key)])
    else parent[`${key}x`] = parent[key]
  }),
  inMeta(1, 'with the key __proto__', (parent) => {
    Object.defineProperty(parent, '__proto__', { value: { polluted: true }, enumerable: true })
  }),
  inMeta(1, 'hundreds of thousands of it', (parent, key) => {
    if (!Array.isArray(parent)) return
    const value: unknown = parent[Number(key)]
    for (let i = 0; i < 200_000; i++) parent.push(value)
  }),
  ofPart(1, 'meta: much that nobody asked for', ({ meta }) => {
    if (typeof meta === 'object' && meta !== null)
      Object.assign(meta, { more: Array.from({ length: 300_000 }, () => ({})) })
  }),
  inTree(6, 'a value', Infinity, 65_536),
  inTree(3, 'a byte of its head', 16, 256),
  inBytes(8, 'a bit of the header', (bytes, chance) => {
    bytes[chance.below(headerEnd(bytes))] ^= 1 << chance.below(8)
  }),
  inBytes(4, 'a byte of the header', (bytes, chance) => {
    bytes[chance.below(headerEnd(bytes))] = chance.pick(HEADS)
  }),
  inBytes(1, 'a bomb of lists', (_bytes, chance) => bomb(chance.pick([3, 20, 200]))),
  inBytes(1, 'nothing', () => new Uint8Array(0)),
]

const WEIGHTED = LIES.flatMap((lie) => Array.from({ length: lie.weight }, () => lie))

/** A snapshot with one to three things about it made wrong, and what they are. The same for the same seed. */
export function lieAbout(truth: Tale, seed: number): { what: string; telling: Telling } {
  const chance = new Chance(seed)
  const tale = copyOf(truth)
  const count = chance.pick([1, 1, 1, 2, 3])
  const told: string[] = []
  for (let i = 0; i < count && tale.parts.length > 0; i++) {
    const { what, tell: makeWrong } = chance.pick(WEIGHTED)
    makeWrong(tale, chance)
    told.push(what)
  }
  return { what: `seed ${seed}: ${told.join('; ')}`, telling: tell(tale) }
}
