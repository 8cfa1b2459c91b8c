/**
 * Two builders and some replicas, each a process of its own with a folder of its own, on one stub of a bucket
 * that fails one call in ten; all are killed at random. A builder that finds the other one's snapshot stops,
 * and begins again in an empty folder, as an operator would have it. What is promised is looked at all the
 * while: replicas serve whole snapshots that were published, and no id ever moves.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../../src/access/keys-file.ts'
import { cataloguedBuoys, readCatalog } from '../../../src/snapshot/catalog.ts'
import { decodePart } from '../../../src/snapshot/part-columns.ts'
import { decodeCommit } from '../../../src/builder/publishing/prefix.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { Chance } from '../../chance.ts'
import { amount } from '../../faults/folder.ts'
import { runCli, temporaryFolder } from '../../live.ts'
import { CLI } from '../../started_program.ts'
import { until } from '../../until.ts'
import { sometimes, StubS3, type Fault } from '../../snapshot/store/stub_s3.ts'
import { commitsOf, expectSound, NOON } from './builders.ts'

const ADDRESS = 's3://bucket/sea'
/** Faults that end at once, and with some that cost a client its patience. */
const QUICK: Fault[] = ['503', '503', '500', 'reset', 'lost', 'truncate', 'wrong', 'old']
const SLOW: Fault[] = [...QUICK, ...QUICK, 'hang', 'stall', 'trickle']

const SEED = Number(process.env.GROUNDSWELL_SEED ?? 7)
/** Rounds of builds, and replicas; with `GROUNDSWELL_LONG=1` it goes on for some ten minutes. */
const ROUNDS = amount(5, 100)
const REPLICAS = amount(1, 3)

/** What came of it. */
interface ChaosFigures {
  builds: { published: number; same: number; refused: number; failed: number; killed: number }
  commits: number
  buoys: number
  calls: number
  failedCalls: number
  replicas: { kills: number; looks: number; snapshots: number }
}

class Chaos {
  readonly #stub: StubS3
  /** For all files, empty. */
  readonly #folder: string
  readonly #log: (line: string) => void
  readonly #chance = new Chance(SEED)
  readonly #dirs: string[]
  readonly #builds = { published: 0, same: 0, refused: 0, failed: 0, killed: 0 }
  readonly #running = new Set<ChildProcess>()
  readonly #replicas: Replica[] = []
  /** All snapshots that were ever committed, by id: the ids of their buoys by name. */
  readonly #published = new Map<string, Map<string, number>>()
  readonly #idOf = new Map<string, number>()
  #commits = 0
  #broken: unknown = null
  #step = 0
  #failedCalls = 0
  #calls = 0

  constructor(stub: StubS3, folder: string, log: (line: string) => void) {
    this.#stub = stub
    this.#folder = folder
    this.#log = log
    this.#dirs = ['one', 'two'].map((name) => join(folder, `builder-${name}`))
  }

