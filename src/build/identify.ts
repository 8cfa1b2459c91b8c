/**
 * Step 2 of a build: which buoys the snapshot has, and who each of them is: id and slug by the registry,
 * country and time zone by its source's word or its position.
 */
import { countryAt, countryName, timezoneAt } from '../sea/territory.ts'
import { isZone } from '../sea/zones.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { cataloguedBuoys, type CataloguedBuoy, type RegistryEntry } from '../snapshot/catalog.ts'
import type { Base } from './base.ts'
import { buoyKey, type Collector, type Contribution } from './collector.ts'
import { expectKnownNetworks, withoutDuplicates } from './duplicates.ts'
import type { Gathered } from './gather.ts'
import type { BuildOptions } from './options.ts'
import { register } from './register.ts'

export interface Identified {
  /** The buoys of the snapshot, ascending by id. */
  buoys: readonly CataloguedBuoy[]
  /** The mentioned ones among them as the sources give them, by id. */
  mentioned: ReadonlyMap<number, BuoyRecord>
  /** Buoys that stay without being mentioned, with the sources for which they stay. */
  staying: ReadonlyMap<CataloguedBuoy, readonly Contribution[]>
  /** Everything that now has an id in the folder, ascending by id. */
  registry: readonly RegistryEntry[]
  /** Ids of the mentioned buoys by `buoyKey`. */
  ids: ReadonlyMap<string, number>
  /** The id of a handle's buoy; 0 for a buoy that is left out. */
  idOf: (handle: number) => number
}

export async function identify(options: BuildOptions, base: Base, gathered: Gathered): Promise<Identified> {
  const { previous, registry } = base
  const { input } = gathered
  expectKnownNetworks(options, base, gathered)
  const known = previous === null ? [] : cataloguedBuoys(previous.catalog)
  const staying = stayingBuoys(known, input)
  const distinct = await withoutDuplicates(options, previous, input, [...staying.keys()])
  const { entries, of } = register(distinct.mentioned, registry.entries, registry.former)
  const knownById = new Map(known.map((buoy) => [buoy.id, buoy]))
  const located = Array.from(of, ([buoy, entry]) => locate(buoy, entry, knownById.get(entry.id)))
  const ids = new Map(Array.from(of, ([buoy, { id }]) => [buoyKey(buoy), id]))
  return {
    buoys: [...located, ...distinct.staying].sort((a, b) => a.id - b.id),
    mentioned: new Map(Array.from(of, ([buoy, { id }]) => [id, buoy])),
    staying,
    registry: entries,
    ids,
    idOf: (handle) => ids.get(input.keyOf(handle) ?? '') ?? 0,
  }
}

/**
 * Buoys of the folder that no source mentions and that stay: those in a network of a source that mentions
 * only who reported lately, with the sources for which they stay.
 */
function stayingBuoys(
  known: readonly CataloguedBuoy[],
  input: Collector,
): Map<CataloguedBuoy, Contribution[]> {
  const partial = input
    .contributions()
    .filter(({ source, carriedOver }) => source.complete === false && carriedOver === null)
  const mentioned = new Set(input.buoys().map((buoy) => buoyKey(buoy)))
  const staying = new Map<CataloguedBuoy, Contribution[]>()
  for (const buoy of known) {
    if (mentioned.has(buoyKey(buoy))) continue
    const stayingFor = partial.filter(
      ({ source, networks }) => networks.has(buoy.source) && (source.terms?.accepts(buoy) ?? true),
    )
    if (stayingFor.length > 0) staying.set(buoy, stayingFor)
  }
  return staying
}

/**
 * Fills in the country and the time zone that the source does not name, or names wrongly. What was found for
 * `previous`, the same buoy at the same position, is not looked for again.
 */
export function locate(buoy: BuoyRecord, entry: RegistryEntry, previous?: CataloguedBuoy): CataloguedBuoy {
  const hasMoved = previous === undefined || previous.lat !== buoy.lat || previous.lng !== buoy.lng
  const said = buoy.country ?? ''
  const findCountry = (): string => (hasMoved ? (countryAt(buoy.lat, buoy.lng) ?? '') : previous.country)
  const findTimezone = (): string => (hasMoved ? timezoneAt(buoy.lat, buoy.lng) : previous.timezone)
  return {
    ...buoy,
    id: entry.id,
    slug: entry.slug,
    country: countryName(said) === null ? findCountry() : said,
    timezone: buoy.timezone !== undefined && isZone(buoy.timezone) ? buoy.timezone : findTimezone(),
  }
}
