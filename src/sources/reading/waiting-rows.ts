/** The rows of a file, which wait until it is known whether the file counts. */
import { MEASURES, type MeasureName } from '../../sea/columns.ts'
import { directionOf, orderOf, RowBatch } from '../../sea/row-batch.ts'
import { timestampText } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import { entryOf } from '../../system/entry-of.ts'
import type { Sink } from '../source.ts'
import type { TakeDoubt } from './source-files.ts'

const { significantHeight: HEIGHT } = MEASURES

/** Rows over all buoys that wait: 40 years of ten-minute rows. Beyond, a file is not held back as a whole. */
const MAX_WAITING_ROWS = 2 ** 21

/** Times with two wave heights that a station may have: corrections, and a clock that is set back. */
const FEW_TWICE = 2
const TWICE_SHARE = 0.1

/**
 * The rows of a file, which wait until it is known whether the file counts. It may alternate its buoys row by
 * row.
 */
export class WaitingRows {
  readonly #sink: Pick<Sink, 'rows'>
  readonly #doubt: TakeDoubt
  readonly #feed: number
  readonly #look: (batches: ReadonlyMap<number, RowBatch>) => void
  readonly #batches = new Map<number, RowBatch>()
  #length = 0
  #isPartlySent = false

  /** @param doubt names the file */
  /** @param look looks at all rows that wait, by buoy, before they are sent */
  constructor(
    sink: Pick<Sink, 'rows'>,
    doubt: TakeDoubt,
    feed = 0,
    look: (batches: ReadonlyMap<number, RowBatch>) => void = () => undefined,
  ) {
    this.#sink = sink
    this.#doubt = doubt
    this.#feed = feed
    this.#look = look
  }

  /** The number of the buoy's next row among those that wait. */
  next(buoy: number): number {
    return this.#batches.get(buoy)?.length ?? 0
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    entryOf(this.#batches, buoy, () => new RowBatch(64)).addCodes(time, names, codes)
    if (++this.#length === MAX_WAITING_ROWS) {
      this.#isPartlySent = true
      this.#send('')
    }
  }

  /**
   * Sends the rows of a file that counts. Those of a station with two wave heights at many times are rows of
   * several stations and are left out; `hint` names what else could be the identifier.
   * @throws BuildError for a file that does not count, and is so long that some of its rows are sent
   */
  end(counts: boolean, hint = ''): void {
    if (counts) this.#send(hint)
    else if (this.#isPartlySent)
      throw new BuildError(`a file of more than ${MAX_WAITING_ROWS} rows has too many bad lines (--max-bad)`)
  }

  #send(hint: string): void {
    this.#look(this.#batches)
    for (const [buoy, batch] of this.#batches) {
      const { times, twice, example } = timesWithTwoHeights(batch)
      const isMixed = twice > Math.max(FEW_TWICE, times * TWICE_SHARE) || twice * 2 > times
      if (isMixed) this.#doubt('mixed', `${example}${hint}`, batch.length)
      else this.#sink.rows(buoy, batch, this.#feed)
    }
    this.#batches.clear()
    this.#length = 0
  }
}

/** How many of a buoy's times have two wave heights, and the first of these. */
function timesWithTwoHeights(rows: RowBatch): {
  times: number
  twice: number
  example: string
} {
  const { length, time, columns } = rows
  const heights = columns.significantHeight
  const found = { times: length, twice: 0, example: '' }
  if (directionOf(time, length) !== 0) return found
  orderOf(rows).forEach((row, i, order) => {
    const before = order[i - 1]
    if (i === 0 || time[before] !== time[row]) return
    found.times--
    const [one, other] = [heights[before], heights[row]]
    if (one === other || one === HEIGHT.missing || other === HEIGHT.missing) return
    found.twice++
    found.example ||= `at ${timestampText(time[row])} ${one / HEIGHT.scale} and ${other / HEIGHT.scale} m`
  })
  return found
}
