/**
 * The product beside what one would build or buy otherwise, asked the same requests: Fastify over objects in
 * memory, Fastify over PostGIS, Redis GEOSEARCH, and nginx with one file of the median answer's bytes.
 *
 *     node --import tsx bench/peers/run.ts [--data demo|tiny] [--only fastify|postgis|redis|nginx] [--rounds
 *     3]
 *
 * Before a case is measured, a peer's answers to some of its requests are compared with ours. All servers run
 * on core 0.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { BASE_PATH, casesOf, draw } from '../http/cases.ts'
import { get, type Reply } from '../http/check.ts'
import {
  cpuMicros,
  issueKey,
  leaveServersCore,
  median,
  saturate,
  startProduct,
  startServer,
  stoppingAll,
  type Sample,
  type Server,
} from '../http/servers.ts'
import {
  AS_OF,
  BENCH_DATA,
  readWorld,
  SCALES,
  snapshotsOf,
  type BenchWorld,
  type Scale,
} from '../http/world.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
  },
})
if (!Object.hasOwn(SCALES, options.data)) throw new Error(`--data: ${Object.keys(SCALES).join(' or ')}`)
const scale = options.data as Scale
const ROUNDS = Number(options.rounds)
const DRAWN = 4096
const COMPARED = 50
const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
/** What Fastify answers, over objects and over PostGIS. */
const FASTIFY_CASES = /^(detail|last readings|reading|list page|country page|nearest|closest reading|search)/

/** Where peers keep their files; gone at the end. */
const folder = mkdtempSync(join(tmpdir(), 'groundswell-peers-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

interface Peer {
  name: string
  /** Names of the cases that it answers. */
  cases: RegExp
  /** Gets ready for a case. @throws Error where its answers are not ours */
  measure(paths: readonly string[], file: string): Promise<Sample>
}

interface Ours {
  server: Server
  key: string
  world: BenchWorld
}

/** What the peers load: buoys as JSON lines, and readings as CSV: buoy, time, and five measures. */
async function writeFiles(): Promise<BenchWorld> {
  const readings = createWriteStream(join(folder, 'readings.csv'))
  const numbers = new Map<string, number>()
  const keyOf = ({ source, identifier }: { source: string; identifier: string }): string =>
    `${source}\n${identifier}`
  const revision = { name: '', folder: DIST }
  // Numbers of buoys are known when all sources are read once.
  const world = await readWorld(revision, scale)
  for (const { id, record } of world.buoys) numbers.set(keyOf(record), id)
  await readWorld(revision, scale, (buoy, row) => {
    const values = [row.significantHeight, row.maximumHeight, row.period, row.direction, row.waterTemperature]
    readings.write(
      `${numbers.get(keyOf(buoy))},${row.time},${values.map((value) => value ?? '').join(',')}\n`,
    )
  })
  readings.end()
  await once(readings, 'finish')
  const lines = world.buoys.map(({ id, slug, record }) =>
    JSON.stringify({ id, slug, ...record, rows: undefined }),
  )
  writeFileSync(join(folder, 'buoys.jsonl'), `${lines.join('\n')}\n`)
  return world
}

interface Answer {
  status: number
  data: { buoys?: object[] | undefined; count?: number | undefined }
  meta: object
}

/** An answer without the second at which it was given. */
function answerOf({ status, text }: Reply): Answer {
  const { data, meta } = JSON.parse(text) as { data: Answer['data']; meta: object }
  return { status, data, meta: { ...meta, timestamp: '' } }
}

/** A peer that takes the very requests that we take. */
const httpPeer = (name: string, server: Server, { server: own, key }: Ours): Peer => ({
  name,
  cases: FASTIFY_CASES,
  async measure(paths, file) {
    for (const path of paths.slice(0, COMPARED)) {
      const [a, b] = [await get(own, path, key), await get(server, path, key)].map(answerOf)
      // Only ours finds looser spellings, behind all others.
      if (path.startsWith('/buoys/search')) {
        a.data.buoys = a.data.buoys?.slice(0, b.data.count)
        a.data.count = b.data.count
      }
      if (!isDeepStrictEqual(a, b))
        throw new Error(`answers differ at ${path}: ${JSON.stringify(b).slice(0, 200)}`)
    }
    return saturate(server, file, key, 1)
  },
})

/** Installs the Fastify project where git does not see it. Its packages are no dependency of the product. */
function fastifyCommand(program: string, key: string): string[] {
  const project = join(BENCH_DATA, 'peers')
  const files = ['objects.mjs', 'postgis.mjs', 'shapes.mjs', 'package.json', 'package-lock.json']
  for (const file of files) cpSync(fileURLToPath(new URL(file, import.meta.url)), join(project, file))
  if (!existsSync(join(project, 'node_modules', 'pg')))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: project,
      stdio: 'inherit',
    })
  const token = key.slice(key.lastIndexOf(' ') + 1)
  const data = [join(folder, 'buoys.jsonl'), join(folder, 'readings.csv')]
  return [
    process.execPath,
    '--max-old-space-size=8192',
    join(project, program),
    ...data,
    String(AS_OF),
    token,
  ]
}

