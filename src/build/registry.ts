/**
 * The registry: all ids and slugs that were ever given in a folder. `registry.jsonl` lies beside the
 * snapshots and outlasts each of them. A catalogue knows only the ids of its own past; a snapshot that a
 * rollback went back from, or that `--keep` dropped, has given others.
 *
 *   ["SOURCE","IDENTIFIER",ID,"SLUG"]    one line an entry, under the head of `state-file.ts`
 *
 * Entries are added, never changed. The builder replaces the file as a whole, under its lock, before a
 * snapshot with new ids is kept or published; nobody has seen the ids of a build that is killed before that.
 * Where the file is lost or damaged, the catalogues of the kept snapshots say the same together, since each
 * was built upon all ids before it.
 */
import type { Lock } from '../system/lock.ts'
import { MAX_BUOY_ID, type RegistryEntry } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { readStateFile, writeStateFile } from './state-file.ts'

export const REGISTRY_FILE = 'registry.jsonl'

const FORMAT = { format: 'groundswell-registry', version: 1 } as const

/** Lists of entries, united. */
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
 * @throws SnapshotError naming the file, when it is not whole; BuildError when another version of this
 * program wrote it
 */
export function readRegistryFile(dir: string): RegistryEntry[] | null {
  const entries = readStateFile(dir, REGISTRY_FILE, FORMAT)
  return entries?.map(entryOf) ?? null
}

/**
 * Replaces a folder's file, unless it has the same entries already. @throws BuildError when it cannot be
 * written
 */
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
