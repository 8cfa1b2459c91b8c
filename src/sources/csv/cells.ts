/**
 * Cells that the tables of this format have in common: their times, and pairs that repeat from line to line.
 */
import { digitsAt, type Fields } from '../reading/fields.ts'
import type { SeparatedTable } from '../reading/table.ts'
import { isoSeconds } from '../reading/times.ts'

/** Bytes of two cells that are kept, with one byte for the length of the first. */
const KEPT_BYTES = 256

/** Epoch seconds of a cell with digits or ISO 8601 with a zone; −1 for anything else. */
export function timeOf({ bytes, fields }: SeparatedTable, column: number): number {
  return secondsAt(bytes, fields.starts[column], fields.ends[column])
}

/** As `timeOf`, of text. */
export function secondsOf(text: string): number {
  const bytes = Buffer.from(text)
  return secondsAt(bytes, 0, bytes.length)
}

function secondsAt(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 10) return isoSeconds(bytes, from, to, 'offset')
  const seconds = digitsAt(bytes, from, to)
  return seconds <= 0xffff_ffff ? seconds : -1
}

/**
 * Two cells that mostly repeat from line to line, such as the names of a buoy or the position of a point:
 * what follows from them is looked up once for each run of lines.
 */
export class RepeatedPair {
  readonly #first: number
  readonly #second: number
  readonly #kept = new Uint8Array(KEPT_BYTES)
  /** −1 where the pair is too long to be kept. */
  #keptLength = -1

  constructor(first: number, second: number) {
    this.#first = first
    this.#second = second
  }

  /** Whether the present line has the same two cells as the one before; keeps them if not. */
  repeats({ bytes, fields }: SeparatedTable): boolean {
    if (this.#isKept(bytes, fields)) return true
    this.#keptLength = this.#keep(bytes, fields)
    return false
  }

  #isKept(bytes: Uint8Array, { starts, ends }: Fields): boolean {
    const [from, second] = [starts[this.#first], starts[this.#second]]
    const firstLength = ends[this.#first] - from
    const length = firstLength + 1 + ends[this.#second] - second
    const kept = this.#kept
    if (length !== this.#keptLength || kept[0] !== firstLength) return false
    for (let i = 0; i < firstLength; i++) if (kept[1 + i] !== bytes[from + i]) return false
    const rest = second - 1 - firstLength
    for (let i = 1 + firstLength; i < length; i++) if (kept[i] !== bytes[rest + i]) return false
    return true
  }

  #keep(bytes: Uint8Array, { starts, ends }: Fields): number {
    const [first, second] = [this.#first, this.#second]
    const firstLength = ends[first] - starts[first]
    const length = firstLength + 1 + ends[second] - starts[second]
    if (length > KEPT_BYTES) return -1
    this.#kept[0] = firstLength
    this.#kept.set(bytes.subarray(starts[first], ends[first]), 1)
    this.#kept.set(bytes.subarray(starts[second], ends[second]), 1 + firstLength)
    return length
  }
}
