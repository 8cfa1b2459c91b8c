/** Exports for tests, and what must hold of every one of them. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportSnapshot, type Exported } from '../../../src/builder/bulk/bulk-export.ts'
import { decodeList, type FileList } from '../../../src/snapshot/file-list.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { SMALL_WORLD, type FakeBuoy } from '../fake_source.ts'

/** Later than any file of a test: what a list does not name is old enough to be collected. */
export const MUCH_LATER = 4e9

export async function exportTo(dir: string, out: string, now = MUCH_LATER): Promise<Exported> {
  const manifest = await readManifest(dir)
  assert.ok(manifest !== null)
  return exportSnapshot({ dir, manifest, out, now })
}

export const listIn = (out: string): FileList => decodeList(readFileSync(join(out, 'files.json')), out)

/** What a reader sees: the list, if there is one, and every file that it names with its bytes. */
export function assertWhole(out: string): FileList | null {
  if (!existsSync(join(out, 'files.json'))) return null
  const list = listIn(out)
  for (const { path, bytes, sha256 } of list.files) {
    const content = readFileSync(join(out, path))
    assert.equal(content.length, bytes, path)
    assert.equal(createHash('sha256').update(content).digest('hex'), sha256, path)
  }
  return list
}

/** All files of an export's folder, sorted; those of a lock and those that are hidden are left out. */
export function filesIn(out: string): string[] {
  return readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
    .toSorted()
}

/** The small world with so many readings more of a buoy of South. */
export const grown = (count: number, from = '2026-03-20T00:00:00Z'): FakeBuoy[] =>
  SMALL_WORLD.map((buoy) => {
    if (buoy.identifier !== '02B') return buoy
    const first = Date.parse(from) / 1000
    const more = Array.from({ length: count }, (_, i) => ({ time: first + i * 60, significantHeight: 1500 }))
    return { ...buoy, rows: [...buoy.rows, ...more] }
  })
