/**
 * The catalogue part: sources, countries, buoys with their ids and slugs, spots, and the indexes over them.
 *
 * The registry holds every (source, identifier) that ever had an id in this folder, also without a buoy
 * today: an id or slug is never given to another buoy.
 */
import { WORD_COLUMNS, type WordColumns } from '../index/name-search.ts'
import { lowerBound } from '../index/bisect.ts'
import { NO_COUNTRY, type ColumnsOf } from '../sea/columns.ts'
import type { BuoyRecord, Network, SourceInfo, SpotRecord } from '../sea/records.ts'
import { columnsOf, expectLength } from './part-columns.ts'
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

const COLUMNS = {
  id: Uint32Array,
  lat: Float64Array,
  lng: Float64Array,
  source: Uint16Array,
  country: Uint16Array,
  virtual: Uint8Array,
  /** The stored indexes, as `buildPoints`, `buildBoxes` and `buildWords` gave them. */
  points: Uint8Array,
  boxes: Uint8Array,
} as const
const SPOT_COLUMNS = { spot_id: Uint32Array, spot_lat: Float64Array, spot_lng: Float64Array } as const

/** The catalogue as read back: columns stay typed arrays, meta becomes typed lists. */
export interface Catalog extends ColumnsOf<typeof COLUMNS> {
  sources: CatalogSource[]
  countries: { code: string; name: string }[]
  names: string[]
  slugs: string[]
  identifiers: string[]
  timezones: string[]
  /** Every buoy that ever was in the folder. Only builders ask: unpacking takes as long as the rest. */
  registry: () => RegistryEntry[]
  spots: SpotRecord[]
  words: WordColumns
}

const NETWORKS: readonly Network[] = ['national', 'coastal', 'satellite']

/** @throws SnapshotError when anything in the part is not what `catalogPart` writes */
export function readCatalog(part: Part, file: string): Catalog {
  const { meta } = part
  const words = columnsOf(part, WORD_COLUMNS, file)
  const textsOf = (name: string): string[] => texts(meta[name], `${file}: ${name}`)
  return {
    sources: list(meta.sources, `${file}: sources`).map((entry) => {
      const { name, label, aliases, network, credit, licence } = record(entry, `${file}: source`)
      const known = NETWORKS.find((candidate) => candidate === network)
      if (known === undefined) throw new SnapshotError(`${file}: a source is malformed`)
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
      return { code: text(code, `${file}: countries`), name: text(name, `${file}: countries`) }
    }),
    names: textsOf('names'),
    slugs: textsOf('slugs'),
    identifiers: textsOf('identifiers'),
    timezones: textsOf('timezones'),
    registry: () => readRegistry(meta.registry, `${file}: registry`),
    ...columnsOf(part, COLUMNS, file),
    spots: readSpots(part, textsOf('spots'), file),
    words: {
      text: words.words_text,
      owner: words.words_owner,
      flags: words.words_place,
      suffixes: words.words_suffixes,
      rank: words.words_rank,
    },
  }
}

function readRegistry(registry: unknown, what: string): RegistryEntry[] {
  return list(unnested(registry, what), what).map((entry) => {
    const [source, identifier, id, slug] = list(entry, what)
    if (typeof id !== 'number') throw new SnapshotError(`${what}: an entry has no id`)
    return { source: text(source, what), identifier: text(identifier, what), id, slug: text(slug, what) }
  })
}

function readSpots(part: Part, names: readonly string[], file: string): SpotRecord[] {
  const { spot_id: ids, spot_lat: lat, spot_lng: lng } = columnsOf(part, SPOT_COLUMNS, file)
  expectLength(names.length, [ids, lat, lng], file)
  return names.map((name, i) => ({ id: ids[i], name, lat: lat[i], lng: lng[i] }))
}

/** The position of an id's buoy in the columns, or −1. */
export function ordinalOf({ id }: Catalog, wanted: number): number {
  const at = lowerBound(id, wanted)
  return id[at] === wanted ? at : -1
}
