/** Damaged files for tests of adapters, and what must hold of whatever is made of them. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { type OpenSource } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { EXPECTED } from '../measures.ts'
import { rounds } from '../rounds.ts'
import { record, type Recording } from './recorder.ts'

/** Bytes and texts that formats are made of, and some that they are not. */
const PIECES = [
  '',
  ',',
  ';',
  '"',
  '\n',
  '\r\n',
  '\0',
  '\ufeff',
  '[',
  '{',
  ']',
  '}',
  ':',
  '-',
  '.',
  'NaN',
  'null',
  '1e309',
  '-1e9',
  '<html>',
  'Error',
  'é',
  '[[[[[[[[',
  '{"a":',
  '9'.repeat(400),
  '2024-02-30T25:61:00Z',
  '__proto__',
  ',,,,,,,,,,,,',
  '\ud800',
].map((text) => Buffer.from(text))

/** One to six cuts, swaps and insertions in a good file. */
export function damaged(good: Uint8Array): fc.Arbitrary<Buffer> {
  const place = fc.nat({ max: good.length })
  const change = fc.record({
    at: place,
    length: fc.oneof(fc.nat({ max: 3 }), place),
    put: fc.oneof(
      fc.constantFrom(...PIECES),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record({ from: place, length: fc.nat({ max: 200 }) })
        .map(({ from, length }) => Buffer.from(good.subarray(from, from + length))),
    ),
  })
  return fc.array(change, { minLength: 1, maxLength: 6 }).map((changes) => {
    let bytes = Buffer.from(good)
    for (const { at, length, put } of changes) {
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(Math.min(bytes.length, at + length))])
    }
    return bytes
  })
}

/** What a file of a test holds, or what it may hold. */
export type AnyContent = fc.Arbitrary<string | Uint8Array>

/** A good value in most places, and anything that JSON can say in the others. */
export function mostly(good: unknown): fc.Arbitrary<unknown> {
  const any = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.double(),
    fc.integer({ min: -400, max: 400 }).map(String),
  )
  return fc.oneof({ weight: 5, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: any })
}

/**
 * Reads a folder of files in `runs` ways: it either gives rows within their limits of buoys with positions, or is
 * refused with a message.
 */
export async function assertWithstands(
  open: OpenSource,
  files: { readonly [name: string]: AnyContent },
  { runs = rounds(60, 400), hasEmptyRows = false } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'damage-'))
  try {
    for (const name of Object.keys(files)) mkdirSync(dirname(join(folder, name)), { recursive: true })
    await fc.assert(
      fc.asyncProperty(fc.record({ ...files }), async (contents) => {
        for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content)
        let recording: Recording
        try {
          recording = await record(open, folder)
        } catch (error) {
          assert.ok(error instanceof BuildError, `no refusal but a fault of the program: ${String(error)}`)
          assert.ok(error.message.length < 2000, 'a refusal that carries the file')
          return
        }
        assertSound(recording, hasEmptyRows)
      }),
      { numRuns: runs },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function assertSound({ buoys, rows, bad, examples }: Recording, hasEmptyRows: boolean): void {
  for (const { identifier, name, lat, lng } of buoys) {
    assert.match(identifier, /^[^"\p{Cc}]{1,64}$/u)
    assert.ok(name !== '' && name.length <= 200, `the name of ${identifier}`)
    assert.ok(Math.abs(lat) <= 90 && Math.abs(lng) <= 180, `the position of ${identifier}`)
  }
  for (const [key, list] of rows) {
    for (const row of list) {
      assert.ok(hasEmptyRows || Object.keys(row).length > 1, `a row of ${key} without a value`)
      for (const [measure, [, least, most]] of Object.entries(EXPECTED)) {
        const value = row[measure as keyof typeof row] as number | undefined
        assert.ok(value === undefined || (value >= least && value <= most), `${measure} of ${key}: ${value}`)
      }
    }
  }
  for (const text of [...bad, ...examples]) assert.ok(text.length < 1000, 'a remark that carries the file')
}
