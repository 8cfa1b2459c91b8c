/**
 * The last known state of each configured source: `given-ID.jsonl` next to each kept snapshot, one line a
 * source. A stale source is carried over from it but for its rows, which stay in the months, and a rollback goes
 * back to it.
 *
 *   {"format":"groundswell-…","version":1,"lines":N,"sha256":"…"}    the hash of all that follows
 *   {"name":"…","read_at":"2026-03-27T12:00:00Z","refused":null,
 *    "networks":[…],"buoys":[…],"spots":[…],"parts":[…]}
 *
 * `parts` name the source's passes, forecast and harbours: the snapshot's own files where it alone gives any.
 * The registry of ids is a file of the same form.
 */
import type { Lock } from '../system/lock.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, SourceInfo, SpotRecord } from '../sea/records.ts'
import type { CataloguedBuoy } from '../snapshot/catalog.ts'
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
import { join } from 'node:path'
import { readRegularFileSync } from '../system/regular-files.ts'
import { errorCode } from '../system/file-faults.ts'
import { holds, writeDurably } from '../snapshot/write-snapshot.ts'

const FORMAT = { format: 'groundswell-given', version: 1 } as const

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
  const states = readStateFile(dir, statesFile(id), FORMAT) as SourceState[] | null
  for (const state of states ?? []) {
    const lists = [state?.networks, state?.buoys, state?.spots, state?.parts]
    if (!lists.every(Array.isArray)) throw new SnapshotError(`${statesFile(id)}: a source is malformed`)
  }
  return states
}

/** @throws BuildError when it cannot be written */
export function writeStates(dir: string, id: string, states: readonly SourceState[], lock: Lock): void {
  writeStateFile(dir, statesFile(id), FORMAT, states, lock)
}

export function withoutSlug(buoy: CataloguedBuoy): StateBuoy {
  const { slug: _slug, ...given } = buoy
  return given
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
      `${error.message}: this is what ${name} gave last and would be lost; make it readable again, or remove it from the configuration`,
    )
  }
}

/** The parts in the states of a snapshot's sources. @throws SnapshotError when the file is not whole */
export function stateParts(dir: string, id: string): PartEntry[] {
  return (readStates(dir, id) ?? []).flatMap(({ parts }) => parts)
}

/** Bytes; the state of 900,000 buoys, the most that can have an id, takes less. */
export const MAX_STATE_BYTES = 512 * 1024 * 1024

type Head = { [name: string]: unknown }

interface StateFormat {
  readonly format: string
  readonly version: number
}

/**
 * The entries of a file, null where there is none.
 * @throws SnapshotError naming a file that is not whole; BuildError for another version's file
 */
export function readStateFile(dir: string, file: string, { format, version }: StateFormat): unknown[] | null {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(join(dir, file), MAX_STATE_BYTES)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new SnapshotError(`${file}: cannot be read (${errorCode(error)})`)
  }
  const end = bytes.indexOf('\n')
  const head = parse(bytes.toString('utf8', 0, Math.max(end, 0))) as Head | null | undefined
  if (head?.format !== format) throw new SnapshotError(`${file}: is not what its name says`)
  if (head.version !== version) {
    throw new BuildError(
      `${join(dir, file)}: has version ${String(head.version)}, this program reads version ${version}: use the one that wrote it`,
    )
  }
  const body = bytes.subarray(end + 1)
  if (head.sha256 !== sha256(body))
    throw new SnapshotError(`${file}: the lines do not match the hash in the first line`)
  const entries = body.toString('utf8').split('\n').slice(0, -1).map(parse)
  if (entries.length !== head.lines || entries.includes(undefined))
    throw new SnapshotError(`${file}: a line is not JSON`)
  return entries
}

/** Replaces a file whole, unless it has these entries. @throws BuildError when it cannot be written */
export function writeStateFile(
  dir: string,
  file: string,
  { format, version }: StateFormat,
  entries: readonly unknown[],
  lock: Lock,
): void {
  const body = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const head = { format, version, lines: entries.length, sha256: sha256(body) }
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
  if (!holds(join(dir, file), bytes)) writeDurably(dir, file, bytes, lock.folder)
}

/** The line's value, undefined for text that is not JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
