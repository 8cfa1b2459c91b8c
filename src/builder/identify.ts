/** Step 2 of a build: which buoys the snapshot has, with id, slug, country and time zone. */
import { countryAt, countryName, timezoneAt } from '../sea/territory.ts'
import { isZone } from '../sea/zones.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { type CataloguedBuoy, MAX_BUOY_ID, type RegistryEntry, cataloguedBuoys } from '../snapshot/catalog.ts'
import type { Base, BuildOptions, Previous } from './build-base.ts'
import { type Collector, type Contribution, buoyKey } from './collector.ts'
import type { Gathered } from './gather.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { readMonth } from '../snapshot/part-kinds.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import { haversineKm } from '../sea/geo.ts'
import { DAY } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import { takeDoubts } from '../sources/reading/source-files.ts'
import { compareText } from '../system/text.ts'

export interface Identified {
  buoys: readonly CataloguedBuoy[]
  mentioned: ReadonlyMap<number, BuoyRecord>
  /** Buoys that stay without being mentioned, with the sources for which they stay. */
  staying: ReadonlyMap<CataloguedBuoy, readonly Contribution[]>
  registry: readonly RegistryEntry[]
  /** Ids of the mentioned buoys by `buoyKey`. */
  ids: ReadonlyMap<string, number>
  /** The id of a handle's buoy; 0 for a buoy that is left out. */
  idOf: (handle: number) => number
}

