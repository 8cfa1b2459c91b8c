/**
 * A kept answer, plain or compressed. Its tail, the last bytes, holds the time and is overwritten in place.
 * Compressed, the tail is a block that the format stores as it is: in deflate a stored block (RFC 1951,
 * section 3.2.4; the CRC-32 of RFC 1952 goes on), in brotli an uncompressed meta-block (RFC 7932, section
 * 9.2), in Zstandard a raw block (RFC 8878, section 3.1.1.2).
 */
import { promisify } from 'node:util'
import zlib, { brotliCompress, constants, crc32, deflateRaw } from 'node:zlib'
import type { Format } from '../operation/shape.ts'
import type { Encoding } from './preferences.ts'

const NOTHING = new Uint8Array(0)

/** The tail of an answer without a timestamp: its last bytes, which stay as they are. */
const OWN_TAIL_BYTES = 23

type Compress<Options> = (data: Uint8Array, options: Options) => Promise<Uint8Array>
const deflate = promisify(deflateRaw) as Compress<zlib.ZlibOptions>
const brotli = promisify(brotliCompress) as Compress<zlib.BrotliOptions>

/** Node has Zstandard from 22.15 on; the types of the oldest Node that we run on do not know of it. */
interface ZstandardZlib {
  zstdCompress(
    this: void,
    data: Uint8Array,
    options: object,
    done: (error: Error | null, bytes: Uint8Array) => void,
  ): void
  constants: { ZSTD_e_flush: number; ZSTD_c_compressionLevel: number }
}
const zstandard = 'zstdCompress' in zlib ? (zlib as unknown as ZstandardZlib) : null
const zstd: Compress<object> | null = zstandard === null ? null : promisify(zstandard.zstdCompress)

/** What this runtime can compress, best first: brotli's are the smallest. */
export const ENCODINGS: readonly Encoding[] = zstd === null ? ['br', 'gzip'] : ['br', 'zstd', 'gzip']

/** The fastest of each format: a proxy in front can do more. */
const LEVEL = 1

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

export class KeptAnswer {
  /** Null for plain. */
  readonly encoding: Encoding | null
  /** `Link` lines of the head; empty without any. */
  readonly link: Uint8Array
  /** The last bytes, if the format has no timestamp. */
  readonly ownTail: Uint8Array | null
  /** Still in the cache. */
  kept = true
  #bytes: Uint8Array
  readonly #tailAt: number
  /** CRC-32 of what stands before the tail, for gzip. */
  readonly #headCrc: number
  #second = -1

  private constructor(
    encoding: Encoding | null,
    bytes: Uint8Array,
    tailAt: number,
    { link, ownTail, headCrc = 0 }: { link: Uint8Array; ownTail: Uint8Array | null; headCrc?: number },
  ) {
    this.encoding = encoding
    this.link = link
    this.ownTail = ownTail
    this.#bytes = bytes
    this.#tailAt = tailAt
    this.#headCrc = headCrc
  }

  /** Copies `answer` and `link`; in JSON the tail has `tailLength` bytes. */
  static of(answer: Uint8Array, format: Format, link: Uint8Array, tailLength: number): KeptAnswer {
    const ownTail = format === 'json' ? null : answer.slice(-OWN_TAIL_BYTES)
    return new KeptAnswer(null, answer.slice(), answer.length - (ownTail?.length ?? tailLength), {
      link: link.slice(),
      ownTail,
    })
  }

  get length(): number {
    return this.#bytes.length
  }

  /** `second` decides whether `tail` has to be written again. */
  bytesAt(second: number, tail: Uint8Array): Uint8Array {
    if (second !== this.#second) {
      this.bytesWith(tail)
      this.#second = second
    }
    return this.#bytes
  }

  bytesWith(tail: Uint8Array): Uint8Array {
    const bytes = this.#bytes
    this.#second = -1
    bytes.set(tail, this.#tailAt)
    if (this.encoding === 'gzip') {
      const crc = crc32(tail, this.#headCrc)
      const at = this.#tailAt + tail.length
      for (let i = 0; i < 4; i++) bytes[at + i] = crc >>> (8 * i)
    }
    return bytes
  }

  /** Compresses a plain answer, longer than its tail, on another thread: Zstandard makes no empty frame. */
  async compressed(encoding: Encoding): Promise<KeptAnswer> {
    const answer = this.#bytes
    const tailAt = this.#tailAt
    const { link, ownTail } = this
    // Only the tail changes while the answer is being compressed.
    const head = answer.subarray(0, tailAt)
    const tail = answer.slice(tailAt)
    const headCrc = encoding === 'gzip' ? crc32(head) : 0
    const start = encoding === 'gzip' ? GZIP_HEADER : NOTHING
    const before = blockHeader(encoding, tail.length)
    const after = encoding === 'gzip' ? new Uint8Array(8) : encoding === 'br' ? Uint8Array.of(3) : NOTHING
    const bytes = concatenated([start, await compress(encoding, head), before, tail, after])
    if (encoding === 'gzip') new DataView(bytes.buffer).setUint32(bytes.length - 4, answer.length, true)
    const made = new KeptAnswer(encoding, bytes, bytes.length - after.length - tail.length, {
      link,
      ownTail,
      headCrc,
    })
    made.bytesWith(tail)
    return made
  }

  /** Lets go of memory that a slow reader may retain for long. */
  leave(): void {
    this.kept = false
    this.#bytes = NOTHING
  }
}

function concatenated(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** Header of the stored block, the last that holds bytes. `length` below 65,536. */
function blockHeader(encoding: Encoding, length: number): Uint8Array {
  if (encoding === 'gzip') return Uint8Array.of(1, length, length >> 8, ~length, ~length >> 8)
  // Zstandard: last block 1, type raw 00, size. Brotli: not last 0, nibbles 00, length - 1, uncompressed 1.
  const bits = encoding === 'zstd' ? 1 | (length << 3) : ((length - 1) << 3) | (1 << 19)
  return Uint8Array.of(bits, bits >> 8, bits >> 16)
}

function compress(encoding: Encoding, head: Uint8Array): Promise<Uint8Array> {
  switch (encoding) {
    case 'gzip':
      return deflate(head, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH })
    case 'br':
      return brotli(head, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: LEVEL,
          [constants.BROTLI_PARAM_SIZE_HINT]: head.length,
        },
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      })
    case 'zstd': {
      const { ZSTD_e_flush: finishFlush, ZSTD_c_compressionLevel: level } = zstandard!.constants
      return zstd!(head, { params: { [level]: LEVEL }, finishFlush })
    }
  }
}
