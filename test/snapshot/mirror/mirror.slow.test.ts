/** A mirror and its source: what it brings, what it refuses, and what stays when its source goes wrong. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockFolder } from '../../../src/snapshot/write-snapshot.ts'
import { resume, rollback } from '../../../src/snapshot/retained.ts'
import { MANIFEST_FILE } from '../../../src/snapshot/manifest.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { onSmallDisk } from '../../faults/folder.ts'
import { fieldOf, fieldsOf } from '../../fields.ts'
import { temporaryFolder } from '../../live.ts'
import { openStub } from '../store/opened.ts'
import { stubFor } from '../store/stub_s3.ts'
import {
  copyOf,
  dated,
  faultsOf,
  mirrorOf,
  publish,
  serveFolder,
  sourceOf,
  type Mirrored,
  type Misbehaviour,
  type WebFolder,
} from './world.ts'

const partsOf = (dir: string): string[] =>
  readdirSync(dir).filter((name) => /^(catalog|readings|weather|aggregates)-/.test(name))

/** The largest part of what a folder publishes now. */
async function largestOf(dir: string): Promise<string> {
  const { parts } = (await readManifest(dir))!
  return parts.toSorted((a, b) => b.bytes - a.bytes)[0].file
}

/** Looks, and then holds this snapshot in a folder that has nothing wrong. */
async function holds({ mirror, held, dir }: Mirrored, id: string, message?: string): Promise<void> {
  await mirror.look()
  assert.equal(await held(), id, message)
  assert.deepEqual(await faultsOf(dir), [], message)
}

/** Changes one bit of a file. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] ^= 1
  writeFileSync(path, bytes)
}

/** What was asked for but for the manifest, from which the list begins anew. */
function partsAsked({ asked }: WebFolder): string[] {
  return asked
    .splice(0)
    .map(({ name }) => name)
    .filter((name) => name !== MANIFEST_FILE)
}

test('Only what is missing comes, the manifest last, from a server that offers much or little.', async (t) => {
  const { source, id: first, web } = await sourceOf(t)
  const much = mirrorOf(t, web.url, join(temporaryFolder(t), 'new', 'folder'))
  await holds(much, first)
  assert.equal(web.asked[0].name, MANIFEST_FILE)
  assert.equal(new Set(web.asked.map(({ name }) => name)).size, web.asked.length)

  web.offers = { etag: false, date: false }
  const little = mirrorOf(t, web.url, copyOf(t))
  await holds(little, first)

  const before = partsOf(source)
  const second = await publish(source, 1)
  const fresh = partsOf(source).filter((name) => !before.includes(name))
  for (const [at, offers] of [
    [little, { etag: false, date: false }],
    [much, { etag: true, date: true }],
  ] as const) {
    web.offers = offers
    web.asked.length = 0
    await holds(at, second)
    const expected = [MANIFEST_FILE, `files-${second}.json`, ...fresh]
    assert.deepEqual(fieldOf(web.asked, 'name').toSorted(), expected.toSorted())
    web.asked.length = 0
    await at.mirror.look()
    assert.deepEqual(fieldsOf(web.asked, 'name', 'status'), [[MANIFEST_FILE, offers.etag ? 304 : 200]])
  }
})

const page: Misbehaviour = (response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><title>Hello</title>')
const missing: Misbehaviour = (response) => void response.writeHead(404).end('no')

type FaultCase = [name: string, of: 'manifest' | 'part', fault: Misbehaviour, message: RegExp]

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1)

