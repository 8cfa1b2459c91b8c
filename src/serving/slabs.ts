/**
 * Memory of kept answers. Few large buffers, because the engine finds the bytes of a buffer by way of five
 * objects: those of a buffer per answer were never in the processor's cache, half a microsecond of a kept
 * answer.
 */

interface Slab<Piece> {
  readonly bytes: Uint8Array
  used: number
  readonly pieces: Piece[]
}

/**
 * Something larger than this share of a slab gets memory of its own: no more than that is left unused at a
 * slab's end.
 */
const SLAB_REST = 1 / 4

export class Slabs<Piece> {
  readonly #size: number
  /** Oldest first. */
  readonly #slabs: Slab<Piece>[] = []
  /** The one that is being filled. */
  #open: Slab<Piece> | null = null
  #bytes = 0

  /** `size`: of a slab, in bytes. */
  constructor(size: number) {
    this.#size = Math.ceil(size)
  }

  /** What they take, used or not. */
  get bytes(): number {
    return this.#bytes
  }

  get count(): number {
    return this.#slabs.length
  }

  /** What they would take more for a piece of `length` bytes. */
  growthFor(length: number): number {
    if (length > this.#size * SLAB_REST) return length
    return this.#open !== null && this.#open.used + length <= this.#size ? 0 : this.#size
  }

  /** A copy of `bytes`, which are a piece of what `piece` says. */
  place(bytes: Uint8Array, piece: Piece): Uint8Array {
    const growth = this.growthFor(bytes.length)
    if (growth === 0) return fill(this.#open!, bytes, piece)
    const slab = { bytes: new Uint8Array(growth), used: 0, pieces: [] }
    this.#bytes += growth
    this.#slabs.push(slab)
    if (growth === this.#size) this.#open = slab
    return fill(slab, bytes, piece)
  }

  /** The only piece of the oldest slab, which has just its length; null where pieces share that slab. */
  get onlyPieceOfOldest(): Piece | null {
    const { bytes, used, pieces } = this.#slabs[0]
    return pieces.length === 1 && used === bytes.length ? pieces[0] : null
  }

  /** Makes the oldest slab the newest. */
  renewOldest(): void {
    this.#slabs.push(this.#slabs.shift()!)
  }

  /**
   * Lets go of the oldest slab. @returns its size in bytes and what lay in it, in the order in which it came
   */
  dropOldest(): { size: number; pieces: readonly Piece[] } {
    const slab = this.#slabs.shift()!
    if (slab === this.#open) this.#open = null
    this.#bytes -= slab.bytes.length
    return { size: slab.bytes.length, pieces: slab.pieces }
  }
}

function fill<Piece>(slab: Slab<Piece>, bytes: Uint8Array, piece: Piece): Uint8Array {
  const copy = slab.bytes.subarray(slab.used, (slab.used += bytes.length))
  copy.set(bytes)
  slab.pieces.push(piece)
  return copy
}
