/** JSON as bytes in one reused buffer: stores of eight bytes overshoot, and the next overwrite the excess. */
import { Literal, type ShortTexts } from './literals.ts'
import {
  CLOCK_BYTES,
  DAY_LABEL_BYTES,
  FOUR_DIGITS,
  fourHex,
  HUNDREDTH_TEXT,
  SHORT_INTEGERS,
  THOUSANDTH_TEXT,
  writeClock,
  writeDayLabel,
  writeHundredths,
  writeThousandths,
  writeTime,
} from './number-text.ts'
import { DAY, HOUR, LAST_SECOND, MINUTE, timestampText } from '../sea/time.ts'

const ENCODER = new TextEncoder()

const QUOTE = 0x22
const COMMA = 0x2c
const DASH = 0x2d
const PLUS = 0x2b
const BLANK = 0x20
const COLON = 0x3a
const ENCODED_COLON = new Literal('%3A')
const QUOTE_AND_COMMA = QUOTE | (COMMA << 8)

/** Unreserved by RFC 3986, section 2.3, and the colon of times. */
const PLAIN = /^[\w.~:-]*$/

const PLAIN_TIME_BYTES = 20

/** Longer texts go through the encoder. */
const SHORT_TEXT = 160

/** Bytes past the position that any single store may touch. */
const OVERSHOOT = 64

const NULL = new Literal('null')
const NULLS_AT_ONCE = 8
const NULLS = new Literal('null,'.repeat(NULLS_AT_ONCE))

