/**
 * Removes from a store what no kept commit names: only objects with names of ours, and none younger than a
 * day by the store's own clock, which another builder or a reader may be about to need.
 */
import { performance } from 'node:perf_hooks'
import { filesNamed, type Commit } from '../../snapshot/commit.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { COLLECTED_AFTER_S } from './prefix-files.ts'
import { commitNumber, isContent, isProbe, type Prefix } from './prefix.ts'

/** A name that was listed longer ago may be another builder's by now. */
const LISTING_HOLDS_MS = 60_000

/**
 * Never throws for what stores do: the snapshot is published, and the next builder collects.
 * @param keep newest commits that stay, however old
 */
export async function collectObjects(
  prefix: Prefix,
  newest: Commit,
  keep: number,
  log: (line: string) => void,
): Promise<void> {
  try {
    await collect(prefix, newest, keep)
  } catch (error) {
    if (!(error instanceof RequestFault) && !(error instanceof BuildError)) throw error
    log(`warning: old objects stay for now: ${error.message}`)
  }
}

async function collect(prefix: Prefix, newest: Commit, keep: number): Promise<void> {
  const { objects, now } = await prefix.listing()
  const listedAt = performance.now()
  // Ages are those of the store's clock alone: ours may be wrong.
  if (now === null) return
  const old = objects.filter(({ modified }) => now - modified > COLLECTED_AFTER_S)
  const numbers = objects.flatMap(({ name }) => commitNumber(name) ?? []).toSorted((a, b) => a - b)
  const droppable = new Set(numbers.slice(0, Math.max(0, numbers.length - keep)))
  const droppedCommits = old.filter(({ name }) => droppable.has(commitNumber(name) ?? -1))
  const named = new Set(filesNamed(newest))
  const unnamed = old.filter(({ name }) => isProbe(name) || (isContent(name) && !named.has(name)))
  if (droppedCommits.length + unnamed.length === 0) return
  const dropped = new Set(droppedCommits.map(({ name }) => commitNumber(name)))
  for (const number of numbers) {
    if (dropped.has(number) || number === newest.number) continue
    const commit = await prefix.commit(number)
    for (const file of commit === null ? [] : filesNamed(commit)) named.add(file)
  }
  // Commits go first: a commit must not outlive its parts.
  const garbage = [...droppedCommits, ...unnamed.filter(({ name }) => !named.has(name))]
  if ((await prefix.numbers()).at(-1) !== newest.number) return
  for (const { name } of garbage) {
    if (performance.now() - listedAt > LISTING_HOLDS_MS) return
    await prefix.store.remove(name)
  }
}
