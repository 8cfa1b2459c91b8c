/**
 * A snapshot folder in which somebody lies: what is announced has right hashes and wrong contents, or is not
 * a file at all. A server that serves keeps what it has or takes what does no harm; one that starts says what
 * is wrong, or waits for better. None crashes or hangs.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { partFile, sha256, type Part, type PartEntry } from '../../src/snapshot/snapshot-format.ts'
import { decodeManifest, encodeManifest, MANIFEST_FILE, type Manifest } from '../../src/snapshot/manifest.ts'
import { encodePart } from '../../src/snapshot/write-snapshot.ts'
import { tidesPart } from '../../src/snapshot/make-tides.ts'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { until } from './crowd.ts'

/** Longer than a server gives a snapshot to be loaded in. */
const RELOAD_LIMIT_MS = 30_000
/** Until it listens or ends. */
const START_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 15_000

/** A folder, as its liar sees it. */
interface Folder {
  path: (file: string) => string
  manifest: Manifest
  /** Announces these bytes as a builder does, by a rename. */
  announce: (bytes: Uint8Array) => void
}

type Lie = readonly [what: string, tell: (folder: Folder) => void]

const announced = (folder: Folder, change: (manifest: Manifest) => Partial<Manifest>): void => {
  const { asOf, parts } = { ...folder.manifest, ...change(folder.manifest) }
  folder.announce(encodeManifest({ asOf, parts }).bytes)
}

/** Writes a part under its right name and announces it in the place of one of its kind. */
function announcePart(folder: Folder, part: Part, rows: number): void {
  const bytes = encodePart(part)
  const hash = sha256(bytes)
  const entry: PartEntry = {
    kind: part.kind,
    file: partFile(part.kind, hash),
    bytes: bytes.length,
    sha256: hash,
    rows,
    month: null,
  }
  writeFileSync(folder.path(entry.file), bytes)
  announced(folder, ({ parts }) => ({ parts: [...parts.filter(({ kind }) => kind !== part.kind), entry] }))
}

/** Announces a part of a new name, at whose place something else is. */
function announceMissing(folder: Folder, bytes: number, make: (path: string) => void): void {
  const hash = sha256(new Uint32Array([bytes]))
  const entry: PartEntry = {
    kind: 'passes',
    file: partFile('passes', hash),
    bytes,
    sha256: hash,
    rows: 1,
    month: null,
  }
  rmSync(folder.path(entry.file), { force: true, recursive: true })
  make(folder.path(entry.file))
  announced(folder, ({ parts }) => ({ parts: [...parts.filter(({ kind }) => kind !== 'passes'), entry] }))
}

/** Puts something in the manifest's place. */
const inPlace =
  (make: (path: string) => void) =>
  ({ path }: Folder): void => {
    rmSync(path(MANIFEST_FILE), { force: true, recursive: true })
    make(path(MANIFEST_FILE))
  }

const harbour = (constituents: number): ReturnType<typeof tidesPart> =>
  tidesPart([
    {
      identifier: 'x',
      name: 'x',
      lat: 43.4,
      lng: -1.7,
      datumOffset: 0,
      credit: 'x',
      constituents: Array.from({ length: constituents }, (_, i) => ({
        name: 'M2',
        amplitude: 1e-6,
        phase: i % 360,
      })),
    },
  ])

const makeFolder = (path: string): void => {
  mkdirSync(path)
}
const mkfifo = (path: string): void => void spawnSync('mkfifo', [path])

