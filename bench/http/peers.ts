/**
 * The peers: what one would build or buy otherwise. Each is started, asked the same requests, and compared
 * with us before it is measured.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { BASE_PATH, type Case, type PeerName } from './cases.ts'
import { sameAnswer } from './same.ts'
import { AS_OF, peerFiles, type BenchData } from './data.ts'
import { BENCH_DATA } from './revisions.ts'
import { missingTool, type Sample } from './load.ts'
import { RawClient } from './raw.ts'
import { cpuMicros, freePort, startServer, type Server } from './servers.ts'

/** Answers of a case that are compared with ours before it is measured. */
const COMPARED = 50

/** What a peer measures of a case: a server that takes the same load, or its own way of being asked. */
export type Ready =
  | { server: Server }
  | { server: null; measure: (rounds: number, seconds: number) => Sample[] }

export interface Peer {
  name: PeerName
  note?: string
  /**
   * Gets ready for a case and compares answers to the first of `paths` with ours. @throws Error where they
   * differ
   */
  prepare: (one: Case, paths: readonly string[], ours: Server, key: string) => Promise<Ready>
  stop: () => Promise<void>
}

/** Starts every peer that can be; says why one cannot in `notRun`. `key` is a bearer token's header line. */
export async function openPeers(
  data: BenchData,
  key: string,
  notRun: string[],
  say: (text: string) => void,
): Promise<Peer[]> {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-bench-'))
  // However this ends: by then the servers that write to it are gone.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const peers: Peer[] = []
  const open = async (name: PeerName, start: () => Promise<Peer>): Promise<Peer | null> => {
    say(`starting ${name}`)
    try {
      const peer = await start()
      peers.push(peer)
      return peer
    } catch (error) {
      notRun.push(`${name}: ${(error as Error).message.slice(0, 300)}`)
      say(notRun.at(-1)!)
      return null
    }
  }
  const token = key.replace('Authorization: Bearer ', '')
  let objects: Server | null = null
  if (data.scale === 'big') {
    notRun.push('fastify, postgis, varnish: 87 million readings as objects take more memory than there is')
  } else {
    const project = installFastify()
    await open('fastify', async () => {
      objects = await startObjects(project, data, token)
      return httpPeer('fastify', objects)
    })
    await open('postgis', async () => {
      const server = await startPostgis(project, data, token, folder)
      return httpPeer('postgis', server)
    })
  }
  if (objects !== null) {
    const backend: Server = objects
    await open('varnish', () => startVarnish(folder, backend.port))
  }
  await open('nginx', () => startNginx(folder))
  await open('redis', () => startRedis(folder, data))
  return peers
}

function need(command: string, debianPackage: string): void {
  const missing = missingTool(command, debianPackage)
  if (missing !== null) throw new Error(missing)
}

/**
 * Installs the Fastify project into a place that git does not see; its packages are no dependency of the
 * product.
 */
function installFastify(): string {
  const project = join(BENCH_DATA, 'peers', 'fastify')
  cpSync(fileURLToPath(new URL('../peers/fastify', import.meta.url)), project, { recursive: true })
  if (!existsSync(join(project, 'node_modules', 'pg'))) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 300_000,
    })
  }
  return project
}

async function startObjects(project: string, data: BenchData, token: string): Promise<Server> {
  const files = await peerFiles(data)
  return startServer({
    name: 'Fastify over objects',
    cores: '0',
    command: [
      process.execPath,
      '--max-old-space-size=8192',
      join(project, 'objects.mjs'),
      files.buoys,
      files.readings,
      String(AS_OF),
      token,
    ],
    ready: /listening on (\d+)/,
  })
}

