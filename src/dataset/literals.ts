/**
 * Text to be stored eight bytes at a time: as doubles, and as tables of short texts by index. UTF-8 in a
 * double is never a NaN (two bytes of the exponent never follow each other), so no bits change.
 */

import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

const COMMA = 0x2c

const ENCODER = new TextEncoder()

/** Text in UTF-8 as doubles of eight bytes each, the last padded with zeros. */
export function wordsOf(text: string): Float64Array {
  const bytes = ENCODER.encode(text)
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8)
  padded.set(bytes)
  return new Float64Array(padded.buffer)
}

export class Literal {
  readonly words: Float64Array
  /** Bytes of UTF-8. */
  readonly length: number

  constructor(text: string) {
    this.words = wordsOf(text)
    this.length = ENCODER.encode(text).length
  }
}

type Write = (view: DataView, at: number, index: number) => number

/** Short texts by index: one store each, for lists with a comma at the end. */
export class ShortTexts {
  readonly words: Float64Array
  readonly lengths: Uint8Array

  private constructor(size: number, memory: ArrayBufferLike = new ArrayBuffer(9 * size)) {
    this.words = new Float64Array(memory, 0, size)
    this.lengths = new Uint8Array(memory, 8 * size, size)
  }

  /** @param text at most eight ASCII characters for each index below `size`; seven for lists */
  static make(size: number, text: (index: number) => string): ShortTexts {
    const table = new ShortTexts(size)
    table.#write((view, at, index) => {
      const entry = text(index)
      for (let i = 0; i < entry.length; i++) view.setUint8(at + i, entry.charCodeAt(i))
      return at + entry.length
    })
    return table
  }

  /**
   * A table that all threads share: 65,536 strings would leave each thread's heap 3 MiB larger.
   * @param name no other table has it
   * @param write puts the text of an index at `at`, and returns its end; it may overwrite eight bytes more
   */
  static shared(name: string, size: number, write: Write): ShortTexts {
    return new ShortTexts(
      size,
      sharedOnce(name, 9 * size, (memory) => new ShortTexts(size, memory).#write(write)),
    )
  }

  #write(write: Write): void {
    const bytes = new Uint8Array(16)
    const view = new DataView(bytes.buffer)
    for (let index = 0; index < this.lengths.length; index++) {
      const length = write(view, 0, index)
      this.lengths[index] = length
      if (length < 8) bytes[length] = COMMA
      bytes.fill(0, length + 1)
      this.words[index] = view.getFloat64(0, true)
    }
  }
}

/** Bytes that the first thread to ask fills. Later threads see them, and nobody writes again. */
export function sharedOnce(
  name: string,
  length: number,
  fill: (memory: SharedArrayBuffer) => void,
): SharedArrayBuffer {
  // Another version of the program in the same process has memory of its own.
  const key = `${import.meta.url} ${name}`
  const known = getEnvironmentData(key) as SharedArrayBuffer | undefined
  if (known !== undefined) return known
  const memory = new SharedArrayBuffer(length)
  fill(memory)
  setEnvironmentData(key, memory)
  return memory
}