const LIES: readonly Lie[] = [
  ...[NaN, Infinity, -Infinity, -1, 1e300, 0.5, 2 ** 40].map((asOf): Lie => [
    `as_of ${asOf}`,
    (folder) => announced(folder, () => ({ asOf })),
  ]),
  ['no parts', (folder) => announced(folder, () => ({ parts: [] }))],
  [
    'no catalogue',
    (folder) => announced(folder, ({ parts }) => ({ parts: parts.filter(({ kind }) => kind !== 'catalog') })),
  ],
  [
    'one part named 60,000 times',
    (folder) =>
      announced(folder, ({ parts }) => ({
        parts: [...parts, ...Array.from({ length: 60_000 }, () => parts[1])],
      })),
  ],
  [
    'a part that claims a terabyte',
    (folder) =>
      announced(folder, ({ parts }) => ({
        parts: parts.map((part, i) => (i === 0 ? { ...part, bytes: 2 ** 40 } : part)),
      })),
  ],
  [
    'rows that are not there',
    (folder) =>
      announced(folder, ({ parts }) => ({
        parts: parts.map((part) => ({ ...part, rows: part.rows * 1000 + 1 })),
      })),
  ],
  [
    'months that are none',
    (folder) =>
      announced(folder, ({ parts }) => ({
        parts: parts.map((part) => ({ ...part, month: part.month === null ? null : part.month + 0.5 })),
      })),
  ],
  [
    'a harbour with two million constituents',
    (folder) => {
      const { part, rows } = harbour(2_000_000)
      announcePart(folder, part, rows)
    },
  ],
  ['a part that is a pipe', (folder) => announceMissing(folder, 1000, mkfifo)],
  ['a part that is a folder', (folder) => announceMissing(folder, 1001, makeFolder)],
  [
    'a part that is a device',
    (folder) => announceMissing(folder, 1002, (path) => symlinkSync('/dev/zero', path)),
  ],
  [
    'a part of 20 GB with nothing in it',
    (folder) =>
      announceMissing(folder, 20e9, (path) => {
        writeFileSync(path, '')
        truncateSync(path, 20e9)
      }),
  ],
  ['a manifest that is a pipe', inPlace(mkfifo)],
  ['a manifest that is a folder', inPlace(makeFolder)],
  ['a manifest that is a device', inPlace((path) => symlinkSync('/dev/zero', path))],
  ['a manifest that is a link to itself', inPlace((path) => symlinkSync(path, path))],
  ['a manifest of 16 MB of nesting', (folder) => folder.announce(new Uint8Array(16e6).fill(0x91))],
  [
    'a manifest of 20 GB',
    inPlace((path) => {
      writeFileSync(path, '')
      truncateSync(path, 20e9)
    }),
  ],
  ['an empty manifest', (folder) => folder.announce(new Uint8Array())],
]

function folderAt(dir: string, manifest: Manifest): Folder {
  const path = (file: string): string => join(dir, file)
  return {
    path,
    manifest,
    announce(bytes) {
      rmSync(path(MANIFEST_FILE), { force: true, recursive: true })
      writeFileSync(path('next'), bytes)
      renameSync(path('next'), path(MANIFEST_FILE))
    },
  }
}

interface Status {
  snapshot: { id: string } | null
  reload: { last_error: string | null }
}

/** Asks for a reload; a fault where it does not answer. */
async function reload(adminPort: number): Promise<Status> {
  const reply = await fetch(`http://127.0.0.1:${adminPort}/reload`, {
    method: 'POST',
    signal: AbortSignal.timeout(RELOAD_LIMIT_MS),
  })
  return (await reply.json()) as Status
}

/** Tells each lie to a server that serves, and the truth in between. */
async function tellServing({ snapshots, adminPort }: Target, lies: readonly Lie[]): Promise<Finding> {
  const truth = readFileSync(join(snapshots, MANIFEST_FILE))
  const manifest = decodeManifest(truth, MANIFEST_FILE)
  const before = new Set(readdirSync(snapshots))
  const folder = folderAt(snapshots, manifest)
  const outcomes = new Tally()
  const faults: string[] = []
  let slowest = { what: '', took: 0 }
  const restore = (): void => {
    folder.announce(truth)
    for (const file of readdirSync(snapshots)) {
      if (!before.has(file)) rmSync(join(snapshots, file), { force: true, recursive: true })
    }
  }
  try {
    for (const [what, tell] of lies) {
      const began = performance.now()
      try {
        tell(folder)
        const { snapshot, reload: told } = await reload(adminPort)
        if (snapshot === null) faults.push(`${what}: nothing is served`)
        else if (snapshot.id !== manifest.id) outcomes.add('served')
        else if (told.last_error === null) faults.push(`${what}: neither served nor refused`)
        else outcomes.add('refused')
        restore()
        const { snapshot: after } = await reload(adminPort)
        if (after?.id !== manifest.id) faults.push(`${what}: the truth is not served afterwards`)
      } catch (error) {
        faults.push(`${what}: ${(error as Error).message}`)
        restore()
      }
      const took = (performance.now() - began) / 1000
      if (took > slowest.took) slowest = { what, took }
    }
  } finally {
    restore()
  }
  return {
    did: `${lies.length} lies: ${outcomes.toString()}; the slowest ${slowest.took.toFixed(1)} s (${slowest.what})`,
    faults,
  }
}

