/** Labels at the edge of the map, and below what lies over it. */
import type { Map as MapView } from 'maplibre-gl'

/** Pixels of the page. */
type Box = Record<'left' | 'top' | 'right' | 'bottom', number>

/**
 * No label is cut by the map's edge or by elements over the map: it moves to another side of its dot or is
 * left out. MapLibre has no setting for that, so its test for room is made stricter.
 */
export function keepLabelsWhole(map: MapView, covers: () => readonly Box[]): void {
  const index = map.style.placement.collisionIndex
  const rooms = Object.getPrototypeOf(index) as typeof index
  // oxlint-disable-next-line typescript/unbound-method -- it is applied to the index that it is called on
  const { placeCollisionBox } = rooms
  // Measured once for all labels of a frame.
  let measured: readonly Box[] | null = null
  const measure = (): readonly Box[] => {
    queueMicrotask(() => (measured = null))
    return covers()
  }
  rooms.placeCollisionBox = function place(...given) {
    const placed = placeCollisionBox.apply(this, given)
    // Symbols that overlap everything draw nothing: they keep labels off the dots.
    if (!placed.placeable || given[1] === 'always') return placed
    // MapLibre's boxes begin beyond the edge, by as much as the grid is larger than the map.
    const edge = this.gridRightBoundary - this.screenRightBoundary
    const whole = map.getContainer().getBoundingClientRect()
    const [x, y] = [whole.left - edge, whole.top - edge]
    const [left = 0, top = 0, right = 0, bottom = 0] = placed.box
    const label = { left: left + x, top: top + y, right: right + x, bottom: bottom + y }
    const isWhole =
      label.left >= whole.left &&
      label.top >= whole.top &&
      label.right <= whole.right &&
      label.bottom <= whole.bottom &&
      (measured ??= measure()).every((cover) => !areOver(label, cover))
    return isWhole ? placed : { ...placed, placeable: false }
  }
}

const areOver = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
