/**
 * Two containers that hammer one folder: their processes change keys, build snapshots and hold a lock, are
 * killed and stopped for a while. What they said they had done must be there in the end, and nothing else.
 */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadKeys } from '../../src/access/keys-file.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { listKept } from '../../src/snapshot/retained.ts'
import { inContainer } from './container.ts'

export interface HammerOptions {
  seconds: number
  /** A container each. */
  hosts: readonly string[]
  /** Milliseconds for which a process is stopped at a time; 0 for never. */
  stillMs: number
}

export interface Tally {
  /** Changes of the keys file, turns with the lock and builds that were reported as done. */
  changes: number
  turns: number
  builds: number
  /** Tries that ended because another held the lock, or had taken it over. */
  refused: number
  fenced: number
  /** What is not as it should be. */
  faults: string[]
}

interface Line {
  who: string
  about?: string
  done?: string
  failed?: string
  fenced?: string
  reason?: string
  id?: string
  owner?: string
  hash?: string
  quota?: number
  turn?: string
  alone?: boolean
  built?: string | null
  code?: number
  told?: string
}

const RESIDENT = fileURLToPath(new URL('resident.mjs', import.meta.url))
const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const IS_REFUSAL = /held by another process/
const IS_FENCED = /another (command|builder) took over/

export async function hammer({ seconds, hosts, stillMs }: HammerOptions): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-hammer-'))
  try {
    mkdirSync(join(folder, 'snapshots'))
    writeFileSync(join(folder, 'journal'), '')
    const lines: Line[] = []
    await Promise.all(
      hosts.map(async (host, i) => {
        const args = [RESIDENT, DIST, folder, host, String(seconds), String(7 + i), String(stillMs)]
        const container = inContainer(host, args)
        createInterface(container.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line))
        await once(container, 'close')
      }),
    )
    return await judge(folder, lines)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function judge(folder: string, lines: readonly Line[]): Promise<Tally> {
  const tally: Tally = { changes: 0, turns: 0, builds: 0, refused: 0, fenced: 0, faults: [] }
  const { faults } = tally
  /** By id, as its owner knows it; null when it was revoked. */
  const keys = new Map<string, string | null>()
  const turns = new Set<string>()
  const builds = new Set<string>()
  /** What a process was about to do when it was killed may be done or not. */
  const open = new Map<string, Line>()
  for (const line of lines) {
    if (line.about !== undefined) open.set(line.who, line)
    else if (line.done === 'turn') {
      open.delete(line.who)
      tally.turns++
      turns.add(line.turn!)
      if (line.alone !== true) faults.push(`two held the lock in ${line.turn}`)
    } else if (line.done !== undefined) {
      open.delete(line.who)
      tally.changes++
      keys.set(line.id!, line.done === 'revoke' ? null : `${line.hash} ${line.quota}`)
    } else if (line.failed !== undefined || line.fenced !== undefined || line.code === 1) {
      open.delete(line.who)
      const reason = line.reason ?? line.told ?? ''
      if (IS_REFUSAL.test(reason)) tally.refused++
      else if (line.fenced !== undefined || IS_FENCED.test(reason)) tally.fenced++
      else faults.push(`${line.who}: ${line.failed ?? 'build'} failed: ${reason}`)
    } else if (line.code === 0) {
      tally.builds++
      builds.add(line.built ?? 'none')
    } else if (line.code !== undefined) faults.push(`${line.who}: a build ended with ${line.code}`)
  }
  const unsure = [...open.values()]
  const unsureIds = new Set(unsure.map(({ id }) => id))
  const unsureOwners = new Set(unsure.map(({ owner }) => owner))
  const found = new Map(loadKeys(join(folder, 'keys.json')).map((record) => [record.id, record]))
  for (const [id, state] of keys) {
    const record = found.get(id)
    const now = record === undefined ? null : `${record.hash} ${record.quota}`
    if (now !== state && !unsureIds.has(id)) faults.push(`key ${id} is ${now} and should be ${state}`)
  }
  for (const { id, owner } of found.values()) {
    if (!keys.has(id) && !unsureOwners.has(owner)) faults.push(`nobody has issued the key ${id}`)
  }
  const journal = readFileSync(join(folder, 'journal'), 'utf8').trim().split('\n')
  const counted = new Set(journal)
  if (counted.size !== journal.length) faults.push('the journal has a turn twice')
  for (const turn of turns) if (!counted.has(turn)) faults.push(`the turn ${turn} is lost`)
  const unsureTurns = new Set(unsure.map(({ turn }) => turn))
  for (const turn of counted) {
    if (!turns.has(turn) && !unsureTurns.has(turn)) faults.push(`nobody had the turn ${turn}`)
  }
  const kept = listKept(join(folder, 'snapshots'))
  const keptIds = new Set(kept.map(({ id }) => id))
  for (const id of builds) if (!keptIds.has(id)) faults.push(`the snapshot ${id} is lost`)
  if (new Set(kept.map(({ sequence }) => sequence)).size !== kept.length)
    faults.push('two snapshots have one number')
  // On a machine that is busy none may have come to its end.
  if (kept.length > 0) faults.push(...(await checkFolder(join(folder, 'snapshots'))))
  const left = readdirSync(folder).filter(
    (name) => !/^(snapshots|journal|inside|keys\.json)(\.lock.*|$)|^held\.lock/.test(name),
  )
  if (left.length > 0) faults.push(`left over: ${left.join(', ')}`)
  return tally
}
