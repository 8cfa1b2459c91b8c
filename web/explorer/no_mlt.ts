/**
 * Stands in for `@maplibre/mlt`: 13 KB of the first view for a format of tiles that hardly any server has.
 */
export const GEOMETRY_TYPE = {}

export function decodeTile(): never {
  throw new Error('Tiles in the format MLT are not supported: serve Mapbox vector tiles.')
}
