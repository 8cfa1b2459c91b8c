/** Bodies of answers whose length is the other side's to choose. */
import type { Readable } from 'node:stream'

/** The whole of a body. @throws what `tooLarge` makes, as soon as more than `maxBytes` have come */
export async function readUpTo(body: Readable, maxBytes: number, tooLarge: () => Error): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}
