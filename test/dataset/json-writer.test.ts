/** The bytes of answers against String, Date and JSON: every code of each table, and every writer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  compassPoint,
  HUNDREDTHS,
  SIGNED_HUNDREDTHS,
  THOUSANDTHS,
  writeHundredths,
  writeSignedHundredths,
  writeClock,
  writeDayLabel,
  writeThousandths,
  writeTime,
  COMPASS_TEXT,
  compassIndex,
} from '../../src/dataset/number-text.ts'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { Literal, ShortTexts } from '../../src/dataset/literals.ts'

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What a writer of the smallest capacity holds after `write`, which has to make its own room. */
function written(write: (out: JsonWriter) => void): string {
  const out = new JsonWriter(0)
  write(out)
  return DECODER.decode(out.bytes.subarray(0, out.at))
}

/** As `written`, with room for short values. */
const short = (write: (out: JsonWriter) => void): string =>
  written((out) => {
    out.ensure(64)
    write(out)
  })

const assertWrites = (write: (out: JsonWriter) => void, expected: string): void =>
  assert.equal(short(write), expected)

/**
 * By the name of a column: its table, its writer out of small tables, codes per unit, and the missing code.
 */
const COLUMNS = {
  'thousandths has its highest': [THOUSANDTHS, writeThousandths, 1000, 65_535],
  'unsigned hundredths has its highest': [HUNDREDTHS, writeHundredths, 100, 65_535],
  'signed hundredths has its lowest': [SIGNED_HUNDREDTHS, writeSignedHundredths, 100, -32_768],
} as const

for (const [column, [table, write, perUnit, missing]] of Object.entries(COLUMNS)) {
  test(`Every code of a column is its number, also out of small tables, wherever it stands: one of ${column} as null.`, () => {
    const out = new JsonWriter(64)
    const view = new DataView(new ArrayBuffer(64))
    const bytes = new Uint8Array(view.buffer)
    for (let bits = 0; bits < 65_536; bits++) {
      const code = missing < 0 ? (bits << 16) >> 16 : bits
      const expected = code === missing ? 'null' : String(code / perUnit)
      out.begin()
      out.entry(table, bits)
      const text = DECODER.decode(out.answer())
      if (text !== expected) assert.fail(`${code} is ${text}`)
      const at = bits % 16
      const small = DECODER.decode(bytes.subarray(at, write(view, at, code)))
      if (small !== expected) assert.fail(`${code} is ${small} out of small tables`)
    }
  })
}

test('Every direction has the compass point of its sixteenth of the circle.', () => {
  const points = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
  for (let code = 0; code < 36_000; code++) {
    const expected = points[Math.floor((code / 100 + 11.25) / 22.5) % 16]
    const text = short((out) => out.entry(COMPASS_TEXT, compassIndex(code)))
    if (text !== `"${expected}"` || compassPoint(code) !== expected) assert.fail(`${code} is ${text}`)
  }
  assertWrites((out) => out.entry(COMPASS_TEXT, compassIndex(65_535)), 'null')
})

test('A whole number is written as String writes it.', () => {
  // Small ones are all looked at below.
  const interesting = [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]
  fc.assert(
    fc.property(
      fc.oneof(
        fc.maxSafeInteger(),
        fc.integer({ min: -20_000, max: 20_000 }),
        fc.constantFrom(...interesting),
      ),
      (value) => {
        for (const each of [value, -value]) {
          assertWrites((out) => out.integer(each), String(each))
        }
      },
    ),
  )
  for (let value = -10_000; value <= 10_000; value++) {
    if (short((out) => out.integer(value)) !== String(value)) assert.fail(String(value))
  }
})

