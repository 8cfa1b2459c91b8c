/**
 * The last known state of each configured source: `given-ID.jsonl` next to each kept snapshot, one line a
 * source. A stale source is carried over from it but for its rows, which stay in the months, and a rollback
 * goes back to it.
 *
 *   {"format":"groundswell-…","version":1,"lines":N,"sha256":"…"}    the hash of all that follows
 *   {"name":"…","read_at":"2026-03-27T12:00:00Z","refused":null,
 *    "networks":[…],"buoys":[…],"spots":[…],"parts":[…]}
 *
 * `parts` name the source's passes, forecast and harbours: the snapshot's own files where it alone gives any.
 *
 * And the registry of all ids and slugs ever given in a folder, `registry.jsonl`, in the same form. A
 * catalogue knows only its own past, without snapshots that a rollback or `--keep` dropped.
 *
 *   ["SOURCE","IDENTIFIER",ID,"SLUG"]    one line an entry
 *
 * Entries are added, never changed. The file is replaced before a snapshot with new ids is kept, so nobody
 * sees ids of a build killed earlier. The catalogues of all kept snapshots together replace a lost file.
 */
import type { Lock } from '../system/lock.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, SourceInfo, SpotRecord } from '../sea/records.ts'
import type { RegistryEntry } from '../snapshot/catalog.ts'
import { readForecast, readPasses, readTides } from '../snapshot/part-kinds.ts'
import type { ForecastColumns } from '../index/forecast.ts'
import {
  SnapshotError,
  type Part,
  type PartEntry,
  type PartKind,
  sha256,
} from '../snapshot/snapshot-format.ts'
import type { PassColumns } from '../index/passes.ts'
import { readPart } from '../snapshot/read-snapshot.ts'
import type { TideColumns } from '../index/tides.ts'
import type { Source } from '../sources/source.ts'
import { join } from 'node:path'
import { readRegularFileSync } from '../system/regular-files.ts'
import { errorCode } from '../system/file-faults.ts'
import { holds, writeDurably } from '../snapshot/write-snapshot.ts'

const FORMAT = 'groundswell-given'
/** Of both files. */
const VERSION = 1

export interface StateBuoy extends BuoyRecord {
  /** The buoy's id, null where it was left out for another network's buoy. */
  id: number | null
}

/** What one source gave when it was read last. */
export interface SourceState {
  /** Name in the configuration. */
  name: string
  /** The time of the last read as on the wire. */
  read_at: string
  /** Why it could not be read for this snapshot; null when it was. */
  refused: string | null
  networks: SourceInfo[]
  buoys: StateBuoy[]
  spots: SpotRecord[]
  /** Passes, forecast and tides. */
  parts: PartEntry[]
}

export const statesFile = (id: string): string => `given-${id}.jsonl`

/**
 * The states of a snapshot's sources; null without a configuration, or from an older program.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
export function readStates(dir: string, id: string): SourceState[] | null {
  return readStateFile(dir, statesFile(id), FORMAT) as SourceState[] | null
}

/** The last data of a configured source; undefined where they are not known. */
export const stateOf = (states: readonly SourceState[] | null, { terms }: Source): SourceState | undefined =>
  states?.find(({ name }) => name === terms?.name)

/** @throws BuildError when it cannot be written */
export function writeStates(dir: string, id: string, states: readonly SourceState[], lock: Lock): void {
  writeStateFile(dir, statesFile(id), FORMAT, states, lock)
}

export interface StateParts {
  passes: PassColumns | null
  forecast: ForecastColumns | null
  tides: TideColumns | null
}

