/** Checks all parts that a folder's manifests and source states name. */
import { existsSync } from 'node:fs'
import { SnapshotError, type PartEntry } from '../snapshot/snapshot-format.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { readManifest, verifyParts } from '../snapshot/read-snapshot.ts'
import { readRegistryFile, stateParts } from './source-state.ts'
import { listKept } from '../snapshot/retained.ts'

/** Faults of every part that the current or a kept manifest names. */
export async function checkFolder(dir: string): Promise<string[]> {
  const { faults, parts } = await namedParts(dir)
  const broken = new Map<string, string>()
  for (const part of parts.values()) {
    const fault = await faultIn(() => verifyParts(dir, [part]))
    if (fault !== null) broken.set(part.file, fault)
  }
  const fault = await faultIn(() => existsSync(dir) && readRegistryFile(dir))
  if (fault !== null) faults.push(`${fault}; the next build makes it again`)
  if (broken.size === 0) return faults
  // A builder at work may have dropped an old snapshot, and its parts, since they were listed.
  const now = await namedParts(dir)
  for (const [file, fault] of broken) {
    if (now.parts.has(file)) faults.push(fault)
  }
  return faults
}

/** The message of a SnapshotError that `task` throws; null where it throws none. */
async function faultIn(task: () => unknown): Promise<string | null> {
  try {
    await task()
    return null
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    return error.message
  }
}

/** The parts that the current or a kept manifest names, by file, and the faults of the manifests. */
async function namedParts(dir: string): Promise<{ faults: string[]; parts: Map<string, PartEntry> }> {
  const faults: string[] = []
  const parts = new Map<string, PartEntry>()
  const add = async (manifest: Manifest): Promise<void> => {
    for (const part of manifest.parts) parts.set(part.file, part)
    const fault = await faultIn(() => {
      for (const part of stateParts(dir, manifest.id)) parts.set(part.file, part)
    })
    if (fault !== null) faults.push(`${fault}; a build from all sources makes it again`)
  }
  const fault = await faultIn(async () => {
    const current = await readManifest(dir)
    if (current === null) faults.push(`${dir}: there is no snapshot in this folder`)
    else await add(current)
  })
  if (fault !== null) faults.push(fault)
  for (const { file, manifest } of existsSync(dir) ? listKept(dir) : []) {
    if (manifest === null) faults.push(`${file}: is broken`)
    else await add(manifest)
  }
  return { faults, parts }
}
