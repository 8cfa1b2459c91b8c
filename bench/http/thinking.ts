/**
 * What a server pays for being slower than the ceiling, beyond its own work: the ceiling thinks for some µs
 * before each answer, and the rest of its CPU time grows. A client that waits for a slow server falls asleep,
 * and each answer has to wake it, which a fast server need not do.
 *
 *     node --import tsx bench/http/thinking.ts [BYTES]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LISTS, saturate } from './load.ts'
import { table } from './report.ts'
import { leaveServersCore, startCeiling, stopAll } from './servers.ts'
import { median } from './statistics.ts'

const THINKS_MICROS = [0, 1, 2, 3, 4, 6]
const ROUNDS = 5
/** Of an answer to `detail`, where no length is given. */
const BODY_BYTES = 560
/** As many bytes of header lines as the product sends. */
const HEAD = `200 OK\r\nX-Padding: ${'a'.repeat(600)}`

interface Row {
  thought: number
  /** CPU time a request without it, µs. */
  rest: number
  rate: number
}

try {
  leaveServersCore()
  const ceiling = await startCeiling()
  await ceiling.answerWith(HEAD, Number(process.argv[2] ?? BODY_BYTES))
  mkdirSync(LISTS, { recursive: true })
  const file = join(LISTS, 'thinking.txt')
  writeFileSync(file, '/v2/buoys/1\n')
  const load = { file, headers: [], depth: 1, seconds: 1 }
  const rounds = THINKS_MICROS.map((): Row[] => [])
  // The first round compiles.
  for (let round = -1; round < ROUNDS; round++) {
    for (const [i, micros] of THINKS_MICROS.entries()) {
      await ceiling.think(micros)
      const { cpu, rate } = await saturate(ceiling, load)
      const thought = await ceiling.think(0)
      if (round >= 0) rounds[i].push({ thought, rest: cpu - thought, rate })
    }
  }
  const of = (rows: readonly Row[], what: keyof Row): number => median(rows.map((row) => row[what]))
  const rows = rounds.map((row) => [
    of(row, 'thought').toFixed(2),
    of(row, 'rest').toFixed(2),
    Math.round(of(row, 'rate')).toLocaleString('en-US'),
  ])
  process.stdout.write(`${table(['thinks, µs', 'rest of its CPU time, µs', 'requests/s'], rows)}\n`)
} finally {
  await stopAll()
}
