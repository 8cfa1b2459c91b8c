/**
 * A walk over MessagePack before a library makes values of it: a few bytes can claim lists of billions, nest
 * them until the stack is full, or name types of a library's own. Plain values are nil, booleans, numbers,
 * texts, byte strings, lists, and maps with texts for keys, with no more items than there are bytes.
 */

/** Bounds of one value with all its items. */
export interface PlainBounds {
  /** Lists and maps within each other. */
  depth: number
  /** Values in all, keys not counted. */
  values: number
}

/** Keys are short names in a program. */
const LONGEST_KEY_BYTES = 128

const NIL = 0xc0
const FALSE = 0xc2
const TRUE = 0xc3
const [BIN8, BIN16, BIN32] = [0xc4, 0xc5, 0xc6]
const [FLOAT32, FLOAT64] = [0xca, 0xcb]
const [UINT8, UINT16, UINT32] = [0xcc, 0xcd, 0xce]
const [INT8, INT16, INT32] = [0xd0, 0xd1, 0xd2]
const [STR8, STR16, STR32] = [0xd9, 0xda, 0xdb]
const [ARRAY16, ARRAY32, MAP16, MAP32] = [0xdc, 0xdd, 0xde, 0xdf]
const [FIXMAP, FIXARRAY, FIXSTR, NEGATIVE] = [0x80, 0x90, 0xa0, 0xe0]

/** Where the first value in `bytes` ends, or why it is not plain, in words. */
export function plainEnd(bytes: Uint8Array, bounds: PlainBounds): number | string {
  const walk = new Walk(bytes, bounds)
  return walk.fault ?? walk.at
}

class Walk {
  at = 0
  fault: string | null = null
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #values: number

  constructor(bytes: Uint8Array, { depth, values }: PlainBounds) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#values = values
    this.#value(depth)
  }

  #value(depth: number): void {
    if (this.at >= this.#bytes.length) {
      this.fault = 'ends too early'
      return
    }
    if (--this.#values < 0) {
      this.fault = 'holds too many values'
      return
    }
    const head = this.#bytes[this.at++]
    if (head < FIXMAP || head >= NEGATIVE) return
    if (head < FIXARRAY) this.#map(head - FIXMAP, depth)
    else if (head < FIXSTR) this.#list(head - FIXARRAY, depth)
    else if (head < NIL) this.#skip(head - FIXSTR)
    else this.#other(head, depth)
  }

  #other(head: number, depth: number): void {
    switch (head) {
      case NIL:
      case FALSE:
      case TRUE:
        return
      case UINT8:
      case INT8:
        return this.#skip(1)
      case UINT16:
      case INT16:
        return this.#skip(2)
      case UINT32:
      case INT32:
      case FLOAT32:
        return this.#skip(4)
      case FLOAT64:
        return this.#skip(8)
      case STR8:
      case BIN8:
        return this.#skip(this.#count(1))
      case STR16:
      case BIN16:
        return this.#skip(this.#count(2))
      case STR32:
      case BIN32:
        return this.#skip(this.#count(4))
      case ARRAY16:
        return this.#list(this.#count(2), depth)
      case ARRAY32:
        return this.#list(this.#count(4), depth)
      case MAP16:
        return this.#map(this.#count(2), depth)
      case MAP32:
        return this.#map(this.#count(4), depth)
      default:
        // Integers of 64 bits become another type than numbers, extensions whatever a library makes of them.
        this.fault = 'holds a value of a type that snapshots do not know'
    }
  }

  #count(width: 1 | 2 | 4): number {
    const at = this.at
    this.#skip(width)
    if (this.fault !== null) return 0
    return width === 1 ? this.#bytes[at] : width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at)
  }

  #skip(bytes: number): void {
    this.at += bytes
    if (this.at > this.#bytes.length) this.fault = 'ends too early'
  }

  /** Each item takes at least a byte, so a count beyond the bytes is a lie. */
  #enters(items: number, depth: number): boolean {
    if (depth === 0) this.fault = 'is nested too deeply'
    else if (items > this.#bytes.length - this.at) this.fault ??= 'ends too early'
    return this.fault === null
  }

  #list(length: number, depth: number): void {
    if (!this.#enters(length, depth)) return
    for (let i = 0; i < length && this.fault === null; i++) this.#value(depth - 1)
  }

  #map(length: number, depth: number): void {
    if (!this.#enters(length * 2, depth)) return
    for (let i = 0; i < length && this.fault === null; i++) {
      this.#key()
      if (this.fault === null) this.#value(depth - 1)
    }
  }

  #key(): void {
    const from = this.at
    const head = this.#bytes[from]
    if (from === this.#bytes.length) this.fault = 'ends too early'
    else if (head >= FIXSTR && head < NIL) this.#skip(1 + head - FIXSTR)
    else if (head === STR8) {
      this.at++
      this.#skip(this.#count(1))
    } else this.fault = 'has a map with a key that is not a name'
    if (this.at - from > LONGEST_KEY_BYTES) this.fault ??= 'has a map with a key that is not a name'
  }
}
