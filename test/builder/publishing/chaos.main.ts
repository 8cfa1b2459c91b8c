/**
 * The long form of the chaos of builders and replicas:
 * `npm run -s build && node --import tsx test/builder/publishing/chaos.main.ts --minutes 10 [--seed N]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runChaos } from './chaos.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '3' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'groundswell-chaos-'))
const began = performance.now()
try {
  const figures = await runChaos({
    folder,
    rounds: 0,
    seconds: Number(values.minutes) * 60,
    replicas: Number(values.replicas),
    slowFaults: true,
    seed: Number(values.seed),
    log: (line) => process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0)} s: ${line}\n`),
  })
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
