/**
 * Builds from a good source and a hostile one: what became of the good one, how long it took, and how much
 * memory.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { familyMegabytes } from '../http/servers.ts'
import { until } from './crowd.ts'

const GOOD_FOLDER = fileURLToPath(new URL('../../data/fixtures/small', import.meta.url))
/** A network of the good source. */
export const GOOD_NETWORK = 'Northwatch'
const SAMPLE_MS = 100

export interface HostileSource {
  kind: string
  /** Puts the source's files into a folder. */
  make: (folder: string) => void
  options?: object
  /** Texts that must not come out: what elsewhere on this machine is not the source's. */
  secrets?: () => string[]
}

export interface Built {
  /** Code or signal that it ended with; null where it did not end in time. */
  ended: number | string | null
  seconds: number
  /** MB, of the build and all that it started. */
  peak: number
  /** Whether the good source is in what was published. */
  isGoodThere: boolean
  /** Whether one of the secrets is in what was said or published. */
  leaks: boolean
  output: string
}

/** Runs one build in a place of its own, which is gone afterwards. */
export async function buildBeside(cli: string, hostile: HostileSource, limitMs: number): Promise<Built> {
  const place = mkdtempSync(join(tmpdir(), 'groundswell-attack-build-'))
  try {
    const folder = join(place, 'hostile')
    mkdirSync(folder)
    hostile.make(folder)
    const sources = [
      { name: 'good', kind: 'csv', folder: GOOD_FOLDER },
      {
        name: 'hostile',
        kind: hostile.kind,
        folder,
        ...(hostile.options === undefined ? {} : { options: hostile.options }),
      },
    ]
    const config = join(place, 'groundswell.config.json')
    writeFileSync(config, JSON.stringify({ sources }))
    const out = join(place, 'out')
    const began = performance.now()
    const built = await runBounded([cli, 'build', '--config', config, '--out', out], limitMs)
    const seconds = (performance.now() - began) / 1000
    const { status, stdout } = spawnSync(process.execPath, [cli, 'inspect', out], { encoding: 'utf8' })
    const secrets = hostile.secrets?.() ?? []
    const published = secrets.length === 0 || !existsSync(out) ? [] : readdirSync(out)
    const leaks = [Buffer.from(built.output), ...published.map((file) => readFileSync(join(out, file)))].some(
      (bytes) => secrets.some((secret) => bytes.includes(secret)),
    )
    return { ...built, seconds, isGoodThere: status === 0 && stdout.includes(GOOD_NETWORK), leaks }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

async function runBounded(
  args: readonly string[],
  limitMs: number,
): Promise<{ ended: number | string | null; peak: number; output: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < 1e6) output += chunk
    })
  }
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, familyMegabytes(child.pid!))), SAMPLE_MS)
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  await until(hasEnded, limitMs)
  clearInterval(timer)
  const ended = child.exitCode ?? child.signalCode
  if (ended === null) child.kill('SIGKILL')
  return { ended, peak, output }
}
