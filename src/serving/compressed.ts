/**
 * Answers compressed once and sent many times, although each carries the second it was sent in.
 *
 * All but the last bytes are compressed and flushed to a byte border; the last ones, with the timestamp,
 * follow as a block that its format stores as it is, so that they can be overwritten in place: in deflate a
 * stored block (RFC 1951, section 3.2.4; the CRC-32 of RFC 1952 goes on from that of the bytes before), in
 * brotli an uncompressed meta-block (RFC 7932, section 9.2), in Zstandard a raw block (RFC 8878, section
 * 3.1.1.2).
 */
import { promisify } from 'node:util'
import zlib, {
  brotliCompress,
  brotliCompressSync,
  constants,
  crc32,
  deflateRaw,
  deflateRawSync,
} from 'node:zlib'
import type { Encoding } from './encoding.ts'

/** Smaller answers fit a packet anyway. */
export const LEAST_COMPRESSED_BYTES = 256

const deflate = promisify(deflateRaw) as (data: Uint8Array, options: zlib.ZlibOptions) => Promise<Buffer>
const brotli = promisify(brotliCompress) as (data: Uint8Array, options: zlib.BrotliOptions) => Promise<Buffer>

/** Node has Zstandard from 22.15 on; the types of the oldest Node that we run on do not know of it. */
interface ZstandardZlib {
  zstdCompress(
    this: void,
    data: Uint8Array,
    options: object,
    done: (error: Error | null, bytes: Buffer) => void,
  ): void
  zstdCompressSync(this: void, data: Uint8Array, options: object): Buffer
  constants: { ZSTD_e_flush: number }
}
const zstandard = 'zstdCompress' in zlib ? (zlib as unknown as ZstandardZlib) : null
const zstd = zstandard === null ? null : promisify(zstandard.zstdCompress)

/** What this runtime can compress, best first: brotli's are the smallest. */
export const ENCODINGS: readonly Encoding[] = zstd === null ? ['br', 'gzip'] : ['br', 'zstd', 'gzip']

/** Both are their formats' middle: made once per snapshot, but within its half hour. */
const GZIP_LEVEL = 6
const BROTLI_QUALITY = 5

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/** One answer in one coding. Until `bytesAt` is called its tail is not yet right. */
export class CompressedAnswer {
  readonly encoding: Encoding
  /** May be exchanged for a copy. */
  bytes: Uint8Array
  readonly #tailAt: number
  /** CRC-32 of all that is compressed, for gzip. */
  readonly #headCrc: number
  #second = -1

  /** `compressed`: all of `answer` but its last `tailLength` bytes. */
  constructor(encoding: Encoding, answer: Uint8Array, tailLength: number, compressed: Uint8Array) {
    const before = blockHeader(encoding, tailLength)
    const start = encoding === 'gzip' ? GZIP_HEADER : new Uint8Array(0)
    const after =
      encoding === 'gzip' ? new Uint8Array(8) : encoding === 'br' ? Uint8Array.of(3) : new Uint8Array(0)
    this.bytes = Buffer.concat([start, compressed, before, new Uint8Array(tailLength), after])
    this.encoding = encoding
    this.#tailAt = this.bytes.length - after.length - tailLength
    this.#headCrc = encoding === 'gzip' ? crc32(headOf(answer, tailLength)) : 0
    if (encoding === 'gzip') {
      const view = new DataView(this.bytes.buffer, this.bytes.byteOffset)
      view.setUint32(this.bytes.length - 4, answer.length, true)
    }
  }

  /** The answer as of `second`; `tail` are the bytes that say so, as many as it was made with. */
  bytesAt(second: number, tail: Uint8Array): Uint8Array {
    const { bytes } = this
    if (second === this.#second) return bytes
    this.#second = second
    bytes.set(tail, this.#tailAt)
    if (this.encoding === 'gzip') {
      const crc = crc32(tail, this.#headCrc)
      const at = this.#tailAt + tail.length
      for (let i = 0; i < 4; i++) bytes[at + i] = crc >>> (8 * i)
    }
    return bytes
  }
}

/** The header of the one stored block, which is the last that holds bytes. `length` below 65,536. */
function blockHeader(encoding: Encoding, length: number): Uint8Array {
  if (encoding === 'gzip') return Uint8Array.of(1, length, length >> 8, ~length, ~length >> 8)
  // Zstandard: last block 1, type raw 00, size. Brotli: not last 0, four nibbles 00, length - 1, uncompressed
  // 1.
  const bits = encoding === 'zstd' ? 1 | (length << 3) : ((length - 1) << 3) | (1 << 19)
  return Uint8Array.of(bits, bits >> 8, bits >> 16)
}

/** What another thread compresses in a ms, about, and what it takes beside: threads wake each other. */
const BYTES_PER_MS = 64 * 1024
const BESIDE_MS = 0.15

/** Time of processors that compressing `bytes` elsewhere takes, about. */
export function msElsewhere(bytes: number): number {
  return BESIDE_MS + bytes / BYTES_PER_MS
}

/**
 * Compresses `answer`, whose last `tailLength` bytes stay changeable. It is longer than its tail: of nothing,
 * Zstandard makes not even a frame.
 *
 * On the calling thread: 13 to 35 µs for 0.5 to 5 KB, 150 for 22. Handing it to another thread takes 36 µs of
 * this one and 120 of others beside.
 */
export function compressAnswer(encoding: Encoding, answer: Uint8Array, tailLength: number): CompressedAnswer {
  return new CompressedAnswer(encoding, answer, tailLength, compress(encoding, headOf(answer, tailLength)))
}

/** As `compressAnswer`, on another thread. Until it is done only the tail of `answer` may change. */
export async function compressAnswerElsewhere(
  encoding: Encoding,
  answer: Uint8Array,
  tailLength: number,
): Promise<CompressedAnswer> {
  const compressed = await compressElsewhere(encoding, headOf(answer, tailLength))
  return new CompressedAnswer(encoding, answer, tailLength, compressed)
}

/** What is compressed of an answer. */
function headOf(answer: Uint8Array, tailLength: number): Uint8Array {
  return answer.subarray(0, answer.length - tailLength)
}

const DEFLATE = { level: GZIP_LEVEL, finishFlush: constants.Z_SYNC_FLUSH }
const ZSTANDARD = zstandard === null ? {} : { finishFlush: zstandard.constants.ZSTD_e_flush }

function brotliOptions({ length }: Uint8Array): zlib.BrotliOptions {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: length,
    },
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
  }
}

function compress(encoding: Encoding, head: Uint8Array): Uint8Array {
  switch (encoding) {
    case 'gzip':
      return deflateRawSync(head, DEFLATE)
    case 'br':
      return brotliCompressSync(head, brotliOptions(head))
    case 'zstd':
      return zstandard!.zstdCompressSync(head, ZSTANDARD)
  }
}

function compressElsewhere(encoding: Encoding, head: Uint8Array): Promise<Uint8Array> {
  switch (encoding) {
    case 'gzip':
      return deflate(head, DEFLATE)
    case 'br':
      return brotli(head, brotliOptions(head))
    case 'zstd':
      return zstd!(head, ZSTANDARD)
  }
}
