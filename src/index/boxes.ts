/** Points in a box of the globe: an R-tree (Flatbush) over the buoys' positions. Numbers in, ordinals out. */
import Flatbush from 'flatbush'
import { boundsPieces, type Bounds } from '../geo.ts'

/** Flatbush refuses an empty set, which is then no bytes at all. */
export function buildBoxes(lat: Float64Array, lng: Float64Array): Uint8Array {
  if (lat.length === 0) return new Uint8Array(0)
  const tree = new Flatbush(lat.length)
  for (let i = 0; i < lat.length; i++) tree.add(lng[i], lat[i])
  tree.finish()
  return new Uint8Array(tree.data as ArrayBuffer)
}

export class Boxes {
  readonly #tree: Flatbush | null

  /** `bytes` as `buildBoxes` gave them, at a multiple of 8 of their buffer: the tree is a view on them. */
  constructor(bytes: Uint8Array) {
    this.#tree = bytes.length === 0 ? null : Flatbush.from(bytes.buffer, bytes.byteOffset)
  }

  /** Ordinals inside `box`, borders included, ascending, each once. A box over the antimeridian is two boxes. */
  within(box: Bounds): number[] {
    const tree = this.#tree
    if (tree === null) return []
    const pieces = boundsPieces(box)
    // Pieces do not overlap except on ±180, where a point has one of the two signs: no ordinal comes twice.
    const found = pieces.flatMap(({ south, west, north, east }) => tree.search(west, south, east, north))
    return found.sort((a, b) => a - b)
  }
}
