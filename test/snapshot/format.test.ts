/** The bytes of a snapshot: what goes in comes out, other tools read it, and any damage is refused. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { pack } from 'msgpackr/pack'
import { unpackMultiple } from 'msgpackr/unpack'
import { SnapshotError, type PartKind } from '../../src/snapshot/snapshot-format.ts'
import { decodeManifest, encodeManifest, MANIFEST_FILE, type Manifest } from '../../src/snapshot/manifest.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { writePart } from '../../src/snapshot/write-snapshot.ts'
import { headerValues } from '../../src/snapshot/check-snapshot.ts'
import type { Column } from '../../src/sea/columns.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { Chance } from '../chance.ts'
import { everythingSource } from '../builder/everything_source.ts'
import { build } from '../builder/fake_source.ts'
import { rounds } from '../rounds.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()

const TYPES = [
  Uint8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
] as const
const columns = fc.uniqueArray(
  fc.record({
    name: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom('time', '__proto__', '')),
    ColumnArray: fc.constantFrom(...TYPES),
    // Every bit pattern of every type has to come back.
    bits: fc.uint8Array({ maxLength: 500, size: 'max' }),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
)

const columnOf = (ColumnArray: (typeof TYPES)[number], bits: Uint8Array): Column =>
  new ColumnArray(bits.slice(0, bits.length - (bits.length % ColumnArray.BYTES_PER_ELEMENT)).buffer)

const bytesOf = (column: Column): Buffer => Buffer.from(column.buffer, column.byteOffset, column.byteLength)

const metas = fc.dictionary(
  fc.string({ maxLength: 10 }).filter((key) => key !== '__proto__'),
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string()),
  ),
  { noNullPrototype: true },
)

test('A part comes back with its columns, as views on its bytes at multiples of 64.', () => {
  fc.assert(
    fc.property(columns, metas, fc.constantFrom('catalog', 'readings', 'tides'), (list, meta, kind) => {
      const given = new Map(list.map(({ name, ColumnArray, bits }) => [name, columnOf(ColumnArray, bits)]))
      const bytes = encodePart({ kind, meta, columns: given })
      // A plain MessagePack library reads a map, padding and one byte string for each column.
      const [, ...strings] = (unpackMultiple(bytes) as unknown[]).filter(
        (value) => value !== null,
      ) as Uint8Array[]
      assert.deepEqual(
        strings.map((string) => Buffer.from(string)),
        [...given.values()].map(bytesOf),
      )
      // As the loader has it: shared memory of exactly this size.
      const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
      shared.set(bytes)
      for (const where of [bytes, shared]) {
        const part = decodePart(where, 'file')
        assert.equal(part.kind, kind)
        assert.deepEqual(part.meta, meta)
        assert.deepEqual([...part.columns.keys()], [...given.keys()])
        for (const [name, column] of given) {
          const found = part.columns.get(name) ?? assert.fail(name)
          assert.equal(found.constructor, column.constructor)
          assert.ok(bytesOf(found).equals(bytesOf(column)))
          assert.equal(found.buffer, where.buffer)
          assert.equal(found.byteOffset % 64, 0)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('The same part has the same bytes, and a column does not depend on the buffer it is a view on.', () => {
  const column = Uint16Array.from({ length: 77 }, (_, i) => i * 7)
  const wide = new Uint16Array(200)
  wide.set(column, 31)
  const encode = (view: Column) =>
    encodePart({ kind: 'readings', meta: { a: 1 }, columns: new Map([['x', view]]) })
  assert.deepEqual(encode(wide.subarray(31, 108)), encode(column))
})

/** A part with any header over `size` bytes in all, and the head of a byte string of 64 before byte 192. */
function crafted(header: unknown, size = 256): Uint8Array {
  const head = pack(header)
  const bytes = new Uint8Array(Math.max(size, head.length)).fill(0xc0)
  bytes.set([0xc6, 0, 0, 0, 64], 192 - 5)
  bytes.set(head)
  return bytes
}

const HEADER = {
  format: 'groundswell-part',
  version: 2,
  byte_order: 'little',
  kind: 'readings',
  meta: {},
  columns: [] as unknown,
}

