/** A kept answer, plain or compressed. The tail of plain JSON, its last bytes, holds the time and is written anew. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Format } from '../operation/shape.ts'
import type { Encoding } from './preferences.ts'

const NOTHING = new Uint8Array(0)

/** The tail of an answer without a timestamp: its last bytes, which stay as they are. */
const OWN_TAIL_BYTES = 23

/** Best first: brotli's are the smallest. */
export const ENCODINGS: readonly Encoding[] = ['br', 'gzip']

/** The fastest of each format: a proxy in front can do more. */
const LEVEL = 1

/** Other threads compress. */
const COMPRESS: { readonly [coding in Encoding]: (bytes: Uint8Array) => Promise<Uint8Array> } = {
  gzip: (bytes) => promisify(gzip)(bytes, { level: LEVEL }),
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: LEVEL,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
}

export class KeptAnswer {
  /** Null for plain. */
  readonly encoding: Encoding | null
  /** `Link` lines of the head; empty without any. */
  readonly link: Uint8Array
  /** The last bytes, if the format has no timestamp. */
  readonly ownTail: Uint8Array | null
  /** Still in the cache. */
  kept = true
  /** Epoch second that the bytes tell; −1 before it is known. */
  second: number
  #bytes: Uint8Array
  readonly #tailAt: number

  private constructor(
    bytes: Uint8Array,
    tailAt: number,
    { link, ownTail }: Pick<KeptAnswer, 'link' | 'ownTail'>,
    encoding: Encoding | null = null,
    second = -1,
  ) {
    this.encoding = encoding
    this.link = link
    this.ownTail = ownTail
    this.second = second
    this.#bytes = bytes
    this.#tailAt = tailAt
  }

  /** Copies `answer` and `link`; in JSON the tail has `tailLength` bytes. */
  static of(answer: Uint8Array, format: Format, link: Uint8Array, tailLength: number): KeptAnswer {
    const ownTail = format === 'json' ? null : answer.slice(-OWN_TAIL_BYTES)
    const tailAt = answer.length - (ownTail?.length ?? tailLength)
    return new KeptAnswer(new Uint8Array(answer), tailAt, { link: link.slice(), ownTail })
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Plain bytes tell `second` by `tail`; compressed ones the time at which they were compressed. */
  bytesAt(second: number, tail: Uint8Array): Uint8Array {
    if (this.encoding === null && second !== this.second) {
      this.#bytes.set(tail, this.#tailAt)
      this.second = second
    }
    return this.#bytes
  }

  /** Compresses a plain answer with the time that it tells now. */
  async compressed(encoding: Encoding): Promise<KeptAnswer> {
    const { second } = this
    // Requests write the time into the bytes meanwhile. (`slice` of a `Buffer` would be a view.)
    const bytes = await COMPRESS[encoding](new Uint8Array(this.#bytes))
    return new KeptAnswer(bytes, bytes.length, this, encoding, second)
  }

  /** Lets go of memory that a slow reader may retain for long. */
  leave(): void {
    this.kept = false
    this.#bytes = NOTHING
  }
}
