/**
 * The attacks upon a server of its own, over loopback alone, each bounded in time:
 *
 *     npm run attack [-- --engine uws|node --scale 0.1 --long --seed N --cli dist/cli.js NAME …]
 *
 * All attacks on both engines where no NAME is given. `lies` and `siege`, programs of the tests that attack
 * snapshots and sources, run where they are named, and with `--long`.
 */
import { parseArgs } from 'node:util'
import { table } from '../http/report.ts'
import { stopAll } from '../http/servers.ts'
import { startAssailant } from './assailant.ts'
import type { Target } from './attack.ts'
import { ATTACKS, attackNamed } from './attacks.ts'
import { startBystander } from './bystander.ts'
import { runScript, SCRIPTS, stopScript } from './scripts.ts'
import { ordinaryPaths, prepareCorpus, startPatient, type Corpus } from './patient.ts'
import { examine, WHOLE, type Trial } from './trial.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    scale: { type: 'string', default: '1' },
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    /** Compiled command line to attack; that of this tree when it is left out. */
    cli: { type: 'string' },
  },
})

const ENGINES = ['uws', 'node'] as const
const engines = options.engine === undefined ? ENGINES : ENGINES.filter((engine) => engine === options.engine)
if (engines.length === 0) throw new Error(`--engine: ${ENGINES.join(' or ')}`)
const scale = Number(options.scale)
if (!(scale > 0 && scale <= 1)) throw new Error('--scale: above 0 and at most 1')
const isNamed = positionals.length > 0
const scripts = SCRIPTS.filter(({ name }) => (isNamed ? positionals.includes(name) : options.long))
const scriptNames = new Set(SCRIPTS.map(({ name }) => name))
const attacks = isNamed
  ? positionals.filter((name) => !scriptNames.has(name)).map((name) => attackNamed(name))
  : ATTACKS

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const assailant = startAssailant()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    assailant.stop()
    stopScript()
    void stopAll().then(() => process.exit(130))
  })
}

async function attackOne(corpus: Corpus, engine: Target['engine'], name: string): Promise<Trial> {
  const { usualShare = 1 } = attackNamed(name)
  const share = options.long ? 1 : usualShare
  const patient = await startPatient(corpus, engine)
  const bystander = await startBystander(
    patient.target.port,
    corpus.bystandersKey,
    ordinaryPaths(corpus.buoys),
  )
  try {
    return await examine([name], { patient, bystander, assailant }, scale * share, WHOLE)
  } finally {
    bystander.stop()
    await patient.server.stop()
  }
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)

function rowOf(trial: Trial): string[] {
  const { before, meanwhile, memory, faults, slow } = trial
  return [
    trial.attack,
    trial.engine,
    String(meanwhile.failed),
    `${ms(before.p50)} / ${ms(meanwhile.p50)}`,
    `${ms(before.p99)} / ${ms(meanwhile.p99)}`,
    [memory.before, memory.peak, memory.after].map((mb) => Math.round(mb)).join(' / '),
    trial.lived ? 'yes' : 'no',
    [...faults, ...(slow === null ? [] : [slow])].join('; ') || 'holds',
  ]
}

const seed = Number(options.seed)
const corpus = prepareCorpus(options.cli, seed)
const trials: Trial[] = []
const programs: { name: string; fault: string }[] = []
try {
  for (const { name, about } of attacks) {
    for (const engine of engines) {
      say(`${name} (${about}), ${engine}`)
      const trial = await attackOne(corpus, engine, name)
      trials.push(trial)
      say(`  ${trial.did}`)
      say(`  ${rowOf(trial).slice(2).join(' | ')}`)
    }
  }
  for (const script of scripts) {
    say(`${script.name} (${script.about})`)
    programs.push({ name: script.name, fault: await runScript(script, scale, options.long, seed) })
  }
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
      'p50, before / meanwhile',
      'p99',
      'MB, before / most / after',
      'lived',
      'verdict',
    ],
    [
      ...trials.map((trial) => rowOf(trial)),
      ...programs.map(({ name, fault }) => [name, '', '', '', '', '', '', fault === '' ? 'holds' : fault]),
    ],
  )}\n`,
)
const hasFallen = trials.some(({ faults, slow }) => faults.length > 0 || slow !== null)
process.exitCode = hasFallen || programs.some(({ fault }) => fault !== '') ? 1 : 0
