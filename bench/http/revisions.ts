/** The product as it is measured, and other revisions of it beside that. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const BENCH_DATA = fileURLToPath(new URL('../data', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** What a comparison with git may say. */
const OUTPUT_BYTES = 2 ** 28

/**
 * Builds the product to a place of this run, so that nobody changes it under the run, another run neither.
 * Returns the command line's file.
 */
export async function buildProduct(): Promise<string> {
  const out = join(BENCH_DATA, `compiled-${process.pid}`)
  rmSync(out, { recursive: true, force: true })
  // A worker that starts later reads them again.
  process.once('exit', () => rmSync(out, { recursive: true, force: true }))
  const { buildInto } = (await import(new URL('../../tools/build-program.mjs', import.meta.url).href)) as {
    buildInto: (folder: string) => Promise<void>
  }
  await buildInto(out)
  return join(out, 'cli.js')
}

export interface Revision {
  /** Short hash of its commit. */
  name: string
  /** Folder of its compiled modules. */
  folder: string
  cli: string
}

/**
 * A revision that somebody has built. It runs with the packages that are installed here.
 * @throws Error where there is no such revision, and saying how to build it where it is not built
 */
export function builtRevision(revision: string): Revision {
  const name = git(['rev-parse', '--short', '--verify', `${revision}^{commit}`])
    .toString()
    .trim()
  const folder = join(BENCH_DATA, 'revisions', name, 'compiled')
  const cli = join(folder, 'cli.js')
  if (!existsSync(cli))
    throw new Error(
      `revision ${name} is not built: in a worktree of it, "npm ci && npm run build", and copy what dist holds to ${folder}`,
    )
  return { name, folder, cli }
}

/**
 * Packages that a revision wants in other versions than are installed here, each as `name 1.0 (here 2.0)`:
 * where it fails, look at these first.
 */
export function otherPackages({ name }: Revision): string[] {
  const memberOf = (text: string, member: string): unknown =>
    (JSON.parse(text) as { [member: string]: unknown })[member]
  const wanted = memberOf(git(['show', `${name}:package.json`]).toString(), 'dependencies') as {
    [name: string]: string
  }
  return Object.entries(wanted).flatMap(([one, version]) => {
    const file = join(ROOT, 'node_modules', one, 'package.json')
    const here = existsSync(file) ? String(memberOf(readFileSync(file, 'utf8'), 'version')) : 'none'
    return here === version ? [] : [`${one} ${version} (here ${here})`]
  })
}

/** @throws Error with what git says */
function git(args: readonly string[]): Buffer {
  const { status, stdout, stderr } = spawnSync('git', [...args], { cwd: ROOT, maxBuffer: OUTPUT_BYTES })
  if (status === 0) return stdout
  throw new Error(`git ${args.join(' ')}: ${stderr.toString().trim()}`)
}

/** What the sources of the product are now, as a text; null where there is no version control. */
export function sourcesMark(): string | null {
  try {
    return git(['rev-parse', 'HEAD:src']).toString().trim() + git(['diff', 'HEAD', '--', 'src']).toString()
  } catch {
    return null
  }
}
