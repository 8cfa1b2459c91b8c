/**
 * Step 5 of a build: publishes the manifest, to a store first, with the state that the next build needs. A
 * snapshot is only kept while a rollback holds, or where the store does not accept it.
 */
import { encodeManifest, type Manifest, MOST_EARLIER } from '../snapshot/manifest.ts'
import { readManifest } from '../snapshot/read-snapshot.ts'
import { encodeList, readSnapshotList, snapshotList, type FileList } from '../snapshot/file-list.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { publishManifest, syncFolder, writeDurably } from '../snapshot/write-snapshot.ts'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { BuildError } from '../system/build-error.ts'
import type { Lock } from '../system/lock.ts'
import { counted } from '../system/text.ts'
import { type Base, type BuildOptions, isMadeUp } from './build-base.ts'
import type { Gathered } from './gather.ts'
import { buoyKey } from './collector.ts'
import { stateOf, type SourceState, type StateBuoy, writeRegistryFile, writeStates } from './source-state.ts'
import { timestampText } from '../sea/time.ts'
import { keepManifest, listKept, readHold } from '../snapshot/retained.ts'
import type { Identified } from './identify.ts'
import type { Written } from './write-parts.ts'
import {
  beginPublishing,
  pendingSnapshot,
  publishSnapshot,
  type Outcome,
  type Publishing,
  type PublishingOptions,
} from './publishing/publish-to-prefix.ts'

export interface PublishingWork {
  lock: Lock
  /** Null where nothing is published to a store. */
  elsewhere: PublishingOptions | null
  /** Null without a store, and where it did not answer before the build. */
  publishing: Publishing | null
}

/** The built snapshot, and whether it was published: a build is only kept while a rollback holds. */
export interface BuiltSnapshot extends Manifest {
  published: boolean
  /** The objects put into a store; undefined where it is published to none. */
  outcome?: Outcome
}

/**
 * @throws BuildError when a file cannot be written, or another builder took over; StoreError
 */
export async function publish(
  options: BuildOptions,
  base: Base,
  gathered: Gathered,
  identified: Identified,
  { parts, own }: Written,
  { lock, elsewhere, publishing }: PublishingWork,
): Promise<BuiltSnapshot> {
  const { out, sources, now, report } = options
  const { hold } = base
  const { asOf } = gathered
  const content = { asOf, ...(isMadeUp(sources) && { demo: true }), parts }
  const kept = listKept(out).filter(({ waiting }) => !waiting)
  const before = kept.map((one) => one.id).slice(-MOST_EARLIER)
  const newest = kept.at(-1)
  // A snapshot that is built twice in a row is kept once, with its first bytes.
  const isAgain = newest !== undefined && newest.id === encodeManifest(content).id
  const { id, bytes } = encodeManifest({
    ...content,
    earlier: (isAgain ? newest.manifest?.earlier : null) ?? before,
  })
  const last = kept.find(({ current }) => current)?.manifest?.asOf ?? asOf
  if (asOf < last)
    report.warn(
      `the data's time ${timestampText(asOf)} is before that of the published snapshot, ${timestampText(last)}: no mirror takes this one unless POST /reload asks for it`,
    )
  // The state for the next build comes first: a build that is killed here has published nothing.
  if (sources.some(({ terms }) => terms !== undefined))
    writeStates(out, id, statesNow(gathered, identified, own, base, now), lock)
  writeRegistryFile(out, identified.registry, lock)
  await exported(options, { id, ...content }, hold !== null, lock)
  keepManifest(out, id, bytes, lock)
  if (elsewhere === null) {
    if (hold === null) publishManifest(out, bytes, lock)
    else syncFolder(out)
    return { id, ...content, published: hold === null }
  }
  syncFolder(out)
  const outcome = await publishElsewhere(elsewhere, { id, bytes }, lock, publishing)
  return { id, ...content, published: readHold(out) === null, outcome }
}

/**
 * Exports what is published, and puts the list of files next to the snapshot for servers. A failed export
 * keeps no data back: the earlier files stay listed. @throws BuildError when the list cannot be written
 */
async function exported(
  { out: dir, exportTo, report, now }: BuildOptions,
  built: Manifest,
  isHeld: boolean,
  lock: Lock,
): Promise<void> {
  const current = await readManifest(dir)
  const manifest = isHeld ? current : built
  if (exportTo == null || manifest === null) return
  let list: FileList | null
  try {
    // Builds that do not export do not load the writer of Parquet.
    const { exportSnapshot } = await import('./bulk/bulk-export.ts')
    const done = await exportSnapshot({ dir, manifest, out: exportTo, now })
    list = done.list
    const { files, bytes } = done.written
    report.line(
      `exported to ${exportTo}: ${files} of ${counted(list.files.length, 'file')} written, ${counted(bytes, 'byte')}`,
    )
  } catch (error) {
    if (!(error instanceof BuildError) && !(error instanceof SnapshotError)) throw error
    report.warn(`snapshot ${manifest.id} was not exported: ${error.message}; the next build tries again`)
    list = current === null ? null : readSnapshotList(dir, current.id)
  }
  if (list !== null) writeDurably(dir, snapshotList(manifest.id), encodeList(list), lock.folder)
}

/** @throws BuildError that names where the snapshot is */
async function publishElsewhere(
  options: PublishingOptions,
  built: { id: string; bytes: Uint8Array },
  lock: Lock,
  begun: Publishing | null,
): Promise<Outcome> {
  try {
    const publishing = begun ?? (await beginPublishing(options, lock))
    return await publishSnapshot(publishing, pendingSnapshot(publishing) ?? built)
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    const { dir, prefix } = options
    throw new BuildError(
      `${error.message}; snapshot ${built.id} is kept in ${dir} and not published: the next build tries again, or: groundswell publish ${dir} ${prefix.address}`,
      { cause: error },
    )
  }
}

/** The state of each configured source after this build: its new data, or the data carried over. */
function statesNow(
  { input, stale }: Gathered,
  { ids, staying }: Identified,
  own: Written['own'],
  { previous, states }: Base,
  now: number,
): SourceState[] {
  const before = previous === null ? null : states
  return input.contributions().flatMap((contribution): SourceState[] => {
    const { source, carriedOver, networks, spots } = contribution
    if (carriedOver !== null) return [{ ...carriedOver, refused: stale.get(source) ?? null }]
    if (source.terms === undefined) return []
    // A source that mentions only who reported lately takes nothing back by not mentioning it.
    const last = source.complete === false ? stateOf(before, source) : undefined
    const stayingForIt = [...staying].filter(([, contributions]) => contributions.includes(contribution))
    const buoys: StateBuoy[] = [
      ...(last?.buoys ?? []),
      ...stayingForIt.map(([{ slug: _slug, ...buoy }]) => buoy),
      ...input.buoysOf(contribution).map((buoy) => ({ ...buoy, id: ids.get(buoyKey(buoy)) ?? null })),
    ]
    return [
      {
        name: source.terms.name,
        read_at: timestampText(Math.floor(now)),
        refused: null,
        networks: [...networks.values()],
        buoys: [...new Map(buoys.map((buoy) => [buoyKey(buoy), buoy])).values()],
        spots: [...spots],
        parts: own.get(contribution) ?? [],
      },
    ]
  })
}
