/** Points in a box of the globe, from an R-tree (Flatbush). */
import Flatbush from 'flatbush'
import { boundsPieces, type Bounds } from '../sea/geo.ts'

/** Without points there are no bytes: Flatbush refuses an empty set. */
export function buildBoxes(lat: Float64Array, lng: Float64Array): Uint8Array {
  if (lat.length === 0) return new Uint8Array(0)
  const tree = new Flatbush(lat.length)
  for (let i = 0; i < lat.length; i++) tree.add(lng[i], lat[i])
  tree.finish()
  return new Uint8Array(tree.data as ArrayBuffer)
}

/** Returns false: the tree is to collect nothing. */
type Visit = (ordinal: number) => false

export class Boxes {
  readonly #tree: Flatbush | null
  /** A bit for each ordinal found: reading them in order is faster than sorting. */
  readonly #bits: Uint32Array
  readonly #mark: Visit

  /** `bytes` from `buildBoxes`, at a multiple of 8 of their buffer: the tree is a view on them. */
  constructor(bytes: Uint8Array) {
    const tree = bytes.length === 0 ? null : Flatbush.from(bytes.buffer, bytes.byteOffset)
    const bits = new Uint32Array(tree === null ? 0 : Math.ceil(tree.numItems / 32))
    this.#tree = tree
    this.#bits = bits
    this.#mark = (ordinal) => {
      bits[ordinal >>> 5] |= 1 << (ordinal & 31)
      return false
    }
  }

  /** Visits each ordinal in `box`, its edges included, in no order; it may cross the antimeridian. */
  each(box: Bounds, visit: Visit): void {
    if (this.#tree === null) return
    for (const { south, west, north, east } of boundsPieces(box)) {
      this.#tree.search(west, south, east, north, visit)
    }
  }

  /** Ordinals that `accept` takes in `box`, ascending. */
  within(box: Bounds, accept: (ordinal: number) => boolean = anyPoint): number[] {
    const found: number[] = []
    this.each(box, this.#mark)
    const bits = this.#bits
    for (let i = 0; i < bits.length; i++) {
      for (let rest = bits[i]; rest !== 0; rest &= rest - 1) {
        const ordinal = i * 32 + 31 - Math.clz32(rest & -rest)
        if (accept(ordinal)) found.push(ordinal)
      }
      bits[i] = 0
    }
    return found
  }
}

const anyPoint = (): boolean => true
