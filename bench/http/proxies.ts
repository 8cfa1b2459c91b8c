/** The mixture through a proxy that ends TLS, on the core of the server. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingTool, saturate, type Load } from './load.ts'
import type { MixtureContext } from './mixture-run.ts'
import { connectionLists } from './mixture.ts'
import type { LimitRow } from './report.ts'
import { BENCH_DATA } from './revisions.ts'
import { freePort, startProduct, startServer, type Server } from './servers.ts'
import { median } from './statistics.ts'

const SECONDS = 5
/** Connections of clients: each takes two of the proxy's. */
const CLIENTS = 64

interface Proxy {
  name: string
  program: string
  debianPackage: string
  configuration: (port: number, backend: number, folder: string) => string
  command: (program: string, file: string, folder: string) => string[]
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    debianPackage: 'nginx-light',
    configuration: (port, backend, folder) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  keepalive_requests 1000000;
  upstream groundswell { server 127.0.0.1:${backend}; keepalive 256; keepalive_requests 1000000; keepalive_timeout 5s; }
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/certificate.pem;
    ssl_certificate_key ${folder}/certificate.pem;
    location / {
      proxy_pass http://groundswell;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_buffers 16 64k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;
    }
  }
}
`,
    command: (program, file, folder) => [program, '-p', folder, '-c', file],
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    debianPackage: 'haproxy',
    configuration: (port, backend, folder) => `
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout http-keep-alive 10s
frontend public
  bind 127.0.0.1:${port} ssl crt ${folder}/certificate.pem
  option forwardfor
  default_backend groundswell
backend groundswell
  http-reuse safe
  default-server pool-purge-delay 4s
  server one 127.0.0.1:${backend}
`,
    command: (program, file) => [program, '-db', '-f', file],
  },
]

/** A place of the proxies' own, with a certificate that nobody signed. */
function makeFolder(): string {
  const folder = join(BENCH_DATA, 'proxies')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'only-certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  const made = spawnSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', certificate, ...subject],
    { encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`)
  const both = readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8')
  writeFileSync(join(folder, 'certificate.pem'), both, { mode: 0o600 })
  return folder
}

async function startProxy(proxy: Proxy, backend: number, folder: string): Promise<Server> {
  const port = await freePort()
  const file = join(folder, `${proxy.program}.conf`)
  writeFileSync(file, proxy.configuration(port, backend, folder))
  // Neither says when it listens.
  const script = `"$@" & child=$!; trap 'kill $child' TERM; until openssl s_client -connect 127.0.0.1:${port} </dev/null >/dev/null 2>&1; do kill -0 $child || exit 1; sleep 0.1; done; echo ready; wait $child`
  return await startServer({
    name: proxy.name,
    cores: '0',
    command: ['sh', '-c', script, 'sh', ...proxy.command(proxy.program, file, folder)],
    ready: /ready/,
    port,
  })
}

/** CPU time of the proxy and of the server behind it, and what a new connection with TLS costs. */
export async function measureProxies(context: MixtureContext, notRun: string[]): Promise<LimitRow[]> {
  const { product, learnt, rounds, swapSeconds } = context
  const rows: LimitRow[] = []
  for (const proxy of PROXIES) {
    const missing = missingTool(proxy.program, proxy.debianPackage) ?? missingTool('openssl', 'openssl')
    if (missing !== null) {
      notRun.push(`mixture through ${proxy.name}: ${missing}`)
      continue
    }
    const server = await startProduct(product, { trustedProxy: '127.0.0.1' })
    const front = await startProxy(proxy, server.port, makeFolder())
    const load: Load = {
      file: learnt.closedFile,
      headers: [],
      depth: 1,
      seconds: Math.min(SECONDS, swapSeconds),
      connections: CLIENTS,
      refused: learnt.refused,
      isSecure: true,
      pids: [server.pid],
    }
    const lists = connectionLists(product.key)
    const found: { rate: number; own: number; behind: number; fresh: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const { rate, cpu, othersCpu } = await saturate(front, load)
      if (!(rate > 0)) throw new Error(`through ${proxy.name} no request was answered in ${load.seconds} s`)
      const small = { ...load, seconds: Math.min(2, swapSeconds), connections: 64 }
      const kept = await saturate(front, { ...small, file: lists.kept })
      const closed = await saturate(front, { ...small, file: lists.closed })
      found.push({ rate, own: cpu, behind: othersCpu, fresh: closed.cpu - kept.cpu })
    }
    await front.stop()
    await server.stop()
    const of = (what: 'rate' | 'own' | 'behind' | 'fresh'): number => median(found.map((one) => one[what]))
    rows.push({
      name: `mixture through ${proxy.name} with TLS: CPU time of a request`,
      value: of('own') + of('behind'),
      unit: 'µs',
      bar: '',
      holds: true,
      note:
        `${proxy.name} ${of('own').toFixed(1)}, the server behind it ${of('behind').toFixed(1)}; both on one core ` +
        `${Math.round(of('rate'))} requests/s; a new connection with TLS ${Math.round(of('fresh'))} µs of ${proxy.name}`,
    })
  }
  return rows
}
