/**
 * One random history of a folder: builds with sources that fail, rollbacks, pins, collections, lost files,
 * and processes that are killed. After each step the folder is compared with the model, and all ids, slugs
 * and readings with all that were ever given.
 */
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { cataloguedBuoys, readCatalog } from '../../src/snapshot/catalog.ts'
import { readForecast, readMonth, readPasses, readTides } from '../../src/snapshot/part-kinds.ts'
import { type Part } from '../../src/snapshot/snapshot-format.ts'
import { type Manifest } from '../../src/snapshot/manifest.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { listKept, readHold, resume, rollback, setPinned } from '../../src/snapshot/retained.ts'
import { loadPart, readManifest } from '../../src/snapshot/read-snapshot.ts'
import { silentReport } from '../builder/fake_source.ts'
import { Chance } from '../chance.ts'
import type { Work } from './builder.ts'
import { built, shown, type Refusal, type State } from './model.ts'
import { heightAt, sourceOf, SPEAKERS, speakersAt, START, type Speaker } from './world.ts'

const BUILDER = fileURLToPath(new URL('./builder.ts', import.meta.url))
/** Disk changes of a build of this world: up to some hundred. */
const MOST_CHANGES = 110

export interface Counts {
  [what: string]: number
}

/** Keeps one builder ready, since a process takes longer to start than a build. */
export class Builders {
  readonly #program: string
  #next: ChildProcess | null = null

  private constructor(program: string) {
    this.#program = program
  }

  /** As one file in `dir`, which starts several times as fast as sources do. */
  static async in(dir: string): Promise<Builders> {
    const program = join(dir, 'builder.mjs')
    await bundle({
      entryPoints: [BUILDER],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // Packages of the older kind ask for Node's own modules by this.
      banner: {
        js: "import { createRequire as requireOf } from 'node:module'\nconst require = requireOf(import.meta.url)",
      },
      logLevel: 'error',
    })
    return new Builders(program)
  }

  #start(): ChildProcess {
    return fork(this.#program, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  }

  /** Resolves to 'killed', 'done' or the message of the error. */
  async work(work: Work): Promise<string> {
    const builder = this.#next ?? this.#start()
    this.#next = this.#start()
    let said = 'killed'
    builder.on('message', (message: { error?: string; done?: true; ready?: true }) => {
      if (message.ready === true) return
      said = message.error ?? 'done'
    })
    builder.send(work)
    const signal = await new Promise((resolve) => builder.once('close', (_code, by) => resolve(by)))
    assert.equal(signal, said === 'killed' ? 'SIGKILL' : null)
    return said
  }

  close(): void {
    this.#next?.kill('SIGKILL')
  }
}

interface KeptState {
  id: string
  sequence: number
  pinned: boolean
}

const REFUSALS: { readonly [refusal in Refusal]: RegExp } = {
  'none read': /none of the sources could be read/,
  forgotten: /the folder does not say what it gave last/,
  fresh: /lost with --fresh/,
  'no time': /there is no time to build for/,
}

export class History {
  readonly #dir: string
  readonly #chance: Chance
  readonly #builders: Builders
  readonly #counts: Counts
  #step = 0
  #names: string[] = [...SPEAKERS]
  /** What each snapshot has to hold, by id. */
  readonly #states = new Map<string, State>()
  #kept: KeptState[] = []
  #published: string | null = null
  /** The last sequence before the rollback that holds. */
  #hold: number | null = null
  readonly #log: string[] = []
  /** What was ever seen of ids and slugs, in any snapshot that was kept. */
  readonly #keyOfId = new Map<number, string>()
  readonly #keyOfSlug = new Map<string, string>()
  readonly #nameOfKey = new Map<string, string>()
  readonly #seen = new Set<string>()

  constructor(dir: string, seed: number, builders: Builders, counts: Counts) {
    this.#dir = dir
    this.#chance = new Chance(seed)
    this.#builders = builders
    this.#counts = counts
  }

