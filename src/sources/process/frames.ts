/**
 * What a reader process sends its builder, in frames: a length (four bytes) and a message in MessagePack, in
 * which rows are typed arrays.
 */
import { Packr } from 'msgpackr/pack'
import { Unpackr } from 'msgpackr/unpack'
import type { Codes, MeasureName } from '../../sea/columns.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../sea/records.ts'
import { RowBatch } from '../../sea/row-batch.ts'
import type { Doubt } from '../doubts.ts'

/** A call of a file's report. */
export type Remark =
  | [call: 'skipped', reason: string, station: string | undefined, times: number]
  | [call: 'bad', line: number, reason: string, text: string | undefined, times: number]

/** Handles and file numbers are the reader process's own, counted from 0. */
export type Message =
  | ['source', SourceInfo]
  | ['buoy', BuoyRecord]
  | ['rows', buoy: number, feed: number, time: Uint32Array, columns: { [name in MeasureName]?: Codes }]
  | ['pass', PassRecord]
  | ['forecast', ForecastRecord]
  | ['harbour', HarbourRecord]
  | ['spot', SpotRecord]
  | ['doubt', Doubt]
  | ['withoutPosition', readonly string[]]
  /** A file is read without being counted, or before it is counted. */
  | ['reads', string]
  | ['file', string]
  | ['counts', file: number, rows: number, remarks: Remark[]]
  | ['end', file: number]
  | LastMessage

/** Everything was read, the source is refused, or its reader is at fault. */
export type LastMessage = ['done'] | ['refused', string] | ['fault', string]

export const FRAMES_DESCRIPTOR = 3
/** The signal by which a reader ends itself when it takes too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'

/** Bytes that do not make frames. */
export class FrameFault extends Error {}

const HEAD_BYTES = 4
const MAX_ROWS = 16_384
/** Bytes; the longest message is a forecast of half a million values. */
const MAX_FRAME_BYTES = 2 ** 26
/** Frames are written together from this many bytes on. */
const BUFFER_BYTES = 2 ** 20

const packr = new Packr({ useRecords: false, moreTypes: true })
const unpackr = new Unpackr({ useRecords: false, moreTypes: true })

export class FrameWriter {
  readonly #write: (bytes: Uint8Array) => void
  #pieces: Uint8Array[] = []
  #length = 0

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  send(message: Message): void {
    const body = packr.pack(message)
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32LE(body.length)
    this.#pieces.push(head, body)
    this.#length += HEAD_BYTES + body.length
    if (this.#length >= BUFFER_BYTES) this.flush()
  }

  rows(buoy: number, feed: number, batch: RowBatch): void {
    const names = batch.names()
    for (let from = 0; from < batch.length; from += MAX_ROWS) {
      const to = Math.min(batch.length, from + MAX_ROWS)
      const columns = names.map((name) => [name, batch.columns[name].subarray(from, to)])
      this.send(['rows', buoy, feed, batch.time.subarray(from, to), Object.fromEntries(columns)])
    }
  }

  flush(): void {
    this.#write(Buffer.concat(this.#pieces))
    this.#pieces = []
    this.#length = 0
  }
}

export class FrameReader {
  readonly #take: (message: Message) => void
  #pieces: Buffer[] = []
  #length = 0
  #wanted = HEAD_BYTES

  constructor(take: (message: Message) => void) {
    this.#take = take
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
      const from = at + HEAD_BYTES
      const length = bytes.readUInt32LE(at)
      if (length > MAX_FRAME_BYTES) throw new FrameFault('a frame that is too long')
      if (bytes.length - from < length) {
        this.#wanted = HEAD_BYTES + length
        break
      }
      at = from + length
      this.#take(messageOf(bytes.subarray(from, at)))
    }
    const rest = bytes.subarray(at)
    this.#pieces = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
  }
}

function messageOf(bytes: Buffer): Message {
  try {
    return unpackr.unpack(bytes) as Message
  } catch {
    throw new FrameFault('a frame that is no message')
  }
}

/** The rows of a message. */
export function batchOf(time: Uint32Array, columns: { [name in MeasureName]?: Codes }): RowBatch {
  const batch = new RowBatch(time.length)
  Object.assign(batch, { length: time.length, time })
  Object.assign(batch.columns, columns)
  return batch
}
