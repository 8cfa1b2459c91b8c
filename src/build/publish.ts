/**
 * Step 5 of a build: puts the manifest into the folder, with what the next build has to know beside it. While
 * a rollback holds, the snapshot is only kept.
 */
import { encodeManifest, type Manifest } from '../snapshot/manifest.ts'
import { keepManifest, publishManifest, syncFolder } from '../snapshot/write.ts'
import type { Lock } from '../system/lock.ts'
import type { Base } from './base.ts'
import type { Gathered } from './gather.ts'
import { writeGiven } from './given.ts'
import { listKept, nextKeptFile } from './kept.ts'
import type { Identified } from './identify.ts'
import type { BuildOptions } from './options.ts'
import type { Written } from './parts.ts'
import { writeRegistryFile } from './registry.ts'
import { statesNow } from './silent.ts'

/** What was built, and whether it was published: a build is only kept while a rollback holds. */
export interface BuiltSnapshot extends Manifest {
  published: boolean
}

/** @throws BuildError when a file cannot be written, or another builder took over */
export function publish(
  { out, sources, now }: BuildOptions,
  { previous, registry, states, hold }: Base,
  { input, asOf, silent }: Gathered,
  identified: Identified,
  { parts, own }: Written,
  lock: Lock,
): BuiltSnapshot {
  const { id, bytes } = encodeManifest({ asOf, parts })
  // What the next build counts on comes first: a build that is killed here has published nothing.
  if (sources.some(({ terms }) => terms !== undefined)) {
    const before = previous === null ? null : states
    writeGiven(out, id, statesNow({ input, silent, identified, own, before, now }), lock)
  }
  writeRegistryFile(out, { entries: identified.registry, former: registry.former }, lock)
  if (id !== listKept(out).at(-1)?.id) keepManifest(out, nextKeptFile(out, id), bytes, lock)
  if (hold === null) publishManifest(out, bytes, lock)
  else syncFolder(out)
  return { id, asOf, parts, published: hold === null }
}
