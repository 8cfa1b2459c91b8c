/**
 * A walk over MessagePack before a library makes values of it: a few bytes can claim lists of billions, nest
 * them until the stack is full, or name types of a library's own. Plain values are nil, booleans, numbers,
 * texts, byte strings, lists, and maps with texts for keys, with no more items than there are bytes.
 */

/** Bounds of one value with all its items. */
interface PlainBounds {
  /** Lists and maps within each other. */
  depth: number
  /** Values in all, keys not counted. */
  values: number
}

/** Keys are short names in a program. */
const LONGEST_KEY_BYTES = 128

/** First heads of maps, lists and texts with a count in the head, of others, and of negative numbers. */
const [FIXMAP, FIXLIST, FIXSTR, OTHERS, NEGATIVE] = [0x80, 0x90, 0xa0, 0xc0, 0xe0]
const [STR8, LIST16, MAP16] = [0xd9, 0xdc, 0xde]

/**
 * Bytes of the number after each head from 0xc0 on. Integers of 64 bits become another type than numbers,
 * extensions whatever a library makes of them: they have none.
 */
// oxfmt-ignore
const WIDTHS: readonly (number | null)[] = [
  0, null, 0, 0, 1, 2, 4, null, null, null, 4, 8, 1, 2, 4, null,
  1, 2, 4, null, null, null, null, null, null, 1, 2, 4, 2, 4, 2, 4,
]
/** Byte strings, texts, lists and maps: their number is a count. */
const isCounted = (head: number): boolean => (head >= 0xc4 && head <= 0xc6) || head >= STR8

class NotPlain extends Error {}

/** Where the first value in `bytes` ends, or why it is not plain, in words. */
export function plainEnd(bytes: Uint8Array, { depth, values }: PlainBounds): number | string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  let left = values

  /** @returns where the skipped bytes began */
  function pass(count: number): number {
    at += count
    if (at > bytes.length) throw new NotPlain('ends too early')
    return at - count
  }

  function numberOf(width: number): number {
    const from = pass(width)
    if (width === 1) return bytes[from]
    return width === 2 ? view.getUint16(from) : view.getUint32(from)
  }

  function value(room: number): void {
    const from = pass(1)
    if (--left < 0) throw new NotPlain('holds too many values')
    const head = bytes[from]
    if (head < FIXMAP || head >= NEGATIVE) return
    if (head < FIXLIST) return items(head - FIXMAP, true, room)
    if (head < FIXSTR) return items(head - FIXLIST, false, room)
    if (head < OTHERS) return void pass(head - FIXSTR)
    const width = WIDTHS[head - OTHERS]
    if (width === null) throw new NotPlain('holds a value of a type that snapshots do not know')
    if (!isCounted(head)) return void pass(width)
    const count = numberOf(width)
    if (head < LIST16) pass(count)
    else items(count, head >= MAP16, room)
  }

  function items(count: number, isMap: boolean, room: number): void {
    if (room === 0) throw new NotPlain('is nested too deeply')
    // Each takes at least a byte, so a count beyond the bytes is a lie.
    if (count * (isMap ? 2 : 1) > bytes.length - at) throw new NotPlain('ends too early')
    for (let i = 0; i < count; i++) {
      if (isMap) key()
      value(room - 1)
    }
  }

  function key(): void {
    const from = pass(1)
    const head = bytes[from]
    if (head >= FIXSTR && head < OTHERS) pass(head - FIXSTR)
    else if (head === STR8) pass(numberOf(1))
    else throw new NotPlain('has a map with a key that is not a name')
    if (at - from > LONGEST_KEY_BYTES) throw new NotPlain('has a map with a key that is not a name')
  }

  try {
    value(depth)
    return at
  } catch (error) {
    if (error instanceof NotPlain) return error.message
    throw error
  }
}
