/**
 * Which ids and slugs were ever given in a folder: `registry.jsonl`, beside the snapshots and outlasting each of them. A catalogue knows
 * the ids of its own past only; one that a rollback went back from, or that `--keep` let go, has given others.
 *
 *   {"format":"groundswell-registry","version":1,"entries":N,"sha256":"…"}    the hash is of all that follows
 *   ["SOURCE","IDENTIFIER",ID,"SLUG"]                                         one line an entry
 *
 * Entries are added, never changed, and the file is replaced as a whole, by the builder under its lock, before a snapshot with new ids is
 * kept or announced: the ids of a build that was killed before that nobody has seen. Where the file is lost or damaged, the kept
 * snapshots' catalogues say the same together, since each was built upon all that was given before it.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../sources/source.ts'
import { MAX_BUOY_ID, type RegistryEntry } from './catalog.ts'
import { sha256, SnapshotError } from './format.ts'
import { writeDurably } from './write.ts'

export const REGISTRY_FILE = 'registry.jsonl'

const FORMAT = 'groundswell-registry'
const VERSION = 1
/** Some 60 bytes an entry; with long names and identifiers 900,000 ids take less. */
const MAX_BYTES = 512 * 1024 * 1024

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
 * What a folder's file says, in the order in which it holds.
 * @throws SnapshotError naming the file, when it is there and not whole; BuildError when a later program wrote it
 */
export function readRegistryFile(dir: string): RegistryEntry[] | null {
  const path = join(dir, REGISTRY_FILE)
  if (!existsSync(path)) return null
  const broken = (what: string): SnapshotError => new SnapshotError(`${REGISTRY_FILE}: ${what}`)
  if (statSync(path).size > MAX_BYTES) throw broken('is too large')
  const bytes = readFileSync(path)
  const end = bytes.indexOf('\n')
  const header = parse(bytes.toString('utf8', 0, Math.max(end, 0))) as {
    format?: unknown
    version?: unknown
    entries?: unknown
    sha256?: unknown
  } | null
  if (header?.format !== FORMAT) throw broken('is no registry of ids')
  if (header.version !== VERSION) {
    throw new BuildError(
      `${path}: has version ${Number(header.version)}, this program reads version ${VERSION}: use the one that wrote it`,
    )
  }
  const body = bytes.subarray(end + 1)
  if (header.sha256 !== sha256(body)) throw broken('its lines do not have the hash that its head names')
  const entries = body
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => entryOf(parse(line)))
  if (entries.length !== header.entries || entries.includes(null)) throw broken('an entry is malformed')
  return entries as RegistryEntry[]
}

/** Replaces a folder's file, unless it says the same already. @throws BuildError when it cannot be written */
export function writeRegistryFile(dir: string, { entries, former }: Registry): void {
  const lines = [...entries, ...former].map(
    ({ source, identifier, id, slug }) => `${JSON.stringify([source, identifier, id, slug])}\n`,
  )
  const body = Buffer.from(lines.join(''))
  const header = { format: FORMAT, version: VERSION, entries: lines.length, sha256: sha256(body) }
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body])
  const path = join(dir, REGISTRY_FILE)
  if (existsSync(path) && bytes.equals(readFileSync(path))) return
  writeDurably(dir, REGISTRY_FILE, bytes)
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function entryOf(value: unknown): RegistryEntry | null {
  if (!Array.isArray(value) || value.length !== 4) return null
  const [source, identifier, id, slug] = value as unknown[]
  const isEntry =
    typeof source === 'string' &&
    typeof identifier === 'string' &&
    Number.isInteger(id) &&
    Number(id) >= 1 &&
    Number(id) <= MAX_BUOY_ID &&
    typeof slug === 'string'
  return isEntry ? { source, identifier, id: Number(id), slug } : null
}