  /** @throws AssertionError with the steps so far */
  async run(steps: number): Promise<void> {
    try {
      for (this.#step = 0; this.#step < steps; this.#step++) {
        await this.#act()
        await this.#verify()
      }
    } catch (error) {
      const { message } = error as Error
      throw new Error(`${message}\nafter:\n${this.#log.join('\n')}`, { cause: error })
    }
  }

  #record(what: string, details: unknown = ''): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1
    this.#log.push(`${this.#step} ${what} ${typeof details === 'string' ? details : JSON.stringify(details)}`)
  }

  async #act(): Promise<void> {
    if (this.#published === null) return this.#build()
    const dice = this.#chance.below(100)
    if (dice < 58) return this.#build()
    if (dice < 70) return this.#rollback()
    if (dice < 80) return this.#resume()
    if (dice < 86) return this.#pin()
    if (dice < 93) return this.#age()
    return this.#lose()
  }

  async #build(): Promise<void> {
    const chance = this.#chance
    if (chance.percent(12)) this.#names = chance.some(SPEAKERS, 75)
    if (this.#names.length === 0) this.#names = ['s1']
    const speakers = speakersAt(chance, this.#names, this.#step)
    const fresh = chance.percent(6)
    const keep = 1 + chance.below(3)
    const base = this.#base()
    const expected = built(base === null ? null : this.#states.get(base)!, speakers, fresh)
    const isKilled = chance.percent(14)
    const killAt = chance.below(MOST_CHANGES)
    const saying = speakers.map(({ name, fails }) => `${name} ${fails ?? 'read'}`)
    this.#record(fresh ? 'fresh build' : 'build', { saying, keep, base, ...(isKilled && { killAt }) })
    for (const { fails } of speakers) if (fails !== null) this.#record('failing source')

    const work: Work = {
      dir: this.#dir,
      now: Date.now() / 1000,
      killAt,
      what: { command: 'build', speakers, keep, fresh },
    }
    const given = this.#memories()
    const outcome = isKilled ? await this.#builders.work(work) : await this.#buildHere(speakers, work)
    if (outcome === 'killed') {
      this.#record('kill of a build')
      await this.#adoptKilled(expected, given)
      return
    }
    if (typeof expected === 'string') {
      this.#record('refused build', expected)
      assert.match(outcome, REFUSALS[expected])
      // It has collected what --keep lets go, and nothing else.
      this.#syncKept(keep, undefined)
      return
    }
    assert.equal(outcome, 'done')
    const newest = listKept(this.#dir).at(-1)!
    this.#states.set(newest.id, expected)
    if (this.#hold === null) this.#published = newest.id
    this.#syncKept(keep, newest)
  }

  async #buildHere(speakers: readonly Speaker[], { now, what }: Work): Promise<string> {
    assert.equal(what.command, 'build')
    const { keep, fresh } = what as { keep: number; fresh: boolean }
    const report = silentReport()
    const sources = speakers.map(sourceOf)
    try {
      await buildSnapshot({ sources, out: this.#dir, asOf: null, now, report, keep, fresh, allowLoss: 1 })
      return 'done'
    } catch (error) {
      return (error as Error).message
    }
  }

  /** The snapshot that the next build goes upon. */
  #base(): string | null {
    const waiting =
      this.#hold === null ? undefined : this.#kept.findLast(({ sequence }) => sequence > this.#hold!)
    return waiting?.id ?? this.#published ?? this.#kept.at(-1)?.id ?? null
  }

  /** A killed build has done all, nothing, or has kept its snapshot and not published it. */
  async #adoptKilled(expected: State | Refusal, given: ReadonlyMap<string, string>): Promise<void> {
    if (!existsSync(this.#dir)) return
    const published = (await readManifest(this.#dir))?.id ?? null
    const newest = listKept(this.#dir).at(-1)
    const isNew = newest !== undefined && newest.sequence > (this.#kept.at(-1)?.sequence ?? 0)
    if (isNew) {
      assert.ok(typeof expected !== 'string', 'a build that must be refused kept a snapshot')
      this.#states.set(newest.id, expected)
    }
    // It may have given the very snapshot that is there, and have noted only who gave it now.
    for (const [id, memory] of this.#memories()) {
      const before = given.get(id)
      if (before !== undefined && before !== memory && typeof expected !== 'string')
        this.#states.set(id, expected)
    }
    if (published !== this.#published) {
      assert.ok(this.#hold === null, 'a killed build published though a rollback holds')
      assert.equal(published, newest?.id)
      this.#published = published
    }
    this.#syncKept(1, newest)
  }

  #memories(): Map<string, string> {
    if (!existsSync(this.#dir)) return new Map()
    return new Map(
      readdirSync(this.#dir).flatMap((file) => {
        const match = /^given-(\w+)\.jsonl$/.exec(file)
        // But for the times at which sources were read.
        const text = (): string =>
          readFileSync(join(this.#dir, file), 'utf8')
            .split('\n')
            .slice(1)
            .join('\n')
            .replaceAll(/"read_at":"[^"]*"/g, '')
        return match === null ? [] : [[match[1], text()]]
      }),
    )
  }

  /** Takes over what the folder keeps, once that is not less than it must be. */
  #syncKept(keep: number, newest: { id: string } | undefined): void {
    const now = existsSync(this.#dir) ? listKept(this.#dir) : []
    const ids = new Set(now.map(({ id }) => id))
    for (const { id, pinned } of this.#kept)
      if (pinned || id === this.#published) assert.ok(ids.has(id), `${id} is gone`)
    const expected = this.#kept.filter(({ id }) => id !== newest?.id).slice(-keep + 1)
    if (keep > 1) for (const { id } of expected) assert.ok(ids.has(id), `${id} is gone in spite of --keep`)
    this.#kept = now.map(({ id, sequence, pinned }) => ({ id, sequence, pinned }))
  }

  async #rollback(): Promise<void> {
    const chance = this.#chance
    const to = chance.percent(40) && this.#kept.length > 0 ? chance.pick(this.#kept).id : null
    const at = this.#kept.findLastIndex(({ id }) => id === this.#published)
    const target = to ?? this.#kept.at(at === -1 ? -1 : at - 1)?.id
    const isRefused = target === undefined || (to === null && at === 0)
    this.#record('rollback', { to, target, isRefused })
    const now = Date.now() / 1000
    if (chance.percent(10)) {
      const work: Work = { dir: this.#dir, now, killAt: chance.below(14), what: { command: 'rollback', to } }
      if ((await this.#builders.work(work)) === 'killed') {
        this.#record('kill of a rollback')
        const published = (await readManifest(this.#dir))?.id ?? null
        if (published !== this.#published) assert.equal(published, target)
        if (published !== this.#published) assert.ok(readHold(this.#dir) !== null, 'it does not hold')
        this.#published = published
        this.#hold = readHold(this.#dir)?.after ?? null
        return
      }
    } else if (isRefused) await assert.rejects(rollback(this.#dir, to, now), /no earlier snapshot|no kept/)
    else await rollback(this.#dir, to, now)
    if (isRefused) return
    this.#published = target
    this.#hold = this.#kept.at(-1)!.sequence
  }

  async #resume(): Promise<void> {
    this.#record('resume', `${this.#hold}`)
    const isHeld = this.#hold !== null
    const newest = this.#kept.at(-1)?.id ?? null
    const isRefused = isHeld && newest === null
    if (this.#chance.percent(10)) {
      const killAt = this.#chance.below(14)
      const work: Work = { dir: this.#dir, now: 0, killAt, what: { command: 'resume' } }
      if ((await this.#builders.work(work)) === 'killed') {
        this.#record('kill of a resume')
        const published = (await readManifest(this.#dir))?.id ?? null
        if (published !== this.#published) assert.equal(published, newest)
        this.#published = published
        this.#hold = readHold(this.#dir)?.after ?? null
        if (isHeld && this.#hold === null) assert.equal(published, newest)
        return
      }
    } else if (isRefused) await assert.rejects(resume(this.#dir), /no kept snapshot/)
    else await resume(this.#dir)
    if (!isHeld || isRefused) return
    this.#published = newest
    this.#hold = null
  }

  #pin(): Promise<void> {
    if (this.#kept.length === 0) return Promise.resolve()
    const one = this.#chance.pick(this.#kept)
    one.pinned = !one.pinned
    this.#record(one.pinned ? 'pin' : 'unpin', one.id)
    setPinned(this.#dir, one.id, one.pinned)
    return Promise.resolve()
  }

  /** As if an hour had passed: what is not kept goes with the next build. */
  #age(): Promise<void> {
    this.#record('hour')
    for (const file of readdirSync(this.#dir)) {
      const path = join(this.#dir, file)
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue
      const { mtimeMs } = statSync(path)
      utimesSync(path, mtimeMs / 1000 - 3600, mtimeMs / 1000 - 3600)
    }
    return Promise.resolve()
  }

  #lose(): Promise<void> {
    const registry = join(this.#dir, 'registry.jsonl')
    // What is lost with the file of given ids stands in what is kept: one or the other has to be there.
    switch (this.#chance.below(5)) {
      case 0:
        if (this.#kept.length === 0) break
        this.#record('lost registry')
        rmSync(registry, { force: true })
        break
      case 1:
        if (!existsSync(registry) || this.#kept.length === 0) break
        this.#record('damaged registry')
        writeFileSync(registry, readFileSync(registry, 'utf8').slice(0, -7))
        break
      case 2: {
        // With the registry lost as well, nothing would know what was rolled back.
        if (!this.#hasWholeRegistry()) break
        this.#record('lost kept manifests')
        for (const { file, id } of listKept(this.#dir)) {
          rmSync(join(this.#dir, file))
          rmSync(join(this.#dir, `pin-${id}`), { force: true })
        }
        this.#kept = []
        break
      }
      case 3: {
        const id = this.#base()!
        if (!this.#states.get(id)!.isKnown || !existsSync(join(this.#dir, `given-${id}.jsonl`))) break
        this.#record('lost source states', id)
        rmSync(join(this.#dir, `given-${id}.jsonl`))
        this.#states.set(id, { ...this.#states.get(id)!, isKnown: false })
        break
      }
      default:
        if (!this.#hasWholeRegistry()) break
        this.#record('lost folder')
        for (const file of readdirSync(this.#dir))
          if (file !== 'registry.jsonl') rmSync(join(this.#dir, file), { recursive: true })
        this.#kept = []
        this.#published = null
        this.#hold = null
    }
    return Promise.resolve()
  }

  #hasWholeRegistry(): boolean {
    const registry = join(this.#dir, 'registry.jsonl')
    if (!existsSync(registry)) return false
    const [head, ...lines] = readFileSync(registry, 'utf8').split('\n')
    return (JSON.parse(head) as { lines: number }).lines === lines.length - 1 && lines.at(-1) === ''
  }

  async #verify(): Promise<void> {
    if (!existsSync(this.#dir)) return
    const published = await readManifest(this.#dir)
    assert.equal(published?.id ?? null, this.#published, 'the published snapshot')
    assert.equal(readHold(this.#dir)?.after ?? null, this.#hold, 'what holds')
    if (published !== null) {
      // Registries that were damaged on purpose are made anew by the next build.
      const faults = (await checkFolder(this.#dir)).filter((fault) => !fault.startsWith('registry.jsonl'))
      assert.deepEqual(faults, [])
    }
    for (const { id, manifest } of [
      ...listKept(this.#dir),
      ...(published === null ? [] : [{ id: published.id, manifest: published }]),
    ]) {
      if (this.#seen.has(id)) continue
      this.#seen.add(id)
      this.#counts['snapshots compared'] = (this.#counts['snapshots compared'] ?? 0) + 1
      const state = this.#states.get(id) ?? assert.fail(`nobody built ${id}`)
      assert.deepEqual(await this.#contentOf(manifest ?? assert.fail(`${id} is broken`)), shown(state))
    }
  }

  /**
   * What readers see of a snapshot, in the model's words; ids and slugs are compared with all that were ever
   * seen.
   */
  async #contentOf({ asOf, parts }: Manifest): Promise<object> {
    const decoded: { part: Part; month: number | null; kind: string }[] = []
    for (const entry of parts) {
      const { bytes } = await loadPart(this.#dir, entry)
      decoded.push({
        part: decodePart(bytes, entry.file),
        month: entry.month,
        kind: entry.kind,
      })
    }
    const partOf = (kind: string): Part | undefined => decoded.find((one) => one.kind === kind)?.part
    const catalog = readCatalog(partOf('catalog') ?? assert.fail('no catalogue'), 'f')
    const keys = new Map<number, string>()
    for (const { id, slug, source, identifier } of cataloguedBuoys(catalog)) {
      const key = `${source}/${identifier}`
      keys.set(id, key)
      this.#identify(key, id, slug)
    }
    const rows = decoded
      .filter(({ kind }) => kind === 'readings')
      .flatMap(({ part, month }) => {
        const { buoys, start, time, measures } = readMonth(part, month!, 'f')
        return [...buoys].flatMap((id, i) =>
          Array.from({ length: start[i + 1] - start[i] }, (_, n) => {
            const row = start[i] + n
            const key = keys.get(id) ?? this.#keyOfId.get(id) ?? `nobody with the id ${id}`
            assert.equal(
              measures.significantHeight.codes[row],
              heightAt(key, time[row]),
              `a reading of ${key}`,
            )
            return keys.has(id) ? [`${key} ${time[row]}`] : []
          }).flat(),
        )
      })
    const forecast = partOf('forecast')
    const points = forecast === undefined ? null : readForecast(forecast, 'f')
    const tides = partOf('tides')
    const harbours = tides === undefined ? null : readTides(tides, 'f')
    const passesPart = partOf('passes')
    const passes = passesPart === undefined ? null : readPasses(passesPart, 'f')
    const perMetre = 1000
    return {
      asOf,
      buoys: [...keys.values()].sort(),
      rows: rows.sort(),
      points: Array.from(points?.lat ?? [], (lat, i) => {
        const height = points!.codes.waveHeight[points!.start[i]] / perMetre
        return `${lat} ${(points!.run[i] - START) / 3600} s${height}`
      }).sort(),
      harbours: (harbours?.identifiers ?? [])
        .map((identifier, i) => `${identifier} ${harbours!.credits[harbours!.credit[i]]}`)
        .sort(),
      spots: catalog.spots.map(({ id }) => String(id)).sort(),
      passes: Array.from(passes?.number ?? [], (number, i) => [
        `${number}`,
        ...Array.from({ length: passes!.first[i + 1] - passes!.first[i] }, (_, n) => {
          const at = passes!.first[i] + n
          return `${number} ${keys.get(passes!.buoy[at])} ${passes!.time[at]}`
        }),
      ])
        .flat()
        .sort(),
    }
  }

  #identify(key: string, id: number, slug: string): void {
    const name = `${id} ${slug}`
    assert.equal(this.#keyOfId.get(id) ?? key, key, `the id ${id} names two buoys`)
    assert.equal(this.#keyOfSlug.get(slug) ?? key, key, `the slug ${slug} names two buoys`)
    assert.equal(this.#nameOfKey.get(key) ?? name, name, `${key} has two names`)
    assert.doesNotMatch(slug, /^\d+$/)
    this.#keyOfId.set(id, key)
    this.#keyOfSlug.set(slug, key)
    this.#nameOfKey.set(key, name)
  }
}
