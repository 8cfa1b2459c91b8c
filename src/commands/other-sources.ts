/** Finds a snapshot that has other sources than a configuration: two networks need two folders. */
import { readStates } from '../builder/source-state.ts'
import { manifestOf } from '../snapshot/retained.ts'
import { MANIFEST_FILE } from '../snapshot/manifest.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { BuildError } from '../system/build-error.ts'
import { join } from 'node:path'

export const OTHER_FOLDER = 'give this network a folder of its own: --data DIR'

/** The sentence about it; null if they share a source, or the snapshot's sources are unknown. */
export function otherSources(dir: string, sources: readonly { name: string }[]): string | null {
  const names = sourcesOf(dir)
  if (names.length === 0 || sources.some(({ name }) => names.includes(name))) return null
  return `the snapshot in ${dir} is of other sources: ${names.map((name) => JSON.stringify(name)).join(', ')}`
}

function sourcesOf(dir: string): string[] {
  const manifest = manifestOf(join(dir, MANIFEST_FILE))
  if (manifest === null) return []
  try {
    return (readStates(dir, manifest.id) ?? []).map(({ name }) => name)
  } catch (error) {
    // A damaged file of states is another finding.
    if (error instanceof SnapshotError || error instanceof BuildError) return []
    throw error
  }
}
