/**
 * Removes objects with names of ours that no kept commit names, and none younger than a day by the store's
 * clock: another builder or a reader may be about to need them.
 */
import { performance } from 'node:perf_hooks'
import { filesNamed, type Commit } from '../../snapshot/commit.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { COLLECTED_AFTER_S } from './prefix-files.ts'
import { CONTENT, FORMER, NUMBERED, type Prefix } from './prefix.ts'

/** A name that was listed longer ago may be another builder's by now. */
const LISTING_HOLDS_MS = 60_000

/**
 * Collects, and never throws for what stores do: the next build collects, too.
 * @param keep commits that stay, however old, with the newest one
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
  const { objects, now } = await prefix.store.list('')
  const listedAt = performance.now()
  // Ages are those of the store's clock alone: ours may be wrong.
  if (now === null) return
  const isOld = ({ modified }: { modified: number }): boolean => now - modified > COLLECTED_AFTER_S
  const former = objects.filter(({ name }) => FORMER.test(name)).toSorted((a, b) => a.modified - b.modified)
  // A builder of an older version goes by numbers, and would put its own newest one in the place of ours.
  const dropped = former.filter(
    (object, i) => NUMBERED.test(object.name) || (i <= former.length - keep && isOld(object)),
  )
  const garbage = objects.filter((object) => CONTENT.test(object.name) && isOld(object))
  if (dropped.length + garbage.length === 0) return
  const named = new Set(filesNamed(newest))
  for (const object of former) {
    if (dropped.includes(object)) continue
    const commit = await prefix.commit(object.name)
    for (const file of commit === null ? [] : filesNamed(commit)) named.add(file)
  }
  if ((await prefix.newest())?.name !== newest.name) return
  // Commits go first: a commit must not outlive its parts.
  for (const { name } of [...dropped, ...garbage.filter((object) => !named.has(object.name))]) {
    if (performance.now() - listedAt > LISTING_HOLDS_MS) return
    await prefix.store.remove(name)
  }
}