/** What a web server may do instead of answering, and the line that says so. */
const FAULTS: FaultCase[] = [
  ['no manifest', 'manifest', missing, /manifest\.msgpack is not there \(404\); is this the address/],
  [
    'a page for the manifest',
    'manifest',
    page,
    /manifest\.msgpack: is not .*; is this the address of a snapshot folder\?/,
  ],
  [
    'a manifest without end',
    'manifest',
    (response) => void response.end(Buffer.alloc(2 ** 20 + 1)),
    /more than 1048576 bytes/,
  ],
  ['a missing part', 'part', missing, /readings-\w+\.msgpack is missing, although the manifest names it/],
  ['a page for a part', 'part', page, /ends at byte \d+ of \d+/],
  [
    'a wrong part',
    'part',
    (response, { bytes, headers }) => {
      const wrong = Buffer.from(bytes)
      wrong[wrong.length >> 1] ^= 1
      response.writeHead(200, headers).end(wrong)
    },
    /has other bytes than the manifest says/,
  ],
  [
    'a part that is too long',
    'part',
    (response, { bytes }) => void response.write('123456789', () => response.end(bytes)),
    /has more bytes than the \d+/,
  ],
]

test('Each fault of a web server gives one line, nothing wrong is published, and its end is noticed.', async (t) => {
  const { source, id, web } = await sourceOf(t)
  let good = id
  const { mirror, dir, lines, held, status } = mirrorOf(t, web.url, copyOf(t))
  await mirror.look()
  for (const [i, [name, of, fault, message]] of FAULTS.entries()) {
    const next = await publish(source, i + 1)
    lines.length = 0
    web.faultOf = (object) => {
      const other = object.startsWith('readings') ? 'part' : 'other'
      const kind = object === MANIFEST_FILE ? 'manifest' : other
      return of === kind ? fault : null
    }
    await mirror.look()
    await mirror.look()
    assert.equal(await held(), good, name)
    assert.equal(lines.length, 1, `${name}: ${lines.join('\n')}`)
    assert.match(lines[0], message, name)
    assert.match(
      lines[0],
      new RegExp(`^warning: http://127.*; snapshot ${good} stays, its data .* old \\(`),
      name,
    )
    const { state, last_error: error, failures_in_row: failures } = status()
    assert.deepEqual([state, failures], ['failing', 2], name)
    assert.match(String(error), message, name)
    web.faultOf = () => null
    await mirror.look()
    assert.equal(await held(), next, name)
    assert.match(lines.at(-1)!, /is current again$/)
    assert.equal(status().last_error, null)
    assert.deepEqual(await faultsOf(dir), [], name)
    good = next
  }
  web.close()
  lines.length = 0
  await mirror.look()
  await mirror.look()
  assert.equal(lines.length, 1)
  assert.match(lines[0], /nothing listens at 127\.0\.0\.1/)
})

test('A part that breaks off begins anew, and no piece of it stays.', async (t) => {
  const { source, id, web } = await sourceOf(t)
  const part = await largestOf(source)
  let cuts = 3
  const cut: Misbehaviour = (response, { status: code, headers, bytes }) =>
    void response.writeHead(code, headers).write(half(bytes), () => setTimeout(() => response.destroy(), 20))
  web.faultOf = (name) => (name === part && cuts-- > 0 ? cut : null)
  const dir = copyOf(t)
  const at = mirrorOf(t, web.url, dir)
  await holds(at, id)
  assert.equal(web.asked.filter(({ name }) => name === part).length, 4)
  assert.deepEqual(await faultsOf(dir), [])
  const next = await publish(source, 1)
  web.faultOf = (name) => (name === MANIFEST_FILE ? null : cut)
  await at.mirror.look()
  assert.match(at.lines.at(-1)!, /cut the connection/)
  assert.equal(await at.held(), id)
  assert.deepEqual(await faultsOf(dir), [])
  web.faultOf = () => null
  await holds(at, next)
})

test('Older data are not taken, whether a cache lags or somebody went back, until the operator wants them.', async (t) => {
  const { source, id: old, web } = await sourceOf(t)
  const at = mirrorOf(t, web.url, copyOf(t))
  await at.mirror.look()
  const newer = await publish(source, 1)
  await holds(at, newer)
  await rollback(source, null, 0)
  at.lines.length = 0
  for (let look = 0; look < 2; look++) await holds(at, newer)
  assert.equal(at.status().state, 'older')
  assert.equal(at.lines.length, 1)
  assert.match(
    at.lines[0],
    new RegExp(`shows snapshot ${old}, which is not taken, since its data is older: .*POST /reload takes it`),
  )
  await at.mirror.look(true)
  await holds(at, old)
  assert.equal(at.status().state, 'current')
  await resume(source)
  await holds(at, newer)
})

