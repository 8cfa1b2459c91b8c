/** Other revisions of the product, compiled beside this one. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const BENCH_DATA = fileURLToPath(new URL('../data', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The sources of a revision, packed. */
const ARCHIVE_BYTES = 2 ** 28
/** Of the compiler. */
const CONFIGURATION = ['tsconfig.json', 'tsconfig.build.json']
const JAVASCRIPT = ['begin.mjs']

/**
 * Compiles `root`, a tree of the product's sources, into `out`. Modules that it imports are found from the
 * folder of the bench upwards. Returns the file of its command line.
 */
export function compileTree(root: string, out: string): string {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const { status, stdout } = spawnSync(
    process.execPath,
    [tsc, '--project', join(root, 'tsconfig.build.json'), '--outDir', out],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the product does not compile:\n${stdout.slice(0, 2000)}`)
  // The compiler takes no JavaScript.
  for (const file of JAVASCRIPT) {
    const source = join(root, 'src', file)
    if (existsSync(source)) copyFileSync(source, join(out, file))
  }
  return join(out, 'cli.js')
}

/**
 * Compiles the product to a place of this run, so that nobody changes it under the run, another run neither.
 * Returns the command line's file.
 */
export function compileProduct(): string {
  const out = join(BENCH_DATA, `compiled-${process.pid}`)
  // A worker that starts later reads them again.
  process.once('exit', () => rmSync(out, { recursive: true, force: true }))
  return compileTree(ROOT, out)
}

export interface Revision {
  /** Short hash of its commit. */
  name: string
  /** Folder of its compiled modules. */
  folder: string
  cli: string
}

/**
 * Takes a revision out of the version control and compiles it, unless it was compiled before. It runs with
 * the packages that are installed here. @throws Error where there is no such revision
 */
export function compileRevision(revision: string): Revision {
  const name = git(['rev-parse', '--short', '--verify', `${revision}^{commit}`])
    .toString()
    .trim()
  const root = join(BENCH_DATA, 'revisions', name)
  const folder = join(root, 'compiled')
  const cli = join(folder, 'cli.js')
  if (existsSync(cli)) return { name, folder, cli }
  mkdirSync(root, { recursive: true })
  const archive = git(['archive', '--format=tar', name, 'src', 'package.json', ...CONFIGURATION])
  const { status, stderr } = spawnSync('tar', ['-x', '-C', root], { input: archive, encoding: 'utf8' })
  if (status !== 0) throw new Error(`revision ${name} cannot be unpacked: ${stderr}`)
  compileTree(root, folder)
  // Nobody else is to check or compile them.
  rmSync(join(root, 'src'), { recursive: true })
  return { name, folder, cli }
}

/**
 * Packages that a revision wants in other versions than are installed here, each as `name 1.0 (here 2.0)`:
 * where it fails, look at these first.
 */
export function otherPackages({ name }: Revision): string[] {
  const read = (file: string): { [member: string]: unknown } =>
    JSON.parse(readFileSync(file, 'utf8')) as { [member: string]: unknown }
  const wanted = read(join(BENCH_DATA, 'revisions', name, 'package.json'))['dependencies'] as {
    [name: string]: string
  }
  return Object.entries(wanted).flatMap(([one, version]) => {
    const file = join(ROOT, 'node_modules', one, 'package.json')
    const here = existsSync(file) ? String(read(file)['version']) : 'none'
    return here === version ? [] : [`${one} ${version} (here ${here})`]
  })
}

/** @throws Error with what git says */
function git(args: readonly string[]): Buffer {
  const { status, stdout, stderr } = spawnSync('git', [...args], { cwd: ROOT, maxBuffer: ARCHIVE_BYTES })
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