/** @throws BuildError naming the source and the file, when a part is missing or damaged */
export async function loadStateParts(dir: string, { name, parts }: SourceState): Promise<StateParts> {
  const load = async <T>(kind: PartKind, read: (part: Part, file: string) => T): Promise<T | null> => {
    const entry = parts.find((part) => part.kind === kind)
    return entry === undefined ? null : await readPart(dir, entry, read)
  }
  try {
    return {
      passes: await load('passes', readPasses),
      forecast: await load('forecast', readForecast),
      tides: await load('tides', readTides),
    }
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    throw new BuildError(
      `${error.message}: the last data of ${name} would be lost; make it readable again, or remove it from the configuration`,
    )
  }
}

/** The parts in the states of a snapshot's sources. @throws SnapshotError when the file is not whole */
export function stateParts(dir: string, id: string): PartEntry[] {
  return (readStates(dir, id) ?? []).flatMap(({ parts }) => parts)
}

export const REGISTRY_FILE = 'registry.jsonl'

const REGISTRY_FORMAT = 'groundswell-registry'

/** Unites lists of entries, by id; where they contradict each other, the earlier one is valid. */
export function unite(lists: readonly (readonly RegistryEntry[])[]): RegistryEntry[] {
  const byKey = new Map<string, RegistryEntry>()
  const taken = new Set<number | string>()
  for (const entry of lists.flat()) {
    const key = JSON.stringify([entry.source, entry.identifier])
    if (byKey.has(key) || taken.has(entry.id) || taken.has(entry.slug)) continue
    byKey.set(key, entry)
    taken.add(entry.id).add(entry.slug)
  }
  return [...byKey.values()].sort((a, b) => a.id - b.id)
}

/**
 * The entries of a folder's file, the winning ones first; null where the file is missing.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
export function readRegistryFile(dir: string): RegistryEntry[] | null {
  const entries = readStateFile(dir, REGISTRY_FILE, REGISTRY_FORMAT) as
    | [string, string, number, string][]
    | null
  return entries?.map(([source, identifier, id, slug]) => ({ source, identifier, id, slug })) ?? null
}

/** Replaces a folder's file, unless it is the same. @throws BuildError when it cannot be written */
export function writeRegistryFile(dir: string, entries: readonly RegistryEntry[], lock: Lock): void {
  const lines = entries.map(({ source, identifier, id, slug }) => [source, identifier, id, slug])
  writeStateFile(dir, REGISTRY_FILE, REGISTRY_FORMAT, lines, lock)
}

/** Bytes; the state of 900,000 buoys, the most that can have an id, takes less. */
export const MAX_STATE_BYTES = 512 * 1024 * 1024

/**
 * The entries of a file, null where there is none.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
function readStateFile(dir: string, file: string, format: string): unknown[] | null {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(join(dir, file), MAX_STATE_BYTES)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new SnapshotError(`${file}: cannot be read (${errorCode(error)})`)
  }
  const end = bytes.indexOf('\n')
  const head = headOf(bytes.toString('utf8', 0, Math.max(end, 0)))
  if (head?.['format'] !== format) throw new SnapshotError(`${file}: does not have the format of its name`)
  if (head['version'] !== VERSION) {
    throw new BuildError(
      `${join(dir, file)}: has version ${String(head['version'])}, this program reads version ${VERSION}: use the one that wrote it`,
    )
  }
  const body = bytes.subarray(end + 1)
  if (head['sha256'] !== sha256(body))
    throw new SnapshotError(`${file}: the lines do not match the hash in the first line`)
  const lines = body.toString('utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as unknown)
}

function headOf(line: string): { [name: string]: unknown } | null {
  try {
    return JSON.parse(line) as { [name: string]: unknown } | null
  } catch {
    return null
  }
}

/** Replaces a file whole, unless it has these entries. @throws BuildError when it cannot be written */
function writeStateFile(
  dir: string,
  file: string,
  format: string,
  entries: readonly unknown[],
  lock: Lock,
): void {
  const body = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const head = { format, version: VERSION, lines: entries.length, sha256: sha256(body) }
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
  if (!holds(join(dir, file), bytes)) writeDurably(dir, file, bytes, lock.folder)
}
