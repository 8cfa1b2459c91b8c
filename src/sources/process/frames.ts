/**
 * What a reader process sends its builder, in frames: a length (four bytes), a kind (one byte) and a body,
 * JSON for records and remarks, columns for rows. Numbers are in the byte order of the machine.
 */
import { COMMON_NAMES, MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import { RowBatch } from '../../sea/row-batch.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../sea/records.ts'
import type { Doubt } from '../doubts.ts'

export interface FileCounts {
  rows: number
  skipped: [reason: string, station: string | null, times: number][]
  /** Lines one by one, then for each reason the number of further ones. */
  bad: [line: number, reason: string, text: string | null, times: number][]
}

/** Handles and file numbers are the reader process's own, counted from 0. */
export type Message =
  | ['source', SourceInfo]
  | ['buoy', BuoyRecord]
  | ['pass', PassRecord]
  | ['forecast', ForecastRecord]
  | ['harbour', HarbourRecord]
  | ['spot', SpotRecord]
  | ['doubt', Doubt]
  | ['withoutPosition', readonly string[]]
  /** A file is read without being counted, or before it is counted. */
  | ['reads', string]
  | ['file', string]
  | ['counts', number, FileCounts]
  | ['end', number]
  | LastMessage

/** Everything was read, the source is refused, or its reader is at fault. */
export type LastMessage = ['done'] | ['refused', string] | ['fault', string]

export const FRAMES_DESCRIPTOR = 3
/** The signal by which a reader ends itself when it takes too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'

/** Bytes that do not make frames. */
export class FrameFault extends Error {}

const MESSAGE = 1
const ROWS = 2
/** Rows with all measures; `ROWS` have the common ones. */
const WHOLE_ROWS = 3

const HEAD_BYTES = 5
/** Handle, feed and number of rows. */
const ROWS_HEAD_BYTES = 12
const rowBytes = (names: readonly MeasureName[]): number => 4 + 2 * names.length
const MAX_ROWS = 16_384
/** Bytes; the longest message is a forecast of half a million values of 20 characters. */
const MAX_FRAME_BYTES = 2 ** 26

const BUFFER_BYTES = 2 ** 20

export class FrameWriter {
  readonly #write: (bytes: Uint8Array) => void
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #length = 0

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  message(message: Message): void {
    const body = Buffer.from(JSON.stringify(message))
    this.#head(MESSAGE, body.length)
    if (body.length > BUFFER_BYTES - this.#length) {
      this.flush()
      this.#write(body)
      return
    }
    this.#length += body.copy(this.#buffer, this.#length)
  }

  rows(handle: number, feed: number, batch: RowBatch): void {
    const names = batch.names()
    for (let from = 0; from < batch.length; from += MAX_ROWS) {
      const to = Math.min(batch.length, from + MAX_ROWS)
      const bytes = ROWS_HEAD_BYTES + (to - from) * rowBytes(names)
      this.#head(names === MEASURE_NAMES ? WHOLE_ROWS : ROWS, bytes)
      if (bytes > BUFFER_BYTES - this.#length) this.flush()
      this.#uint32(handle)
      this.#uint32(feed)
      this.#uint32(to - from)
      this.#copy(batch.time.subarray(from, to))
      for (const name of names) this.#copy(batch.columns[name].subarray(from, to))
    }
  }

  flush(): void {
    if (this.#length > 0) this.#write(this.#buffer.subarray(0, this.#length))
    this.#length = 0
  }

  #head(kind: number, bytes: number): void {
    if (BUFFER_BYTES - this.#length < HEAD_BYTES) this.flush()
    this.#uint32(bytes)
    this.#buffer[this.#length++] = kind
  }

  #uint32(value: number): void {
    this.#length = this.#buffer.writeUInt32LE(value, this.#length)
  }

  #copy({ buffer, byteOffset, byteLength }: Uint32Array | Uint16Array | Int16Array): void {
    this.#buffer.set(new Uint8Array(buffer, byteOffset, byteLength), this.#length)
    this.#length += byteLength
  }
}

/** Takes what comes in frames; the batch is reused. */
export interface FrameTaker {
  message(message: Message): void
  rows(handle: number, feed: number, batch: RowBatch): void
}

export class FrameReader {
  readonly #taker: FrameTaker
  readonly #batch = new RowBatch(MAX_ROWS)
  #pieces: Buffer[] = []
  #length = 0
  #wanted = HEAD_BYTES

  constructor(taker: FrameTaker) {
    this.#taker = taker
  }

  /** @throws FrameFault, and whatever the taker throws */
  push(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length < this.#wanted) return
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)
    let at = 0
    this.#wanted = HEAD_BYTES
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32LE(at)
      if (length > MAX_FRAME_BYTES) throw new FrameFault('a frame that is too long')
      if (bytes.length - at - HEAD_BYTES < length) {
        this.#wanted = HEAD_BYTES + length
        break
      }
      const from = at + HEAD_BYTES
      at = from + length
      this.#take(bytes[from - 1], bytes.subarray(from, at))
    }
    const rest = bytes.subarray(at)
    this.#pieces = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
  }

  #take(kind: number, body: Buffer): void {
    if (kind === MESSAGE) this.#taker.message(JSON.parse(body.toString()) as Message)
    else if (kind === ROWS) this.#takeRows(body, COMMON_NAMES)
    else if (kind === WHOLE_ROWS) this.#takeRows(body, MEASURE_NAMES)
    else throw new FrameFault('a frame of an unknown kind')
  }

  #takeRows(body: Buffer, names: readonly MeasureName[]): void {
    const [handle, feed, count] = [0, 4, 8].map((place) => body.readUInt32LE(place))
    if (count > MAX_ROWS || body.length !== ROWS_HEAD_BYTES + count * rowBytes(names))
      throw new FrameFault('a frame of rows whose length is not that of its rows')
    const batch = this.#batch
    batch.clear()
    let at = ROWS_HEAD_BYTES
    for (const column of [batch.time, ...names.map((name) => batch.columns[name])]) {
      const bytes = count * column.BYTES_PER_ELEMENT
      new Uint8Array(column.buffer, column.byteOffset, bytes).set(body.subarray(at, at + bytes))
      at += bytes
    }
    batch.length = count
    this.#taker.rows(handle, feed, batch)
  }
}
