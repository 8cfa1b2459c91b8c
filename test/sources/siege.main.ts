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
import { SAMPLES } from './samples.ts'
import { besiege } from './siege.ts'

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
  await besiege({
    kinds: values.kinds?.split(',') ?? Object.keys(SAMPLES),
    files: Number(values.files),
    batch: Number(values.batch),
    seed: Number(values.seed),
    folder: folder,
    log: (line) => void process.stdout.write(`${line}\n`),
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
