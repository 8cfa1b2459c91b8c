/**
 * One attack upon one server: what others saw before, meanwhile and after, what it cost, and whether the
 * server lived.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Assailant } from './assailant.ts'
import type { Target } from './attack.ts'
import type { Bystander, Seen } from './bystander.ts'
import { until } from './crowd.ts'
import type { Patient } from './patient.ts'

/** What may be taken above what was taken before, MB. */
const MEMORY_LIMIT = 256
/** What may be left of that when all is over: allocators and caches give back late and in large pieces. */
const BACK_WITHIN = 96
/** Files that may be open beside those of before: the bystander's new connections. */
const FILES_WITHIN = 40
/** So many faults of one attack are reported. */
const TOLD = 6
/**
 * p99 of the others, in that of before and that of a neighbour: who asks another server on the same cores has
 * to wait for a core like them, and for nothing else.
 */
const SLOWER_LIMIT = 10
/** One thread does everything there. */
const NODE_SLOWER_LIMIT = 50

export interface Pace {
  /** Before the attack, and after it. */
  aroundMs: number
  /** Until memory and connections are back. */
  recoveryMs: number
  /** An attack that is not over then is ended. */
  limitMs: number
}

/** For a look at what must hold on any machine. */
export const SHORT: Pace = { aroundMs: 300, recoveryMs: 30_000, limitMs: 120_000 }

export interface Trial {
  attack: string
  engine: Target['engine']
  did: string
  before: Seen
  meanwhile: Seen
  after: Seen
  /** What somebody saw meanwhile who asked a server that was not attacked; null where there is none. */
  neighbour: Seen | null
  /** MB. */
  memory: { before: number; peak: number; after: number }
  lived: boolean
  /** What must not be, whatever the machine is busy with. */
  faults: string[]
  /** The others were slower than allowed: a measurement, which noise can spoil. */
  slow: string | null
}

export interface Scene {
  patient: Patient
  bystander: Bystander
  assailant: Assailant
  /** Asks another server, which nobody attacks. */
  neighbour?: Bystander
}

/** `names`: attacks that run all at once. */
export async function examine(
  names: readonly string[],
  { patient, bystander, assailant, neighbour }: Scene,
  scale: number,
  pace: Pace,
): Promise<Trial> {
  const { target, server } = patient
  await bystander.tell()
  await wait(pace.aroundMs)
  const before = await bystander.tell()
  const [memoryBefore, filesBefore, workersBefore] = [
    patient.resident(),
    patient.files(),
    await patient.workers(),
  ]
  const logged = server.output().length
  const memory = patient.watchMemory()
  await neighbour?.tell()
  const { did, faults } = await assailant.run(names, target, scale, pace.limitMs)
  const meanwhile = await bystander.tell()
  const elsewhere = (await neighbour?.tell()) ?? null
  await wait(pace.aroundMs)
  const after = await bystander.tell()
  const isBack = (): boolean =>
    patient.resident() - memoryBefore <= BACK_WITHIN && patient.files() - filesBefore <= FILES_WITHIN
  await until(isBack, pace.recoveryMs)
  memory.stop()
  const memoryAfter = patient.resident()
  const ended = server.ended()
  const log = server.output().slice(logged)

  const wrong = [...faults]
  const check = (holds: boolean, fault: string): void => {
    if (!holds) wrong.push(fault)
  }
  check(ended === null, `the process ended: ${ended}`)
  if (ended === null) {
    const workers = await patient.workers()
    check(workers !== null, 'the admin port does not answer')
    check(workers === null || workers.serving === workers.wanted, `${workers?.serving} workers serve`)
    check(workers?.replaced === workersBefore?.replaced, 'a worker was replaced')
    check(!/^(fault|warning: worker)/m.test(log), `it says: ${firstComplaint(log)}`)
    check(
      memory.peak - memoryBefore <= MEMORY_LIMIT,
      `${Math.round(memory.peak - memoryBefore)} MB more memory meanwhile`,
    )
    check(
      memoryAfter - memoryBefore <= BACK_WITHIN,
      `${Math.round(memoryAfter - memoryBefore)} MB more memory afterwards`,
    )
    check(
      patient.files() - filesBefore <= FILES_WITHIN,
      `${patient.files() - filesBefore} more files open afterwards`,
    )
  }
  for (const [when, { failed, failures }] of Object.entries({ meanwhile, after })) {
    check(failed === 0, `${failed} requests of others failed ${when}: ${failures}`)
  }
  const usual = Math.max(before.p99, elsewhere?.p99 ?? 0)
  const times = usual === 0 ? 0 : meanwhile.p99 / usual
  const limit = target.engine === 'node' ? NODE_SLOWER_LIMIT : SLOWER_LIMIT
  return {
    attack: names.join(', '),
    engine: target.engine,
    did,
    before,
    meanwhile,
    after,
    neighbour: elsewhere,
    memory: { before: memoryBefore, peak: memory.peak, after: memoryAfter },
    lived: ended === null,
    faults: [...wrong.slice(0, TOLD), ...(wrong.length > TOLD ? [`and ${wrong.length - TOLD} more`] : [])],
    slow: times <= limit ? null : `p99 of others ${times.toFixed(0)} times the usual, allowed ${limit}`,
  }
}

function firstComplaint(log: string): string {
  return /^(?:fault|warning: worker).*$/m.exec(log)?.[0] ?? ''
}