async function startPostgis(
  project: string,
  data: BenchData,
  token: string,
  folder: string,
): Promise<Server> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').toSorted() : []
  const programs = join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin')
  if (!existsSync(join(programs, 'postgres')) || !existsSync(join(programs, 'initdb'))) {
    throw new Error('postgres is not installed: apt-get install postgresql postgresql-15-postgis-3')
  }
  const database = mkdtempSync(join(folder, 'postgres-'))
  let user = ['', '']
  if (process.getuid?.() === 0) {
    user = ['-u', '-g'].map((option) => execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }).trim())
    chmodSync(folder, 0o755)
    chownSync(database, Number(user[0]), Number(user[1]))
  }
  const files = await peerFiles(data)
  return startServer({
    name: 'Fastify over PostGIS',
    cores: '0',
    command: [
      process.execPath,
      join(project, 'postgis.mjs'),
      files.buoys,
      files.readings,
      String(AS_OF),
      token,
      database,
      programs,
      String(await freePort()),
      ...user,
    ],
    ready: /listening on (\d+)/,
  })
}

/** A peer that takes the very requests that we take. */
function httpPeer(name: PeerName, server: Server, note?: string): Peer {
  return {
    name,
    ...(note === undefined ? {} : { note }),
    prepare: async (_one, paths, ours, key) => {
      await compare(server, ours, paths, key)
      return { server }
    },
    stop: () => server.stop(),
  }
}

/** @throws Error at the first answer that is not ours, `meta.timestamp` apart */
async function compare(server: Server, ours: Server, paths: readonly string[], key: string): Promise<void> {
  const [own, theirs] = [new RawClient(ours.port, [key]), new RawClient(server.port, [key])]
  try {
    for (const path of paths.slice(0, COMPARED)) {
      const [a, b] = [await own.get(BASE_PATH + path), await theirs.get(BASE_PATH + path)]
      if (a.status !== b.status || !sameAnswer(a.body, b.body)) {
        throw new Error(`answers differ at ${path}: ${b.body.toString('utf8').slice(0, 200)}`)
      }
    }
  } finally {
    own.close()
    theirs.close()
  }
}

async function startVarnish(folder: string, backend: number): Promise<Peer> {
  need('varnishd', 'varnish')
  const vcl = join(folder, 'varnish.vcl')
  writeFileSync(
    vcl,
    `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${backend}"; }
sub vcl_recv { return (hash); }
sub vcl_backend_response { set beresp.ttl = 1h; return (deliver); }
`,
  )
  const port = await freePort()
  const server = await startServer({
    name: 'Varnish',
    cores: '0',
    command: [
      'varnishd',
      '-F',
      '-j',
      'none',
      '-n',
      join(folder, 'varnish'),
      '-f',
      vcl,
      '-a',
      `127.0.0.1:${port}`,
      '-s',
      'malloc,512m',
      '-p',
      'thread_pools=1',
    ],
    ready: /Child launched OK|Child \(\d+\) [Ss]aid Child starts|Debug: Child \(\d+\) Started/,
    port,
  })
  return httpPeer('varnish', server, 'from its cache, in front of Fastify over objects')
}

