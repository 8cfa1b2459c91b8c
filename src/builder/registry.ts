/**
 * The registry of all ids and slugs ever given in a folder, `registry.jsonl` next to the snapshots. A
 * catalogue knows only its own past, without what a rollback or `--keep` dropped.
 *
 *   ["SOURCE","IDENTIFIER",ID,"SLUG"]    one line an entry, under the head of `source-state.ts`
 *
 * Entries are added, never changed. The file is replaced before a snapshot with new ids is kept, so nobody
 * sees ids of a build killed earlier. The catalogues of all kept snapshots together replace a lost file.
 */
import type { Lock } from '../system/lock.ts'
import { MAX_BUOY_ID, type RegistryEntry } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { readStateFile, writeStateFile } from './source-state.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { compareText } from '../system/text.ts'
import { BuildError } from '../system/build-error.ts'

export const REGISTRY_FILE = 'registry.jsonl'

const FORMAT = { format: 'groundswell-registry', version: 1 } as const

export interface Registry {
  /** The valid entry of each (source, identifier), by id. */
  entries: readonly RegistryEntry[]
  /** Entries that contradict a valid one: their ids and slugs are never given again. */
  former: readonly RegistryEntry[]
}

/** Unites lists of entries; where they contradict each other, the earlier one is valid. */
export function unite(lists: readonly (readonly RegistryEntry[])[]): Registry {
  const byKey = new Map<string, RegistryEntry>()
  const ids = new Set<number>()
  const slugs = new Set<string>()
  const former = new Map<string, RegistryEntry>()
  for (const entry of lists.flat()) {
    const key = JSON.stringify([entry.source, entry.identifier])
    const known = byKey.get(key)
    if (known?.id === entry.id && known.slug === entry.slug) continue
    if (known === undefined && !ids.has(entry.id) && !slugs.has(entry.slug)) byKey.set(key, entry)
    else former.set(JSON.stringify([key, entry.id, entry.slug]), entry)
    ids.add(entry.id)
    slugs.add(entry.slug)
  }
  const byId = (a: RegistryEntry, b: RegistryEntry): number => a.id - b.id
  return { entries: [...byKey.values()].sort(byId), former: [...former.values()].sort(byId) }
}

/**
 * The entries of a folder's file, those that win over others first; null where the file is missing.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
export function readRegistryFile(dir: string): RegistryEntry[] | null {
  const entries = readStateFile(dir, REGISTRY_FILE, FORMAT)
  return entries?.map(entryOf) ?? null
}

/** Replaces a folder's file, unless it is the same. @throws BuildError when it cannot be written */
export function writeRegistryFile(dir: string, { entries, former }: Registry, lock: Lock): void {
  const lines = [...entries, ...former].map(({ source, identifier, id, slug }) => [
    source,
    identifier,
    id,
    slug,
  ])
  writeStateFile(dir, REGISTRY_FILE, FORMAT, lines, lock)
}

function entryOf(value: unknown): RegistryEntry {
  const [source, identifier, id, slug] = (Array.isArray(value) ? value : []) as unknown[]
  if (
    typeof source !== 'string' ||
    typeof identifier !== 'string' ||
    typeof id !== 'number' ||
    !Number.isInteger(id) ||
    id < 1 ||
    id > MAX_BUOY_ID ||
    typeof slug !== 'string'
  ) {
    throw new SnapshotError(`${REGISTRY_FILE}: an entry is malformed`)
  }
  return { source, identifier, id, slug }
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
 * Gives every buoy its entry, a known one or one with a new id and slug. Physical buoys come first, then the
 * order is by source and identifier, so the same input always gets the same ids.
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