async function startFastify(ours: Ours): Promise<Peer> {
  const server = await startServer('fastify', fastifyCommand('objects.mjs', ours.key), {
    ready: /listening on (\d+)/,
  })
  return httpPeer('fastify', server, ours)
}

async function startPostgis(ours: Ours): Promise<Peer> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').toSorted() : []
  const programs = join('/usr/lib/postgresql', versions.at(-1) ?? '', 'bin')
  if (!existsSync(join(programs, 'initdb')))
    throw new Error('postgres is not installed: apt-get install postgresql postgresql-15-postgis-3')
  const database = mkdtempSync(join(folder, 'postgres-'))
  let user = ['', '']
  if (process.getuid?.() === 0) {
    user = ['-u', '-g'].map((option) => execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }).trim())
    chmodSync(folder, 0o755)
    chownSync(database, Number(user[0]), Number(user[1]))
  }
  const more = [database, programs, String(await freePort()), ...user]
  const command = [...fastifyCommand('postgis.mjs', ours.key), ...more]
  return httpPeer('postgis', await startServer('postgis', command, { ready: /listening on (\d+)/ }), ours)
}

async function startNginx({ server: own, key }: Ours): Promise<Peer> {
  need('nginx', 'nginx')
  const port = await freePort()
  // One worker that is the whole process, everything cached, nothing logged: as fast as it gets.
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 1000000000;
  open_file_cache max=10 inactive=1h; open_file_cache_valid 1h;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    default_type application/json;
    location / { root ${folder}; rewrite ^ /body.json break; }
  }
}
`,
  )
  const command = ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  const file = join(folder, 'body.json')
  return {
    name: 'nginx',
    cases: /^(detail|last readings of 3|list page)$/,
    async measure(paths, list) {
      const bodies: string[] = []
      for (const path of paths.slice(0, COMPARED)) bodies.push((await get(own, path, key)).text)
      writeFileSync(file, bodies.toSorted((a, b) => a.length - b.length)[bodies.length >> 1])
      // It keeps an old file open.
      const server = await startServer('nginx', command, {
        ready: /start worker|nginx\/[\d.]+|built by/,
        port,
      })
      try {
        return await saturate(server, list, key, 1)
      } finally {
        await server.stop()
      }
    },
  }
}

async function startRedis({ server: own, key, world }: Ours): Promise<Peer> {
  need('redis-server', 'redis-server')
  const port = await freePort()
  const args = [
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
  ]
  const server = await startServer('redis', ['redis-server', ...args], {
    ready: /Ready to accept connections/,
    port,
  })
  const afloat = world.buoys.filter(({ record, active }) => !record.virtual && active)
  const members = afloat.flatMap(({ id, record }) => [String(record.lng), String(record.lat), String(id)])
  await askRedis(port, [['GEOADD', 'buoys', ...members]], 1)
  const places = new Map(afloat.map(({ id, record }) => [String(id), `${record.lat} ${record.lng}`]))
  return {
    name: 'redis',
    cases: /^nearest/,
    async measure(paths) {
      const commands = paths.map((path) => geosearch(path))
      for (const [i, path] of paths.slice(0, COMPARED).entries()) {
        const { data } = JSON.parse((await get(own, path, key)).text) as {
          data: { buoy?: { id: number }; buoys?: { id: number }[] }
        }
        const ids = (data.buoys ?? [data.buoy!]).map(({ id }) => String(id))
        // Two buoys at one place are equally near.
        const placesOf = (list: readonly string[]): string[] => list.map((id) => places.get(id)!)
        const [reply] = await askRedis(port, [commands[i]], 1)
        // Five lines an item: two lengths around the member's name, the distance, and what announces them.
        const theirs = reply.split('\r\n').filter((_, line) => line % 5 === 3)
        if (!isDeepStrictEqual(placesOf(ids), placesOf(theirs)))
          throw new Error(`finds ${theirs.join()} at ${path}`)
      }
      const before = cpuMicros(server.pid)
      await askRedis(port, commands, 16)
      const cpu = cpuMicros(server.pid) - before
      // Its rate is that of a second of its own CPU time: this client asks less than Redis can answer.
      return { rate: (commands.length / cpu) * 1e6, cpu: cpu / commands.length }
    },
  }
}

function geosearch(path: string): string[] {
  const { searchParams } = new URL(path, 'http://127.0.0.1')
  const point = ['FROMLONLAT', searchParams.get('lng')!, searchParams.get('lat')!]
  const radius = ['BYRADIUS', searchParams.get('max_distance') ?? '150', 'km', 'ASC']
  return ['GEOSEARCH', 'buoys', ...point, ...radius, 'COUNT', searchParams.get('limit') ?? '1', 'WITHDIST']
}

/** Asks commands over so many connections, each one at a time; the replies as text, in no order. */
async function askRedis(
  port: number,
  commands: readonly (readonly string[])[],
  connections: number,
): Promise<string[]> {
  const replies: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true).setTimeout(10_000)
    socket.once('timeout', () => socket.destroy(new Error('Redis does not answer')))
    while (next < commands.length) {
      const words = commands[next++]
      socket.write(
        `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
      )
      // Answers of some hundred bytes come whole.
      const [reply] = (await once(socket, 'data')) as [Buffer]
      if (reply[0] === 0x2d) throw new Error(reply.toString().trim())
      replies.push(reply.toString())
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, work))
  return replies
}

