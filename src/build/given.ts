/**
 * What each source of the configuration gave last, beside each kept snapshot: `given-ID.jsonl`, one line a
 * source, under the head of `state.ts`. A source that cannot be read is replayed from it as if it had been
 * read, but for its rows: those stay in the months. It belongs to its snapshot, so that a rollback goes back
 * to what had been given then, and goes with it.
 *
 *   {"name":"…","read_at":"2026-03-27T12:00:00Z","refused":null,"networks":[…],"buoys":[…],"spots":[…],"parts":[…]}
 *
 * Passes, forecast and harbours stand in `parts`, named as in a manifest: parts like those of a snapshot,
 * with what this source alone gave. Where it is the only one that gives such, they are the snapshot's own
 * files.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Lock } from '../system/lock.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, SourceInfo, SpotRecord } from '../sea/records.ts'
import { cataloguedBuoys, infoOf, type CataloguedBuoy } from '../snapshot/catalog.ts'
import { readForecast } from '../snapshot/forecast.ts'
import type { ForecastColumns } from '../index/forecast.ts'
import { decodePart, SnapshotError, type Part, type PartEntry, type PartKind } from '../snapshot/format.ts'
import { readPasses } from '../snapshot/passes.ts'
import type { PassColumns } from '../index/passes.ts'
import { loadPart } from '../snapshot/read.ts'
import { readState, writeState } from './state.ts'
import { readTides } from '../snapshot/tides.ts'
import type { TideColumns } from '../index/tides.ts'
import type { Previous } from './base.ts'

const FORMAT = { format: 'groundswell-given', version: 1 } as const
const GIVEN_FILE = /^given-([0-9a-f]{24})\.jsonl$/

/** A buoy as a source told of it. */
export interface GivenBuoy extends BuoyRecord {
  /** Null for one that was left out for another network's. */
  id: number | null
}

/** What one source gave when it was read last. */
export interface Given {
  /** As the configuration calls it; null where it is not known who gave it. */
  name: string | null
  /** As on the wire; null where it is not known. */
  read_at: string | null
  /** Why it could not be read for this snapshot; null when it was. */
  refused: string | null
  networks: SourceInfo[]
  buoys: GivenBuoy[]
  spots: SpotRecord[]
  /** Passes, forecast and tides. */
  parts: PartEntry[]
}

const fileOf = (id: string): string => `given-${id}.jsonl`

/** The snapshot that a file of this kind belongs to; null for other files. */
export function givenSnapshot(file: string): string | null {
  return GIVEN_FILE.exec(file)?.[1] ?? null
}

/**
 * What was given for a snapshot, null where nothing is known: it was built from no configuration, or by an
 * older program.
 * @throws SnapshotError naming the file, when it is not whole; BuildError when another version of this
 * program wrote it
 */
export function readGiven(dir: string, id: string): Given[] | null {
  const given = readState(dir, fileOf(id), FORMAT) as Given[] | null
  for (const one of given ?? []) {
    const lists = [one?.networks, one?.buoys, one?.spots, one?.parts]
    if (!lists.every(Array.isArray)) throw new SnapshotError(`${fileOf(id)}: a source is malformed`)
  }
  return given
}

/** @throws BuildError when it cannot be written */
export function writeGiven(dir: string, id: string, given: readonly Given[], lock: Lock): void {
  writeState(dir, fileOf(id), FORMAT, given, lock)
}

/** A buoy of a catalogue as a source would have told of it. */
export function withoutSlug(buoy: CataloguedBuoy): GivenBuoy {
  const { slug: _slug, ...told } = buoy
  return told
}

/** All that a snapshot has, where it is not known who gave what. */
export function givenBySomebody({ manifest, catalog }: Previous): Given {
  return {
    name: null,
    read_at: null,
    refused: null,
    networks: catalog.sources.map(infoOf),
    buoys: cataloguedBuoys(catalog).map(withoutSlug),
    spots: catalog.spots,
    parts: manifest.parts.filter(({ kind }) => kind === 'passes' || kind === 'forecast' || kind === 'tides'),
  }
}

/** What stands in the parts of one source. */
export interface GivenParts {
  passes: PassColumns | null
  forecast: ForecastColumns | null
  tides: TideColumns | null
}

/** @throws BuildError naming the source and the file, when a part is missing or damaged */
export async function loadGiven(dir: string, { name, parts }: Given): Promise<GivenParts> {
  const load = async <T>(kind: PartKind, read: (part: Part, file: string) => T): Promise<T | null> => {
    const entry = parts.find((part) => part.kind === kind)
    if (entry === undefined) return null
    const { buffer } = await loadPart(dir, entry)
    return read(decodePart(new Uint8Array(buffer), entry.file), entry.file)
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
      `${error.message}: this is what ${name ?? 'the sources'} gave last and would be lost; have it read again, or take it out of the configuration`,
    )
  }
}

/** How much of a source stays while it is silent. */
export interface Staying {
  buoys: number
  passes: number
  forecast_points: number
  harbours: number
  spots: number
}

export function stayingOf({ buoys, spots }: Given, { passes, forecast, tides }: GivenParts): Staying {
  return {
    buoys: buoys.length,
    passes: passes?.mission.length ?? 0,
    forecast_points: forecast?.lat.length ?? 0,
    harbours: tides?.identifiers.length ?? 0,
    spots: spots.length,
  }
}

/** A source that could not be read for the snapshot that is served, as `/status` tells of it. */
export interface SilentSource {
  name: string
  reason: string
  /** When it was read last, on the wire's form of times, and seconds since. */
  last_read: string | null
  age_seconds: number | null
}

/**
 * Tells of the silent sources of snapshots in a folder; the file is read again only when it has changed.
 * Never throws.
 */
export function silentSources(dir: string): (id: string, now: number) => SilentSource[] {
  let known: { mark: string; silent: Given[] } = { mark: '', silent: [] }
  return (id, now) => {
    const changed = changedAt(join(dir, fileOf(id)))
    const mark = `${id} ${changed}`
    if (mark !== known.mark) known = { mark, silent: readSilent(dir, id) }
    return known.silent.map(({ name, refused, read_at: lastRead }) => ({
      name: name ?? 'unknown',
      reason: refused ?? '',
      last_read: lastRead,
      age_seconds: lastRead === null ? null : Math.round(now - Date.parse(lastRead) / 1000),
    }))
  }
}

/**
 * Null where there is no such file, or none that can be looked at: the folder may be a file by now, or
 * another user's.
 */
function changedAt(path: string): number | null {
  try {
    return statSync(path).mtimeMs
  } catch {
    return null
  }
}

function readSilent(dir: string, id: string): Given[] {
  try {
    // Without what they gave, which may be much.
    return (readGiven(dir, id) ?? [])
      .filter(({ refused }) => refused !== null)
      .map((given) => ({ ...given, networks: [], buoys: [], spots: [], parts: [] }))
  } catch {
    // `check` and the next build tell what is wrong with the file.
    return []
  }
}