test('A header that is not as described is refused, saying what is wrong with which file.', () => {
  const column = { name: 'a', type: 'u8', length: 64, offset: 192 }
  const refused: [header: unknown, why: RegExp, size?: number][] = [
    [null, /header: is not a map/],
    [{ ...HEADER, format: 'other' }, /is not a part of a snapshot/],
    [{ ...HEADER, version: 1 }, /format version 1, this program reads version 2; build into a new folder/],
    [{ ...HEADER, version: undefined }, /a type that snapshots do not know/],
    [{ ...HEADER, byte_order: 'big' }, /byte order is not little endian/],
    [{ ...HEADER, kind: 'constructor' }, /unknown kind of part/],
    [{ ...HEADER, columns: {} }, /columns: is not a list/],
    [{ ...HEADER, columns: [5] }, /column: is not a map/],
    [{ ...HEADER, meta: [] }, /meta: is not a map/],
    [{ ...HEADER, columns: [{ ...column, name: 5 }] }, /no name or an unknown type/],
    [{ ...HEADER, columns: [{ ...column, type: 'u64' }] }, /no name or an unknown type/],
    [{ ...HEADER, columns: [{ ...column, type: 'constructor' }] }, /no name or an unknown type/],
    [{ ...HEADER, columns: [column, column] }, /column a occurs twice/, 512],
    [{ ...HEADER, columns: [{ ...column, length: 63 }] }, /column a is not framed/],
    [{ ...HEADER, columns: [column] }, /1 bytes after the last column/, 257],
    [HEADER, /bytes after the last column/],
    [{ ...HEADER, columns: Array.from({ length: 65 }, () => column) }, /65 columns, at most 64/],
    [{ ...HEADER, columns: [{ ...column, length: 65 }] }, /column a ends at byte 257 of 256/],
    [{ ...HEADER, columns: [{ ...column, length: 65 }] }, /column a is not framed/, 257],
    [{ ...HEADER, columns: [{ ...column, offset: 256 }] }, /column a is not framed/, 512],
    [{ ...HEADER, columns: [{ ...column, length: 2 ** 53 - 1 }] }, /column a ends at byte/],
    [{ ...HEADER, columns: [{ ...column, length: 1.5 }] }, /impossible offset/],
    [{ ...HEADER, columns: [{ ...column, length: -64 }] }, /impossible offset/],
    [{ ...HEADER, columns: [{ ...column, offset: 191 }] }, /impossible offset/],
    [{ ...HEADER, columns: [{ ...column, offset: 0 }] }, /not framed/],
    [{ ...HEADER, columns: [column, { ...column, name: 'b' }] }, /column b is not framed/],
  ]
  for (const [header, why, size] of refused) {
    assert.throws(
      () => decodePart(crafted(header, size), 'readings-0.msgpack'),
      { name: 'SnapshotError', message: new RegExp(`^readings-0\\.msgpack.*(${why.source})`) },
      `${JSON.stringify(header)} ${why}`,
    )
  }
  assert.equal(decodePart(crafted({ ...HEADER, columns: [column] }), 'f').columns.get('a')?.length, 64)
})

const entry = (kind: PartKind, content: string, month: number | null = null) => {
  const hash = createHash('sha256').update(content).digest('hex')
  return {
    kind,
    file: `${kind}-${hash.slice(0, 32)}.msgpack`,
    bytes: content.length,
    sha256: hash,
    rows: 7,
    month,
  }
}

const MANIFEST: Omit<Manifest, 'id'> = {
  asOf: 1_774_602_000,
  parts: [entry('catalog', 'a'), entry('readings', 'bb', 674), entry('weather', 'ccc', 674)],
}

test('A manifest comes back, and any two manifests have different ids.', () => {
  const { id, bytes } = encodeManifest(MANIFEST)
  assert.match(id, /^[0-9a-f]{24}$/)
  assert.deepEqual(encodeManifest(MANIFEST), { id, bytes })
  assert.deepEqual(decodeManifest(bytes, 'm'), { id, ...MANIFEST })
  const [catalog, readings, weather] = MANIFEST.parts
  const others: Omit<Manifest, 'id'>[] = [
    { ...MANIFEST, asOf: MANIFEST.asOf + 1 },
    { ...MANIFEST, demo: true },
    { ...MANIFEST, parts: [catalog, readings] },
    { ...MANIFEST, parts: [catalog, weather, readings] },
    { ...MANIFEST, parts: [catalog, { ...readings, rows: 8 }, weather] },
    { ...MANIFEST, parts: [catalog, { ...readings, month: 675 }, weather] },
    { ...MANIFEST, parts: [entry('catalog', 'z'), readings, weather] },
  ]
  const ids = others.map((other) => encodeManifest(other).id)
  assert.equal(new Set([id, ...ids]).size, others.length + 1)
})

test('The mark of a demo comes back, and measured data have none.', () => {
  const marked = encodeManifest({ ...MANIFEST, demo: true })
  assert.deepEqual(decodeManifest(marked.bytes, 'm'), { id: marked.id, ...MANIFEST, demo: true })
  assert.equal(encodeManifest({ ...MANIFEST, demo: false }).id, encodeManifest(MANIFEST).id)
  assert.equal(encodeManifest(MANIFEST).id, '8fcd0acef48c5a9341d3f7c3')
})