function need(command: string, debianPackage: string): void {
  if (spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command]).status === 0) return
  throw new Error(`${command} is not installed: apt-get install ${debianPackage}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** The peers by name: what starts each. */
const PEERS: { readonly [name: string]: (ours: Ours) => Promise<Peer> } = {
  fastify: startFastify,
  postgis: startPostgis,
  redis: startRedis,
  nginx: startNginx,
}

async function main(): Promise<void> {
  const world = await writeFiles()
  const cli = join(DIST, 'cli.js')
  const keysFile = join(folder, 'keys.json')
  const key = issueKey(cli, keysFile)
  leaveServersCore()
  const snapshots = snapshotsOf({ name: '', folder: DIST }, scale)
  const ours = { server: await startProduct(cli, snapshots, keysFile, ['--answer-cache', '0']), key, world }
  const rows: object[] = []
  for (const [name, start] of Object.entries(PEERS)) {
    if (!name.includes(options.only)) continue
    try {
      const peer = await start(ours)
      for (const one of casesOf(world).filter((each) => peer.cases.test(each.name))) {
        const paths = draw(one, DRAWN, 7)
        const file = join(folder, 'requests.txt')
        writeFileSync(file, paths.map((path) => `${BASE_PATH}${path}\n`).join(''))
        const pairs: [Sample, Sample][] = []
        for (let round = 0; round < ROUNDS; round++)
          pairs.push([await saturate(ours.server, file, key, 1), await peer.measure(paths, file)])
        rows.push({
          peer: name,
          case: one.name,
          'requests/s': Math.round(median(pairs.map(([, theirs]) => theirs.rate))),
          'we, times': Number(median(pairs.map(([own, theirs]) => own.rate / theirs.rate)).toFixed(2)),
          'by CPU': Number(median(pairs.map(([own, theirs]) => theirs.cpu / own.cpu)).toFixed(2)),
        })
      }
    } catch (error) {
      process.stderr.write(`${name}: ${(error as Error).message.slice(0, 300)}\n`)
      process.exitCode = 1
    }
  }
  console.table(rows)
}

await stoppingAll(main)
