/** The revision of before that is measured, too. */
import { BASE_PATH } from './cases.ts'
import { builderOf, snapshotFolder } from './data.ts'
import { HOT_CACHE, say, scale } from './options.ts'
import { checkable, type Plan } from './plans.ts'
import { RawClient } from './raw.ts'
import { builtRevision, otherPackages } from './revisions.ts'
import { startProduct, type Product, type Server } from './servers.ts'

/** The revision before, on data that its own builder made of the same sources. */
export interface Before {
  cold: Server
  startHot: () => Promise<Server>
}

export async function startBefore(name: string, product: Product): Promise<Before> {
  const earlier = builtRevision(name)
  const others = otherPackages(earlier)
  if (others.length > 0) say(`${earlier.name} runs with packages other than its own: ${others.join(', ')}`)
  const snapshots = await snapshotFolder(scale, await builderOf(earlier))
  // Older revisions decode with msgpackr, whose native part ends some of them with SIGSEGV; they load a
  // little slower without it and serve the same.
  const env = { MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' }
  const own = { ...product, cli: earlier.cli, snapshots }
  return {
    cold: await startProduct(own, { answerCache: '0', env }),
    startHot: () => startProduct(own, { answerCache: `${HOT_CACHE}MiB`, env }),
  }
}

/** Answers of a case whose lengths are compared between two revisions. */
const COMPARED_BEFORE = 200

/**
 * Says the first answer of the revision before that has another length than today's, which are the oracle's.
 */
export async function compareBefore(
  { one, cold }: Plan,
  earlier: Server,
  now: Server,
  key: string,
): Promise<void> {
  const [a, b] = [earlier, now].map((server) => new RawClient(server.port, [key]))
  for (const path of checkable(one, cold).slice(0, COMPARED_BEFORE)) {
    const [was, is] = await Promise.all([a.get(BASE_PATH + path), b.get(BASE_PATH + path)])
    if (was.status !== is.status || was.body.length !== is.body.length) {
      say(
        `${one.name}: ${path} was ${was.status}, ${was.body.length} bytes, is ${is.status}, ${is.body.length} bytes`,
      )
      break
    }
  }
  a.close()
  b.close()
}