test('The list of earlier snapshots comes back, and is no part of the id.', () => {
  const earlier = ['0'.repeat(24), 'a'.repeat(24)]
  const { id, bytes } = encodeManifest({ ...MANIFEST, earlier })
  assert.equal(id, encodeManifest(MANIFEST).id)
  assert.deepEqual(decodeManifest(bytes, 'm'), { id, ...MANIFEST, earlier })
  for (const bad of [[earlier[0], 'x'], Array.from({ length: 101 }, () => earlier[0]), [1]]) {
    const wrong = encodeManifest({ ...MANIFEST, earlier: bad as string[] })
    assert.throws(() => decodeManifest(wrong.bytes, 'm'), /list of earlier snapshots is malformed/)
  }
})

test('A manifest that is malformed, of a newer version or not of its id is refused.', () => {
  const [catalog] = MANIFEST.parts
  const body = {
    format: 'groundswell-snapshot',
    version: 2,
    as_of: MANIFEST.asOf,
    parts: MANIFEST.parts,
    id: encodeManifest(MANIFEST).id,
  }
  assert.equal(decodeManifest(pack(body), 'm').id, body.id)
  const refused: [value: unknown, why: RegExp][] = [
    [[body], /is not a map/],
    [{ ...body, format: 'groundswell-part' }, /is not a manifest/],
    [{ ...body, version: 3 }, /format version 3, this program reads version 2/],
    [{ ...body, version: undefined }, /a type that snapshots do not know/],
    ...[null, NaN, Infinity, -1, 0.5, 2 ** 32, '1', [1]].map((asOf): [unknown, RegExp] => [
      { ...body, as_of: asOf },
      /has no as_of: whole epoch seconds from 0 to 4294967295/,
    ]),
    [{ ...body, demo: false }, /demo has to be true or absent/],
    [{ ...body, demo: 1 }, /demo has to be true or absent/],
    [{ ...body, demo: true }, /does not agree/],
    [{ ...body, parts: null }, /parts: is not a list/],
    [{ ...body, parts: [null] }, /part: is not a map/],
    [{ ...body, as_of: body.as_of + 1 }, /does not agree/],
    [{ ...body, id: 'x' }, /does not agree/],
    ...[
      { kind: 'other' },
      { file: '../manifest.msgpack' },
      { file: 'catalog-0.msgpack' },
      { sha256: 5 },
      { bytes: -1 },
      { bytes: 1.5 },
      { rows: null },
      { month: 1.5 },
      { month: -1 },
      { month: 1634 },
      { sha256: 'A'.repeat(64) },
      { sha256: `../${'a'.repeat(61)}`, file: `catalog-../${'a'.repeat(29)}.msgpack` },
    ].map((change): [unknown, RegExp] => [
      { ...body, parts: [{ ...catalog, ...change }] },
      /entry is malformed/,
    ]),
  ]
  for (const [value, why] of refused) {
    assert.throws(
      () => decodeManifest(pack(value), 'm'),
      { name: 'SnapshotError', message: new RegExp(`^m.*(${why.source})`) },
      JSON.stringify(value),
    )
  }
})

test('A manifest that names a part twice, a kind or month twice, a month where there is none, or no catalogue, is refused, its id right or not.', () => {
  const [catalog, readings, weather] = MANIFEST.parts
  const refused: [parts: Manifest['parts'], why: RegExp][] = [
    [[catalog, catalog], /names catalog twice/],
    [[catalog, entry('catalog', 'other')], /names catalog twice/],
    [[catalog, readings, { ...readings, month: 675 }], /names readings of 2026-04 twice/],
    [[catalog, readings, entry('readings', 'other', 674)], /names readings of 2026-03 twice/],
    [[readings, weather], /names no catalogue/],
    [[{ ...catalog, month: 674 }], /catalog-[0-9a-f]+\.msgpack has a month/],
    [[catalog, { ...weather, month: null }], /weather-[0-9a-f]+\.msgpack has no month/],
    [[{ ...catalog, bytes: 2 ** 31 }], /has 2147483648 bytes, a part has at most 2147483647/],
    [Array.from({ length: 3000 }, () => catalog), /names catalog twice/],
  ]
  decodeManifest(encodeManifest({ ...MANIFEST, parts: [{ ...catalog, bytes: 2 ** 31 - 1 }] }).bytes, 'm')
  for (const [parts, why] of refused) {
    const { bytes } = encodeManifest({ ...MANIFEST, parts })
    assert.throws(() => decodeManifest(bytes, 'm'), { name: 'SnapshotError', message: why }, String(why))
  }
})

const whole = join(folder, 'whole')
const hurt = join(folder, 'hurt')
let intact: unknown = null
/** All that a snapshot holds. */
const contents = async (dir: string): Promise<unknown> => {
  const { id, asOf, parts } = await loadSnapshot(dir)
  return { id, asOf, parts: parts.map(({ entry: of, bytes }) => [of, Buffer.from(bytes).toString('base64')]) }
}
const PART = /^(catalog|readings|weather|aggregates|passes|forecast|tides)-[0-9a-f]{32}\.msgpack$/

