/** Labels at the edge of the map, and below what lies over it. */
import type { Map as MapView } from 'maplibre-gl'

/** Milliseconds for which the places of what lies over the map are known; a sheet may move at any time. */
const KNOWN_MS = 250

/** Pixels of the map. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/**
 * From here on no label is cut at the edge of the map nor by what covers it: it is placed at another side of its
 * dot or not at all. MapLibre has no setting for that, so its test for room is made stricter.
 */
export function keepLabelsWhole(map: MapView, covers: () => Box[]): void {
  const index = map.style.placement.collisionIndex
  const rooms = Object.getPrototypeOf(index) as typeof index
  // oxlint-disable-next-line typescript/unbound-method -- it is applied to the index that it is called on
  const { placeCollisionBox } = rooms
  let [known, until]: [Box[], number] = [[], 0]
  const covered = (): Box[] => {
    if (performance.now() > until) [known, until] = [covers(), performance.now() + KNOWN_MS]
    return known
  }
  rooms.placeCollisionBox = function place(...given) {
    const placed = placeCollisionBox.apply(this, given)
    // What overlaps everything draws nothing: it keeps labels off the dots.
    if (!placed.placeable || given[1] === 'always') return placed
    // MapLibre's boxes begin beyond the edge, by as much as the grid is larger than the map.
    const edge = this.gridRightBoundary - this.screenRightBoundary
    const [left = 0, top = 0, right = 0, bottom = 0] = placed.box.map((pixels) => pixels - edge)
    const { width, height } = this.transform
    const isWhole =
      left >= 0 &&
      top >= 0 &&
      right <= width &&
      bottom <= height &&
      covered().every(
        (cover) => right <= cover.left || left >= cover.right || bottom <= cover.top || top >= cover.bottom,
      )
    return isWhole ? placed : { ...placed, placeable: false }
  }
}