test('Any finite number is written as JSON.stringify writes it, however many digits it has.', () => {
  const check = (value: number): void => {
    if (short((out) => out.number(value)) !== JSON.stringify(value)) assert.fail(JSON.stringify(value))
  }
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), check))
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      fc.nat(18),
      fc.integer({ min: -2, max: 2 }),
      (digits, decimals, ulps) => {
        const value = Number(`${digits}e-${decimals}`)
        check(value)
        // Its neighbours have no short form.
        const bits = new BigInt64Array(Float64Array.of(value).buffer)
        bits[0] += BigInt(ulps)
        const [neighbour] = new Float64Array(bits.buffer)
        if (Number.isFinite(neighbour)) check(neighbour)
      },
    ),
    { numRuns: 20_000 },
  )
  for (let millionths = 0; millionths < 1_000_000; millionths += millionths < 11_000 ? 1 : 97) {
    check(millionths / 1e6)
    check(-(millionths + 179e6) / 1e6)
  }
  for (const value of [
    0,
    -0,
    0.1,
    -0.5,
    1e21,
    -1e-7,
    9999,
    -9999.5,
    1e9 - 1e-6,
    999_999_999.999999,
    1e9,
    1e9 + 0.5,
    5e-7,
    1e-6,
    1.0000005,
  ])
    check(value)
})

test('A whole number of hundredths is written as the number that it stands for.', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer(), fc.integer({ min: -1000, max: 1000 }), fc.constant(-0)),
      (hundredths) => {
        assertWrites((out) => out.hundredths(hundredths), JSON.stringify(hundredths / 100))
      },
    ),
  )
  for (let value = -20_100; value <= 20_100; value++) {
    if (short((out) => out.hundredths(value)) !== JSON.stringify(value / 100)) assert.fail(String(value))
  }
})

test('Ten decimal and twelve hexadecimal digits are padded with zeros.', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 0, max: 9_999_999_999 }), fc.constantFrom(0, 9_999_999_999)),
      (value) => {
        assertWrites((out) => out.tenDigits(value), String(value).padStart(10, '0'))
      },
    ),
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.constantFrom(0, 2 ** 32, 2 ** 48 - 1)),
      (value) => {
        const hex = value.toString(16).padStart(12, '0')
        const [high, low] = [Math.floor(value / 2 ** 32), value % 2 ** 32]
        assertWrites((out) => out.twelveHex(high, low), hex)
        assertWrites((out) => out.twelveHex(high, low, true), `${hex.slice(0, 8)}-${hex.slice(8)}`)
      },
    ),
  )
})

test('Every second from 1970 to 2106 is written as Date writes it.', () => {
  const check = (epoch: number) =>
    assertWrites((out) => out.timestamp(epoch), `"${new Date(epoch * 1000).toISOString().slice(0, 19)}Z"`)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (epoch) => {
      check(epoch)
      // Again, now that the day is known.
      check(epoch - (epoch % 86_400))
    }),
    { numRuns: 2000 },
  )
  for (const epoch of [0, 1, 86_399, 86_400, 951_782_399, 951_782_400, 4_107_542_399, 2 ** 32 - 1])
    check(epoch)
  const day = Date.UTC(2024, 1, 29) / 1000
  for (let second = 0; second < 86_400; second += 7) check(day + second)
})

const asciiOf = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(0x20 + ((i * 31 + length * 7) % 0x5f))).join('')

test('A table of texts gives each one back by its index.', () => {
  const texts = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']
  const table = ShortTexts.make(texts.length, (index) => texts[index])
  const all = short((out) => {
    for (const index of texts.keys()) {
      out.entry(table, index)
      out.comma()
    }
  })
  assert.equal(all, texts.map((text) => `${text},`).join(''))
})

test('A list of codes is their entries, each followed by a comma.', () => {
  fc.assert(
    fc.property(fc.uint16Array({ maxLength: 40 }), fc.nat(40), (codes, before) => {
      const from = Math.min(before, codes.length)
      for (const table of [THOUSANDTHS, HUNDREDTHS, SIGNED_HUNDREDTHS]) {
        const write = (out: JsonWriter): void => {
          out.ensure(codes.length * 8)
          out.entries(table, codes, from, codes.length)
          out.quote()
        }
        const each = Array.from(codes.slice(from), (code) => `${short((out) => out.entry(table, code))},`)
        assert.equal(written(write), `${each.join('')}"`)
      }
    }),
    { numRuns: 200 },
  )
})

test('Ascending times are timestamps, each followed by a comma, over hours, midnights and ends of months too.', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 32 * 86_400 }),
      fc.array(fc.integer({ min: 0, max: 31 * 86_400 }), { maxLength: 40 }),
      fc.nat(40),
      (base, seconds, before) => {
        const ascending = Uint32Array.from(seconds, (second) => base + second).toSorted()
        const from = Math.min(before, ascending.length)
        const text = written((out) => {
          out.ensure(ascending.length * 24)
          out.timestamps(ascending, from, ascending.length)
          out.quote()
        })
        const each = Array.from(
          ascending.slice(from),
          (time) => `${JSON.stringify(new Date(time * 1000).toISOString().replace('.000', ''))},`,
        )
        assert.equal(text, `${each.join('')}"`)
      },
    ),
    { numRuns: 300 },
  )
})

