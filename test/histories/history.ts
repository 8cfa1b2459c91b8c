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
import { cataloguedBuoys, readCatalog } from '../../src/snapshot/catalog.ts'
import { readForecast, readMonth, readPasses, readTides } from '../../src/snapshot/part-kinds.ts'
import type { Part, PartEntry } from '../../src/snapshot/snapshot-format.ts'
import { type Manifest } from '../../src/snapshot/manifest.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { type KeptSnapshot, listKept, readHold, setPinned } from '../../src/snapshot/retained.ts'
import { readManifest, readPart } from '../../src/snapshot/read-snapshot.ts'
import { Chance } from '../chance.ts'
import { doWork, type Work } from './work.ts'
import { built, shown, type Refusal, type State } from './model.ts'
import { heightAt, SPEAKERS, speakersAt, START } from './world.ts'

const BUILDER = fileURLToPath(new URL('./builder.ts', import.meta.url))
/** Disk changes of a build of this world: up to some hundred. */
const MOST_CHANGES = 110

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
  async work(work: Work & { killAt: number }): Promise<string> {
    const builder = this.#next ?? this.#start()
    this.#next = this.#start()
    let said = 'killed'
    builder.on('message', (message: string) => (said = message))
    builder.send(work)
    const signal = await new Promise((resolve) => builder.once('close', (_code, by) => resolve(by)))
    assert.equal(signal, said === 'killed' ? 'SIGKILL' : null)
    return said
  }

  close(): void {
    this.#next?.kill('SIGKILL')
  }
}

const REFUSALS: { readonly [refusal in Refusal]: RegExp } = {
  'none read': /none of the sources could be read/,
  forgotten: /the folder lacks its last data/,
  fresh: /lost with --fresh/,
  'no time': /there is no time to build for/,
}

export class History {
  readonly #dir: string
  readonly #seed: number
  readonly #chance: Chance
  readonly #builders: Builders
  readonly #mirrored: (dir: string) => Promise<string | null>
  #step = 0
  #names: string[] = [...SPEAKERS]
  /** What each snapshot has to hold, by id. */
  readonly #states = new Map<string, State>()
  #kept: KeptSnapshot[] = []
  #published: string | null = null
  /** The last sequence before the rollback that holds. */
  #hold: number | null = null
  readonly #log: string[] = []
  /** What ids and slugs were ever seen to stand for, in any snapshot that was kept. */
  readonly #meaning = new Map<string, string>()
  readonly #seen = new Set<string>()

  /** @param mirrored makes a new mirror of a folder, and resolves to the id of the snapshot that it brings */
  constructor(
    dir: string,
    seed: number,
    builders: Builders,
    mirrored: (dir: string) => Promise<string | null>,
  ) {
    this.#dir = dir
    this.#seed = seed
    this.#mirrored = mirrored
    this.#chance = new Chance(seed)
    this.#builders = builders
  }

  /** @throws AssertionError with the steps so far */
  async run(steps: number): Promise<void> {
    try {
      for (this.#step = 0; this.#step < steps; this.#step++) {
        await this.#act()
        await this.#verify()
      }
      await this.#recover()
    } catch (error) {
      const { message } = error as Error
      throw new Error(`history ${this.#seed}: ${message}\nafter:\n${this.#log.join('\n')}`, { cause: error })
    }
  }

