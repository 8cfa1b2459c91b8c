/** The sections in which many clients ask for everything together: the mixture, swaps, and a neighbour. */
import { BASE_PATH } from './cases.ts'
import type { Checker } from './check.ts'
import { builderOf, OWN_BUILDER, stillFolder, swapFolder, type BenchData, type Builder } from './data.ts'
import { measureNeighbour, measureSwaps, type Contender } from './felt.ts'
import { distinctPaths, drawMixture, learn, lightOf, type Mixture } from './mixture.ts'
import { measureMixture, startSwapping, type MixtureContext, type Section } from './mixture-run.ts'
import { measureProxies } from './proxies.ts'
import { RawClient } from './raw.ts'
import type { Results } from './report.ts'
import { builtRevision } from './revisions.ts'
import type { Ceiling, Product } from './servers.ts'

/** Holds all answers of a mixture, plain and compressed. */
const LEARNING_CACHE = '512MiB'

export const TOGETHER_SECTIONS = ['mixture', 'swap', 'neighbour'] as const
export type TogetherSection = (typeof TOGETHER_SECTIONS)[number]

export interface TogetherContext {
  product: Product
  data: BenchData
  checker: Checker
  ceiling: Ceiling
  wants: (section: TogetherSection) => boolean
  /** Requests drawn of the mixture. */
  drawn: number
  rounds: number
  /** Between two swaps of the mixture. */
  swapSeconds: number
  /** Of each part of the sections that are about what others feel. */
  feltSeconds: number
  connections: number
  processes: number
  /** Whether the mixture is asked through proxies, too. */
  proxies: boolean
  /** Requests a second where latencies are taken, where they are given and not a share of the capacity. */
  rate: number | null
  /** Revision of the product that is measured, too. */
  before: string | undefined
  say: (text: string) => void
}

/** The sections that ask for everything together. */
export async function measureTogether(context: TogetherContext, results: Results): Promise<void> {
  const { product, data, ceiling, wants, rounds, connections, processes, rate, say } = context
  const mixture = drawMixture(data, context.drawn)
  const take = ({ limits, tables: texts }: Section): void => {
    results.limits.push(...limits)
    results.texts.push(...texts)
  }
  const shared = { connections, processes, rate, rounds, say }
  if (wants('mixture')) {
    const { swaps, learnt } = await contend(context, { label: 'now', product, mixture }, results)
    const own: MixtureContext = {
      ...shared,
      product,
      ceiling,
      mixture,
      learnt,
      swaps,
      swapSeconds: context.swapSeconds,
    }
    take(await measureMixture(own))
    if (context.proxies) results.limits.push(...(await measureProxies(own, results.notRun)))
  }
  if (!wants('swap') && !wants('neighbour')) return
  const light = lightOf(mixture)
  const contenders = [await contend(context, { label: 'now', product, mixture: light }, results)]
  if (context.before !== undefined) {
    const revisionBefore = builtRevision(context.before)
    const builder = await builderOf(revisionBefore)
    const older = { ...product, cli: revisionBefore.cli }
    const label = `before (${revisionBefore.name})`
    contenders.unshift(await contend(context, { label, product: older, mixture: light, builder }, results))
  }
  const felt = { ...shared, contenders, data, seconds: context.feltSeconds }
  if (wants('swap')) take(await measureSwaps(felt))
  if (wants('neighbour')) take(await measureNeighbour(felt))
}

/** Learns what a revision answers to a mixture, after comparing its answers with those of the oracle. */
async function contend(
  { data, checker, wants, say }: TogetherContext,
  {
    label,
    product,
    mixture,
    builder = OWN_BUILDER,
  }: { label: string; product: Product; mixture: Mixture; builder?: Builder },
  results: Results,
): Promise<Contender> {
  const key = `Authorization: Bearer ${product.key}`
  const isSwapped = wants('mixture') || wants('swap')
  const swaps = await (isSwapped ? swapFolder : stillFolder)(data.scale, builder)
  // It keeps all answers, so that each comes as it would come in the end.
  const server = await startSwapping(product, swaps, { answerCache: LEARNING_CACHE })
  const asked = distinctPaths(mixture)
  const client = new RawClient(server.port, [key])
  const unsure = await checker.check(asked, (path) => client.get(BASE_PATH + path))
  client.close()
  const learnt = await learn(mixture, server, key, `mixture-${label}`)
  await server.stop()
  for (const one of mixture.kinds) {
    const requests = asked.filter((request) => request.one === one).length
    if (requests === 0) continue
    const own = unsure.get(one) ?? 0
    const name = `mixture, ${label}: ${one.name}`
    results.checked.push({ case: name, requests, compared: requests - own, unsure: own, kept: {} })
  }
  say(
    `mixture, ${label}: ${asked.length} answers are the oracle's, ${learnt.compared} with their headers are those`,
  )
  return { label, product, swaps, learnt }
}
