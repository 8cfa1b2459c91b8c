/** Rows of many buoys in any order, gathered into batches of one buoy each. */
import { type MeasureName, NO_CODE, RowBatch } from '../../sea/columns.ts'
import type { Sink } from '../source.ts'

/** Rows of one buoy that are handed over at once. */
const BATCH_ROWS = 8192

/** Rows over all buoys that wait to be sent: a file may alternate its buoys row by row. */
const MAX_WAITING_ROWS = 262_144

/** Gathers rows of many buoys in any order and sends them in batches of one buoy. */
export class WaitingRows {
  readonly #sink: Sink
  readonly #feed: number
  readonly #batches = new Map<number, RowBatch>()
  #length = 0

  constructor(sink: Sink, feed = 0) {
    this.#sink = sink
    this.#feed = feed
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    let batch = this.#batches.get(buoy)
    if (batch === undefined) {
      batch = new RowBatch(64)
      this.#batches.set(buoy, batch)
    }
    const row = batch.add(time)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) batch.columns[names[i]][row] = codes[i]
    this.#length++
    if (batch.length === BATCH_ROWS) {
      this.#sink.rows(buoy, batch, this.#feed)
      this.#length -= batch.length
      batch.clear()
    } else if (this.#length >= MAX_WAITING_ROWS) this.flush()
  }

  /** Sends everything and frees the memory. */
  flush(): void {
    for (const [buoy, batch] of this.#batches) if (batch.length > 0) this.#sink.rows(buoy, batch, this.#feed)
    this.#batches.clear()
    this.#length = 0
  }
}
