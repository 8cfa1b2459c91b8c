/**
 * The long form of `siege.test.ts` (`npm run build` first):
 *
 *     node --import tsx test/sources/siege.main.ts \
 *         [--files 5000] [--batch 250] [--seed 1] [--kinds ndbc,cmems]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { altimetrySample } from './altimetry_sample.ts'
import { besiege, samplesOf } from './siege.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    batch: { type: 'string', default: '250' },
    seed: { type: 'string', default: '1' },
    kinds: { type: 'string' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'siege-'))
try {
  const samples = samplesOf(altimetrySample(join(folder, 'sample.nc')))
  await besiege({
    kinds: values.kinds?.split(',') ?? Object.keys(samples),
    files: Number(values.files),
    batch: Number(values.batch),
    seed: Number(values.seed),
    folder: join(folder, 'siege'),
    samples,
    log: (line) => void process.stdout.write(`${line}\n`),
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
