/**
 * Where the time of the mixture goes: each of its parts alone against the ceiling with that part's answers.
 */
import { saturate } from './load.ts'
import { writeLists, type Mixture } from './mixture.ts'
import type { MixtureContext } from './mixture-run.ts'
import { table } from './report.ts'
import type { Server } from './servers.ts'
import { median } from './statistics.ts'

/** Each sample, of which two are taken of a part and round. */
const SECONDS = 2
/** Before them; `wrk` counts in whole seconds. */
const WARM_S = 1

interface Part {
  name: string
  /** Positions in the list of the mixture. */
  members: number[]
}

/** Known answers and refusals by themselves, the others by kind and by whether they may be compressed. */
function partsOf({ kinds, wanted }: Mixture): Part[] {
  const parts = new Map<string, Part>()
  for (const [i, { kind, gzip, conditional, wrongKey }] of wanted.entries()) {
    const plain = gzip ? `${kinds[kind].name}, gzip` : kinds[kind].name
    const name = wrongKey ? 'wrong key' : conditional ? 'known (304)' : plain
    const part = parts.get(name) ?? { name, members: [] }
    part.members.push(i)
    parts.set(name, part)
  }
  return [...parts.values()].toSorted((a, b) => b.members.length - a.members.length)
}

/** CPU time a request of each part over kept connections, without swaps, ours and the ceiling's. */
export async function measureParts(context: MixtureContext, server: Server): Promise<string> {
  const { ceiling, learnt, mixture, rounds, connections, swapSeconds, say } = context
  const seconds = Math.min(SECONDS, swapSeconds)
  const rows: { cells: string[]; adds: number }[] = []
  for (const { name, members } of partsOf(mixture)) {
    const requests = members.map((i) => learnt.requests[i])
    const { closedFile } = writeLists(requests, `mixture-part-${name}`)
    await ceiling.answerInTurn(
      learnt.answers,
      members.map((i) => learnt.order[i]),
    )
    const isRefused = name === 'wrong key'
    const load = { file: closedFile, headers: [], depth: 1, seconds, connections, refused: isRefused ? 1 : 0 }
    await saturate(server, { ...load, seconds: WARM_S })
    const [ours, theirs, bytes]: number[][] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      const sample = await saturate(server, load)
      ours.push(sample.cpu)
      bytes.push(sample.bytes)
      theirs.push((await saturate(ceiling.spread, load)).cpu)
    }
    const share = members.length / mixture.wanted.length
    const [own, least] = [median(ours), median(theirs)]
    const adds = share * (own - least)
    say(`mixture, ${name}: ${own.toFixed(1)} of ${least.toFixed(1)} µs, adds ${adds.toFixed(2)}`)
    rows.push({
      cells: [
        name,
        `${(100 * share).toFixed(1)} %`,
        Math.round(median(bytes)).toString(),
        own.toFixed(1),
        least.toFixed(1),
        (least / own).toFixed(2),
        adds.toFixed(2),
      ],
      adds,
    })
  }
  return [
    `The parts of the mixture alone, over ${connections} kept connections, without swaps:`,
    table(
      ['part', 'requests', 'bytes', 'µs', 'ceiling, µs', 'share', 'adds to the mean, µs'],
      rows.toSorted((a, b) => b.adds - a.adds).map(({ cells }) => cells),
    ),
  ].join('\n\n')
}
