/**
 * A server under load whose folder is damaged in every way: it answers from what it has, says what is wrong,
 * and takes the next good snapshot.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { partFile, sha256 } from '../../src/snapshot/snapshot-format.ts'
import { encodeManifest } from '../../src/snapshot/manifest.ts'
import { listKept } from '../../src/snapshot/retained.ts'
import { fieldOf } from '../fields.ts'
import { CLI, startProgram } from '../started_program.ts'
import { startDrill, statusWhen, type Drill } from './drill.ts'
import { amount, asOf, preparedFolders, type PreparedFolder } from './folder.ts'

/** A user that owns nothing. */
const NOBODY = 65534

const { ids, copyFor } = preparedFolders()

/** Asks again and again until `isOver`; resolves to what was wrong, and how often each snapshot answered. */
async function load(
  drill: Drill,
  isOver: () => boolean,
): Promise<{ failures: string[]; by: Map<string, number> }> {
  const failures: string[] = []
  const by = new Map<string, number>()
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      const reply = await fetch(`${drill.base}/buoys/search?query=bu`)
      const text = await reply.text()
      if (reply.status !== 200 || !text.startsWith('{"status":"success"'))
        failures.push(`${reply.status} ${text}`)
      const id = String(reply.headers.get('x-snapshot-id'))
      by.set(id, (by.get(id) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  return { failures, by }
}

function flip(path: string, bit: number): void {
  const bytes = readFileSync(path)
  bytes[bit >> 3] ^= 1 << (bit & 7)
  writeFileSync(path, bytes)
}

/** Announces a snapshot one of whose parts says `to` where it said `from`, all hashes as they should be. */
function announceForged(
  { fresh, manifests, path, announceBytes }: PreparedFolder,
  from: string,
  to: string,
): void {
  const [part] = fresh
  const bytes = readFileSync(path(part))
  const at = bytes.indexOf(Buffer.from(from, 'latin1'))
  assert.ok(at > 0, from)
  bytes.write(to, at, 'latin1')
  const hash = sha256(bytes)
  const forged = { ...part, sha256: hash, file: partFile(part.kind, hash) }
  writeFileSync(path(forged), bytes)
  const parts = manifests[1].parts.map((other) => (other.file === part.file ? forged : other))
  announceBytes(encodeManifest({ asOf: manifests[1].asOf, parts }).bytes)
}

/** Moves the folder away, and puts something in its place; the returned function puts it back. */
function awayFrom({ dir }: PreparedFolder, put: () => void): () => void {
  renameSync(dir, `${dir}-away`)
  put()
  return () => (rmSync(dir, { force: true }), renameSync(`${dir}-away`, dir))
}

type Damage = [what: string, harm: (at: PreparedFolder) => (() => void) | void, reported: RegExp]

/** What may be in the place of a part, and what is said to it. */
const SPOILT: [what: string, spoil: (path: string) => void, reported: RegExp][] = [
  ['cut short', (path) => truncateSync(path, 100), /has 100 bytes, the manifest says \d+/],
  ['empty', (path) => truncateSync(path, 0), /has 0 bytes/],
  ['gone', (path) => rmSync(path), /is missing/],
  ['a folder', (path) => (rmSync(path), mkdirSync(path)), /is not a regular file/],
  ['a link to itself', (path) => (rmSync(path), symlinkSync(path, path)), /cannot be read \(ELOOP\)/],
  ['changed in one bit', (path) => flip(path, readFileSync(path).length * 5 + 3), /do not have the hash/],
]

function damageOf([what, spoil, reported]: (typeof SPOILT)[number]): Damage {
  return [
    `a new part is ${what}`,
    (at) => {
      const path = at.path(at.fresh[0])
      const bytes = readFileSync(path)
      spoil(path)
      at.announce(1)
      return () => (rmSync(path, { recursive: true, force: true }), writeFileSync(path, bytes))
    },
    reported,
  ]
}

/**
 * What happens to the folder, what the server says to it, and what puts it right where that is more than a
 * good manifest.
 */
const DAMAGES: Damage[] = [
  ...SPOILT.map(damageOf),
  [
    'a part is of a newer format, its hash right',
    (at) => announceForged(at, '\u00a7version\u0002', '\u00a7version\u0003'),
    /format version 3, this program reads version 2/,
  ],
  [
    'the manifest is written in place and only half of it is there',
    (at) => {
      const bytes = readFileSync(at.path('manifest.msgpack'))
      writeFileSync(at.path('manifest.msgpack'), bytes.subarray(0, bytes.length >> 1))
    },
    /manifest\.msgpack: /,
  ],
  ['the manifest is gone', (at) => rmSync(at.path('manifest.msgpack')), /manifest\.msgpack: is missing/],
  ['the folder is gone', (at) => awayFrom(at, () => {}), /manifest\.msgpack: is missing/],
  [
    'the folder is a file',
    (at) => awayFrom(at, () => writeFileSync(at.dir, 'no folder')),
    /manifest\.msgpack: cannot be read \(ENOTDIR\)/,
  ],
  [
    'the folder is a link to itself',
    (at) => awayFrom(at, () => symlinkSync(at.dir, at.dir)),
    /manifest\.msgpack: cannot be read \(ELOOP\)/,
  ],
]

test('Whatever befalls the folder of a live server, it answers from the old snapshot, reports the error, and takes the next good one.', async (t) => {
  const at = copyFor(t)
  const drill = await startDrill(t, at.dir)
  const known = new Set(ids)
  for (const [what, harm, reported] of DAMAGES) {
    await statusWhen(drill, ({ snapshot }) => snapshot?.id === ids[0])
    let isOver = false
    const loaded = load(drill, () => isOver)
    const mend = harm(at)
    // On the way a file may be gone for a moment, which is an error of its own.
    const { reload, snapshot } = await statusWhen(drill, (status) =>
      reported.test(status.reload.last_error ?? ''),
    )
    assert.match(reload.last_error!, reported, what)
    assert.equal(snapshot?.id, ids[0], what)
    assert.deepEqual(await drill.ready(), { code: 200 }, what)
    mend?.()
    at.announce(1)
    // By itself, when it looks again; `amount` lets the short run ask for it.
    if (amount(1, 0) === 1) await drill.reload()
    await statusWhen(drill, (status) => status.snapshot?.id === ids[1] && status.reload.last_error === null)
    isOver = true
    const { failures, by } = await loaded
    assert.deepEqual(failures.slice(0, 3), [], what)
    assert.deepEqual(
      [...by.keys()].filter((id) => !known.has(id)),
      [],
      what,
    )
    assert.ok((by.get(ids[0]) ?? 0) > 0, what)
    at.announce(0)
  }
  t.diagnostic(`${DAMAGES.length} damages, each reported and survived`)
  assert.equal(await drill.stop(), 0)
})

const isRoot = process.getuid?.() === 0
/** Permissions hold root as another user, who has to be able to run the program where it lies. */
const skip =
  isRoot && spawnSync(process.execPath, [CLI, '--help'], { uid: NOBODY }).status !== 0
    ? 'permissions do not hold root, and another user cannot run the program here'
    : false

test(
  'A folder that may no longer be read is reported, and serving goes on until it may be read again.',
  { skip },
  async (t) => {
    const at = copyFor(t)
    chmodSync(dirname(at.dir), 0o755)
    const drill = await startDrill(t, at.dir, isRoot ? NOBODY : null)
    await statusWhen(drill, ({ snapshot }) => snapshot?.id === ids[0])
    for (const mode of [0o000, 0o444]) {
      chmodSync(at.dir, mode)
      const { reload } = await statusWhen(drill, (status) => status.reload.last_error !== null)
      assert.match(reload.last_error!, /manifest\.msgpack: cannot be read \(EACCES\)/)
      assert.equal((await fetch(`${drill.base}/buoys/search?query=bu`)).status, 200)
      chmodSync(at.dir, 0o755)
      await statusWhen(drill, (status) => status.reload.last_error === null)
    }
    // A single part, as when another user's builder has a strict mask.
    chmodSync(at.path(at.fresh[0]), 0o000)
    at.announce(1)
    const { reload, snapshot } = await statusWhen(drill, (status) => status.reload.last_error !== null)
    assert.match(reload.last_error!, /: cannot be read \(EACCES\)/)
    assert.equal(snapshot?.id, ids[0])
    chmodSync(at.path(at.fresh[0]), 0o644)
    await statusWhen(drill, (status) => status.snapshot?.id === ids[1])
  },
)

test(
  'A builder that may not write to its folder says so in one line and changes nothing.',
  { skip },
  async (t) => {
    const at = copyFor(t)
    chmodSync(dirname(at.dir), 0o755)
    chmodSync(at.dir, 0o555)
    const args = ['build', '--source', 'demo:scale,buoys=20,days=60', '--out', at.dir, '--as-of', asOf(60)]
    const builder = startProgram(t, args, isRoot ? { uid: NOBODY } : {})
    assert.equal(await builder.ended, 1)
    assert.match(builder.stderr, /^groundswell: [^\n]*snapshots[^\n]*EACCES[^\n]*$/m)
    assert.doesNotMatch(builder.stderr, /^ +at /m)
    assert.deepEqual(fieldOf(listKept(at.dir), 'id'), ids)
    chmodSync(at.dir, 0o755)
  },
)
