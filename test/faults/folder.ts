/** Small snapshot folders for fault tests, and builders in processes of their own that can be killed. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext } from 'node:test'
import type { Manifest } from '../../src/snapshot/manifest.ts'
import { listKept } from '../../src/snapshot/retained.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type { PartEntry } from '../../src/snapshot/snapshot-format.ts'
import { builtOnce } from '../built_once.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { CLI } from '../started_program.ts'

/** `GROUNDSWELL_LONG=1` asks for the long versions, minutes each; the short ones are for every run. */
const IS_LONG = process.env.GROUNDSWELL_LONG === '1'

/** How much of something a test does. */
export function amount<T>(short: T, long: T): T {
  return IS_LONG ? long : short
}

const SOURCE = ['--source', 'demo:scale,buoys=20,days=60']

/** A time for which a build has something new to write: `step` half hours into March. */
export function asOf(step: number): string {
  return `${new Date(Date.UTC(2026, 2, 1) + step * 1_800_000).toISOString().slice(0, 19)}Z`
}

function buildArgs(folder: string, step: number): string[] {
  return ['build', ...SOURCE, '--out', folder, '--as-of', asOf(step)]
}

/** The snapshot of `step`, for reading only. */
export const snapshotOf = (step: number): Promise<string> =>
  builtOnce(`faults-${step}`, (out) => runCliWell(buildArgs(out, step)))

/** Builds the snapshot of `step` and returns its id. The first of a folder may be a copy. */
export async function build(folder: string, step: number): Promise<string> {
  if (existsSync(folder)) await runCliWell(buildArgs(folder, step))
  else cpSync(await snapshotOf(step), folder, { recursive: true })
  const current = await readManifest(folder)
  if (current === null) throw new Error('nothing was announced')
  return current.id
}

export function startBuilder(folder: string, step: number): ChildProcess {
  return spawn(process.execPath, [CLI, ...buildArgs(folder, step)], { stdio: 'ignore' })
}

/** Gives `act` a folder on a disk of that size, such as `3m`; skips the test where none can be mounted. */
export async function onSmallDisk(
  t: TestContext,
  size: string,
  act: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder(t)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (mounted.status !== 0) {
    t.skip(`a small file system cannot be mounted here: ${mounted.stderr ?? mounted.error?.message}`)
    return
  }
  try {
    await act(folder)
  } finally {
    spawnSync('umount', ['-l', folder])
  }
}

/** Names in a folder that begin with `start`. */
export function names(folder: string, start: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(start))
}

/** A copy of the folder in which one of the two is announced. */
export interface PreparedFolder {
  dir: string
  manifests: Manifest[]
  path: (part: PartEntry | string) => string
  /** Announces one of them as a builder does, by a rename. */
  announce: (i: number) => void
  /** Announces a manifest of the test's own making. */
  announceBytes: (bytes: Uint8Array) => void
  /** Parts that only the newer one has. */
  fresh: PartEntry[]
}

/** Two snapshots in one folder, built once for all tests of a file; each of them damages a copy. */
export function preparedFolders(): { ids: string[]; copyFor: (t: TestContext) => PreparedFolder } {
  let folder = ''
  const ids: string[] = []
  before(async (t) => {
    folder = join(temporaryFolder(t as TestContext), 'snapshots')
    for (const step of [0, 48]) ids.push(await build(folder, step))
  })
  const copyFor = (t: TestContext): PreparedFolder => {
    const dir = join(temporaryFolder(t), 'snapshots')
    cpSync(folder, dir, { recursive: true })
    const kept = ids.map((id) => listKept(dir).find((one) => one.id === id)!)
    const manifests = kept.map(({ manifest }) => manifest!)
    const had = new Set(manifests[0].parts.map(({ file }) => file))
    const path = (part: PartEntry | string): string => join(dir, typeof part === 'string' ? part : part.file)
    const announceBytes = (bytes: Uint8Array): void => {
      writeFileSync(path('next'), bytes)
      renameSync(path('next'), path('manifest.msgpack'))
    }
    const bytes = kept.map(({ file }) => readFileSync(path(file)))
    announceBytes(bytes[0])
    const fresh = manifests[1].parts.filter(({ file }) => !had.has(file))
    return { dir, manifests, path, announce: (i) => announceBytes(bytes[i]), announceBytes, fresh }
  }
  return { ids, copyFor }
}

/** Announces a kept snapshot of a folder as a builder does, by a rename. */
export function announce(folder: string, id: string): void {
  const kept = listKept(folder).find((each) => each.id === id)!
  copyFileSync(join(folder, kept.file), join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, 'manifest.msgpack'))
}

/** Two snapshots half a day apart, so that no list of buoys is the same in both. */
export async function twoSnapshots(
  t: TestContext,
): Promise<{ folder: string; ids: string[]; announce(i: number): void }> {
  const folder = join(temporaryFolder(t), 'snapshots')
  const ids = [await build(folder, 0), await build(folder, 24)]
  return { folder, ids, announce: (i) => announce(folder, ids[i]) }
}
