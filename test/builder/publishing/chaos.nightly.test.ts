/**
 * Two builders, each a process of its own with a folder of its own, on one stub of a bucket that fails one call in ten;
 * they are killed at random. A builder that finds the other one's snapshot stops, and begins again in an empty folder,
 * as an operator would have it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Chance } from '../../chance.ts'
import { amount } from '../../faults/folder.ts'
import { runCliWell, temporaryFolder } from '../../live.ts'
import { CLI } from '../../started_program.ts'
import { sometimes, StubS3, type Fault } from '../../snapshot/store/stub_s3.ts'
import { commitsOf, currentId, expectSound, NOON } from './builders.ts'

/** Faults that end at once, and with some that cost a client its patience. */
const QUICK: Fault[] = ['503', '503', '500', 'reset', 'lost', 'truncate', 'wrong', 'old']
const SLOW: Fault[] = [...QUICK, ...QUICK, 'hang', 'stall', 'trickle']

const SEED = Number(process.env.GROUNDSWELL_SEED ?? 7)
/** Rounds of builds; with `GROUNDSWELL_LONG=1` it goes on for some ten minutes. */
const ROUNDS = amount(5, 100)

function writeSource(dir: string, identifiers: readonly string[], step: number): void {
  mkdirSync(join(dir, 'readings'), { recursive: true })
  const time = new Date((NOON + step * 1800) * 1000).toISOString()
  writeFileSync(join(dir, 'sources.csv'), 'name,network\nNorth,national\n')
  const buoys = identifiers.map((identifier, i) => `North,${identifier},Buoy ${identifier},${40 + i},-3\n`)
  writeFileSync(join(dir, 'buoys.csv'), `source,identifier,name,lat,lng\n${buoys.join('')}`)
  const rows = identifiers.map((identifier) => `North,${identifier},${time},1.5\n`)
  writeFileSync(
    join(dir, 'readings', 'now.csv'),
    `source,identifier,time,significant_height\n${rows.join('')}`,
  )
}

test('Builders that are killed at random on a store that fails end on one snapshot, and no id moves.', async (t) => {
  // Old objects are collected while builders are at work: a day has five minutes.
  const stub = await new StubS3({ ageFactor: 288 }).listen()
  t.after(() => stub.close())
  const folder = temporaryFolder(t)
  const dirs = ['one', 'two'].map((name) => join(folder, name))
  const chance = new Chance(SEED)
  let step = 0

  /** A build of buoys that come and go, some of them new with a name of their builder. */
  const build = async (builder: number, mayDie: boolean): Promise<string> => {
    const source = join(folder, `source-${builder}`)
    const identifiers = 'ABCDEFGH'.split('').filter((letter) => letter === 'A' || chance.percent(60))
    if (chance.percent(50)) identifiers.push(`N${builder}${++step}`)
    writeSource(source, identifiers, step)
    const args = ['--source', `csv:${source}`, '--out', dirs[builder], '--publish', 's3://bucket/sea']
    const child = spawn(process.execPath, [CLI, 'build', ...args, '--allow-loss=100%'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...stub.environment },
    })
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const isDoomed = mayDie && chance.percent(33)
    const timer = isDoomed ? setTimeout(() => child.kill('SIGKILL'), chance.below(6000)) : undefined
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(timer)
    if (code === null) return 'killed'
    if (code === 0) return 'published'
    // Each fault is one line for the operator, never a stack.
    assert.match(text.trimEnd().split('\n').at(-1) ?? '', /^groundswell: /, text)
    const isRefused = text.includes('an empty folder, which continues what the store has')
    if (isRefused) rmSync(dirs[builder], { recursive: true })
    assert.ok(mayDie || isRefused, text)
    return isRefused ? 'refused' : 'failed'
  }

  stub.faultOf = sometimes(10, amount(QUICK, SLOW), SEED)
  for (let round = 0; round < ROUNDS; round++) {
    const both = [build(0, true), ...(chance.percent(50) ? [build(1, true)] : [])]
    t.diagnostic((await Promise.all(both)).join(', '))
    expectSound(stub)
  }
  stub.faultOf = () => null
  // Nothing fails any more: the last builder goes on at once, or in an empty folder.
  for (const builder of [0, 1]) {
    if ((await build(builder, false)) === 'refused') assert.equal(await build(builder, false), 'published')
  }
  expectSound(stub)
  assert.equal(await currentId(dirs[1]), commitsOf(stub).at(-1)!.manifest.id)
  for (const dir of dirs) await runCliWell(['check', dir])
})
