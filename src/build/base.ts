/**
 * What a build goes upon: the folder's snapshot, what each source gave of it, and all ids that were ever
 * given in the folder.
 */
import { readCatalog, type Catalog, type RegistryEntry } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { type Manifest } from '../snapshot/manifest.ts'
import { decodePart } from '../snapshot/part.ts'
import { readHold, type Hold } from './hold.ts'
import { readAgreed } from './publishing/agreed.ts'
import { readGiven, type SourceState } from './given.ts'
import { listKept, type KeptSnapshot } from './kept.ts'
import { loadPart, readManifest } from '../snapshot/read.ts'
import { readRegistryFile, unite, type Registry } from './registry.ts'

/** A snapshot that another one is built upon. */
export interface Previous {
  manifest: Manifest
  catalog: Catalog
}

export interface Base {
  /** The folder's snapshot; null where it has none. */
  folder: Previous | null
  /** The same, or null for a build that takes no rows over. */
  previous: Previous | null
  /** What each source gave last; null where it is not known. */
  states: SourceState[] | null
  registry: Registry
  /** Not null: what is built is kept but not published. */
  hold: Hold | null
}

/**
 * Reads what the next build goes upon: the published snapshot, or the newest one that was built while a
 * rollback holds or while the store could not be reached, since what feeds of the latest rows gave then comes
 * only once. Run under the builder's
 * lock. `warn` takes what was lost and made good.
 * @throws SnapshotError when the folder has a snapshot that cannot be read
 */
export async function readBase(out: string, fresh: boolean, warn: (message: string) => void): Promise<Base> {
  const hold = readHold(out)
  const manifest = await baseManifest(out, hold)
  const entry = manifest?.parts.find(({ kind }) => kind === 'catalog')
  const catalog = manifest === null || entry === undefined ? null : await loadCatalog(out, entry)
  const folder = manifest === null || catalog === null ? null : { manifest, catalog }
  return {
    folder,
    previous: fresh ? null : folder,
    states: manifest === null ? null : statesOf(out, manifest.id, warn),
    registry: await registryOf(out, catalog, warn),
    hold,
  }
}

function statesOf(out: string, id: string, warn: (message: string) => void): SourceState[] | null {
  try {
    return readGiven(out, id)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    warn(`${error.message}: all that the snapshot has stays while a source cannot be read`)
    return null
  }
}

async function baseManifest(out: string, hold: Hold | null): Promise<Manifest | null> {
  const advice = `what was published comes back with: groundswell rollback ${out}`
  const published = await readManifest(out).catch((error: unknown) => {
    // Building on nothing would lose all rows that no source gives any more.
    throw error instanceof SnapshotError ? new SnapshotError(`${error.message}; ${advice}`) : error
  })
  const kept = listKept(out)
  // No manifest: it was lost, or the first build was killed before it published what it had kept.
  const lost = (): KeptSnapshot | undefined => kept.findLast(({ id }) => id === hold?.snapshot) ?? kept.at(-1)
  const other =
    kept.findLast(({ sequence }) => sequence > (hold?.after ?? readAgreed(out)?.after ?? Infinity)) ??
    (published === null ? lost() : undefined)
  if (other === undefined) return published
  if (other.manifest !== null) return other.manifest
  throw new SnapshotError(
    `${other.file}: is broken; remove it, or name another snapshot with: groundswell rollback ${out} --to ID`,
  )
}

async function loadCatalog(out: string, entry: Manifest['parts'][number]): Promise<Catalog> {
  const { bytes } = await loadPart(out, entry)
  return readCatalog(decodePart(bytes, entry.file), entry.file)
}

/** Ids of the base win over all others, since its rows stand under them. */
async function registryOf(
  out: string,
  catalog: Catalog | null,
  warn: (message: string) => void,
): Promise<Registry> {
  const remedy = 'ids are taken from the kept snapshots'
  let file: RegistryEntry[] | null = null
  try {
    file = readRegistryFile(out)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    warn(`${error.message}: ${remedy}`)
  }
  const kept = new Map<string, RegistryEntry[]>()
  for (const { manifest } of listKept(out).toReversed()) {
    const entry = manifest?.parts.find(({ kind }) => kind === 'catalog')
    if (entry === undefined || kept.has(entry.file)) continue
    try {
      kept.set(entry.file, (await loadCatalog(out, entry)).registry())
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      warn(
        `${error.message}: the ids that it gave are taken from ${file === null ? 'other snapshots' : 'the registry'}`,
      )
    }
  }
  const registry = unite([catalog?.registry() ?? [], file ?? [], ...kept.values()])
  for (const { source, identifier, id, slug } of registry.former) {
    const isNew = !(file ?? []).some(
      (entry) => entry.id === id && entry.slug === slug && entry.source === source,
    )
    if (isNew)
      warn(`${source} ${identifier} had the id ${id} in a kept snapshot, which is another buoy's now`)
  }
  return registry
}