test('A builder whose clock is an hour off, and then right again, is followed all the time.', async (t) => {
  const source = join(temporaryFolder(t), 'source')
  const web = await serveFolder(t, source)
  const at = mirrorOf(t, web.url, copyOf(t), { clock: () => 0 })
  for (const [step, ahead] of [0, 3600, 3600, 0, 0, -3600, 0].entries()) {
    const id = await publish(source, step)
    dated(source, statSync(join(source, MANIFEST_FILE)).mtimeMs / 1000 + ahead)
    await holds(at, id, `step ${step}`)
  }
  assert.deepEqual(await faultsOf(at.dir), [])
})

test('A second mirror of a folder is told to take another one, and of two sources the later one has it.', async (t) => {
  const { source, id, web } = await sourceOf(t)
  const shared = copyOf(t)
  const [one, two] = [mirrorOf(t, web.url, shared), mirrorOf(t, web.url, shared)]
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  web.faultOf = (name) =>
    name === MANIFEST_FILE
      ? null
      : (response, { status: code, headers, bytes }) =>
          void released.then(() => response.writeHead(code, headers).end(bytes))
  const copying = one.mirror.look()
  while (web.asked.length < 2) await sleep(10)
  await two.mirror.look()
  assert.equal(two.status().state, 'failing')
  assert.match(two.lines.at(-1)!, /held by another process .*; give each mirror a folder of its own/)
  release()
  await copying
  web.faultOf = () => null
  assert.equal(await one.held(), id)
  const parts = partsAsked(web)
  assert.equal(parts.length, new Set(parts).size)
  await Promise.all([one.mirror.look(), two.mirror.look()])
  assert.deepEqual(
    [one, two].map((each) => each.status().state),
    ['current', 'current'],
  )

  const elsewhere = join(temporaryFolder(t), 'elsewhere')
  const other = await publish(elsewhere, 100)
  const moved = await serveFolder(t, elsewhere)
  const three = mirrorOf(t, moved.url, shared)
  await holds(three, other)
  await publish(source, 1)
  await one.mirror.look()
  assert.equal(await three.held(), other)
  assert.match(
    one.lines.at(-1)!,
    /another process mirrors http:.* into this folder since; give each source a folder/,
  )
  assert.deepEqual(await faultsOf(shared), [])
})

test('A builder and a mirror keep out of each other’s folders, whoever comes first.', async (t) => {
  const { source, id, web } = await sourceOf(t)
  assert.throws(() => mirrorOf(t, web.url, source), {
    name: 'BuildError',
    message: /source: a builder publishes in this folder .*--snapshots$/,
  })
  const { mirror, dir } = mirrorOf(t, web.url, copyOf(t))
  await mirror.look()
  for (const act of [() => publish(dir, 1), () => rollback(dir, null, 0), () => resume(dir)]) {
    await assert.rejects(act, /copy: is a mirror of http:.*run the command where the builder is/)
  }
  // A copy by hand, without what only a builder needs, may become a mirror: nothing of it comes again.
  const copy = join(temporaryFolder(t), 'seed')
  mkdirSync(copy)
  for (const name of [...partsOf(source), MANIFEST_FILE]) copyFileSync(join(source, name), join(copy, name))
  web.asked.length = 0
  const seeded = mirrorOf(t, web.url, copy)
  await seeded.mirror.look()
  assert.deepEqual(fieldOf(web.asked, 'name'), [MANIFEST_FILE])
  assert.equal(await seeded.held(), id)
  assert.throws(() => lockFolder(copy), /is a mirror of http/)
})

