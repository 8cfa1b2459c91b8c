import assert from 'node:assert/strict'
import { test } from 'node:test'
import zlib from 'node:zlib'
import fc from 'fast-check'
import type { Encoding } from '../../src/serving/encoding.ts'
import { ENCODINGS, compressAnswer, compressAnswerElsewhere } from '../../src/serving/compressed.ts'

const DECOMPRESS: { [coding in Encoding]: (bytes: Uint8Array) => Buffer } = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: (bytes) =>
    (zlib as unknown as { zstdDecompressSync: (bytes: Uint8Array) => Buffer }).zstdDecompressSync(bytes),
}

const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength, maxLength, max: 255 })

test('A compressed answer decompresses to what it was made of with the tail it was last given, in every coding of this runtime.', async () => {
  assert.ok(ENCODINGS.includes('gzip') && ENCODINGS.includes('br'))
  const answers = fc.record({
    head: fc.oneof(
      bytes(1, 3000),
      fc.string({ minLength: 1, maxLength: 200 }).map((text) => Buffer.from(text.repeat(50))),
    ),
    tails: fc
      .integer({ min: 1, max: 300 })
      .chain((length) => fc.array(bytes(length, length), { minLength: 2, maxLength: 4 })),
  })
  await fc.assert(
    fc.asyncProperty(answers, fc.constantFrom(...ENCODINGS), async ({ head, tails }, encoding) => {
      const answer = Buffer.concat([head, tails[0]])
      for (const compressing of [compressAnswer, compressAnswerElsewhere]) {
        const compressed = await compressing(encoding, answer, tails[0].length)
        for (const [second, tail] of tails.entries()) {
          const decompressed = DECOMPRESS[encoding](compressed.bytesAt(second, tail))
          assert.ok(decompressed.equals(Buffer.concat([head, tail])), `${encoding}, second ${second}`)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('What the caller writes into the tail while an answer is being compressed does no harm.', async () => {
  const answer = Buffer.from(`${'wave '.repeat(1000)}2026-03-27T09:00:00Z"}}`)
  for (const encoding of ENCODINGS) {
    const compressing = compressAnswerElsewhere(encoding, answer, 23)
    answer.fill(0x78, answer.length - 23)
    const compressed = await compressing
    const decompressed = DECOMPRESS[encoding](compressed.bytesAt(1, Buffer.from('2026-03-27T09:00:01Z"}}')))
    assert.equal(decompressed.toString(), `${'wave '.repeat(1000)}2026-03-27T09:00:01Z"}}`)
  }
})
