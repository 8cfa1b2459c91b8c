/** A real server over a snapshot that is built for it: the compiled command line, in processes of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../src/access/keys-file.ts'
import { shippedNodeOptions } from './node_options.ts'

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const LISTENING = /listening on http:\/\/127\.0\.0\.1:(\d+)(\/\S*)?/
/** A cold start on a busy machine stays far below this. */
const START_MS = 300_000
/** A server that does not end within this after it was asked to is killed. */
const STOP_MS = 10_000
/** Enough to see why something failed; a chatty server must not fill the memory. */
const OUTPUT_CHARACTERS = 1_000_000

interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs one command of the compiled command line to its end. */
export async function runCli(
  args: string[],
  environment: { [name: string]: string } = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  const output = collect(child)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, ...output() }
}

/** As `runCli`, for commands that have to succeed. @throws Error with what the command wrote */
export async function runCliWell(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const chunks = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      if (chunks[name].length < OUTPUT_CHARACTERS) chunks[name] += chunk
    })
  }
  return () => ({ ...chunks })
}

export interface LiveOptions {
  /** What the snapshot is built from: `['--source', 'csv:DIR']`, or nothing where `snapshots` is given. */
  sourceArgs?: string[]
  /** A snapshot folder that exists already. */
  snapshots?: string
  /** More arguments of `serve`, as `--name=value`; they replace the usual ones. */
  args?: string[]
  /** Calls an hour of the issued key. */
  quota?: number
}

export interface Live {
  /** `http://127.0.0.1:PORT` with the base path, without a slash at the end. */
  base: string
  port: number
  /** Text of the key that was issued, and its id. */
  key: string
  keyId: string
  keysFile: string
  snapshots: string
  /** What the server has written so far. */
  output(): { stdout: string; stderr: string }
  /** Ends the server by its process id; resolves to its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Builds a snapshot, issues a key and serves, with two workers and no limit on calls without a key. `onEnd`
 * is given what ends the server and removes its files, before either exists.
 * @throws Error with the server's output when it does not begin to listen
 */
export async function startServer(
  options: LiveOptions,
  onEnd: (end: () => Promise<void>) => void,
): Promise<Live> {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-live-'))
  // A server that is stopped still writes to its folder, so it goes first.
  let stop: Live['stop'] = () => Promise.resolve(null)
  onEnd(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const snapshots = options.snapshots ?? join(folder, 'snapshots')
  const keysFile = join(folder, 'keys.json')
  if (options.sourceArgs !== undefined) {
    await runCliWell(['build', ...options.sourceArgs, '--out', snapshots])
  }
  // Not by a process of its own, which takes a third of a second.
  const issued = issueKey(keysFile, {
    owner: 'test',
    quota: options.quota ?? 1_000_000,
    now: Date.now() / 1000,
  })
  const own = [`--snapshots=${snapshots}`, `--keys=${keysFile}`]
  const isGiven = options.args?.some((arg) => arg.startsWith('--keys=')) === true
  const server = serve(isGiven ? own.slice(0, 1) : own, options.args ?? [])
  stop = server.stop
  const { port, basePath } = await server.listening
  return {
    base: `http://127.0.0.1:${port}${basePath}`,
    port,
    key: issued.key,
    keyId: issued.record.id,
    keysFile,
    snapshots,
    output: server.output,
    stop,
  }
}

interface Serving {
  output: Live['output']
  stop: Live['stop']
  listening: Promise<{ port: number; basePath: string }>
}

function serve(folders: string[], given: string[]): Serving {
  const usual = ['--port=0', '--workers=2', '--anonymous-quota=0', '--drain-time=1s'].filter(
    (argument) => !given.some((own) => own.startsWith(argument.slice(0, argument.indexOf('=') + 1))),
  )
  const server = spawn(
    process.execPath,
    [...shippedNodeOptions(), CLI, 'serve', ...folders, ...usual, ...given],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const output = collect(server)
  const ended = new Promise<number | null>((resolve) => {
    server.once('close', resolve)
  })
  const stop: Live['stop'] = (signal = 'SIGTERM') => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill(signal)
      const impatient = setTimeout(() => server.kill('SIGKILL'), STOP_MS)
      void ended.then(() => clearTimeout(impatient))
    }
    return ended
  }
  const listening = new Promise<{ port: number; basePath: string }>((resolve, reject) => {
    const fail = (why: string) => {
      const { stdout, stderr } = output()
      reject(new Error(`the server ${why}\n${stdout}\n${stderr}`))
    }
    const slow = setTimeout(() => fail('does not listen'), START_MS)
    server.stdout.on('data', () => {
      const match = LISTENING.exec(output().stdout)
      if (match === null) return
      clearTimeout(slow)
      resolve({ port: Number(match[1]), basePath: (match[2] ?? '/v2').replace(/\/$/, '') })
    })
    server.once('error', reject)
    void ended.then((code) => {
      clearTimeout(slow)
      fail(`ended with ${code}`)
    })
  })
  return { output, stop, listening }
}
