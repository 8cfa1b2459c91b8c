/**
 * Snapshots from a liar, with right hashes and ids, at a start and at a swap: each is refused, or serves
 * without harm. `GROUNDSWELL_LIES=10000` tries so many; a lie that does harm is named by its seed, and
 * `GROUNDSWELL_SEED=SEED GROUNDSWELL_LIES=1` repeats it.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { SnapshotError } from '../../src/snapshot/snapshot-format.ts'
import { MANIFEST_FILE } from '../../src/snapshot/manifest.ts'
import { Loader } from '../../src/server/load.ts'
import type { IndexedSnapshot } from '../../src/dataset/view.ts'
import { readManifest } from '../../src/snapshot/read-snapshot.ts'
import { temporaryFolder } from '../live.ts'
import { everythingSource } from '../builder/everything_source.ts'
import { build } from '../builder/fake_source.ts'
import { rounds } from '../rounds.ts'
import { copyOf, lieAbout, taleOf, tell, type Tale, type Telling } from './lies.ts'

const LIES = Number(process.env.GROUNDSWELL_LIES ?? rounds(40, 1000))
const FIRST_SEED = Number(process.env.GROUNDSWELL_SEED ?? 0)
/** A load takes some milliseconds; a machine may be busy. */
const HANG_MS = 30_000
const DAY = 86_400

/** Opens and asks on a thread of its own. */
class Asker {
  #thread: Worker | null = null

  /** What a client would see that it must not, or how the thread ended. */
  faultsOf(snapshot: IndexedSnapshot): Promise<string[]> {
    const thread = (this.#thread ??= new Worker(new URL('../../src/system/thread.dev.mjs', import.meta.url), {
      argv: [new URL('asked_thread.ts', import.meta.url).href],
    }))
    return new Promise((resolve) => {
      const settle = (faults: string[], isOver: boolean): void => {
        clearTimeout(timer)
        thread.removeAllListeners('message').removeAllListeners('error')
        if (isOver) this.end()
        resolve(faults)
      }
      const timer = setTimeout(() => settle(['a serving thread hangs'], true), HANG_MS)
      thread.once('message', (faults: string[]) => settle(faults, false))
      thread.once('error', (error) => settle([`a serving thread died: ${error.message}`], true))
      thread.postMessage(snapshot)
    })
  }

  end(): void {
    const thread = this.#thread
    this.#thread = null
    thread?.on('error', () => {})
    void thread?.terminate()
  }
}

/** A folder with a whole snapshot, into which lies are put. */
class Scene {
  readonly dir: string
  readonly truth: Tale
  readonly #loader: Loader
  readonly #asker = new Asker()
  #served: IndexedSnapshot | null = null
  readonly refusals = new Map<string, number>()
  refused = 0
  harmless = 0

  constructor(whole: string, dir: string) {
    cpSync(whole, dir, { recursive: true })
    this.dir = dir
    this.truth = taleOf(readFileSync(join(dir, MANIFEST_FILE)), (file) => readFileSync(join(dir, file)))
    this.#loader = new Loader({ dir, activeWithin: DAY, limitMs: () => HANG_MS })
  }

  async serve(): Promise<void> {
    const manifest = (await readManifest(this.dir)) ?? assert.fail()
    this.#served = await this.#loader.load(manifest, null)
    assert.deepEqual(await this.#asker.faultsOf(this.#served), [])
  }

  /** What is harmful about it, at a start and at a swap. */
  async harmOf({ manifest, files }: Telling): Promise<string[]> {
    for (const [file, bytes] of files) writeFileSync(join(this.dir, file), bytes)
    writeFileSync(join(this.dir, MANIFEST_FILE), manifest)
    const harm: string[] = []
    for (const served of [null, this.#served]) {
      const faults = await this.#faultsOver(served)
      harm.push(...faults.map((fault) => `${served === null ? 'at a start' : 'at a swap'}: ${fault}`))
    }
    const own = new Set(this.#served?.parts.map(({ entry }) => entry.file))
    for (const file of files.keys()) {
      if (!own.has(file)) rmSync(join(this.dir, file))
    }
    return harm
  }

  async #faultsOver(served: IndexedSnapshot | null): Promise<string[]> {
    let loaded: IndexedSnapshot
    try {
      const manifest = (await readManifest(this.dir)) ?? assert.fail()
      loaded = await this.#loader.load(manifest, served)
    } catch (error) {
      const { message } = error as Error
      const isRefused =
        error instanceof SnapshotError && !/ended the thread|was not loaded within/.test(message)
      if (!isRefused) return [message]
      this.refused++
      const kind = message.replaceAll(/[0-9a-f]{24,}|\d+/g, '#').slice(0, 100)
      this.refusals.set(kind, (this.refusals.get(kind) ?? 0) + 1)
      return []
    }
    this.harmless++
    return this.#asker.faultsOf(loaded)
  }

  end(): void {
    this.#loader.end()
    this.#asker.end()
  }
}

test('Snapshots from a liar are refused or serve without harm, at a start and at a swap.', async (t) => {
  const folder = temporaryFolder(t)
  await build([everythingSource()], join(folder, 'whole'))
  const scene = new Scene(join(folder, 'whole'), join(folder, 'told'))
  t.after(() => scene.end())
  // Written again without a lie it is the same.
  assert.deepEqual(
    Buffer.from(tell(copyOf(scene.truth)).manifest),
    readFileSync(join(scene.dir, MANIFEST_FILE)),
  )
  await scene.serve()
  const harm: string[] = []
  for (let seed = FIRST_SEED; seed < FIRST_SEED + LIES; seed++) {
    const { what, telling } = lieAbout(scene.truth, seed)
    for (const fault of await scene.harmOf(telling)) harm.push(`${what}: ${fault}`)
  }
  t.diagnostic(
    `${LIES} lies, each told twice: ${scene.refused} refused for ${scene.refusals.size} reasons, ${scene.harmless} harmless, ${harm.length} harmful`,
  )
  assert.deepEqual(harm.slice(0, 5), [])
  // Some do no harm, as other names do, but most do.
  if (LIES >= 100) {
    assert.ok(scene.refused > LIES, `${scene.refused} refused`)
    assert.ok(scene.harmless > LIES / 20, `${scene.harmless} harmless`)
    assert.ok(scene.refusals.size > LIES ** 0.5, `${scene.refusals.size} reasons`)
  }
})