test('A time that no column can hold is written in full all the same.', () => {
  for (const [epoch, text] of [
    [-1, '1969-12-31T23:59:59Z'],
    [-62_167_219_200, '0000-01-01T00:00:00Z'],
    [2 ** 32, '2106-02-07T06:28:16Z'],
    [253_402_300_799, '9999-12-31T23:59:59Z'],
  ] as const) {
    assertWrites((out) => out.timestamp(epoch), `"${text}"`)
  }
})

/** What is written, and what that should come to. */
type Step = readonly [write: (out: JsonWriter) => void, expected: string]

const graphemes = fc.string({ unit: 'grapheme', maxLength: 90 })

const steps: fc.Arbitrary<(Step | 'copy')[]> = fc.array(
  fc.oneof(
    graphemes.map((text): Step => [(out) => out.text(text), text]),
    graphemes.map((text): Step => [(out) => out.string(text), JSON.stringify(text)]),
    fc.integer().map((value): Step => [(out) => out.integer(value), String(value)]),
    fc.integer().map((value): Step => [(out) => out.hundredths(value), JSON.stringify(value / 100)]),
    fc
      .integer({ min: 0, max: 2 ** 32 - 1 })
      .map((epoch): Step => [
        (out) => out.timestamp(epoch),
        JSON.stringify(new Date(epoch * 1000).toISOString().replace('.000', '')),
      ]),
    fc
      .integer({ min: 0, max: 40 })
      .map((length): Step => [(out) => out.literal(new Literal(asciiOf(length))), asciiOf(length)]),
    fc.constantFrom<Step>(
      [(out) => out.null(), 'null'],
      [(out) => out.comma(), ','],
      [(out) => out.quote(), '"'],
    ),
    fc.constant('copy' as const),
  ),
  { maxLength: 60 },
)

/** Writes the steps and returns what they should have come to. */
function write(out: JsonWriter, sequence: readonly (Step | 'copy')[]): string {
  let expected = ''
  const from = out.at
  for (const step of sequence) {
    out.ensure(48)
    if (step !== 'copy') {
      step[0](out)
      expected += step[1]
    } else if (expected.length <= 10_000) {
      out.copy(from, out.at)
      expected += expected
    }
  }
  return expected
}

test('A writer that has to grow again and again loses no byte, and keeps what stands before its mark.', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      steps,
      fc.array(steps, { maxLength: 3 }),
      (capacity, kept, answers) => {
        const out = new JsonWriter(capacity)
        const head = write(out, kept)
        out.mark()
        const end = out.at
        assert.equal(out.answer().length, 0)
        for (const sequence of answers) {
          out.begin()
          const expected = write(out, sequence)
          assert.equal(DECODER.decode(out.answer()), expected)
        }
        assert.equal(DECODER.decode(out.bytes.subarray(0, end)), head)
      },
    ),
  )
})

test('Every day from 1970 to the last second of 32 bits is written as Date writes it, with its label.', () => {
  const bytes = Buffer.alloc(24)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let day = 0; day <= Math.floor(0xffff_ffff / 86_400); day++) {
    const date = new Date(day * 86_400_000 + 43_200_000)
    // As in `Fri, 27 Mar 2026 00:00:00 GMT`.
    const [, dayOfMonth, month] = date.toUTCString().split(' ')
    writeTime(view, 0, date.getTime() / 1000)
    assert.equal(bytes.toString('latin1', 0, 20), date.toISOString().replace('.000', ''))
    writeDayLabel(view, 0, day)
    assert.equal(bytes.toString('latin1', 0, 6), `${month} ${dayOfMonth}`)
  }
  for (let minutes = 0; minutes < 1440; minutes++) {
    writeClock(view, 0, minutes)
    const time = new Date(minutes * 60_000).toISOString()
    assert.equal(bytes.toString('latin1', 0, 5), time.slice(11, 16))
  }
})
