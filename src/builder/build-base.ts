/**
 * The order for a build, and its base: the folder's snapshot, what each source gave, and all ids. A
 * demo's snapshot is marked for good: measured data never take its rows over, nor is a demo built on
 * measured data.
 */
import type { Source } from '../sources/source.ts'
import type { Store } from '../snapshot/store/store.ts'
import type { BuildReport } from './build-report.ts'
import { type Catalog, type RegistryEntry, readCatalog } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { type Hold, type KeptSnapshot, listKept, readHold } from '../snapshot/retained.ts'
import { readPublished } from './publishing/publish-to-prefix.ts'
import { type SourceState, readRegistryFile, readStates, unite } from './source-state.ts'
import { readManifest, readPart } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'

/** If a larger share of the folder's data would be lost, the sources are broken. */
export const DEFAULT_ALLOWED_LOSS = 0.5

/** Days before a buoy's newest spectrum: what forecasts are compared with, and what NDBC itself serves. */
export const DEFAULT_SPECTRA_DAYS = 45

export interface BuildOptions {
  sources: Source[]
  out: string
  /** Epoch seconds; null: the newest reading in the input. */
  asOf: number | null
  /** The clock, epoch seconds; only made-up sources put it into a snapshot. */
  now: number
  report: BuildReport
  /** Takes only ids and slugs over from the folder's snapshot, not its rows. */
  fresh?: boolean
  /** Share (0…1) of the folder's data of any kind that may be missing from the new snapshot. */
  allowLoss?: number
  keep?: number
  /** Days before each buoy's newest spectrum of which its spectra are kept; Infinity keeps all. */
  spectraDays?: number
  /** Networks, most preferred first: a buoy within `sameWithinKm` of a preferred network's is left out. */
  prefer?: readonly string[]
  sameWithinKm?: number
  /** Publishes to a store first, and in the folder only what the store has accepted. */
  publishTo?: { store: Store; singleWriter: boolean } | null
  /** Folder that each snapshot is exported to as files, for databases. */
  exportTo?: string | null
  /** Epoch seconds; later readings come from a clock gone wrong. Absent: any time is possible. */
  latest?: number
}

export interface Previous {
  manifest: Manifest
  catalog: Catalog
}

export interface Base {
  /** The folder's snapshot; null where it has none. */
  folder: Previous | null
  /** The folder's snapshot, or null for a build that takes no rows over. */
  previous: Previous | null
  /** What each source gave last; null where it is not known. */
  states: SourceState[] | null
  registry: readonly RegistryEntry[]
  /** While a hold lasts, new snapshots are kept and not published. */
  hold: Hold | null
}

/**
 * Reads the base of the next build: the published snapshot, or the newest kept one while a rollback holds or
 * the store is out of reach, as feeds give a row only once. Run under the builder's lock; `warn` is told of
 * repaired losses. @throws SnapshotError when the folder has a snapshot that cannot be read
 */
export async function readBase(out: string, fresh: boolean, warn: (message: string) => void): Promise<Base> {
  const hold = readHold(out)
  const manifest = await baseManifest(out, hold)
  const entry = manifest?.parts.find(({ kind }) => kind === 'catalog')
  const catalog = manifest === null || entry === undefined ? null : await readPart(out, entry, readCatalog)
  const folder = manifest === null || catalog === null ? null : { manifest, catalog }
  return {
    folder,
    previous: fresh ? null : folder,
    states:
      manifest &&
      (await orWarn(() => readStates(out, manifest.id), 'this build has to read all sources', warn)),
    registry: await registryOf(out, catalog, warn),
    hold,
  }
}

async function baseManifest(out: string, hold: Hold | null): Promise<Manifest | null> {
  const advice = `the last published snapshot comes back with: groundswell rollback ${out}`
  const published = await readManifest(out).catch((error: unknown) => {
    // Building on nothing would lose all rows that no source gives any more.
    throw error instanceof SnapshotError ? new SnapshotError(`${error.message}; ${advice}`) : error
  })
  const kept = listKept(out)
  // The manifest was lost, or the first build was killed before it published what it had kept.
  const lost = (): KeptSnapshot | undefined => kept.findLast(({ id }) => id === hold?.snapshot) ?? kept.at(-1)
  const other =
    kept.findLast(({ sequence }) => sequence > (hold?.after ?? readPublished(out)?.after ?? Infinity)) ??
    (published === null ? lost() : undefined)
  if (other === undefined) return published
  if (other.manifest !== null) return other.manifest
  throw new SnapshotError(
    `${other.file}: is broken; remove it, or name another snapshot with: groundswell rollback ${out} --to ID`,
  )
}

/** The result of `read`; null with a warning for a file that is not whole. */
async function orWarn<T>(
  read: () => T | Promise<T>,
  remedy: string,
  warn: (message: string) => void,
): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    warn(`${error.message}: ${remedy}`)
    return null
  }
}

/** Ids of the base win over all others, since its rows stand under them. */
async function registryOf(
  out: string,
  catalog: Catalog | null,
  warn: (message: string) => void,
): Promise<RegistryEntry[]> {
  const base = catalog?.registry() ?? []
  const file = await orWarn(() => readRegistryFile(out), 'ids are taken from the kept snapshots', warn)
  if (file !== null) return unite([base, file])
  const lists = [base]
  for (const { manifest } of listKept(out).toReversed()) {
    const entry = manifest?.parts.find(({ kind }) => kind === 'catalog')
    if (entry === undefined) continue
    const kept = await orWarn(
      () => readPart(out, entry, readCatalog),
      'its ids are taken from other snapshots',
      warn,
    )
    if (kept !== null) lists.push(kept.registry())
  }
  return unite(lists)
}

export function isMadeUp(sources: readonly Source[]): boolean {
  return sources.some((source) => source.isMadeUp === true)
}

/**
 * Measured data built on a demo take over only its ids and slugs.
 * @throws BuildError for a demo on measured data, unless the build is fresh
 */
export function keptApart({ sources, out, fresh = false, report }: BuildOptions, base: Base): Base {
  const { folder } = base
  if (folder === null || isMadeUp(sources) === (folder.manifest.demo === true)) return base
  if (!isMadeUp(sources)) {
    report.warn(`${out} holds a demo: none of its made-up data are kept, the sources start over`)
    return { ...base, folder: null, previous: null, states: null }
  }
  if (fresh) return base
  throw new BuildError(
    `${out} holds measured data, and the demo's would be mixed with them: name the folder's sources, or give the demo a folder of its own`,
  )
}
