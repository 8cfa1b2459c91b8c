/**
 * The attackers, in a process of their own: their files, memory and garbage collections are not the
 * observer's.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Finding, Target } from './attack.ts'
import { attackNamed } from './attacks.ts'

/** Attackers come from other machines: here they leave the cores to the server and to the others who ask. */
const NICENESS = 5

interface Order {
  names: readonly string[]
  target: Target
  scale: number
}

export interface Assailant {
  /**
   * Resolves when the attacks, all at once, are over; after `limitMs` they are ended, and that is a fault.
   */
  run(names: readonly string[], target: Target, scale: number, limitMs: number): Promise<Finding>
  stop(): void
}

const FILE = fileURLToPath(import.meta.url)

/** Ends the attackers and all that they started. */
function endGroup(leader: ChildProcess | null): void {
  if (leader?.pid === undefined || leader.exitCode !== null || leader.signalCode !== null) return
  process.kill(-leader.pid, 'SIGKILL')
}

export function startAssailant(): Assailant {
  let child: ChildProcess | null = null
  return {
    run: (names, target, scale, limitMs) =>
      new Promise((resolve) => {
        // A group of their own: what they start ends with them.
        const own = (child ??= fork(FILE, { execArgv: ['--import', 'tsx'], detached: true }))
        const finish = (finding: Finding): void => {
          clearTimeout(late)
          own.removeAllListeners()
          resolve(finding)
        }
        const giveUp = (fault: string): void => {
          endGroup(own)
          child = null
          finish({ did: '', faults: [fault] })
        }
        const late = setTimeout(() => giveUp(`the attack was not over after ${limitMs / 1000} s`), limitMs)
        own.once('message', (finding) => finish(finding as Finding))
        own.once('exit', (code) => giveUp(`the attackers' process ended with ${code}`))
        own.send({ names, target, scale } satisfies Order)
      }),
    stop: () => endGroup(child),
  }
}

async function attack(name: string, target: Target, scale: number): Promise<Finding> {
  try {
    const { did, faults } = await attackNamed(name).run(target, scale)
    return { did, faults: faults.map((fault) => `${name}: ${fault}`) }
  } catch (error) {
    return { did: '', faults: [`${name} failed: ${(error as Error).stack}`] }
  }
}

if (process.argv[1] === FILE) {
  setPriority(NICENESS)
  process.on('message', ({ names, target, scale }: Order) => {
    void Promise.all(names.map((name) => attack(name, target, scale))).then((findings) => {
      const finding: Finding = {
        did: findings.map(({ did }) => did).join('; '),
        faults: findings.flatMap(({ faults }) => faults),
      }
      process.send!(finding)
    })
  })
  process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
}