  async run(): Promise<ChaosFigures> {
    this.#stub.onStored = (key) => {
      try {
        if (key === 'sea/manifest.msgpack') this.#record(key)
      } catch (error) {
        this.#broken ??= error
      }
    }
    const keysFile = join(this.#folder, 'keys.json')
    const { key } = issueKey(keysFile, { owner: 'chaos', quota: 1_000_000, now: Date.now() / 1000 })
    const failing = sometimes(10, amount(QUICK, SLOW), SEED)
    this.#stub.faultOf = (request) => {
      this.#calls++
      const fault = failing(request)
      if (fault !== null) this.#failedCalls++
      return fault
    }
    for (let i = 0; i < REPLICAS; i++) {
      const dir = join(this.#folder, `replica-${i}`)
      this.#replicas.push(new Replica(this.#stub, dir, keysFile, key, this.#published))
    }
    let isOver = false
    const watching = this.#replicas.map((replica) => replica.watch(this.#chance, () => isOver))
    for (let round = 0; round < ROUNDS; round++) {
      await this.#round()
      if (this.#broken !== null) throw this.#broken
      const { published, refused, failed, killed } = this.#builds
      this.#log(
        `${published} published, ${refused} refused, ${failed} failed, ${killed} killed; ${this.#failedCalls} of ${this.#calls} calls failed`,
      )
    }
    this.#stub.faultOf = () => null
    isOver = true
    await Promise.all(watching)
    await this.#settle()
    return {
      builds: this.#builds,
      commits: this.#commits,
      buoys: this.#idOf.size,
      calls: this.#calls,
      failedCalls: this.#failedCalls,
      replicas: {
        kills: this.#replicas.reduce((sum, { kills }) => sum + kills, 0),
        looks: this.#replicas.reduce((sum, { looks }) => sum + looks, 0),
        snapshots: new Set(this.#replicas.flatMap(({ seen }) => [...seen])).size,
      },
    }
  }

  /** Holds a commit against all before it: a buoy keeps its id, and an id its buoy. */
  #record(key: string): void {
    this.#commits++
    const commit = decodeCommit(this.#stub.bytesOf(key)!, key)
    const what = `snapshot ${commit.manifest.id}`
    const ids = buoysOf(this.#stub, commit.manifest)
    for (const [name, id] of ids) {
      const known = this.#idOf.get(name)
      if (known === undefined) {
        const other = [...this.#idOf].find(([, given]) => given === id)?.[0]
        assert.equal(other, undefined, `${what} gives ${name} the id ${id} of ${other}`)
      } else assert.equal(id, known, `${name} moved in ${what}`)
      this.#idOf.set(name, id)
    }
    this.#published.set(commit.manifest.id, ids)
  }

  /** In turn or at once, and one in three is killed at some moment. */
  async #round(): Promise<void> {
    if (this.#chance.percent(50)) await Promise.all([this.#build(0, true), this.#build(1, true)])
    else await this.#build(this.#chance.below(2), true)
  }

  /** A build of buoys that come and go, two of them new with a name of their builder. */
  async #build(builder: number, mayDie: boolean): Promise<void> {
    const step = ++this.#step
    const source = join(this.#folder, `source-${builder}`)
    const identifiers = 'ABCDEFGH'.split('').filter((letter) => letter === 'A' || this.#chance.percent(60))
    if (this.#chance.percent(50)) identifiers.push(`N${builder}${step}`)
    writeSource(source, identifiers, step)
    const args = [`--source=csv:${source}`, `--out=${this.#dirs[builder]}`, `--publish=${ADDRESS}`]
    const child = spawn(process.execPath, [CLI, 'build', ...args, '--allow-loss=100%'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...this.#stub.environment },
    })
    this.#running.add(child)
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const killing = mayDie && this.#chance.percent(33)
    const timer = killing ? setTimeout(() => child.kill('SIGKILL'), this.#chance.below(6000)) : undefined
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    clearTimeout(timer)
    this.#running.delete(child)
    if (code === null) this.#builds.killed++
    else if (code !== 0) {
      const isRefused = text.includes('an empty folder, which continues what the store has')
      if (isRefused) rmSync(this.#dirs[builder], { recursive: true })
      this.#builds[isRefused ? 'refused' : 'failed']++
      const last = text.trimEnd().split('\n').at(-1) ?? ''
      // Each fault is one line for the operator, never a stack.
      assert.match(last, /^groundswell: /, text)
      assert.ok(mayDie || isRefused, text)
    } else if (text.includes('has it already')) this.#builds.same++
    else this.#builds.published++
  }

  /** Nothing fails any more: the last builder goes on at once, or in an empty folder, and all end on its snapshot. */
  async #settle(): Promise<void> {
    for (const builder of [0, 1]) {
      const { refused } = this.#builds
      await this.#build(builder, false)
      if (this.#builds.refused > refused) await this.#build(builder, false)
      assert.ok(this.#builds.refused <= refused + 1)
    }
    expectSound(this.#stub)
    const newest = commitsOf(this.#stub).at(-1)!.manifest
    await Promise.all(this.#replicas.map((replica) => replica.expectServing(newest.id)))
    const dirs = [this.#dirs[1], ...this.#replicas.map(({ dir }) => dir)]
    for (const dir of dirs) assert.equal((await readManifest(dir))?.id, newest.id, dir)
    for (const dir of [...dirs, this.#dirs[0]]) {
      const { code, stderr } = await runCli(['check', dir])
      assert.equal(code, 0, stderr)
    }
  }

  async end(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL')
    await Promise.all(this.#replicas.map((replica) => replica.kill()))
  }
}

function writeSource(dir: string, identifiers: readonly string[], step: number): void {
  mkdirSync(join(dir, 'readings'), { recursive: true })
  const time = new Date((NOON + step * 1800) * 1000).toISOString()
  writeFileSync(join(dir, 'sources.csv'), 'name,network\nNorth,national\n')
  writeFileSync(
    join(dir, 'buoys.csv'),
    `source,identifier,name,lat,lng\n${identifiers.map((identifier, i) => `North,${identifier},Buoy ${identifier},${40 + i},-3\n`).join('')}`,
  )
  writeFileSync(
    join(dir, 'readings', 'now.csv'),
    `source,identifier,time,significant_height\n${identifiers.map((identifier) => `North,${identifier},${time},1.5\n`).join('')}`,
  )
}

/** The ids of the buoys that a snapshot in the stub has, by name. */
function buoysOf(
  stub: StubS3,
  { parts }: { parts: readonly { kind: string; file: string }[] },
): Map<string, number> {
  const { file } = parts.find(({ kind }) => kind === 'catalog')!
  const catalog = readCatalog(decodePart(Uint8Array.from(stub.bytesOf(`sea/${file}`)!), file), file)
  return new Map(cataloguedBuoys(catalog).map(({ name, id }) => [name, id]))
}

/** A server that mirrors the bucket, is killed now and then, and is asked all the while. */
class Replica {
  readonly dir: string
  readonly seen = new Set<string>()
  kills = 0
  looks = 0
  readonly #env: NodeJS.ProcessEnv
  readonly #published: ReadonlyMap<string, Map<string, number>>
  readonly #keysFile: string
  readonly #key: string
  #child: ChildProcess | null = null
  #output = ''

  constructor(
    stub: StubS3,
    dir: string,
    keysFile: string,
    key: string,
    published: ReadonlyMap<string, Map<string, number>>,
  ) {
    this.#published = published
    this.#env = { ...process.env, ...stub.environment }
    this.dir = dir
    this.#keysFile = keysFile
    this.#key = key
  }

  #start(): void {
    const args = [`--from=${ADDRESS}`, `--snapshots=${this.dir}`, `--keys=${this.#keysFile}`]
    const more = ['--poll=1s', '--port=0', '--workers=1', '--admin-port=off', '--drain-time=0']
    this.#output = ''
    const child = spawn(process.execPath, [CLI, 'serve', ...args, ...more], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: this.#env,
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
    }
    this.#child = child
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Starts it, looks at it and kills it, again and again. */
  async watch(chance: Chance, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#child === null) this.#start()
      const lifetime = performance.now() + 5000 + chance.below(30_000)
      while (!isOver() && performance.now() < lifetime) {
        await this.#look()
        await sleep(200)
      }
      if (isOver()) break
      this.kills++
      await this.kill()
    }
    if (this.#child === null) this.#start()
  }

  /** The id of the snapshot that it serves; null where it does not answer. @throws AssertionError */
  async #look(): Promise<string | null> {
    const address = /http:\/\/127\.0\.0\.1:\d+\/v2/.exec(this.#output)?.[0]
    if (address === undefined) {
      assert.equal(this.#child?.exitCode ?? null, null, this.#output)
      return null
    }
    const response = await fetch(`${address}/buoys?per_page=500`, {
      headers: { authorization: `Bearer ${this.#key}` },
    }).catch(() => null)
    if (response === null || response.status === 503) return null
    assert.equal(response.status, 200)
    const id = response.headers.get('x-snapshot-id') ?? ''
    const { data } = (await response.json()) as { data: { buoys: { id: number; name: string }[] } }
    const ids = this.#published.get(id)
    assert.ok(ids !== undefined, `a replica serves ${id}, which was not published`)
    assert.deepEqual(new Map(data.buoys.map(({ name, id: buoy }) => [name, buoy])), ids)
    this.seen.add(id)
    this.looks++
    return id
  }

  expectServing(id: string): Promise<void> {
    const what = (): string => `${this.dir} does not serve ${id}:\n${this.#output.slice(-3000)}`
    return until(async () => (await this.#look()) === id, what)
  }
}

test('Builders and replicas that are killed at random on a store that fails end on one snapshot, and no id moves.', async (t) => {
  // Old objects are collected while builders are at work: a day has five minutes.
  const stub = await new StubS3({ ageFactor: 288 }).listen()
  const chaos = new Chaos(stub, temporaryFolder(t), (line) => t.diagnostic(line))
  try {
    const figures = await chaos.run()
    assert.ok(figures.commits > 0 && figures.calls > 50 && figures.failedCalls > 0, JSON.stringify(figures))
    assert.ok(figures.replicas.looks > 0, JSON.stringify(figures))
  } finally {
    await chaos.end()
    await stub.close()
  }
})