/** Makes the two copies once. Returns the files that a reader reads. */
async function smallSnapshot(): Promise<string[]> {
  if (intact === null) {
    for (const dir of [whole, hurt]) await build([everythingSource()], dir)
    intact = await contents(whole)
  }
  return readdirSync(whole).filter((file) => file === MANIFEST_FILE || PART.test(file))
}

/** Loads the damaged copy: it must be refused, or give what the intact one gives. */
async function isRefused(what: string): Promise<boolean> {
  try {
    assert.deepEqual(await contents(hurt), intact, what)
    return false
  } catch (error) {
    assert.ok(error instanceof SnapshotError, `${what}: ${String(error)}`)
    return true
  }
}

test('A file that ends too early is refused wherever it ends, and so is one that is missing or too long.', async () => {
  const files = await smallSnapshot()
  assert.equal(new Set(files.map((file) => file.split('-')[0])).size, 8, 'the manifest and each kind of part')
  for (const file of files) {
    const bytes = readFileSync(join(whole, file))
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length)
      const decode = file === MANIFEST_FILE ? decodeManifest : decodePart
      assert.throws(() => decode(cut, file), SnapshotError, `${file} cut at ${length}`)
    }
    writeFileSync(join(hurt, file), bytes.subarray(0, -1))
    assert.ok(await isRefused(`${file} cut`), file)
    if (file !== MANIFEST_FILE) {
      writeFileSync(join(hurt, file), Buffer.concat([bytes, Buffer.alloc(64)]))
      assert.ok(await isRefused(`${file} with more behind it`), file)
    }
    rmSync(join(hurt, file))
    assert.ok(await isRefused(`${file} removed`), file)
    copyFileSync(join(whole, file), join(hurt, file))
  }
  assert.equal(await isRefused('put right again'), false)
})

test('Of hundreds of flipped bits each is noticed, or changes nothing.', async () => {
  const flips = rounds(600, 4000)
  const files = await smallSnapshot()
  let refused = 0
  const chance = new Chance(20_260_327)
  for (let flip = 0; flip < flips; flip++) {
    // Half of them in the manifest, which no other file vouches for.
    const file = flip % 2 === 0 ? MANIFEST_FILE : files[chance.below(files.length)]
    const bytes = readFileSync(join(whole, file))
    const at = chance.below(bytes.length)
    bytes[at] ^= 1 << chance.below(8)
    writeFileSync(join(hurt, file), bytes)
    if (await isRefused(`${file}, byte ${at}`)) refused++
    copyFileSync(join(whole, file), join(hurt, file))
  }
  assert.ok(refused > flips * 0.995, `${refused} were refused`)
})

test('A part with any bit flipped is read or refused, and never raises an error of another kind.', async () => {
  const files = (await smallSnapshot()).filter((file) => file !== MANIFEST_FILE)
  for (const file of files) {
    const bytes = Uint8Array.from(readFileSync(join(whole, file)))
    const end = Math.min(bytes.length, 700)
    for (let at = 0; at < end; at++) {
      for (let bit = 0; bit < 8; bit++) {
        bytes[at] ^= 1 << bit
        try {
          decodePart(bytes, file)
        } catch (error) {
          assert.ok(error instanceof SnapshotError, `${file}, byte ${at}, bit ${bit}: ${String(error)}`)
        }
        bytes[at] ^= 1 << bit
      }
    }
  }
})

test('Of a snapshot in memory only the parts that changed are read again.', async () => {
  await smallSnapshot()
  const before = await loadSnapshot(whole)
  const after = await loadSnapshot(whole, before)
  assert.ok(after.parts.every(({ bytes }, i) => bytes.buffer === before.parts[i].bytes.buffer))
})

test('A header may hold no more than its kind and rows need.', () => {
  const month = { ...entry('readings', 'x', 674), rows: 10_000_000 }
  const catalog = { ...entry('catalog', 'x'), rows: 100_000 }
  for (const [of, most] of [[month, 3900] as const, [catalog, 900_000] as const]) {
    const read = (more: number) => {
      const header = { ...HEADER, meta: { more: Array.from({ length: more }, () => ({})) } }
      return decodePart(crafted(header), of.file, headerValues(of))
    }
    read(most)
    assert.throws(() => read(most * 1.3), /-\w+\.msgpack: .*holds too many values/)
  }
})

test('A part that cannot be written fails the build, with its name.', () => {
  const part = { kind: 'catalog' as const, meta: {}, columns: new Map<string, Column>() }
  assert.throws(() => writePart(join(folder, 'no folder'), part, 1), { name: 'BuildError' })
})