/** Tells each lie to a server that starts. */
async function tellStarting(target: Target, lies: readonly Lie[]): Promise<Finding> {
  const { snapshots, cli, engine } = target
  const outcomes = new Tally()
  const faults: string[] = []
  const dir = `${snapshots}-lies`
  const next = async (rest: Lie[]): Promise<void> => {
    for (let lie = rest.pop(); lie !== undefined; lie = rest.pop()) {
      const own = `${dir}-${rest.length}`
      try {
        cpSync(snapshots, own, { recursive: true })
        copyFileSync(join(snapshots, MANIFEST_FILE), join(own, MANIFEST_FILE))
        const manifest = decodeManifest(readFileSync(join(own, MANIFEST_FILE)), MANIFEST_FILE)
        lie[1](folderAt(own, manifest))
        const outcome = await startUpon(cli, own, engine)
        if (/^(served|waits)$/.test(outcome)) outcomes.add(outcome)
        else faults.push(`${lie[0]}: ${outcome}`)
      } finally {
        rmSync(own, { force: true, recursive: true })
        rmSync(`${own}.keys`, { force: true })
      }
    }
  }
  await next([...lies])
  return { did: `${lies.length} starts: ${outcomes.toString()}`, faults }
}

/**
 * What becomes of a server that finds such a folder: it serves, or waits for a better snapshot; else what is
 * wrong.
 */
async function startUpon(cli: string, snapshots: string, engine: string): Promise<string> {
  const keys = `${snapshots}.keys`
  writeFileSync(keys, '{"format":1,"keys":[]}\n')
  const args = [
    'serve',
    `--snapshots=${snapshots}`,
    `--keys=${keys}`,
    `--engine=${engine}`,
    '--port=0',
    '--admin-port=0',
    '--workers=1',
    '--drain-time=0',
  ]
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < 1e6) output += chunk
    })
  }
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const listening = /listening on (http:\/\/\S+)/
  try {
    const isThere = await until(() => hasEnded() || listening.test(output), START_LIMIT_MS)
    if (!isThere) return `neither listens nor ends in ${START_LIMIT_MS / 1000} s`
    if (hasEnded()) return `ends with ${child.exitCode ?? child.signalCode}`
    const base = listening.exec(output)![1]
    const reply = await fetch(`${base}/buoys/search?query=an`, {
      signal: AbortSignal.timeout(START_LIMIT_MS),
    })
    await reply.arrayBuffer()
    if (hasEnded()) return `ends with ${child.exitCode ?? child.signalCode} after it listened`
    const outcome =
      reply.status === 200 ? 'served' : reply.status === 503 ? 'waits' : `status ${reply.status}`
    child.kill('SIGTERM')
    if (!(await until(hasEnded, STOP_LIMIT_MS))) return `${outcome}, and does not stop`
    return child.exitCode === 0 ? outcome : `${outcome}, and stops with ${child.exitCode ?? child.signalCode}`
  } catch (error) {
    return (error as Error).message
  } finally {
    if (!hasEnded()) child.kill('SIGKILL')
  }
}

/** Of the lies, so many, from all over the list. */
function some(scale: number): Lie[] {
  const count = amount(LIES.length, scale)
  return Array.from({ length: count }, (_, i) => LIES[Math.floor((i * LIES.length) / count)])
}

export const FOLDERS: readonly Attack[] = [
  {
    name: 'folder-served',
    about: `${LIES.length} lies in the folder that is served`,
    run: (target, scale) => tellServing(target, some(scale)),
  },
  {
    name: 'folder-started',
    about: `${LIES.length} starts upon a folder of lies`,
    anyEngine: true,
    run: (target, scale) => tellStarting(target, some(scale)),
  },
]
