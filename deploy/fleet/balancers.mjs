// The balancers of deploy/, each run with the file that is shipped; only ports differ, where they must.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program, runWell } from './processes.mjs'

const DEPLOY = fileURLToPath(new URL('..', import.meta.url))

/** The ports of the shipped files: of the balancer, of the API and of the admin port of every replica. */
export const SHIPPED_PORTS = { listen: 8000, api: 8080, admin: 8081 }
/** The replicas of the shipped files, as if on three machines. */
export const REPLICA_HOSTS = ['127.0.0.11', '127.0.0.12', '127.0.0.13']

/** What stands around a file that nginx includes into its `http` block. */
const nginxMain = (folder, file) => `daemon off;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
    include ${file};
}
`

/** How each is checked and run: `file` is the shipped one with its ports. */
export const BALANCERS = {
  haproxy: {
    shipped: 'haproxy.cfg',
    installs: 'haproxy',
    check: (file) => ['haproxy', ['-c', '-f', file]],
    run: (file) => ['haproxy', ['-db', '-f', file]],
  },
  nginx: {
    shipped: 'nginx.conf',
    installs: 'nginx-light',
    check: (file, folder) => ['nginx', ['-t', '-c', aroundNginx(file, folder), '-g', '']],
    run: (file, folder) => ['nginx', ['-c', aroundNginx(file, folder)]],
  },
  caddy: {
    shipped: 'Caddyfile',
    installs: 'caddy',
    check: (file) => ['caddy', ['validate', '--config', file, '--adapter', 'caddyfile']],
    run: (file) => ['caddy', ['run', '--config', file, '--adapter', 'caddyfile']],
  },
}

function aroundNginx(file, folder) {
  const main = join(folder, 'main.conf')
  writeFileSync(main, nginxMain(folder, file))
  return main
}

/** The shipped file with other ports. */
export function withPorts(text, ports) {
  return Object.entries(SHIPPED_PORTS)
    .reduce(
      (changed, [name, port]) => changed.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `<${name}>`),
      text,
    )
    .replaceAll(/<(listen|api|admin)>/g, (_, name) => ports[name])
}

/**
 * Writes the file of a balancer to `place`, and has the program check it. @throws Error with what is wrong
 */
async function prepare(name, place, ports) {
  const balancer = BALANCERS[name]
  const folder = join(place, name)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, balancer.shipped)
  writeFileSync(file, withPorts(readFileSync(join(DEPLOY, balancer.shipped), 'utf8'), ports))
  // Caddy keeps its state in the home folder otherwise.
  const options = { installs: balancer.installs, env: { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder } }
  await runWell(`${name}, checking ${balancer.shipped}`, ...balancer.check(file, folder), options)
  return { file, folder, options }
}

/** Checks the shipped file of a balancer, and runs it. */
export async function startBalancer(name, place, ports) {
  const { file, folder, options } = await prepare(name, place, ports)
  return new Program(name, ...BALANCERS[name].run(file, folder), options)
}
