/**
 * Which ids and slugs were ever given in a folder: `registry.jsonl`, beside the snapshots and outlasting each
 * of them. A catalogue knows the ids of its own past only; one that a rollback went back from, or that
 * `--keep` let go, has given others.
 *
 *   ["SOURCE","IDENTIFIER",ID,"SLUG"]    one line an entry, under the head of `state.ts`
 *
 * Entries are added, never changed, and the file is replaced as a whole, by the builder under its lock,
 * before a snapshot with new ids is kept or announced: the ids of a build that was killed before that nobody
 * has seen. Where the file is lost or damaged, the kept snapshots' catalogues say the same together, since
 * each was built upon all that was given before it.
 */
import type { Lock } from '../system/lock.ts'
import { MAX_BUOY_ID, type RegistryEntry } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { readState, writeState } from './state.ts'

export const REGISTRY_FILE = 'registry.jsonl'

const FORMAT = { format: 'groundswell-registry', version: 1 } as const

/** What lists of entries say together. */
export interface Registry {
  /** Of each (source, identifier) the one that holds, by id. */
  entries: RegistryEntry[]
  /** Entries that contradict one of them: their ids and slugs are given to nobody any more. */
  former: RegistryEntry[]
}

/** Unites lists of entries; where they contradict each other the earlier one holds. */
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
 * What a folder's file says, in the order in which it holds; null where there is none.
 * @throws SnapshotError naming the file, when it is not whole; BuildError when another version of this
 * program wrote it
 */
export function readRegistryFile(dir: string): RegistryEntry[] | null {
  const entries = readState(dir, REGISTRY_FILE, FORMAT)
  return entries?.map(entryOf) ?? null
}

/** Replaces a folder's file, unless it says the same already. @throws BuildError when it cannot be written */
export function writeRegistryFile(dir: string, { entries, former }: Registry, lock: Lock): void {
  const lines = [...entries, ...former].map(({ source, identifier, id, slug }) => [
    source,
    identifier,
    id,
    slug,
  ])
  writeState(dir, REGISTRY_FILE, FORMAT, lines, lock)
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
