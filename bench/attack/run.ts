/**
 * The attacks upon servers of its own, over loopback alone, each bounded in time, all of them in eight minutes:
 *
 *     npm run attack [-- --engine uws|node --scale 0.1 --long --seed N --cli dist/cli.js NAME …]
 *
 * All attacks on both engines where no NAME is given. `--long` makes them whole, however long that takes.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { table } from '../http/report.ts'
import { stopAll } from '../http/servers.ts'
import { startAssailant } from './assailant.ts'
import type { Attack, Target } from './attack.ts'
import { ATTACKS, attackNamed } from './attacks.ts'
import { startBystander, type Bystander } from './bystander.ts'
import { ordinaryPaths, prepareCorpus, startPatient, type Corpus, type Patient } from './patient.ts'
import { examine, type Pace, type Trial } from './trial.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    scale: { type: 'string' },
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    /** Compiled command line to attack; that of this tree when it is left out. */
    cli: { type: 'string' },
  },
})

/** Of all trials together. */
const LIMIT_MS = 8 * 60_000
/** What is done of each attack, so that all of them fit. */
const USUAL_SCALE = 0.2
const PACE: Pace = { aroundMs: 1000, recoveryMs: 10_000, limitMs: 60_000 }
const LONG_PACE: Pace = { aroundMs: 3000, recoveryMs: 30_000, limitMs: 400_000 }
/** An attack is not begun with less time left. */
const LEAST_LEFT_MS = 10_000

const ENGINES = ['uws', 'node'] as const
const engines = options.engine === undefined ? ENGINES : ENGINES.filter((engine) => engine === options.engine)
if (engines.length === 0) throw new Error(`--engine: ${ENGINES.join(' or ')}`)
const scale = Number(options.scale ?? (options.long ? 1 : USUAL_SCALE))
if (!(scale > 0 && scale <= 1)) throw new Error('--scale: above 0 and at most 1')
const attacks = positionals.length > 0 ? positionals.map((name) => attackNamed(name)) : ATTACKS

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const began = performance.now()
const leftMs = (): number => (options.long ? Infinity : LIMIT_MS - (performance.now() - began))

const assailant = startAssailant()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    assailant.stop()
    void stopAll().then(() => process.exit(130))
  })
}

interface Place {
  patient: Patient
  bystander: Bystander
}

async function startPlace(corpus: Corpus, engine: Target['engine']): Promise<Place> {
  const patient = await startPatient(corpus, engine)
  const { bystandersKey, buoys } = corpus
  return {
    patient,
    bystander: await startBystander(patient.target.port, bystandersKey, ordinaryPaths(buoys)),
  }
}

/** A server that nobody attacks, with a folder and keys of its own, and somebody who asks it. */
async function startNeighbour(corpus: Corpus): Promise<Place> {
  const [snapshots, keysFile] = [join(corpus.folder, 'neighbour'), join(corpus.folder, 'neighbour.json')]
  cpSync(corpus.snapshots, snapshots, { recursive: true })
  cpSync(corpus.keysFile, keysFile)
  return startPlace({ ...corpus, snapshots, keysFile }, engines[0])
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)

function rowOf(trial: Trial): string[] {
  const { before, meanwhile, neighbour, memory, faults, slow } = trial
  return [
    trial.attack,
    trial.engine,
    String(meanwhile.failed),
    `${ms(before.p50)} / ${ms(meanwhile.p50)}`,
    `${ms(before.p99)} / ${ms(meanwhile.p99)} / ${neighbour === null ? '' : ms(neighbour.p99)}`,
    [memory.before, memory.peak, memory.after].map((mb) => Math.round(mb)).join(' / '),
    trial.lived ? 'yes' : 'no',
    [...faults, ...(slow === null ? [] : [slow])].join('; ') || 'holds',
  ]
}

const trials: Trial[] = []
/** Attacks that there was no time for. */
const leftOut: string[] = []

async function attackAll(engine: Target['engine'], chosen: readonly Attack[], corpus: Corpus): Promise<void> {
  const neighbour = await startNeighbour(corpus)
  let place: Place | null = null
  for (const { name, about, usualShare = 1 } of chosen) {
    if (leftMs() < LEAST_LEFT_MS) {
      leftOut.push(`${name} on ${engine}`)
      continue
    }
    place ??= await startPlace(corpus, engine)
    say(`${name} (${about}), ${engine}`)
    const pace = options.long ? LONG_PACE : PACE
    const trial = await examine(
      [name],
      { ...place, assailant, neighbour: neighbour.bystander },
      options.long ? scale : scale * usualShare,
      { ...pace, limitMs: Math.min(pace.limitMs, leftMs()) },
    )
    trials.push(trial)
    say(`  ${trial.did}`)
    say(`  ${rowOf(trial).slice(2).join(' | ')}`)
    // The next one is not to suffer from what is left of this one.
    if (trial.faults.length === 0) continue
    await stop(place)
    place = null
  }
  if (place !== null) await stop(place)
  await stop(neighbour)
}

async function stop({ patient, bystander }: Place): Promise<void> {
  bystander.stop()
  await patient.server.stop()
}

const chosen = engines.map((engine) =>
  attacks.filter(({ anyEngine }) => anyEngine !== true || engine === engines[0]),
)
const count = chosen.reduce((sum, list) => sum + list.length, 0)
const time = options.long ? 'as long as they take' : `at most ${LIMIT_MS / 60_000} minutes`
say(`${count} attacks, ${scale} of each: ${time}`)
const corpus = prepareCorpus(options.cli, Number(options.seed))
try {
  for (const [at, engine] of engines.entries()) await attackAll(engine, chosen[at], corpus)
} finally {
  assailant.stop()
  await stopAll()
  corpus.remove()
}
process.stdout.write(
  `${table(
    [
      'attack',
      'engine',
      'failed',
      'p50 ms, before / meanwhile',
      'p99 ms, before / meanwhile / neighbour',
      'MB, before / most / after',
      'lived',
      'verdict',
    ],
    trials.map((trial) => rowOf(trial)),
  )}\n`,
)
if (leftOut.length > 0) say(`no time for ${leftOut.join(', ')}`)
const hasFallen = trials.some(({ faults, slow }) => faults.length > 0 || slow !== null)
process.exitCode = hasFallen || leftOut.length > 0 ? 1 : 0
