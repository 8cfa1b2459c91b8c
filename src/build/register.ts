/**
 * Gives every buoy its id and slug by the registry. Once given, they are never given to another buoy
 * (decisions, operation 2).
 */
import type { BuoyRecord } from '../sea/records.ts'
import { MAX_BUOY_ID, type RegistryEntry } from '../snapshot/catalog.ts'
import { compareText } from '../system/compare-text.ts'
import { BuildError } from '../system/build-error.ts'

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
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (slug === '') return 'buoy'
  return /^\d+$/.test(slug) ? `buoy-${slug}` : slug
}

/**
 * Gives every buoy its entry: the registry's, or a new one whose id and slug neither the registry nor a
 * `former` entry of another buoy has. Physical buoys come first, then the order is by source and identifier,
 * so that the same input always gets the same ids.
 */
export function register(
  buoys: readonly BuoyRecord[],
  registry: readonly RegistryEntry[],
  former: readonly RegistryEntry[] = [],
): { entries: RegistryEntry[]; of: Map<BuoyRecord, RegistryEntry> } {
  const key = (source: string, identifier: string): string => JSON.stringify([source, identifier])
  const known = new Map(registry.map((entry) => [key(entry.source, entry.identifier), entry]))
  const taken = [...registry, ...former]
  const slugs = new Set([...taken.map((entry) => entry.slug), ...RESERVED_SLUGS])
  const held = new Set(registry.map((entry) => entry.slug))
  // A buoy that lost its id to another one may still have its slug.
  const ownSlugs = new Map(
    former.flatMap(({ source, identifier, slug }) =>
      held.has(slug) ? [] : [[key(source, identifier), slug]],
    ),
  )
  let nextId = taken.reduce((highest, { id }) => Math.max(highest, id), 0) + 1
  const of = new Map<BuoyRecord, RegistryEntry>()
  const order = [...buoys].sort(
    (a, b) =>
      Number(a.virtual ?? false) - Number(b.virtual ?? false) ||
      compareText(a.source, b.source) ||
      compareText(a.identifier, b.identifier),
  )
  for (const buoy of order) {
    let entry = known.get(key(buoy.source, buoy.identifier))
    if (entry === undefined) {
      if (nextId > MAX_BUOY_ID)
        throw new BuildError(`more than ${MAX_BUOY_ID} buoys were registered in this folder`)
      const own = ownSlugs.get(key(buoy.source, buoy.identifier))
      const slug = own === undefined || held.has(own) ? freeSlug(slugOf(buoy.name), slugs) : own
      slugs.add(slug)
      held.add(slug)
      entry = { source: buoy.source, identifier: buoy.identifier, id: nextId++, slug }
      known.set(key(buoy.source, buoy.identifier), entry)
    }
    of.set(buoy, entry)
  }
  return { entries: [...known.values()].sort((a, b) => a.id - b.id), of }
}

function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug
  for (let n = 2; ; n++) if (!taken.has(`${slug}-${n}`)) return `${slug}-${n}`
}
