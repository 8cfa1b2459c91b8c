/** The balancers of `deploy/`, each run with the file that is shipped; only ports differ, where they must. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../src/http/port.ts'
import { temporaryFolder } from '../live.ts'
import { findTool } from '../programs.ts'
import { startProgram, type Program } from '../started_program.ts'

/** The ports of the shipped files: of the balancer, of the API and of the admin port of every replica. */
const SHIPPED_PORTS = { listen: 8000, api: 8080, admin: 8081 }
export type Ports = typeof SHIPPED_PORTS
/** The replicas of the shipped files, as if on three machines. */
export const REPLICA_HOSTS = ['127.0.0.11', '127.0.0.12', '127.0.0.13']

/**
 * What stands around a file that nginx includes into its `http` block. It is one process: others would
 * outlive its end by force, and hold its output open.
 */
const nginxMain = (folder: string): string => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
    include ${folder}/nginx.conf;
}
`

/** Runs nginx with what stands in its `http` block until the test ends. */
export function startNginx(t: TestContext, text: string): Program {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'nginx.conf'), text)
  writeFileSync(join(folder, 'main.conf'), nginxMain(folder))
  return startProgram(t, BALANCERS.nginx.run(folder), { command: [findTool('nginx')!] })
}

/** How each is checked and run, with its shipped file in a folder. */
export const BALANCERS = {
  haproxy: {
    shipped: 'haproxy.cfg',
    installs: 'haproxy',
    check: (folder: string) => ['-c', '-f', `${folder}/haproxy.cfg`],
    run: (folder: string) => ['-db', '-f', `${folder}/haproxy.cfg`],
  },
  nginx: {
    shipped: 'nginx.conf',
    installs: 'nginx-light',
    check: (folder: string) => ['-t', '-c', `${folder}/main.conf`],
    run: (folder: string) => ['-c', `${folder}/main.conf`],
  },
  caddy: {
    shipped: 'Caddyfile',
    installs: 'caddy',
    check: (folder: string) => ['validate', '--config', `${folder}/Caddyfile`],
    run: (folder: string) => ['run', '--config', `${folder}/Caddyfile`],
  },
} as const
export type Balancer = keyof typeof BALANCERS

export async function freePorts(): Promise<Ports> {
  return {
    listen: await findFreePort('127.0.0.1', 0),
    api: await findFreePort(REPLICA_HOSTS[0], 0),
    admin: await findFreePort(REPLICA_HOSTS[0], 0),
  }
}

/** The shipped file with other ports. */
function withPorts(text: string, ports: Ports): string {
  const names = Object.keys(SHIPPED_PORTS) as (keyof Ports)[]
  const shipped = new RegExp(`\\b(${Object.values(SHIPPED_PORTS).join('|')})\\b`, 'g')
  return text.replaceAll(shipped, (port) =>
    String(ports[names.find((name) => String(SHIPPED_PORTS[name]) === port)!]),
  )
}

/**
 * Runs a balancer with its shipped file until the test ends; `changed` is given its text. @throws Error with
 * what the program says against the file
 */
export function startBalancer(
  t: TestContext,
  name: Balancer,
  ports: Ports,
  changed: (text: string) => string = (text) => text,
): Program {
  const { shipped, check, run } = BALANCERS[name]
  const folder = temporaryFolder(t)
  const text = readFileSync(fileURLToPath(new URL(`../../deploy/${shipped}`, import.meta.url)), 'utf8')
  writeFileSync(join(folder, shipped), withPorts(changed(text), ports))
  writeFileSync(join(folder, 'main.conf'), nginxMain(folder))
  const command = findTool(name) ?? name
  // Caddy keeps its state in the home folder otherwise.
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const { status, stderr } = spawnSync(command, check(folder), { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${name}, checking ${shipped}: ${stderr}`)
  return startProgram(t, run(folder), { command: [command], env })
}