export async function identify(options: BuildOptions, base: Base, gathered: Gathered): Promise<Identified> {
  const { previous, registry } = base
  const { input } = gathered
  warnOfUnknownNetworks(options, base, input)
  const known = previous === null ? [] : cataloguedBuoys(previous.catalog)
  const staying = stayingBuoys(known, input)
  doubtSilent(staying, options.report)
  const distinct = await withoutDuplicates(options, previous, input, [...staying.keys()])
  const { entries, of } = register(distinct.mentioned, registry)
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
 * Buoys of the snapshot before that stay without a row, each with the sources for which it stays: those that
 * list it, and those of its network that mention only who reported lately.
 */
function stayingBuoys(
  known: readonly CataloguedBuoy[],
  input: Collector,
): Map<CataloguedBuoy, Contribution[]> {
  const read = input.contributions().filter(({ carriedOver }) => carriedOver === null)
  const mentioned = new Set(input.buoys().map((buoy) => buoyKey(buoy)))
  const staying = new Map<CataloguedBuoy, Contribution[]>()
  for (const buoy of known) {
    const key = buoyKey(buoy)
    if (mentioned.has(key)) continue
    const stayingFor = read.filter(({ source, networks, listed }) => {
      const isTheirs = listed.has(key) || (source.complete === false && networks.has(buoy.source))
      return isTheirs && (source.terms?.accepts(buoy) ?? true)
    })
    if (stayingFor.length > 0) staying.set(buoy, stayingFor)
  }
  return staying
}

/** Reports buoys that a source with all its buoys does not have. */
function doubtSilent(staying: Identified['staying'], report: BuildOptions['report']): void {
  for (const [{ identifier }, contributions] of staying) {
    const listing = contributions.find(({ source }) => source.complete !== false)
    if (listing === undefined) continue
    report.begin(listing.source.terms?.name ?? null)
    takeDoubts(report)('silent', identifier)
  }
  report.begin(null)
}

/**
 * Fills in country and time zone where the source names none or a wrong one; `previous` gives them for the
 * same buoy at the same position.
 */
export function locate(buoy: BuoyRecord, entry: RegistryEntry, previous?: CataloguedBuoy): CataloguedBuoy {
  const there = previous?.lat === buoy.lat && previous.lng === buoy.lng ? previous : undefined
  const { country = '', timezone = '' } = buoy
  return {
    ...buoy,
    id: entry.id,
    slug: entry.slug,
    country:
      countryName(country) === null ? (there?.country ?? countryAt(buoy.lat, buoy.lng) ?? '') : country,
    timezone: isZone(timezone) ? timezone : (there?.timezone ?? timezoneAt(buoy.lat, buoy.lng)),
  }
}

/** Kilometres in a degree of latitude, rounded down. */
const KM_PER_DEGREE = 111

/** Months of the folder's snapshot that are searched for newest readings: an older feed is stale anyway. */
const MONTHS_BACK = 2

interface SameBuoy {
  leftOut: BuoyRecord
  stays: BuoyRecord
  km: number
}

/** Warns of an order of networks with a name that neither sources nor folder have: its buoys stay twice. */
function warnOfUnknownNetworks(
  { prefer = [], report }: BuildOptions,
  { registry }: Pick<Base, 'registry'>,
  input: Collector,
): void {
  const networks = [...input.networks().keys()]
  const known = new Set([...networks, ...registry.map(({ source }) => source)])
  const unknown = prefer.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  const others = networks.toSorted(compareText).join(', ')
  report.warn(
    `"prefer" of the configuration names ${names}, but the networks of its sources are ${others}: write a network as its buoys have it, not the name of a source`,
  )
}

async function withoutDuplicates<Staying extends BuoyRecord>(
  { out, prefer = [], sameWithinKm = 1, report }: BuildOptions,
  previous: Previous | null,
  input: Collector,
  staying: readonly Staying[],
): Promise<{ mentioned: BuoyRecord[]; staying: Staying[] }> {
  const mentioned = input.buoys()
  const pairs = pairsWithin(sameWithinKm, [...mentioned, ...staying], prefer)
  if (pairs.length === 0) return { mentioned, staying: [...staying] }
  const newest = input.newestReadings()
  // A network may mention a buoy today without any reading of it.
  const before =
    previous === null
      ? new Map<string, number>()
      : await newestIn(out, previous.manifest.parts, previous.catalog.registry())
  const newestOf = (buoy: BuoyRecord): number =>
    Math.max(newest.get(buoyKey(buoy)) ?? -1, before.get(buoyKey(buoy)) ?? -1)
  const leftOut = new Set<BuoyRecord>()
  for (const pair of leaveOut(pairs, newestOf)) {
    leftOut.add(pair.leftOut)
    report.duplicate(pair.leftOut, pair.stays, pair.km)
  }
  return {
    mentioned: mentioned.filter((buoy) => !leftOut.has(buoy)),
    staying: staying.filter((buoy) => !leftOut.has(buoy)),
  }
}

/** Physical buoys of two networks of `prefer` within `km`, in pairs: most preferred first, then nearest. */
export function pairsWithin(km: number, buoys: readonly BuoyRecord[], prefer: readonly string[]): SameBuoy[] {
  const rank = new Map(prefer.map((name, i) => [name, i]))
  const ranked = buoys.filter((buoy) => buoy.virtual !== true && rank.has(buoy.source))
  const pairs: SameBuoy[] = []
  for (const stays of ranked) {
    for (const leftOut of ranked) {
      if (rank.get(stays.source)! >= rank.get(leftOut.source)!) continue
      if (Math.abs(stays.lat - leftOut.lat) * KM_PER_DEGREE > km) continue
      const apart = haversineKm(stays.lat, stays.lng, leftOut.lat, leftOut.lng)
      if (apart <= km) pairs.push({ leftOut, stays, km: apart })
    }
  }
  return pairs.sort((a, b) => rank.get(a.stays.source)! - rank.get(b.stays.source)! || a.km - b.km)
}

/** Which pairs leave a buoy out, each buoy once. `newestOf` is the time of its newest reading, or −1. */
export function leaveOut(pairs: readonly SameBuoy[], newestOf: (buoy: BuoyRecord) => number): SameBuoy[] {
  const out = new Map<BuoyRecord, SameBuoy>()
  for (const pair of pairs) {
    const { leftOut, stays } = pair
    if (out.has(leftOut) || out.has(stays)) continue
    // The preferred feed may be a day behind the other one.
    if (newestOf(stays) + DAY >= newestOf(leftOut)) out.set(leftOut, pair)
  }
  return [...out.values()]
}

/** The times of the newest readings in the last months of a snapshot, by `buoyKey`. */
export async function newestIn(
  out: string,
  parts: Manifest['parts'],
  registry: readonly RegistryEntry[],
): Promise<Map<string, number>> {
  // A buoy that was left out of the snapshot has rows, too.
  const keys = new Map(registry.map((entry) => [entry.id, buoyKey(entry)]))
  const newest = new Map<string, number>()
  const last = parts.filter(({ kind }) => kind === 'readings').slice(-MONTHS_BACK)
  for (const entry of last) {
    const { buoys, start, time } = await readPart(out, entry, (part, file) =>
      readMonth(part, entry.month!, file),
    )
    buoys.forEach((buoy, i) => newest.set(keys.get(buoy) ?? '', time[start[i + 1] - 1]))
  }
  return newest
}

/** Slugs that would hide an operation (`/buoys/search`) or be hidden by it. */
const RESERVED_SLUGS = new Set([
  'map',
  'search',
  'nearest',
  'satellites',
  'last-readings',
  'satellite-passes',
])

/** Lower case, no accents, runs outside a–z and 0–9 to one hyphen, trimmed; digits alone would be an id. */
export function slugOf(name: string, identifier = ''): string {
  const slug = name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  // Of a name in another script the identifier is left.
  if (slug === '') return identifier === '' ? 'buoy' : slugOf(identifier)
  return /^\d+$/.test(slug) ? `buoy-${slug}` : slug
}

/**
 * Gives every buoy its entry, a known one or one with a new id and slug. Physical buoys come first, then the
 * order is by source and identifier, so the same input always gets the same ids.
 */
export function register(
  buoys: readonly BuoyRecord[],
  registry: readonly RegistryEntry[],
): { entries: RegistryEntry[]; of: Map<BuoyRecord, RegistryEntry> } {
  const known = new Map(registry.map((entry) => [buoyKey(entry), entry]))
  const slugs = new Set([...registry.map((entry) => entry.slug), ...RESERVED_SLUGS])
  let nextId = registry.reduce((highest, { id }) => Math.max(highest, id), 0) + 1
  const of = new Map<BuoyRecord, RegistryEntry>()
  const order = [...buoys].sort(
    (a, b) =>
      Number(a.virtual ?? false) - Number(b.virtual ?? false) ||
      compareText(a.source, b.source) ||
      compareText(a.identifier, b.identifier),
  )
  for (const buoy of order) {
    const key = buoyKey(buoy)
    let entry = known.get(key)
    if (entry === undefined) {
      if (nextId > MAX_BUOY_ID)
        throw new BuildError(`more than ${MAX_BUOY_ID} buoys were registered in this folder`)
      const slug = freeSlug(slugOf(buoy.name, buoy.identifier), slugs)
      slugs.add(slug)
      entry = { source: buoy.source, identifier: buoy.identifier, id: nextId++, slug }
      known.set(key, entry)
    }
    of.set(buoy, entry)
  }
  return { entries: [...known.values()].sort((a, b) => a.id - b.id), of }
}

function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug
  for (let n = 2; ; n++) {
    if (!taken.has(`${slug}-${n}`)) return `${slug}-${n}`
  }
}
