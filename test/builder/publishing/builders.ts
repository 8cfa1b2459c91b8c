/** Builders for tests, each with a folder of its own, that publish to one stub of a bucket. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { buildSnapshot } from '../../../src/builder/run-build.ts'
import {
  beginPublishing,
  pendingSnapshot,
  publishSnapshot,
  type Outcome,
} from '../../../src/builder/publishing/publish-to-prefix.ts'
import type { BuiltSnapshot } from '../../../src/builder/publish.ts'
import { decodeCommit, Prefix, type Commit } from '../../../src/builder/publishing/prefix.ts'
import { readCatalog } from '../../../src/snapshot/catalog.ts'
import type { Manifest } from '../../../src/snapshot/manifest.ts'
import { decodePart } from '../../../src/snapshot/part-columns.ts'
import { lockFolder } from '../../../src/snapshot/write-snapshot.ts'
import type { Store, StoreLimits } from '../../../src/snapshot/store/store.ts'
import type { Source } from '../../../src/sources/source.ts'
import { openStub } from '../../snapshot/store/opened.ts'
import { stubFor, type StubS3 } from '../../snapshot/store/stub_s3.ts'
import { temporaryFolder } from '../../live.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { lineText } from '../../../src/system/log.ts'
import { fakeSource, northBuoy, silentReport, type FakeBuoy } from '../fake_source.ts'

export const NOON = Date.UTC(2026, 2, 27, 12) / 1000

/** A buoy of a feed that gives its newest row only, at a step of half an hour. */
export function buoyAt(identifier: string, step: number): FakeBuoy {
  const rows = [{ time: NOON + step * 1800, significantHeight: 1000 + step }]
  return northBuoy(identifier, rows, { lat: 10 + (identifier.codePointAt(0)! % 50) })
}

interface BuilderOptions {
  singleWriter?: boolean
  keep?: number
  clock?: () => number
  store?: Store
  limits?: Partial<StoreLimits>
}

export class Builder {
  readonly dir: string
  readonly lines: string[] = []
  readonly store: Store
  readonly #options: BuilderOptions

  constructor(folder: string, name: string, stub: StubS3, options: BuilderOptions = {}) {
    this.dir = join(folder, name)
    this.#options = options
    this.store =
      options.store ?? openStub(stub, options.limits === undefined ? {} : { limits: options.limits })
  }

  async build(
    given: readonly FakeBuoy[] | readonly Source[],
    { publish = true }: { publish?: boolean } = {},
  ): Promise<BuiltSnapshot> {
    this.lines.length = 0
    const { clock = () => NOON, keep = 5, singleWriter = false } = this.#options
    const report = silentReport((...event) => void this.lines.push(lineText(...event)))
    return buildSnapshot({
      sources: given.every((one): one is Source => 'read' in one) ? [...given] : [fakeSource(given)],
      out: this.dir,
      asOf: null,
      now: clock(),
      report,
      allowLoss: 1,
      keep,
      publishTo: publish ? { store: this.store, singleWriter } : null,
    })
  }

  /** What the command `publish` does. Null where the folder has nothing. */
  async publish(): Promise<Outcome | null> {
    this.lines.length = 0
    const { clock = () => NOON, singleWriter = false } = this.#options
    const lock = lockFolder(this.dir)
    try {
      const publishing = await beginPublishing(
        {
          dir: this.dir,
          prefix: new Prefix(this.store, singleWriter),
          now: clock(),
          log: (...event) => this.lines.push(lineText(...event)),
        },
        lock,
      )
      const pending = pendingSnapshot(publishing)
      return pending === null ? null : await publishSnapshot(publishing, pending)
    } finally {
      lock.release()
    }
  }
}

/** Two builders that publish to one bucket. */
export async function sceneFor(t: TestContext) {
  const stub = await stubFor(t)
  const folder = temporaryFolder(t)
  const [one, two] = ['one', 'two'].map((name) => new Builder(folder, name, stub))
  return { stub, folder, one, two }
}

export const currentId = async (dir: string): Promise<string | undefined> => (await readManifest(dir))?.id

/** All commits that a stub ever had as its manifest, oldest first. */
export function commitsOf(stub: StubS3, prefix = 'sea/'): Commit[] {
  const key = `${prefix}manifest.msgpack`
  return (stub.objects.get(key) ?? []).map(({ bytes }) => decodeCommit(bytes, key))
}

const catalogOf = ({ parts }: Manifest): string => parts.find(({ kind }) => kind === 'catalog')!.file

/** The ids of a snapshot's buoys, by network and identifier, out of the bytes in the stub. */
export function idsOf(stub: StubS3, { parts }: Manifest, prefix = 'sea/'): Map<string, number> {
  const entry = parts.find(({ kind }) => kind === 'catalog')!
  const bytes = stub.bytesOf(`${prefix}${entry.file}`)
  assert.ok(bytes !== undefined, `${entry.file} is not in the store`)
  // A copy that is aligned as a file is.
  const catalog = readCatalog(decodePart(Uint8Array.from(bytes), entry.file), entry.file)
  return new Map(catalog.registry().map(({ source, identifier, id }) => [`${source} ${identifier}`, id]))
}

/**
 * Fails unless a stub holds a history that readers can trust: all that the newest commit names is there, and
 * no id of any commit ever belongs to two buoys.
 */
export function expectSound(stub: StubS3, prefix = 'sea/'): void {
  const commits = commitsOf(stub, prefix)
  const { manifest: newest, state } = commits.at(-1)!
  for (const { file, bytes } of [...newest.parts, ...state]) {
    assert.equal(stub.bytesOf(`${prefix}${file}`)?.length, bytes, `${file} of snapshot ${newest.id}`)
  }
  const idOf = new Map<string, number>()
  const ownerOf = new Map<number, string>()
  for (const { manifest } of commits) {
    // The parts of commits that were replaced may have been collected.
    if (stub.bytesOf(`${prefix}${catalogOf(manifest)}`) === undefined) continue
    for (const [buoy, id] of idsOf(stub, manifest, prefix)) {
      assert.equal(idOf.get(buoy) ?? id, id, `${buoy} moved in snapshot ${manifest.id}`)
      assert.equal(ownerOf.get(id) ?? buoy, buoy, `${id} is another buoy's in snapshot ${manifest.id}`)
      idOf.set(buoy, id)
      ownerOf.set(id, buoy)
    }
  }
}
