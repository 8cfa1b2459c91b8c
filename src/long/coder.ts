/** Compresses a long answer as it is made. */
import { once } from 'node:events'
import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { Encoding } from '../http/preferences.ts'

/** The fastest of each format. */
const LEVEL = 1

export interface Coder {
  /** Resolves when the bytes are taken, with `isLast` when all are out. They may be reused then. */
  write(bytes: Uint8Array, isLast: boolean): Promise<void>
  close(): void
}

/** `onBytes` gets compressed bytes as they come. */
export function coderOf(encoding: Encoding, onBytes: (bytes: Uint8Array) => void): Coder {
  const stream = streamOf(encoding)
  stream.on('data', onBytes)
  return {
    async write(bytes, isLast) {
      if (isLast) {
        stream.end(bytes)
        await once(stream, 'end')
      } else
        await new Promise<void>((done, fail) =>
          stream.write(bytes, (error) => (error ? fail(error) : done())),
        )
    },
    close: () => void stream.destroy(),
  }
}

function streamOf(encoding: Encoding): Transform {
  return encoding === 'gzip'
    ? createGzip({ level: LEVEL })
    : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } })
}
