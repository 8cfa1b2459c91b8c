/**
 * One physical buoy in two networks: where the operator has put the networks in an order, the one that comes
 * first keeps the buoy and the other's is left out. A feed that has fallen silent does not push a living one
 * aside.
 */
import type { Catalog } from '../snapshot/catalog.ts'
import { type Manifest } from '../snapshot/manifest.ts'
import { decodePart } from '../snapshot/part.ts'
import { readMonth } from '../snapshot/months.ts'
import { loadPart } from '../snapshot/read.ts'
import { haversineKm } from '../sea/geo.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { DAY } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import { compareText } from '../system/compare-text.ts'
import type { Base, Previous } from './base.ts'
import { buoyKey, type Collector } from './collector.ts'
import type { Gathered } from './gather.ts'
import type { BuildOptions } from './options.ts'

/** By so much the preferred feed may be behind the other one. */
const SILENT_SECONDS = DAY

/** One degree of latitude, less than its true length. */
const KM_PER_DEGREE = 111

/** Months of the folder's snapshot that are searched for newest readings: an older feed is silent anyway. */
const MONTHS_BACK = 2

export interface SameBuoy {
  leftOut: BuoyRecord
  stays: BuoyRecord
  km: number
}

/**
 * Refuses an order of networks that names one which no source has: its buoys would silently stay twice. A
 * network of the folder may be missing today. While a source that was never read is silent, nobody knows what
 * its networks are, and the name is only reported.
 * @throws BuildError naming the networks that there are
 */
export function expectKnownNetworks(
  { prefer = [], report }: BuildOptions,
  { registry, states }: Pick<Base, 'registry' | 'states'>,
  { input, silent }: Pick<Gathered, 'input' | 'silent'>,
): void {
  const networks = [...input.networks().keys()]
  const known = new Set([...networks, ...registry.entries.map(({ source }) => source)])
  const unknown = prefer.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  const others = networks.toSorted(compareText).join(', ')
  const neverRead = [...silent.keys()].some(({ terms }) => !states?.some(({ name }) => name === terms?.name))
  const what = `"prefer" of the configuration names ${names}, but the networks of its sources are ${others}`
  if (neverRead) report.warn(`${what}; a source that was never read may have it`)
  else throw new BuildError(`${what}: write a network as its buoys have it, not the name of a source`)
}

/** The mentioned and the staying buoys without those that a preferred network has too. */
export async function withoutDuplicates<Staying extends BuoyRecord>(
  { out, prefer = [], sameWithinKm = 1, report }: BuildOptions,
  previous: Previous | null,
  input: Collector,
  staying: readonly Staying[],
): Promise<{ mentioned: BuoyRecord[]; staying: Staying[] }> {
  const mentioned = input.buoys()
  const pairs = pairsWithin(sameWithinKm, [...mentioned, ...staying], prefer)
  if (pairs.length === 0) return { mentioned, staying: [...staying] }
  const newest = input.newestReadings()
  // A network may mention a buoy today without a word of its waves.
  const before =
    previous === null
      ? new Map<string, number>()
      : await newestBefore(out, previous.manifest, previous.catalog)
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

/**
 * Pairs of physical buoys in two networks of `prefer` within `km` of each other. The buoy of the preferred
 * network stays; pairs of the most preferred networks come first, the nearest of them before the others.
 */
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

/**
 * Decides which of the pairs leave a buoy out, each buoy once. `newestOf` gives the time of a buoy's newest
 * reading, −1 where it has none.
 */
export function leaveOut(pairs: readonly SameBuoy[], newestOf: (buoy: BuoyRecord) => number): SameBuoy[] {
  const out = new Map<BuoyRecord, SameBuoy>()
  for (const pair of pairs) {
    const { leftOut, stays } = pair
    if (out.has(leftOut) || out.has(stays)) continue
    if (newestOf(stays) + SILENT_SECONDS >= newestOf(leftOut)) out.set(leftOut, pair)
  }
  return [...out.values()]
}

/** Time of the newest reading by buoy in the last months of a snapshot. */
async function newestBefore(
  out: string,
  { parts }: Manifest,
  { id, source, sources, identifiers, registry }: Catalog,
): Promise<Map<string, number>> {
  // A buoy that was left out of the snapshot has rows, too.
  const keys = new Map(registry().map((entry) => [entry.id, buoyKey(entry)]))
  id.forEach((buoy, i) =>
    keys.set(buoy, buoyKey({ source: sources[source[i]].name, identifier: identifiers[i] })),
  )
  const newest = new Map<string, number>()
  const last = parts.filter(({ kind }) => kind === 'readings').slice(-MONTHS_BACK)
  for (const entry of last) {
    const { bytes } = await loadPart(out, entry)
    const part = decodePart(bytes, entry.file)
    const { buoys, start, time } = readMonth(part, entry.month!, entry.file)
    buoys.forEach((buoy, i) => newest.set(keys.get(buoy) ?? '', time[start[i + 1] - 1]))
  }
  return newest
}
