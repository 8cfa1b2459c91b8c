/** A server within another program. */
import { lineText } from '../system/log.ts'
import { startServer as start } from './server.ts'
import { SERVE_SETTINGS, type ServeConfig } from './serve-settings.ts'
import { type Setting, UsageError } from './setting.ts'
import { inUrl } from '../system/text.ts'
import { join } from 'node:path'

/**
 * The options of `groundswell serve` in camel case, without the options of the mirror and the log. Durations
 * and sizes are texts such as `'30m'` and `'64MiB'`. The environment is not read.
 */
export interface ServerOptions {
  /** Folder of `snapshots` and `keys.json`. Needed unless `snapshots` and `keys` are given. */
  readonly data?: string
  readonly snapshots?: string
  /** A file, or an address `s3://…/keys.json` or `https://…/keys.json`. */
  readonly keys?: string
  /** 0 takes any free port. */
  readonly port?: number
  readonly host?: string
  readonly workers?: number
  readonly basePath?: string
  readonly activeWithin?: string
  readonly quotaStore?: string
  readonly quotaStoreRequired?: boolean
  readonly anonymousQuota?: number
  readonly explorer?: 'auto' | 'open' | 'keyed'
  readonly explorerQuota?: number
  readonly contact?: string
  readonly mapStyle?: readonly string[]
  readonly title?: string
  readonly logo?: string
  readonly accent?: string
  readonly edr?: 'on' | 'off'
  readonly mcp?: 'on' | 'off'
  readonly mcpOrigin?: readonly string[]
  readonly publicUrl?: string
  readonly embedFrom?: readonly string[]
  readonly trustedProxy?: readonly string[]
  readonly answerCache?: string | number
  readonly holdSnapshots?: number
  readonly maxMemory?: string | number
  readonly maxConnections?: number
  readonly maxListeners?: number
  readonly maxListenersPerKey?: number
  readonly drainTime?: string
  readonly adminPort?: number | 'auto' | 'off'
  readonly adminHost?: string
  readonly adminName?: readonly string[]
  readonly adminTokenFile?: string
  readonly engine?: 'auto' | 'uws' | 'node'
  /** Gets a line for each event and warning. Standard error gets them without it. */
  readonly log?: (line: string) => void
  /** Ends a server that does not serve yet. */
  readonly signal?: AbortSignal
}

/** A server that listens. */
export interface Server {
  /** Address of the API, with the base path and without a slash at its end. */
  readonly url: string
  readonly port: number
  readonly adminPort: number | null
  /** Resolves with the reason when this process cannot go on serving and should be started again. */
  readonly failed: Promise<string>
  /** Looks for a new snapshot at once; without it a new one is noticed within a second. */
  reload(): Promise<void>
  /** Stops cleanly: each connection is closed after its answer, within `drainTime`. */
  stop(): Promise<void>
}

export const OF_THE_COMMAND: ReadonlySet<string> = new Set([
  'from',
  'poll',
  'log-format',
  'log-level',
  'access-log',
])

type Surrounding = 'log' | 'signal'

/**
 * Serves the snapshots of a folder from worker threads of this process. Signals stay the caller's.
 * @throws UsageError naming the option; Error naming the address when a port is taken; KeysFileError
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log = (line) => void process.stderr.write(`${line}\n`), signal, ...settings } = options
  const server = await start(configOf(settings), {
    // Debug lines stay out where nobody can change the level.
    log: (message, level, word) => {
      if (level !== 'debug') log(lineText(message, level, word))
    },
    clock: () => Date.now() / 1000,
    ...(signal !== undefined && { signal }),
  })
  return {
    url: `http://${inUrl(server.host)}:${server.port}${server.basePath}`,
    port: server.port,
    adminPort: server.adminPort,
    failed: server.failed,
    reload: () => server.reload(),
    stop: async () => void (await server.stop()),
  }
}

/** `basePath` for `base-path`. */
export function optionName(option: string): string {
  return option.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** @throws UsageError naming the option */
function configOf(options: Omit<ServerOptions, Surrounding>): ServeConfig {
  const given = options as { readonly [name: string]: unknown }
  const known = Object.entries(SERVE_SETTINGS).map(
    ([option, setting]) => [optionName(option), option, setting as Setting<unknown>] as const,
  )
  const taken = known.filter(([, option]) => !OF_THE_COMMAND.has(option)).map(([name]) => name)
  const unknown = Object.keys(given).find((name) => !taken.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`unknown option ${unknown}; there are ${taken.join(', ')}, log and signal`)
  }
  return Object.freeze(
    Object.fromEntries(
      known.map(([name, option, setting]) => {
        try {
          return [option, setting.parse(textsOf(given[name], setting, options.data))]
        } catch (error) {
          throw new UsageError(`${name}: expected ${(error as Error).message}`)
        }
      }),
    ),
  ) as ServeConfig
}

function textsOf(value: unknown, { under, default: fallback }: Setting<unknown>, data?: string): string[] {
  if (value !== undefined) return (Array.isArray(value) ? value : [value]).map(String)
  if (under === undefined) return fallback === undefined ? [] : [fallback]
  if (data === undefined) throw new Error('a path, or the option data')
  return [join(data, under)]
}