async function startNginx(folder: string): Promise<Peer> {
  need('nginx', 'nginx')
  const port = await freePort()
  const configuration = join(folder, 'nginx.conf')
  const file = join(folder, 'body.json')
  writeFileSync(file, '{}')
  // One worker that is the whole process, everything cached, nothing logged: as fast as it gets.
  writeFileSync(
    configuration,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 1000000000;
  open_file_cache max=10 inactive=1h; open_file_cache_valid 1h;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    default_type application/json;
    location / { root ${folder}; rewrite ^ /body.json break; }
  }
}
`,
  )
  const start = (): Promise<Server> =>
    startServer({
      name: 'nginx',
      cores: '0',
      command: ['nginx', '-p', folder, '-c', configuration, '-e', 'stderr'],
      ready: /start worker|nginx\/[\d.]+|built by/,
      port,
    })
  let server = await start()
  return {
    name: 'nginx',
    note: 'one static file of the same bytes',
    prepare: async (_one, paths, ours, key) => {
      const client = new RawClient(ours.port, [key])
      const bodies: Buffer[] = []
      for (const path of paths.slice(0, COMPARED)) bodies.push((await client.get(BASE_PATH + path)).body)
      client.close()
      const middle = bodies.toSorted((a, b) => a.length - b.length)[bodies.length >> 1]
      // It keeps the old file open.
      await server.stop()
      writeFileSync(file, middle)
      server = await start()
      const theirs = new RawClient(server.port, [])
      const { body } = await theirs.get('/')
      theirs.close()
      if (!body.equals(middle)) throw new Error('it does not serve the file')
      return { server }
    },
    stop: () => server.stop(),
  }
}

const REDIS_LOAD = fileURLToPath(new URL('redis-load.mjs', import.meta.url))

async function startRedis(folder: string, data: BenchData): Promise<Peer> {
  need('redis-server', 'redis-server')
  const port = await freePort()
  const server = await startServer({
    name: 'Redis',
    cores: '0',
    command: [
      'redis-server',
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'no',
      '--daemonize',
      'no',
    ],
    ready: /Ready to accept connections/,
    port,
  })
  const active = data.buoys.filter(
    ({ record, newest }) => !record.virtual && newest !== null && newest.time >= AS_OF - 86400,
  )
  const members = active.flatMap(({ id, record }) => [String(record.lng), String(record.lat), String(id)])
  await redisReply(port, ['GEOADD', 'buoys', ...members])
  const file = join(folder, 'redis-commands.jsonl')
  return {
    name: 'redis',
    note: 'by CPU: names and distances alone, no JSON, asked one at a time by 64 connections',
    prepare: async (_one, paths, ours, key) => {
      const client = new RawClient(ours.port, [key])
      for (const path of paths.slice(0, COMPARED)) {
        const { data } = JSON.parse((await client.get(BASE_PATH + path)).body.toString()) as {
          data: { buoy?: { id: number }; buoys?: { id: number }[] }
        }
        const own = (data.buoys ?? [data.buoy!]).map(({ id }) => String(id))
        const reply = await redisReply(port, geosearch(path))
        // Five lines an item: two lengths around the member's name, the distance, and what announces them.
        const theirs = reply.split('\r\n').filter((_, line) => line % 5 === 3)
        if (!isDeepStrictEqual(own, theirs)) throw new Error(`finds ${theirs.join()} at ${path}`)
      }
      client.close()
      writeFileSync(file, paths.map((path) => `${JSON.stringify(geosearch(path))}\n`).join(''))
      return {
        server: null,
        measure: (rounds, seconds) =>
          Array.from({ length: rounds }, () => measureRedis(server, file, seconds)),
      }
    },
    stop: () => server.stop(),
  }
}

function geosearch(path: string): string[] {
  const { searchParams } = new URL(path, 'http://127.0.0.1')
  return [
    'GEOSEARCH',
    'buoys',
    'FROMLONLAT',
    searchParams.get('lng')!,
    searchParams.get('lat')!,
    'BYRADIUS',
    searchParams.get('max_distance') ?? '150',
    'km',
    'ASC',
    'COUNT',
    searchParams.get('limit') ?? '1',
    'WITHDIST',
  ]
}

/** One command, one reply, as text. */
function redisReply(port: number, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(10_000, () => socket.destroy(new Error('Redis does not answer')))
    socket.once('error', reject)
    socket.once('data', (reply) => {
      socket.destroy()
      const text = reply.toString()
      if (text.startsWith('-')) reject(new Error(text.trim()))
      else resolve(text)
    })
    socket.write(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    )
  })
}

/**
 * Its rate is that of a second of its own CPU time: a client in JavaScript asks less than Redis can answer.
 */
function measureRedis(server: Server, file: string, seconds: number): Sample {
  const before = cpuMicros(server.pid)
  const { stdout, status, stderr } = spawnSync(
    'taskset',
    ['-c', '1', process.execPath, REDIS_LOAD, String(server.port), file, String(seconds)],
    { encoding: 'utf8', timeout: (seconds + 30) * 1000 },
  )
  if (status !== 0) throw new Error(`asking Redis failed: ${stderr}`)
  const cpu = cpuMicros(server.pid) - before
  const { requests, micros } = JSON.parse(stdout) as { requests: number; micros: number }
  const unknown = { othersCpu: 0, bytes: 0, p50: 0, p99: 0 }
  return { rate: (requests / cpu) * 1e6, cpu: cpu / requests, busy: cpu / micros, ...unknown }
}
