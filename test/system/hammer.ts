/**
 * Two containers whose processes take turns with one lock and are killed: each turn that was reported as done
 * is in the journal once, and nobody else had the lock in it.
 */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inContainer, LOCK, type Inhabitant } from './container.ts'

const TURNS = fileURLToPath(new URL('turns.mjs', import.meta.url))
/** Processes at a time in each container of the same host name. */
const LANES = 2

interface Tally {
  turns: number
  kills: number
  /** What is not as it should be. */
  faults: string[]
}

export async function hammer(folder: string, seconds: number): Promise<Tally> {
  const journal = join(folder, 'journal')
  writeFileSync(journal, '')
  const done: { turn: string; alone: boolean }[] = []
  let kills = 0
  const until = performance.now() + seconds * 1000
  const lane = async (i: number): Promise<void> => {
    while (performance.now() < until) {
      const child: Inhabitant = inContainer('box', [TURNS, LOCK, folder, String(LANES)])
      createInterface(child.stdout).on('line', (line) => done.push(JSON.parse(line) as (typeof done)[number]))
      await setTimeout(1000 + 700 * i + Math.random() * 1500)
      // All of the container ends with it.
      child.kill('SIGKILL')
      kills++
      await once(child, 'close')
    }
  }
  await Promise.all([0, 1].map(lane))
  const turns = readFileSync(journal, 'utf8').trim().split('\n')
  const counted = new Set(turns)
  const faults = done.flatMap(({ turn, alone }) => [
    ...(alone ? [] : [`two held the lock in ${turn}`]),
    ...(counted.has(turn) ? [] : [`the turn ${turn} is lost`]),
  ])
  if (counted.size !== turns.length) faults.push('the journal has a turn twice')
  return { turns: done.length, kills, faults }
}
