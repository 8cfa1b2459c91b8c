/** Real Redis servers for tests: each on a free port of loopback, in a folder of its own. */
import { createClient } from '@redis/client'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { findFreePort } from '../../../src/http/port.ts'
import { temporaryFolder } from '../../live.ts'
import { findTool, missingTool } from '../../programs.ts'
import { until } from '../../until.ts'

/** A reason to skip, or false. */
export const noRedis = (): string | false => missingTool('redis-server', 'redis-server')

export interface RedisServer {
  readonly port: number
  /** `redis://127.0.0.1:PORT/0`, or `rediss://localhost:PORT/0` with TLS. */
  readonly address: string
  /** File of the authority in PEM; empty without TLS. */
  readonly authority: string
  /** Sends one command as the default user. */
  command(...words: string[]): Promise<unknown>
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts again on the same port and in the same folder; without persistence it is empty then. */
  start(): Promise<void>
}

interface RedisOptions {
  tls?: boolean
  /** Port that is wanted; a free one without it. */
  port?: number
}

/** Starts a Redis that ends with the test. */
export async function startRedis(t: TestContext, options: RedisOptions = {}): Promise<RedisServer> {
  const folder = temporaryFolder(t)
  const port = options.port ?? (await freePort())
  const authority = options.tls === true ? makeCertificates(folder) : ''
  const args = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  args.push(...(options.tls === true ? tlsArgs(folder, port) : ['--port', String(port)]))
  let child: ChildProcess | null = null
  let written = ''
  const stop = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('close', resolve))
    ending.kill(signal)
    await ended
  }
  const command = (...words: string[]): Promise<unknown> => sendCommand(port, authority, words)
  const start = async (): Promise<void> => {
    child = spawn(findTool('redis-server') ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes) => (written += String(bytes)))
    const started = child
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`redis-server ended: ${written}`)
      const answer: unknown = await command('PING').catch((error: unknown) => String(error))
      return /PONG|NOAUTH/.test(String(answer))
    })
  }
  t.after(() => stop())
  await start()
  const address = options.tls === true ? `rediss://localhost:${port}/0` : `redis://127.0.0.1:${port}/0`
  return { port, address, authority, command, stop, start }
}

export const freePort = (): Promise<number> => findFreePort('127.0.0.1', 0)

async function sendCommand(port: number, authority: string, words: string[]): Promise<unknown> {
  const socket = {
    host: '127.0.0.1',
    port,
    reconnectStrategy: false as const,
    ...(authority === '' ? {} : { tls: true as const, rejectUnauthorized: false }),
  }
  const client = createClient({ socket, RESP: 2 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}

function tlsArgs(folder: string, port: number): string[] {
  const files = { cert: 'server.pem', key: 'server.key', 'ca-cert': 'ca.pem' }
  const ports = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'optional']
  return [
    ...ports,
    ...Object.entries(files).flatMap(([name, file]) => [`--tls-${name}-file`, join(folder, 'tls', file)]),
  ]
}

/** An authority, and a certificate of `localhost` that it has signed. Returns the authority's file. */
function makeCertificates(folder: string): string {
  const dir = join(folder, 'tls')
  mkdirSync(dir)
  const ec = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  writeFileSync(join(dir, 'names'), 'subjectAltName=DNS:localhost\n')
  for (const command of [
    `req -x509 ${ec} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority`,
    `req ${ec} -keyout server.key -out server.csr -subj /CN=localhost`,
    'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -days 2 -out server.pem',
  ])
    execFileSync('openssl', command.split(' '), { cwd: dir, stdio: 'pipe' })
  return join(dir, 'ca.pem')
}
