/**
 * The catalogue part: sources, countries, buoys with their ids and slugs, spots, and the indexes over them.
 *
 * The registry holds every (source, identifier) that ever had an id in this folder, also without a buoy
 * today: an id or slug is never given to another buoy.
 */
import { readWords, type WordColumns } from '../index/suffixes.ts'
import { lowerBound } from '../index/bisect.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import type { BuoyRecord, Network, SourceInfo, SpotRecord } from '../sea/records.ts'
import { column } from './part-columns.ts'
import {
  list,
  record,
  SnapshotError,
  text,
  textOrNull,
  texts,
  unnested,
  type Part,
} from './snapshot-format.ts'

/** An id × 10^10 + epoch seconds, the id of a reading, must stay below 2^53. */
export const MAX_BUOY_ID = 900_000

export interface RegistryEntry {
  source: string
  identifier: string
  id: number
  slug: string
}

export interface CataloguedBuoy extends BuoyRecord {
  id: number
  slug: string
  country: string
  timezone: string
}

interface CatalogSource {
  name: string
  /** Shown in place of the name; null for the name itself. */
  label: string | null
  /** Other names by which filters find the source. */
  aliases: string[]
  network: Network
  credit: string | null
  licence: string | null
}

/** The network as it entered the catalogue. */
export function infoOf({ name, label, aliases, network, credit, licence }: CatalogSource): SourceInfo {
  return {
    name,
    aliases,
    network,
    ...(label !== null && { label }),
    ...(credit !== null && { credit }),
    ...(licence !== null && { licence }),
  }
}

/** The buoys as they entered the catalogue. */
export function cataloguedBuoys(catalog: Catalog): CataloguedBuoy[] {
  return Array.from(catalog.id, (id, i) => ({
    id,
    slug: catalog.slugs[i],
    source: catalog.sources[catalog.source[i]].name,
    identifier: catalog.identifiers[i],
    name: catalog.names[i],
    lat: catalog.lat[i],
    lng: catalog.lng[i],
    country: catalog.country[i] === NO_COUNTRY ? '' : catalog.countries[catalog.country[i]].code,
    timezone: catalog.timezones[i],
    virtual: catalog.virtual[i] === 1,
  }))
}

/** The catalogue as read back: columns stay typed arrays, meta becomes typed lists. */
export interface Catalog {
  sources: CatalogSource[]
  countries: { code: string; name: string }[]
  names: string[]
  slugs: string[]
  identifiers: string[]
  timezones: string[]
  /** Every buoy that ever was in the folder. Only builders ask: unpacking takes as long as the rest. */
  registry: () => RegistryEntry[]
  id: Uint32Array
  lat: Float64Array
  lng: Float64Array
  source: Uint16Array
  country: Uint16Array
  virtual: Uint8Array
  spots: SpotRecord[]
  /** The stored indexes, as `buildPoints`, `buildBoxes` and `buildWords` gave them. */
  points: Uint8Array
  boxes: Uint8Array
  words: WordColumns
}

const NETWORKS: readonly Network[] = ['national', 'coastal', 'satellite']

/** @throws SnapshotError when anything in the part is not what `catalogPart` writes */
export function readCatalog(part: Part, file: string): Catalog {
  const { meta } = part
  return {
    sources: list(meta.sources, `${file}: sources`).map((entry) => {
      // Older folders have neither labels nor aliases.
      const { name, label = null, aliases = [], network, credit, licence } = record(entry, `${file}: source`)
      const known = NETWORKS.find((candidate) => candidate === network)
      if (typeof name !== 'string' || known === undefined)
        throw new SnapshotError(`${file}: a source is malformed`)
      return {
        name: text(name, `${file}: sources`),
        label: textOrNull(label, `${file}: sources`),
        aliases: texts(aliases, `${file}: aliases`),
        network: known,
        credit: textOrNull(credit, `${file}: sources`),
        licence: textOrNull(licence, `${file}: sources`),
      }
    }),
    countries: list(meta.countries, `${file}: countries`).map((entry) => {
      const { code, name } = record(entry, `${file}: country`)
      if (typeof code !== 'string' || typeof name !== 'string') {
        throw new SnapshotError(`${file}: a country is malformed`)
      }
      return { code, name: text(name, `${file}: countries`) }
    }),
    names: texts(meta.names, `${file}: names`),
    slugs: texts(meta.slugs, `${file}: slugs`),
    identifiers: texts(meta.identifiers, `${file}: identifiers`),
    timezones: texts(meta.timezones, `${file}: timezones`),
    registry: () => readRegistry(meta.registry, file),
    id: column(part, 'id', Uint32Array, file),
    lat: column(part, 'lat', Float64Array, file),
    lng: column(part, 'lng', Float64Array, file),
    source: column(part, 'source', Uint16Array, file),
    country: column(part, 'country', Uint16Array, file),
    virtual: column(part, 'virtual', Uint8Array, file),
    spots: readSpots(part, file),
    points: column(part, 'points', Uint8Array, file),
    boxes: column(part, 'boxes', Uint8Array, file),
    words: readWords((name, type) => column(part, name, type, file)),
  }
}

function readRegistry(registry: unknown, file: string): RegistryEntry[] {
  const what = `${file}: registry`
  // Older folders have the registry as a plain list.
  const entries = Array.isArray(registry) ? registry : list(unnested(registry, what), what)
  return entries.map((entry: unknown) => {
    const [source, identifier, id, slug] = list(entry, `${file}: registry entry`)
    if (
      typeof source !== 'string' ||
      typeof identifier !== 'string' ||
      typeof id !== 'number' ||
      typeof slug !== 'string'
    ) {
      throw new SnapshotError(`${file}: a registry entry is malformed`)
    }
    return { source, identifier, id, slug }
  })
}

function readSpots(part: Part, file: string): SpotRecord[] {
  const names = texts(part.meta.spots, `${file}: spots`)
  const ids = column(part, 'spot_id', Uint32Array, file)
  const lat = column(part, 'spot_lat', Float64Array, file)
  const lng = column(part, 'spot_lng', Float64Array, file)
  if ([ids, lat, lng].some(({ length }) => length !== names.length)) {
    throw new SnapshotError(`${file}: the columns of the spots differ in length`)
  }
  return names.map((name, i) => ({ id: ids[i], name, lat: lat[i], lng: lng[i] }))
}

/** Where the buoy of an id stands in the columns, or −1. */
export function ordinalOf({ id }: Catalog, wanted: number): number {
  const at = lowerBound(id, wanted)
  return id[at] === wanted ? at : -1
}
