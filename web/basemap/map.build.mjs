// The files of the map as the explorer's page names them.
import { readFileSync } from 'node:fs'
import { unpack } from 'msgpackr/unpack'
import { hashed } from '../site.build.mjs'

/** What `npm run basemap` has made. */
export const ofMap = (name) => readFileSync(new URL(name, import.meta.url))

/** The files of the map, and the names of the tiles of the coast, with `*` for the tile. */
export function mapFiles() {
  const tiles = unpack(ofMap('coast.msgpack'))
  // The tiles have one hash, so that the page needs one pattern for their names.
  const coast = hashed('coast-*.pbf', Buffer.concat(tiles.map(([, bytes]) => bytes)))
  const basemap = ofMap('basemap.pbf')
  return {
    coast,
    files: [
      [hashed('basemap.pbf', basemap), basemap],
      ...tiles.map(([tile, bytes]) => [coast.replace('*', tile), bytes]),
    ],
  }
}