test('A folder that a builder takes while its mirror runs stays the builder’s.', async (t) => {
  const source = join(temporaryFolder(t), 'source')
  const web = await serveFolder(t, source)
  const dir = copyOf(t)
  const at = mirrorOf(t, web.url, dir)
  await at.mirror.look()
  const own = await publish(dir, 5)
  await publish(source, 6)
  await at.mirror.look()
  assert.equal(await at.held(), own)
  assert.match(at.lines.at(-1)!, /a builder publishes in this folder/)
})

test('Parts that are gone or damaged here come again.', async (t) => {
  const { id, web } = await sourceOf(t)
  const dir = copyOf(t)
  await mirrorOf(t, web.url, dir).mirror.look()
  const [one, other] = partsOf(dir)
  rmSync(join(dir, one))
  truncateSync(join(dir, other), 5)
  // The next process looks at what is there.
  const { mirror } = mirrorOf(t, web.url, dir)
  await mirror.look()
  assert.deepEqual(await faultsOf(dir), [])
  // A part of the right size is found to be wrong by the loader.
  flip(join(dir, one), statSync(join(dir, one)).size >> 1)
  web.asked.length = 0
  mirror.refused(id)
  await mirror.look()
  assert.deepEqual(partsAsked(web), [one])
  assert.deepEqual(await faultsOf(dir), [])
  // Where nothing is wrong with the files, they are read once and not again.
  mirror.refused(id)
  await mirror.look()
  assert.deepEqual(partsAsked(web), [])
})

test('A full disk leaves the old snapshot, and says so; with room again it goes on.', (t) =>
  onSmallDisk(t, '20m', async (dir) => {
    const source = join(temporaryFolder(t), 'source')
    const first = await publish(source, 0)
    const web = await serveFolder(t, source)
    const at = mirrorOf(t, web.url, dir)
    await at.mirror.look()
    assert.equal(await at.held(), first)
    const second = await publish(source, 1)
    // Found before anything is fetched.
    writeFileSync(join(dir, 'ballast'), Buffer.alloc(15 * 2 ** 20))
    at.lines.length = 0
    web.asked.length = 0
    await at.mirror.look()
    await at.mirror.look()
    assert.equal(at.lines.length, 1, at.lines.join('\n'))
    assert.match(
      at.lines[0],
      /no space is left on the disk: the next snapshot needs 0\.\d MB, and 0\.0 MB are free for it beside 16\.8 MB that a mirror leaves to others; snapshot \w+ stays/,
    )
    assert.ok(web.asked.every(({ name }) => name === MANIFEST_FILE))
    // Found while it is fetched: somebody else takes the room.
    rmSync(join(dir, 'ballast'))
    web.faultOf = (name) =>
      name === MANIFEST_FILE
        ? null
        : (response, { bytes, headers }) => {
            spawnSync('dd', ['if=/dev/zero', `of=${join(dir, 'ballast')}`, 'bs=64k'], { stdio: 'ignore' })
            response.writeHead(200, headers).end(bytes)
          }
    at.lines.length = 0
    await at.mirror.look()
    assert.match(at.lines[0], /no space is left on the disk \(ENOSPC\); snapshot \w+ stays/)
    assert.deepEqual(
      readdirSync(dir).filter((name) => name.startsWith('.half-')),
      [],
    )
    assert.equal(await at.held(), first)
    rmSync(join(dir, 'ballast'))
    web.faultOf = () => null
    await at.mirror.look()
    assert.equal(await at.held(), second)
    assert.deepEqual(await faultsOf(dir), [])
  }))

test('A bucket is mirrored with its credentials, and a clock that is an hour off is no hindrance.', async (t) => {
  const source = join(temporaryFolder(t), 'source')
  const id = await publish(source, 0)
  const stub = await stubFor(t)
  for (const name of [...partsOf(source), MANIFEST_FILE])
    stub.set(`sea/${name}`, readFileSync(join(source, name)))
  const dir = copyOf(t)
  stub.options.clock = () => Date.now() - 3_600_000
  await holds(mirrorOf(t, openStub(stub), dir), id)
})
