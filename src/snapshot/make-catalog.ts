/** Writes the catalogue part, apart from `catalog.ts` because names of countries take 60 ms to load. */
import { buildPoints } from '../index/near.ts'
import { buildBoxes } from '../index/boxes.ts'
import { buildWords } from '../index/search-columns.ts'
import { NO_COUNTRY, type Column } from '../sea/columns.ts'
import type { SourceInfo, SpotRecord } from '../sea/records.ts'
import { countryName } from '../sea/territory.ts'
import { BuildError } from '../system/build-error.ts'
import { compareText } from '../system/text.ts'
import type { CataloguedBuoy, RegistryEntry } from './catalog.ts'
import { pack, type Part } from './snapshot-format.ts'

/** Spots keep the ids of their source, in 32 bits. */
const MAX_SPOT_ID = 0xffff_ffff

/** Other names of well-known networks, beyond case, accents, blanks and hyphens. */
const USUAL_NAMES: { readonly [name: string]: readonly string[] } = {
  NDBC: ['NOAA/NDBC', 'NOAA', 'National Data Buoy Center'],
  Candhis: ['Cerema', 'Candhis/Cerema'],
  'Copernicus Marine': ['CMEMS', 'Copernicus'],
  'Satellite altimetry': ['Altimetry'],
}

/** `buoys` ascend by id. @throws BuildError when a spot's id is impossible, or two spots have one id */
export function catalogPart(
  sources: readonly SourceInfo[],
  buoys: readonly CataloguedBuoy[],
  registry: readonly RegistryEntry[],
  spots: readonly SpotRecord[],
): Part {
  const orderedSpots = spotsInOrder(spots)
  const orderedSources = [...sources].sort((a, b) => compareText(a.name, b.name))
  const codes = [...new Set(buoys.map(({ country }) => country))]
    .filter((code) => code !== '')
    .sort(compareText)
  const sourceIndex = new Map(orderedSources.map(({ name }, i) => [name, i]))
  const countryIndex = new Map(codes.map((code, i) => [code, i]))
  const lat = Float64Array.from(buoys, (buoy) => buoy.lat)
  const lng = Float64Array.from(buoys, (buoy) => buoy.lng)
  const names = buoys.map(({ name }) => name)
  const slugs = buoys.map(({ slug }) => slug)
  const identifiers = buoys.map(({ identifier }) => identifier)
  const words = buildWords({ names, slugs, identifiers })
  return {
    kind: 'catalog',
    meta: {
      sources: orderedSources.map(({ name, label, aliases = [], network, credit, licence }) => ({
        name,
        label: label ?? null,
        aliases: [...new Set([...aliases, ...(USUAL_NAMES[name] ?? [])])],
        network,
        credit: credit ?? null,
        licence: licence ?? null,
      })),
      countries: codes.map((code) => ({ code, name: countryName(code) ?? code })),
      names,
      slugs,
      identifiers,
      timezones: buoys.map(({ timezone }) => timezone),
      registry: pack(registry.map(({ source, identifier, id, slug }) => [source, identifier, id, slug])),
      spots: orderedSpots.map(({ name }) => name),
    },
    columns: new Map<string, Column>([
      ['id', Uint32Array.from(buoys, ({ id }) => id)],
      ['lat', lat],
      ['lng', lng],
      ['source', Uint16Array.from(buoys, ({ source }) => sourceIndex.get(source)!)],
      ['country', Uint16Array.from(buoys, ({ country }) => countryIndex.get(country) ?? NO_COUNTRY)],
      ['virtual', Uint8Array.from(buoys, ({ virtual }) => Number(virtual ?? false))],
      ['spot_id', Uint32Array.from(orderedSpots, ({ id }) => id)],
      ['spot_lat', Float64Array.from(orderedSpots, (spot) => spot.lat)],
      ['spot_lng', Float64Array.from(orderedSpots, (spot) => spot.lng)],
      ['points', buildPoints(lat, lng)],
      ['boxes', buildBoxes(lat, lng)],
      ['words_text', words.text],
      ['words_owner', words.owner],
      ['words_place', words.flags],
      ['words_suffixes', words.suffixes],
      ['words_rank', words.rank],
    ]),
  }
}

/** Ascending by id. @throws BuildError when an id is impossible, or two spots have one id */
export function spotsInOrder(spots: readonly SpotRecord[]): SpotRecord[] {
  const ordered = [...spots].sort((a, b) => a.id - b.id)
  for (let i = 0; i < ordered.length; i++) {
    const { id } = ordered[i]
    if (!Number.isInteger(id) || id < 1 || id > MAX_SPOT_ID) {
      throw new BuildError(`a spot's id is not a whole number from 1 to ${MAX_SPOT_ID}`)
    }
    if (i > 0 && ordered[i - 1].id === id) throw new BuildError(`two spots have the id ${id}`)
  }
  return ordered
}