  #record(what: string, details: unknown = ''): void {
    this.#log.push(`${this.#step} ${what} ${typeof details === 'string' ? details : JSON.stringify(details)}`)
  }

  #act(): Promise<void> | void {
    if (this.#published === null) return this.#build()
    const dice = this.#chance.below(100)
    if (dice < 58) return this.#build()
    if (dice < 70) return this.#rollback()
    if (dice < 80) return this.#resume()
    if (dice < 86) return this.#pin()
    if (dice < 93) return this.#age()
    return this.#lose()
  }

  /**
   * When all faults have ended the folder gets well: what holds goes on, and one build of sources that all
   * speak is published, reaches a mirror, and leaves no lock and nothing half behind.
   */
  async #recover(): Promise<void> {
    this.#names = [...SPEAKERS]
    await this.#resume(false)
    const before = this.#published
    await this.#build('calm')
    // A folder that lost what it had asks for the operator's word.
    if (this.#published === before) await this.#build('calm and fresh')
    await this.#verify()
    assert.notEqual(this.#published, before, 'nothing is published')
    assert.equal(this.#published, this.#kept.at(-1)!.id)
    assert.deepEqual(await checkFolder(this.#dir), [])
    assert.deepEqual(
      readdirSync(this.#dir).filter((name) => /lock|tmp/.test(name)),
      [],
    )
    assert.equal(await this.#mirrored(this.#dir), this.#published, 'what a mirror brings')
  }

  async #build(manner: 'random' | 'calm' | 'calm and fresh' = 'random'): Promise<void> {
    const chance = this.#chance
    const isRandom = manner === 'random'
    if (isRandom && chance.percent(12)) this.#names = chance.some(SPEAKERS, 75)
    if (this.#names.length === 0) this.#names = ['s1']
    const all = speakersAt(chance, this.#names, this.#step)
    const speakers = isRandom ? all : all.map((speaker) => ({ ...speaker, fails: null }))
    const fresh = isRandom ? chance.percent(6) : manner === 'calm and fresh'
    const keep = 1 + chance.below(3)
    const base = this.#base()
    const expected = built(base === null ? null : this.#states.get(base)!, speakers, fresh)
    const killAt = isRandom && chance.percent(14) ? chance.below(MOST_CHANGES) : null
    const saying = speakers.map(({ name, fails }) => `${name} ${fails ?? 'read'}`)
    this.#record(fresh ? 'fresh build' : 'build', { saying, keep, base, killAt })
    const given = this.#memories()
    const outcome = await this.#work({ command: 'build', speakers, keep, fresh }, killAt)
    if (outcome === 'killed') {
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

  /**
   * @param killAt the change of the disk at which it is killed, or null @returns 'killed', 'done' or a
   * message
   */
  async #work(what: Work['what'], killAt: number | null): Promise<string> {
    const work = { dir: this.#dir, now: Date.now() / 1000, what }
    const outcome = killAt === null ? await doWork(work) : await this.#builders.work({ ...work, killAt })
    if (outcome === 'killed') this.#record(`kill of a ${what.command}`)
    return outcome
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

  /** What the folder remembers of each snapshot's sources, but for the times at which they were read. */
  #memories(): Map<string, string> {
    const files = existsSync(this.#dir) ? readdirSync(this.#dir) : []
    const given = files.filter((file) => file.startsWith('given-'))
    return new Map(
      given.map((file) => {
        const [, ...lines] = readFileSync(join(this.#dir, file), 'utf8').split('\n')
        return [
          file.slice('given-'.length, -'.jsonl'.length),
          lines.join('\n').replaceAll(/"read_at":"[^"]*"/g, ''),
        ]
      }),
    )
  }

  /** Takes over what the folder keeps, once that is not less than it must be. */
  #syncKept(keep: number, newest: { id: string } | undefined): void {
    const now = existsSync(this.#dir) ? listKept(this.#dir) : []
    const ids = new Set(now.map(({ id }) => id))
    for (const { id, pinned } of this.#kept) {
      if (pinned || id === this.#published) assert.ok(ids.has(id), `${id} is gone`)
    }
    const expected = this.#kept.filter(({ id }) => id !== newest?.id).slice(-keep + 1)
    if (keep > 1) for (const { id } of expected) assert.ok(ids.has(id), `${id} is gone in spite of --keep`)
    this.#kept = now
  }

  async #rollback(): Promise<void> {
    const chance = this.#chance
    const to = chance.percent(40) && this.#kept.length > 0 ? chance.pick(this.#kept).id : null
    const at = this.#kept.findLastIndex(({ id }) => id === this.#published)
    const target = to ?? this.#kept.at(at === -1 ? -1 : at - 1)?.id
    const isRefused = target === undefined || (to === null && at === 0)
    this.#record('rollback', { to, target, isRefused })
    const outcome = await this.#work({ command: 'rollback', to }, this.#killAt())
    if (outcome === 'killed') {
      if (await this.#adoptPublished(target)) assert.ok(this.#hold !== null, 'it does not hold')
    } else if (isRefused) assert.match(outcome, /no earlier snapshot|no kept/)
    else {
      assert.equal(outcome, 'done')
      this.#published = target
      this.#hold = this.#kept.at(-1)!.sequence
    }
  }

  async #resume(mayBeKilled = true): Promise<void> {
    this.#record('resume', `${this.#hold}`)
    const isHeld = this.#hold !== null
    const newest = this.#kept.at(-1)?.id ?? null
    const outcome = await this.#work({ command: 'resume' }, mayBeKilled ? this.#killAt() : null)
    if (outcome === 'killed') {
      await this.#adoptPublished(newest)
      if (isHeld && this.#hold === null) assert.equal(this.#published, newest)
    } else if (isHeld && newest === null) assert.match(outcome, /no kept snapshot/)
    else {
      assert.equal(outcome, 'done')
      if (isHeld) this.#published = newest
      this.#hold = null
    }
  }

  #killAt(): number | null {
    return this.#chance.percent(10) ? this.#chance.below(14) : null
  }

  /** Takes over what a killed process left. @returns whether `target` is published now, and was not before */
  async #adoptPublished(target: string | null | undefined): Promise<boolean> {
    const published = (await readManifest(this.#dir))?.id ?? null
    const isNew = published !== this.#published
    if (isNew) assert.equal(published, target)
    this.#published = published
    this.#hold = readHold(this.#dir)?.after ?? null
    return isNew
  }

  #pin(): void {
    if (this.#kept.length === 0) return
    const one = this.#chance.pick(this.#kept)
    one.pinned = !one.pinned
    this.#record(one.pinned ? 'pin' : 'unpin', one.id)
    setPinned(this.#dir, one.id, one.pinned)
  }

  /** As if an hour had passed: what is not kept goes with the next build. */
  #age(): void {
    this.#record('hour')
    for (const file of readdirSync(this.#dir)) {
      const path = join(this.#dir, file)
      const info = statSync(path, { throwIfNoEntry: false })
      if (info?.isFile() === true) utimesSync(path, info.mtimeMs / 1000 - 3600, info.mtimeMs / 1000 - 3600)
    }
  }

  #lose(): void {
    const registry = join(this.#dir, 'registry.jsonl')
    // What is lost with the file of given ids stands in what is kept: one or the other has to be there.
    switch (this.#chance.below(4)) {
      case 0:
        if (!existsSync(registry) || this.#kept.length === 0) break
        this.#record('damaged registry')
        if (this.#chance.percent(50)) rmSync(registry)
        else writeFileSync(registry, readFileSync(registry, 'utf8').slice(0, -7))
        break
      case 1: {
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
      case 2: {
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
        for (const file of readdirSync(this.#dir)) {
          if (file !== 'registry.jsonl') rmSync(join(this.#dir, file), { recursive: true })
        }
        this.#kept = []
        this.#published = null
        this.#hold = null
    }
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
      const state = this.#states.get(id) ?? assert.fail(`nobody built ${id}`)
      assert.deepEqual(await this.#contentOf(manifest ?? assert.fail(`${id} is broken`)), shown(state))
    }
  }

  /**
   * What readers see of a snapshot, in the model's words; ids and slugs are compared with all that were ever
   * seen.
   */
  async #contentOf({ asOf, parts }: Manifest): Promise<object> {
    const decoded: (PartEntry & { part: Part })[] = []
    for (const entry of parts)
      decoded.push({ ...entry, part: await readPart(this.#dir, entry, (part) => part) })
    const read = <T>(kind: string, how: (part: Part, file: string) => T): T | null => {
      const found = decoded.find((one) => one.kind === kind)
      return found === undefined ? null : how(found.part, 'f')
    }
    const catalog = read('catalog', readCatalog) ?? assert.fail('no catalogue')
    const keys = new Map<number, string>()
    for (const { id, slug, source, identifier } of cataloguedBuoys(catalog)) {
      const key = `${source}/${identifier}`
      keys.set(id, key)
      this.#identify(key, id, slug)
    }
    const rows: string[] = []
    for (const { kind, part, month } of decoded) {
      if (kind !== 'readings') continue
      const { buoys, start, time, measures } = readMonth(part, month!, 'f')
      for (const [i, id] of buoys.entries()) {
        const key = keys.get(id) ?? this.#meaning.get(`id ${id}`) ?? `nobody with the id ${id}`
        for (let row = start[i]; row < start[i + 1]; row++) {
          const height = measures.significantHeight.codes[row]
          assert.equal(height, heightAt(key, time[row]), `a reading of ${key}`)
          if (keys.has(id)) rows.push(`${key} ${time[row]}`)
        }
      }
    }
    const points = read('forecast', readForecast)
    const harbours = read('tides', readTides)
    const passes = read('passes', readPasses)
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
      passes: Array.from(passes?.number ?? [], (number, i) => {
        const { buoy, first, time } = passes!
        const seen = [...buoy.subarray(first[i], first[i + 1])]
        return [`${number}`, ...seen.map((id, n) => `${number} ${keys.get(id)} ${time[first[i] + n]}`)]
      })
        .flat()
        .sort(),
    }
  }

  #identify(key: string, id: number, slug: string): void {
    assert.doesNotMatch(slug, /^\d+$/)
    for (const [what, meaning] of [
      [`id ${id}`, key],
      [`slug ${slug}`, key],
      [key, `${id} ${slug}`],
    ]) {
      assert.equal(this.#meaning.get(what) ?? meaning, meaning, `${what} means two things`)
      this.#meaning.set(what, meaning)
    }
  }
}