/** A growing byte buffer. Bytes kept for the life of a snapshot come before `mark`, answers after it. */
export class JsonWriter {
  bytes: Uint8Array
  at = 0
  view: DataView
  #mark = 0

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity + OVERSHOOT)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Keeps everything up to here; answers are written after it. */
  mark(): void {
    this.#mark = this.at
  }

  begin(): void {
    this.at = this.#mark
  }

  get length(): number {
    return this.at - this.#mark
  }

  /** A view that the next answer overwrites. */
  answer(): Uint8Array {
    return this.bytes.subarray(this.#mark, this.at)
  }

  textOf(from: number, to: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, to - from).toString()
  }

  /** Makes room for `count` more bytes. Call it once per row or item, not per value. */
  ensure(count: number): void {
    const needed = this.at + count + OVERSHOOT
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes)
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }

  /** Copies bytes that are in this buffer already. */
  copy(from: number, to: number): void {
    this.ensure(to - from)
    this.bytes.copyWithin(this.at, from, to)
    this.at += to - from
  }

  take(bytes: Uint8Array): void {
    this.ensure(bytes.length)
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
  }

  literal({ words, length }: Literal): void {
    const { view, at } = this
    for (let i = 0; 8 * i < length; i++) view.setFloat64(at + 8 * i, words[i], true)
    this.at = at + length
  }

  /** Copies `length` bytes of words, which begin with the word `from`. */
  words(words: Float64Array, from: number, length: number): void {
    const { view, at } = this
    for (let i = 0; 8 * i < length; i++) view.setFloat64(at + 8 * i, words[from + i], true)
    this.at = at + length
  }

  entry(table: ShortTexts, index: number): void {
    this.view.setFloat64(this.at, table.words[index], true)
    this.at += table.lengths[index]
  }

  /** Values by codes in [from, to), each with a comma. The caller has ensured 8 bytes for each. */
  entries(table: ShortTexts, codes: Uint16Array, from: number, to: number): void {
    const { words, lengths } = table
    const view = this.view
    let at = this.at
    for (let i = from; i < to; i++) {
      const code = codes[i]
      view.setFloat64(at, words[code], true)
      at += lengths[code] + 1
    }
    this.at = at
  }

  /** `null` with a comma, `count` times. The caller has ensured 8 bytes for each. */
  nulls(count: number): void {
    const { at } = this
    for (let i = 0; i < count; i += NULLS_AT_ONCE) this.literal(NULLS)
    this.at = at + count * (NULLS.length / NULLS_AT_ONCE)
  }

  /** Any text in UTF-8. Short ASCII is written by hand, which is faster than the encoder. */
  text(text: string): void {
    this.ensure(text.length * 3)
    if (text.length <= SHORT_TEXT) {
      const { bytes, at } = this
      let i = 0
      for (; i < text.length; i++) {
        const unit = text.charCodeAt(i)
        if (unit > 0x7f) break
        bytes[at + i] = unit
      }
      if (i === text.length) {
        this.at = at + i
        return
      }
    }
    this.at += ENCODER.encodeInto(text, this.bytes.subarray(this.at)).written
  }

  /** Any text as `encodeURIComponent` has it, which takes longer: most are numbers, slugs and times. */
  encoded(text: string): void {
    if (!PLAIN.test(text)) {
      this.text(encodeURIComponent(text))
      return
    }
    this.ensure(text.length * ENCODED_COLON.length)
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit === COLON) this.literal(ENCODED_COLON)
      else this.bytes[this.at++] = unit
    }
  }

  /** A JSON string. Not for hot paths. */
  string(text: string): void {
    this.text(JSON.stringify(text))
  }

  /** A whole number, |value| < 2^53. */
  integer(value: number): void {
    let rest = value
    if (rest < 0) {
      this.bytes[this.at++] = DASH
      rest = -rest
    }
    if (rest >= 1e8) {
      const upper = Math.floor(rest / 1e8)
      if (upper >= 1e8) this.text(String(upper))
      else this.#below1e8(upper)
      rest -= upper * 1e8
      const high = (rest / 1e4) >>> 0
      this.view.setUint32(this.at, FOUR_DIGITS[high], true)
      this.view.setUint32(this.at + 4, FOUR_DIGITS[rest - high * 1e4], true)
      this.at += 8
    } else this.#below1e8(rest)
  }

  #below1e8(value: number): void {
    if (value < 1e4) {
      this.#short(value)
      return
    }
    const upper = (value / 1e4) >>> 0
    this.#short(upper)
    this.view.setUint32(this.at, FOUR_DIGITS[value - upper * 1e4], true)
    this.at += 4
  }

  /** A whole number from 0 to 9999. */
  #short(value: number): void {
    this.view.setUint32(this.at, SHORT_INTEGERS.words[value], true)
    this.at += SHORT_INTEGERS.lengths[value]
  }

  /**
   * Any finite number in its shortest form, up to six decimals from tables. Decimals of up to 15 digits are
   * different doubles, so one that reads back as the number is its shortest form.
   */
  number(value: number): void {
    const magnitude = Math.abs(value)
    const millionths = Math.round(magnitude * 1e6)
    if (millionths >= 1e15 || millionths / 1e6 !== magnitude) {
      this.text(String(value))
      return
    }
    if (value < 0) this.bytes[this.at++] = DASH
    const whole = Math.floor(magnitude)
    this.integer(whole)
    this.#decimals(millionths - whole * 1e6)
  }

  /** Millionths, below a million, after the whole part. */
  #decimals(millionths: number): void {
    const high = (millionths / 1000) >>> 0
    const low = millionths - high * 1000
    const { words, lengths } = THOUSANDTH_TEXT
    this.view.setUint32(this.at, words[high], true)
    if (low === 0) {
      this.at += lengths[high]
      return
    }
    this.view.setUint32(this.at + 4, words[low] >>> 8, true)
    this.at += 3 + lengths[low]
  }

  /** A whole number of hundredths, below 2^32, as a number in its shortest form: 150 is `1.5`. */
  hundredths(value: number): void {
    let rest = value
    if (rest < 0) {
      this.bytes[this.at++] = DASH
      rest = -rest
    }
    const whole = (rest / 100) >>> 0
    const fraction = rest - whole * 100
    this.integer(whole)
    this.view.setUint32(this.at, HUNDREDTH_TEXT.words[fraction], true)
    this.at += HUNDREDTH_TEXT.lengths[fraction]
  }

  /** The value of a code of thousandths (heights, periods), or `null` for the missing code. */
  thousandthsCode(code: number): void {
    this.at = writeThousandths(this.view, this.at, code)
  }

  /** The value of a code of hundredths (directions), or `null`. */
  hundredthsCode(code: number): void {
    this.at = writeHundredths(this.view, this.at, code)
  }

  /** Exactly ten digits of a whole number below 10^10. */
  tenDigits(value: number): void {
    const high = Math.floor(value / 1e8)
    const low = value - high * 1e8
    const middle = Math.floor(low / 1e4)
    const view = this.view
    view.setUint16(this.at, FOUR_DIGITS[high] >>> 16, true)
    view.setUint32(this.at + 2, FOUR_DIGITS[middle], true)
    view.setUint32(this.at + 6, FOUR_DIGITS[low - middle * 1e4], true)
    this.at += 10
  }

  /** Exactly twelve hexadecimal digits of 16 bits and 32 bits, if wanted with a hyphen after the eighth. */
  twelveHex(high: number, low: number, hyphen = false): void {
    const { view } = this
    view.setUint32(this.at, fourHex(high), true)
    view.setUint32(this.at + 4, fourHex(low >>> 16), true)
    this.at += 8
    if (hyphen) this.bytes[this.at++] = DASH
    view.setUint32(this.at, fourHex(low & 0xffff), true)
    this.at += 4
  }

  /** `"2026-03-27T09:00:00Z"` of whole epoch seconds. */
  timestamp(epoch: number): void {
    this.quote()
    this.plainTime(epoch)
    this.quote()
  }

  plainTime(epoch: number): void {
    if (epoch < 0 || epoch > LAST_SECOND) {
      this.text(timestampText(epoch))
      return
    }
    writeTime(this.view, this.at, epoch)
    this.at += PLAIN_TIME_BYTES
  }

  /**
   * `"2026-03-29T00:00:00+01:00"` of whole epoch seconds and an `offset` in seconds ahead of UTC. An offset
   * with seconds (Liberia until 1972) is rounded to the minute and the local time with it: the same instant.
   */
  localTime(epoch: number, offset: number): void {
    this.quote()
    this.plainLocalTime(epoch, offset)
    this.quote()
  }

  plainLocalTime(epoch: number, offset: number): void {
    const shift = Math.round(offset / MINUTE)
    this.plainTime(epoch + shift * MINUTE)
    // The offset takes the place of `Z`.
    this.at--
    this.bytes[this.at++] = shift < 0 ? DASH : PLUS
    this.#clock(Math.abs(shift))
  }

  /** `Mar 29`, or with `hour` `Mar 29 05:00`, of a wall clock's seconds. */
  dayLabel(local: number, hour: boolean): void {
    const day = Math.floor(local / DAY)
    writeDayLabel(this.view, this.at, day)
    this.at += DAY_LABEL_BYTES
    if (!hour) return
    this.bytes[this.at++] = BLANK
    this.#clock(Math.floor((local - day * DAY) / HOUR) * 60)
  }

  #clock(minutes: number): void {
    writeClock(this.view, this.at, minutes)
    this.at += CLOCK_BYTES
  }

  /** Times (epoch seconds) in [from, to) as timestamps, each with a comma after it: 23 bytes each. */
  timestamps(times: Uint32Array, from: number, to: number): void {
    const { view } = this
    let { at } = this
    for (let i = from; i < to; i++) {
      view.setUint8(at, QUOTE)
      writeTime(view, at + 1, times[i])
      view.setUint16(at + 21, QUOTE_AND_COMMA, true)
      at += 23
    }
    this.at = at
  }

  null(): void {
    this.literal(NULL)
  }

  comma(): void {
    this.bytes[this.at++] = COMMA
  }

  quote(): void {
    this.bytes[this.at++] = QUOTE
  }
}

const COUNT = new Literal('],"count":')
const END = new Literal('}')
const COUNT_BYTES = 32

export function endList(writer: JsonWriter, count: number): void {
  writer.ensure(COUNT_BYTES)
  writer.literal(COUNT)
  writer.integer(count)
  writer.literal(END)
}
